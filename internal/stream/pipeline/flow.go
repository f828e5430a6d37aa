package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
)

// Flowing are the sizes of a flow. The zero value of each means its default.
type Flowing struct {
	Batch   int           // updates of a batch on the device, at most; 64
	Wait    time.Duration // the time that the device waits for a batch to fill; 125 µs. Less than 0: none
	Window  int           // updates under way; 16384
	Queue   int           // searches under way; 65536
	Threads int           // of a block; 256. The first block is the updater
	Blocks  int           // as many as the device holds at once
	Share   int           // chunks of candidates after which a search gives a part to a warp that waits; 8. Less than 0: never
	Shares  int           // parts that wait; 1024
	Dog     time.Duration // a kernel that does not get on for so long is given up; 10 s
}

func (f Flowing) withDefaults() Flowing {
	set := func(v *int, to int) {
		if *v <= 0 {
			*v = to
		}
	}
	set(&f.Batch, 64)
	set(&f.Window, 1<<14)
	set(&f.Queue, 1<<16)
	set(&f.Threads, 256)
	set(&f.Shares, 1<<10)
	if f.Share == 0 {
		f.Share = 8
	}
	f.Window, f.Queue, f.Shares = powerAbove(f.Window), powerAbove(f.Queue), powerAbove(f.Shares)
	f.Batch = min(f.Batch, f.Window, mostBatch)
	if f.Wait == 0 {
		f.Wait = 125 * time.Microsecond
	}
	f.Wait = min(max(f.Wait, 0), time.Second)
	if f.Dog == 0 {
		f.Dog = 10 * time.Second
	}
	return f
}

// eager is how long the host looks for an answer without a pause. A pause takes tens of microseconds, however short it is meant to be. Later
// pauses are an eighth of the time so far, so they hold an answer up by little more than that.
const eager = 500 * time.Microsecond

// stopTime is how long a kernel may take to end. It looks at the flag several times a millisecond.
const stopTime = 30 * time.Second

// mostRoom is the most shared memory for the room of a batch, in bytes: 256 updates have 50 KiB. With these a multiprocessor of
// 228 KiB holds two blocks of 256 threads, and with a batch of 64 four.
const mostRoom = 56 << 10

// mostBatch bounds the updates of a batch: find_segments of kernels/pipeline counts in 21 bits.
const mostBatch = 1 << 19

// kernel is the text of a kernel, and what it needs besides a Pipe.
type kernel struct {
	name   string // of the kernel and of the file
	text   string
	shared int // bytes of shared memory of an executor's block
	// params returns the kernel's argument, whose first field is the pipe.
	params func(x pipe) any
	// drain is called again and again while the host waits, and takes what executors write. It may be nil.
	drain func() error
	// room reports whether n more tasks may be posted, after drain. It may be nil.
	room func(n int) bool
}

// Errors of a flow.
var (
	// ErrStuck is the error of a kernel that did not get on.
	ErrStuck error = launchError("the kernel makes no progress")
	errEnded       = launchError("the kernel ended by itself")
)

func launchError(format string, args ...any) *cuda.Error {
	return &cuda.Error{Op: "pipeline", Kind: cuda.ErrLaunch, Text: fmt.Sprintf(format, args...)}
}

// fullError says which update found no room in the memory for neighbour lists.
type fullError struct{ update uint64 }

func (e fullError) Error() string {
	return fmt.Sprintf("the device's memory for neighbour lists is full at update %d", e.update)
}

// Flow is a store with the kernel that updates and searches it. Its methods must not overlap. A flow is used outside Do.
type Flow struct {
	d      *cuda.Device
	size   Flowing
	store  *Store
	k      kernel
	raw    pipe
	module *cuda.Module
	stream *cuda.Stream

	buffers              []cuda.Buffer
	flow                 cuda.Buffer
	control, ring, queue *cuda.Pinned
	ctl                  *control
	updates              []update
	tasks                []task
	ends                 []uint64 // of the tasks of updates in the ring

	posted, tasked uint64 // updates and tasks since the load
	taken          uint64 // of the updates, those that the device had taken when the host last looked: each look may wait for the bus
	running        bool
	warps          int // that search
	lost           error
}

