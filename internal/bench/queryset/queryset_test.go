package queryset

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// small is a graph with labels of vertices and edges, and with parallel edges.
func small(t *testing.T, directed, edgeLabels bool) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.BuildOptions{Directed: directed})
	e := &graph.EdgeChunk{}
	labels := &graph.StringColumn{Off: []uint32{0}}
	for u := range uint64(40) {
		for i, step := range []uint64{1, 3, 7, 1} {
			e.Src, e.Dst = append(e.Src, u), append(e.Dst, (u*step+step+uint64(i))%40)
			labels.Bytes = append(labels.Bytes, "abcd"[(u+uint64(i))%4])
			labels.Off = append(labels.Off, uint32(len(labels.Bytes)))
		}
	}
	if edgeLabels {
		e.Label = labels
	}
	v := &graph.VertexChunk{}
	for u := range uint64(40) {
		v.ID = append(v.ID, u)
		v.Labels = append(v.Labels, [][]string{nil, {"X"}, {"X", "Y Z"}}[u%3])
	}
	if err := errors.Join(b.AddEdges(e), b.AddVertices(v)); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func parse(t *testing.T, text string) *pattern.Pattern {
	t.Helper()
	q, err := gql.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q.Pattern
}

// TestDraw: queries of a set differ up to names, have the size or the shape that the set is called
// by, and have labels and directions as the graph does.
func TestDraw(t *testing.T) {
	for _, kind := range []struct{ directed, labelled bool }{{true, true}, {false, true}, {true, false}} {
		g := small(t, kind.directed, kind.labelled)
		for i, name := range Names() {
			s, err := Draw(t.Context(), g, name, 5, 3)
			if err != nil || s.Name != name {
				t.Fatalf("%s: %v %v", name, s, err)
			}
			if len(s.Queries) == 0 && kind.directed == kind.labelled {
				t.Errorf("%s has no query", name)
			}
			var seen []string
			for _, text := range s.Queries {
				p := parse(t, text)
				if key := p.Canonical(); slices.Contains(seen, key) {
					t.Errorf("%s has %s twice", name, text)
				} else {
					seen = append(seen, key)
				}
				vertices, edges := 0, 0
				if i < len(walkSizes) {
					vertices = walkSizes[i]
				} else if i >= len(Usual()) {
					vertices = longSizes[i-len(Usual())]
				} else {
					shape := shapes[i-len(walkSizes)]
					edges = len(shape.edges)
					for _, e := range shape.edges {
						vertices = max(vertices, e[0]+1, e[1]+1)
					}
				}
				if len(p.Vertices) != vertices || edges > 0 && len(p.Edges) != edges {
					t.Errorf("%s: %s has %d vertices and %d edges", name, text, len(p.Vertices), len(p.Edges))
				}
				for _, e := range p.Edges {
					if (e.Dir == pattern.Forward) != kind.directed || (e.Label != nil) != kind.labelled {
						t.Errorf("%s: %s", name, text)
					}
				}
				withLabels := strings.Contains(text, "X")
				if walk := i < len(walkSizes) || i >= len(Usual()); withLabels && !walk && kind.labelled {
					t.Errorf("%s: %s has labels of vertices", name, text)
				}
			}
		}
	}
}

// TestSeed: a seed gives the same queries, and another seed gives others.
func TestSeed(t *testing.T) {
	g := small(t, true, true)
	draw := func(seed uint64) string {
		s, err := Draw(t.Context(), g, "walk6", 3, seed)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(s.Queries, "\n")
	}
	const want = "MATCH (v0:X&`Y Z`)-[:c]->(v1)<-[:a]-(v2:X)<-[:d]-(v3:X&`Y Z`)<-[:b]-(v4:X)<-[:a]-(v1), (v4)<-[:a]-(v5:X)\n" +
		"MATCH (v0:X&`Y Z`)-[:c]->(v1)<-[:c]-(v2:X&`Y Z`)-[:d]->(v3:X&`Y Z`)-[:d]->(v4)-[:d]->(v5:X)\n" +
		"MATCH (v0:X&`Y Z`)-[:d]->(v1:X&`Y Z`), (v0)-[:a]->(v2:X)<-[:c]-(v3)<-[:a]-(v4:X&`Y Z`)-[:b]->(v5)"
	if got := draw(1); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if draw(2) == want {
		t.Error("the seed does not matter")
	}
}

// TestFewer: a graph with few queries gives few, and one without vertices none.
func TestFewer(t *testing.T) {
	for _, pairs := range [][][2]uint32{{{0, 1}, {1, 2}, {2, 0}}, nil} {
		g := graph.FromEdges(len(pairs), pairs, true)
		for name, most := range map[string]int{"P2": 1, "Tr1": 1, "Tr2": 0, "walk4": 0} {
			s, err := Draw(t.Context(), g, name, 0, 1)
			if want := min(most, len(pairs)); err != nil || len(s.Queries) != want {
				t.Errorf("%s of %d edges: %v %v, want %d", name, len(pairs), s, err, want)
			}
		}
	}
}

func TestDrawErrors(t *testing.T) {
	g := graph.FromEdges(3, [][2]uint32{{0, 1}}, true)
	if _, err := Draw(t.Context(), g, "walk5", 1, 1); err == nil || !strings.Contains(err.Error(), `"walk5"`) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Draw(ctx, g, "walk4", 1, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
