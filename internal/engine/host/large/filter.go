package large

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/plan"
)

// scratch is the memory of one run besides the search, kept between runs. Between runs every
// bitmap is empty and every index is absent.
type scratch struct {
	problem problem
	nv      int
	cand    [maxVars][]uint32 // candidates, sorted once filtering is done
	member  [maxVars][]uint64 // the same as a bitmap over data vertices
	index   []int32           // data vertex → index in its group's universe; -1
	univ    [maxVars][]uint32 // by group: the union of its variables' candidates
	listed  []uint32
	built   uint64          // variables whose set is made
	border  uint64          // and their neighbours
	pending [maxVars]uint64 // neighbours to be pruned by a variable's set
	// sure are a variable's neighbours with a single candidate, which is a neighbour of all of
	// the variable's candidates. Removals from the variable's set do not concern them.
	sure    [maxVars]uint64
	settled bool    // nothing is pending
	first   *worker // the caller's worker, with its buffers
	space   space
	stop    func() bool
	fits    func(bytes int) bool // whether the candidate graph may have as much memory; else the run has failed
	left    func(filter string)  // is told when all candidate sets were filtered; nil: nobody asks
	ticks   int
}

// stopping polls stop now and then: it is called per candidate.
func (sc *scratch) stopping() bool {
	sc.ticks++
	return sc.ticks&1023 == 0 && sc.stop()
}

// prepare sizes the scratch for a graph and a problem.
func (sc *scratch) prepare(pb *problem) {
	nv := pb.g.NumVertices()
	words := (nv + 63) >> 6
	if len(sc.index) < nv {
		sc.index = make([]int32, nv)
		for i := range sc.index {
			sc.index[i] = -1
		}
	}
	sc.nv = nv
	for u := range pb.n {
		if len(sc.member[u]) < words {
			sc.member[u] = make([]uint64, words)
		}
		sc.cand[u] = sc.cand[u][:0]
		sc.pending[u] = 0
	}
	sc.built, sc.border = 0, 0
}

// clear empties the bitmaps and indexes that the run has set.
func (sc *scratch) clear(pb *problem) {
	for u := range pb.n {
		for _, v := range sc.cand[u] {
			sc.member[u][v>>6] = 0
		}
		sc.cand[u] = sc.cand[u][:0]
	}
	for i := range pb.groups {
		for _, v := range sc.univ[i] {
			sc.index[v] = -1
		}
		sc.univ[i] = sc.univ[i][:0]
	}
}

// filter makes the candidate sets. It reports false when one of them is empty,
// so that there is no match, or when stopped.
//
// Sets are made one after the other, small classes first; the later ones from
// the neighbours of an earlier set where that is cheaper than a scan of the
// class. Afterwards the sets are made consistent along the pattern's edges
// until nothing changes, or until the work passes a bound: any superset of the
// true sets gives the same answer.
func (pb *problem) filter(sc *scratch) bool {
	for range pb.n {
		u := pb.nextToFilter(sc)
		pb.build(sc, u)
		sc.built |= 1 << u
		if len(sc.cand[u]) == 0 || sc.stop() {
			return false
		}
	}
	sc.tell("neighbours")
	if !pb.refine(sc) {
		return false
	}
	sc.tell("consistency")
	return true
}

func (sc *scratch) tell(filter string) {
	if sc.left != nil {
		sc.left(filter)
	}
}

// nextToFilter picks the variable with the smallest class for its links, next to
// those done if there is one.
func (pb *problem) nextToFilter(sc *scratch) int {
	done := sc.built
	from := pb.all &^ done
	if next := sc.border &^ done; next != 0 {
		from = next
	}
	best, span, weight := -1, 0, 0
	for m := from; m != 0; m &= m - 1 {
		u := bits.TrailingZeros64(m)
		s, w := pb.vars[u].span, 1+bits.OnesCount64(pb.pos[u])+2*bits.OnesCount64(pb.pos[u]&done)
		if best < 0 || s*weight < span*w {
			best, span, weight = u, s, w
		}
	}
	sc.border |= pb.pos[best]
	return best
}

// build makes the candidate set of u.
func (pb *problem) build(sc *scratch, u int) {
	x := &pb.vars[u]
	from, size := -1, x.span
	var one uint64 // neighbours with one candidate each
	for m := pb.pos[u] & sc.built; m != 0; m &= m - 1 {
		v := bits.TrailingZeros64(m)
		// Four neighbours within the class is a guess; it only steers.
		if s := 4 * len(sc.cand[v]); s < size {
			from, size = v, s
		}
		if len(sc.cand[v]) == 1 {
			one |= 1 << v
		}
	}
	c := sc.cand[u]
	mem := sc.member[u]
	if one != 0 {
		c = pb.near(sc, u, one)
	} else if from < 0 {
		for _, r := range x.ranges {
			for v := r.First; v < r.End && !sc.stopping(); v++ {
				if pb.passes(sc, u, v, need{}) {
					c = append(c, v)
					mem[v>>6] |= 1 << (v & 63)
				}
			}
		}
	} else {
		adj := pb.anyLink(from, u)
		known := need{adj: pb.p.Adjs[adj].Rev, vars: 1 << from}
		// Refused vertices are remembered as members until the end, so that
		// none is tested twice.
		refused := sc.listed[:0]
		for _, w := range sc.cand[from] {
			if sc.stopping() {
				break
			}
			l := pb.list(adj, w)
			for _, r := range x.ranges {
				for _, v := range within(l, r) {
					if mem[v>>6]>>(v&63)&1 != 0 {
						continue
					}
					mem[v>>6] |= 1 << (v & 63)
					if pb.passes(sc, u, v, known) {
						c = append(c, v)
					} else {
						refused = append(refused, v)
					}
				}
			}
		}
		for _, v := range refused {
			mem[v>>6] &^= 1 << (v & 63)
		}
		sc.listed = refused[:0]
	}
	sc.cand[u] = c
	sc.sure[u] = one
	sc.pending[u] = pb.pos[u] & sc.built &^ one
}

