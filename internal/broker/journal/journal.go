// Package journal keeps lines of updates in a folder until they are not needed. It serves sources that cannot be read again.
//
// The package knows numbered messages of bytes. It must not know the updates in them.
package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/vfs"
)

// Journal is a stream.Log of what Append brought, in this process or an earlier one. Messages have the numbers 1, 2, 3 … They are in segments, which
// are files called by the number of their first message. Append and End are for one goroutine, and the methods of stream.Log, Trim and Crowded
// for others.
type Journal struct {
	ctx   context.Context
	files vfs.FS
	dir   string
	size  int64 // the most bytes
	f     vfs.File
	whole []byte // the record that is written

	mu       sync.Mutex
	segments []segment // by number; the last one is written
	last     int64     // the number of the last message
	lines    int64     // of all messages so far
	bytes    int64
	waits    int64         // the bytes for which Append waits; 0: it does not
	ended    error         // what ended it; io.EOF at the end
	change   chan struct{} // closed and made anew when a field changes

	next int64    // the number of the message that Next returns
	r    vfs.File // of its segment; nil: not open
	at   int64    // in r
	buf  []byte
}

type segment struct{ first, bytes int64 }

// A segment begins with a magic, the number of lines before it, and the checksum of both. A record has the sizes of its data, the number of the
// message, the number of lines up to its end, the checksum of these and of the data, and the data.
const (
	magic      = "weftlog1"
	headSize   = 20
	recordHead = 24
	mostData   = 8 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Open opens the journal in a folder, or makes one. size is the most bytes that it has. A record at its end that is not whole was not acknowledged by
// Append, and is removed; a loss of power may leave zeros in its place. Other damage is an error, which wraps stream.ErrLog. ctx ends waits.
func Open(ctx context.Context, files vfs.FS, dir string, size int64) (*Journal, error) {
	j := &Journal{ctx: ctx, files: files, dir: dir, size: size, change: make(chan struct{}), next: 1}
	if err := files.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries { // by name, so by number
		text, ok := strings.CutSuffix(e.Name(), ".log")
		first, err := strconv.ParseInt(text, 10, 64)
		if !ok || err != nil || first < 1 {
			continue
		}
		j.segments = append(j.segments, segment{first: first})
	}
	for i := range j.segments {
		if err := j.scan(i); err != nil {
			return nil, err
		}
	}
	if n := len(j.segments); n > 0 && j.segments[n-1].bytes == 0 { // it was being made
		if err := files.Remove(j.path(j.segments[n-1].first)); err != nil {
			return nil, err
		}
		j.segments = j.segments[:n-1]
	}
	if len(j.segments) == 0 {
		return j, j.roll()
	}
	j.next = j.segments[0].first
	j.f, err = files.OpenFile(j.path(j.segments[len(j.segments)-1].first), os.O_RDWR, 0)
	if err == nil {
		end := j.segments[len(j.segments)-1].bytes
		if err = j.f.Truncate(end); err == nil {
			_, err = j.f.Seek(end, io.SeekStart)
		}
	}
	return j, err
}

func (j *Journal) path(first int64) string {
	return filepath.Join(j.dir, fmt.Sprintf("%019d.log", first))
}

func (j *Journal) damaged(first int64, err error) error {
	return fmt.Errorf("%w: the log is damaged: %s: %w", stream.ErrLog, j.path(first), err)
}

// scan reads a segment to its end.
func (j *Journal) scan(i int) error {
	s := &j.segments[i]
	final := i == len(j.segments)-1
	f, err := vfs.Open(j.files, j.path(s.first))
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	var head [headSize]byte
	if st.Size() < headSize && final { // nothing of it was acknowledged
		return nil
	}
	if _, err := f.ReadAt(head[:], 0); err != nil && err != io.EOF {
		return err
	}
	if st.Size() == headSize && final && head == [headSize]byte{} { // nor of this one
		return nil
	}
	lines := int64(binary.LittleEndian.Uint64(head[8:]))
	switch {
	case string(head[:8]) != magic, crc32.Checksum(head[:16], castagnoli) != binary.LittleEndian.Uint32(head[16:]):
		return j.damaged(s.first, errors.New("it does not begin as one of weft"))
	case i > 0 && (s.first != j.last+1 || lines != j.lines):
		return j.damaged(s.first, fmt.Errorf("the message before it is %d", j.last))
	}
	j.last, j.lines = s.first-1, lines
	at := int64(headSize)
	for at < st.Size() {
		data, lines, size, err := readRecord(f, at, j.last+1, &j.buf)
		torn := final && (errors.Is(err, io.ErrUnexpectedEOF) || err == errSum && at+size == st.Size())
		if err == errSum && final && !torn {
			var failed error
			if torn, failed = zeros(f, at); failed != nil {
				return failed
			}
		}
		if torn {
			break
		}
		if err != nil {
			return j.damaged(s.first, fmt.Errorf("message %d: %w", j.last+1, err))
		}
		_ = data
		j.last, j.lines = j.last+1, lines
		at += size
	}
	s.bytes = at
	j.bytes += at
	return nil
}

// zeros reports whether all bytes of a file from one on are 0.
func zeros(f io.ReaderAt, at int64) (bool, error) {
	buf := make([]byte, 1<<15)
	for {
		n, err := f.ReadAt(buf, at)
		if bytes.ContainsFunc(buf[:n], func(r rune) bool { return r != 0 }) {
			return false, nil
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		at += int64(n)
	}
}

var errSum = errors.New("its checksum is wrong")

// readRecord reads the record of a message at a byte of a segment. size is that of the record. The error is io.ErrUnexpectedEOF if the segment ends
// before it.
func readRecord(f io.ReaderAt, at, number int64, buf *[]byte) (data []byte, lines, size int64, err error) {
	var head [recordHead]byte
	full := func(b []byte, at int64) error {
		n, err := f.ReadAt(b, at)
		switch {
		case n == len(b):
			return nil
		case err == nil || err == io.EOF:
			return io.ErrUnexpectedEOF
		}
		return err
	}
	if err := full(head[:], at); err != nil {
		return nil, 0, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(head[0:]))
	size = recordHead + n
	if n > mostData {
		return nil, 0, size, errors.New("its size is wrong")
	}
	if int64(cap(*buf)) < n {
		*buf = make([]byte, n)
	}
	data = (*buf)[:n]
	if err := full(data, at+recordHead); err != nil {
		return nil, 0, size, err
	}
	if sum(head[:], data) != binary.LittleEndian.Uint32(head[20:]) || int64(binary.LittleEndian.Uint64(head[4:])) != number {
		return nil, 0, size, errSum
	}
	return data, int64(binary.LittleEndian.Uint64(head[12:])), size, nil
}

// sum is the checksum of a record.
func sum(head, data []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:20], castagnoli), castagnoli, data)
}

