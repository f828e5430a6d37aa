package cuda

import (
	"errors"
	"time"
)

// Stream is a queue of work. Its entries run in order, and concurrently with other streams. A nil *Stream is the
// device's main stream, which Upload and Download use.
type Stream struct {
	d      *Device
	handle Handle
}

// Stream makes a stream.
func (c *Context) Stream() (*Stream, error) {
	if err := c.d.ready(); err != nil {
		return nil, err
	}
	h, err := c.d.backend.NewStream()
	if err != nil {
		return nil, c.d.note(err)
	}
	return &Stream{d: c.d, handle: h}, nil
}

// Main is the device's main stream.
func (c *Context) Main() *Stream { return c.d.main }

var errStream = errors.New("cuda: a stream of another device, or a closed one")

// streamOf is the handle of a stream of this device.
func (d *Device) streamOf(s *Stream) (Handle, error) {
	if err := d.ready(); err != nil {
		return 0, err
	}
	if s == nil {
		return d.main.handle, nil
	}
	if s.d != d || s.handle == 0 {
		return 0, errStream
	}
	return s.handle, nil
}

// Synchronize waits until all work in the stream has ended, and reports a kernel that failed.
func (s *Stream) Synchronize() error {
	h, err := s.d.streamOf(s)
	if err != nil {
		return err
	}
	return s.d.note(s.d.backend.Wait(h))
}

// Done reports, without waiting, whether all work in the stream has ended; the error is of a kernel that failed.
func (s *Stream) Done() (bool, error) {
	h, err := s.d.streamOf(s)
	if err != nil {
		return false, err
	}
	done, err := s.d.backend.Done(h)
	return done, s.d.note(err)
}

// Follow makes later work in the stream wait until the event has happened.
func (s *Stream) Follow(e *Event) error {
	h, err := s.d.streamOf(s)
	if err != nil {
		return err
	}
	if e.d != s.d || e.handle == 0 {
		return errEvent
	}
	return s.d.note(s.d.backend.Follow(h, e.handle))
}

// Close gives the stream up; its work comes to an end by itself. The main stream stays open.
func (s *Stream) Close() error {
	if s.handle == 0 || s == s.d.main {
		return nil
	}
	if err := s.d.ready(); err != nil {
		return err
	}
	h := s.handle
	s.handle = 0
	return s.d.note(s.d.backend.CloseStream(h))
}

// Event is a point in a stream's work, with its time on the device.
type Event struct {
	d      *Device
	handle Handle
}

var errEvent = errors.New("cuda: an event of another device, or a closed one")

// Event makes an event.
func (c *Context) Event() (*Event, error) {
	if err := c.d.ready(); err != nil {
		return nil, err
	}
	h, err := c.d.backend.NewEvent()
	if err != nil {
		return nil, c.d.note(err)
	}
	return &Event{d: c.d, handle: h}, nil
}

// Record puts the event into a stream: it happens when all work that is there now has ended.
func (e *Event) Record(stream *Stream) error {
	h, err := e.d.streamOf(stream)
	if err != nil {
		return err
	}
	if e.handle == 0 {
		return errEvent
	}
	return e.d.note(e.d.backend.Record(e.handle, h))
}

// Synchronize waits until the event has happened.
func (e *Event) Synchronize() error {
	if err := e.d.ready(); err != nil {
		return err
	}
	if e.handle == 0 {
		return errEvent
	}
	return e.d.note(e.d.backend.WaitEvent(e.handle))
}

// Since is the device's time from start to e. Both must have happened.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if err := e.d.ready(); err != nil {
		return 0, err
	}
	if e.handle == 0 || start.handle == 0 || start.d != e.d {
		return 0, errEvent
	}
	t, err := e.d.backend.Elapsed(start.handle, e.handle)
	return t, e.d.note(err)
}

// Close gives the event up.
func (e *Event) Close() error {
	if e.handle == 0 {
		return nil
	}
	if err := e.d.ready(); err != nil {
		return err
	}
	h := e.handle
	e.handle = 0
	return e.d.note(e.d.backend.CloseEvent(h))
}