// newFlow makes a flow over a store, which it owns from then on.
func newFlow(ctx context.Context, d *cuda.Device, s *Store, directed bool, size Flowing, k kernel) (f *Flow, err error) {
	f = &Flow{d: d, size: size.withDefaults(), store: s, k: k}
	err = d.Do(func(c *cuda.Context) error { return f.open(ctx, c, directed) })
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Flow) open(ctx context.Context, c *cuda.Context, directed bool) (err error) {
	if f.module, err = c.ModuleWithin(ctx, cuda.Source{Name: f.k.name + ".cu", Text: f.k.text, Includes: kernels.Includes(f.k.text)}); err != nil {
		return err
	}
	if f.stream, err = c.Stream(); err != nil {
		return err
	}
	x := &f.raw
	x.Store, x.Pool = f.store.raw, f.store.pool.Ptr
	x.HostUpdates, x.HostTasks = uint32(f.size.Window), uint32(f.size.Queue)
	x.Window, x.QueueSize, x.Batch = uint32(f.size.Window), uint32(f.size.Queue), uint32(f.size.Batch)
	x.WaitNS = uint32(f.size.Wait)
	if directed {
		x.Directed = 1
	}
	alloc := func(to *uint64, bytes int64) {
		if err == nil {
			var b cuda.Buffer
			b, err = c.Alloc(bytes)
			f.buffers = append(f.buffers, b)
			*to = b.Ptr
		}
	}
	var empty []cuda.Buffer // memory that begins empty
	pin := func(to *uint64, bytes int64) (p *cuda.Pinned) {
		if err == nil {
			if p, err = c.Pinned(bytes); err == nil {
				*to = p.Ptr()
			}
		}
		return p
	}
	alloc(&x.Flow, sizeOf[flow]())
	alloc(&x.Slots, int64(x.Window)*sizeOf[slot]())
	alloc(&x.Queue, int64(x.QueueSize)*sizeOf[task]())
	if f.size.Share > 0 {
		x.Share, x.SharesSize = uint32(f.size.Share), uint32(f.size.Shares)
		alloc(&x.Shares, int64(x.SharesSize)*sizeOf[share]())
		alloc(&x.Parts, int64(x.QueueSize)*sizeOf[parts]())
		empty = f.buffers[len(f.buffers)-min(2, len(f.buffers)):]
	}
	if err == nil {
		var fits bool
		if fits, err = f.fits(); !fits {
			alloc(&x.Work, int64(batchBytes(f.size.Batch)))
		}
	}
	f.control = pin(&x.Control, sizeOf[control]())
	f.ring = pin(&x.Updates, int64(x.HostUpdates)*sizeOf[update]())
	f.queue = pin(&x.Tasks, int64(x.HostTasks)*sizeOf[task]())
	if err != nil {
		return err
	}
	f.flow = f.buffers[0]
	ctl, err := cuda.View[control](f.control, 0, 1)
	if err != nil {
		return err
	}
	f.ctl = &ctl[0]
	if f.updates, err = cuda.View[update](f.ring, 0, int(x.HostUpdates)); err != nil {
		return err
	}
	if f.tasks, err = cuda.View[task](f.queue, 0, int(x.HostTasks)); err != nil {
		return err
	}
	f.ends = make([]uint64, 4*x.HostUpdates) // of all that are not done
	for _, b := range empty {
		if err := c.Clear(b, nil); err != nil {
			return err
		}
	}
	return c.Clear(f.flow, nil)
}

// fits reports whether the room of a batch is to be in shared memory. All blocks of a launch have as much, so it must be small.
func (f *Flow) fits() (bool, error) {
	if batchBytes(f.size.Batch) > mostRoom {
		return false, nil
	}
	k, err := f.module.Kernel(f.k.name)
	if err != nil {
		return false, err
	}
	blocks, err := k.Resident(f.size.Threads, f.shared())
	return blocks >= 2, err
}

// shared returns the bytes of shared memory of a block.
func (f *Flow) shared() int {
	n := deskBytes + stageSize*f.size.Threads
	if f.raw.Work == 0 {
		n += batchBytes(f.size.Batch)
	}
	return max(n, f.k.shared)
}

