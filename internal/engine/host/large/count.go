package large

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/engine"
)

// cacheFrom is the size of component from which counts are remembered.
const cacheFrom = 3

// product counts the matches of the variables in c, unmatched at depth d. It splits them into
// components that share neither a link nor a candidate vertex, and multiplies their counts.
// With a zero it returns a core: variables of c whose current sets alone leave no match.
//
// In tail position, the count of the last component goes to the run's total multiplied by mult
// and by nothing else, so that its candidates can be given to other workers.
func (w *worker) product(d int, c uint64, tail bool, mult engine.Uint128) (engine.Uint128, uint64) {
	pb := w.sp.pb
	n := engine.U64(1)
	var comps [maxVars / 2]uint64
	k := 0
	for left := c; left != 0; {
		comp := left & -left
		linked := false
		for todo := comp; todo != 0; {
			v := bits.TrailingZeros64(todo)
			todo &= todo - 1
			near := pb.adj[v] & c
			if near != 0 {
				linked = true
				near &= left &^ comp
				comp |= near
				todo |= near
			}
			for m := pb.alike[v] & left &^ comp; m != 0; m &= m - 1 {
				u := bits.TrailingZeros64(m)
				if w.intersect(u, v) {
					comp |= 1 << u
					todo |= 1 << u
				}
			}
		}
		left &^= comp
		if !linked {
			if m, ok := w.leafCount(comp); ok {
				if m.IsZero() {
					return m, comp
				}
				n = w.times(n, m)
				continue
			}
		}
		comps[k] = comp
		k++
	}
	if k == 0 {
		return n, 0
	}
	// Small components first: they fail sooner; the largest takes the tail.
	for i := 1; i < k; i++ {
		for j := i; j > 0 && bits.OnesCount64(comps[j]) < bits.OnesCount64(comps[j-1]); j-- {
			comps[j], comps[j-1] = comps[j-1], comps[j]
		}
	}
	for i, comp := range comps[:k] {
		last := tail && i == k-1
		var m engine.Uint128
		var core uint64
		if last {
			m, core = w.node(d, comp, true, w.times(mult, n))
		} else {
			m, core = w.node(d, comp, false, mult)
		}
		if m.IsZero() {
			return m, core
		}
		n = w.times(n, m)
	}
	return n, 0
}

// node counts the matches of one component by branching on a variable.
func (w *worker) node(d int, c uint64, tail bool, mult engine.Uint128) (engine.Uint128, uint64) {
	w.count++
	remember := bits.OnesCount64(c) >= cacheFrom
	var key hash128
	if remember {
		key = w.fingerprint(c)
		if e := w.cache.get(key); e != nil {
			return e.count, e.core
		}
	}
	f := w.frames[d]
	u := w.choose(c)
	f.comp, f.v, f.tail, f.mult, f.partial = c, u, tail, mult, false
	f.rest = append(f.rest[:0], w.set(u)...)
	if d == 0 {
		w.run.roots.Add(uint64(w.size(u)))
	}
	n, core := w.branch(d)
	if remember && !f.partial && !w.run.stopped() {
		w.cache.put(entry{key: key, count: n, core: core})
	}
	return n, core
}

// branch tries the candidates left in frame d.
func (w *worker) branch(d int) (engine.Uint128, uint64) {
	f := w.frames[d]
	u := f.v
	others := f.comp &^ (1 << u)
	var total engine.Uint128
	core := uint64(1) << u
	for i := 0; i < len(f.rest); {
		x := f.rest[i]
		if x == 0 {
			i++
			continue
		}
		f.rest[i] = x & (x - 1)
		f.at = i<<6 + bits.TrailingZeros64(x)
		// Only now: this candidate cannot be given away, so a task gets done
		// and is not handed round.
		if w.work++; w.run.stopped() || w.work >= w.next && w.attend(d) {
			break
		}
		var n engine.Uint128
		var k uint64
		if bad := w.assign(d, u, f.at, others); bad >= 0 {
			k = 1 << bad
		} else {
			n, k = w.product(d+1, others, f.tail, f.mult)
		}
		if n.IsZero() {
			if w.run.stopped() {
				w.undo(d + 1)
				break
			}
			// The failure has nothing to do with u: no other candidate helps. All of the failed
			// search was done here: while this frame has candidates, give takes them, and none
			// of a deeper frame.
			if total.IsZero() && w.frames[d+1].changed&k == 0 {
				w.undo(d + 1)
				return total, k
			}
			core |= k
		}
		w.undo(d + 1)
		total = w.plus(total, n)
		if d == 0 {
			w.run.rooted.Add(1)
		}
	}
	return total, core
}
