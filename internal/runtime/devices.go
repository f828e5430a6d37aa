package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// holder has the GPUs that a runtime has open: a graph that was brought onto a GPU stays there for
// the next query. Its lock is held for moments, and never while something is waited for: each
// query waits for itself, within its context.
type holder struct {
	mu     sync.Mutex
	now    *opened // nil: none
	closed bool
}

// opened is a session over some GPUs. The first three are set before others see it, the
// next when ready is closed, and gone is closed when another may take its place.
type opened struct {
	list   []int // of GPUs, sorted
	memory int64
	ready  chan struct{}

	session *session.Session
	devices []*cuda.Device
	err     error // the reason why there is no session

	gone chan struct{}
}

// current returns the GPUs that are open or being opened, or those that begin makes,
// which it begins to open; nil where begin is nil, or h is closed.
func (r *Runtime) current(begin func() *opened) *opened {
	h := &r.gpus
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == nil && begin != nil && !h.closed {
		if h.now = begin(); !h.now.isReady() {
			go r.open(h.now)
		}
	}
	return h.now
}

// Has reports whether s is the session over the GPUs that are open, and they work.
func (r *Runtime) Has(s *session.Session) bool {
	o := r.current(nil)
	return o != nil && o.isReady() && o.session == s && !o.lost()
}

// close closes the GPUs that are open, on which nothing runs, and lets none be opened. Those
// that are still being opened are closed when they are.
func (h *holder) close() error {
	h.mu.Lock()
	o := h.now
	h.closed = true
	h.mu.Unlock()
	if o == nil {
		return nil
	}
	end := func() error {
		<-o.ready
		if o.err != nil {
			return nil // and it is gone
		}
		return h.retire(context.Background(), o)
	}
	if !o.isReady() {
		go end()
		return nil
	}
	return end()
}

// open opens the devices of o.
func (r *Runtime) open(o *opened) {
	r.narrow(o.list)
	// A context takes a tenth of a second or more.
	devices, errs := make([]*cuda.Device, len(o.list)), make([]error, len(o.list))
	var wg sync.WaitGroup
	for i, n := range o.list {
		wg.Go(func() { devices[i], errs[i] = r.o.Open(n) })
	}
	wg.Wait()
	o.devices = slices.DeleteFunc(devices, func(d *cuda.Device) bool { return d == nil })
	if errors.Join(errs...) != nil {
		o.err = unopened(o.list, errs)
	} else if o.session, o.err = session.Open(o.devices, session.Options{Memory: o.memory}); o.err != nil {
		o.err = fmt.Errorf("%w: %s: %w", ErrDevice, nameOf(o.list), o.err)
	}
	if o.err != nil {
		r.gpus.remove(o)
	}
	close(o.ready)
}

// OpenOne opens a GPU for a caller that keeps it and closes it: the one that a device name asks for, or the first one if the name does not
// say. Sessions may use the same GPU.
func (r *Runtime) OpenOne(ctx context.Context, device string, w *Waits) (*cuda.Device, error) {
	if device == "" || device == "auto" {
		device = "gpu"
	}
	list, err := ordinals(device)
	switch {
	case err != nil:
		return nil, err
	case len(list) != 1:
		return nil, fmt.Errorf("%w: device %q: want one GPU, as gpu:0", ErrName, device)
	}
	if err := r.CheckDevice(ctx, device, w); err != nil {
		return nil, err
	}
	defer w.devices(time.Now())
	d, err := r.o.Open(list[0])
	if err != nil {
		return nil, unopened(list, []error{err})
	}
	return d, nil
}