// Close stops the kernel and frees all memory.
func (f *Flow) Close() error {
	var err error
	if f.running {
		atomic.StoreUint32(&f.ctl.Stop, 1)
		if err = f.ended(); f.running {
			return err // the kernel may still use its memory, which goes with the device
		}
	}
	return errors.Join(err, f.d.Do(func(c *cuda.Context) error {
		var errs []error
		for _, b := range f.buffers {
			errs = append(errs, c.Free(b))
		}
		f.buffers = nil
		for _, p := range []*cuda.Pinned{f.control, f.ring, f.queue} {
			if p != nil {
				errs = append(errs, p.Free())
			}
		}
		if f.stream != nil {
			errs = append(errs, f.stream.Close())
		}
		if f.module != nil {
			errs = append(errs, f.module.Close())
		}
		return errors.Join(append(errs, f.store.free(c))...)
	}))
}

// start launches the kernel, if it does not run.
func (f *Flow) start() error {
	if f.lost != nil || f.running {
		return f.lost
	}
	err := f.d.Do(func(c *cuda.Context) error {
		var now [1]flow
		if err := cuda.Download(c, now[:], f.flow, 0); err != nil {
			return err
		}
		x := &now[0]
		x.Next, x.Ended, x.Stop, x.Fault, x.Hungry = x.Ready, 0, 0, 0, 0
		if err := cuda.Upload(c, f.flow, 0, now[:]); err != nil {
			return err
		}
		k, err := f.module.Kernel(f.k.name)
		if err != nil {
			return err
		}
		blocks, err := k.Resident(f.size.Threads, f.shared())
		if err != nil {
			return err
		}
		if f.size.Blocks > 0 {
			blocks = min(blocks, f.size.Blocks)
		}
		if blocks < 2 || 32*2 > f.size.Threads*(blocks-1) {
			return launchError("the device holds %d blocks of %d threads, and a pipeline needs two, of two warps", blocks, f.size.Threads)
		}
		f.warps = f.size.Threads/32*(blocks-1) - 1
		atomic.StoreUint32(&f.ctl.Closed, 0)
		atomic.StoreUint32(&f.ctl.Stop, 0)
		atomic.StoreUint32(&f.ctl.Ended, 0)
		return k.Launch(cuda.Launch{Blocks: blocks, Threads: f.size.Threads, Shared: f.shared(), Stream: f.stream}, f.k.params(f.raw))
	})
	f.running = err == nil
	return err
}

// post gives the device an update with its tasks, whose fields Update and Tasks it sets. It starts the kernel if it must, and blocks while the device has no room.
func (f *Flow) post(ctx context.Context, u update, tasks []task) error {
	if len(tasks) > len(f.tasks) {
		return launchError("an update has %d searches, and the device has room for %d", len(tasks), len(f.tasks))
	}
	free := func() bool {
		return f.posted-f.taken < uint64(len(f.updates)) && f.tasked+uint64(len(tasks))-f.end(f.taken) <= uint64(len(f.tasks)) &&
			(f.k.room == nil || f.k.room(len(tasks)))
	}
	room := func() bool {
		f.taken = atomic.LoadUint64(&f.ctl.Taken)
		return free()
	}
	if !f.running || !free() && !room() {
		f.hurry()
		if err := f.wait(ctx, room); err != nil {
			return err
		}
	}
	for _, t := range tasks {
		t.Update = uint32(f.posted)
		f.tasks[f.tasked%uint64(len(f.tasks))] = t
		f.tasked++
	}
	u.Tasks = uint32(f.tasked)
	f.updates[f.posted%uint64(len(f.updates))] = u
	f.ends[f.posted%uint64(len(f.ends))] = f.tasked
	f.posted++
	atomic.StoreUint64(&f.ctl.Posted, f.posted)
	return nil
}

// hurry makes the device take what is posted, without waiting for a batch to fill.
func (f *Flow) hurry() { atomic.StoreUint64(&f.ctl.Urgent, f.posted) }

// flush blocks until all posted updates are done.
func (f *Flow) flush(ctx context.Context) error {
	f.hurry()
	return f.wait(ctx, func() bool { return atomic.LoadUint64(&f.ctl.Done) == f.posted })
}

