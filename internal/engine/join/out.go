package join

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
)

// outRun is a run out of core, on all devices.
type outRun struct {
	*gpuRun
	room  outPlan
	store *store
	need  []uint32 // by step: the levels whose columns later steps read, as a mask
	block int      // rows of a block of a table
	list  int      // candidates that are in memory before they are checked, at most

	mu      sync.Mutex
	total   engine.Tally
	perRoot []engine.Uint128 // nil: they are not wanted
	visits  []uint64
	metered session.Metered
}

// outside is an out-of-core join on one device.
type outside struct {
	*outRun
	x       *session.Exec
	meter   *session.Meter
	feed    *session.Feed
	line    *line
	tables  []*columns // of each step, by the step
	bits    cuda.Buffer
	allowed [][]uint64 // by step: a bit for each vertex that may be a candidate; nil: all may
	ended   bool       // all roots have been taken
	tasks   *cuda.Pinned
	rows    [maxLevels]uint64 // found by level
	tally   engine.Tally

	scratch found     // as many as a sub-table has room for
	step    int       // that is joined
	joined  uint64    // roots whose rows were joined once
	told    time.Time // progress
}

// defaultBlock and defaultList are the rows of a block, and the candidates in memory, where memory is not limited.
const (
	defaultBlock = 1 << 23
	defaultList  = 1 << 25
)

// newOutRun makes a run ready.
func (r *gpuRun) newOutRun(ctx context.Context, p outPlan) *outRun {
	o := &outRun{gpuRun: r, room: p, block: defaultBlock, list: defaultList}
	width := 1
	for i := range r.steps {
		width += i + 1
	}
	// Half of the memory is garbage at times.
	limit := int64(memory.Left(r.o.Memory) / 4)
	o.block = int(max(min(int64(o.block), limit/4/int64(4*width)), leastSubRows))
	o.list = int(max(min(int64(o.list), limit/4/12), leastSubRows))
	if r.batch > 0 {
		o.block = min(o.block, r.batch)
	}
	if r.Goal.Limit > 0 {
		o.block = min(o.block, 1<<16)
	}
	o.store = newStore(ctx, r.o.Spill, limit)
	o.need = make([]uint32, len(r.steps))
	all := uint32(0)
	if r.listing {
		all = ^uint32(0)
	}
	if r.Goal.PerRoot != nil {
		all |= 1
		o.perRoot = make([]engine.Uint128, r.g.NumVertices())
	}
	for i := len(r.steps) - 1; i >= 0; i-- {
		o.need[i] = all
		g := &r.steps[i].groups[0]
		all |= mask(g.below) | mask(g.above) | mask(g.distinct)
		for _, b := range g.backs() {
			all |= 1 << b.Level
		}
	}
	o.visits = make([]uint64, len(r.p.Levels))
	return o
}

// backs are the edges to earlier vertices, the one whose list makes the candidates first.
func (x *group) backs() []plan.Back {
	if x.Free() {
		return x.With
	}
	return append([]plan.Back{x.From}, x.With...)
}

// start makes one device ready.
func (o *outRun) start(x *session.Exec) (search func() error, err error) {
	t := &outside{outRun: o, x: x, allowed: make([][]uint64, len(o.steps))}
	x.AtEnd(t.close)
	if t.meter, err = x.NewMeter(); err != nil {
		return nil, err
	}
	if t.feed, err = x.NewFeed(o.room.room, t.meter); err != nil {
		return nil, err
	}
	t.line, err = newLine(x, t.meter, o.room.subRows)
	if err != nil {
		t.line = nil // it has closed itself
		return nil, err
	}
	t.scratch = found{make([]uint32, t.line.room()), make([]uint32, t.line.room())}
	t.line.poll, t.line.ran = t.feed.Poll, o.launched
	if o.room.bits > 0 {
		if t.bits, err = x.Scratch("candidates of a vertex", o.room.bits); err != nil {
			return nil, err
		}
	}
	if t.tasks, err = x.Lend(64); err != nil {
		return nil, err
	}
	for i := range o.steps[:len(o.steps)-1] {
		live := make([]bool, i+1)
		for l := range live {
			live[l] = o.need[i]>>l&1 != 0
		}
		t.tables = append(t.tables, &columns{store: o.store, live: live, most: o.block})
	}
	return func() error {
		if err := t.search(); err != nil {
			return err
		}
		return t.report()
	}, nil
}

