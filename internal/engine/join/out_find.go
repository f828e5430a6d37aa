package join

import (
	"slices"
	"sync/atomic"
)

// found are candidates: of rows of a block, the rows and the vertices, and a mask of the edges that are still to be looked for.
type found struct{ rows, vertices, left []uint32 }

func newFound(n int) found { return found{make([]uint32, n), make([]uint32, n), make([]uint32, n)} }

// first returns the first n candidates.
func (f found) first(n int) found { return f.part(0, n) }

// part returns candidates lo … hi-1.
func (f found) part(lo, hi int) found {
	return found{f.rows[lo:hi], f.vertices[lo:hi], f.left[lo:hi]}
}

// set makes candidate k a row with a vertex.
func (f found) set(k int, row, vertex, left uint32) {
	f.rows[k], f.vertices[k], f.left[k] = row, vertex, left
}

// add appends a candidate.
func (f *found) add(row, vertex, left uint32) {
	f.rows, f.vertices, f.left = append(f.rows, row), append(f.vertices, vertex), append(f.left, left)
}

// grow appends n candidates, to be set.
func (f *found) grow(n int) {
	for _, s := range []*[]uint32{&f.rows, &f.vertices, &f.left} {
		*s = slices.Grow(*s, n)[:len(*s)+n]
	}
}

// copyTo copies the candidates to others, from the k-th on.
func (f found) copyTo(to found, k int) {
	copy(to.rows[k:], f.rows)
	copy(to.vertices[k:], f.vertices)
	copy(to.left[k:], f.left)
}

// wanted is what is wanted of candidates: listed, counted or countedEach.
type wanted struct {
	how  int
	list func(f found) error // gets candidates, which are valid during the call
	n    uint64              // their number
	each []uint32            // their number by row
}

// taken takes candidates of which nothing is left to be looked for, as they are wanted.
func (t *outside) taken(w *wanted, f found) error {
	switch {
	case len(f.rows) == 0:
	case w.how == listed:
		return w.list(f)
	case w.how == counted:
		w.n += uint64(len(f.rows))
	default:
		return parallel(t.ctx(), len(f.rows), func(_, lo, hi int) error {
			for _, r := range f.rows[lo:hi] {
				atomic.AddUint32(&w.each[r], 1)
			}
			return nil
		})
	}
	return nil
}

// finding looks for the candidates of a block's rows.
type finding struct {
	*outside
	b    *rowBlock
	w    *wanted
	p    *probe       // whose edges are looked for later, in candidates of which they are not known
	rest found        // these candidates. The line's consumer adds to them while kernels run
	wait atomic.Int64 // their number
}

// find finds the candidates of a block's rows.
func (t *outside) find(p *probe, b *rowBlock, w *wanted) error {
	if err := t.allow(p.allowed); err != nil {
		return err
	}
	if w.how != listed && p.counts(t.allowed[p.allowed]) {
		if p.unbound(t.g.NumVertices()) {
			return t.lengths(p, b, w)
		}
		return t.size(p, b, t.args(p, w.how), w)
	}
	lengths, err := t.lengthsOf(p, b)
	if err != nil {
		return err
	}
	rows, starts, err := t.byWays(p, lengths)
	if err != nil {
		return err
	}
	s := &finding{outside: t, b: b, w: w, p: p}
	if starts == nil {
		err = s.each(p, rowSet{n: b.rows}, lengths.one, -1)
	} else {
		s.p = p.every
		for k, way := range p.ways {
			if some := rows[starts[k]:starts[k+1]]; len(some) > 0 && err == nil && !t.x.Stopped() {
				err = s.each(way, rowSet{n: len(some), numbered: some}, lengths.least, k)
			}
		}
		t.byShort += uint64(b.rows)
	}
	if err != nil || t.x.Stopped() {
		return err
	}
	return s.checks()
}