// end returns the number of tasks of the first updates, of which at most the last four windows are asked for.
func (f *Flow) end(updates uint64) uint64 {
	if updates == 0 {
		return 0
	}
	return f.ends[(updates-1)%uint64(len(f.ends))]
}

// done returns the number of tasks of the updates that are done, with all before them.
func (f *Flow) done() uint64 { return f.end(atomic.LoadUint64(&f.ctl.Done)) }

// finish ends the kernel when all posted updates are done.
func (f *Flow) finish(ctx context.Context) error {
	if !f.running {
		return f.lost
	}
	if err := f.flush(ctx); err != nil {
		return err
	}
	atomic.StoreUint32(&f.ctl.Closed, 1)
	return f.ended()
}

// wait blocks until ok, or until the kernel or the context ends.
func (f *Flow) wait(ctx context.Context, ok func() bool) error {
	if err := f.start(); err != nil {
		return err
	}
	var last [4]uint64
	began := time.Now()
	moved := began
	for turn := 0; ; turn++ {
		enough := ok() // drain then takes all that belongs to it
		if f.k.drain != nil {
			if err := f.k.drain(); err != nil {
				return f.stop(err)
			}
		}
		if enough {
			return nil
		}
		if ctx.Err() != nil {
			return f.stop(context.Cause(ctx))
		}
		now := [4]uint64{atomic.LoadUint64(&f.ctl.Taken), atomic.LoadUint64(&f.ctl.Done), atomic.LoadUint64(&f.ctl.Beat), atomic.LoadUint64(&f.ctl.Drained)}
		switch {
		case atomic.LoadUint32(&f.ctl.Fault) != 0:
			return f.stop(nil)
		case now != last:
			last, moved = now, time.Now()
		case time.Since(moved) > f.size.Dog:
			return f.stop(ErrStuck)
		}
		if turn < 64 || time.Since(began) < eager {
			runtime.Gosched()
			continue
		}
		if turn%256 == 0 { // a launch that failed says nothing else
			if err := f.alive(); err != nil {
				return f.stop(err)
			}
		}
		time.Sleep(min(time.Since(began)/8, 200*time.Microsecond))
	}
}

// alive returns the error of a kernel that has ended by itself.
func (f *Flow) alive() error {
	return f.d.Do(func(*cuda.Context) error {
		done, err := f.stream.Done()
		if err == nil && done {
			err = errEnded
		}
		return err
	})
}

// stop ends the kernel after a failure. The store is not to be used any more. The error is the kernel's own if it has one, else why.
func (f *Flow) stop(why error) error {
	atomic.StoreUint32(&f.ctl.Stop, 1)
	err := f.ended()
	switch fault := atomic.LoadUint32(&f.ctl.Fault); {
	case fault == faultFull:
		why = fullError{f.ctl.FaultAt}
	case fault == faultList:
		why = launchError("update %d removes an edge that the device's graph does not have", f.ctl.FaultAt)
	case fault != 0:
		why = launchError("fault %d of the kernel, about %d", fault, f.ctl.FaultAt)
	case why == nil:
		why = launchError("the kernel failed")
	}
	f.lost = errors.Join(why, err)
	return f.lost
}

// ended waits for the end of the kernel.
func (f *Flow) ended() error {
	until := time.Now().Add(stopTime)
	for {
		done := false
		err := f.d.Do(func(*cuda.Context) (err error) {
			done, err = f.stream.Done()
			return err
		})
		if err != nil || done {
			f.running = false
			return err
		}
		if f.k.drain != nil {
			if err := f.k.drain(); err != nil {
				return err
			}
		}
		if time.Now().After(until) {
			return fmt.Errorf("%w, and does not stop", ErrStuck)
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// state returns the flow's numbers and the pool's, while no kernel runs.
func (f *Flow) state() (x flow, p pool, err error) {
	var xs [1]flow
	var ps [1]pool
	err = f.d.Do(func(c *cuda.Context) error {
		return errors.Join(cuda.Download(c, xs[:], f.flow, 0), cuda.Download(c, ps[:], f.store.pool, 0))
	})
	return xs[0], ps[0], err
}
