package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
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
	Listed int // vertices of the matches that the host keeps until it is their turn; 2^26. The matcher searches tasks that have more
	// Memory is the bytes on the device for neighbour arrays; three times as many as the graph's need at the start and 64 MiB, within
	// nine tenths of what is free.
	Memory int64
	Idle   time.Duration // the kernel ends when no batch has come for so long; 100 ms
	Sample time.Duration // of which usage is sampled; 10 ms
	ByEdge bool          // matches are extended edge by edge, as a baseline
	Entire bool          // the device has all edges, and not only those that some watch may look at
	Told   bool          // the matcher is to post changes of all edges, also of those that the device's graph does not have
	Hash   bool          // neighbour lists are hash sets that are changed in place, as a baseline
}

// Device is a GPU with a graph in several versions. It implements nest.Device.
type Device struct {
	mu    sync.Mutex  // idle takes the flow too
	timer *time.Timer // calls idle
	turn  uint64      // calls of Post

	d *cuda.Device
	g *dynamic.Graph
	o Options

	flow    *Flow  // nil: the graph is to be brought to the device
	version uint64 // of the graph there
	loaded  uint64 // the version that was brought there
	last    uint64 // updates of a load, at most
	failed  error  // of flows that Forget ended

	used         *uses // by the watches
	has          *uses // edges of the flow's graph: all that are used, and perhaps more
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
	gauge gauge
	most  int64 // bytes of lists that earlier flows had in use
}

// job is the updates that were posted and whose matches are not taken.
type job struct {
	versions numbered[version] // by version
	events   numbered[dynamic.Event]
	tasks    numbered[asked]
	sent     uint64           // the last version that the flow has
	searched uint64           // the number of the first task that is not searched, or of which rows are missing
	order    numbered[uint64] // of tasks, by number of the flow's task
	next     uint64           // the number of the flow's first task whose count is not there
	kept     int              // vertices in rows of tasks
	spare    [][]uint32       // rows for tasks
}

// version says where a version ends: its events and tasks, and the updates and tasks of the flow, once it is sent.
type version struct{ events, tasks, updates, flowing uint64 }

// asked is a task and what was found.
type asked struct {
	nest.Task
	counted, left bool // left: some matches had no room
	count, got    uint64
	rows          []uint32
}

// whole reports whether all matches are there.
func (t *asked) whole() bool { return t.counted && (!t.List || t.got == t.count) }

// begin makes the next version that is posted the one after base. All is taken.
func (j *job) begin(base uint64) {
	j.versions.reset(base + 1)
	j.sent = base
}

// from returns the numbers of the first event and task of a version.
func (j *job) from(v uint64) (event, task uint64) {
	if v == j.versions.first {
		return j.events.first, j.tasks.first
	}
	before := j.versions.at(v - 1)
	return before.events, before.tasks
}

// clear forgets what was found for a task.
func (j *job) clear(t *asked) {
	j.kept -= len(t.rows)
	if cap(t.rows) > 0 && cap(t.rows) <= 1<<10 && len(j.spare) < 1<<10 {
		j.spare = append(j.spare, t.rows[:0])
	}
	*t = asked{Task: t.Task}
}

// row adds a match.
func (j *job) row(t *asked, row []uint32, most int) {
	t.got++
	row = row[:len(t.Nest.Places)]
	switch {
	case t.left:
		return
	case j.kept+len(row) > most:
		j.kept -= len(t.rows)
		t.left, t.rows = true, nil
		return
	}
	if n := len(j.spare); t.rows == nil && n > 0 {
		t.rows, j.spare = j.spare[n-1], j.spare[:n-1]
	}
	t.rows = append(t.rows, row...)
	j.kept += len(row)
}

// done returns the last version up to which all is searched.
func (j *job) done() uint64 {
	for ; j.searched < j.tasks.end() && j.tasks.at(j.searched).whole(); j.searched++ {
	}
	v := j.versions.first
	for ; v < j.versions.end() && j.versions.at(v).tasks <= j.searched; v++ {
	}
	return v - 1
}