// roll begins a new segment.
func (j *Journal) roll() error {
	first := j.last + 1
	f, err := j.files.OpenFile(j.path(first), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	head := append([]byte(magic), make([]byte, headSize-len(magic))...)
	binary.LittleEndian.PutUint64(head[8:], uint64(j.lines))
	binary.LittleEndian.PutUint32(head[16:], crc32.Checksum(head[:16], castagnoli))
	_, err = f.Write(head)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	if d, err := vfs.Open(j.files, j.dir); err == nil { // the name is to be on the disk too; not every system can
		_ = d.Sync()
		_ = d.Close()
	}
	if j.f != nil {
		_ = j.f.Close()
	}
	j.f = f
	j.mu.Lock()
	defer j.mu.Unlock()
	j.segments = append(j.segments, segment{first, headSize})
	j.bytes += headSize
	return nil
}

// Lines returns the number of lines that were appended so far.
func (j *Journal) Lines() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines
}

// changed tells those that wait that something happened. The caller holds mu.
func (j *Journal) changed() {
	close(j.change)
	j.change = make(chan struct{})
}

// Append adds whole lines as a message. They are on the disk when it returns. It blocks while the journal has no room for them.
func (j *Journal) Append(text []byte, lines int64) error {
	n := int64(recordHead + len(text))
	if len(text) > mostData {
		return fmt.Errorf("%w: a message of %d bytes", stream.ErrLog, len(text))
	}
	if err := j.room(n); err != nil {
		return err
	}
	var head [recordHead]byte
	binary.LittleEndian.PutUint32(head[0:], uint32(len(text)))
	binary.LittleEndian.PutUint64(head[4:], uint64(j.last+1))
	binary.LittleEndian.PutUint64(head[12:], uint64(j.lines+lines))
	binary.LittleEndian.PutUint32(head[20:], sum(head[:], text))
	j.whole = append(append(j.whole[:0], head[:]...), text...)
	_, err := j.f.Write(j.whole)
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("the log %s: %w", j.dir, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	j.lines += lines
	j.bytes += n
	j.segments[len(j.segments)-1].bytes += n
	j.changed()
	return nil
}

// room waits until n bytes have room, and begins a new segment if the present one is large. The segment of
// the last message cannot be trimmed, so a journal that has no other one takes any message.
func (j *Journal) room(n int64) error {
	for {
		j.mu.Lock()
		s := j.segments[len(j.segments)-1]
		full := j.bytes+n > j.size && len(j.segments) > 2
		large := s.bytes > headSize && (s.bytes+n > j.size/8 || j.bytes+n > j.size)
		change := j.change
		if j.waits = 0; full && !large {
			j.waits = n
		}
		j.mu.Unlock()
		switch {
		case large:
			if err := j.roll(); err != nil {
				return fmt.Errorf("the log %s: %w", j.dir, err)
			}
			continue
		case !full:
			return nil
		}
		select {
		case <-change:
		case <-j.ctx.Done():
			return context.Cause(j.ctx)
		}
	}
}

// End says that nothing more will be appended. Next returns err: io.EOF after the last message, any other error at once.
func (j *Journal) End(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = err
	j.changed()
}

// Begin makes the next message the one with a number. Those before message read were read once.
func (j *Journal) Begin(number, read int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := j.segments[0].first
	switch {
	case number == 0 && read == 0:
		number = first
	case number == 0:
		number = 1
	}
	switch {
	case number < first:
		return fmt.Errorf("%w: the log %s begins with message %d, and message %d comes next", stream.ErrLog, j.dir, first, number)
	case max(number, read) > j.last+1:
		return fmt.Errorf("%w: the log %s ends with message %d, and message %d was read: messages are gone", stream.ErrLog, j.dir, j.last, max(number, read)-1)
	}
	j.next = number
	return nil
}

// Next returns the next message.
func (j *Journal) Next() (int64, []byte, error) {
	for {
		j.mu.Lock()
		change, ended, there := j.change, j.ended, j.next <= j.last
		j.mu.Unlock()
		switch {
		case j.ctx.Err() != nil:
			return 0, nil, context.Cause(j.ctx)
		case ended != nil && (ended != io.EOF || !there):
			return 0, nil, ended
		case there:
			return j.read()
		}
		select {
		case <-change:
		case <-j.ctx.Done():
		}
	}
}

// read reads the next message, which is there.
func (j *Journal) read() (int64, []byte, error) {
	j.mu.Lock()
	var s segment
	for _, x := range j.segments {
		if x.first <= j.next {
			s = x
		}
	}
	j.mu.Unlock()
	if j.r == nil || j.next == s.first {
		if j.r != nil {
			_ = j.r.Close()
		}
		var err error
		if j.r, err = vfs.Open(j.files, j.path(s.first)); err != nil {
			return 0, nil, err
		}
		j.at = headSize
		for number := s.first; number < j.next; number++ { // those before Begin's
			_, _, size, err := readRecord(j.r, j.at, number, &j.buf)
			if err != nil {
				return 0, nil, j.damaged(s.first, err)
			}
			j.at += size
		}
	}
	data, _, size, err := readRecord(j.r, j.at, j.next, &j.buf)
	if err != nil {
		return 0, nil, j.damaged(s.first, fmt.Errorf("message %d: %w", j.next, err))
	}
	j.at += size
	j.next++
	return j.next - 1, data, nil
}

// Waiting reports whether Next has a message without a wait.
func (j *Journal) Waiting() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next <= j.last
}

