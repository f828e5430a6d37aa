// Package reads estimates how much a search reads of each neighbour list, for a cache of lists on a
// device.
//
// A read counts with the lines of 128 bytes that it touches: over the bus each of them is a transfer. A list that a
// level binds counts once for each time that it is bound, however many deeper levels read it, because it stays in the
// device's own cache for so long.
//
// The estimate is GCSM's (Wei and Jiang, GCSM: GPU-Accelerated Continuous Subgraph Matching for
// Large Graphs, IPDPS 2024): random walks down the plan's loop nest, which count the lists that the
// sets along their way are made of. All walks are one pass over the levels (walk.go).
//
// It knows plans and the globals of programs. It must not know devices or single engines.
package reads

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// Estimate is a rule for the order in which lists get copies.
type Estimate int

// Estimates.
const (
	Walks  Estimate = iota // by lines read for each byte, and then by degree
	Degree                 // long lists first
)

// Estimator estimates the reads of a plan's search once, when it is first asked. Safe for concurrent
// use.
type Estimator struct {
	pl   *plan.Plan
	prog *kir.Program
	how  Estimate
	hood *Neighbourhoods // of a plan for the local method

	once sync.Once
	out  *session.Reads
}

// Of returns an estimator for the lists of prog, to which pl was lowered.
func Of(pl *plan.Plan, prog *kir.Program, how Estimate) *Estimator {
	return &Estimator{pl: pl, prog: prog, how: how}
}

// Neighbourhoods says what the local method reads besides the list of each root, on the side Hood.Universe.
type Neighbourhoods struct {
	plan.Hood
	// Counted: of the vertices of level 1 alone the lists are read, on the side Inner. These vertices are on the side Level1 of the
	// root. Otherwise it is the part below of the list of each vertex in the root's universe, or the whole list where level 1 is outside.
	Counted       bool
	Level1, Inner plan.Side
}

// OfNeighbourhoods is Of for the local method.
func OfNeighbourhoods(pl *plan.Plan, prog *kir.Program, how Estimate, hood Neighbourhoods) *Estimator {
	return &Estimator{pl: pl, prog: prog, how: how, hood: &hood}
}

// Key names the estimate: equal keys, equal estimates. It is "" where only the estimator itself has the same one: conditions
// on vertices have no name that lasts, and neither have lists made for this plan.
func (e *Estimator) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v %d", e.how, e.pl.Method, e.pl.Tail.K)
	if e.hood != nil {
		fmt.Fprintf(&b, " %+v", *e.hood)
	}
	for i := range e.pl.Adjs {
		h := e.pl.Adjs[i].Lists
		if !h.Kept {
			return ""
		}
		fmt.Fprintf(&b, " | %d %d", h.ID, h.Version)
	}
	for i := range e.pl.Levels {
		lv := &e.pl.Levels[i]
		if lv.Bits != nil || len(lv.Checks) > 0 {
			return ""
		}
		fmt.Fprintf(&b, " | %v %v %d %d %v %v %v %d", lv.Back, lv.Ranges, lv.MinDegree, lv.MinDegreeAdj, lv.Below, lv.Above, lv.Distinct, lv.Set)
	}
	for _, s := range e.pl.Sets {
		fmt.Fprintf(&b, " | %d %d %d %d %d %v %v %v", s.Op, s.Base, s.Adj, s.Of, s.At, s.Range, s.Below, s.Above)
	}
	return b.String()
}

// Reads returns the estimate, the same pointer each time.
func (e *Estimator) Reads() *session.Reads {
	e.once.Do(func() { e.out = e.estimate() })
	return e.out
}

// lists are the neighbour lists of a global, and what is expected of them.
type lists struct {
	g *kir.GlobalDef
	// whole and below are by vertex how many lines are read of a list, and in reads of only its part
	// below the vertex; nil: none.
	whole, below []float32
	// belowOnly: nothing but those parts is read.
	belowOnly bool
	order     []uint32 // vertices by descending degree; nil: their own order
}

// listsOf are the distinct adjacencies of the program.
func (e *Estimator) listsOf() (out []*lists) {
	seen := map[*uint64]bool{}
	for _, g := range e.prog.Globals {
		if g.Kind != kir.Adj || len(g.Off) < 2 || uint64(len(g.Adj)) < g.Off[len(g.Off)-1] || seen[&g.Off[0]] {
			continue
		}
		seen[&g.Off[0]] = true
		out = append(out, &lists{g: g})
	}
	return out
}

// of returns the lists of an adjacency of the plan: several where a relation is stored in parts, and none where the program reads
// sparse lists, which a cache has no copies of.
func (e *Estimator) of(all []*lists, adj int) (out []*lists) {
	h := e.pl.Adjs[adj].Lists
	var off []uint64
	if e.sparse(h) {
		return nil
	}
	if !h.InParts() {
		off = h.Flat().Off
	}
	for _, l := range all {
		if id := l.g.Of; id.ID != 0 && id.ID == h.ID || len(off) > 0 && len(l.g.Off) > 0 && &off[0] == &l.g.Off[0] {
			out = append(out, l)
		}
	}
	return out
}

// sparse reports whether the program reads lists without an offset for each vertex. It reads all sparse lists so, or none.
func (e *Estimator) sparse(h *graph.Handle) bool {
	return h.Sparse != nil && slices.ContainsFunc(e.prog.Globals, func(g *kir.GlobalDef) bool { return g.Sparse != nil })
}

