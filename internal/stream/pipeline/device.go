package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// Options are those of a Device. The zero value of each means its default.
type Options struct {
	Flowing
	Rows   int // matches that are on the way to the host; 65536
	Listed int // vertices of the matches of a batch that the host keeps; 2^26. The matcher searches tasks that have more
	// Memory is the bytes on the device for neighbour arrays; three times as many as the graph's need at the start and 64 MiB, within
	// nine tenths of what is free.
	Memory int64
	Idle   time.Duration // the kernel ends when no batch has come for so long; 100 ms
}

// Device is a GPU with a graph in several versions. It implements nest.Device.
type Device struct {
	mu    sync.Mutex  // idle takes the flow too
	timer *time.Timer // calls idle
	turn  uint64      // calls of Search

	d *cuda.Device
	g *dynamic.Graph
	o Options

	flow    *Flow  // nil: the graph is to be brought to the device
	version uint64 // of the graph there
	last    uint64 // updates of a load, at most
	failed  error  // of flows that Forget ended

	program      *program
	upload       bool // the program is to be brought to the device
	words        cuda.Buffer
	counts, ring *cuda.Pinned
	raw          searching
	count        []uint64
	rows         []uint32
	row          uint64 // the next one of the ring

	job   job
	found nest.Found
	work  Work
}

// job is a Search under way.
type job struct {
	base   uint64
	places []place      // by version after base
	tasks  []int        // of the caller, by number of the load's task, from first on
	first  uint64       // the number of tasks[0]
	next   uint64       // the number of the first task whose count is not taken
	found  []match      // rows that are taken
	words  []uint32     // of these
	left   map[int]bool // tasks of which some matches had no room
	counts []uint64
}

// place says where a version ends: how many updates of the load and how many tasks of the caller there are up to it.
type place struct {
	updates uint64
	tasks   int
}

// match is a row of a task of the caller. It begins at words[at].
type match struct{ task, at int }

// Work is what a Device did.
type Work struct {
	Batches, Updates, Tasks uint64
	Loads                   uint64
	Full                    uint64               // loads because the memory for arrays was full, or in too small pieces
	Steps                   [steps]time.Duration // of the updater, which waits for updates in the first one
	Busy                    time.Duration        // of all warps that search
}

// NewDevice returns a Device over an open GPU, which stays the caller's to close. The graph must only change by the matcher that owns the
// Device. While batches come a kernel stays on the GPU. Others that free memory of the GPU wait for its end.
func NewDevice(d *cuda.Device, g *dynamic.Graph, o Options) (*Device, error) {
	if o.Rows <= 0 {
		o.Rows = 1 << 16
	}
	o.Rows = max(powerAbove(o.Rows), 32)
	if o.Listed <= 0 {
		o.Listed = 1 << 26
	}
	if o.Idle <= 0 {
		o.Idle = 100 * time.Millisecond
	}
	o.Flowing = o.withDefaults()
	x := &Device{d: d, g: g, o: o, last: uint64(forever) - 4*uint64(o.Window)}
	err := d.Do(func(c *cuda.Context) (err error) {
		x.counts, err = c.Pinned(8 * int64(o.Queue))
		return err
	})
	if err == nil {
		x.count, err = cuda.View[uint64](x.counts, 0, o.Queue)
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

var _ nest.Device = (*Device)(nil)

// Bind implements nest.Device.
func (x *Device) Bind(ws *nest.Watches) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.program, x.upload = compile(ws, x.g.NumEdgeLabels(), x.g.Directed()), true
	ctx := context.Background()
	if x.flow != nil {
		if err := x.flow.finish(ctx); err != nil {
			return err
		}
	}
	if x.g.Open() || !slices.ContainsFunc(ws.List, func(w *nest.Watch) bool { return w != nil }) {
		return nil
	}
	return x.ready(ctx, x.g.Version(), 0, 0) // the first batch need not wait for the graph
}

// Settle implements nest.Device. The device keeps old versions no longer than searches need them.
func (x *Device) Settle() error { return nil }

// Totals returns what the device did so far.
func (x *Device) Totals() Work {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.work
	w.add(x.flow)
	return w
}

// add adds the times of a flow.
func (w *Work) add(f *Flow) {
	if f == nil || f.ctl == nil {
		return
	}
	for i := range w.Steps {
		w.Steps[i] += time.Duration(atomic.LoadUint64(&f.ctl.Steps[i]))
	}
	w.Busy += time.Duration(atomic.LoadUint64(&f.ctl.Busy))
}

// Work implements nest.Device.
func (x *Device) Work() string {
	w := x.Totals()
	s := func(i int) time.Duration { return w.Steps[i].Round(10 * time.Microsecond) }
	return fmt.Sprintf("%d batches, %d updates, %d searches; the graph was brought to the device %d times; updater: %v gathering, %v fetching, %v sorting, "+
		"%v finding room, %v removing, %v copying, %v publishing; warps searched for %v in all", w.Batches, w.Updates, w.Tasks, w.Loads,
		s(stepGather), s(stepFetch), s(stepSort), s(stepRoom), s(stepRemove), s(stepCopy), s(stepPublish), w.Busy.Round(10*time.Microsecond))
}

// Close implements nest.Device.
func (x *Device) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn++
	if x.timer != nil {
		x.timer.Stop()
	}
	x.forget()
	return errors.Join(x.failed, x.d.Do(func(c *cuda.Context) error {
		errs := []error{c.Free(x.words)}
		x.words = cuda.Buffer{}
		for _, p := range []*cuda.Pinned{x.counts, x.ring} {
			if p != nil {
				errs = append(errs, p.Free())
			}
		}
		return errors.Join(errs...)
	}))
}