// Work is what a Device did.
type Work struct {
	Batches, Updates, Tasks uint64 // a group is one task
	Unused                  uint64 // changed edges that no watch looks at
	Loads                   uint64
	Full                    uint64               // loads because the memory for arrays was full, or in too small pieces
	Steps                   [steps]time.Duration // of the updater, which waits for updates in the first one
	Busy                    time.Duration        // of all warps that search
	Shared                  uint64               // parts of searches that were given to warps that waited
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
	if o.Sample <= 0 {
		o.Sample = 10 * time.Millisecond
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

var _ nest.Keeper = (*Device)(nil)

// Bind implements nest.Device.
func (x *Device) Bind(ws *nest.Watches) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	ws.Table.MakeGroups()
	x.program, x.upload = compile(ws, x.g.NumEdgeLabels(), x.g.Directed()), true
	x.used = usesOf(ws, x.g)
	if x.o.Entire {
		x.used = &uses{labels: x.used.labels, classes: x.used.classes, all: true}
	}
	ctx := context.Background()
	if x.flow != nil {
		if err := x.flow.finish(ctx); err != nil && !errors.As(err, new(fullError)) { // nothing is to be taken: the next Post loads the graph anew
			return err
		}
		has, ok := x.has.widen(x.used)
		if x.has = has; !ok {
			if err := x.drop(); err != nil {
				return err
			}
		}
	}
	if x.g.Open() || !slices.ContainsFunc(ws.List, func(w *nest.Watch) bool { return w != nil }) {
		return nil
	}
	return x.ready(ctx, x.g.Version(), 0) // the first batch need not wait for the graph
}

// Keep implements nest.Keeper. The device reads the host's graph again if its memory is full.
func (x *Device) Keep(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn++ // idle leaves the flow alone
	return x.ready(ctx, x.g.Version(), 0)
}

// Settle implements nest.Device. The device keeps old versions no longer than searches need them.
func (x *Device) Settle() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.work.Batches++
	return nil
}

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
	w.Shared += atomic.LoadUint64(&f.ctl.Shared)
}

// Work implements nest.Device.
func (x *Device) Work() string {
	w := x.Totals()
	s := func(i int) time.Duration { return w.Steps[i].Round(10 * time.Microsecond) }
	return fmt.Sprintf("%d batches, %d updates, of which %d change edges that no watch looks at, %d searches; the graph was brought to the device %d times; updater: %v gathering, %v fetching, %v sorting, "+
		"%v finding room, %v removing, %v copying, %v publishing; warps searched for %v in all, and gave %d parts of searches to others", w.Batches, w.Updates, w.Unused, w.Tasks, w.Loads,
		s(stepGather), s(stepFetch), s(stepSort), s(stepRoom), s(stepRemove), s(stepCopy), s(stepPublish), w.Busy.Round(10*time.Microsecond), w.Shared)
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

func (x *Device) forget() {
	x.failed = errors.Join(x.failed, x.drop())
	x.job = job{}
}

// idle ends the kernel if nothing was posted since all was taken. What goes wrong is for the next Post to say.
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
	if f.ctl != nil {
		x.most = max(x.most, int64(atomic.LoadUint64(&f.ctl.Most))*unit)
	}
	return f.Close()
}

// Whole implements nest.Device.
func (x *Device) Whole() bool { return false }

// Has implements nest.Device. A flow has what is used, and may have edges that no watch looks at any more, and that another watch may look at later.
func (x *Device) Has() func(label dynamic.Label, from, to dynamic.Class) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	has := x.used
	if x.flow != nil {
		has = x.has
	}
	if has.all || x.o.Told {
		return nil
	}
	return has.has
}

// Post implements nest.Device. What the device has no room for stays on the host until then.
func (x *Device) Post(ctx context.Context, base uint64, events []dynamic.Event, tasks []nest.Task) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn++
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if g := &x.gauge; g.began.IsZero() {
		g.began, g.last, g.every = time.Now(), time.Now(), x.o.Sample
	}
	j := &x.job
	if j.versions.first == j.versions.end() {
		j.begin(base)
	}
	x.work.Updates += uint64(len(events))
	x.work.Tasks += uint64(len(tasks))
	at := 0
	j.events.add(events...)
	e := j.events.end() - uint64(len(events))
	for v := base + 1; v <= x.g.Version(); v++ {
		for ; e < j.events.end() && j.events.at(e).Version == v; e++ {
		}
		for ; at < len(tasks) && tasks[at].Update == v; at++ {
			j.tasks.add(asked{Task: tasks[at]})
		}
		j.versions.add(version{events: e, tasks: j.tasks.end()})
	}
	return x.sound(ctx, func() error { return nil })
}

// Take implements nest.Device.
func (x *Device) Take(ctx context.Context, wait bool) (nest.Found, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return nest.Found{}, err
	}
	j := &x.job
	err := x.take()
	if some := func() bool { return j.done() >= j.versions.first }; err == nil && wait && j.versions.first < j.versions.end() && !some() {
		err = x.sound(ctx, func() error {
			x.flow.hurry()
			return x.flow.wait(ctx, some)
		})
	}
	if err != nil {
		return nest.Found{}, err
	}
	x.answer(j.done())
	if j.versions.first == j.versions.end() {
		x.later()
	}
	return x.found, nil
}

// sound sends what is to be sent and does something then. If the device's memory is full, it does so again, with a flow over the graph as it is after
// the updates that are done.
func (x *Device) sound(ctx context.Context, do func() error) error {
	for {
		err := x.send(ctx)
		if err == nil {
			err = do()
		}
		var full fullError
		if !errors.As(err, &full) {
			return err
		}
		if err := x.resume(full.update); err != nil {
			return err
		}
		x.work.Full++
	}
}

