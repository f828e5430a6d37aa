package session

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

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

// ErrEnough is what a caller of Each returns in use to bring no further pieces. Each then ends without an error.
var ErrEnough = errors.New("session: no further pieces")

// Feed brings pieces of host memory to a device, one behind the other, into buffers of equal size: while kernels read one
// piece, the next is on the bus, and the one after it is written to page-locked memory. Pieces stay until a
// buffer is needed for another.
//
// Each, Poll, Has, Held and Close are called inside Do.
type Feed struct {
	x      *Exec
	meter  *Meter
	room   int64
	mem    cuda.Buffer
	host   *cuda.Pinned
	stream *cuda.Stream
	slots  []feedSlot
	uses   uint64         // pieces that were used, in all calls of Each
	ended  [2]*cuda.Event // behind the kernels of the last two pieces, by the piece's number modulo 2
	// poll sends the next piece, if it is written and has a free buffer.
	poll func() error

	ahead *aheadPiece // of the next call of Each; nil: there is none
	// Ahead counts the pieces that calls of Each found there because they were sent before.
	Aheads int
}

// aheadPiece is a piece that is sent between two calls of Each.
type aheadPiece struct {
	Piece
	slot   int
	filled chan error
	sent   bool
}

type feedSlot struct {
	key   any    // of what it has, or will have when sent is reached
	there bool   // kernels that are launched now may read it
	last  uint64 // the use of its piece that was last
	sent  *cuda.Event
}

