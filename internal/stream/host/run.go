package host

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// run shares the work of a batch among workers, one batch after the other. The work is a list of pieces in the order of their deltas. A worker takes the first
// piece that no other has, by one atomic addition, and ends it by another one unless it is its turn. If workers are idle, a worker whose search goes on for long leaves the rest of a level's
// candidates to them, as pieces behind its own, and goes on as a piece behind those. Pieces give their deltas to the sink in their order:
// those that are early keep them until it is their turn. If a piece has too many deltas to keep, its worker waits for its turn.
type run struct {
	m    *Matcher
	ctx  context.Context
	sink nest.Sink

	pieces []piece      // of the beginning; others are of split
	next   atomic.Int64 // the first of pieces that no worker has
	passed atomic.Int64 // pieces whose turn is over
	extra  atomic.Int32 // pieces of split that no worker has

	mu      sync.Mutex
	change  sync.Cond             // somebody waits for it if idle or blocked is not 0
	first   atomic.Pointer[piece] // whose turn it is; nil: all is done. It changes under the lock
	idle    atomic.Int32          // workers that wait for work
	blocked atomic.Int32          // and for their turn
	stopped atomic.Bool
	err     error
	began   bool           // all workers are running
	begins  int            // how often they began
	crew    *crew.Crew     // the other workers; a new one each time, because some of an old one may begin and end later
	running sync.WaitGroup // and those of full
	spare   []*searcher    // for workers that wait for their turn
	deltas  []nest.Delta

	following nest.Following // sink, or nil
}

// piece is a part of the work.
type piece struct {
	do          func(s *searcher) // nil: it matches events
	events      []dynamic.Event
	out         output
	through     uint64 // the version that is matched with this piece and those before it, or 0
	taken, done atomic.Bool
	extra       bool // it is of split
	next        *piece
}

// grain are the sizes of parts of the work.
type grain struct {
	least, most int  // events of a piece
	keptWords   int  // vertices and edges of a piece that are kept before its turn
	keptPieces  int  // pieces, for each worker, that may wait for their turn
	ticks       int  // steps between looks at other workers and the context
	eager       bool // several workers share all updates of a batch after the first ones, however little there is to match
	portion     int  // updates that a device gets at a time
	run         int  // plain changes that follow each other from which on several workers make them
	late        int  // changes of one end of edges that are made together, as dynamic.Graph.LookAway has it
	inTime      int  // how many times more neighbours than edges in a window a vertex has before its edges are looked up by time
}

var coarse = grain{least: 32, most: 512, keptWords: 1 << 16, keptPieces: 64, ticks: 1 << 10, portion: 16, run: 256, inTime: 4}

// match matches events of the window.
func (m *Matcher) match(events []dynamic.Event) error {
	if len(events) == 0 {
		return nil
	}
	r := &m.run
	size := max(min(len(events)/(8*m.n), m.grain.most), m.grain.least)
	pieces := r.list(len(events)/size + 1) // some are longer
	used := 0
	for len(events) > 0 {
		n := min(size, len(events))
		for n < len(events) && events[n].Version == events[n-1].Version {
			n++
		}
		pieces[used].events, pieces[used].through = events[:n], events[n-1].Version
		used++
		events = events[n:]
	}
	r.link(used)
	return r.all()
}

// list returns n pieces for the beginning of the work. The caller fills some, and calls link.
func (r *run) list(n int) []piece {
	if cap(r.pieces) < n {
		r.pieces = make([]piece, n)
	}
	r.pieces = r.pieces[:n]
	return r.pieces
}

// link makes the first n pieces of the list the work.
func (r *run) link(n int) {
	r.pieces = r.pieces[:n]
	for i := range r.pieces {
		p := &r.pieces[i]
		p.out, p.next = output{}, nil
		p.taken.Store(false)
		p.done.Store(false)
		if i > 0 {
			r.pieces[i-1].next = p
		}
	}
	r.begin(nil)
	if n > 0 {
		r.first.Store(&r.pieces[0])
	}
}

// begin makes a piece all of the work, or with nil those that link linked.
func (r *run) begin(p *piece) {
	if p != nil {
		r.pieces = r.pieces[:0]
	}
	r.next.Store(0)
	r.passed.Store(0)
	r.extra.Store(0)
	r.first.Store(p)
	r.began = false
}

