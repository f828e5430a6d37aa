package fine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// always is an engine with some options set in every run.
type always struct {
	engine.Engine
	opt map[string]string
}

func (a always) with(o engine.Options) engine.Options {
	opt := maps.Clone(a.opt)
	maps.Copy(opt, o.Opt)
	o.Opt = opt
	return o
}

func (a always) Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	return a.Engine.Prepare(ctx, g, p, a.with(o))
}

// TestIndexAgreesWithOracle compares random plans over their candidate graph with
// the oracle.
func TestIndexAgreesWithOracle(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		for _, index := range []string{"bitmap", "hash"} {
			t.Run(index, func(t *testing.T) {
				nodiff.Check(t, nodiff.Config{
					Engine: always{e, map[string]string{"fine.index": index}}, Compile: nest, MaxVertices: 10, MaxPattern: 6, Patterns: suited, Columns: nodiff.SimpleLabelled,
					Opt: map[string]string{"fine.pool": "8", "fine.batch": "off"},
				})
			})
		}
	})
}

// suited are patterns of which most may have a candidate graph: several vertices, without names of edges and conditions. Some are any patterns.
func suited(s *nodiff.Spec, most int) *rapid.Generator[*pattern.Pattern] {
	several := rapid.OneOf(nodiff.Loose(s, most), nodiff.Labelled(s, most))
	if most > 1 && s.N > 1 {
		several = several.Filter(func(p *pattern.Pattern) bool { return len(p.Vertices) > 1 })
	}
	return rapid.OneOf(several, several, several, several, nodiff.Patterns(s, most))
}

// cut is a random connected part of a graph as a pattern with its labels, less
// some of its edges.
func cut(rng *rand.Rand, s *nodiff.Spec, n int) *pattern.Pattern {
	near := make([][]int, s.N)
	for _, e := range s.Edges {
		near[e.U] = append(near[e.U], e.V)
		near[e.V] = append(near[e.V], e.U)
	}
	at := map[int]int{}
	p := &pattern.Pattern{}
	add := func(v int) int {
		if i, ok := at[v]; ok {
			return i
		}
		at[v] = len(p.Vertices)
		p.Vertices = append(p.Vertices, pattern.Vertex{Label: &pattern.Label{Op: pattern.LabelName, Name: s.Labels[v][0]}})
		return at[v]
	}
	v := rng.IntN(s.N)
	for len(near[v]) == 0 {
		v = rng.IntN(s.N)
	}
	joined := map[[2]int]bool{}
	join := func(i, j int) {
		if !joined[[2]int{i, j}] {
			joined[[2]int{i, j}], joined[[2]int{j, i}] = true, true
			p.Edges = append(p.Edges, pattern.Edge{From: i, To: j, Min: 1, Max: 1})
		}
	}
	add(v)
	for steps := 0; len(p.Vertices) < n && steps < 20*n; steps++ {
		w := near[v][rng.IntN(len(near[v]))]
		if _, ok := at[w]; !ok {
			join(at[v], add(w))
		}
		if v = w; rng.IntN(3) == 0 {
			for u := range at {
				v = min(v, u)
			}
		}
	}
	for _, e := range s.Edges {
		i, ok := at[e.U]
		j, ok2 := at[e.V]
		if ok && ok2 && rng.IntN(3) > 0 {
			join(i, j)
		}
	}
	return p
}

// labelledGraph has some hubs.
func labelledGraph(seed uint64, n, edges, labels int) *nodiff.Spec {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &nodiff.Spec{N: n}
	for range n {
		s.Labels = append(s.Labels, []string{string(rune('A' + rng.IntN(labels)))})
	}
	has := map[[2]int]bool{}
	for len(s.Edges) < edges {
		u, v := rng.IntN(n), rng.IntN(1+rng.IntN(n))
		if u != v && !has[[2]int{u, v}] {
			has[[2]int{u, v}], has[[2]int{v, u}] = true, true
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: v})
		}
	}
	return s
}

// rows counts what is listed and compares each row's size.
type rows struct{ n atomic.Int64 }

func (r *rows) Emit(_ int, b *engine.Batch) error {
	r.n.Add(int64(b.Rows))
	return nil
}

