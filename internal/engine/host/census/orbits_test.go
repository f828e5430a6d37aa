package census

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/memory"
)

// orbitOf is the orbit of a vertex of degree d in a connected graph of k vertices with some edges, whose largest degree is most.
func orbitOf(k, edges, most, d int) int {
	switch [2]int{k, edges} {
	case [2]int{2, 1}:
		return 0
	case [2]int{3, 2}:
		return d // 1 or 2
	case [2]int{3, 3}:
		return 3
	case [2]int{4, 3}:
		if most == 3 {
			return map[int]int{1: 6, 3: 7}[d]
		}
		return map[int]int{1: 4, 2: 5}[d]
	case [2]int{4, 4}:
		if most == 2 {
			return 8
		}
		return map[int]int{1: 9, 2: 10, 3: 11}[d]
	case [2]int{4, 5}:
		return map[int]int{2: 12, 3: 13}[d]
	}
	return 14
}

// fiveVertices are the orbits of connected graphs of five vertices by: the graph's number of edges, its largest degree, and its triangles; the degree of a
// vertex at the orbit, its triangles, and the sum of the squares of its neighbours' degrees. The numbers are those that ORCA prints for these graphs.
var fiveVertices = map[[6]int]int{
	{4, 2, 0, 1, 0, 4}: 15, {4, 2, 0, 2, 0, 5}: 16, {4, 2, 0, 2, 0, 8}: 17, {4, 3, 0, 1, 0, 4}: 18, {4, 3, 0, 1, 0, 9}: 19, {4, 3, 0, 2, 0, 10}: 20,
	{4, 3, 0, 3, 0, 6}: 21, {4, 4, 0, 1, 0, 16}: 22, {4, 4, 0, 4, 0, 4}: 23, {5, 3, 1, 1, 0, 9}: 24, {5, 3, 1, 2, 1, 18}: 25, {5, 3, 1, 3, 1, 14}: 26,
	{5, 3, 1, 1, 0, 4}: 27, {5, 3, 1, 2, 0, 10}: 28, {5, 3, 1, 2, 1, 13}: 29, {5, 3, 1, 3, 1, 12}: 30, {5, 4, 1, 1, 0, 16}: 31, {5, 4, 1, 2, 1, 20}: 32,
	{5, 4, 1, 4, 1, 10}: 33, {5, 2, 0, 2, 0, 8}: 34, {5, 3, 0, 1, 0, 9}: 35, {5, 3, 0, 2, 0, 8}: 36, {5, 3, 0, 2, 0, 13}: 37, {5, 3, 0, 3, 0, 9}: 38,
	{6, 4, 2, 1, 0, 16}: 39, {6, 4, 2, 2, 1, 25}: 40, {6, 4, 2, 3, 2, 24}: 41, {6, 4, 2, 4, 2, 18}: 42, {6, 4, 2, 2, 1, 20}: 43, {6, 4, 2, 4, 2, 16}: 44,
	{6, 3, 2, 1, 0, 9}: 45, {6, 3, 2, 2, 1, 18}: 46, {6, 3, 2, 3, 1, 19}: 47, {6, 3, 2, 3, 2, 22}: 48, {6, 3, 0, 2, 0, 18}: 49, {6, 3, 0, 3, 0, 12}: 50,
	{6, 3, 1, 2, 0, 13}: 51, {6, 3, 1, 2, 1, 18}: 52, {6, 3, 1, 3, 1, 17}: 53, {7, 4, 3, 2, 1, 32}: 54, {7, 4, 3, 4, 3, 28}: 55, {7, 4, 4, 1, 0, 16}: 56,
	{7, 4, 4, 3, 3, 34}: 57, {7, 4, 4, 4, 3, 28}: 58, {7, 4, 3, 2, 1, 25}: 59, {7, 4, 3, 3, 2, 29}: 60, {7, 4, 3, 4, 3, 26}: 61, {7, 3, 2, 2, 0, 18}: 62,
	{7, 3, 2, 3, 1, 22}: 63, {7, 3, 2, 3, 2, 27}: 64, {8, 4, 5, 2, 1, 32}: 65, {8, 4, 5, 3, 3, 41}: 66, {8, 4, 5, 4, 4, 38}: 67, {8, 4, 4, 3, 2, 34}: 68,
	{8, 4, 4, 4, 4, 36}: 69, {9, 4, 7, 3, 3, 48}: 70, {9, 4, 7, 4, 5, 50}: 71, {10, 4, 10, 4, 6, 64}: 72,
}

// orbitOfFive is the orbit of v in a connected graph of five vertices.
func orbitOfFive(pairs [][2]int, v int) int {
	var adjacent [5][5]bool
	var degree, triangles [5]int
	for _, p := range pairs {
		adjacent[p[0]][p[1]], adjacent[p[1]][p[0]] = true, true
		degree[p[0]]++
		degree[p[1]]++
	}
	all, squares := 0, 0
	for a := range 5 {
		for b := range a {
			for c := range b {
				if adjacent[a][b] && adjacent[b][c] && adjacent[a][c] {
					all++
					triangles[a]++
					triangles[b]++
					triangles[c]++
				}
			}
		}
		if adjacent[v][a] {
			squares += degree[a] * degree[a]
		}
	}
	orbit, ok := fiveVertices[[6]int{len(pairs), slices.Max(degree[:]), all, degree[v], triangles[v], squares}]
	if !ok {
		panic("no such orbit")
	}
	return orbit
}

