package bolt

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// maxChunk is the largest number of bytes in a chunk.
const maxChunk = 0xFFFF

// errTooLong is the error of a message above the limit.
var errTooLong = errors.New("the message is longer than the server takes")

// readMessage reads the chunks of the next message. It skips empty messages, which keep a connection alive. limit is the longest message,
// which may grow while the reader waits. begun is called once where a message has more than one chunk. Memory grows as bytes come.
func readMessage(r *bufio.Reader, limit func() int, begun func()) ([]byte, error) {
	var buf []byte
	chunks := 0
	for {
		var head [2]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			if chunks > 0 && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		n := int(binary.BigEndian.Uint16(head[:]))
		if n == 0 {
			if chunks == 0 {
				continue
			}
			return buf, nil
		}
		if len(buf)+n > limit() {
			return nil, errTooLong
		}
		if chunks++; chunks == 2 && begun != nil {
			begun()
		}
		for n > 0 {
			part := min(n, 4096)
			at := len(buf)
			buf = append(buf, make([]byte, part)...)
			if _, err := io.ReadFull(r, buf[at:]); err != nil {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
			n -= part
		}
	}
}

// Sizes of the buffer of a connection, in bytes.
const (
	flushAt    = 32 << 10
	keepAtMost = 256 << 10
)

// trickle is the longest time that a row waits in the buffer for others.
const trickle = 5 * time.Millisecond

// hurried is the time for a write when the server stops.
const hurried = time.Second

// writer writes messages in chunks. Safe for concurrent use: begin locks it and end unlocks it.
type writer struct {
	conn    net.Conn
	timeout time.Duration // of one write
	hurry   atomic.Bool   // the timeout is hurried
	failed  func()        // is called when a write fails; nil: nothing is

	mu    sync.Mutex
	enc   packstream.Encoder
	start int // of the message that is being written
	err   error
	timer *time.Timer // flushes rows that wait
	armed bool
}

// begin starts a message.
func (w *writer) begin() *packstream.Encoder {
	w.mu.Lock()
	w.start = len(w.enc.Bytes)
	w.enc.Bytes = append(w.enc.Bytes, 0, 0)
	return &w.enc
}

// abort drops the message.
func (w *writer) abort() {
	w.enc.Bytes = w.enc.Bytes[:w.start]
	w.mu.Unlock()
}

// end ends the message. It blocks while a full buffer is written. The error is that of the connection.
func (w *writer) end() error {
	defer w.mu.Unlock()
	b := w.enc.Bytes
	if n := len(b) - w.start - 2; n <= maxChunk {
		binary.BigEndian.PutUint16(b[w.start:], uint16(n))
		w.enc.Bytes = append(b, 0, 0)
	} else {
		w.enc.Bytes = appendChunks(b[:w.start:w.start], b[w.start+2:])
	}
	if len(w.enc.Bytes) >= flushAt {
		return w.flush()
	}
	if !w.armed {
		w.armed = true
		if w.timer == nil {
			w.timer = time.AfterFunc(trickle, w.late)
		} else {
			w.timer.Reset(trickle)
		}
	}
	return w.err
}

// appendChunks appends a long message to others.
func appendChunks(to, message []byte) []byte {
	for len(message) > 0 {
		n := min(len(message), maxChunk)
		to = binary.BigEndian.AppendUint16(to, uint16(n))
		to = append(to, message[:n]...)
		message = message[n:]
	}
	return append(to, 0, 0)
}

// late writes what has waited.
func (w *writer) late() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = false
	_ = w.flush()
}

// Flush writes the buffer. It blocks until the client's system has taken it.
func (w *writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

func (w *writer) flush() error {
	if len(w.enc.Bytes) == 0 || w.err != nil {
		return w.err
	}
	timeout := w.timeout
	if w.hurry.Load() {
		timeout = min(timeout, hurried)
	}
	_ = w.conn.SetWriteDeadline(time.Now().Add(timeout))
	if _, w.err = w.conn.Write(w.enc.Bytes); w.err != nil && w.failed != nil {
		w.failed() // a search may run that asks for no rows to be written
	}
	_ = w.conn.SetWriteDeadline(time.Time{}) // the reader answers pings of WebSockets and of TLS
	w.enc.Bytes = w.enc.Bytes[:0]
	if cap(w.enc.Bytes) > keepAtMost {
		w.enc.Bytes = nil
	}
	return w.err
}

// alive sends an empty message, unless another is being written.
func (w *writer) alive() {
	if w.mu.TryLock() {
		defer w.mu.Unlock()
		w.enc.Bytes = append(w.enc.Bytes, 0, 0)
		_ = w.flush()
	}
}

// stop ends the timer.
func (w *writer) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	w.armed = true
}
