package layout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
)

// TestThreads: the arrays of partitions of one large label do not depend on the number of threads, under the graph's ids and
// others, from each side, by label and without labels, interval-PCSR and hashed. Their pairs are those of the edges, sorted,
// each once. A context that has ended ends it.
func TestThreads(t *testing.T) {
	for _, s := range []gen.Spec{
		{EdgeLabels: 1, Directed: true},
		{EdgeLabels: 2, Skew: 3},
		{Directed: true},
		{},
	} {
		s.Model, s.Scale, s.M, s.Seed = "rmat", 15, 150_000, 7
		t.Run(fmt.Sprintf("%d edge labels, directed %t", s.EdgeLabels, s.Directed), func(t *testing.T) {
			g, err := gen.Generate(t.Context(), s, 2)
			if err != nil {
				t.Fatal(err)
			}
			rows := RowsByLabel(g)
			label := graph.NoLabel
			if rows.by != nil {
				label = 0
			}
			ids := make([]uint32, g.NumVertices())
			for i, v := range rand.New(rand.NewPCG(1, 2)).Perm(len(ids)) {
				ids[i] = uint32(v)
			}
			for _, renumbered := range [][]uint32{nil, ids} {
				for _, side := range rows.Sides() {
					var want [][]uint32
					for _, threads := range []int{1, 2, 3, 8} {
						got, err := arrays(t.Context(), rows, label, side, renumbered, threads)
						if err != nil {
							t.Fatal(err)
						}
						if want == nil {
							want = got
							pairs := plainPairs(g, label, side, renumbered)
							if blocksOf(len(pairs), 1).n < 4 {
								t.Fatalf("only %d pairs", len(pairs))
							}
							if l := (&Lists{got[0], got[1], got[2]}); !slices.Equal(pairsOf(l), pairs) {
								t.Fatalf("side %d: the lists are not those of the edges", side)
							}
						}
						for i := range got {
							if !slices.Equal(got[i], want[i]) {
								t.Errorf("side %d, new ids %t: %d threads make another array %d than one", side, renumbered != nil, threads, i)
							}
						}
					}
				}
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := arrays(ended, rows, label, rows.Sides()[0], ids, 2); !errors.Is(err, context.Canceled) {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// arrays returns the arrays of the lists of a partition, of its interval-PCSR and of its PCSR, which has chains of groups.
func arrays(ctx context.Context, rows *Rows, label uint32, side Side, renumbered []uint32, threads int) ([][]uint32, error) {
	l, err := rows.Lists(ctx, label, side, renumbered, threads)
	if err != nil {
		return nil, err
	}
	x, err := NewInterval(ctx, l, rows.g.NumVertices(), threads)
	if err != nil {
		return nil, err
	}
	h, err := NewHashed(ctx, l, 12, threads)
	if err != nil {
		return nil, err
	}
	if len(h.Groups) == int(h.Buckets)*2*GroupPairs {
		return nil, errors.New("no group is continued by a new one")
	}
	return [][]uint32{l.Vertices, l.Off, l.Adj, x.First, x.Row, x.Ranks().Words, x.Ranks().First, h.Groups, h.Adj, {h.Buckets}}, nil
}

// plainPairs returns the pairs of a partition as its edges say, sorted, each once.
func plainPairs(g *graph.Graph, label uint32, side Side, renumbered []uint32) (pairs []uint64) {
	add := func(u, v uint32) {
		if renumbered != nil {
			u, v = renumbered[u], renumbered[v]
		}
		pairs = append(pairs, uint64(u)<<32|uint64(v))
	}
	edge := func(u, v uint32) {
		if side != In {
			add(u, v)
		}
		if side != Out {
			add(v, u)
		}
	}
	if g.Edges != nil && g.Edges.Label != nil {
		for i, l := range g.Edges.Label {
			if l == label {
				edge(g.Edges.Src[i], g.Edges.Dst[i])
			}
		}
	} else {
		for u := range uint32(g.NumVertices()) {
			for _, v := range g.Out.List(u) {
				edge(u, v)
			}
		}
	}
	slices.Sort(pairs)
	return slices.Compact(pairs)
}

// pairsOf returns the pairs of lists.
func pairsOf(l *Lists) (pairs []uint64) {
	for i, v := range l.Vertices {
		for _, u := range l.Adj[l.Off[i]:l.Off[i+1]] {
			pairs = append(pairs, uint64(v)<<32|uint64(u))
		}
	}
	return pairs
}

// TestRelationThreads: the lists of a relation do not depend on the number of threads.
func TestRelationThreads(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 16, M: 60_000, Directed: true, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	re, err := Renumber(t.Context(), RowsByLabel(g), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, ids := range []*Renumbering{nil, re} {
		var renumbered []uint32
		if ids != nil {
			renumbered = ids.New
		}
		for _, threads := range []int{1, 2, 3, 8} {
			l, err := renumberedLists(t.Context(), g.Handle(g.Out.Lists()), ids, threads)
			if err != nil || !slices.Equal(pairsOf(l), plainPairs(g, graph.NoLabel, Out, renumbered)) {
				t.Errorf("%d threads make other lists: %v", threads, err)
			}
		}
	}
}

// TestBySize: each job is done once. The large ones have all threads together, and each other job has one.
func TestBySize(t *testing.T) {
	for _, c := range []struct {
		sizes   []uint64
		threads int
		want    []int
	}{
		{nil, 4, nil},
		{[]uint64{9}, 1, []int{1}},
		{[]uint64{9}, 5, []int{5}},
		{[]uint64{0}, 5, []int{1}},
		{[]uint64{50, 50}, 5, []int{2, 2}},
		{[]uint64{1, 90, 9, 40}, 4, []int{1, 2, 1, 2}},
		{[]uint64{10, 10, 10, 10}, 4, []int{1, 1, 1, 1}},
	} {
		got := make([]int, len(c.sizes))
		if err := bySize(t.Context(), c.sizes, c.threads, func(job, threads int) { got[job] += threads }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("sizes %d, %d threads: %d, not %d", c.sizes, c.threads, got, c.want)
		}
	}
}
