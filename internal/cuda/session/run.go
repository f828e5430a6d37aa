package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
)

// Run runs a job on all devices of the session. It blocks until other runs have ended. If ctx,
// the limit, or an error of Rows cuts it short, it returns the results so far, not Complete.
// The error is then that of ctx or Rows, or nil for the limit. After any other error there is
// no result.
//
// A run with its lists in host memory that has too little device memory is begun again with as little as
// it can do with. If that is too little too, the error names the least (LeastOf). With Auto the caller
// begins again, with Cached: kernels for a cache are other kernels.
func (s *Session) Run(ctx context.Context, j *Job) (Result, error) {
	if err := j.check(); err != nil {
		return Result{}, err
	}
	if err := s.use.take(ctx); err != nil {
		return Result{}, err
	}
	defer s.release()
	j = s.settled(j)
	j.sources = &s.sources
	res, err := s.attempt(ctx, j)
	if !errors.Is(err, ErrShort) || j.Place == Device || j.Place == Auto && !j.cached {
		return res, err
	}
	j.least = true
	if res, err = s.attempt(ctx, j); !errors.Is(err, ErrShort) {
		return res, err
	}
	return res, s.explained(ctx, j, err)
}

// attempt runs a job once. An error that is ErrShort says that nothing was searched.
func (s *Session) attempt(ctx context.Context, j *Job) (Result, error) {
	if err := s.pin(j); err != nil {
		return Result{}, err
	}
	r := &running{
		session: s,

		ctx:   ctx,
		host:  s.host.all,
		job:   j,
		split: newSplitter(j.Tasks, j.Chunk, len(s.devs)),
		gate:  newGate(len(s.devs)),
		parts: make([]part, len(s.devs)),
		ring:  s.o.Ring,
		rows:  taken{rows: j.Rows, limit: j.Limit},
	}
	r.rows.stop = func(err error) { r.stop(err) }
	var wg sync.WaitGroup
	for i, d := range s.devs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := d.dev.Do(func(c *cuda.Context) error { return r.device(c, d, i, s.drainers()) })
			if err != nil {
				r.fail(s.of(d, err))
			}
			r.gate.leave(err)
		}()
	}
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Add(1)
	go func() {
		defer watch.Done()
		r.watch(ended)
	}()
	wg.Wait()
	close(ended)
	watch.Wait()
	return r.result()
}

