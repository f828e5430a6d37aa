package join

import (
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tail"
	"github.com/weftgraph/weft/internal/plan"
)

// join joins the rows of a block with the candidates of step i.
func (t *outside) join(i int, b *rowBlock) error {
	last := i == len(t.tables)
	if last && t.tail != nil {
		return t.closed(i, b)
	}
	w := wanted{how: listed, list: func(f found) error { return t.put(i, b, f) }}
	if last && !t.listing {
		if w.how = counted; t.perRoot != nil {
			w.how, w.each = countedEach, make([]uint32, b.rows)
		}
	}
	if err := t.find(t.probes[i], b, &w); err != nil || t.x.Stopped() {
		return err
	}
	if w.how == countedEach {
		w.n = 0 // some ways to count add to both
		t.mu.Lock()
		for r, n := range w.each {
			w.n += uint64(n)
			v := t.original(b.cols[0][r])
			t.perRoot[v] = t.perRoot[v].Add64(uint64(n))
		}
		t.mu.Unlock()
	}
	if w.how == listed {
		return nil
	}
	return t.counted(i, engine.Tally64(w.n))
}

// newTail returns the formula of a plan's tail.
func newTail(p *plan.Plan) *tail.Sum {
	s := &tail.Sum{}
	s.Init(p)
	return s
}

// closed counts the matches of a block's rows by arithmetic over the numbers of candidates of the tail's blocks.
func (t *outside) closed(i int, b *rowBlock) error {
	for lo := 0; lo < b.rows && !t.x.Stopped(); {
		hi := min(lo+max(t.list/len(t.sizes), leastSubRows), b.rows)
		part := &rowBlock{rows: hi - lo, cols: make([][]uint32, len(b.cols))}
		for l, c := range b.cols {
			if c != nil {
				part.cols[l] = c[lo:hi]
			}
		}
		if err := t.closedPart(i, part); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// closedPart is closed for rows of which memory has all sizes.
func (t *outside) closedPart(i int, b *rowBlock) error {
	sizes := make([][]uint32, len(t.sizes))
	for _, k := range t.sizeOrder {
		p := t.sizes[k]
		sizes[k] = make([]uint32, b.rows)
		w := wanted{how: countedEach, each: sizes[k]}
		if err := t.find(p, b, &w); err != nil || t.x.Stopped() {
			return err
		}
		if mask := t.tail.Blocks[k]; mask&(mask-1) == 0 {
			b = b.with(sizes[k], sizes)
		}
	}
	sums := make([]engine.Tally, partsOf(b.rows))
	err := parallel(t.ctx(), b.rows, func(k, begin, end int) error {
		sum := newTail(t.p)
		for r := begin; r < end; r++ {
			widest := uint64(0)
			for i := range sizes {
				sum.Sizes[i] = uint64(sizes[i][r])
				widest = max(widest, sum.Sizes[i])
			}
			n := sum.Count(widest)
			sums[k] = sums[k].Plus(n)
			if t.perRoot != nil && !n.IsZero() {
				t.mu.Lock()
				v := t.original(b.cols[0][r])
				t.perRoot[v] = t.perRoot[v].Add(n.N)
				t.mu.Unlock()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range sums {
		if err := t.counted(i, n); err != nil {
			return err
		}
	}
	return nil
}

// with returns the rows for which a vertex of the tail has candidates. The others have no match. It leaves their sizes out too.
func (b *rowBlock) with(has []uint32, sizes [][]uint32) *rowBlock {
	var rows []uint32
	for r, n := range has {
		if n > 0 {
			rows = append(rows, uint32(r))
		}
	}
	if len(rows) == b.rows {
		return b
	}
	some := func(all []uint32) (out []uint32) {
		if all == nil {
			return nil
		}
		out = make([]uint32, len(rows))
		for k, r := range rows {
			out[k] = all[r]
		}
		return out
	}
	kept := &rowBlock{rows: len(rows)}
	for _, c := range b.cols {
		kept.cols = append(kept.cols, some(c))
	}
	for k := range sizes {
		sizes[k] = some(sizes[k])
	}
	return kept
}

// args are the tests of a probe for kernels.
func (t *outside) args(p *probe, how int) segmentArgs {
	a := segmentArgs{First: p.one.First, End: p.one.End, Apart: p.apart, Below: p.below, Above: p.above, How: uint32(how)}
	if t.allowed[p.allowed] != nil {
		a.Bits = t.bits.Ptr
	}
	if p.Free() {
		a.All = 1
	}
	return a
}

// lengths counts candidates where each element of a list is one.
func (t *outside) lengths(p *probe, b *rowBlock, w *wanted) error {
	sums := make([]uint64, partsOf(b.rows))
	err := parallel(t.ctx(), b.rows, func(k, begin, end int) error {
		for r := begin; r < end; r++ {
			n := p.length(b, r)
			if sums[k] += n; w.how == countedEach {
				w.each[r] += uint32(n)
			}
		}
		return nil
	})
	for _, n := range sums {
		w.n += n
	}
	return err
}

// counted adds to the number of matches. It ends the search if that reaches the limit, and fails if it overflows.
func (t *outside) counted(i int, n engine.Tally) error {
	t.rows[i].Add(n.N.Lo)
	t.tally = t.tally.Plus(n)
	if t.tally.Over {
		return engine.ErrOverflow
	}
	if limit := uint64(max(t.Goal.Limit, 0)); limit > 0 && (t.tally.N.Hi > 0 || t.tally.N.Lo >= limit) {
		t.x.Enough()
	}
	return nil
}

// put takes rows of step i: those of a block with a candidate each. They go to the step's table, or as matches to the caller if it
// is the last step.
func (t *outside) put(i int, b *rowBlock, f found) error {
	t.rows[i].Add(uint64(len(f.rows)))
	if i == len(t.tables) {
		return t.matches(b, f.rows, f.vertices)
	}
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
		return t.counted(0, engine.Tally{})
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