// Forget implements nest.Device.
func (x *Device) Forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget()
}

func (x *Device) forget() { x.failed = errors.Join(x.failed, x.drop()) }

// idle ends the kernel if no batch came since some Search. What goes wrong is for the next one to say.
func (x *Device) idle(turn uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.turn == turn && x.flow != nil && x.flow.lost == nil {
		_ = x.flow.finish(context.Background())
	}
}

// later has idle called when it is time. The caller holds the lock.
func (x *Device) later() {
	if x.timer != nil {
		x.timer.Stop()
	}
	turn := x.turn
	x.timer = time.AfterFunc(x.o.Idle, func() { x.idle(turn) })
}

// drop ends the flow.
func (x *Device) drop() error {
	if x.flow == nil {
		return nil
	}
	f := x.flow
	x.flow = nil
	x.work.add(f)
	return f.Close()
}

// Search implements nest.Device.
func (x *Device) Search(ctx context.Context, base uint64, events []dynamic.Event, tasks []nest.Task) (nest.Found, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn++
	defer x.later()
	j := &x.job
	*j = job{base: base, found: j.found[:0], words: j.words[:0], counts: append(j.counts[:0], make([]uint64, len(tasks))...), places: j.places[:0]}
	x.work.Batches++
	x.work.Updates += uint64(len(events))
	x.work.Tasks += uint64(len(tasks))
	if err := context.Cause(ctx); err != nil {
		return nest.Found{}, err
	}
	for from := base; ; {
		err := x.send(ctx, from, events, tasks)
		if err == nil {
			err = x.flow.flush(ctx)
		}
		if err == nil {
			break
		}
		var full fullError
		if !errors.As(err, &full) {
			return nest.Found{}, err
		}
		fresh := x.flow.posted > 0 && j.first == 0 && full.update == 0
		if from, err = x.resume(from, full.update); err != nil {
			return nest.Found{}, err
		}
		if fresh {
			return nest.Found{}, noRoom("an update of the graph finds no room for neighbour lists")
		}
		x.work.Full++
	}
	x.version = x.g.Version()
	return x.answer(tasks), nil
}

// resume ends the flow after an update found no room. Versions whose updates are done need not be made again: it returns the last of these.
func (x *Device) resume(from, update uint64) (uint64, error) {
	j := &x.job
	if err := x.take(); err != nil {
		return 0, err
	}
	for int(from-j.base) < len(j.places) && j.places[from-j.base].updates <= update {
		from++
	}
	j.places = j.places[:from-j.base]
	j.found = slices.DeleteFunc(j.found, func(m match) bool { return m.task >= j.tasksUpTo(from) })
	return from, x.drop()
}

// tasksUpTo returns the number of tasks up to a version.
func (j *job) tasksUpTo(version uint64) int {
	if version == j.base {
		return 0
	}
	return j.places[version-j.base-1].tasks
}

// ready makes the flow one that can take the updates of a batch behind a version.
func (x *Device) ready(ctx context.Context, from uint64, updates, tasks int) error {
	lists := int(x.g.Layout() >> 32)
	if x.g.Directed() {
		lists *= 2
	}
	if f := x.flow; f != nil && (f.lost != nil || x.version != from || int(f.raw.Store.Lists) < lists ||
		f.raw.Store.Words == 3 && x.g.NumEdgeLabels() > 0 || f.posted+uint64(updates+tasks) > x.last) {
		if err := x.drop(); err != nil {
			return err
		}
	}
	if x.flow == nil {
		if err := x.load(ctx, from, lists); err != nil {
			return err
		}
	}
	if x.upload {
		return x.d.Do(x.give)
	}
	return nil
}