// retire closes o after the runs that are going on there, for a caller that wants other
// GPUs, and returns when others can be opened. When ctx ends first, its cause is the
// error; o stays open, or goes on to close.
func (h *holder) retire(ctx context.Context, o *opened) error {
	closed, err := o.session.CloseWithin(ctx)
	switch {
	case closed: // errors of a lost device do not matter here
		go h.remove(o)
	case !errors.Is(err, cuda.ErrClosed):
		return err
	}
	select {
	case <-o.gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// remove closes o's devices, on which nothing runs, and makes room for others.
func (h *holder) remove(o *opened) {
	for _, d := range o.devices {
		_ = d.Close()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == o {
		h.now = nil
	}
	close(o.gone)
}

// isReady reports whether o has been opened, or could not be.
func (o *opened) isReady() bool {
	select {
	case <-o.ready:
		return true
	default:
		return false
	}
}

// lost reports whether an error has left one of the devices useless. It waits for none.
func (o *opened) lost() bool { return slices.ContainsFunc(o.devices, (*cuda.Device).Lost) }

// Begin starts to open the GPUs that a device name asks for, if none are open, and returns at
// once. They are then ready sooner when Pick wants them. Pick reports any error.
func (r *Runtime) Begin(device string, memory int64) {
	list, err := ordinals(device)
	if err != nil || len(list) == 0 {
		return
	}
	r.current(asking(list, memory))
}

// Session returns the session over the GPUs that a device name asks for, or over the first one
// if the name does not say. memory is the number of bytes on each; 0 means all free memory. A
// session over other GPUs, or with a lost GPU, ends first, and Session blocks until its runs
// have ended. If ctx ends first, the error is its cause.
func (r *Runtime) Session(ctx context.Context, device string, memory int64, w *Waits) (*session.Session, error) {
	if device == "" || device == "auto" {
		device = "gpu"
	}
	list, err := ordinals(device)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: device %q: want gpu:0,1,…", ErrName, device)
	}
	slices.Sort(list)
	defer w.devices(time.Now())
	for {
		o := r.current(asking(list, memory))
		if o == nil {
			return nil, cuda.ErrClosed
		}
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		switch asked := slices.Equal(o.list, list) && o.memory == memory; {
		case o.err != nil && asked:
			return nil, o.err
		case o.err != nil:
			// It was for another query to learn that, and there is room now.
		case asked && !o.lost():
			return o.session, nil
		default:
			if err := r.gpus.retire(ctx, o); err != nil {
				return nil, err
			}
		}
	}
}

// asking makes an opened that is still to be opened.
func asking(list []int, memory int64) func() *opened {
	return func() *opened {
		return &opened{list: slices.Sorted(slices.Values(list)), memory: memory, ready: make(chan struct{}), gone: make(chan struct{})}
	}
}

// unopened is the error of GPUs of which some cannot be opened: an Outdated one where that
// is all there is against them.
func unopened(list []int, errs []error) error {
	var old Outdated
	var whys []error
	for i, err := range errs {
		if err == nil {
			continue
		}
		why := fmt.Errorf("gpu:%d: %w", list[i], err)
		if !errors.Is(err, cuda.ErrArch) {
			return fmt.Errorf("%w: %w", ErrDevice, why)
		}
		old.GPUs, whys = append(old.GPUs, list[i]), append(whys, why)
	}
	old.error = fmt.Errorf("%w: %w", ErrDevice, whys[0])
	for _, why := range whys[1:] {
		old.error = fmt.Errorf("%w; %w", old.error, why)
	}
	return old
}

// Outdated is the error of GPUs whose architecture is too old, where the others that were
// wanted with them can be opened.
type Outdated struct {
	error
	GPUs []int
}

// Unwrap gives what errors.Is looks at.
func (e Outdated) Unwrap() error { return e.error }

// Forget frees the GPU memory of an owner of arrays, such as a closed graph. It does not wait
// for a run: during a run the memory is freed at its end.
func (r *Runtime) Forget(owner any) error {
	o := r.current(nil)
	if o == nil || !o.isReady() || o.session == nil {
		return nil
	}
	return o.session.ForgetOwner(owner)
}

// Instead replaces the open GPUs by the given devices, as gpu:0,1,… all together. Open ones end
// first. It is for tests on machines without a GPU.
func (r *Runtime) Instead(devices ...*cuda.Device) error {
	s, err := session.Open(devices, session.Options{})
	if err != nil {
		return err
	}
	for {
		o := r.current(func() *opened {
			o := asking(nil, 0)()
			o.session, o.devices = s, devices
			for i := range devices {
				o.list = append(o.list, i)
			}
			close(o.ready)
			return o
		})
		switch {
		case o == nil:
			return cuda.ErrClosed
		case o.session == s:
			return nil
		}
		<-o.ready
		if o.err == nil {
			if err := r.gpus.retire(context.Background(), o); err != nil {
				return err
			}
		}
	}
}