// close gives back what the session does not.
func (t *outside) close() error {
	var errs []error
	if t.line != nil {
		errs = append(errs, t.line.close())
	}
	if t.feed != nil {
		errs = append(errs, t.feed.Close())
	}
	if t.meter != nil {
		errs = append(errs, t.meter.Close())
	}
	return errors.Join(errs...)
}

// report adds the device's part to the run.
func (t *outside) report() error {
	m, err := t.meter.Read()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.metered = t.metered.Plus(m)
	t.total = t.total.Plus(t.tally)
	for l := range t.visits {
		t.visits[l] += t.rows[l]
	}
	return nil
}

// search goes through the steps. A block of rows goes on as soon as it is full, the deepest first, so that tables
// stay short. Blocks that are not full wait until there are no more roots.
func (t *outside) search() error {
	for i := range t.steps {
		if err := t.candidates(i); err != nil {
			return err
		}
	}
	for !t.x.Stopped() {
		i := t.next()
		if i < 0 {
			return nil
		}
		if i == 0 {
			if err := t.roots(); err != nil {
				return err
			}
			continue
		}
		b, err := t.tables[i-1].next()
		if err != nil {
			return err
		}
		t.step = i
		rows := uint64(b.rows)
		err = t.join(i, b)
		if i == 1 {
			t.joined += rows
		}
		t.store.done(b)
		if err != nil {
			return err
		}
	}
	return nil
}

// next is the step to go on with; -1: all is done.
func (t *outside) next() int {
	for i := len(t.tables); i > 0; i-- {
		if t.tables[i-1].full() {
			return i
		}
	}
	if !t.ended {
		return 0
	}
	for i := range t.tables {
		if t.tables[i].rows > 0 {
			return i + 1
		}
	}
	return -1
}

