package join

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
)

// signatureSize is the number of bits of a signature. A graph keeps its signatures of that size under it as the key.
type signatureSize int

// signaturesPay reports whether the plan is expected to take longer than making signatures and
// looking at those of all vertices, and has no narrower candidates already.
func signaturesPay(g *graph.Graph, p *plan.Plan) bool {
	const eachEdge, eachVertex = 8, 4 // set elements that are read in the same time
	return p.Reduction == nil && p.Work() > eachEdge*float64(g.NumEdges())+eachVertex*float64(g.NumVertices()*len(p.Levels))
}

// withoutSignatures says why candidates are not filtered by signatures, which nobody has turned off.
func withoutSignatures(g *graph.Graph, p *plan.Plan) string {
	switch {
	case g.Stored != nil:
		return "they are made of the graph's edge table, and the lists are stored in another way"
	case p.Reduction != nil:
		return "candidates are reduced by their edges"
	}
	return "they are expected to take longer than the search"
}

// usualSignature is the number of bits of a signature that no option changes.
const usualSignature = 256

// signatureTable returns the signatures of a graph's vertices, which the graph keeps. A new table counts to the memory of the query that
// makes it, until release is called or the query ends. The error is a *memory.Error where a new table has no room.
//
// Why: what a graph keeps counts to no user, and each size is another table. So the graph keeps only one of the usual size for a query whose
// memory is limited, and others go with the query.
func signatureTable(ctx context.Context, g *graph.Graph, size int, o engine.Options) (table *layout.Signatures, release func(), err error) {
	share, bytes, taken := memory.ShareOf(ctx), int64(g.NumVertices())*int64(size/8), int64(0)
	release = func() { share.Give(taken) }
	fresh := func() (any, error) {
		what := fmt.Sprintf("signatures of %d bits", size)
		if err := memory.Check(what, uint64(bytes), o.Memory); err != nil {
			return nil, err
		}
		if err := share.Take(what, bytes); err != nil {
			return nil, err
		}
		table, err := layout.NewSignatures(ctx, g, size, o.Threads)
		if err != nil {
			share.Give(bytes)
			return nil, err
		}
		taken = bytes
		return table, nil
	}
	var made any
	if size != usualSignature && share.Left() < math.MaxInt64 {
		made, err = fresh()
	} else {
		made, err = g.Derived(ctx, signatureSize(size), fresh)
	}
	if err != nil {
		return nil, nil, err
	}
	return made.(*layout.Signatures), release, nil
}

// signatures are a plan's filter by signatures (GSI, section 3.1).
type signatures struct {
	table *layout.Signatures
	pairs [][]layout.Pair // that each level's vertex must have; nil: nothing is asked of its neighbours
}

// separate splits a phase's only group in two where its levels have two different signatures. Each then has the
// candidates that its own signature leaves, and not those that one of the two leaves.
func (s *signatures) separate(x *phases.Phase) {
	if len(x.Groups) != 1 {
		return
	}
	same := func(l, m int) bool {
		a, b := s.pairs[l], slices.Clone(s.pairs[m])
		for _, pair := range a {
			at := slices.Index(b, pair)
			if at < 0 {
				return false
			}
			b = slices.Delete(b, at, at+1)
		}
		return len(b) == 0
	}
	one, other := x.Groups[0], x.Groups[0]
	one.Levels, other.Levels = nil, nil
	for _, l := range x.Groups[0].Levels {
		switch {
		case same(l, x.Groups[0].Levels[0]):
			one.Levels = append(one.Levels, l)
		case other.Levels == nil || same(l, other.Levels[0]):
			other.Levels = append(other.Levels, l)
		default:
			return // a phase has at most two groups
		}
	}
	if other.Levels != nil {
		x.Groups = []phases.Group{one, other}
	}
}

// filterBlock is the least number of vertices that a thread filters: a multiple of 64, as threads share no
// word of a bitmap.
const filterBlock = 1 << 10

// filter narrows the candidates of each level to vertices whose signatures have what the pattern
// vertex needs. It returns a bitmap for each level, nil where nothing is asked of its neighbours,
// and says in words how many vertices are left. Threads share the vertices of a level. The error is that of
// the context.
func (s *signatures) filter(ctx context.Context, g *graph.Graph, p *plan.Plan, threads int) (allowed [][]uint64, said []string, err error) {
	n := uint32(g.NumVertices())
	blocks := make([]uint64, (n+filterBlock-1)/filterBlock+1) // running sums of the vertices of blocks
	for i := range blocks {
		blocks[i] = uint64(i) * filterBlock
	}
	allowed = make([][]uint64, len(p.Levels))
	for l, pairs := range s.pairs {
		if len(pairs) == 0 {
			continue
		}
		lv := &p.Levels[l]
		bits := plan.Bitmap(g.NumVertices(), lv.Ranges, lv.Bits)
		query := s.table.NewQuery(pairs)
		var before, left atomic.Int64
		err := graph.Parallel(ctx, blocks, threads, func(lo, hi uint32) {
			r := plan.Range{First: lo * filterBlock, End: min(hi*filterBlock, n)}
			before.Add(int64(r.Count(bits)))
			s.table.Filter(query, bits, r.First, r.End)
			left.Add(int64(r.Count(bits)))
		})
		if err != nil {
			return nil, nil, context.Cause(ctx)
		}
		allowed[l] = bits
		said = append(said, fmt.Sprintf("join: signatures leave %d of %d candidates of %s", left.Load(), before.Load(), p.Pattern.Vertices[p.Order[l]].Name))
	}
	return allowed, said, nil
}

// pruned returns how many vertices signatures leave for each level, of those that pass the plan's
// own filters.
func pruned(ctx context.Context, p *plan.Plan, allowed [][]uint64, threads int) ([][]plan.Filtered, error) {
	left := make([][]plan.Filtered, len(allowed))
	for l, bits := range allowed {
		if bits == nil {
			continue
		}
		all, err := p.Filters(ctx, l, threads, plan.Allowed{Filter: "signature", Bits: bits})
		if err != nil {
			return nil, err
		}
		left[l] = all[len(all)-1:]
	}
	return left, nil
}

// neighbourPairs returns, for each level, the pairs of an edge label and a neighbour's class that
// its vertex must have. Where vertices of the pattern may be equal, each pair counts once.
func neighbourPairs(g *graph.Graph, p *plan.Plan) [][]layout.Pair {
	type seen struct {
		level, other int
		pair         layout.Pair
	}
	had := map[seen]bool{}
	pairs := make([][]layout.Pair, len(p.Levels))
	add := func(level, other, adj int) {
		only := p.Adjs[adj].Only
		if only == nil || only.Both {
			return
		}
		k := seen{level, other, layout.Pair{Label: only.Label, In: only.In, Class: classOf(g, &p.Levels[other])}}
		if p.Mode != pattern.Iso {
			k.other = -1
		}
		if !had[k] {
			had[k] = true
			pairs[level] = append(pairs[level], k.pair)
		}
	}
	for l := range p.Levels {
		for _, b := range p.Levels[l].Back {
			if !b.Neg {
				add(b.Level, l, b.Adj)
				add(l, b.Level, p.Adjs[b.Adj].Rev)
			}
		}
	}
	return pairs
}

// classOf returns the label class that a level's vertices are all in, or layout.AnyClass.
func classOf(g *graph.Graph, lv *plan.Level) int {
	for i, c := range g.Classes {
		if len(g.Classes) == 1 && lv.Ranges == nil || len(lv.Ranges) == 1 && lv.Ranges[0] == (plan.Range{First: c.First, End: c.End}) {
			return i
		}
	}
	return layout.AnyClass
}