// of is an error of a device, with the device's name where the session, or that of which it is a part, has several.
func (s *Session) of(d *device, err error) error {
	name := d.dev.Info().String()
	if len(s.devs) == 1 && s.locking == nil || strings.Contains(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (j *Job) check() error {
	switch {
	case j.Start == nil || j.Program == nil:
		return errors.New("session: a job without a program or a start")
	case j.Chunk == 0:
		return errors.New("session: chunks of no tasks")
	case j.Tasks >= 1<<(cursorBits-1):
		return fmt.Errorf("session: %d tasks; a run has less than 2^%d", j.Tasks, cursorBits-1)
	case j.Rows != nil && (j.Width < 1 || len(j.Columns) == 0):
		return errors.New("session: rows without columns")
	}
	for _, c := range j.Columns {
		if c < 0 || c >= j.Width {
			return fmt.Errorf("session: column %d of rows of %d", c, j.Width)
		}
	}
	return nil
}

// running is the state of one run.
type running struct {
	session *Session // a device that runs alone may add to host

	ctx   context.Context
	job   *Job
	host  map[arrayKey]*hostArray // which devices only read
	gate  *gate
	parts []part
	ring  int64
	rows  taken

	copied atomic.Int64 // bytes of arrays and of caches

	mu       sync.Mutex
	split    *splitter
	controls []*control
	stopped  bool
	why      error // the reason why the run stopped; nil: the limit
	err      error // the error that ended it
}

// part is the result of one device.
type part struct {
	wants    []want
	device   DeviceResult
	counters counters
	roots    []Count
	rows     uint64
}

// stop asks all devices to leave. The first reason counts.
func (r *running) stop(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.stopped, r.why = true, why
	}
	for _, c := range r.controls {
		c.halt()
	}
}

// fail ends the run without a result. The first error counts. Work that is dropped because the
// context ended is not a failure.
func (r *running) fail(err error) {
	if why := context.Cause(r.ctx); why != nil && errors.Is(err, why) {
		r.stop(why)
		return
	}
	r.mu.Lock()
	if r.err == nil && !errors.Is(err, errOther) {
		r.err = err
	}
	r.mu.Unlock()
	r.stop(nil)
}

// errOther is the error of a device's function that stops because another device failed.
var errOther = errors.New("another device failed")

// device is the run on one device, inside its Do.
func (r *running) device(c *cuda.Context, d *device, i, workers int) (err error) {
	x, err := r.ready(c, d, i)
	if x != nil {
		defer func() { err = errors.Join(err, x.close(err != nil)) }()
	}
	if err != nil {
		return err
	}
	x.workers = workers
	ctl, err := d.mapped(c)
	if err != nil {
		return err
	}
	var rows *drain
	if r.job.Rows != nil {
		if rows, err = newDrain(c, d, r.job, ctl, r.ring); err != nil {
			return err
		}
		rows.taken, rows.worker0 = &r.rows, i*workers
		x.run.Ring, x.run.RingRows, x.run.RingWidth = d.ring.Ptr(), rows.rows, uint32(rows.width)
	}
	if err := r.arm(x, ctl); err != nil {
		return err
	}
	start := time.Now()
	before := x.result.Compile
	search, err := r.job.Start(x)
	x.result.Prepare += time.Since(start) - (x.result.Compile - before)
	if err != nil {
		return err
	}
	if err := x.stream.Synchronize(); err != nil {
		return err
	}
	if r.job.measure {
		d.needed = d.room.used - d.arrays.idle()
		err := x.planCache()
		d.rehearsed = x.result
		return err
	}
	start = time.Now()
	if err := x.fillCache(r.ctx); err != nil {
		return err
	}
	x.result.Upload += time.Since(start)
	// From here on all devices search, so that none waits for the preparation
	// of another with the clock running.
	if !r.gate.pass() {
		return errOther
	}
	if x.index == 0 {
		r.unread()
	}
	x.searching = true
	if rows != nil {
		rows.start(workers)
		defer rows.end()
	}
	if err := search(); err != nil {
		return errors.Join(err, r.settle(x, ctl))
	}
	if err = r.collect(x, ctl, rows); err != nil {
		ctl.halt() // memory is given back when kernels have ended, and one may wait for room in the ring
	}
	return err
}

// Paged is an owner of arrays that may be pages of a file, which the process need not keep in memory.
type Paged interface{ Unread(b []byte) }

// unread tells the owner of the job's arrays which of them have a copy in host memory by now, so that there are not two.
func (r *running) unread() {
	owner, ok := r.job.Owner.(Paged)
	if !ok {
		return
	}
	for _, w := range r.parts[0].wants {
		if w.host {
			owner.Unread(bytesOf(w.g, w.part))
		}
	}
}

// settle waits for the work on the device after an error, so that its memory can be freed.
func (r *running) settle(x *Exec, ctl *control) error {
	ctl.halt()
	return errors.Join(x.join(), x.stream.Synchronize())
}

// ready brings the globals onto the device, and takes the memory of the run itself.
func (r *running) ready(c *cuda.Context, d *device, i int) (*Exec, error) {
	stream, err := c.Stream()
	if err != nil {
		return nil, err
	}
	x := &Exec{c: c, dev: d, job: r.job, index: i, running: r, stream: stream}
	x.result.Info = d.dev.Info()
	x.run = run{Tasks: r.job.Tasks, Chunk: r.job.Chunk, Vertices: r.job.Vertices}
	for _, e := range []**cuda.Event{&x.begin, &x.end} {
		if *e, err = c.Event(); err != nil {
			return x, err
		}
	}
	// The arrays, and the tools that may make some of them, are on their way while
	// the job's kernels compile.
	if err := r.job.expect(r.ctx, c, x.Info()); err != nil {
		return x, err
	}
	if err := r.upload(x); err != nil {
		return x, err
	}
	if x.counters, err = x.Scratch("counters", int64(unsafe.Sizeof(counters{}))); err != nil {
		return x, err
	}
	x.run.Counters = x.counters.Ptr
	x.countTools()
	if r.job.PerRoot {
		roots, err := x.Scratch("counts per root", 16*int64(r.job.Vertices))
		if err != nil {
			return x, err
		}
		if err := c.Clear(roots, x.stream); err != nil {
			return x, err
		}
		x.run.Roots = roots.Ptr
	}
	return x, nil
}

// arm sets the control block and the counters to the state that a kernel begins
// with.
func (r *running) arm(x *Exec, ctl *control) error {
	r.mu.Lock()
	g := r.split.first(x.index, ctl)
	r.controls = append(r.controls, ctl)
	if r.stopped {
		ctl.halt()
	}
	r.mu.Unlock()
	x.run.Control = x.dev.control.Ptr()
	// The grants behind the first are written before they are read.
	k := counters{Cursor: 1 << cursorBits}
	k.Grant[0] = g
	return cuda.Upload(x.c, x.counters, 0, []counters{k})
}

// collect waits for the search and takes its counts home.
func (r *running) collect(x *Exec, ctl *control, rows *drain) error {
	p := &r.parts[x.index]
	if err := x.join(); err != nil {
		return err
	}
	if err := x.end.Record(x.stream); err != nil {
		return err
	}
	got := make([]counters, 1)
	if err := cuda.Fetch(x.c, got, x.counters, 0, x.stream); err != nil {
		return err
	}
	if x.launched {
		t, err := x.end.Since(x.begin)
		if err != nil {
			return err
		}
		x.result.Search = t
	}
	p.counters = got[0]
	if x.tools != nil {
		if err := x.tools.ran(p.counters.Turn); err != nil {
			return err
		}
	}
	if r.job.PerRoot {
		words := make([]uint64, 2*int(r.job.Vertices))
		if err := cuda.Download(x.c, words, cuda.Buffer{Ptr: x.run.Roots, Size: int64(8 * len(words))}, 0); err != nil {
			return err
		}
		p.roots = make([]Count, r.job.Vertices)
		for v := range p.roots {
			p.roots[v] = Count{Lo: words[2*v], Hi: words[2*v+1]}
		}
	}
	if err := r.fault(x, ctl); err != nil {
		return err
	}
	if rows != nil {
		rows.end()
		p.rows = rows.total.Load()
		if n := p.counters.Reserved; p.counters.Stop == 0 && n != p.rows {
			return &cuda.Error{Op: fmt.Sprintf("%s on %v", r.job.Name, x.Info()), Kind: cuda.ErrLaunch, Text: fmt.Sprintf("%d rows were written and %d arrived", n, p.rows)}
		}
	}
	g := p.counters
	k := g.Cursor >> cursorBits
	x.result.Grants = int(k)
	x.result.Tasks = g.Grant[k-1].Before + min(g.Cursor&(1<<cursorBits-1), g.Grant[k-1].Count)
	p.device = x.result
	return nil
}