// load brings the graph of a version to the device.
func (x *Device) load(ctx context.Context, version uint64, need int) error {
	from := &viewLists{view: x.g.At(version), lists: need, directed: x.g.Directed(), labels: x.g.NumEdgeLabels() > 0}
	var s *Store
	err := x.d.Do(func(c *cuda.Context) (err error) {
		pool := x.o.Memory
		if pool <= 0 {
			free, _, err := c.Memory()
			if err != nil {
				return err
			}
			heads := (int64(need) + int64(need)/4) * sizeOf[head]()
			pool = min(3*from.bytes()+64<<20, free/10*9-heads)
		}
		s, err = load(ctx, c, from, Sizes{Labels: from.labels, Lists: need + need/4, Pool: pool})
		return err
	})
	if err != nil {
		return err
	}
	x.work.Loads++
	x.version, x.upload, x.row = version, true, 0
	x.flow, err = newFlow(ctx, x.d, s, x.g.Directed(), x.o.Flowing, kernel{
		name: "pipeline", text: searchText,
		params: func(p pipe) any {
			x.raw.Pipe = p
			return &x.raw
		},
		drain: x.take,
		room:  func(n int) bool { return x.flow.tasked+uint64(n)-x.job.next <= uint64(x.o.Queue) },
	})
	return err
}

const searchText = "#include \"pipeline/search.cuh\"\n"

// give brings the program to the device, and makes the ring of rows. No kernel runs.
func (x *Device) give(c *cuda.Context) (err error) {
	if err := c.Free(x.words); err != nil {
		return err
	}
	if x.words, err = c.Alloc(4 * int64(len(x.program.words))); err != nil {
		return err
	}
	if err := cuda.Upload(c, x.words, 0, x.program.words); err != nil {
		return err
	}
	width := x.program.most + 2
	if size := 4 * int64(x.o.Rows) * int64(width); x.ring == nil || int64(len(x.ring.Bytes())) != size {
		if x.ring != nil {
			if err := x.ring.Free(); err != nil {
				return err
			}
		}
		if x.ring, err = c.Pinned(size); err != nil {
			return err
		}
		if x.rows, err = cuda.View[uint32](x.ring, 0, int(size/4)); err != nil {
			return err
		}
	}
	clear(x.rows)
	x.raw.Program, x.raw.Counts, x.raw.Most = x.words.Ptr, x.counts.Ptr(), uint32(x.program.most)
	x.raw.Rows = rows{Words: x.ring.Ptr(), Room: uint32(x.o.Rows), Width: uint32(width)}
	x.flow.k.shared = x.o.Threads / 32 * x.program.most * frameBytes
	x.upload = false
	return nil
}

// viewLists are the lists of a version.
type viewLists struct {
	view             dynamic.View
	lists            int
	directed, labels bool
	ids              []uint32
	names            []dynamic.Label
}

// Lists implements lists.
func (x *viewLists) Lists() int { return x.lists }

// Append implements lists.
func (x *viewLists) Append(to []entry, i int) []entry {
	v, d := uint32(i), dynamic.Out
	if x.directed {
		v, d = uint32(i/2), dynamic.Direction(i%2)
	}
	if !x.labels {
		for _, id := range x.view.List(v, d, dynamic.AnyLabel, nil, &x.ids) {
			to = append(to, entry{ID: id})
		}
		return to
	}
	begin := len(to)
	x.names = x.view.Labels(v, d, x.names)
	for _, l := range x.names {
		for _, id := range x.view.List(v, d, l, nil, &x.ids) {
			to = append(to, entry{ID: id, Label: uint32(l)})
		}
	}
	slices.SortFunc(to[begin:], func(a, b entry) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Label, b.Label)) })
	return to
}

// bytes returns the memory of all arrays.
func (x *viewLists) bytes() (n int64) {
	words := 3
	if x.labels {
		words = 4
	}
	var l []entry
	for i := range x.lists {
		if l = x.Append(l[:0], i); len(l) > 0 {
			n += int64(classUnits(classAbove(unitsOf(len(l), words)))) * unit
		}
	}
	return n
}