// present finds all matches of a watch.
func (m *Matcher) present(ctx context.Context, w *nest.Watch, sink nest.Sink) (total engine.Uint128, err error) {
	const size = 1 << 12
	m.clear()
	r := &m.run
	r.reset(ctx, sink)
	within := w.Ranges[w.All.Order[0]]
	if within == nil {
		within = []dynamic.Range{{First: 0, End: ^uint32(0)}}
	}
	view := m.g.Now()
	end := uint32(m.g.Layout() >> 32)
	var parts [][]dynamic.Range
	for _, x := range within {
		for at := x.First; at < min(x.End, end); {
			part := []dynamic.Range{{First: at, End: min(x.End, end)}}
			if part[0].End-at > size {
				part[0].End = at + size
			}
			at = part[0].End
			parts = append(parts, part)
		}
	}
	pieces := r.list(len(parts))
	for i, part := range parts {
		pieces[i].events, pieces[i].through = nil, 0
		pieces[i].do = func(s *searcher) {
			s.up = update{seq: m.Seq(), gone: noVertex, come: noVertex}
			view.Vertices(part, func(v uint32) bool {
				s.start(&w.All, view, 1, v)
				return !s.ended
			})
		}
	}
	if r.link(len(parts)); len(parts) > 0 {
		err = r.all()
	}
	for i := range pieces {
		pieces[i].do = nil
	}
	for _, c := range m.counts() {
		total = c.Added
	}
	return total, err
}

// reset makes r ready for other work.
func (r *run) reset(ctx context.Context, sink nest.Sink) {
	r.ctx, r.sink, r.err, r.pieces = ctx, sink, nil, r.pieces[:0]
	r.begin(nil)
	r.following, _ = sink.(nest.Following)
	r.stopped.Store(false)
}

// all does the work.
func (r *run) all() error {
	for _, s := range r.m.workers {
		s.ended = false
	}
	if r.first.Load().next != nil {
		r.more()
	}
	r.work(r.m.workers[0])
	r.wait()
	if r.err == nil && r.stopped.Load() {
		r.err = context.Cause(r.ctx)
	}
	return r.err
}

// more starts the other workers.
func (r *run) more() {
	r.began = true
	r.begins++
	r.crew = &crew.Crew{}
	workers := r.m.workers[:r.m.n] // another appends to the list, while workers begin
	r.crew.Spread(r.m.n-1, 0, func(i int, _ *crew.Memory) { r.work(workers[i]) })
}

// wait blocks until no other worker is at work. Those that have not begun do not begin.
func (r *run) wait() {
	if r.began {
		r.crew.Wait()
	}
	r.running.Wait()
}

// work does pieces until none is left.
func (r *run) work(s *searcher) {
	for {
		if s.piece = r.take(); s.piece == nil {
			return
		}
		if s.piece.do != nil {
			s.piece.do(s)
		} else {
			s.events(s.piece.events)
		}
		r.finish(s.piece)
	}
}

// take returns a piece that no other worker has, or nil if all are done. It blocks while others may add pieces.
func (r *run) take() *piece {
	if p := r.plain(); p != nil {
		return p
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		p := r.plain()
		if p == nil {
			p = r.parted()
		}
		if p != nil || r.first.Load() == nil || r.stopped.Load() {
			return p
		}
		r.idle.Add(1)
		r.change.Wait()
		r.idle.Add(-1)
	}
}

// plain returns the next piece that the batch was cut into at its beginning. It returns nil if no worker may take one now: also while pieces that split made wait,
// which come first.
func (r *run) plain() *piece {
	for !r.stopped.Load() && r.extra.Load() == 0 {
		i := r.next.Load()
		if i >= int64(len(r.pieces)) || i-r.passed.Load() >= int64(r.m.grain.keptPieces*r.m.n) {
			return nil
		}
		if r.next.CompareAndSwap(i, i+1) {
			p := &r.pieces[i]
			p.taken.Store(true)
			return p
		}
	}
	return nil
}

// parted returns a piece that split made, or nil if no worker may take one now. The caller holds the lock.
func (r *run) parted() *piece {
	if r.extra.Load() == 0 || r.stopped.Load() {
		return nil
	}
	waiting := 0
	for p := r.first.Load(); p != nil; p = p.next {
		if p.done.Load() {
			waiting++
		}
		if p.extra && !p.taken.Load() && (waiting < r.m.grain.keptPieces*r.m.n || p == r.first.Load()) {
			p.taken.Store(true)
			r.extra.Add(-1)
			return p
		}
	}
	return nil
}