// bruteOrbits goes over all sets of at most k vertices and, unless induced, all sets of edges among them.
func bruteOrbits(g *graph.CSR, k int, induced bool) [][]uint64 {
	n := g.NumVertices()
	out := make([][]uint64, NumOrbits(k))
	for i := range out {
		out[i] = make([]uint64, n)
	}
	adjacent := func(u, v int) bool {
		for _, w := range g.List(uint32(u)) {
			if w == uint32(v) {
				return true
			}
		}
		return false
	}
	for set := range 1 << n {
		size := bits.OnesCount(uint(set))
		if size < 2 || size > k {
			continue
		}
		var vs []int
		for v := range n {
			if set>>v&1 == 1 {
				vs = append(vs, v)
			}
		}
		var pairs [][2]int
		for i := range vs {
			for j := range i {
				if adjacent(vs[i], vs[j]) {
					pairs = append(pairs, [2]int{i, j})
				}
			}
		}
		for chosen := range 1 << len(pairs) {
			if induced && chosen != 1<<len(pairs)-1 {
				continue
			}
			degree, reach := make([]int, size), make([]int, size)
			for i := range reach {
				reach[i] = 1 << i
			}
			for range size {
				for e, p := range pairs {
					if chosen>>e&1 == 1 {
						both := reach[p[0]] | reach[p[1]]
						reach[p[0]], reach[p[1]] = both, both
					}
				}
			}
			if reach[0] != 1<<size-1 {
				continue // not connected
			}
			most := 0
			var used [][2]int
			for e, p := range pairs {
				if chosen>>e&1 == 1 {
					used = append(used, p)
					degree[p[0]]++
					degree[p[1]]++
					most = max(most, degree[p[0]], degree[p[1]])
				}
			}
			for i, v := range vs {
				if size == 5 {
					out[orbitOfFive(used, i)][v]++
					continue
				}
				out[orbitOf(size, bits.OnesCount(uint(chosen)), most, degree[i])][v]++
			}
		}
	}
	return out
}

// TestOrbits compares with all sets of vertices and edges of random graphs, sparse and dense ones, with hubs and without, with the vertices in any order.
func TestOrbits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom([]gen.Spec{
			{Model: "er", N: 9, P: 0.3}, {Model: "er", N: 9, P: 0.6}, {Model: "er", N: 8, P: 1}, {Model: "er", N: 7, P: 0},
			{Model: "cliques", N: 2, K: 5}, {Model: "grid", Dims: []uint64{3, 4}}, {Model: "er", N: 12, P: 0.2}, {Model: "ba", N: 10, K: 4},
			{Model: "ba", N: 11, K: 2}, {Model: "rmat", Scale: 3, M: 16}, {Model: "star", N: 8}, {Model: "er", N: 10, P: 0.4, VertexLabels: 3},
		}).Draw(t, "spec")
		spec.Seed = rapid.Uint64().Draw(t, "seed")
		g, err := gen.Generate(context.Background(), spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		lists := g.Flat(g.Any())
		k := rapid.IntRange(3, 5).Draw(t, "k")
		induced := rapid.Bool().Draw(t, "induced")
		got, err := Orbits(context.Background(), lists, k, induced, engine.Options{Threads: rapid.IntRange(1, 3).Draw(t, "threads")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for orbit, want := range bruteOrbits(lists, k, induced) {
			for v := range want {
				if got[orbit][v] != want[v] {
					t.Fatalf("%v, k %d, induced %v: orbit %d of vertex %d is %d, want %d", spec, k, induced, orbit, v, got[orbit][v], want[v])
				}
			}
		}
	})
}

// orbitsOf are the orbits of motifs, and how many vertices of the motif are at each.
var orbitsOf = map[string]map[int]uint64{
	"star(3)": {6: 3, 7: 1}, "path(4)": {4: 2, 5: 2}, "tailed_triangle": {9: 1, 10: 2, 11: 1}, "cycle(4)": {8: 4}, "diamond": {12: 2, 13: 2}, "clique(4)": {14: 4},
	"path(5)": {15: 2, 16: 2, 17: 1}, "fork": {18: 1, 19: 2, 20: 1, 21: 1}, "star(4)": {22: 4, 23: 1}, "bull": {24: 2, 25: 1, 26: 2},
	"lollipop(3,2)": {27: 1, 28: 1, 29: 2, 30: 1}, "cricket": {31: 2, 32: 2, 33: 1}, "cycle(5)": {34: 5}, "banner": {35: 1, 36: 1, 37: 2, 38: 1},
	"dart": {39: 1, 40: 2, 41: 1, 42: 1}, "bowtie": {43: 4, 44: 1}, "kite": {45: 1, 46: 1, 47: 1, 48: 2}, "bipartite(2,3)": {49: 3, 50: 2},
	"house": {51: 2, 52: 1, 53: 2}, "book(3)": {54: 3, 55: 2}, "lollipop(4,1)": {56: 1, 57: 3, 58: 1}, "gem": {59: 2, 60: 2, 61: 1},
	"wheel(4)_less_spoke": {62: 1, 63: 2, 64: 2}, "clique(5)_less_wedge": {65: 1, 66: 2, 67: 2}, "wheel(4)": {68: 4, 69: 1},
	"clique(5)_less_edge": {70: 2, 71: 3}, "clique(5)": {72: 5},
}

