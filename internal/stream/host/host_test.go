package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

func parse(t testing.TB, text string) *pattern.Pattern {
	t.Helper()
	q, err := gql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return q.Pattern
}

func edge(op stream.Op, u, v uint64) stream.Update {
	return stream.Update{Op: op, U: dynamic.Num(u), V: dynamic.Num(v)}
}

// clique has n vertices, and all edges but the one between 0 and 1.
func clique(t *testing.T, n uint64) *dynamic.Graph {
	g := dynamic.New(false, false)
	for v := range n {
		for u := range v {
			if v > 1 {
				if _, err := g.AddEdge(dynamic.Num(u), dynamic.Num(v), dynamic.NoLabel); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return g
}

// lines is a sink that keeps deltas as texts.
type lines struct {
	out  []string
	stop func(n int) error // asked with the number of deltas so far
}

func (x *lines) Emit(ds []nest.Delta) error {
	for _, d := range ds {
		x.out = append(x.out, fmt.Sprint(d.Seq, d.Watch, d.Sign, d.Vertices, d.Edges))
	}
	if x.stop != nil {
		return x.stop(len(x.out))
	}
	return nil
}

// TestShared compares the deltas of one update that is shared among workers with those that one worker finds.
func TestShared(t *testing.T) {
	const n = 24
	batch := []stream.Update{edge(stream.AddEdge, 0, 1), edge(stream.RemoveEdge, 2, 3)}
	var want []string
	for _, workers := range []int{1, 2, 4} {
		m := New(clique(t, n), Options{Workers: workers})
		m.grain.ticks, m.grain.keptWords = 64, 100
		for _, text := range []string{"MATCH clique(5)", "MATCH REPEATABLE ELEMENTS (a)--(b)--(c)--(a)"} {
			if _, err := m.Add(text, parse(t, text), nest.WatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Add("count", parse(t, "MATCH clique(5)"), nest.WatchOptions{CountsOnly: true}); err != nil {
			t.Fatal(err)
		}
		got := &lines{}
		res, err := m.Apply(context.Background(), batch, got)
		if err != nil {
			t.Fatal(err)
		}
		if workers > 1 && m.run.begins == 0 {
			t.Errorf("%d workers: one did all", workers)
		}
		if workers == 1 {
			want = got.out
		}
		if !slices.Equal(got.out, want) {
			t.Errorf("%d workers: other deltas than of one worker", workers)
		}
		before := len(m.workers)
		for range 3 {
			back := []stream.Update{edge(stream.AddEdge, 2, 3), edge(stream.RemoveEdge, 0, 1), edge(stream.AddEdge, 0, 1), edge(stream.RemoveEdge, 2, 3)}
			if _, err := m.Apply(context.Background(), back, &lines{}); err != nil {
				t.Fatal(err)
			}
		}
		if most := before + 4*workers; len(m.workers) > most {
			t.Errorf("%d workers: %d searchers after few batches", workers, len(m.workers))
		}
		// Cliques with a given edge: the other three vertices are any.
		cliques := engine.U64((n - 2) * (n - 3) * (n - 4) / 6)
		for _, i := range []int{0, 2} {
			if c := res.Counts[i]; c.Added != cliques || c.Removed != cliques {
				t.Errorf("%d workers: %v, want %v added and removed", workers, c, cliques)
			}
		}
	}
}

// TestEnds ends a batch by an error of the sink, and by its context. The matcher is sound afterwards.
func TestEnds(t *testing.T) {
	refused := errors.New("the sink is full")
	for _, workers := range []int{1, 3} {
		for _, cut := range []bool{false, true} {
			g := clique(t, 24)
			m := New(g, Options{Workers: workers})
			m.grain.ticks, m.grain.keptWords = 64, 100
			if _, err := m.Add("q", parse(t, "MATCH clique(5)"), nest.WatchOptions{}); err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancelCause(context.Background())
			sink := &lines{stop: func(int) error {
				if cut {
					end(refused)
					return nil
				}
				return refused
			}}
			if _, err := m.Apply(ctx, []stream.Update{edge(stream.AddEdge, 0, 1)}, sink); !errors.Is(err, refused) {
				t.Errorf("%d workers, context %v: %v", workers, cut, err)
			}
			if len(sink.out) == 0 || len(sink.out) >= 22*21*20/6 {
				t.Errorf("%d workers, context %v: %d deltas", workers, cut, len(sink.out))
			}
			res, err := m.Apply(context.Background(), []stream.Update{edge(stream.RemoveEdge, 0, 1)}, nil)
			if err != nil || len(res.Counts) != 1 || res.Counts[0].Removed != engine.U64(22*21*20/6) {
				t.Errorf("%d workers, context %v: %v, %v afterwards", workers, cut, res, err)
			}
		}
	}
}

// TestWrongUpdate checks that the updates before a wrong one are made and matched.
func TestWrongUpdate(t *testing.T) {
	m := New(dynamic.New(false, false), Options{})
	if _, err := m.Add("q", parse(t, "MATCH (a)--(b)"), nest.WatchOptions{}); err != nil {
		t.Fatal(err)
	}
	bad := stream.Update{U: dynamic.Text("x"), V: dynamic.Num(1)}
	got := &lines{}
	res, err := m.Apply(context.Background(), []stream.Update{edge(stream.AddEdge, 1, 2), edge(stream.AddEdge, 1, 2), bad, edge(stream.AddEdge, 3, 4)}, got)
	var at *nest.UpdateError
	if !errors.As(err, &at) || at.Index != 2 || !errors.Is(err, dynamic.ErrID) {
		t.Errorf("error %v", err)
	}
	if res.Updates != 2 || res.Outcomes.Applied != 1 || res.Outcomes.Duplicates != 1 || len(got.out) != 1 || m.Seq() != 2 {
		t.Errorf("%+v, %v, update %d", res, got.out, m.Seq())
	}
}

// TestWatches adds and drops watches while updates go on.
func TestWatches(t *testing.T) {
	ctx := context.Background()
	m := New(dynamic.New(true, false), Options{Workers: 2})
	if _, err := m.Add("a", parse(t, "MATCH (x)-->(y)"), nest.WatchOptions{Emit: nest.Added}); err != nil {
		t.Fatal(err)
	}
	var query *plan.QueryError
	if _, err := m.Add("a", parse(t, "MATCH (x)-->(y)"), nest.WatchOptions{}); !errors.As(err, &query) {
		t.Errorf("the same name: %v", err)
	}
	if _, err := m.Add("b", parse(t, "MATCH (x)-[*1..2]->(y)"), nest.WatchOptions{}); !errors.As(err, &query) {
		t.Errorf("an edge of variable length: %v", err)
	}
	m.SetSeq(100)
	sink := &lines{}
	apply := func(us ...stream.Update) {
		t.Helper()
		if _, err := m.Apply(ctx, us, sink); err != nil {
			t.Fatal(err)
		}
	}
	apply(edge(stream.AddEdge, 1, 2), edge(stream.AddEdge, 2, 3))
	if id, err := m.Add("b", parse(t, "MATCH (x)-->(y)-->(z)"), nest.WatchOptions{Emit: nest.Removed}); err != nil || id != 1 {
		t.Fatal(id, err)
	}
	if n, err := m.Present(ctx, "b", sink); err != nil || n != engine.U64(1) {
		t.Fatal(n, err)
	}
	if _, err := m.Present(ctx, "c", sink); err == nil {
		t.Error("an unknown watch has present matches")
	}
	apply(edge(stream.RemoveEdge, 1, 2), edge(stream.AddEdge, 1, 2))
	if err := m.Drop("a"); err != nil {
		t.Fatal(err)
	}
	if err := m.Drop("a"); err == nil {
		t.Error("a watch is dropped twice")
	}
	apply(edge(stream.RemoveEdge, 2, 3), edge(stream.AddEdge, 2, 3))
	want := []string{
		"101 0 1 [0 1] []", "102 0 1 [1 2] []", // a is about added matches
		"102 1 1 [0 1 2] []", // b begins with the present ones
		"103 1 -1 [0 1 2] []", "104 0 1 [0 1] []",
		"105 1 -1 [0 1 2] []", // a is gone
	}
	if !slices.Equal(sink.out, want) {
		t.Errorf("deltas %q, want %q", sink.out, want)
	}
}

// TestInsideTwice changes an edge that is at two places of EXISTS. A removed one is there only before the update.
func TestInsideTwice(t *testing.T) {
	for _, text := range []string{
		"MATCH REPEATABLE ELEMENTS (a:A)--(b:B) WHERE NOT EXISTS { (a)-->(z)<--(y) }",
		"MATCH (a:A)--(b:B) WHERE NOT EXISTS { REPEATABLE ELEMENTS (a)-->(z)<--(y) }",
	} {
		m := New(dynamic.New(true, false), Options{})
		if _, err := m.Add("q", parse(t, text), nest.WatchOptions{}); err != nil {
			t.Fatal(err)
		}
		vertex := func(v uint64, label string) stream.Update {
			return stream.Update{Op: stream.AddVertex, U: dynamic.Num(v), Labels: []string{label}}
		}
		got := &signs{}
		batch := []stream.Update{vertex(1, "A"), vertex(2, "B"), edge(stream.AddEdge, 2, 1), edge(stream.AddEdge, 1, 3), edge(stream.RemoveEdge, 1, 3)}
		if _, err := m.Apply(context.Background(), batch, got); err != nil {
			t.Fatal(err)
		}
		if want := (signs{{3, 1}, {4, -1}, {5, 1}}); !slices.Equal(*got, want) {
			t.Errorf("%s: updates and signs %v, want %v", text, *got, want)
		}
	}
}

// TestOnePattern watches one pattern twice, whose EXISTS have conditions on edges that must not be taken for each other's.
func TestOnePattern(t *testing.T) {
	q := parse(t, "MATCH (a:A)--(b:B) WHERE EXISTS { (a)-[WHERE _.w = 1]->(z) } AND EXISTS { (a)-[WHERE _.w = 2]->(z), (b)-->(z) }")
	for range 20 {
		g := dynamic.New(true, false)
		m := New(g, Options{})
		for _, name := range []string{"one", "two"} {
			if _, err := m.Add(name, q, nest.WatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		of := func(x stream.Update, w int64) stream.Update {
			x.Properties = []stream.Property{{Name: "w", Value: dynamic.OfInt(w)}}
			return x
		}
		batch := []stream.Update{
			{Op: stream.AddVertex, U: dynamic.Num(1), Labels: []string{"A"}}, {Op: stream.AddVertex, U: dynamic.Num(2), Labels: []string{"B"}},
			of(edge(stream.AddEdge, 1, 2), 3), of(edge(stream.AddEdge, 2, 3), 3), of(edge(stream.AddEdge, 1, 4), 1), of(edge(stream.AddEdge, 1, 3), 2),
		}
		got := &signs{}
		if _, err := m.Apply(context.Background(), batch, got); err != nil {
			t.Fatal(err)
		}
		if want := (signs{{6, 1}, {6, 1}}); !slices.Equal(*got, want) {
			t.Fatalf("updates and signs %v, want %v", *got, want)
		}
	}
}

// signs is a sink that keeps the updates and signs of deltas.
type signs [][2]int

func (x *signs) Emit(ds []nest.Delta) error {
	for _, d := range ds {
		*x = append(*x, [2]int{int(d.Seq), int(d.Sign)})
	}
	return nil
}

// TestLittleMemory checks that updates which concern no watch allocate nothing in the search.
func TestLittleMemory(t *testing.T) {
	g := clique(t, 10)
	m := New(g, Options{Workers: 1})
	if _, err := m.Add("q", parse(t, "MATCH (:A)--(:B)--(:A)"), nest.WatchOptions{}); err != nil {
		t.Fatal(err)
	}
	var batch []stream.Update
	for range 1000 {
		batch = append(batch, edge(stream.RemoveEdge, 2, 3), edge(stream.AddEdge, 2, 3))
	}
	allocs := func(n int) float64 {
		return testing.AllocsPerRun(10, func() {
			if _, err := m.Apply(context.Background(), batch[:n], nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(2), allocs(len(batch)); few != many {
		t.Errorf("2 updates allocate %v times, and %d do %v times", few, len(batch), many)
	}
}

// apply makes n updates by do, and matches them.
func (m *Matcher) apply(ctx context.Context, n int, do func(i int) (dynamic.Result, error), sink nest.Sink) (nest.Result, error) {
	i := 0
	return m.Steps(ctx, func() (done dynamic.Result, ok bool, err error) {
		if ok = i < n; ok {
			done, err = do(i)
			i++
		}
		return done, ok, err
	}, sink)
}

// TestManyInTime: within a window, a search looks at few of many edges between the same vertices, also in the graph as it is.
func TestManyInTime(t *testing.T) {
	g := dynamic.New(true, false)
	const n = 3000
	for i := range int64(n) {
		for v := range uint64(3) {
			if _, err := g.AddEdgeAt(dynamic.Num(v), dynamic.Num(v+1), dynamic.NoLabel, 10*i+int64(v)); err != nil {
				t.Fatal(err)
			}
		}
	}
	m := New(g, Options{Workers: 1})
	if _, err := m.Add("q", parse(t, "MATCH (a)-[e]->(b)-[f]->(c)-[g]->(d) ORDERED e < f < g WITHIN 5"), nest.WatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if k, err := m.Present(t.Context(), "q", nil); err != nil || k != engine.U64(n) {
		t.Errorf("%v present matches, %v; want %d", k, err, n)
	}
	res, err := m.apply(t.Context(), 1, func(int) (dynamic.Result, error) {
		return g.RemoveEdgeAt(dynamic.Num(1), dynamic.Num(2), dynamic.NoLabel, 10*n/2+1)
	}, nil)
	if err != nil || len(res.Counts) != 1 || res.Counts[0].Removed != engine.U64(1) {
		t.Errorf("an edge goes: %v, %v", res.Counts, err)
	}
}

// TestWindow checks that a bound in time keeps the search away from edges outside it.
func TestWindow(t *testing.T) {
	g := dynamic.New(true, false)
	const old = 5000
	for i := range uint64(old) {
		if _, err := g.AddEdgeAt(dynamic.Num(10+i), dynamic.Num(1), dynamic.NoLabel, int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	for bound, want := range map[int]uint64{10: 10, 2 * old: old} {
		m := New(g, Options{Workers: 1})
		q := parse(t, fmt.Sprintf("MATCH (a)-[x]->(h)-[y]->(c) ORDERED x < y WITHIN %d", bound))
		if _, err := m.Add("q", q, nest.WatchOptions{Emit: nest.Added}); err != nil {
			t.Fatal(err)
		}
		res, err := m.apply(context.Background(), 1, func(int) (dynamic.Result, error) {
			return g.AddEdgeAt(dynamic.Num(1), dynamic.Num(2), dynamic.NoLabel, old)
		}, nil)
		if err != nil || len(res.Counts) != 1 || res.Counts[0].Added != engine.U64(want) {
			t.Errorf("within %d: %v, %v; want %d", bound, res.Counts, err, want)
		}
		if steps := m.workers[0].steps; uint64(steps) > want+10 {
			t.Errorf("within %d: %d steps for %d matches", bound, steps, want)
		}
		if _, err := g.RemoveEdgeAt(dynamic.Num(1), dynamic.Num(2), dynamic.NoLabel, old); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTail compares counts by the sizes of sets with listings.
func TestTail(t *testing.T) { tails(t, 60, nil) }

// tails is TestTail, with a device if some is given.
func tails(t *testing.T, rounds int, device func(g *dynamic.Graph) nest.Device) {
	kinds := map[nest.Tail]bool{}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{
		"MATCH star(4)", "MATCH star(5)", "MATCH bipartite(2,3)", "MATCH (a)--(b)--(c:A), (b)--(d)--(a)", "MATCH path(5)",
		"MATCH (a)--(b)--(c)--(a), (a)--(d), (b)--(e)", "MATCH REPEATABLE ELEMENTS (a)--(b), (a)--(c), (a)--(d)",
	} {
		g := dynamic.New(false, false)
		for v := range uint64(12) {
			if _, err := g.AddVertex(dynamic.Num(v), g.Class([]string{"A", "B"}[v%2])); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{Workers: 2}
		if device != nil {
			o.Device = device(g)
		}
		m := New(g, o)
		for _, o := range []nest.WatchOptions{{}, {CountsOnly: true}} {
			if _, err := m.Add(fmt.Sprint(o.CountsOnly), parse(t, text), o); err != nil {
				t.Fatal(err)
			}
		}
		for i := range m.List[1].Nests {
			kinds[m.List[1].Nests[i].Tail] = true
		}
		kinds[m.List[1].All.Tail] = true
		some := 0
		for range rounds {
			var batch []stream.Update
			for range rnd.IntN(max(6, 144/rounds)) {
				op := []stream.Op{stream.AddEdge, stream.AddEdge, stream.RemoveEdge}[rnd.IntN(3)]
				batch = append(batch, edge(op, rnd.Uint64N(12), rnd.Uint64N(12)))
			}
			res, err := m.Apply(context.Background(), batch, &lines{})
			if err != nil {
				t.Fatal(err)
			}
			var of [2]nest.Count
			for _, c := range res.Counts {
				of[c.Watch] = nest.Count{Added: c.Added, Removed: c.Removed}
				some++
			}
			if of[0] != of[1] {
				t.Fatalf("%s: listed %v, counted %v", text, of[0], of[1])
			}
			a, err := m.Present(context.Background(), "false", &lines{})
			if err != nil {
				t.Fatal(err)
			}
			if b, err := m.Present(context.Background(), "true", nil); err != nil || a != b {
				t.Fatalf("%s: %v present, %v counted, %v", text, a, b, err)
			}
		}
		if some == 0 {
			t.Errorf("%s: nothing changed", text)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, k := range []nest.Tail{nest.NoTail, nest.Free, nest.Distinct, nest.Ordered} {
		if !kinds[k] {
			t.Errorf("no nest has the tail %d", k)
		}
	}
}

// TestFilter compares both ways to filter a list with a simple one.
func TestFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, most int) []uint32 {
			l := rapid.SliceOfNDistinct(rapid.Uint32Range(0, 40), 0, most, rapid.ID[uint32]).Draw(t, name)
			slices.Sort(l)
			return l
		}
		x, y, not := draw("x", 20), draw("y", 40), rapid.Bool().Draw(t, "not")
		want := slices.DeleteFunc(slices.Clone(x), func(c uint32) bool { return slices.Contains(y, c) == not })
		if got := filter(slices.Clone(x), y, not); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if got := merged(slices.Clone(x), y, not); !slices.Equal(got, want) {
			t.Fatalf("merged: %v, want %v", got, want)
		}
	})
}

// TestClock: the times of a batch are those of its parts, also where one worker measures a part of the changes.
func TestClock(t *testing.T) {
	for _, workers := range []int{1, 2} {
		g := clique(t, 40)
		m := New(g, Options{Workers: workers})
		if _, err := m.Add("q", parse(t, "MATCH clique(4)"), nest.WatchOptions{CountsOnly: true}); err != nil {
			t.Fatal(err)
		}
		var update, match time.Duration
		start := time.Now()
		for i := range 300 {
			op := stream.RemoveEdge
			if i%2 == 1 {
				op = stream.AddEdge
			}
			begun := time.Now()
			r, err := m.Apply(context.Background(), []stream.Update{edge(op, 0, 1)}, nil)
			if err != nil || r.Updates != 1 {
				t.Fatal(r, err)
			}
			if took := time.Since(begun); r.Update < 0 || r.Match < 0 || r.Update+r.Match > took {
				t.Fatalf("%d workers: %v and %v of %v", workers, r.Update, r.Match, took)
			}
			update, match = update+r.Update, match+r.Match
		}
		took := time.Since(start)
		if match == 0 || update+match < took/4 {
			t.Errorf("%d workers: %v for changes and %v for matches of %v", workers, update, match, took)
		}
	}
}

// TestValueOfNeighbour changes the value of a vertex that only EXISTS asks for, of matches in which two vertices of the pattern are the first vertex of the graph: no
// edge changes, so none finds the match before.
func TestValueOfNeighbour(t *testing.T) {
	g := dynamic.New(false, false)
	key, err := g.VertexKey("x", arrow.PrimitiveTypes.Int64)
	if err != nil {
		t.Fatal(err)
	}
	for id, labels := range [][]string{nil, nil, {"A"}, nil} {
		if _, err := g.AddVertex(dynamic.Num(uint64(id)), g.Class(labels...)); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []uint64{0, 1, 3} {
		if _, err := g.AddEdge(dynamic.Num(v), dynamic.Num(2), dynamic.NoLabel); err != nil {
			t.Fatal(err)
		}
	}
	m := New(g, Options{Workers: 1})
	m.SetSeq(0)
	p := parse(t, "MATCH REPEATABLE ELEMENTS (a)--(c:A), (b), NOT (a)--(b) WHERE EXISTS { MATCH (c)--(z) WHERE z.x <> 1 }")
	if _, err := m.Add("q", p, nest.WatchOptions{}); err != nil {
		t.Fatal(err)
	}
	set := func(value dynamic.Value) nest.Count {
		done := false
		r, err := m.Steps(t.Context(), func() (dynamic.Result, bool, error) {
			if done {
				return 0, false, nil
			}
			done = true
			res, err := g.SetVertex(dynamic.Num(1), dynamic.Property{Key: key, Value: value})
			return res, true, err
		}, nil)
		if err != nil || len(r.Counts) != 1 {
			t.Fatal(r, err)
		}
		return r.Counts[0]
	}
	if c := set(dynamic.OfInt(0)); c.Added.Lo != 9 || c.Removed.Lo != 0 {
		t.Errorf("a value that fits adds %v and removes %v matches, want 9 and 0", c.Added, c.Removed)
	}
	if c := set(dynamic.Value{}); c.Added.Lo != 0 || c.Removed.Lo != 9 {
		t.Errorf("no value adds %v and removes %v matches, want 0 and 9", c.Added, c.Removed)
	}
}
