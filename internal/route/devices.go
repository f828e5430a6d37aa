package route

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
)

// ordinals reads a device name: the numbers of the GPUs that it asks for, nil
// for the processor.
func ordinals(device string) ([]int, error) {
	switch device {
	case "", "auto", "cpu":
		return nil, nil
	case "gpu":
		return []int{0}, nil
	}
	list, ok := strings.CutPrefix(device, "gpu:")
	var out []int
	seen := map[int]bool{}
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 0 || seen[n] {
			return nil, fmt.Errorf("%w: device %q: want auto, cpu or gpu:0,1,…", ErrName, device)
		}
		seen[n] = true
		out = append(out, n)
	}
	return out, nil
}

// open are the GPUs of the process, if any are open: a graph that was brought onto a GPU
// stays there for the next query.
var open holder

// holder has the GPUs of the process. Its lock is held for moments, and never while
// something is waited for: each query waits for itself, within its context.
type holder struct {
	mu  sync.Mutex
	now *opened // nil: none
}

// opened is a session over some GPUs. The first three are set before others see it, the
// next when ready is closed, and gone is closed when another may take its place.
type opened struct {
	list   []int // of GPUs, sorted
	memory int64
	ready  chan struct{}

	session *session.Session
	devices []*cuda.Device
	err     error // why there is no session

	gone chan struct{}
}

// current returns the GPUs that are open or being opened, or those that begin makes,
// which it begins to open; nil where begin is nil.
func (h *holder) current(begin func() *opened) *opened {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == nil && begin != nil {
		h.now = begin()
		go h.open(h.now)
	}
	return h.now
}

// has reports whether s is the session over the GPUs that are open, and they work.
func (h *holder) has(s *session.Session) bool {
	o := h.current(nil)
	return o != nil && o.isReady() && o.session == s && !o.lost()
}

// open opens what o says.
func (h *holder) open(o *opened) {
	narrow(o.list)
	// A context takes a tenth of a second or more.
	devices, errs := make([]*cuda.Device, len(o.list)), make([]error, len(o.list))
	var wg sync.WaitGroup
	for i, n := range o.list {
		wg.Go(func() { devices[i], errs[i] = openDevice(n) })
	}
	wg.Wait()
	o.devices = slices.DeleteFunc(devices, func(d *cuda.Device) bool { return d == nil })
	if errors.Join(errs...) != nil {
		o.err = unopened(o.list, errs)
	} else if o.session, o.err = session.Open(o.devices, session.Options{Memory: o.memory}); o.err != nil {
		o.err = fmt.Errorf("%w: %s: %w", ErrDevice, o, o.err)
	}
	if o.err != nil {
		h.remove(o)
	}
	close(o.ready)
}

// openDevice opens a GPU; tests have their own.
var openDevice = cuda.Open

