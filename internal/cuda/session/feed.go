package session

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/weftgraph/weft/internal/cuda"
)

// Piece is a number of bytes that a Feed brings to a device.
type Piece struct {
	// Key names the content. A piece whose key is the one of the content of a buffer is not copied
	// again; nil: it is copied always.
	Key   any
	Bytes int64
	// Fill writes the content, of Bytes bytes. It is called on another goroutine than Each.
	Fill func(to []byte) error
}

// Feed brings pieces of host memory to a device, one behind the other, through two buffers: while kernels read one
// piece, the next is on the bus, and the one after it is written to page-locked memory.
//
// Each, Poll and Close are called inside Do.
type Feed struct {
	x      *Exec
	meter  *Meter
	room   int64
	mem    cuda.Buffer
	host   *cuda.Pinned
	stream *cuda.Stream
	slots  [2]feedSlot
	// poll sends the next piece, if it is written and has a free buffer.
	poll func() error
}

type feedSlot struct {
	key        any // of what it has
	sent, used *cuda.Event
	was        bool // kernels have read it
}

// NewFeed takes two buffers of room bytes on the device, and as many in page-locked memory.
func (x *Exec) NewFeed(room int64, m *Meter) (f *Feed, err error) {
	f = &Feed{x: x, meter: m, room: room}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
			f = nil
		}
	}()
	if f.mem, err = x.Scratch("two segments", 2*room); err != nil {
		return f, err
	}
	if f.host, err = x.Lend(2 * room); err != nil {
		return f, err
	}
	if f.stream, err = x.c.Stream(); err != nil {
		return f, err
	}
	for i := range f.slots {
		s := &f.slots[i]
		if s.sent, err = x.c.Event(); err != nil {
			return f, err
		}
		if s.used, err = x.c.Event(); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Room is how many bytes a piece may have.
func (f *Feed) Room() int64 { return f.room }

// Poll sends the next piece to the device, if it is ready. Kernels that read the present piece need not have ended.
// Call it in Each's use, between launches.
func (f *Feed) Poll() error {
	if f.poll == nil {
		return nil
	}
	return f.poll()
}

// Each brings pieces 0 … n-1, and calls use with the device address of each when it is there. use launches kernels
// in x.Stream that read it, and need not wait for them. Each ends early, without an error, when the run is to stop.
func (f *Feed) Each(n int, piece func(i int) Piece, use func(i int, at uint64) error) error {
	if n == 0 {
		return nil
	}
	// Pieces go to the buffers in turn. The first one goes where it is already, if it is.
	first := 0
	if k := piece(0).Key; k != nil && f.slots[1].key == k {
		first = 1
	}
	slot := func(i int) (s *feedSlot, at int64) {
		k := (first + i) % 2
		return &f.slots[k], int64(k) * f.room
	}
	held := make([]bool, n)
	keys := [2]any{f.slots[first].key, f.slots[1-first].key}
	for i := range n {
		k := piece(i).Key
		held[i] = k != nil && keys[i%2] == k
		keys[i%2] = k
	}
	filled, free, quit, ended := make(chan error, 2), make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := range n {
			select {
			case <-free:
			case <-quit:
				return
			}
			var err error
			if !held[i] {
				_, at := slot(i)
				err = f.fill(piece(i), at)
			}
			filled <- err // has room for both buffers
		}
	}()
	next := 0 // the piece to send
	send := func(err error) error {
		i := next
		next++
		if err != nil || held[i] {
			return err
		}
		p := piece(i)
		s, at := slot(i)
		s.key = nil
		if s.was {
			if err := f.stream.Follow(s.used); err != nil {
				return err
			}
		}
		err = f.meter.Copies(p.Bytes, f.stream, func() error { return f.x.c.Send(f.mem, at, f.host, at, p.Bytes, f.stream) })
		if err == nil {
			err = s.sent.Record(f.stream)
		}
		if err == nil {
			s.key = p.Key
		}
		return err
	}
	now := 0
	f.poll = func() error {
		if next < n && next <= now+1 {
			select {
			case err := <-filled:
				return send(err)
			default:
			}
		}
		return nil
	}
	defer func() {
		f.poll = nil
		close(quit)
		<-ended
	}()
	free <- struct{}{}
	free <- struct{}{}
	for ; now < n && !f.x.Stopped(); now++ {
		if next == now {
			if err := send(<-filled); err != nil {
				return err
			}
		}
		s, at := slot(now)
		if !held[now] {
			if err := s.sent.Synchronize(); err != nil {
				return err
			}
		}
		free <- struct{}{} // of page-locked memory, for the piece after the next
		if err := use(now, f.mem.Ptr+uint64(at)); err != nil {
			return err
		}
		s.was = true
		if err := s.used.Record(f.x.stream); err != nil {
			return err
		}
	}
	return nil
}

// fill writes a piece to page-locked memory.
func (f *Feed) fill(p Piece, at int64) (err error) {
	if p.Bytes > f.room {
		return fmt.Errorf("session: a piece of %d bytes for buffers of %d", p.Bytes, f.room)
	}
	debug.SetPanicOnFault(true) // of a mapped file that became shorter
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("session: a piece of %d bytes: %v", p.Bytes, x)
		}
	}()
	return p.Fill(f.host.Bytes()[at : at+p.Bytes])
}

// Close waits for copies, and ends the Feed. Its memory stays until the end of the run.
func (f *Feed) Close() error {
	var errs []error
	if f.stream != nil {
		errs = append(errs, f.stream.Synchronize(), f.stream.Close())
	}
	for i := range f.slots {
		for _, e := range []*cuda.Event{f.slots[i].sent, f.slots[i].used} {
			if e != nil {
				errs = append(errs, e.Close())
			}
		}
	}
	return errors.Join(errs...)
}
