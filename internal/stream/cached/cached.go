// Package cached searches the nests of changed edges on a GPU. The graph is in host memory, and a part of it is copied to the device. The
// design is GCSM's (Wei and Jiang, GCSM: GPU-Accelerated Continuous Subgraph Matching for Large Graphs, IPDPS 2024).
//
// The neighbour lists are in page-locked host memory that kernels reach, one copy for each relation that nests read: a direction and some
// labels. Updates of a batch are appended to lists, or mark what is in them. An estimate by random walks says which lists the search will read
// most. These are packed and copied to the device by one transfer, and the kernel (nest/search.cuh) reads the others over the bus. After the
// batch, lists that changed are reorganised.
//
// Every update is searched at its own version. So a task has a version, and an entry of ΔN has those at which it is a neighbour, where GCSM has
// the lists before and after a batch alone. The answers are then those of one update at a time, whatever the batches are.
//
// The package knows bound nests, changing graphs and devices. It must not know how matches are checked further or where they go.
package cached

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// Options are those of a Device. The zero value is a good choice.
type Options struct {
	Threads int // of a block; 0: 256
	Blocks  int // of the grid; 0: as many as the device holds
	Rows    int // the room for matches, of which more are found by searching again; 0: 2^20
	Listed  int // the room for the matches of a batch on the host, in vertices; 0: 2^26. The matcher searches tasks that have more
	Split   int // candidates of a first place from which a task is several; 0: 2048
	Policy  Policy
	Walks   int    // for each task, at most; 0: 64
	Seed    uint64 // of walks
	Memory  int64  // bytes on the device for lists; 0: half of what is free
	// HostMemory is the bytes that the process may use, for lists too. 0: what there is.
	HostMemory int64
	Compare    bool          // each batch is searched once by each policy, for measurements: see Compared
	Dog        time.Duration // a search that does not get on for so long is given up; 0: 10 s
}

// Device is a GPU with the neighbour lists of one graph. It implements nest.Device.
type Device struct {
	d       *cuda.Device
	g       *dynamic.Graph
	o       Options
	lists   lists
	version uint64 // that the lists are of, between windows
	program program
	kernel  *cuda.Kernel
	module  *cuda.Module
	pinned  *cuda.Pinned // of control
	control *control
	stuck   error // of a kernel that does not end, and may still use all memory

	// Device memory, which grows as needed.
	words, relations, tasks, counts, rows, state cuda.Buffer
	uploaded                                     bool // words
	cache                                        cuda.Buffer
	stage                                        *cuda.Pinned // where the cache is packed
	cached                                       int          // lists in the cache
	free                                         int64        // bytes on the device when it was opened

	threads, shared int
	found           nest.Found
	list            []task
	walks           []walk // as list
	work            Work
	compared        [None + 1]Work // by policy
}

// Work is what a Device did.
type Work struct {
	Batches, Tasks, Launches uint64
	HostBytes, DeviceBytes   uint64 // read by kernels, of lists in host memory and of the cache
	Hits, Misses             uint64 // lists that were looked up in the cache
	Copied, Cached           uint64 // bytes of the cache, by transfers, and lists
	Walks                    uint64
	Refused, Wanted          uint64 // batches whose lists found no room for a copy, which Hops needs, and bytes of these
	Estimate, Copy, Match    time.Duration
}

const searchText = "#include \"nest/search.cuh\"\n"