// send posts the updates of the versions after one, and their tasks.
func (x *Device) send(ctx context.Context, from uint64, events []dynamic.Event, tasks []nest.Task) error {
	if err := x.ready(ctx, from, len(events), len(tasks)); err != nil {
		return err
	}
	j, f := &x.job, x.flow
	j.first, j.next, j.tasks = f.tasked, f.tasked, j.tasks[:0]
	at := j.tasksUpTo(from)
	var changes []update
	var before, after []task
	e := 0
	for e < len(events) && events[e].Version <= from {
		e++
	}
	for v := from + 1; v <= x.g.Version(); v++ {
		n := e
		for n < len(events) && events[n].Version == v {
			n++
		}
		changes = x.changes(changes[:0], events[e:n])
		e = n
		// A task of version v is searched after the last change of v. So may be those of the next update that are searched before it.
		begin := at
		before, after = before[:0], after[:0]
		for ; at < len(tasks) && tasks[at].Version <= v; at++ {
			t, k := &tasks[at], task{What: x.program.at[tasks[at].Nest] << 2, First: tasks[at].First}
			if t.List {
				k.What |= 2
			}
			if t.Version == v {
				k.What |= 1
				after = append(after, k)
			} else {
				before = append(before, k)
			}
		}
		for _, is := range []uint64{v - 1, v} {
			for i := begin; i < at; i++ {
				if tasks[i].Version == is {
					j.tasks = append(j.tasks, i)
				}
			}
		}
		if len(changes) == 0 && at > begin {
			changes = append(changes, update{U: noVertex})
		}
		for i, u := range changes {
			var with []task
			if i == 0 {
				with = before
			}
			if i == len(changes)-1 {
				with = append(with, after...)
			}
			if err := f.post(ctx, u, with); err != nil {
				return err
			}
		}
		j.places = append(j.places, place{f.posted, at})
	}
	return nil
}

// changes appends the changes of lists that the events of a version make.
func (x *Device) changes(to []update, events []dynamic.Event) []update {
	g := x.g
	known := map[update]bool{}
	for i := range events {
		e := &events[i]
		if e.Kind != dynamic.EdgeAdded && e.Kind != dynamic.EdgeRemoved {
			continue
		}
		u := update{U: e.U, V: e.V, What: uint32(e.Label) << 1}
		if len(events) > 1 || g.Timed() { // several edges may be in one entry
			was, is := g.At(e.Version-1).Has(e.U, e.V, dynamic.Out, e.Label), g.At(e.Version).Has(e.U, e.V, dynamic.Out, e.Label)
			key := u
			if !g.Directed() && key.U > key.V {
				key.U, key.V = key.V, key.U
			}
			if was == is || known[key] {
				continue
			}
			known[key] = true
			if was {
				u.What |= 1
			}
		} else if e.Kind == dynamic.EdgeRemoved {
			u.What |= 1
		}
		to = append(to, u)
	}
	return to
}

// take takes what executors have written.
func (x *Device) take() error {
	j, f := &x.job, x.flow
	if f == nil || f.ctl == nil || x.rows == nil {
		return nil
	}
	for done := f.done(); j.next < done; j.next++ {
		j.counts[j.tasks[j.next-j.first]] = atomic.LoadUint64(&x.count[j.next%uint64(len(x.count))])
	}
	width, begin := int(x.raw.Rows.Width), x.row
	for {
		w := x.rows[int(x.row%uint64(x.o.Rows))*width:][:width]
		if atomic.LoadUint32(&w[width-1]) != uint32(x.row/uint64(x.o.Rows))+1 {
			break
		}
		switch task := j.tasks[w[0]-uint32(j.first)]; {
		case len(j.words)+width-2 <= x.o.Listed:
			j.found = append(j.found, match{task, len(j.words)})
			j.words = append(j.words, w[1:width-1]...)
		case j.left == nil:
			j.left = map[int]bool{task: true}
		default:
			j.left[task] = true
		}
		x.row++
	}
	if x.row != begin {
		atomic.StoreUint64(&f.ctl.Drained, x.row)
	}
	return nil
}

// answer puts what was found in the order of tasks, and the matches of a task in the order of their vertices.
func (x *Device) answer(tasks []nest.Task) nest.Found {
	j, to := &x.job, &x.found
	width := int(x.raw.Rows.Width) - 2
	words := func(m match) []uint32 { return j.words[m.at:][:width] }
	slices.SortFunc(j.found, func(a, b match) int {
		if a.task != b.task {
			return cmp.Compare(a.task, b.task)
		}
		return slices.Compare(words(a)[:len(tasks[a.task].Nest.Places)], words(b)[:len(tasks[b.task].Nest.Places)])
	})
	to.Counts, to.Rows, to.At = j.counts, to.Rows[:0], append(to.At[:0], make([]int, len(tasks)+1)...)
	rest := j.found
	for i := range tasks {
		to.At[i] = len(to.Rows)
		for ; len(rest) > 0 && rest[0].task == i; rest = rest[1:] {
			if j.left[i] {
				continue // a task without rows is the matcher's
			}
			to.Rows = append(to.Rows, words(rest[0])[:len(tasks[i].Nest.Places)]...)
		}
	}
	to.At[len(tasks)] = len(to.Rows)
	return *to
}