// resume ends the flow after an update found no room. Versions whose updates are done need not be made again.
func (x *Device) resume(update uint64) error {
	j := &x.job
	if err := x.take(); err != nil {
		return err
	}
	from := j.versions.first - 1
	for from < j.sent && j.versions.at(from+1).updates <= update {
		from++
	}
	if from == x.loaded {
		return noRoom("an update of the graph finds no room for neighbour lists")
	}
	_, begin := j.from(from + 1)
	for i := begin; i < j.tasks.end(); i++ {
		j.clear(j.tasks.at(i))
	}
	j.sent, j.searched = from, min(j.searched, begin)
	return x.drop()
}

// ready makes the flow one that can take more updates and tasks, of the versions after one. It blocks while another flow is at work.
func (x *Device) ready(ctx context.Context, from, more uint64) error {
	lists := int(x.g.Layout() >> 32)
	if x.g.Directed() {
		lists *= 2
	}
	if f := x.flow; f != nil && (f.lost != nil || x.version != from || int(f.raw.Store.Lists) < lists ||
		f.raw.Store.Words == 3 && x.g.NumEdgeLabels() > 0 || f.posted+more > x.last) {
		if f.lost == nil {
			if err := f.flush(ctx); err != nil {
				return err
			}
		}
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
	x.has = x.used
	x.g.Remember()
	from := &viewLists{g: x.g, has: x.has, view: x.g.At(version), lists: need, directed: x.g.Directed(), labels: x.g.NumEdgeLabels() > 0, hash: x.o.Hash}
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
		s, err = load(ctx, c, from, Sizes{Labels: from.labels, Hash: from.hash, Lists: need + need/4, Pool: pool})
		return err
	})
	if err != nil {
		return err
	}
	x.work.Loads++
	x.version, x.loaded, x.upload, x.row = version, version, true, 0
	j := &x.job
	j.order.reset(0)
	j.next = 0
	for v := j.versions.first; v <= j.sent && v < j.versions.end(); v++ { // searched by another flow
		v := j.versions.at(v)
		v.updates, v.flowing = 0, 0
	}
	x.flow, err = newFlow(ctx, x.d, s, x.g.Directed(), x.o.Flowing, kernel{
		name: "pipeline", text: x.o.text(),
		params: func(p pipe) any {
			x.raw.Pipe = p
			return &x.raw
		},
		drain: x.take,
		room:  func(n int) bool { return x.flow.tasked+uint64(n)-x.job.next <= uint64(x.o.Queue) },
	})
	return err
}

// text returns the kernel's text.
func (o *Options) text() string {
	text := fmt.Sprintf("#define PIPELINE_THREADS %d\n", o.Threads) + searchText
	if o.Hash {
		text = hashText + text
	}
	return text
}

const (
	searchText = "#include \"pipeline/search.cuh\"\n"
	hashText   = "#define PIPELINE_HASH 1\n" // before a kernel over hash sets
)

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
	if x.o.ByEdge {
		x.raw.ByEdge = 1
	}
	x.raw.Program, x.raw.Counts, x.raw.Most = x.words.Ptr, x.counts.Ptr(), uint32(x.program.most)
	x.raw.Rows = rows{Words: x.ring.Ptr(), Room: uint32(x.o.Rows), Width: uint32(width)}
	x.flow.k.shared = x.o.Threads / 32 * x.program.most * frameBytes
	x.upload = false
	return nil
}

// viewLists are the lists of a version, with the edges that are used.
type viewLists struct {
	g                *dynamic.Graph
	has              *uses
	view             dynamic.View
	lists            int
	directed, labels bool
	hash             bool // arrays are to be hash sets
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
	used := func(id uint32, l dynamic.Label) bool {
		if d == dynamic.In {
			return x.has.edge(x.g, id, v, l)
		}
		return x.has.edge(x.g, v, id, l)
	}
	if !x.labels {
		for _, id := range x.view.List(v, d, dynamic.AnyLabel, nil, &x.ids) {
			if used(id, dynamic.NoLabel) {
				to = append(to, entry{ID: id})
			}
		}
		return to
	}
	begin := len(to)
	x.names = x.view.Labels(v, d, x.names)
	for _, l := range x.names {
		for _, id := range x.view.List(v, d, l, nil, &x.ids) {
			if used(id, l) {
				to = append(to, entry{ID: id, Label: uint32(l)})
			}
		}
	}
	slices.SortFunc(to[begin:], func(a, b entry) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Label, b.Label)) })
	return to
}