// New returns a Device over an open GPU, which stays the caller's to close. Others may use the GPU too. The graph must only change by the
// matcher that owns the Device.
func New(d *cuda.Device, g *dynamic.Graph, o Options) (*Device, error) {
	if o.Threads == 0 {
		o.Threads = 256
	}
	if o.Rows == 0 {
		o.Rows = 1 << 20
	}
	if o.Listed == 0 {
		o.Listed = 1 << 26
	}
	if o.Split == 0 {
		o.Split = 2048
	}
	if o.Dog == 0 {
		o.Dog = 10 * time.Second
	}
	x := &Device{d: d, g: g, o: o}
	x.lists.g, x.lists.arena.d, x.lists.memory = g, d, o.HostMemory
	err := d.Do(func(c *cuda.Context) (err error) {
		if x.module, err = c.Module(cuda.Source{Name: "nest.cu", Text: searchText, Includes: kernels.Includes(searchText)}); err != nil {
			return err
		}
		if x.kernel, err = x.module.Kernel("nest_search"); err != nil {
			return err
		}
		if x.pinned, err = c.Pinned(size(control{})); err != nil {
			return err
		}
		views, err := cuda.View[control](x.pinned, 0, 1)
		if err != nil {
			return err
		}
		x.control = &views[0]
		if x.state, err = c.Alloc(size(state{})); err != nil {
			return err
		}
		x.free, _, err = c.Memory()
		return err
	})
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// Bind implements nest.Device.
func (x *Device) Bind(ws *nest.Watches) error {
	for _, r := range x.lists.rels {
		if r != nil {
			r.used = false
		}
	}
	clear(x.lists.numbers)
	x.program = program{}
	for _, w := range ws.List {
		if w != nil {
			nests(w, func(n *nest.Nest) { x.program.add(n, x.lists.relation) })
		}
	}
	x.uploaded = false
	if x.g.Open() {
		return nil // Post knows where the window begins
	}
	return x.fill(x.g.Now(), x.g.Version())
}

// fill makes the lists of a version that are missing. The graph may have changed without a Post since others were made, as where a service reads
// updates again that it had answered before: all are made anew then.
func (x *Device) fill(view dynamic.View, version uint64) error {
	if x.version != version {
		x.lists.forget()
	}
	x.version = version
	return x.lists.fill(view)
}

// Whole implements nest.Device: a cache is chosen for all searches of a window.
func (x *Device) Whole() bool { return true }

// Has implements nest.Device.
func (x *Device) Has() func(label dynamic.Label, from, to dynamic.Class) bool { return nil }

// Post implements nest.Device. It blocks until all is searched.
func (x *Device) Post(ctx context.Context, base uint64, events []dynamic.Event, tasks []nest.Task) error {
	if x.stuck != nil {
		return x.stuck
	}
	if err := x.fill(x.g.At(base), base); err != nil {
		return err
	}
	if err := x.lists.update(base, events); err != nil {
		return err
	}
	x.begin(tasks)
	x.found.Version = x.g.Version()
	x.work.Batches++
	if len(tasks) == 0 {
		return context.Cause(ctx)
	}
	x.prepare(base, tasks)
	if x.o.Compare {
		return x.compare(ctx, tasks)
	}
	return x.search(ctx, tasks)
}

// begin makes x.found empty, for some tasks.
func (x *Device) begin(tasks []nest.Task) {
	x.found.Counts = append(x.found.Counts[:0], make([]uint64, len(tasks))...)
	x.found.Rows, x.found.At = x.found.Rows[:0], append(x.found.At[:0], make([]int, len(tasks)+1)...)
}

// search fills the cache and searches the tasks.
func (x *Device) search(ctx context.Context, tasks []nest.Task) error {
	start := time.Now()
	keys, err := x.choose(x.walks)
	if err != nil {
		return err
	}
	x.work.Estimate += time.Since(start)
	return x.d.Do(func(c *cuda.Context) error {
		start := time.Now()
		if err := x.upload(c); err != nil {
			return err
		}
		if err := x.fillCache(c, keys); err != nil {
			return err
		}
		x.begin(tasks)
		x.work.Copy += time.Since(start)
		start = time.Now()
		defer func() { x.work.Match += time.Since(start) }()
		return x.searchAll(ctx, c, tasks)
	})
}

// compare searches the tasks by each policy, the batches beginning with each of them in turn. One whose lists find no room is left out.
func (x *Device) compare(ctx context.Context, tasks []nest.Task) error {
	own, total := x.o.Policy, x.work
	defer func() { x.o.Policy, x.work = own, total }()
	var counts []uint64
	var refused error
	for i := range None + 1 {
		p := (Policy(total.Batches%uint64(None+1)) + i) % (None + 1)
		x.o.Policy, x.work = p, x.compared[p]
		x.work.Batches++
		err := x.search(ctx, tasks)
		x.compared[p] = x.work
		switch {
		case p == Hops && errors.Is(err, errNoRoom):
			refused = err
			continue
		case err != nil:
			return err
		case counts != nil && !slices.Equal(x.found.Counts, counts):
			return fmt.Errorf("cached: cache %v finds other matches than the one before", p)
		}
		counts = append(counts[:0:0], x.found.Counts...)
	}
	if counts == nil {
		return refused
	}
	return nil
}

// Compared returns what the device did by a policy, if it compares them.
func (x *Device) Compared(p Policy) Work { return x.compared[p] }

// Take implements nest.Device.
func (x *Device) Take(context.Context, bool) (nest.Found, error) { return x.found, nil }

// task is NestTask of nest/search.cuh.
type task struct {
	Nest, At     uint32
	First        [2]uint32
	Part, Parts  uint32
	Result, List uint32
}

// prepare makes the tasks of the kernel. One whose first place has many candidates is cut into several.
func (x *Device) prepare(base uint64, tasks []nest.Task) {
	x.list, x.walks = x.list[:0], x.walks[:0]
	for i := range tasks {
		t := &tasks[i]
		k := task{Nest: x.program.at[t.Nest], At: uint32(t.Version - base), First: t.First, Parts: 1, Result: uint32(i)}
		if t.List {
			k.List = 1
		}
		if len(t.Nest.Places) > t.Nest.First {
			k.Parts = uint32(x.candidates(t)/x.o.Split + 1)
		}
		for ; k.Part < k.Parts; k.Part++ {
			x.list = append(x.list, k)
			x.walks = append(x.walks, walk{t.Nest, k.At, k.First, k.Part, k.Parts})
		}
	}
}

// candidates is the length of the shortest list that the candidates of a task's first place are in.
func (x *Device) candidates(t *nest.Task) int {
	least := math.MaxInt32
	lv := &t.Nest.Places[t.Nest.First]
	for i := range lv.Pos {
		b := &lv.Pos[i]
		h := x.lists.rels[x.lists.relation(&b.Rel)].heads[t.First[b.At]]
		least = min(least, int(h.N+h.D))
	}
	return least
}

// grow makes a buffer have room for some bytes. Its contents are lost.
func grow(c *cuda.Context, b *cuda.Buffer, bytes int64) error {
	if b.Size >= bytes {
		return nil
	}
	if err := c.Free(*b); err != nil {
		return err
	}
	*b = cuda.Buffer{}
	var err error
	*b, err = c.Alloc(max(bytes, min(2*bytes, bytes+1<<24)))
	if errors.Is(err, cuda.ErrMemory) {
		*b, err = c.Alloc(bytes)
	}
	return err
}

// give copies values to a buffer that has room for them.
func give[T any](c *cuda.Context, b *cuda.Buffer, values []T) error {
	var zero T
	if len(values) == 0 {
		return nil
	}
	if err := grow(c, b, int64(len(values))*size(zero)); err != nil {
		return err
	}
	return cuda.Upload(c, *b, 0, values)
}

// upload brings the program, and the addresses of lists, to the device.
func (x *Device) upload(c *cuda.Context) error {
	heads := make([]uint64, len(x.lists.rels))
	for i, r := range x.lists.rels {
		if r != nil {
			heads[i] = r.pinned.Ptr()
		}
	}
	if err := give(c, &x.relations, heads); err != nil {
		return err
	}
	if x.uploaded {
		return nil
	}
	if err := give(c, &x.words, x.program.words); err != nil {
		return err
	}
	room := x.room()
	for x.threads = x.o.Threads; x.threads > 32 && x.threads/32*room > x.d.Info().SharedPerBlock; x.threads /= 2 {
	}
	x.shared = x.threads / 32 * room
	x.uploaded = true
	return nil
}

// room is the shared memory of a warp: see NestWarp.
func (x *Device) room() int {
	n := 24*x.program.lists + (24+4*32+4)*x.program.most
	return (n + 15) &^ 15
}

// state is NestState of nest/search.cuh.
type state struct {
	Next, Rows, PollAt         uint64
	Host, Device, Hits, Misses uint64
	Done                       uint64
	Stop, Unused               uint32
}

// control is NestControl of nest/search.cuh.
type control struct{ Stop, Beat, Ended uint32 }

// params is NestParams of nest/search.cuh.
type params struct {
	Tasks, Program, Relations, Counts, Rows, State, Control uint64
	CacheKeys, CacheHeads, CacheCount                       uint64
	RowRoom                                                 uint64
	TaskCount, Width, Room, MostLists                       uint32
}

// searchAll searches the tasks of x.list, and takes what they find. If rows do not fit, the tasks with rows are searched again, as many
// at a time as have room.
func (x *Device) searchAll(ctx context.Context, c *cuda.Context, tasks []nest.Task) error {
	width := x.program.most + 1
	if err := grow(c, &x.counts, 8*int64(len(tasks))); err != nil {
		return err
	}
	listing := slices.ContainsFunc(tasks, func(t nest.Task) bool { return t.List })
	if listing {
		if err := grow(c, &x.rows, 4*int64(x.o.Rows)*int64(width)); err != nil {
			return err
		}
	}
	rows, err := x.launch(ctx, c, x.list, len(tasks))
	if err != nil {
		return err
	}
	if err := cuda.Download(c, x.found.Counts, x.counts, 0); err != nil {
		return err
	}
	total := 0
	for i := range tasks {
		x.found.At[i] = total
		if t := &tasks[i]; t.List && x.found.Counts[i] <= uint64((x.o.Listed-total)/len(t.Nest.Places)) {
			total += int(x.found.Counts[i]) * len(t.Nest.Places)
		}
	}
	x.found.At[len(tasks)] = total
	if !listing {
		return nil
	}
	x.found.Rows = append(x.found.Rows, make([]uint32, total)...)
	next := slices.Clone(x.found.At)
	if rows <= x.roomOf(width) {
		return x.take(c, tasks, next, rows, width)
	}
	var part []task
	for i := 0; i < len(x.list); {
		n := uint64(0)
		for part = part[:0]; i < len(x.list); {
			j, r := i, x.list[i].Result
			for j < len(x.list) && x.list[j].Result == r {
				j++
			}
			if more := x.found.Counts[r]; x.listed(r) {
				if n > 0 && n+more > x.roomOf(width) {
					break
				}
				n += more
				part = append(part, x.list[i:j]...)
			}
			i = j
		}
		if n == 0 {
			continue
		}
		if err := grow(c, &x.rows, 4*int64(n)*int64(width)); err != nil {
			return err
		}
		again, err := x.launch(ctx, c, part, len(tasks))
		if err != nil {
			return err
		}
		if again != n {
			return fmt.Errorf("cached: %d matches were found, and then %d", n, again)
		}
		if err := x.take(c, tasks, next, n, width); err != nil {
			return err
		}
	}
	return nil
}

// listed reports whether the matches of a task have room on the host.
func (x *Device) listed(r uint32) bool { return x.found.At[r] < x.found.At[r+1] }

// roomOf is the number of rows that have room.
func (x *Device) roomOf(width int) uint64 { return uint64(x.rows.Size) / 4 / uint64(width) }

// take copies rows from the device to the places of their tasks, and puts those of a task in order once it has all.
func (x *Device) take(c *cuda.Context, tasks []nest.Task, next []int, rows uint64, width int) error {
	buf := make([]uint32, rows*uint64(width))
	if err := cuda.Download(c, buf, x.rows, 0); err != nil {
		return err
	}
	for ; len(buf) > 0; buf = buf[width:] {
		r := buf[0]
		if !x.listed(r) {
			continue
		}
		k := len(tasks[r].Nest.Places)
		copy(x.found.Rows[next[r]:], buf[1:1+k])
		next[r] += k
	}
	for i := range tasks {
		if k := len(tasks[i].Nest.Places); next[i] == x.found.At[i+1] && next[i] > x.found.At[i]+k {
			sortRows(x.found.Rows[x.found.At[i]:next[i]], k)
			next[i] = -1
		}
	}
	return nil
}

// launch runs the kernel over tasks with some number of results. It returns the number of rows.
func (x *Device) launch(ctx context.Context, c *cuda.Context, tasks []task, results int) (rows uint64, err error) {
	if err := give(c, &x.tasks, tasks); err != nil {
		return 0, err
	}
	counts := cuda.Buffer{Ptr: x.counts.Ptr, Size: 8 * int64(results)}
	if err := errors.Join(c.Clear(counts, c.Main()), c.Clear(x.state, c.Main())); err != nil {
		return 0, err
	}
	blocks, err := x.kernel.Resident(x.threads, x.shared)
	if err != nil {
		return 0, err
	}
	if blocks == 0 {
		return 0, &cuda.Error{Op: "cached", Kind: cuda.ErrLaunch, Text: fmt.Sprintf("a block of %d threads and %d bytes of shared memory does not fit", x.threads, x.shared)}
	}
	warps := x.threads / 32
	blocks = min(blocks, (len(tasks)+warps-1)/warps)
	if x.o.Blocks > 0 {
		blocks = min(blocks, x.o.Blocks)
	}
	atomic.StoreUint32(&x.control.Stop, 0)
	atomic.StoreUint32(&x.control.Ended, 0)
	p := &params{
		Tasks: x.tasks.Ptr, Program: x.words.Ptr, Relations: x.relations.Ptr, Counts: x.counts.Ptr, Rows: x.rows.Ptr, State: x.state.Ptr,
		Control: x.pinned.Ptr(), CacheKeys: x.cache.Ptr, CacheHeads: x.cache.Ptr + 8*uint64(x.cached), CacheCount: uint64(x.cached), RowRoom: x.roomOf(x.program.most + 1), TaskCount: uint32(len(tasks)),
		Width: uint32(x.program.most + 1), Room: uint32(x.room()), MostLists: uint32(x.program.lists),
	}
	if err := x.kernel.Launch(cuda.Launch{Blocks: blocks, Threads: x.threads, Shared: x.shared}, p); err != nil {
		return 0, err
	}
	told := make(chan struct{})
	end := context.AfterFunc(ctx, func() {
		atomic.StoreUint32(&x.control.Stop, 1)
		close(told)
	})
	err = x.wait(c.Main())
	if !end() {
		<-told
	}
	if err != nil {
		return 0, err
	}
	var s [1]state
	if err := cuda.Download(c, s[:], x.state, 0); err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if s[0].Done != uint64(blocks*warps) {
		return 0, &cuda.Error{Op: "cached", Kind: cuda.ErrLaunch, Text: fmt.Sprintf("%d of %d warps came to their end", s[0].Done, blocks*warps)}
	}
	w := &x.work
	w.Launches++
	w.Tasks += uint64(len(tasks))
	w.HostBytes += s[0].Host
	w.DeviceBytes += s[0].Device
	w.Hits += s[0].Hits
	w.Misses += s[0].Misses
	return s[0].Rows, nil
}

// eager is how long the host looks for the end of a search without a pause. A pause takes tens of microseconds, however short it is meant to be.
const eager = 500 * time.Microsecond

// stopTime is how long a kernel may take to end. It looks at the flag once in a millisecond.
const stopTime = 30 * time.Second

// ErrStuck is the error of a search that did not get on.
var ErrStuck error = &cuda.Error{Op: "cached", Kind: cuda.ErrLaunch, Text: "the search makes no progress"}

// wait waits until the kernel has ended. One that does not get on is told to leave.
func (x *Device) wait(s *cuda.Stream) error {
	began := time.Now()
	moved, beat := began, atomic.LoadUint32(&x.control.Beat)
	var stuck error
	for turn := 0; atomic.LoadUint32(&x.control.Ended) == 0; turn++ {
		if turn%64 == 0 {
			switch now := atomic.LoadUint32(&x.control.Beat); {
			case now != beat:
				moved, beat = time.Now(), now
			case stuck == nil && time.Since(moved) > x.o.Dog:
				stuck, moved = ErrStuck, time.Now()
				atomic.StoreUint32(&x.control.Stop, 1)
			case stuck != nil && time.Since(moved) > stopTime:
				x.stuck = fmt.Errorf("%w, and does not stop", ErrStuck)
				return x.stuck
			}
		}
		if time.Since(began) < eager {
			runtime.Gosched()
			continue
		}
		if turn%16 == 0 { // a kernel that failed or was stopped says nothing else
			if done, err := s.Done(); err != nil || done {
				return errors.Join(stuck, err)
			}
		}
		time.Sleep(min(time.Since(began)/8, 200*time.Microsecond))
	}
	return errors.Join(stuck, s.Synchronize())
}

// Settle implements nest.Device.
func (x *Device) Settle() error {
	x.version = x.g.Version()
	return x.lists.settle()
}

// Forget implements nest.Device.
func (x *Device) Forget() { x.lists.forget() }

// Totals returns what the device did so far.
func (x *Device) Totals() Work { return x.work }

// Work implements nest.Device.
func (x *Device) Work() string {
	if !x.o.Compare {
		return x.work.String()
	}
	var all []string
	for p := range x.compared {
		all = append(all, fmt.Sprintf("cache %v: %v", Policy(p), &x.compared[p]))
	}
	return strings.Join(all, "\n  ")
}

// String returns the work in words.
func (w *Work) String() string {
	s := fmt.Sprintf("%d batches, %d tasks; %d bytes read over the bus and %d copied, %d read from the cache; %d of %d lists found there; %v of estimates, %v of copies, %v of search",
		w.Batches, w.Tasks, w.HostBytes, w.Copied, w.DeviceBytes, w.Hits, w.Hits+w.Misses, w.Estimate.Round(time.Millisecond), w.Copy.Round(time.Millisecond), w.Match.Round(time.Millisecond))
	if w.Refused > 0 {
		s += fmt.Sprintf("; %d batches were left out, whose lists need %d bytes, for which there is no room", w.Refused, w.Wanted)
	}
	return s
}

// Close implements nest.Device.
func (x *Device) Close() error {
	if x.d.Lost() || x.stuck != nil {
		return nil // that was reported, and all its memory goes with it
	}
	err := x.lists.close()
	return errors.Join(err, x.d.Do(func(c *cuda.Context) error {
		var errs []error
		for _, b := range []*cuda.Buffer{&x.words, &x.relations, &x.tasks, &x.counts, &x.rows, &x.state, &x.cache} {
			errs = append(errs, c.Free(*b))
			*b = cuda.Buffer{}
		}
		if x.pinned != nil {
			errs = append(errs, x.pinned.Free())
		}
		if x.stage != nil {
			errs = append(errs, x.stage.Free())
		}
		if x.module != nil {
			errs = append(errs, x.module.Close())
		}
		x.pinned, x.control, x.stage, x.module = nil, nil, nil, nil
		return errors.Join(errs...)
	}))
}

var _ nest.Device = (*Device)(nil)

// sortRows puts rows of k words in the order of their words.
func sortRows(rows []uint32, k int) {
	n := len(rows) / k
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(rows[a*k:(a+1)*k], rows[b*k:(b+1)*k]) })
	out := make([]uint32, 0, len(rows))
	for _, i := range order {
		out = append(out, rows[i*k:(i+1)*k]...)
	}
	copy(rows, out)
}