// near returns the candidates of u, whose neighbours in one have one candidate
// each. It reads the lists of those, which are few, before the candidates' own,
// which mostly are not in the processor's caches.
func (pb *problem) near(sc *scratch, u int, one uint64) []uint32 {
	x := &pb.vars[u]
	c, mem := sc.cand[u], sc.member[u]
	known := need{adj: -1}
	var lists [8][]uint32 // the shortest first
	for _, r := range x.ranges {
		k := 0
		for m := one; m != 0 && k < len(lists); m &= m - 1 {
			v := bits.TrailingZeros64(m)
			adj := pb.anyLink(v, u)
			rev := pb.p.Adjs[adj].Rev
			if known.vars == 0 {
				known.adj = rev
			}
			if rev == known.adj {
				known.vars |= 1 << v
			}
			lists[k] = within(pb.list(adj, sc.cand[v][0]), r)
			if len(lists[k]) < len(lists[0]) {
				lists[0], lists[k] = lists[k], lists[0]
			}
			k++
		}
	next:
		for _, y := range lists[0] {
			for _, l := range lists[1:k] {
				if !has(l, y) {
					continue next
				}
			}
			if pb.alone(x, y) {
				c = append(c, y)
			}
		}
	}
	// If one variable is left, looking ahead would only find earlier that there is no match.
	ahead := len(c) > 1
	k := 0
	for _, y := range c {
		if sc.stopping() {
			break
		}
		if pb.linked(sc, x, y, known, ahead) {
			c[k] = y
			k++
			mem[y>>6] |= 1 << (y & 63)
		}
	}
	return c[:k]
}

// anyLink returns an adjacency that leads from u's vertex to v's.
func (pb *problem) anyLink(u, v int) int {
	for i := range pb.vars[u].needs {
		if d := &pb.vars[u].needs[i]; d.vars>>v&1 != 0 {
			return d.adj
		}
	}
	panic("large: no link between linked variables")
}

// passes reports whether c's own neighbourhood allows it as u's vertex. It tests the predicate,
// the degree, the number of neighbours of each label (the neighbourhood label frequency
// filter), and a candidate of each pattern neighbour already done. c is
// known to fulfil the need known.
func (pb *problem) passes(sc *scratch, u int, c uint32, known need) bool {
	x := &pb.vars[u]
	return pb.alone(x, c) && pb.linked(sc, x, c, known, true)
}

// alone is passes as far as it needs no list.
func (pb *problem) alone(x *variable, c uint32) bool {
	if x.bits != nil && x.bits[c>>6]>>(c&63)&1 == 0 {
		return false
	}
	return x.minDegree == 0 || pb.p.Adjs[x.minAdj].Lists.Degree(c) >= x.minDegree
}

// linked is the rest of passes; without ahead, neighbours of which none is done
// are not looked for.
func (pb *problem) linked(sc *scratch, x *variable, c uint32, known need, ahead bool) bool {
	for i := range x.needs {
		d := &x.needs[i]
		check := sc.built
		if d.adj == known.adj {
			if d.vars&^known.vars == 0 {
				continue
			}
			check &^= known.vars
		}
		if !ahead && d.vars&check == 0 {
			continue
		}
		if !pb.supported(sc, d, c, check) {
			return false
		}
	}
	return true
}

// supported reports whether c has a neighbour for each variable of d, and a
// candidate among its neighbours for each of those in check.
func (pb *problem) supported(sc *scratch, d *need, c uint32, check uint64) bool {
	l := pb.list(d.adj, c)
	if len(l) < d.count {
		return false
	}
	if len(d.ranges) == 1 {
		l = within(l, d.ranges[0])
		if len(l) < d.count {
			return false
		}
		for m := d.vars & check; m != 0; m &= m - 1 {
			if !meets(l, sc.member[bits.TrailingZeros64(m)]) {
				return false
			}
		}
		return true
	}
	n := 0
	for _, r := range d.ranges {
		n += len(within(l, r))
	}
	if n < d.count {
		return false
	}
	for m := d.vars & check; m != 0; m &= m - 1 {
		if !pb.meetsRanges(l, d.ranges, sc.member[bits.TrailingZeros64(m)]) {
			return false
		}
	}
	return true
}

func (pb *problem) meetsRanges(l []uint32, ranges []plan.Range, member []uint64) bool {
	for _, r := range ranges {
		if meets(within(l, r), member) {
			return true
		}
	}
	return false
}

// meets reports whether a list has an element in a bitmap.
func meets(l []uint32, member []uint64) bool {
	for _, v := range l {
		if member[v>>6]>>(v&63)&1 != 0 {
			return true
		}
	}
	return false
}
