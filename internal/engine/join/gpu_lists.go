package join

import (
	"fmt"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
)

// Layouts of kernels/join/lists.cuh.
const (
	layoutCSR = iota
	layoutHashed
	layoutInterval
	layoutSparse
	layoutRanked
)

// deviceLists is struct JoinLists of kernels/join/lists.cuh.
type deviceLists struct {
	Adj, Off, Groups, First, Row, Place uint64
	Kind, N                             uint32
}

// listArrays are the arrays of one relation's lists, in one of the layouts; nil: the layout does
// without.
type listArrays struct {
	adj, groups, first, row, place *kir.GlobalDef
	kind, n                        uint32
}

// on returns where the arrays are on a device.
func (a *listArrays) on(e *session.Exec) deviceLists {
	ids := func(d *kir.GlobalDef) uint64 {
		if d == nil {
			return 0
		}
		return e.Address(d, emit.IDs)
	}
	l := deviceLists{Groups: ids(a.groups), First: ids(a.first), Row: ids(a.row), Place: ids(a.place), Kind: a.kind, N: a.n}
	switch {
	case a.adj == nil:
	case a.adj.Sparse != nil:
		l.Adj, l.Groups, l.Place = e.Address(a.adj, emit.Neighbours), e.Address(a.adj, emit.Bitmaps), e.Address(a.adj, emit.Rows)
	default:
		l.Adj, l.Off = e.Address(a.adj, emit.Neighbours), e.Address(a.adj, emit.Off)
	}
	return l
}

// indexWords is the most words of shared memory that indexes of interval-PCSR take: a block of each
// kernel then leaves room for others.
const indexWords = 4096

// byRuns reports whether a GPU finds the lists of a partition by its runs: those whose index fits in shared memory, of which
// `room` words are left. Others have a rank bitmap.
func (x *prepared) byRuns(p *layout.Interval, room *int) bool {
	words := 2*p.Runs() + 1
	if x.index == "ranks" || x.index != "runs" && words > *room {
		return false
	}
	*room -= words
	return true
}

// near says what of lists is copied to shared memory, if one of their indexes fits there: so many
// lists, and words for indexes. kept is the number of indexes that fit.
func near(lists []listArrays) (copied, words, kept int) {
	for i := range lists {
		l := &lists[i]
		if l.kind != layoutInterval || l.n == 0 {
			continue
		}
		if n := 2*int(l.n) + 1; words+n <= indexWords {
			words += n
			kept++
		}
	}
	if kept > 0 {
		copied = len(lists)
	}
	return copied, words, kept
}

// listArrays adds the arrays of the lists that the plan reads to a program. Arrays of a relation or
// a partition that stays with the graph have an identity, so that devices find them again. Lists in
// parts are read as one run.
func (x *prepared) listArrays(program *kir.Program) []listArrays {
	out := make([]listArrays, len(x.p.Adjs))
	had := map[any]listArrays{}
	parts, _ := x.lists.(partitions)
	room := indexWords
	for i, read := range readLists(x.p, x.o.Levels) {
		if !read {
			continue
		}
		a := &x.p.Adjs[i]
		var key any = a.Lists
		if parts != nil {
			key = parts[i]
		}
		if _, ok := had[key]; !ok {
			if parts != nil {
				runs := false
				if p, ok := parts[i].(*layout.Interval); ok {
					runs = x.byRuns(p, &room)
				}
				had[key] = partArrays(program, a.Name, parts[i], runs)
			} else {
				had[key] = ownArrays(program, a.Name, a.Lists)
			}
		}
		out[i] = had[key]
	}
	ranked := 0
	for _, a := range had {
		if a.kind == layoutRanked {
			ranked++
		}
	}
	if ranked > 0 {
		x.said = append(x.said, fmt.Sprintf("join: lists found by rank bitmaps: %d", ranked))
	}
	return out
}

// ownArrays adds the arrays of a relation as the graph has them: with an offset for each vertex, or sparse.
func ownArrays(program *kir.Program, name string, h *graph.Handle) listArrays {
	d := &kir.GlobalDef{Name: name, Kind: kir.Adj}
	if !h.InParts() {
		d.Of = lower.Identity(h, 0)
	}
	if h.Sparse != nil {
		lower.SetSparse(d, h.Sparse)
		return listArrays{adj: program.AddGlobal(d), kind: layoutSparse, n: uint32(d.Sparse.Levels)}
	}
	run := h.Flat()
	d.Off, d.Adj = run.Off, run.Adj
	return listArrays{adj: program.AddGlobal(d), kind: layoutCSR, n: uint32(run.NumVertices())}
}

// partArrays adds the arrays of a partition. Its lists are an adjacency without offsets, so that they
// are placed as neighbour lists are. Those of an interval-PCSR are found by runs or by ranks.
func partArrays(program *kir.Program, name string, p layout.Partition, runs bool) listArrays {
	part := 0
	add := func(kind kir.Kind, what string, numbers []uint32) *kir.GlobalDef {
		part++
		return program.AddGlobal(&kir.GlobalDef{Name: name + what, Kind: kind, Adj: numbers, Of: kir.Identity{ID: p.ID(), Part: part}})
	}
	switch p := p.(type) {
	case *layout.Hashed:
		return listArrays{
			adj: add(kir.Adj, "", p.Adj), groups: add(kir.Array, " (groups)", p.Groups),
			kind: layoutHashed, n: p.Buckets,
		}
	case *layout.Interval:
		a := listArrays{adj: add(kir.Adj, "", p.Adj), place: add(kir.Array, " (offsets)", p.Off)}
		if runs {
			a.first, a.row = add(kir.Array, " (runs)", p.First), add(kir.Array, " (rows of runs)", p.Row)
			a.kind, a.n = layoutInterval, uint32(p.Runs())
			return a
		}
		part += 2 // the parts of runs, which another query may have on the device
		ranks := p.Ranks()
		a.groups, a.row = add(kir.Array, " (ranks)", ranks.Words), add(kir.Array, " (levels)", ranks.First)
		a.kind, a.n = layoutRanked, uint32(len(ranks.First))
		return a
	}
	panic("join: a partition of an unknown kind")
}