// finish ends a piece, and gives the sink what waited for it.
func (r *run) finish(p *piece) {
	p.done.Store(true)
	if r.first.Load() != p { // who makes it the first one sees that it is done
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pass()
}

// pass goes on to the first piece that is not done. The caller holds the lock.
func (r *run) pass() {
	for p := r.first.Load(); p != nil && p.done.Load(); p = r.first.Load() {
		r.flush(&p.out)
		p.out = output{}
		r.answered(p.through)
		r.first.Store(p.next)
		if !p.extra {
			r.passed.Add(1)
		}
	}
	r.tell()
}

// tell wakes those that wait for a change. The caller holds the lock.
func (r *run) tell() {
	if r.idle.Load()+r.blocked.Load() > 0 {
		r.change.Broadcast()
	}
}

// answered tells the sink that it has the deltas of all updates up to a version. 0 says nothing.
func (r *run) answered(version uint64) {
	if r.following != nil && version > 0 && r.err == nil && !r.stopped.Load() {
		r.following.Answered(version + r.m.offset)
	}
}

// flush gives deltas to the sink. The caller holds the lock.
func (r *run) flush(o *output) {
	if r.sink != nil && len(o.rows) > 0 && r.err == nil {
		r.deltas = o.deltas(r.deltas[:0])
		if err := r.sink.Emit(r.deltas); err != nil {
			r.err = err
			r.stopped.Store(true)
		}
	}
	o.rows, o.vertices, o.edges = o.rows[:0], o.vertices[:0], o.edges[:0]
}

// full gives the deltas of a piece to the sink in its turn. It blocks until then. If no worker has or looks for a piece before it,
// another worker begins, because all may wait here.
func (r *run) full(p *piece) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.first.Load()
	for before != p && before.taken.Load() {
		before = before.next
	}
	if before != p && r.idle.Load() == 0 && !r.stopped.Load() {
		s := r.another()
		r.running.Go(func() {
			r.work(s)
			r.mu.Lock()
			r.spare = append(r.spare, s)
			r.mu.Unlock()
		})
	}
	r.blocked.Add(1)
	for r.first.Load() != p && !r.stopped.Load() {
		r.change.Wait()
	}
	r.blocked.Add(-1)
	r.flush(&p.out)
}

// another returns a searcher that does nothing. The caller holds the lock.
func (r *run) another() (s *searcher) {
	if n := len(r.spare); n > 0 {
		s, r.spare = r.spare[n-1], r.spare[:n-1]
		return s
	}
	s = newSearcher(r.m)
	_ = s.bind() // as for the others
	r.m.workers = append(r.m.workers, s)
	return s
}

// tick is called by a search now and then. It reports whether the search is to end.
func (r *run) tick() bool {
	if r.ctx.Err() != nil {
		r.stopped.Store(true)
	}
	if r.stopped.Load() {
		r.mu.Lock()
		r.change.Broadcast()
		r.mu.Unlock()
		return true
	}
	return false
}

// wanted reports whether workers wait for work.
func (r *run) wanted() bool {
	if !r.began {
		r.more()
	}
	return r.idle.Load() > 0 && r.blocked.Load() < int32(r.m.n)
}

// split leaves candidates of place l to other workers. The searcher goes on behind them.
func (r *run) split(s *searcher, n *nest.Nest, l int, rest []uint32) {
	rest = append([]uint32(nil), rest...)
	from, a := s.state, s.a
	own := s.piece
	last := &piece{extra: true, through: own.through}
	last.taken.Store(true)
	parts := min(4*r.m.n, len(rest))
	r.mu.Lock()
	defer r.mu.Unlock()
	last.next = own.next
	tail := &own.next
	for i := range parts {
		x := rest[len(rest)*i/parts : len(rest)*(i+1)/parts]
		*tail = &piece{extra: true, do: func(s *searcher) { s.resume(from, n, a[:], l, x) }}
		tail = &(*tail).next
	}
	*tail = last
	r.extra.Add(int32(parts))
	own.through = 0
	own.done.Store(true)
	r.pass()
	s.piece = last
}

// output is deltas.
type output struct {
	rows     []row
	vertices []uint32
	edges    []nest.Edge
}

type row struct {
	seq      uint64
	watch    int32
	sign     int8
	vertices uint8
	edges    uint16
}

func (o *output) add(s *searcher, m []uint32, edges []nest.Edge) {
	o.rows = append(o.rows, row{s.up.seq, int32(s.w.ID), s.sign, uint8(len(m)), uint16(len(edges))})
	o.vertices = append(o.vertices, m...)
	o.edges = append(o.edges, edges...)
	if len(o.vertices)+3*len(o.edges) > s.m.grain.keptWords {
		s.run.full(s.piece)
	}
}

