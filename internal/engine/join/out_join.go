package join

import (
	"slices"

	"github.com/weftgraph/weft/internal/engine"
)

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

// counted adds to the number of matches. It ends the search if that reaches the limit, and fails if it overflows.
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

// put takes rows of step i: those of a block with a candidate each. They go to the step's table, or as matches to the caller if it
// is the last step. With count they are counted only.
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