// retire closes o after the runs that are going on there, for a caller that wants other
// GPUs, and returns when others can be opened. When ctx ends first, its cause is the
// error; o stays open, or goes on to close.
func (h *holder) retire(ctx context.Context, o *opened) error {
	closed, err := o.session.CloseWithin(ctx)
	switch {
	case closed: // what a lost device says to that is of no use
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

// String is the name of the device that asks for these GPUs.
func (o *opened) String() string {
	var names []string
	for _, n := range o.list {
		names = append(names, strconv.Itoa(n))
	}
	return "gpu:" + strings.Join(names, ",")
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

// waited is how long callers stood still until the driver had started, and until
// devices were open.
var waited struct {
	sync.Mutex
	driver, devices time.Duration
}

// Waited is how long the driver and devices have been waited for since it was last
// asked: the driver when names were checked, devices in Pick.
func Waited() (driver, devices time.Duration) {
	waited.Lock()
	defer waited.Unlock()
	driver, devices = waited.driver, waited.devices
	waited.driver, waited.devices = 0, 0
	return driver, devices
}

// waiting adds the time since then to one of the waits.
func waiting(what *time.Duration, since time.Time) {
	waited.Lock()
	defer waited.Unlock()
	*what += time.Since(since)
}

// alone: see Alone.
var alone atomic.Bool

// Alone says that nothing else in this process uses CUDA. The driver then starts
// for the GPUs that are asked for by name, and those alone; names keep their meaning.
// Threads of the processor's searches stand by between them. Both hold for the life of the
// process, so it is for a command.
func Alone() {
	alone.Store(true)
	host.Alone()
}

// narrow tells package cuda, before anything else is asked of it, which GPUs are wanted.
func narrow(list []int) {
	if alone.Load() && len(list) > 0 {
		cuda.Only(list...)
	}
}

// Begin starts to open the GPUs that a device name asks for, where none are open,
// and returns at once: they are ready sooner when Pick wants them, and it is Pick
// that says what is wrong with them.
func Begin(device string, memory int64) {
	list, err := ordinals(device)
	if err != nil || len(list) == 0 {
		return
	}
	open.current(asking(list, memory))
}

// readyBytes is as much of a graph as is worth a thread: making threads slows down the one
// that has begun, and counts in small graphs are over before they are there.
const readyBytes = 32 << 10

// Ready has the threads of a search in a graph of so many bytes stand by for a short
// while, unless a device name asks for GPUs. It is called while a graph is read, for the
// search that comes next.
func Ready(device string, threads int, bytes int64) {
	if list, err := ordinals(device); err == nil && len(list) == 0 {
		host.Ready(int(min(int64(threads), bytes/readyBytes)))
	}
}

// sessionOn returns the session over the GPUs that a device name asks for, with
// so much memory on each. One over other GPUs, or with a GPU that is lost, ends
// first: the runs there are waited for. When ctx ends first, its cause is the error.
func sessionOn(ctx context.Context, device string, memory int64) (*session.Session, error) {
	list, err := ordinals(device)
	if err != nil {
		return nil, err
	}
	slices.Sort(list)
	defer waiting(&waited.devices, time.Now())
	for {
		o := open.current(asking(list, memory))
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
			if err := open.retire(ctx, o); err != nil {
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

// unopened is the error of GPUs of which some cannot be opened: an outdated one where that
// is all there is against them.
func unopened(list []int, errs []error) error {
	var old outdated
	var whys []error
	for i, err := range errs {
		if err == nil {
			continue
		}
		why := fmt.Errorf("gpu:%d: %w", list[i], err)
		if !errors.Is(err, cuda.ErrArch) {
			return fmt.Errorf("%w: %w", ErrDevice, why)
		}
		old.gpus, whys = append(old.gpus, list[i]), append(whys, why)
	}
	old.error = fmt.Errorf("%w: %w", ErrDevice, whys[0])
	for _, why := range whys[1:] {
		old.error = fmt.Errorf("%w; %w", old.error, why)
	}
	return old
}

// outdated is the error of GPUs whose architecture is too old, where the others that were
// wanted with them can be opened.
type outdated struct {
	error
	gpus []int
}

// Unwrap gives what errors.Is looks at.
func (e outdated) Unwrap() error { return e.error }

// Session is the process's session over the GPUs that a device name asks for, the
// first one where it does not say, with so many bytes of memory on each; 0: what is
// free. Session waits for runs on other GPUs. When ctx ends first, its cause is the
// error.
func Session(ctx context.Context, device string, memory int64) (*session.Session, error) {
	if device == "" || device == "auto" {
		device = "gpu"
	}
	if list, err := ordinals(device); err == nil && len(list) == 0 {
		return nil, fmt.Errorf("%w: device %q: want gpu:0,1,…", ErrName, device)
	}
	return sessionOn(ctx, device, memory)
}

// Forget gives back what GPUs keep of a graph that is closed. It does not wait for a run:
// where one is going on, that is done at its end.
func Forget(g *graph.Graph) error {
	o := open.current(nil)
	if o == nil || !o.isReady() || o.session == nil {
		return nil
	}
	return o.session.ForgetOwner(g)
}

// OnGPU reports whether a device name asks for GPUs.
func OnGPU(device string) bool { return GPUs(device) > 0 }

// GPUs is how many GPUs a device name asks for; 0 for the processor.
func GPUs(device string) int {
	list, err := ordinals(device)
	if err != nil {
		return 0
	}
	return len(list)
}