// each makes the candidates of rows. Before more than memory has room for are not known, it looks for their edges.
func (s *finding) each(p *probe, rows rowSet, lengths []uint32, by int) error {
	take := func(f found) error { return s.take(f, by) }
	nested, err := s.paysNested(p, rows, lengths)
	if err != nil {
		return err
	}
	if nested {
		return s.nested(p, rows, take)
	}
	for k := 0; k < rows.n && !s.x.Stopped(); {
		n, sum := rows.n-k, uint64(0)
		if len(p.edges) > 0 {
			n, sum = rows.part(k, n).fewer(lengths, uint64(s.list))
		}
		if had := uint64(len(s.rest.rows)); had > 0 && had+sum > uint64(s.list) {
			if err := s.checks(); err != nil || s.x.Stopped() {
				return err
			}
		}
		if err := s.newMaking(p, s.b, rows.part(k, n), s.fused(p), s.w, take).make(lengths); err != nil {
			return err
		}
		k += n
	}
	return nil
}

// take takes candidates that kernels have made. Bits of edges from `by` on stand for the edge behind; -1: for the edge itself.
func (s *finding) take(f found, by int) error {
	n, each := len(f.rows), s.w.how == countedEach
	type counts struct{ rest, known int }
	parts := make([]counts, partsOf(n))
	err := parallel(s.ctx(), n, func(k, lo, hi int) error {
		c := counts{}
		for i, left := range f.left[lo:hi] {
			switch {
			case left != 0:
				c.rest++
			case each:
				atomic.AddUint32(&s.w.each[f.rows[lo+i]], f.vertices[lo+i]) // their number
			default:
				c.known++
			}
		}
		parts[k] = c
		return nil
	})
	if err != nil {
		return err
	}
	all := counts{rest: len(s.rest.rows)}
	for k, c := range parts {
		parts[k] = all
		all.rest, all.known = all.rest+c.rest, all.known+c.known
	}
	switch more := all.rest - len(s.rest.rows); {
	case more == 0 && each:
		return nil
	case more == 0:
		return s.taken(s.w, f)
	default:
		s.rest.grow(more)
		s.wait.Store(int64(len(s.rest.rows)))
	}
	known := s.known.first(all.known)
	err = parallel(s.ctx(), n, func(k, lo, hi int) error {
		c := parts[k]
		for i := lo; i < hi; i++ {
			switch left := f.left[i]; {
			case left != 0:
				if by >= 0 {
					left += left >> by << by
				}
				s.rest.set(c.rest, f.rows[i], f.vertices[i], left)
				c.rest++
			case !each:
				known.set(c.known, f.rows[i], f.vertices[i], 0)
				c.known++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.taken(s.w, known)
}

// checks looks for all edges of the candidates of which they are not known.
func (s *finding) checks() (err error) {
	for e := 0; e < len(s.p.edges) && err == nil && !s.x.Stopped(); e++ {
		s.rest, err = s.check(s.p, s.b, s.rest, e, s.w)
	}
	s.wait.Store(int64(len(s.rest.rows)))
	return err
}

// sieve ends a check for an edge. It hands over the candidates of which nothing is left to be looked for, and returns those of which something
// is. A candidate that still has the edge's bit has a vertex without a list.
func (t *outside) sieve(f found, bit uint32, neg bool, w *wanted) (found, error) {
	type part struct {
		at, n int // those that remain are the part's first ones
		known found
	}
	parts := make([]part, partsOf(len(f.rows)))
	err := parallel(t.ctx(), len(f.rows), func(k, lo, hi int) error {
		x := part{at: lo}
		for i := lo; i < hi; i++ {
			left := f.left[i]
			if left&bit != 0 && left != dropped {
				if left &^= bit; !neg {
					left = dropped
				}
			}
			switch left {
			case dropped:
			case 0:
				x.known.add(f.rows[i], f.vertices[i], 0)
			default:
				f.set(lo+x.n, f.rows[i], f.vertices[i], left)
				x.n++
			}
		}
		parts[k] = x
		return nil
	})
	if err != nil {
		return f, err
	}
	n := 0
	for _, x := range parts {
		if x.at > n {
			f.part(x.at, x.at+x.n).copyTo(f, n)
		}
		n += x.n
		if err := t.taken(w, x.known); err != nil {
			return f, err
		}
	}
	return f.first(n), nil
}