// Trim removes segments that have only messages before one.
func (j *Journal) Trim(number int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.segments) > 1 && j.segments[1].first <= number {
		if err := j.files.Remove(j.path(j.segments[0].first)); err != nil {
			return err
		}
		j.bytes -= j.segments[0].bytes
		j.segments = j.segments[1:]
		j.changed()
	}
	return nil
}

// Crowded reports whether more than half of the room is taken, or Append waits for room.
func (j *Journal) Crowded() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.waits > 0 || j.bytes > j.size/2
}

// Worth reports whether Trim should get room: whether Trim(to) removes at least half of the room more than Trim(from), or anything if Append waits and
// Trim(from) does not help it.
func (j *Journal) Worth(from, to int64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	less, more := j.before(from), j.before(to)
	return more-less >= j.size/2 || j.waits > 0 && more > less && j.bytes-less+j.waits > j.size
}

// before returns the bytes of the segments that have only messages before one. The caller holds the lock.
func (j *Journal) before(number int64) (n int64) {
	for i := range len(j.segments) - 1 {
		if j.segments[i+1].first <= number {
			n += j.segments[i].bytes
		}
	}
	return n
}

// Close closes the files.
func (j *Journal) Close() error {
	if j.r != nil {
		_ = j.r.Close()
	}
	return j.f.Close()
}
