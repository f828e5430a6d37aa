package choose

import (
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

// open is the session of the process, if there is one: a graph that was brought
// onto a GPU stays there for the next query.
var open struct {
	sync.Mutex
	list    []int // of GPUs, sorted
	memory  int64
	session *session.Session
	devices []*cuda.Device
}

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
	go func() {
		open.Lock()
		defer open.Unlock()
		if open.session == nil {
			_, _ = openSession(device, list, memory)
		}
	}()
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
// first: a run there is waited for.
func sessionOn(device string, memory int64) (*session.Session, error) {
	list, err := ordinals(device)
	if err != nil {
		return nil, err
	}
	defer waiting(&waited.devices, time.Now())
	open.Lock()
	defer open.Unlock()
	return openSession(device, list, memory)
}

// openSession is sessionOn, for who has the lock of open.
func openSession(device string, list []int, memory int64) (*session.Session, error) {
	slices.Sort(list)
	if open.session != nil && slices.Equal(open.list, list) && open.memory == memory && !lost(open.devices) {
		return open.session, nil
	}
	closeOpen()
	narrow(list)
	// A context takes a tenth of a second or more.
	devices, errs := make([]*cuda.Device, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, n := range list {
		wg.Go(func() { devices[i], errs[i] = cuda.Open(n) })
	}
	wg.Wait()
	open.devices = slices.DeleteFunc(slices.Clone(devices), func(d *cuda.Device) bool { return d == nil })
	if err := errors.Join(errs...); err != nil {
		closeOpen()
		return nil, unopened(list, errs)
	}
	var err error
	open.session, err = session.Open(open.devices, session.Options{Memory: memory})
	if err != nil {
		closeOpen()
		return nil, fmt.Errorf("%w: %s: %w", ErrDevice, device, err)
	}
	open.list, open.memory = list, memory
	return open.session, nil
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
// free.
func Session(device string, memory int64) (*session.Session, error) {
	if device == "" || device == "auto" {
		device = "gpu"
	}
	if list, err := ordinals(device); err == nil && len(list) == 0 {
		return nil, fmt.Errorf("%w: device %q: want gpu:0,1,…", ErrName, device)
	}
	return sessionOn(device, memory)
}

// closeOpen ends the open session. What a lost device says to that is of no use.
func closeOpen() {
	if open.session != nil {
		_ = open.session.Close()
	}
	for _, d := range open.devices {
		_ = d.Close()
	}
	open.list, open.session, open.devices = nil, nil, nil
}

// Forget gives back what GPUs keep of a graph that is closed.
func Forget(g *graph.Graph) error {
	open.Lock()
	defer open.Unlock()
	if open.session == nil {
		return nil
	}
	return open.session.ForgetOwner(g)
}

// lost reports whether an error has left one of the devices useless.
func lost(devices []*cuda.Device) bool {
	return slices.ContainsFunc(devices, func(d *cuda.Device) bool {
		return d.Do(func(*cuda.Context) error { return nil }) != nil
	})
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