// TestOrbitsAddUp: on a larger graph the orbits of all vertices add up to the motifs that Motifs counts.
func TestOrbitsAddUp(t *testing.T) {
	for _, spec := range []gen.Spec{{Model: "ba", N: 2000, K: 6, Seed: 1}, {Model: "rmat", Scale: 10, M: 12000, Seed: 2}, {Model: "er", N: 200, P: 0.4, Seed: 3}} {
		g, err := gen.Generate(t.Context(), spec, 2)
		if err != nil {
			t.Fatal(err)
		}
		o := engine.Options{Threads: 3}
		got, err := Orbits(t.Context(), &g.Out, 5, true, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		four, err := Orbits(t.Context(), &g.Out, 4, true, o, nil)
		if err != nil || !slices.EqualFunc(four, got[:len(four)], slices.Equal) {
			t.Errorf("%v: orbits of four vertices are others with those of five, %v", spec, err)
		}
		for _, k := range []int{4, 5} {
			ps := motifs(k, true)
			counts, err := Motifs(t.Context(), &g.Out, ps, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range ps {
				if len(orbitsOf[p.Name]) == 0 {
					t.Fatalf("no orbits of %s", p.Name)
				}
				for orbit, at := range orbitsOf[p.Name] {
					n := uint64(0)
					for _, x := range got[orbit] {
						n += x
					}
					if n != counts[i].Uint64()*at {
						t.Errorf("%v: orbit %d has %d in all, and there are %v of %s", spec, orbit, n, counts[i], p.Name)
					}
				}
			}
		}
	}
}

func TestOrbitsEnd(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 500, P: 0.3, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, k := range []int{4, 5} {
		if _, err := Orbits(ctx, &g.Out, k, true, engine.Options{Threads: 2}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if _, err := Orbits(t.Context(), &g.Out, 6, true, engine.Options{Threads: 2}, nil); err == nil {
		t.Error("orbits of six vertices were counted")
	}
	if x := choose3(mostDegree); x >= 1<<63 || x < 1<<62 || choose3(4) != 4 {
		t.Error(x)
	}
	if x := choose4(mostDegree5); x >= 1<<63 || x < 1<<62 || choose4(5) != 5 {
		t.Error(x)
	}
}

// TestOrbitsOfHubs: four neighbours of a hub are chosen in numbers of 63 bits, or it is an error, as is a graph that needs more memory than allowed.
func TestOrbitsOfHubs(t *testing.T) {
	for n, want := range map[uint64]error{1e5: nil, mostDegree5 + 1: engine.ErrOverflow} {
		g, err := gen.Generate(t.Context(), gen.Spec{Model: "star", N: n}, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Orbits(t.Context(), &g.Out, 5, true, engine.Options{Threads: 2}, nil)
		if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), "has 121901 neighbours") || want == nil && (got[23][0] != choose4(n) || got[22][1] != choose3(n-1)) {
			t.Errorf("%d leaves: %v", n, err)
		}
		if _, err := Orbits(t.Context(), &g.Out, 5, true, engine.Options{Threads: 2, Memory: 1 << 20}, nil); want == nil && !errors.As(err, new(*memory.Error)) {
			t.Errorf("%d leaves in 1 MiB: %v", n, err)
		}
	}
}

// TestOrbitsOfApartHubs: the memory of the matrix of a hub's neighbours is counted, whether or not the two hubs are neighbours. All other arrays of the
// graph have a little more than 4 MiB.
func TestOrbitsOfApartHubs(t *testing.T) {
	const ring = 5000
	for _, adjacent := range []bool{true, false} {
		edges := &graph.EdgeChunk{}
		join := func(v, u uint64) { edges.Src, edges.Dst = append(edges.Src, v), append(edges.Dst, u) }
		for v := range uint64(ring) {
			join(v, (v+1)%ring)
			join(v, ring)
			join(v, ring+1)
		}
		if adjacent {
			join(ring, ring+1)
		}
		b := graph.NewBuilder(graph.BuildOptions{})
		if err := b.AddEdges(edges); err != nil {
			t.Fatal(err)
		}
		g, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		share := memory.NewAccount("the test may have").Share(1 << 30)
		if _, err = Orbits(memory.WithShare(t.Context(), share), &g.Out, 5, true, engine.Options{Threads: 2}, nil); err != nil {
			t.Fatal(err)
		}
		if least := int64(2 * ring * ring / 8); share.Taken() < 4<<20+least {
			t.Errorf("adjacent %v: %d bytes are counted, and two matrices have %d", adjacent, share.Taken(), least)
		}
	}
}
