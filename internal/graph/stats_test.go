package graph

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestStats(t *testing.T) {
	// A clique of 5 with a tail of 3 and an isolated vertex.
	var pairs [][2]uint32
	for u := range uint32(5) {
		for v := range u {
			pairs = append(pairs, [2]uint32{u, v})
		}
	}
	pairs = append(pairs, [2]uint32{4, 5}, [2]uint32{5, 6}, [2]uint32{6, 7})
	for _, directed := range []bool{false, true} {
		g := FromEdges(9, pairs, directed)
		s := g.Stats()
		if s.Edges != 13 || s.Pairs != 13 || s.MaxDegree != 5 || s.MinDegree != 0 || s.Wedges != 4*6+10+2 || s.SumSquares != 4*16+25+4+4+1 {
			t.Errorf("%+v", s)
		}
		if math.Abs(s.Triangles-10) > 0.3 {
			t.Errorf("%v triangles", s.Triangles)
		}
		_, count, largest, err := g.Components(context.Background(), 2)
		if err != nil || count != 2 || largest != 8 {
			t.Error(count, largest, err)
		}
		core, deg, err := g.Cores(context.Background())
		if err != nil || deg != 4 {
			t.Error(core, deg, err)
		}
		v, _ := g.LookupInt(6)
		if core[v] != 1 {
			t.Error(core)
		}
		if h := g.DegreeHistogram(); h[0] != (DegreeCount{0, 1}) || len(h) != 5 {
			t.Error(h)
		}
		if len(g.Memory()) < 3 {
			t.Error(g.Memory())
		}
	}
	if s := FromEdges(0, nil, false).Stats(); s.Vertices != 0 {
		t.Error(s)
	}
}

// TestCoresAndComponents compares with peeling and search on maps.
func TestCoresAndComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 15).Draw(t, "n")
		var pairs [][2]uint32
		for range rapid.IntRange(0, 40).Draw(t, "m") {
			pairs = append(pairs, [2]uint32{rapid.Uint32Range(0, uint32(n-1)).Draw(t, "u"), rapid.Uint32Range(0, uint32(n-1)).Draw(t, "v")})
		}
		g := FromEdges(n, pairs, rapid.Bool().Draw(t, "directed"))
		a := g.Any()
		core, _, _ := g.Cores(context.Background())
		alive := make([]bool, n)
		for i := range alive {
			alive[i] = true
		}
		for k := uint32(0); slices.Contains(alive, true); k++ {
			for again := true; again; {
				again = false
				for v := range uint32(n) {
					d := uint32(0)
					for _, w := range a.List(v) {
						if alive[w] {
							d++
						}
					}
					if alive[v] && d <= k {
						alive[v], again = false, true
						if core[v] != k {
							t.Fatalf("core of %d is %d, want %d", v, core[v], k)
						}
					}
				}
			}
		}
		root, _, _, _ := g.Components(context.Background(), 3)
		for v := range uint32(n) {
			for _, w := range a.List(v) {
				if root[v] != root[w] {
					t.Fatal("joined vertices in two components")
				}
			}
			if root[v] > v || root[root[v]] != root[v] {
				t.Fatal("root")
			}
		}
	})
}

func TestLabelStatistics(t *testing.T) {
	g := sample(t) // 1:X,Y 9:X; 1-2 a, 2-3 b, 3-1, 1-4 a
	if c := g.VertexLabelCounts(); !slices.Equal(c, []uint64{2, 1}) {
		t.Error(c)
	}
	if c, none := g.EdgeLabelCounts(); !slices.Equal(c, []uint64{2, 1}) || none != 1 {
		t.Error(c, none)
	}
}

func TestRelations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		g := m.build(t, 2, false)
		if g.Edges == nil {
			return
		}
		for l := range uint32(len(g.EdgeLabels) + 1) {
			if int(l) == len(g.EdgeLabels) {
				l = NoLabel
			}
			r := g.RelationByLabel(l)
			want := map[[2]uint32]bool{}
			for i := range g.Edges.Dst {
				if g.Edges.Label == nil && l == NoLabel || g.Edges.Label != nil && g.Edges.Label[i] == l {
					want[[2]uint32{g.Edges.Src[i], g.Edges.Dst[i]}] = true
					if !g.Directed {
						want[[2]uint32{g.Edges.Dst[i], g.Edges.Src[i]}] = true
					}
				}
			}
			if r.Out.Entries() != len(want) || r.In.Entries() != len(want) {
				t.Fatal(r.Out.Entries(), r.In.Entries(), len(want))
			}
			both := maps.Clone(want)
			for p := range want {
				if !r.Out.Has(p[0], p[1]) || !r.In.Has(p[1], p[0]) {
					t.Fatal(p)
				}
				both[[2]uint32{p[1], p[0]}] = true
			}
			either := r.Either()
			for p := range both {
				if !either.Has(p[0], p[1]) {
					t.Fatal(p)
				}
			}
			if either.Entries() != len(both) || !r.Either().is(either) {
				t.Fatal(either.Entries(), len(both))
			}
			if g.RelationByLabel(l) != r {
				t.Fatal("not kept")
			}
		}
	})
}