// TestLargePatterns counts and lists parts of a labelled graph of up to 14
// vertices, and compares with the host's engine for large patterns.
func TestLargePatterns(t *testing.T) {
	s := labelledGraph(7, 150, 420, 5)
	g := s.Build()
	onDevice(t, func(t *testing.T, e engine.Engine) {
		rng := rand.New(rand.NewPCG(3, 4))
		most := 5 // an emulated device takes seconds each
		switch {
		case device.Required():
			most = 9
		case !long.Asked():
			most = 3
			t.Log("without WEFT_LONG: three patterns, since each is compiled")
		}
		for i := range most {
			q := cut(rng, s, 6+i%9)
			q.Induced = i%5 == 4
			p, err := nest(g, q, plan.Options{Root: plan.NoRoot, Quick: true, Embeddings: i%3 == 0})
			if err != nil {
				t.Fatal(err)
			}
			lp, err := planner.Compile(g, q, plan.Options{Root: plan.NoRoot, Method: "large", Quick: true, Embeddings: i%3 == 0})
			if err != nil {
				t.Fatal(err)
			}
			want, err := engine.Once(t.Context(), host.New(), g, lp, engine.Options{}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			for _, index := range []string{"auto", "hash"} {
				o := engine.Options{Levels: index == "hash", Opt: map[string]string{"fine.index": index, "fine.pool": fmt.Sprint(i % 2 * 1000)}}
				got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
				if err != nil || got.Matches != want.Matches || !got.Complete {
					t.Fatalf("pattern %d, %s: %v, complete %v, %v; the host says %v\n%s", i, index, got.Matches, got.Complete, err, want.Matches, pattern.Format(q))
				}
				if o.Levels {
					filtered(t, p, got)
				}
			}
			if want.Matches.Cmp(engine.U64(5000)) > 0 {
				continue
			}
			var list rows
			got, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: map[string]string{"fine.index": "bitmap"}}, engine.Goal{Sink: &list})
			if err != nil || got.Matches != want.Matches || uint64(list.n.Load()) != want.Matches.Lo {
				t.Fatalf("pattern %d: %d rows, %v, %v; the host says %v", i, list.n.Load(), got.Matches, err, want.Matches)
			}
			if want.Matches.Cmp(engine.U64(2)) < 0 {
				continue
			}
			goal := engine.Goal{Limit: int64(want.Matches.Lo / 2)}
			o := engine.Options{Opt: map[string]string{"fine.index": "bitmap"}}
			if got, err := engine.Once(t.Context(), e, g, p, o, goal); err != nil || got.Matches != engine.U64(want.Matches.Lo/2) || got.Complete {
				t.Fatalf("pattern %d with limit %d of %v: %v, complete %v, %v", i, goal.Limit, want.Matches, got.Matches, got.Complete, err)
			}
		}
	})
}

// filtered checks the numbers of vertices that a candidate graph leaves for each level.
func filtered(t *testing.T, p *plan.Plan, got engine.Result) {
	t.Helper()
	if len(got.Filters) != len(p.Levels) {
		t.Fatalf("what filters leave of %d levels, of %d", len(got.Filters), len(p.Levels))
	}
	for l, f := range got.Filters {
		own, err := p.Filters(t.Context(), l, 1)
		if err != nil {
			t.Fatal(err)
		}
		least := uint64(0)
		if !got.Matches.IsZero() {
			least = 1
		}
		if len(f) != 1 || f[0].Filter != "candidate graph" || f[0].Left < least || f[0].Left > own[len(own)-1].Left {
			t.Errorf("level %d: %v, after %v, for %v matches", l, f, own, got.Matches)
		}
	}
}

// TestIndexRefuses says what a candidate graph is not made for, where it is asked
// for by name.
func TestIndexRefuses(t *testing.T) {
	g := denseGraph(t)
	ps, err := pattern.ByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, ps[0], plan.Options{Root: 0})
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		o := engine.Options{Opt: map[string]string{"fine.index": "bitmap"}}
		if err := engines.Refusal(e, g, p, o); err == nil {
			t.Error("a rooted plan is not refused")
		}
		if err := engines.Refusal(e, g, p, engine.Options{Opt: map[string]string{"fine.index": "auto"}}); err != nil {
			t.Error(err)
		}
	})
}

// TestTooMany: a count beyond 128 bits is an error, not a remainder.
func TestTooMany(t *testing.T) {
	s := &nodiff.Spec{N: 1}
	star := &pattern.Pattern{Mode: pattern.Hom, Vertices: make([]pattern.Vertex, 1)}
	for i := 1; i <= 3000; i++ {
		s.N++
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: 0, V: i})
	}
	for i := 1; i <= 20; i++ {
		star.Vertices = append(star.Vertices, pattern.Vertex{})
		star.Edges = append(star.Edges, pattern.Edge{From: 0, To: i, Min: 1, Max: 1})
	}
	g := s.Build()
	p, err := nest(g, star, plan.Options{Root: plan.NoRoot, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		o := engine.Options{Opt: map[string]string{"fine.index": "bitmap"}}
		if got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{}); !errors.Is(err, engine.ErrOverflow) {
			t.Errorf("%v, %v", got.Matches, err)
		}
	})
}
