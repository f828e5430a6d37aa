package bolt

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Drivers in the pages of a browser speak Bolt in binary messages of a WebSocket (RFC 6455), on the same port.

// wantsWeb reports whether a connection begins with a request of HTTP.
func wantsWeb(r *bufio.Reader) bool {
	b, err := r.Peek(4)
	return err == nil && string(b) == "GET "
}

// limitedHead is the largest head of a request, in bytes.
const limitedHead = 16 << 10

// upgrade answers a browser's request for a WebSocket, and returns the connection in it. timeout is that of an answer to a ping. Only pages of the origins may have one: without them a page of
// anybody could ask a server on the reader's own machine.
func upgrade(n net.Conn, r *bufio.Reader, origins []string, timeout time.Duration) (net.Conn, error) {
	request, err := http.ReadRequest(bufio.NewReader(io.LimitReader(r, limitedHead)))
	if err != nil {
		return nil, fmt.Errorf("a request of HTTP: %w", err)
	}
	refuse := func(status int, text string) (net.Conn, error) {
		fmt.Fprintf(n, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n", status, http.StatusText(status), len(text)+1, text)
		return nil, errors.New(text)
	}
	key := request.Header.Get("Sec-WebSocket-Key")
	raw, err := base64.StdEncoding.DecodeString(key)
	switch origin := request.Header.Get("Origin"); {
	case !has(request.Header, "Connection", "upgrade") || !has(request.Header, "Upgrade", "websocket"):
		return refuse(http.StatusUpgradeRequired, "this is the port for Bolt, which drivers of Neo4j speak")
	case request.Header.Get("Sec-WebSocket-Version") != "13" || err != nil || len(raw) != 16:
		return refuse(http.StatusBadRequest, "the WebSocket is not one of version 13")
	case !slices.Contains(origins, origin):
		return refuse(http.StatusForbidden, "pages of this origin may not use Bolt here")
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, err = fmt.Fprintf(n, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	return &webConn{Conn: n, in: r, timeout: timeout}, err
}

// has reports whether a list in a header has a word.
func has(h http.Header, name, word string) bool {
	for _, line := range h.Values(name) {
		for _, s := range strings.Split(line, ",") {
			if strings.EqualFold(strings.TrimSpace(s), word) {
				return true
			}
		}
	}
	return false
}

// Opcodes of frames.
const (
	frameContinued = 0
	frameBinary    = 2
	frameClose     = 8
	framePing      = 9
	framePong      = 10
)

var errWeb = errors.New("the WebSocket has a wrong frame")

// webConn is a connection whose bytes are in frames.
type webConn struct {
	net.Conn
	in   *bufio.Reader
	left uint64 // bytes of the frame that Read has not returned
	mask [4]byte
	at   int // in the mask

	timeout time.Duration // of an answer to a ping
	mu      sync.Mutex    // of writes
	head    []byte
}

// Read reads bytes of binary messages. It answers pings.
func (w *webConn) Read(b []byte) (int, error) {
	for w.left == 0 {
		if err := w.next(); err != nil {
			return 0, err
		}
	}
	if len(b) == 0 {
		return 0, nil
	}
	n, err := w.in.Read(b[:min(uint64(len(b)), w.left)])
	for i := range b[:n] {
		b[i] ^= w.mask[w.at&3]
		w.at++
	}
	w.left -= uint64(n)
	return n, err
}

// next reads the head of a frame, and the whole of one that is about the connection.
func (w *webConn) next() error {
	var head [8]byte
	if _, err := io.ReadFull(w.in, head[:2]); err != nil {
		return err
	}
	op, size := head[0]&15, uint64(head[1]&0x7F)
	if head[0]&0x70 != 0 || head[1]&0x80 == 0 { // extensions, or no mask
		return errWeb
	}
	if op >= frameClose && (size > 125 || head[0]&0x80 == 0) {
		return errWeb
	}
	switch size {
	case 126:
		if _, err := io.ReadFull(w.in, head[:2]); err != nil {
			return err
		}
		size = uint64(binary.BigEndian.Uint16(head[:]))
	case 127:
		if _, err := io.ReadFull(w.in, head[:8]); err != nil {
			return err
		}
		if size = binary.BigEndian.Uint64(head[:]); size>>63 != 0 {
			return errWeb
		}
	}
	if _, err := io.ReadFull(w.in, w.mask[:]); err != nil {
		return err
	}
	w.at = 0
	switch op {
	case frameContinued, frameBinary:
		w.left = size
		return nil
	case frameClose, framePing, framePong:
		body := make([]byte, size)
		if _, err := io.ReadFull(w.in, body); err != nil {
			return err
		}
		for i := range body {
			body[i] ^= w.mask[i&3]
		}
		switch op {
		case framePing:
			return w.send(framePong, body)
		case frameClose:
			_ = w.send(frameClose, body[:min(len(body), 2)])
			return io.EOF
		}
		return nil
	}
	return errWeb
}

// Write writes a binary message.
func (w *webConn) Write(b []byte) (int, error) {
	if err := w.send(frameBinary, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (w *webConn) send(op byte, b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if op >= frameClose && w.timeout > 0 {
		_ = w.Conn.SetWriteDeadline(time.Now().Add(w.timeout))
		defer w.Conn.SetWriteDeadline(time.Time{})
	}
	h := append(w.head[:0], 0x80|op)
	switch n := len(b); {
	case n < 126:
		h = append(h, byte(n))
	case n <= 0xFFFF:
		h = binary.BigEndian.AppendUint16(append(h, 126), uint16(n))
	default:
		h = binary.BigEndian.AppendUint64(append(h, 127), uint64(n))
	}
	w.head = h
	both := net.Buffers{h, b}
	_, err := both.WriteTo(w.Conn)
	return err
}
