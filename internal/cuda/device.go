package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/runtime/code"
)

// Device is an open device. Its methods may be called from any goroutine.
type Device struct {
	jobs   chan job
	done   chan struct{} // closed when the device's goroutine has ended
	id     uint64        // of that goroutine
	info   Info
	inUse  atomic.Int64
	inside atomic.Bool // a function of Do is running
	gone   atomic.Bool // lost is not nil

	// The following fields belong to the device's goroutine.
	backend Backend
	context Context
	lost    error // after it nothing works; nil while all is well
	main    *Stream
	buffers map[uint64]int64 // buffers of Alloc that are not freed
	pinned  map[*Pinned]struct{}
	modules modules
}

// job is work for the device's goroutine; without run, to end.
type job struct {
	run   func(c *Context) error
	reply chan error
}

// Context is a device inside Do. Outside Do its methods, and those of all objects that came from it, return
// an error.
type Context struct {
	d *Device
}

// New opens a device over a backend. Its kernels are kept in images; nil: in memory, for this device alone.
func New(b Backend, images *code.Cache) (*Device, error) {
	if images == nil {
		images = code.New("")
	}
	d := &Device{
		jobs:    make(chan job),
		done:    make(chan struct{}),
		backend: b,
		buffers: map[uint64]int64{},
		pinned:  map[*Pinned]struct{}{},
		modules: modules{images: images},
	}
	d.context.d = d
	opened := make(chan error)
	go d.serve(opened)
	if err := <-opened; err != nil {
		return nil, err
	}
	return d, nil
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// InUse is how many bytes of device memory and pinned host memory are allocated and not yet freed.
func (d *Device) InUse() int64 { return d.inUse.Load() }

// Lost reports whether every Do fails from now on: an error has left the device useless, or it is closed. It does
// not wait for work on the device.
func (d *Device) Lost() bool {
	select {
	case <-d.done:
		return true
	default:
		return d.gone.Load()
	}
}

// Do runs f on the device's goroutine and returns its error. Functions run one after the other; Do inside f
// runs at once; an f that waits for another goroutine's Do waits for ever. Going to the device's thread and back
// costs some ten microseconds: work belongs together. A panic in f becomes an error. After an error that is ErrLost every Do fails with it, and f is
// not called.
func (d *Device) Do(f func(c *Context) error) error {
	if d.nested() {
		return d.call(f)
	}
	return d.send(f)
}

// Close blocks until the work on the device has ended, and frees its memory, streams and modules. Pinned
// memory must not be read afterwards. A second Close does nothing.
func (d *Device) Close() error {
	if d.nested() {
		return fmt.Errorf("%v: Close inside Do", d.info)
	}
	err := d.send(nil)
	<-d.done // Lost says so from now on
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

func (d *Device) send(f func(c *Context) error) error {
	j := job{run: f, reply: make(chan error, 1)}
	select {
	case d.jobs <- j:
		return <-j.reply
	case <-d.done:
		return fmt.Errorf("%v: %w", d.info, ErrClosed)
	}
}

// nested reports whether the caller is a function that Do runs.
func (d *Device) nested() bool { return d.inside.Load() && goroutine() == d.id }

// serve is the device's goroutine. Its thread is never unlocked, so that it ends with the goroutine, and the
// binding of the context to the thread with it.
func (d *Device) serve(opened chan<- error) {
	runtime.LockOSThread()
	debug.SetPanicOnFault(true) // a fault in f is a panic, and so an error of Do
	d.id = goroutine()
	defer close(d.done)
	if err := d.open(); err != nil {
		opened <- err
		return
	}
	opened <- nil
	for j := range d.jobs {
		if j.run == nil {
			j.reply <- d.shut()
			return
		}
		d.answer(j)
	}
}

func (d *Device) open() (err error) {
	if d.info, err = d.backend.Open(); err != nil {
		return err
	}
	h, err := d.backend.NewStream()
	if err != nil {
		return errors.Join(err, d.backend.Close())
	}
	d.main = &Stream{d: d, handle: h}
	return nil
}

func (d *Device) shut() error {
	var err error
	if d.lost == nil {
		err = d.backend.Synchronize()
		for ptr := range d.buffers {
			err = errors.Join(err, d.backend.Free(ptr))
		}
		for p := range d.pinned {
			err = errors.Join(err, d.backend.Unpin(p.host))
		}
	}
	for p := range d.pinned {
		p.locked(-int64(len(p.bytes)))
		p.bytes = nil
	}
	d.inUse.Store(0)
	closed := d.backend.Close()
	if d.lost != nil {
		return nil // the loss has been reported, and a lost device cannot be closed in order
	}
	return errors.Join(err, closed)
}

// answer replies in any case. When f ends its goroutine (runtime.Goexit, as t.FailNow does) the device ends
// with it, since its thread does.
func (d *Device) answer(j job) {
	err := fmt.Errorf("%v: the function given to Do ended its goroutine: %w", d.info, ErrClosed)
	finished := false
	defer func() {
		if !finished {
			d.shut()
		}
		j.reply <- err
	}()
	err = d.call(j.run)
	finished = true
}

func (d *Device) call(f func(c *Context) error) (err error) {
	if d.lost != nil {
		return d.since()
	}
	outer := d.inside.Swap(true)
	defer func() {
		d.inside.Store(outer)
		if p := recover(); p != nil {
			err = fmt.Errorf("%v: panic: %v\n%s", d.info, p, debug.Stack())
		}
		if d.lost != nil {
			err = d.cause(err)
		}
	}()
	return f(&d.context)
}

// since is the error of all that is tried after the device was lost.
func (d *Device) since() error {
	return &sinceError{d.info, d.lost}
}

// ready says why nothing can be done with the device now.
func (d *Device) ready() error {
	if d.lost != nil {
		return d.since()
	}
	if !d.inside.Load() {
		return fmt.Errorf("%v: used outside Do", d.info)
	}
	return nil
}

// note looks at a backend's error for one that stays.
func (d *Device) note(err error) error {
	if err != nil && d.lost == nil && errors.Is(err, ErrLost) {
		d.lost = err
		d.gone.Store(true)
	}
	return err
}

// goroutine is the number of the calling goroutine, from the first line of its stack: "goroutine 7 [running]".
// It is only asked for when work for a device comes while other work runs there: without it, Do inside Do would
// wait for itself.
func goroutine() uint64 {
	var b [64]byte
	line := bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(line, []byte(" "))
	id, _ := strconv.ParseUint(string(digits), 10, 64)
	return id
}
