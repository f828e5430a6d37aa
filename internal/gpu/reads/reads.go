// Package reads estimates how often a search reads each neighbour list, for a cache of lists on a
// device.
//
// The estimate is GCSM's (Wei and Jiang, GCSM: GPU-Accelerated Continuous Subgraph Matching for
// Large Graphs, IPDPS 2024): random walks down the plan's loop nest, which count the lists that the
// sets along their way are made of. All walks are one pass over the levels (walk.go).
//
// It knows plans and the globals of programs. It must not know devices or single engines.
package reads

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// Estimate is a rule for the order in which lists get copies.
type Estimate int

// Estimates.
const (
	Walks  Estimate = iota // by random walks, and then by degree
	Degree                 // long lists first
)

// Estimator estimates the reads of a plan's search once, when it is first asked. Safe for concurrent
// use.
type Estimator struct {
	pl   *plan.Plan
	prog *kir.Program
	how  Estimate

	once sync.Once
	out  *session.Reads
}

// Of returns an estimator for the lists of prog, to which pl was lowered.
func Of(pl *plan.Plan, prog *kir.Program, how Estimate) *Estimator {
	return &Estimator{pl: pl, prog: prog, how: how}
}

// Key names the estimate: equal keys, equal estimates. It is "" where only the estimator itself has the same one: conditions
// on vertices have no name that lasts, and neither have lists made for this plan.
func (e *Estimator) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v %d", e.how, e.pl.Method, e.pl.Tail.K)
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
	// whole and below are by vertex how often a list is read, and how often only its part
	// below the vertex; nil: never.
	whole, below []float32
	// belowOnly: nothing but those parts is read.
	belowOnly bool
	order     []uint32 // vertices by descending degree; nil: their own order
}

// listsOf are the distinct adjacencies of the program.
func (e *Estimator) listsOf() (out []*lists) {
	seen := map[*uint64]bool{}
	for _, g := range e.prog.Globals {
		if g.Kind != kir.Adj || len(g.Off) < 2 || seen[&g.Off[0]] {
			continue
		}
		seen[&g.Off[0]] = true
		out = append(out, &lists{g: g})
	}
	return out
}

// of returns the lists of an adjacency of the plan: several where a relation is stored in parts.
func (e *Estimator) of(all []*lists, adj int) (out []*lists) {
	h := e.pl.Adjs[adj].Lists
	var off []uint64
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

func (e *Estimator) estimate() *session.Reads {
	all := e.listsOf()
	r := &session.Reads{}
	switch {
	case e.pl.Method == plan.Local:
		e.local(all)
	case e.how == Walks:
		e.walk(all)
	}
	var visited []session.Read
	for _, l := range all {
		for v := range max(len(l.whole), len(l.below)) {
			x := l.read(uint32(v))
			if r.All += x.Reads; x.Reads > 0 {
				visited = append(visited, x)
			}
		}
	}
	known := r.All > 0
	if !known {
		for _, l := range all {
			r.All += float64(len(l.g.Adj)) // as often as a list is long
		}
	}
	slices.SortStableFunc(visited, func(a, b session.Read) int { return cmp.Compare(b.Reads, a.Reads) })
	for _, l := range all {
		l.order = byDegree(l.g.Off)
	}
	r.Each = func(yield func(session.Read) bool) {
		for _, x := range visited {
			if !yield(x) {
				return
			}
		}
		rest(all, known, yield)
	}
	return r
}

// read is the list of a vertex with its reads.
func (l *lists) read(v uint32) session.Read {
	x := session.Read{Lists: l.g, Vertex: v, Below: l.belowOnly}
	if l.whole != nil {
		x.Reads += float64(l.whole[v])
	}
	if l.below != nil {
		below := float64(l.below[v])
		// A copy of the whole list is larger. It pays where a good part of the reads is of the whole list.
		x.Below = l.belowOnly || x.Reads*wholePays < below
		x.Reads += below
	}
	return x
}

const wholePays = 4

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
				if known && l.read(v).Reads > 0 {
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

// local is the reads of the local method, which are known: the list of each root, and of each vertex in a root's
// universe the part below it, or the whole list where a vertex lies outside.
func (e *Estimator) local(all []*lists) {
	side, outside := plan.LocalSide(e.pl), e.pl.Levels[1].Set < 0
	for _, l := range e.of(all, 0) {
		n := len(l.g.Off) - 1
		l.belowOnly = side == plan.LowerSide && !outside
		l.whole, l.below = make([]float32, n), make([]float32, n)
		for v := range n {
			list := l.g.Adj[l.g.Off[v]:l.g.Off[v+1]]
			roots := len(list) // in whose universe v is
			if side != plan.AllSides {
				roots = sort.Search(len(list), func(i int) bool { return int(list[i]) >= v })
				if side == plan.LowerSide {
					roots = len(list) - roots
				}
			}
			switch {
			case l.belowOnly:
				l.below[v] = float32(roots + 1)
			case outside:
				l.whole[v] = float32(roots + 1)
			default:
				l.below[v], l.whole[v] = float32(roots), 1
			}
		}
	}
}