// deltas appends what o holds.
func (o *output) deltas(to []nest.Delta) []nest.Delta {
	vs, es := o.vertices, o.edges
	for _, x := range o.rows {
		n, k := int(x.vertices), int(x.edges)
		d := nest.Delta{Seq: x.seq, Watch: int(x.watch), Sign: x.sign, Vertices: vs[:n:n]}
		if k > 0 {
			d.Edges = es[:k:k]
		}
		to = append(to, d)
		vs, es = vs[n:], es[k:]
	}
	return to
}

// events matches updates, which are whole.
func (s *searcher) events(events []dynamic.Event) {
	for len(events) > 0 && !s.ended {
		n := 1
		for n < len(events) && events[n].Version == events[0].Version {
			n++
		}
		s.one(events[:n:n])
		events = events[n:]
		if s.steps++; s.steps%s.m.grain.ticks == 0 {
			s.ended = s.run.tick()
		}
	}
}

// one matches an update.
func (s *searcher) one(events []dynamic.Event) {
	changed, apart := -1, false
	for i := range events {
		switch events[i].Kind {
		case dynamic.EdgeAdded, dynamic.EdgeRemoved:
			changed = i // several are of the same ends and label
		case dynamic.EdgeChanged:
			if s.m.Values {
				changed = i
			}
		case dynamic.VertexAdded:
			apart = apart || s.m.Alone
		case dynamic.VertexChanged:
			apart = apart || s.m.Values
		default:
			apart = true
		}
	}
	if !apart {
		if changed >= 0 {
			s.edge(events, &events[changed])
		}
		return
	}
	s.begin(events)
	for _, w := range s.m.List {
		if w != nil {
			s.vertices(w, events)
		}
	}
}

// begin makes an update the one that is searched for.
func (s *searcher) begin(events []dynamic.Event) {
	version := events[0].Version
	if s.device != nil {
		s.nextTask(version)
	}
	s.up = update{seq: version + s.m.offset, version: version, events: events, u: noVertex, v: noVertex, gone: noVertex, come: noVertex}
	if !s.m.g.Recording() { // else nothing reads lists
		s.up.before, s.up.after = s.m.g.At(version-1), s.m.g.At(version)
	}
}

// edge matches an update that changes one edge, and no vertex that is a match by itself.
func (s *searcher) edge(events []dynamic.Event, e *dynamic.Event) {
	g := s.m.g
	u, v := g.ClassOf(e.U), g.ClassOf(e.V)
	entries := s.m.Table.Of(e.Label, u, v)
	if len(entries) == 0 {
		return
	}
	var groups *nest.Groups
	if s.device != nil && len(events) == 1 && e.Kind != dynamic.EdgeChanged {
		if groups = s.m.Table.Groups(e.Label, u, v, e.U < e.V); groups != nil && s.grouped(groups, e) {
			return
		}
	}
	s.begin(events)
	s.at(e)
	var last *nest.Watch
	for i := 0; i < len(entries) && !s.ended; i++ {
		x := &entries[i]
		if x.Nest.Watch != last {
			last = x.Nest.Watch
			clear(s.seen)
			done := false
			if x.Nest.Every && s.compares(last, events) { // such nests are the first ones of a watch
				s.every(last)
				done = true
			} else if groups != nil && s.countsOf(last) {
				if group := groups.Of(last); group != nil {
					s.group(group, e)
					done = true
				}
			}
			if done {
				for i+1 < len(entries) && entries[i+1].Nest.Watch == last {
					i++
				}
				continue
			}
		}
		if !x.Nest.Every {
			s.anchor(x, e)
		}
	}
}

// at makes an edge the changed one.
func (s *searcher) at(e *dynamic.Event) {
	up := &s.up
	up.u, up.v, up.label, up.asked = e.U, e.V, e.Label, false
}

// degrees reports whether the changed edge changes the degrees of its ends.
func (up *update) degrees() bool {
	if !up.asked {
		up.asked = true
		up.differ = up.before.Has(up.u, up.v, dynamic.Either, dynamic.AnyLabel) != up.after.Has(up.u, up.v, dynamic.Either, dynamic.AnyLabel)
	}
	return up.differ
}

