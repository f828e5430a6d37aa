package split

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/stream"
)

// edges are a graph's edges as updates, sorted.
func edges(t *testing.T, g *graph.Graph) []string {
	t.Helper()
	s, err := New(t.Context(), g, Spec{Insert: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := updates(t, s)
	slices.Sort(l)
	return l
}

// updates are the updates of a split as objects.
func updates(t *testing.T, s *Split) (l []string) {
	t.Helper()
	err := s.Each(t.Context(), func(u *stream.Update) error {
		if !s.g.Directed && u.U.String() > u.V.String() {
			u.U, u.V = u.V, u.U
		}
		b, err := stream.Append(nil, u, stream.NDJSON)
		l = append(l, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// rich returns a graph with text ids, labels, times, properties and parallel edges.
func rich(t *testing.T, directed bool) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.BuildOptions{Directed: directed, KeepDuplicates: true})
	column := func(s ...string) *graph.StringColumn {
		c := &graph.StringColumn{Off: []uint32{0}}
		for _, x := range s {
			c.Bytes = append(c.Bytes, x...)
			c.Off = append(c.Off, uint32(len(c.Bytes)))
		}
		return c
	}
	w := array.NewFloat64Builder(memory.DefaultAllocator)
	e := &graph.EdgeChunk{SrcStr: column(), DstStr: column(), Label: column()}
	for i := range 60 {
		add := func(c *graph.StringColumn, s string) {
			c.Bytes = append(c.Bytes, s...)
			c.Off = append(c.Off, uint32(len(c.Bytes)))
		}
		add(e.SrcStr, fmt.Sprintf("v%d", i%10))
		add(e.DstStr, fmt.Sprintf("v%d", (i*3+1)%11))
		add(e.Label, []string{"", "A", "B"}[i%3])
		e.Time = append(e.Time, int64(i*7%50))
		if i%4 == 0 {
			w.AppendNull()
		} else {
			w.Append(float64(i) / 2)
		}
	}
	e.Props = array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "w", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil), []arrow.Array{w.NewArray()}, 60)
	age := array.NewInt64Builder(memory.DefaultAllocator)
	age.AppendValues([]int64{7, 8}, nil)
	v := &graph.VertexChunk{IDStr: column("v1", "lonely"), Labels: [][]string{{"P"}, {"P", "Q"}},
		Props: array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "age", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil), []arrow.Array{age.NewArray()}, 2)}
	if err := errors.Join(b.AddVertices(v), b.AddEdges(e)); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// vertices are a graph's vertices with their labels and properties, sorted.
func vertices(g *graph.Graph) (l []string) {
	for v := range uint32(g.NumVertices()) {
		s := g.IDs.String(v)
		for _, x := range g.Classes[g.ClassOf(v)].Labels {
			s += " " + g.VertexLabels[x]
		}
		if g.VertexProps != nil {
			s += " " + g.VertexProps.Column(0).ValueStr(int(v))
		}
		l = append(l, s)
	}
	slices.Sort(l)
	return l
}

// TestLaw: the initial graph has all vertices, and its edges and those that are added are the graph's, each once. Those that are removed are of the
// initial graph. The numbers are those of the shares, and the same seed gives the same updates.
func TestLaw(t *testing.T) {
	er, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 50, M: 301, Seed: 1, EdgeLabels: 3, VertexLabels: 2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer er.Close()
	plain := graph.FromEdges(9, [][2]uint32{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 8}}, true)
	defer plain.Close()
	none := graph.FromEdges(3, nil, false)
	defer none.Close()
	for name, g := range map[string]*graph.Graph{"er": er, "plain": plain, "none": none, "rich": rich(t, false), "rich, directed": rich(t, true)} {
		for _, spec := range []Spec{{Insert: 0.1, Delete: 0.2}, {Insert: 1}, {Delete: 1}, {}, {Insert: 0.5, Delete: 0.5, Seed: 7}, {Insert: 0.3, Delete: 0.1, ByTime: true}} {
			if spec.ByTime && !strings.HasPrefix(name, "rich") {
				continue
			}
			t.Run(fmt.Sprintf("%s %+v", name, spec), func(t *testing.T) {
				s, err := New(t.Context(), g, spec)
				if err != nil {
					t.Fatal(err)
				}
				first, err := s.Initial(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				defer first.Close()
				if a, b := vertices(first), vertices(g); !slices.Equal(a, b) {
					t.Errorf("vertices %q, want %q", a, b)
				}
				has := edges(t, first)
				left := slices.Clone(has)
				all := updates(t, s)
				times := []string{}
				for _, u := range all {
					if rest, ok := strings.CutPrefix(u, `{"op":"-"`); ok {
						// An update that removes an edge has no properties.
						i := slices.IndexFunc(left, func(e string) bool {
							return strings.HasPrefix(e, `{"op":"+"`+strings.TrimSuffix(rest, "}\n"))
						})
						if i < 0 {
							t.Fatalf("%s is not an edge of the initial graph", u)
						}
						left = slices.Delete(left, i, i+1)
						continue
					}
					has = append(has, u)
					times = append(times, u)
				}
				slices.Sort(has)
				if want := edges(t, g); !slices.Equal(has, want) {
					t.Errorf("edges %q, want %q", has, want)
				}
				m := float64(g.NumEdges())
				adds, removes := s.Len()
				if adds != uint64(spec.Insert*m+0.5) || float64(removes) < spec.Delete*m-1 || float64(removes) > spec.Delete*m+1 || adds+removes != uint64(len(all)) {
					t.Errorf("%d and %d of %v edges", adds, removes, m)
				}
				if spec.ByTime {
					time := func(u string) (x int) {
						_, u, _ = strings.Cut(u, `"time":`)
						_, _ = fmt.Sscan(strings.FieldsFunc(u, func(r rune) bool { return r == ',' || r == '}' })[0], &x)
						return x
					}
					if !slices.IsSortedFunc(times, func(a, b string) int { return time(a) - time(b) }) {
						t.Errorf("not in the order of times: %q", times)
					}
					for _, u := range edges(t, first) {
						if len(times) > 0 && time(u) > time(times[0]) {
							t.Errorf("%s is later than the first update", u)
						}
					}
				}
				again, err := New(t.Context(), g, spec)
				if err != nil {
					t.Fatal(err)
				}
				if b := updates(t, again); !slices.Equal(all, b) {
					t.Errorf("the same seed gives other updates")
				}
			})
		}
	}
}

// TestSeed fixes updates: another version of weft must give the same.
func TestSeed(t *testing.T) {
	g := graph.FromEdges(6, [][2]uint32{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {0, 2}, {1, 3}}, true)
	defer g.Close()
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Insert: 0.25, Delete: 0.25}, "- 0 2; + 5 0; + 0 1; - 1 3"},
		{Spec{Insert: 0.25, Delete: 0.25, Seed: 1}, "- 0 1; + 4 5; - 1 2; + 3 4"},
		{Spec{Insert: 0.5, Rate: 2, Batch: 2, Start: 100}, "+ 1 3 _ 100; + 0 2 _ 100; + 0 1 _ 1000100; + 5 0 _ 1000100"},
		{Spec{Insert: 0.5, Rate: 2, Poisson: true}, "+ 1 3 _ 846975; + 0 2 _ 1533053; + 0 1 _ 1796543; + 5 0 _ 2222131"},
	} {
		s, err := New(t.Context(), g, c.spec)
		if err != nil {
			t.Fatal(err)
		}
		var b []byte
		if err := s.Each(t.Context(), func(u *stream.Update) (err error) { b, err = stream.Append(b, u, stream.Lines); return err }); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", "; "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.spec, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	g := graph.FromEdges(3, [][2]uint32{{0, 1}, {1, 2}}, false)
	defer g.Close()
	timed := rich(t, true)
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	for _, c := range []struct {
		g    *graph.Graph
		spec Spec
		want string
	}{
		{g, Spec{Insert: 0.6, Delete: 0.5}, "0.6 and 0.5"},
		{g, Spec{Insert: -0.1}, "-0.1 and 0"},
		{g, Spec{ByTime: true}, "the graph has no times"},
		{g, Spec{Rate: -1}, "-1 updates in a second"},
		{timed, Spec{Rate: 1}, "times of the graph's edges"},
	} {
		if _, err := New(t.Context(), c.g, c.spec); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.spec, err)
		}
	}
	slow, err := New(t.Context(), g, Spec{Insert: 1, Rate: 1e-15})
	if err != nil {
		t.Fatal(err)
	}
	if err := slow.Each(t.Context(), func(*stream.Update) error { return nil }); !errors.Is(err, ErrSpec) {
		t.Error(err)
	}
	if err := slow.Each(ended, func(*stream.Update) error { return nil }); err != context.DeadlineExceeded {
		t.Error(err)
	}
	if _, err := slow.Initial(ended, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