// candidates finds which vertices may be candidates of a step.
func (t *outside) candidates(i int) error {
	g := &t.steps[i].groups[0]
	n := t.g.NumVertices()
	var out []uint64
	if g.tests() && g.all == nil {
		out = make([]uint64, (n+63)/64)
		err := parallel(t.ctx(), len(out), func(_, lo, hi int) error {
			for w := lo; w < hi; w++ {
				for b := range uint32(64) {
					v := 64*uint32(w) + b
					if v >= g.one.First && v < g.one.End && g.allows(t.lists, v) {
						out[w] |= 1 << b
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if g.queries != nil {
		signed, err := t.sign(g)
		if err != nil {
			return err
		}
		before, left := 0, 0
		base := out
		if base == nil {
			base = plan.Bitmap(n, []plan.Range{g.one}, nil)
		}
		without := base
		if g.minDegree > 0 {
			without = t.undegreed(g)
		}
		both := 0
		for w := range signed {
			before += bits.OnesCount64(without[w])
			both += bits.OnesCount64(without[w] & signed[w])
			signed[w] &= base[w]
			left += bits.OnesCount64(signed[w])
		}
		out = signed
		if t.x.Index() == 0 {
			t.mu.Lock()
			if t.pruned == nil && t.o.Levels {
				t.pruned = make([][]plan.Filtered, len(t.p.Levels))
			}
			for _, l := range g.Levels {
				t.Stats.Add("join: signatures leave %d of %d candidates of %s", both, before, t.p.Pattern.Vertices[t.p.Order[l]].Name)
				if t.o.Levels {
					t.pruned[l] = []plan.Filtered{{Filter: "signature", Left: uint64(left)}}
				}
			}
			t.mu.Unlock()
		}
	}
	t.allowed[i] = out
	return nil
}

// undegreed are the candidates of a group before their degrees are tested.
func (t *outside) undegreed(g *group) []uint64 {
	c := *g
	c.minDegree = 0
	out := make([]uint64, (t.g.NumVertices()+63)/64)
	for v := c.one.First; v < c.one.End; v++ {
		if c.allows(t.lists, v) {
			out[v/64] |= 1 << (v % 64)
		}
	}
	return out
}

func (t *outside) ctx() context.Context { return t.store.ctx }

// sign filters all vertices by the signatures of a group, a segment of the signature table at a time: of the
// columns that the group asks something of. The bits are by the ids of the lists.
func (t *outside) sign(g *group) ([]uint64, error) {
	table := t.signed.table
	n := t.g.NumVertices()
	var columns []int
	for c := range table.Columns() {
		if slices.ContainsFunc(g.queries, func(q layout.Query) bool { return q.Words()[c] != 0 }) {
			columns = append(columns, c)
		}
	}
	out := make([]uint64, (n+63)/64)
	if len(columns) == 0 {
		return plan.Bitmap(n, nil, nil), nil
	}
	var want []uint32
	for _, q := range g.queries {
		for _, c := range columns {
			want = append(want, q.Words()[c])
		}
	}
	head := (4*len(want) + 127) &^ 127
	// A run of vertices: its bits fit the memory of a sub-table.
	each := min((int(t.feed.Room())-head)/4/len(columns), 32*t.line.room()) &^ 63
	if each <= 0 {
		return nil, &cuda.Error{Op: Name, Kind: cuda.ErrMemory, Text: fmt.Sprintf("%d columns of signatures do not fit a segment of %d bytes", len(columns), t.feed.Room())}
	}
	size := func(i int) int { return min(each, n-i*each) }
	piece := func(i int) session.Piece {
		return session.Piece{Bytes: int64(head + 4*len(columns)*size(i)), Fill: func(to []byte) error {
			copy(to, raw(want))
			for k, c := range columns {
				copy(to[head+4*k*size(i):], raw(table.Table()[c*n+i*each:][:size(i)]))
			}
			return nil
		}}
	}
	err := t.feed.Each((n+each-1)/each, piece, func(i int, at uint64) error {
		s, err := t.line.free()
		if err != nil {
			return err
		}
		a := segmentSigns{Table: at + uint64(head), Want: at, Vertices: uint32(size(i)), Columns: uint32(len(columns)), Queries: uint32(len(g.queries))}
		return t.line.sign(s, a, func(uint64) error {
			copy(raw(out[i*each/64:]), raw(s.out[:(size(i)+31)/32]))
			return nil
		})
	})
	if err == nil {
		err = t.line.drain()
	}
	if err != nil {
		return nil, err
	}
	return renumber(out, t.ids), nil
}

// sign runs the kernel that filters by signatures.
func (l *line) sign(s *subTable, a segmentSigns, took func(uint64) error) error {
	k, err := l.kernel(segmentSign)
	if err != nil {
		return err
	}
	l.turn++
	s.turn, s.took = l.turn, took
	a.Out, a.Made, a.Done, a.Head, a.Turn = s.outPtr, s.counts, s.counts+8, s.headPtr, s.turn
	err = l.run(k, segmentSign, uint64(a.Vertices), func(g cuda.Launch) error { return session.LaunchFixed(l.x, k, g, &a) })
	if err != nil {
		return err
	}
	return s.done.Record(l.x.Stream())
}

// roots takes tasks, and makes rows of those that are candidates of level 0.
func (t *outside) roots() error {
	k, err := t.line.kernel(segmentTake)
	if err != nil {
		return err
	}
	got := view[uint64](t.tasks.Bytes(), 4)
	t.line.turn++
	got[3] = 0
	a := segmentTasks{Out: t.tasks.Ptr(), Turn: t.line.turn}
	err = t.line.run(k, segmentTake, 1, func(g cuda.Launch) error { return session.LaunchFixed(t.x, k, g, &a) })
	if err != nil {
		return err
	}
	if err := t.x.Stream().Synchronize(); err != nil {
		return err
	}
	if got[3] != a.Turn {
		return &cuda.Error{Op: Name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("launch number %d did not run", a.Turn)}
	}
	t.ended = got[2] != 0
	first, n := int(got[0]), int(got[1])
	if n == 0 {
		return nil
	}
	ranges, listed := t.prepared.roots()
	g := &t.steps[0].groups[0]
	parts := make([][]uint32, partsOf(n))
	err = parallel(t.ctx(), n, func(k, lo, hi int) error {
		var out []uint32
		for task := first + lo; task < first+hi; task++ {
			v := uint32(0)
			if listed != nil {
				v = listed[task]
			} else {
				at := uint64(task)
				for _, r := range ranges {
					if size := uint64(r.End - r.First); at >= size {
						at -= size
						continue
					}
					v = r.First + uint32(at)
					break
				}
			}
			if b := t.allowed[0]; b == nil && g.allows(t.lists, v) || b != nil && b[v/64]>>(v%64)&1 != 0 {
				out = append(out, v)
			}
		}
		parts[k] = out
		return nil
	})
	if err != nil {
		return err
	}
	roots := slices.Concat(parts...)
	t.rows[0] += uint64(len(roots))
	if len(t.tables) == 0 {
		return t.matches(&rowBlock{}, nil, roots)
	}
	return t.tables[0].add(len(roots), func(to []uint32, _, lo, hi int) { copy(to, roots[lo:hi]) })
}

// found are candidates: of rows of a block, the rows and the vertices.
type found struct{ rows, vertices []uint32 }

// join joins the rows of a block with the candidates of step i.
func (t *outside) join(i int, b *rowBlock) error {
	g := &t.steps[i].groups[0]
	last := i == len(t.tables)
	backs := g.backs()
	if err := t.allow(t.allowed[i]); err != nil {
		return err
	}
	rel, column := t.single(g), []uint32(nil)
	a := segmentArgs{First: g.one.First, End: g.one.End}
	if t.allowed[i] != nil {
		a.Bits = t.bits.Ptr
	}
	if g.Free() {
		a.All = 1
	} else {
		rel, column = t.relations[backs[0].Adj], b.cols[backs[0].Level]
		bit := uint32(1) << backs[0].Level
		a.Apart, a.Below, a.Above = mask(g.distinct)&bit, mask(g.below)&bit, mask(g.above)&bit
		backs = backs[1:]
	}
	// What is compared with other vertices of the row, on the host.
	var tests []compare
	for l := range i {
		c := compare{column: b.cols[l], apart: slices.Contains(g.distinct, l), below: slices.Contains(g.below, l), above: slices.Contains(g.above, l)}
		if (g.Free() || l != g.From.Level) && (c.apart || c.below || c.above) {
			tests = append(tests, c)
		}
	}
	count := last && !t.listing && t.perRoot == nil
	bounds := slices.ContainsFunc(tests, func(c compare) bool { return c.below || c.above })
	if count && len(backs) == 0 && (len(tests) == 0 || !g.Free() && !bounds) {
		n, err := t.size(rel, column, b.rows, a)
		if err != nil || t.x.Stopped() {
			return err
		}
		same, err := t.repeated(i, rel, column, b.rows, a, tests)
		if err != nil || t.x.Stopped() {
			return err
		}
		return t.counted(i, n-same)
	}
	for lo := 0; lo < b.rows && !t.x.Stopped(); {
		hi := b.rows
		if len(backs) > 0 {
			hi = t.some(rel, column, lo, b.rows)
		}
		var all found
		take := func(f found) error {
			if len(tests) > 0 {
				var err error
				if f, err = t.compare(f, tests); err != nil {
					return err
				}
			}
			if len(backs) > 0 {
				all.rows, all.vertices = append(all.rows, f.rows...), append(all.vertices, f.vertices...)
				return nil
			}
			return t.put(i, b, f, count)
		}
		if err := t.make(rel, column, lo, hi, a, nil, take); err != nil {
			return err
		}
		for k, back := range backs {
			if t.x.Stopped() {
				return nil
			}
			if count && k == len(backs)-1 {
				n, err := t.hits(t.relations[back.Adj], b.cols[back.Level], all, back.Neg)
				if err != nil {
					return err
				}
				if err := t.counted(i, n); err != nil {
					return err
				}
				all = found{}
				break
			}
			var err error
			if all, err = t.check(t.relations[back.Adj], b.cols[back.Level], all, back.Neg); err != nil {
				return err
			}
		}
		if t.x.Stopped() {
			return nil
		}
		if len(backs) > 0 && len(all.rows) > 0 {
			if err := t.put(i, b, all, count); err != nil {
				return err
			}
		}
		lo = hi
	}
	return nil
}

// size is how many candidates all rows of a block have. Where each element of a list is one, the lengths of lists say it. Otherwise the
// device counts them.
func (t *outside) size(rel *relation, column []uint32, rows int, a segmentArgs) (n uint64, err error) {
	if a.Bits != 0 || a.All != 0 || a.First > 0 || int(a.End) < t.g.NumVertices() || a.Apart|a.Below|a.Above != 0 {
		err = t.make(rel, column, 0, rows, a, func(made uint64) error { n += made; return nil }, nil)
		return n, err
	}
	sums := make([]uint64, partsOf(rows))
	err = parallel(t.ctx(), rows, func(p, lo, hi int) error {
		for _, v := range column[lo:hi] {
			sums[p] += rel.off[v+1] - rel.off[v]
		}
		return nil
	})
	for _, s := range sums {
		n += s
	}
	return n, err
}

// repeated is how many of the candidates of a block's rows are vertices that the row has already, where the candidate must be
// another: each is looked up in the list that has the candidates, so that these need not be listed.
func (t *outside) repeated(i int, rel *relation, column []uint32, rows int, a segmentArgs, tests []compare) (n uint64, err error) {
	allowed := t.allowed[i]
	for k := range tests {
		parts := make([]found, partsOf(rows))
		err := parallel(t.ctx(), rows, func(p, lo, hi int) error {
			var f found
		next:
			for r := lo; r < hi; r++ {
				u, v := column[r], tests[k].column[r]
				if v < a.First || v >= a.End || allowed != nil && allowed[v/64]>>(v%64)&1 == 0 || a.Apart != 0 && v == u || a.Below != 0 && v >= u || a.Above != 0 && v <= u {
					continue
				}
				for _, before := range tests[:k] {
					if before.column[r] == v {
						continue next
					}
				}
				f.rows, f.vertices = append(f.rows, uint32(r)), append(f.vertices, v)
			}
			parts[p] = f
			return nil
		})
		if err != nil {
			return 0, err
		}
		var all found
		for _, f := range parts {
			all.rows, all.vertices = append(all.rows, f.rows...), append(all.vertices, f.vertices...)
		}
		m, err := t.hits(rel, column, all, false)
		if err != nil || t.x.Stopped() {
			return 0, err
		}
		n += m
	}
	return n, nil
}

// single is the candidates of a group that no list generates, as a relation of one vertex.
func (t *outside) single(g *group) *relation {
	if !g.Free() {
		return nil
	}
	r := &relation{off: []uint64{0, uint64(len(g.all))}, adj: g.all, kind: layoutCSR}
	r.list = func(uint32) []uint32 { return g.all }
	r.cut(t.room.room, 1)
	return r
}

// allow has the device know which vertices may be candidates.
func (t *outside) allow(words []uint64) error {
	if words == nil {
		return nil
	}
	return cuda.Upload(t.x.Context(), t.bits, 0, words)
}

// some returns the row before which the rows from lo on have about as many candidates as memory has room for.
func (t *outside) some(rel *relation, column []uint32, lo, rows int) int {
	n := uint64(0)
	for hi := lo; hi < rows; hi++ {
		v := uint32(0)
		if column != nil {
			v = column[hi]
		}
		if n += rel.off[v+1] - rel.off[v]; n > uint64(t.list) && hi > lo {
			return hi
		}
	}
	return rows
}

// counted takes the number of matches.
func (t *outside) counted(i int, n uint64) error {
	t.rows[i] += n
	t.tally = t.tally.Plus(engine.Tally64(n))
	if t.tally.Over {
		return engine.ErrOverflow
	}
	if limit := uint64(max(t.Goal.Limit, 0)); limit > 0 && (t.tally.N.Hi > 0 || t.tally.N.Lo >= limit) {
		t.x.Enough()
	}
	return nil
}

// put takes rows of step i: those of a block with a candidate each.
func (t *outside) put(i int, b *rowBlock, f found, count bool) error {
	switch {
	case count:
		return t.counted(i, uint64(len(f.rows)))
	case i == len(t.tables):
		t.rows[i] += uint64(len(f.rows))
		return t.matches(b, f.rows, f.vertices)
	}
	t.rows[i] += uint64(len(f.rows))
	return t.tables[i].add(len(f.rows), func(to []uint32, l, lo, hi int) {
		if l == i {
			copy(to, f.vertices[lo:hi])
			return
		}
		from := b.cols[l]
		for k, r := range f.rows[lo:hi] {
			to[k] = from[r]
		}
	})
}

// matches takes whole rows: of a block's rows with a vertex each, or of vertices alone.
func (t *outside) matches(b *rowBlock, rows, vertices []uint32) error {
	if t.perRoot != nil {
		t.mu.Lock()
		for k, v := range vertices {
			if rows != nil {
				v = b.cols[0][rows[k]]
			}
			t.perRoot[t.original(v)] = t.perRoot[t.original(v)].Add64(1)
		}
		t.mu.Unlock()
		t.tally = t.tally.Plus(engine.Tally64(uint64(len(vertices))))
		return nil
	}
	if !t.listing {
		t.tally = t.tally.Plus(engine.Tally64(uint64(len(vertices))))
		return t.counted(0, 0)
	}
	hands := t.x.Hands()
	return inParts(len(vertices), hands, func(h, lo, hi int) error {
		out := make([]uint32, 0, outRows*len(t.p.LevelOf))
		for k := lo; k < hi && !t.x.Stopped(); k++ {
			for _, l := range t.p.LevelOf {
				if l == len(t.tables) {
					out = append(out, vertices[k])
				} else {
					out = append(out, b.cols[l][rows[k]])
				}
			}
			if len(out) == cap(out) || k == hi-1 {
				t.x.Hand(h, out)
				out = out[:0]
			}
		}
		return nil
	})
}

// original returns the graph's id of a vertex of the lists.
func (x *prepared) original(v uint32) uint32 {
	if x.ids != nil {
		return x.ids.Old[v]
	}
	return v
}

// compare is what a candidate is compared with: a vertex of its row.
type compare struct {
	column              []uint32
	apart, below, above bool
}

func (c *compare) passes(row, v uint32) bool {
	m := c.column[row]
	return !(c.apart && v == m || c.below && v >= m || c.above && v <= m)
}

// compare returns the candidates that pass all tests.
func (t *outside) compare(f found, tests []compare) (found, error) {
	ends := make([]int, partsOf(len(f.rows)))
	begins := make([]int, len(ends))
	err := parallel(t.ctx(), len(f.rows), func(p, lo, hi int) error {
		to := lo
	next:
		for k := lo; k < hi; k++ {
			r, v := f.rows[k], f.vertices[k]
			for c := range tests {
				if !tests[c].passes(r, v) {
					continue next
				}
			}
			f.rows[to], f.vertices[to] = r, v
			to++
		}
		begins[p], ends[p] = lo, to
		return nil
	})
	n := 0
	for p := range ends {
		n += copy(f.rows[n:], f.rows[begins[p]:ends[p]])
	}
	m := 0
	for p := range ends {
		m += copy(f.vertices[m:], f.vertices[begins[p]:ends[p]])
	}
	return found{f.rows[:n], f.vertices[:m]}, err
}

// order has n items by the segments that concern them. of gives the segments of an item: from … to-1. Segment s
// has items order[starts[s]] … order[starts[s+1]-1].
func order(ctx context.Context, n, segments int, of func(k int) (from, to int)) (order []uint32, starts []int, err error) {
	parts := partsOf(n)
	counts := make([][]int, parts)
	err = parallel(ctx, n, func(p, lo, hi int) error {
		c := make([]int, segments)
		for k := lo; k < hi; k++ {
			for from, to := of(k); from < to; from++ {
				c[from]++
			}
		}
		counts[p] = c
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	sum := 0
	for s := range segments {
		starts = append(starts, sum)
		for p := range parts {
			sum, counts[p][s] = sum+counts[p][s], sum
		}
	}
	starts = append(starts, sum)
	order = make([]uint32, sum)
	err = parallel(ctx, n, func(p, lo, hi int) error {
		c := counts[p]
		for k := lo; k < hi; k++ {
			for from, to := of(k); from < to; from++ {
				order[c[from]] = uint32(k)
				c[from]++
			}
		}
		return nil
	})
	return order, starts, err
}

// tellTime is how often progress is told.
const tellTime = 250 * time.Millisecond

// tell tells how far the device is: at segment k of n that step t.step reads.
func (t *outside) tell(k, n int) error {
	if t.Goal.Details == nil || !t.told.IsZero() && time.Since(t.told) < tellTime {
		return nil
	}
	t.told = time.Now()
	m := t.meter.Sofar()
	rows := uint64(0)
	for _, r := range t.rows {
		rows += r
	}
	done := min(t.joined, t.rows[0])
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Goal.Details(done, t.x.Tasks(), fmt.Sprintf("phase %d of %d, segment %d of %d, %d rows, %s", t.step, len(t.steps)-1, k, n, rows, copies(m)))
	return nil
}

// copies says in words what was copied.
func copies(m session.Metered) string {
	text := memory.Text(uint64(m.Copied)) + " copied"
	if m.Copying > 0 {
		text += fmt.Sprintf(" in %v, %.1f GiB a second, %.0f %% of the time behind kernels", m.Copying.Round(time.Microsecond), float64(m.Copied)/m.Copying.Seconds()/(1<<30), 100*float64(m.Hidden)/float64(m.Copying))
	}
	return text
}

// stream brings the segments of a relation that have items, and calls use with the items of each.
func (t *outside) stream(rel *relation, items []uint32, starts []int, use func(segment int, lists deviceLists, items []uint32) error) error {
	var some []int
	for s := range rel.segments {
		if starts[s] < starts[s+1] {
			some = append(some, s)
		}
	}
	type key struct {
		of      *relation
		segment int
	}
	piece := func(i int) session.Piece {
		return session.Piece{Key: key{rel, some[i]}, Bytes: rel.segments[some[i]].bytes, Fill: func(to []byte) error { return rel.fill(t.ctx(), some[i], to) }}
	}
	err := t.feed.Each(len(some), piece, func(i int, at uint64) error {
		s := some[i]
		t.line.poll = func() error { return errors.Join(t.feed.Poll(), t.tell(i+1, len(some))) }
		return use(s, rel.at(s, at), items[starts[s]:starts[s+1]])
	})
	if err == nil && !t.x.Stopped() {
		err = t.line.drain()
	}
	return err
}

// make makes the candidates of rows lo … hi-1 of a block, a sub-table after the other: those in the lists of the vertices
// in a column. Either it counts them, and calls counted with their numbers, or calls take with them.
func (t *outside) make(rel *relation, column []uint32, lo, hi int, a segmentArgs, counted func(made uint64) error, take func(f found) error) error {
	vertex := func(k uint32) uint32 {
		if column == nil {
			return 0
		}
		return column[lo+int(k)]
	}
	items, starts, err := order(t.ctx(), hi-lo, len(rel.segments), func(k int) (int, int) { return rel.of(vertex(uint32(k))) })
	if err != nil {
		return err
	}
	kernel, room := segmentMake, uint64(t.line.room())
	if counted != nil {
		kernel, room = segmentSize, 1<<31
	}
	lengths := make([]uint32, len(items))
	return t.stream(rel, items, starts, func(s int, lists deviceLists, items []uint32) error {
		length := lengths[:len(items)]
		err := parallel(t.ctx(), len(items), func(_, lo, hi int) error {
			for k := lo; k < hi; k++ {
				length[k] = rel.length(s, vertex(items[k]))
			}
			return nil
		})
		if err != nil {
			return err
		}
		a := a
		a.Lists = lists
		if a.All != 0 {
			// The candidates are those of the segment.
			a.Lists.Adj, a.Lists.N = lists.Adj+entryBytes*rel.segments[s].begin, rel.length(s, 0)
		}
		from := uint32(0) // in the list of the first item
		for len(items) > 0 && !t.x.Stopped() {
			sub, err := t.line.free()
			if err != nil {
				return err
			}
			// The last item may go on in the next sub-table.
			n, sum, next := 0, uint64(0), uint32(0)
			for n < min(len(items), t.line.rows) && sum < room && next == 0 {
				sub.with[n] = uint32(sum)
				left := uint64(length[n])
				if n == 0 {
					left -= uint64(from)
				}
				if sum+left > room {
					next = length[n] - uint32(left-(room-sum))
					left = room - sum
				}
				sum += left
				n++
			}
			sub.with[n] = uint32(sum)
			mine := items[:n]
			if err := parallel(t.ctx(), n, func(_, lo, hi int) error {
				for k := lo; k < hi; k++ {
					sub.at[k] = vertex(mine[k])
				}
				return nil
			}); err != nil {
				return err
			}
			a.Rows, a.From = uint32(n), from
			took := counted
			if counted == nil {
				took = func(made uint64) error {
					f := found{t.scratch.rows[:made], t.scratch.vertices[:made]} // take copies what it keeps
					err := parallel(t.ctx(), int(made), func(_, begin, end int) error {
						for k := begin; k < end; k++ {
							f.rows[k] = uint32(lo) + mine[sub.row[k]]
						}
						copy(f.vertices[begin:end], sub.out[begin:end])
						return nil
					})
					if err != nil || made == 0 {
						return err
					}
					return take(f)
				}
			}
			if err := t.line.launch(kernel, sub, a, n, n+1, sum, took); err != nil {
				return err
			}
			if from = next; next > 0 {
				n--
			}
			items, length = items[n:], length[n:]
		}
		return nil
	})
}

// owned has candidates by the segment that says whether the candidate is in the list of a vertex in its row. none are
// those whose vertex has no list.
func (t *outside) owned(rel *relation, column []uint32, f found) (items []uint32, starts []int, err error) {
	return order(t.ctx(), len(f.rows), len(rel.segments), func(k int) (int, int) {
		s := rel.owner(column[f.rows[k]], f.vertices[k])
		return max(s, 0), s + 1
	})
}

// checks brings the segments that have the lists, and runs a kernel over the candidates of each.
func (t *outside) checks(kernel string, rel *relation, column []uint32, f found, neg bool, took func(s *subTable, items []uint32, made uint64) error) error {
	items, starts, err := t.owned(rel, column, f)
	if err != nil {
		return err
	}
	return t.stream(rel, items, starts, func(_ int, lists deviceLists, items []uint32) error {
		a := segmentArgs{Lists: lists, End: ^uint32(0), Neg: number(neg)}
		for len(items) > 0 && !t.x.Stopped() {
			sub, err := t.line.free()
			if err != nil {
				return err
			}
			n := min(len(items), t.line.rows)
			mine := items[:n]
			if err := parallel(t.ctx(), n, func(_, lo, hi int) error {
				for k := lo; k < hi; k++ {
					sub.at[k], sub.with[k] = column[f.rows[mine[k]]], f.vertices[mine[k]]
				}
				return nil
			}); err != nil {
				return err
			}
			a.Rows = uint32(n)
			if err := t.line.launch(kernel, sub, a, n, n, uint64(n), func(made uint64) error { return took(sub, mine, made) }); err != nil {
				return err
			}
			items = items[n:]
		}
		return nil
	})
}

// listless returns the candidates whose vertex in a column has no neighbours: an edge to it is missing.
func (t *outside) listless(rel *relation, column []uint32, f found) (out found) {
	for k, r := range f.rows {
		if v := column[r]; rel.off[v] == rel.off[v+1] {
			out.rows, out.vertices = append(out.rows, r), append(out.vertices, f.vertices[k])
		}
	}
	return out
}

// check returns the candidates that are in the list of a vertex in their row, or with neg are not.
func (t *outside) check(rel *relation, column []uint32, f found, neg bool) (out found, err error) {
	if neg {
		out = t.listless(rel, column, f)
	}
	err = t.checks(segmentCheck, rel, column, f, neg, func(s *subTable, items []uint32, made uint64) error {
		at := len(out.rows)
		out.rows, out.vertices = slices.Grow(out.rows, int(made))[:at+int(made)], slices.Grow(out.vertices, int(made))[:at+int(made)]
		for w, word := range s.out[:(len(items)+31)/32] {
			for ; word != 0; word &= word - 1 {
				k := items[32*w+bits.TrailingZeros32(word)]
				out.rows[at], out.vertices[at] = f.rows[k], f.vertices[k]
				at++
			}
		}
		return nil
	})
	return out, err
}

// hits is how many candidates check would return.
func (t *outside) hits(rel *relation, column []uint32, f found, neg bool) (n uint64, err error) {
	if neg {
		n = uint64(len(t.listless(rel, column, f).rows))
	}
	err = t.checks(segmentHits, rel, column, f, neg, func(_ *subTable, _ []uint32, made uint64) error {
		n += made
		return nil
	})
	return n, err
}

// outStats says how the run went.
func (o *outRun) outStats() []string {
	m := o.metered
	said := []string{fmt.Sprintf("join: out of core: %s; at most %d segments of a relation", &o.room, o.room.segments)}
	said = append(said, fmt.Sprintf("join: %s; kernels took %v", copies(m), m.Computing.Round(time.Microsecond)))
	return append(said, o.store.said()...)
}