// anchor searches from one anchor of a changed edge.
func (s *searcher) anchor(x *nest.Entry, e *dynamic.Event) {
	n, w, up := x.Nest, x.Nest.Watch, &s.up
	s.w, s.during = w, dynamic.Always
	if e.Kind == dynamic.EdgeChanged && !w.EdgeKeys[e.Key] {
		return
	}
	u, v := up.u, up.v
	if x.Swap || n.Turns && u < v {
		u, v = v, u
	}
	switch n.Kind {
	case delta.Edge:
		p := &w.Pairs[n.Pair]
		added, removed := e.Kind == dynamic.EdgeAdded, e.Kind == dynamic.EdgeRemoved
		before, after := !added, !removed
		if !p.Simple {
			before, after = s.holds(p, up.before, u, v, nil), s.holds(p, up.after, u, v, nil)
		}
		if n.Exact && before && after {
			return
		}
		if (added || removed) && w.AlwaysTimed(p) && alone(up.events) {
			s.during = s.orders[w.ID].around(e.Time)
			defer func() { s.during = dynamic.Always }()
		}
		if before && !(w.Forward && added) {
			s.start(n, up.before, -1, u, v)
		}
		if after && !(w.Forward && removed) {
			s.start(n, up.after, 1, u, v)
		}
	case delta.Degree:
		switch {
		case up.many:
			s.start(n, up.before, 0, u)
			s.start(n, up.after, 0, u)
		case up.degrees():
			s.start(n, up.before, -1, u)
			s.start(n, up.after, 1, u)
		}
	case delta.Inner:
		// Other edges of EXISTS may be the same data edge. So the versions that have it count.
		if up.many || e.Kind != dynamic.EdgeAdded {
			s.start(n, up.before, 0, u, v)
		}
		if up.many || e.Kind != dynamic.EdgeRemoved {
			s.start(n, up.after, 0, u, v)
		}
	case delta.Near:
		if up.many {
			s.start(n, up.before, 0, u)
		}
		if up.many || up.degrees() {
			s.start(n, up.after, 0, u)
		}
	}
}

// alone reports whether only one edge changes.
func alone(events []dynamic.Event) bool {
	n := 0
	for i := range events {
		if k := events[i].Kind; k == dynamic.EdgeAdded || k == dynamic.EdgeRemoved {
			n++
		}
	}
	return n == 1
}

// vertices matches an update that changes vertices, for one watch.
func (s *searcher) vertices(w *nest.Watch, events []dynamic.Event) {
	up := &s.up
	s.w = w
	clear(s.seen)
	up.gone, up.come, up.same, up.many, up.fresh = noVertex, noVertex, false, false, nil
	for i := range events {
		switch x := &events[i]; x.Kind {
		case dynamic.VertexAdded:
			if w.Plan.Alone {
				up.fresh = append(up.fresh, x.U)
			}
		case dynamic.VertexRemoved:
			up.gone, up.many = x.U, true
		case dynamic.VertexMoved:
			up.gone, up.come, up.many, up.same = x.U, x.V, true, true
		case dynamic.VertexChanged:
			if w.VertexKeys[x.Key] {
				up.gone, up.come, up.same = x.U, x.U, true
			}
		}
	}
	if s.compares(w, events) {
		s.every(w)
		return
	}
	for i := range events {
		if x := &events[i]; x.Kind == dynamic.VertexChanged && w.VertexKeys[x.Key] {
			for j := range w.Nests {
				if n := &w.Nests[j]; n.Kind == delta.Near && n.Values && !n.Every {
					s.start(n, up.before, 0, x.U)
				}
			}
		}
	}
	if up.gone != noVertex {
		s.vertex(w, up.before, -1, up.gone)
	}
	if up.come != noVertex {
		s.vertex(w, up.after, 1, up.come)
	}
	for _, x := range up.fresh {
		up.come = x
		s.vertex(w, up.after, 1, x)
		up.come = noVertex
	}
	for i := range events {
		x := &events[i]
		switch x.Kind {
		case dynamic.EdgeAdded, dynamic.EdgeRemoved, dynamic.EdgeChanged:
			if !up.many && i > 0 && events[i-1].Kind == x.Kind {
				continue // of the same ends and label
			}
			s.at(x)
			for _, y := range s.m.Table.Of(x.Label, s.m.g.ClassOf(x.U), s.m.g.ClassOf(x.V)) {
				if y.Nest.Watch == w && !y.Nest.Every && !(up.many && y.Nest.Kind == delta.Edge) && !s.ended {
					s.anchor(&y, x)
				}
			}
		}
	}
}

// vertex searches for matches with a vertex.
func (s *searcher) vertex(w *nest.Watch, view dynamic.View, sign int8, x uint32) {
	for i := range w.Nests {
		n := &w.Nests[i]
		if a := w.Allowed[n.Order[0]]; n.Kind == delta.Vertex && (a == nil || a[s.m.g.ClassOf(x)]) && !s.ended {
			s.start(n, view, sign, x)
		}
	}
}