// NewFeed takes a number of buffers, at least two, of room bytes each on the device, and two in page-locked memory.
func (x *Exec) NewFeed(room int64, buffers int, m *Meter) (f *Feed, err error) {
	f = &Feed{x: x, meter: m, room: room, slots: make([]feedSlot, max(buffers, 2))}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
			f = nil
		}
	}()
	if f.mem, err = x.Scratch("segments", int64(len(f.slots))*room); err != nil {
		return f, err
	}
	if f.host, err = x.Lend(2 * room); err != nil {
		return f, err
	}
	if f.stream, err = x.c.Stream(); err != nil {
		return f, err
	}
	for i := range f.slots {
		if f.slots[i].sent, err = x.c.Event(); err != nil {
			return f, err
		}
	}
	for i := range f.ended {
		if f.ended[i], err = x.c.Event(); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Room is how many bytes a piece may have.
func (f *Feed) Room() int64 { return f.room }

// Has reports whether the piece of a key is in a buffer, so that Each does not copy it if its first pieces are those.
func (f *Feed) Has(key any) bool {
	return f.ahead != nil && f.ahead.Key == key || slices.ContainsFunc(f.slots, func(s feedSlot) bool { return s.key == key })
}

// Ahead begins to bring a piece with a key that the next call of Each is expected to need. It is called after one, and does not wait. Kernels
// that were launched may still run, and no others are launched before the next call. The piece takes a buffer whose content keep
// reports false for, read least recently; if there is none, Ahead does nothing.
func (f *Feed) Ahead(p Piece, keep func(key any) bool) {
	at := -1
	for k, s := range f.slots {
		if (s.key == nil || !keep(s.key)) && (at < 0 || s.last < f.slots[at].last) {
			at = k
		}
	}
	if at < 0 || f.ahead != nil || f.Has(p.Key) || f.x.Stopped() {
		return
	}
	f.slots[at].key, f.slots[at].there = nil, false
	f.ahead = &aheadPiece{Piece: p, slot: at, filled: make(chan error, 1)}
	go func(a *aheadPiece) { a.filled <- f.fill(a.Piece, 0) }(f.ahead) // pieces of earlier calls have left page-locked memory
}

// sendAhead sends the piece of Ahead, which is written.
func (f *Feed) sendAhead(err error) error {
	a := f.ahead
	a.sent = true
	if err != nil {
		f.ahead = nil
		return err
	}
	// What earlier calls have launched may read the buffer.
	for _, e := range f.ended {
		if err := errors.Join(e.Record(f.x.stream), f.stream.Follow(e)); err != nil {
			return err
		}
	}
	to := int64(a.slot) * f.room
	if err := f.meter.Copies(a.Bytes, f.stream, func() error { return f.x.c.Send(f.mem, to, f.host, 0, a.Bytes, f.stream) }); err != nil {
		return err
	}
	return f.slots[a.slot].sent.Record(f.stream)
}

// endAhead waits until the piece of Ahead is there.
func (f *Feed) endAhead() error {
	a := f.ahead
	if a == nil {
		return nil
	}
	if !a.sent {
		if err := f.sendAhead(<-a.filled); err != nil {
			return err
		}
	}
	f.ahead = nil
	s := &f.slots[a.slot]
	if err := s.sent.Synchronize(); err != nil {
		return err
	}
	s.key, s.there, s.last = a.Key, true, f.uses
	return nil
}

// Held yields the keys and the addresses of all pieces that kernels may read which use launches now.
func (f *Feed) Held(yield func(key any, at uint64) bool) {
	for k := range f.slots {
		if s := &f.slots[k]; s.there && s.key != nil && !yield(s.key, f.address(k)) {
			return
		}
	}
}

func (f *Feed) address(slot int) uint64 { return f.mem.Ptr + uint64(int64(slot)*f.room) }

// Poll sends the next piece to the device, if it is ready. Kernels that read the present piece need not have ended.
// Call it in Each's use, between launches.
func (f *Feed) Poll() error {
	if f.poll != nil {
		return f.poll()
	}
	if a := f.ahead; a != nil && !a.sent {
		select {
		case err := <-a.filled:
			return f.sendAhead(err)
		default:
		}
	}
	return nil
}

// Each brings pieces 0 … n-1, and calls use with the device address of each when it is there. use launches kernels
// in x.Stream that read it, and need not wait for them. Each ends early, without an error, when the run is to stop.
func (f *Feed) Each(n int, piece func(i int) Piece, use func(i int, at uint64) error) error {
	if n == 0 {
		return nil
	}
	early := f.ahead
	if err := f.endAhead(); err != nil {
		return err
	}
	if early != nil {
		for i := range n {
			if piece(i).Key == early.Key {
				f.Aheads++
				break
			}
		}
	}
	slot, copied := f.deal(n, piece)
	filled, free, quit, ended := make(chan error, 2), make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for c, i := range copied {
			select {
			case <-free:
			case <-quit:
				return
			}
			filled <- f.fill(piece(i), int64(c%2)*f.room) // has room for both buffers
		}
	}()
	next := 0 // the piece of copied to send
	send := func(err error) error {
		i, from := copied[next], int64(next%2)*f.room
		next++
		if err != nil {
			return err
		}
		p, s := piece(i), &f.slots[slot[i]]
		s.key, s.there = nil, false
		// Kernels of the piece before this one do not read what the slot has.
		if err := f.stream.Follow(f.ended[i%2]); err != nil {
			return err
		}
		to := int64(slot[i]) * f.room
		if err := f.meter.Copies(p.Bytes, f.stream, func() error { return f.x.c.Send(f.mem, to, f.host, from, p.Bytes, f.stream) }); err != nil {
			return err
		}
		s.key = p.Key
		return s.sent.Record(f.stream)
	}
	now := 0
	f.poll = func() error {
		if next < len(copied) && copied[next] == now+1 {
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
	// What earlier calls have launched may read any slot.
	for _, e := range f.ended {
		if err := e.Record(f.x.stream); err != nil {
			return err
		}
	}
	for done := 0; now < n && !f.x.Stopped(); now++ {
		s := &f.slots[slot[now]]
		if done < len(copied) && copied[done] == now {
			if next == done {
				if err := send(<-filled); err != nil {
					return err
				}
			}
			if err := s.sent.Synchronize(); err != nil {
				return err
			}
			done++
			free <- struct{}{} // of page-locked memory, for the piece after the next
		}
		s.there = true
		if done < len(copied) && copied[done] == now+1 {
			f.slots[slot[now+1]].there = false // it may be overwritten while kernels of this piece run
		}
		err := use(now, f.address(slot[now]))
		if err != nil && err != ErrEnough {
			return err
		}
		f.uses++
		s.last = f.uses
		if err := f.ended[now%2].Record(f.x.stream); err != nil {
			return err
		}
		if err == ErrEnough {
			if next > done { // a piece is on its way, which a later call may find
				return f.slots[slot[copied[done]]].sent.Synchronize()
			}
			return nil
		}
	}
	return nil
}

// deal returns the slot of each piece, and which pieces are copied. A piece goes where it is already. Others go to the slot whose
// content is not read again by this call, and was read least recently; never to that of the piece before, which
// kernels read while it is copied.
func (f *Feed) deal(n int, piece func(i int) Piece) (slot, copied []int) {
	type content struct {
		key  any
		last uint64
	}
	has := make([]content, len(f.slots))
	for k := range f.slots {
		has[k] = content{f.slots[k].key, f.slots[k].last}
	}
	keys, wanted := make([]any, n), map[any]int{} // wanted: the last piece with a key
	for i := range n {
		if keys[i] = piece(i).Key; keys[i] != nil {
			wanted[keys[i]] = i
		}
	}
	before := -1
	for i := range n {
		at := -1
		for k := range has {
			if keys[i] != nil && has[k].key == keys[i] {
				at = k
			}
		}
		if at < 0 {
			better := func(k int) bool {
				if k == before {
					return false
				}
				if at < 0 {
					return true
				}
				needs := func(k int) bool { last, ok := wanted[has[k].key]; return has[k].key != nil && ok && last > i }
				if a, b := needs(k), needs(at); a != b {
					return b
				}
				return has[k].last < has[at].last
			}
			for k := range has {
				if better(k) {
					at = k
				}
			}
			copied = append(copied, i)
		}
		has[at] = content{keys[i], f.uses + uint64(i) + 1}
		slot = append(slot, at)
		before = at
	}
	return slot, copied
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
	if a := f.ahead; a != nil && !a.sent {
		<-a.filled // it writes to page-locked memory; the run ends without the piece, also where it could not be filled
		f.ahead = nil
	}
	if f.stream != nil {
		errs = append(errs, f.stream.Synchronize(), f.stream.Close())
	}
	events := f.ended[:]
	for i := range f.slots {
		events = append(events, f.slots[i].sent)
	}
	for _, e := range events {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}
