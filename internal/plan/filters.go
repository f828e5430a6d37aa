package plan

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
)

// Filtered says how many vertices a filter leaves for a level.
type Filtered struct {
	Filter string
	Left   uint64
}

// Allowed is the result of an engine's filter for a level: a bit for each vertex that it leaves.
type Allowed struct {
	Filter string
	Bits   []uint64
}

// Filters returns how many vertices each filter leaves for level l. Filters follow one another:
// "none", the range of the label ("label"), the predicates on the vertex alone ("where"), the least
// degree ("degree"), the labels of the edges ("edges") or semijoins ("semijoin"), and those of an engine. It looks at each vertex, on threads goroutines; 0 means
// all cores. The error is the context's.
func (p *Plan) Filters(ctx context.Context, l, threads int, further ...Allowed) ([]Filtered, error) {
	n := uint32(p.Graph.NumVertices())
	lv := &p.Levels[l]
	has := func(bits []uint64) func(v uint32) bool {
		return func(v uint32) bool { return bits[v/64]>>(v%64)&1 != 0 }
	}
	left := []Filtered{{"none", uint64(n)}}
	var tests []func(v uint32) bool
	add := func(name string, test func(v uint32) bool) {
		left, tests = append(left, Filtered{Filter: name}), append(tests, test)
	}
	if lv.Ranges != nil {
		add("label", func(v uint32) bool {
			return slices.ContainsFunc(lv.Ranges, func(r Range) bool { return v >= r.First && v < r.End })
		})
	}
	own := lv.Bits
	if p.Reduction != nil {
		own = p.Reduction.Own[lv.Vertex]
	}
	if own != nil {
		add("where", has(own))
	}
	if lv.MinDegree > 0 {
		lists := p.Adjs[lv.MinDegreeAdj].Lists
		add("degree", func(v uint32) bool { return lists.Degree(v) >= lv.MinDegree })
	}
	if !SameBits(lv.Bits, own) {
		name := "edges"
		if p.Reduction.Joined {
			name = "semijoin"
		}
		add(name, has(lv.Bits))
	}
	for _, f := range further {
		add(f.Filter, has(f.Bits))
	}
	const some = 1 << 12 // vertices
	blocks := make([]uint64, (n+some-1)/some+1)
	for i := range blocks {
		blocks[i] = uint64(i) * some
	}
	err := graph.Parallel(ctx, blocks, threads, func(lo, hi uint32) {
		found := make([]uint64, len(tests))
		for v := lo * some; v < min(hi*some, n); v++ {
			for i, test := range tests {
				if !test(v) {
					break
				}
				found[i]++
			}
		}
		for i, k := range found {
			atomic.AddUint64(&left[i+1].Left, k)
		}
	})
	return left, err
}
