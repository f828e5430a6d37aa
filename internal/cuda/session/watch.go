package session

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
)

// How often the host looks at the devices: for grants, often enough that a
// device with a waiting grant always has the next in time.
const (
	lookOne  = time.Millisecond
	lookMany = 50 * time.Microsecond
	tellTime = 250 * time.Millisecond
)

// watch stops the run when the context or a limit says so, hands out tasks, and
// tells progress, until ended is closed.
func (r *running) watch(ended <-chan struct{}) {
	look := lookOne
	if len(r.parts) > 1 {
		look = lookMany
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	told := time.Now()
	started := false
	done := r.ctx.Done()
	for {
		select {
		case <-ended:
			return
		case <-done:
			r.stop(context.Cause(r.ctx))
			done = nil
		case now := <-tick.C:
			if !r.gate.open() {
				if r.job.Details != nil && now.Sub(told) >= tellTime {
					told = now
					r.job.Details(0, r.job.Tasks, r.copied.Load())
				}
				continue
			}
			r.mu.Lock()
			if !started {
				started = true
				r.split.start(now)
			}
			r.split.poll(now)
			r.mu.Unlock()
			r.look()
			if (r.job.Progress != nil || r.job.Details != nil) && now.Sub(told) >= tellTime {
				told = now
				r.mu.Lock()
				total := r.split.total
				r.mu.Unlock()
				if r.job.Details != nil {
					r.job.Details(r.done(), total, r.copied.Load())
				} else {
					r.job.Progress(r.done(), total)
				}
			}
		}
	}
}

// look stops the other devices when one has failed, and all when enough is
// counted.
func (r *running) look() {
	found := uint64(0)
	for _, c := range r.controls {
		if atomic.LoadUint32(&c.Fault) != 0 {
			r.stop(nil)
		}
		n := atomic.LoadUint64(&c.Found)
		found = max(found, found+n, n) // not past 2^64-1
	}
	if r.job.Rows == nil && r.job.Limit > 0 && found >= r.job.Limit {
		r.stop(nil)
	}
}

func (r *running) done() (n uint64) {
	for _, c := range r.controls {
		n += atomic.LoadUint64(&c.Done)
	}
	return n
}

// halt asks the kernels on a device to leave.
func (c *control) halt() { atomic.StoreUint32(&c.Stop, 1) }

// mapped is the device's control block, cleared.
func (d *device) mapped(c *cuda.Context) (*control, error) {
	if d.control == nil {
		p, err := c.Pinned(int64(unsafe.Sizeof(control{})))
		if err != nil {
			return nil, err
		}
		d.control = p
	}
	v, err := cuda.View[control](d.control, 0, 1)
	if err != nil {
		return nil, err
	}
	v[0] = control{}
	return &v[0], nil
}

// fault is the error that a kernel reported, if one did.
func (r *running) fault(x *Exec, ctl *control) error {
	code := atomic.LoadUint32(&ctl.Fault)
	if code == 0 {
		return nil
	}
	f := &Fault{Job: r.job.Name, Device: x.Info(), Code: code, About: atomic.LoadUint64(&ctl.FaultAt)}
	if r.job.FaultText != nil {
		f.Text = r.job.FaultText(f.Code, f.About)
	}
	return f
}

// result adds up the results of the devices.
func (r *running) result() (Result, error) {
	if r.err != nil {
		return Result{}, r.err
	}
	if r.job.measure {
		return Result{}, r.why
	}
	res := Result{Complete: !r.stopped, Visits: make([]uint64, maxLevels)}
	over := false
	if r.job.PerRoot {
		res.PerRoot = make([]Count, r.job.Vertices)
	}
	for _, p := range r.parts {
		k := &p.counters
		over = !res.Matches.add(Count{Lo: k.Matches[0], Hi: k.Matches[1]}) || k.Overflow != 0 || over
		for v, n := range p.roots {
			over = !res.PerRoot[v].add(n) || over
		}
		for l, n := range k.Visits {
			res.Visits[l] += n
		}
		for i, n := range k.User {
			res.User[i] += n
		}
		res.LanesBusy += k.LanesBusy
		res.LanesAll += k.LanesAll
		res.StealsBlock += k.StealsBlock
		res.StealsGrid += k.StealsGrid
		d := p.device
		res.Search = max(res.Search, d.Search)
		res.Upload = max(res.Upload, d.Upload)
		res.Prepare = max(res.Prepare, d.Prepare)
		res.Compile = max(res.Compile, d.Compile)
		res.Devices = append(res.Devices, d)
		if res.Complete && k.Stop != 0 {
			return Result{}, &cuda.Error{Op: fmt.Sprintf("%s on %v", r.job.Name, d.Info), Kind: cuda.ErrLaunch, Text: "the kernel left early, and nothing asked it to"}
		}
	}
	if over {
		return Result{}, ErrOverflow
	}
	// A device may accept a launch and do nothing. Tasks that it left out must not count as
	// zero.
	if done := res.tasks(); res.Complete && done != r.split.total {
		return Result{}, &cuda.Error{Op: r.job.Name, Kind: cuda.ErrLaunch,
			Text: fmt.Sprintf("the kernels have ended and did %d of %d tasks", done, r.split.total)}
	}
	if r.job.Rows != nil {
		res.Matches = Count{Lo: r.rows.count.Load()}
	}
	return res, r.why
}

// tasks is how many the devices have done together.
func (r *Result) tasks() (n uint64) {
	for _, d := range r.Devices {
		n += d.Tasks
	}
	return n
}

// gate lets all devices begin the search together, or none of them.
type gate struct {
	mu      sync.Mutex
	changed sync.Cond
	missing int
	broken  bool
}

func newGate(devices int) *gate {
	g := &gate{missing: devices}
	g.changed.L = &g.mu
	return g
}

// pass waits for the others. False: one has failed.
func (g *gate) pass() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missing--
	g.changed.Broadcast()
	for g.missing > 0 && !g.broken {
		g.changed.Wait()
	}
	return !g.broken
}

// leave says that a device is done; with an error those that wait for it go
// home.
func (g *gate) leave(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.broken = true
		g.changed.Broadcast()
	}
}

func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.missing == 0
}