// bytes returns the memory of all arrays.
func (x *viewLists) bytes() (n int64) {
	sh := shape{words: 3, hash: x.hash}
	if x.labels {
		sh.words = 4
	}
	var l []entry
	for i := range x.lists {
		if l = x.Append(l[:0], i); len(l) > 0 {
			n += int64(classUnits(sh.class(sh.slots(len(l))))) * unit
		}
	}
	return n
}

// send posts the versions that the flow does not have, with their tasks.
func (x *Device) send(ctx context.Context) error {
	j := &x.job
	last := j.versions.end() - 1
	if f := x.flow; f != nil && f.lost != nil && j.versions.first <= j.sent {
		return f.lost // with what is not taken
	}
	if j.versions.first > last || j.sent == last {
		return nil
	}
	e, at := j.from(j.sent + 1)
	if err := x.ready(ctx, j.sent, j.events.end()-e+j.tasks.end()-at); err != nil {
		return err
	}
	f := x.flow
	var changes []update
	var before, after []task
	for v := j.sent + 1; v <= last; v++ {
		ends := j.versions.at(v)
		changes = x.changes(changes[:0], j.events.part(e, ends.events))
		before, after = before[:0], after[:0]
		tasks := j.tasks.part(at, ends.tasks)
		for _, is := range []uint64{v - 1, v} {
			for i := range tasks {
				t := &tasks[i]
				if t.Version != is {
					continue
				}
				j.order.add(at + uint64(i))
				k := task{What: x.program.of(&t.Task) << 2, First: t.First}
				if t.List {
					k.What |= 2
				}
				if is == v {
					k.What |= 1
					after = append(after, k)
				} else {
					before = append(before, k)
				}
			}
		}
		e, at = ends.events, ends.tasks
		if len(changes) == 0 && len(tasks) > 0 {
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
		ends.updates, ends.flowing = f.posted, j.order.end()
		j.sent, x.version = v, v
	}
	return nil
}

// changes appends the changes of lists that the events of a version make, without edges that are not used.
func (x *Device) changes(to []update, events []dynamic.Event) []update {
	g := x.g
	var known map[update]bool
	if len(events) > 1 {
		known = map[update]bool{}
	}
	for i := range events {
		e := &events[i]
		if e.Kind != dynamic.EdgeAdded && e.Kind != dynamic.EdgeRemoved {
			continue
		}
		if !x.has.edge(g, e.U, e.V, e.Label) {
			x.work.Unused++
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
			if known != nil {
				known[key] = true
			}
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
		t := j.tasks.at(*j.order.at(j.next))
		t.counted, t.count = true, atomic.LoadUint64(&x.count[j.next%uint64(len(x.count))])
	}
	width, begin := int(x.raw.Rows.Width), x.row
	for {
		w := x.rows[int(x.row%uint64(x.o.Rows))*width:][:width]
		if atomic.LoadUint32(&w[width-1]) != uint32(x.row/uint64(x.o.Rows))+1 {
			break
		}
		j.row(j.tasks.at(*j.order.at(j.order.first + uint64(w[0]-uint32(j.order.first)))), w[1:width-1], x.o.Listed)
		x.row++
	}
	if x.row != begin {
		atomic.StoreUint64(&f.ctl.Drained, x.row)
	}
	x.sample(false)
	return nil
}

// answer makes x.found that of the versions up to one, in the order of tasks, with the matches of a task in the order of their vertices. They are
// taken then.
func (x *Device) answer(last uint64) {
	j, to := &x.job, &x.found
	to.Version, to.Counts, to.Rows, to.At = last, to.Counts[:0], to.Rows[:0], append(to.At[:0], 0)
	if last < j.versions.first {
		return
	}
	ends := *j.versions.at(last)
	for i := j.tasks.first; i < ends.tasks; i++ {
		t := j.tasks.at(i)
		to.Counts = append(to.Counts, t.count)
		if len(t.rows) > 0 {
			sort.Sort(&rowsBy{t.rows, len(t.Nest.Places)})
		}
		to.Rows = append(to.Rows, t.rows...)
		to.At = append(to.At, len(to.Rows))
		j.clear(t)
	}
	j.tasks.drop(ends.tasks)
	j.events.drop(ends.events)
	j.order.drop(ends.flowing)
	j.versions.drop(last + 1)
}

// rowsBy sorts rows of some width.
type rowsBy struct {
	words []uint32
	width int
}

func (r *rowsBy) row(i int) []uint32 { return r.words[i*r.width:][:r.width] }

func (r *rowsBy) Len() int           { return len(r.words) / r.width }
func (r *rowsBy) Less(i, j int) bool { return slices.Compare(r.row(i), r.row(j)) < 0 }
func (r *rowsBy) Swap(i, j int) {
	x, y := r.row(i), r.row(j)
	for k := range x {
		x[k], y[k] = y[k], x[k]
	}
}