func (e *Estimator) estimate() *session.Reads {
	all := e.listsOf()
	r := &session.Reads{}
	switch {
	case e.how == Degree:
	case e.hood != nil:
		e.local(all)
	default:
		e.walk(all)
	}
	read, lines := visited(all)
	r.All = lines
	known := r.All > 0
	if !known {
		for _, l := range all {
			r.All += float64(len(l.g.Adj)) // as often as a list is long
		}
	}
	for _, l := range all {
		l.order = byDegree(l.g.Off)
	}
	r.Each = func(yield func(session.Read) bool) {
		for _, p := range read {
			if !yield(all[p.list].read(p.v).Read) {
				return
			}
		}
		rest(all, known, yield)
	}
	return r
}

// visit is a list with its reads, and how many of them a byte of its copy saves.
type visit struct {
	session.Read
	dense float64
}

// read is the list of a vertex with its reads. It is to be copied whole, or only the part below the vertex, which serves no
// other reads: where a byte saves more.
func (l *lists) read(v uint32) visit {
	x := visit{Read: session.Read{Lists: l.g, Vertex: v, Below: l.belowOnly}}
	list := l.g.Adj[l.g.Off[v]:l.g.Off[v+1]]
	if l.below == nil {
		if l.whole != nil {
			x.Reads = float64(l.whole[v])
		}
		x.dense = x.Reads / copyBytes(len(list))
		return x
	}
	part, all := float64(l.below[v]), float64(l.below[v])
	if l.whole != nil {
		all += float64(l.whole[v])
	}
	x.Reads, x.dense = all, all/copyBytes(len(list))
	if d := part / copyBytes(belowIn(list, v)); l.belowOnly || d > x.dense {
		x.Below, x.dense = true, d
	}
	if x.Below {
		x.Reads = part
	}
	return x
}

// all is how many lines are read of a vertex's list.
func (l *lists) all(v uint32) (lines float64) {
	if l.whole != nil {
		lines += float64(l.whole[v])
	}
	if l.below != nil {
		lines += float64(l.below[v])
	}
	return lines
}

// copyBytes is the size of a copy of a list in a cache: its ids, and a head.
func copyBytes(ids int) float64 { return float64(8 + 4*ids) }

// linesOf is how many lines a walk over a list touches.
func linesOf(ids int) float64 { return float64(ids/idsOfLine + 1) }

// idsOfLine is how many ids a line of memory has.
const idsOfLine = 32

// belowIn is how many ids of v's list are below v.
func belowIn(list []uint32, v uint32) int { return len(plan.Within(list, 0, v)) }

// rest yields the lists that no walk has read, the longest first.
func rest(all []*lists, known bool, yield func(session.Read) bool) {
	next := make([]int, len(all))
	for {
		var best *lists
		var v, at uint32
		most := uint64(0)
		for i, l := range all {
			for next[i] < len(l.g.Off)-1 {
				v = uint32(next[i])
				if l.order != nil {
					v = l.order[v]
				}
				if known && l.all(v) > 0 {
					next[i]++
					continue
				}
				if n := l.g.Off[v+1] - l.g.Off[v]; n > most {
					best, most, at = l, n, v
				}
				break
			}
		}
		if best == nil {
			return
		}
		next[slices.Index(all, best)]++
		x := session.Read{Lists: best.g, Vertex: at, Below: best.belowOnly}
		if !known {
			x.Reads = float64(most)
		}
		if !yield(x) {
			return
		}
	}
}

// byDegree returns the vertices by descending length of their lists; nil where that is the order of
// their ids.
func byDegree(off []uint64) []uint32 {
	n := len(off) - 1
	sorted := true
	most := uint64(0)
	for v := range n {
		d := off[v+1] - off[v]
		sorted = sorted && (v == 0 || d <= off[v]-off[v-1])
		most = max(most, d)
	}
	if sorted {
		return nil
	}
	out := make([]uint32, n)
	starts := make([]uint32, most+2) // by degree, descending
	for v := range n {
		starts[most-(off[v+1]-off[v])+1]++
	}
	for d := range most + 1 {
		starts[d+1] += starts[d]
	}
	for v := range n {
		d := most - (off[v+1] - off[v])
		out[starts[d]] = uint32(v)
		starts[d]++
	}
	return out
}

// local is the reads of the local method, which are known: the list of each root, on the side of its universe, and those of the
// vertices in a root's universe.
func (e *Estimator) local(all []*lists) {
	side, from, inner := e.hood.Universe, e.hood.Universe, plan.LowerSide
	switch { // from: the side of a root on which vertices are whose lists are read
	case e.hood.Outside:
		inner = plan.AllSides
	case e.hood.Counted:
		from, inner = e.hood.Level1, e.hood.Inner
	}
	for _, l := range e.of(all, 0) {
		n := len(l.g.Off) - 1
		l.belowOnly = side == plan.LowerSide && inner == plan.LowerSide
		l.below = make([]float32, n)
		if !l.belowOnly {
			l.whole = make([]float32, n)
		}
		each := func(v int) {
			list := l.g.Adj[l.g.Off[v]:l.g.Off[v+1]]
			if len(list) == 0 {
				return
			}
			below := belowIn(list, uint32(v))
			count := func(s plan.Side, times int) {
				switch s {
				case plan.LowerSide:
					l.below[v] += float32(float64(times) * linesOf(below))
				case plan.UpperSide:
					l.whole[v] += float32(float64(times) * linesOf(len(list)-below))
				default:
					l.whole[v] += float32(float64(times) * linesOf(len(list)))
				}
			}
			count(side, 1)
			switch from { // the roots that v is on that side of
			case plan.LowerSide:
				count(inner, len(list)-below)
			case plan.UpperSide:
				count(inner, below)
			default:
				count(inner, len(list))
			}
		}
		overStripes(n, func(lo, hi int) {
			for v := lo; v < hi; v++ {
				each(v)
			}
		})
	}
}
