package join_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/vfs"
)

// fit takes away options that are of no use beside others.
func fit(opt map[string]string) {
	if opt["join.filter"] == "off" {
		delete(opt, "join.signature")
	}
	if opt["join.extend"] != "multi" {
		delete(opt, "join.eliminate")
	}
}

func config() nodiff.Config {
	return nodiff.Config{
		Fit:     fit,
		Engine:  join.New(),
		Compile: planner.Compile,
		Opt:     map[string]string{"join.extend": "multi|single", "join.eliminate": "after", "join.batch": "1|3", "join.steal": "off", "join.filter": "off", "join.signature": "32|64", "join.lists": "interval|hashed", "join.sets": "naive", "join.merge": "on"},
	}
}

// TestNoDiff: phases of one vertex and of several, batches of one row and more, against the
// oracle on random small graphs, in all semantics.
func TestNoDiff(t *testing.T) {
	c := config()
	c.Techniques = slices.Clone(nodiff.Nests)
	c.Techniques = append(c.Techniques, severals()...)
	own := nodiff.LabelledNest.With("interval, own ids", "join.lists", "interval", "join.renumber", "off")
	c.Techniques = append(c.Techniques, own.Said("lists by label, interval, not renumbered"))
	nodiff.Check(t, c)
}

// severals are each matching pattern, and eliminations, among phases of several vertices.
func severals() (all []nodiff.Technique) {
	several := nodiff.Technique{MaxPattern: 6, Columns: func(w *nodiff.Columns) { w.Labels = true }, Force: func(o *plan.Options, _ map[string]string) {
		o.Order, o.Given = "geneva", nil
	}}
	for _, x := range [][2]string{
		{"pattern 1", "(a)--(l), (a)--(m)"}, {"pattern 2", "(a)--(l), (b)--(m)"}, {"pattern 3", "(a)--(l), (a)--(m:A)"}, {"pattern 4", "(a)--(l), (b)--(m:A)"},
		{"pattern 5", "(a)--(l), (a)--(m), (a)--(n)"}, {"pattern 6", "(a)--(l), (a)--(m), (a)--(n:A)"}, {"pattern 7", "(a)--(l), (a)--(m), (b)--(n)"},
		{"elimination", "(a)--(l)"},
	} {
		several.Patterns = triangleWith(x[1])
		where := "inside"
		if x[0] == "elimination" {
			where = "after"
		}
		all = append(all, several.With(x[0], "join.extend", "multi", "join.eliminate", where).Said(x[0]))
	}
	return all
}

// triangleWith is a triangle with leaves. In GENEVA's order the leaves come last, in a phase of the
// matching pattern that follows from their sources and labels.
func triangleWith(leaves string) func(*nodiff.Spec, int) *rapid.Generator[*pattern.Pattern] {
	return func(*nodiff.Spec, int) *rapid.Generator[*pattern.Pattern] {
		return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
			mode := rapid.SampledFrom([]string{"", "REPEATABLE ELEMENTS "}).Draw(t, "mode")
			q, err := gql.Parse("MATCH " + mode + "(a)--(b)--(c)--(a), " + leaves)
			if err != nil {
				t.Fatal(err)
			}
			return q.Pattern
		})
	}
}

// TestConditions: conditions that compare several vertices and edges.
func TestConditions(t *testing.T) {
	c := config()
	c.Patterns = nodiff.Conditions
	nodiff.Check(t, c)
}

// TestLaws: counts do not change if vertices are renamed, if the pattern is permuted, or if a second
// graph is added without edges to the first.
func TestLaws(t *testing.T) { nodiff.Laws(t, config()) }

// TestThreads: many workers, which take parts of each other's batches, find the same matches as one. The
// graph has hubs, and phases have one vertex or several.
func TestThreads(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 8, M: 2000, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"triangle", "diamond", "house", "star(3)", "path(4)"} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Order: "geneva"})
		if err != nil {
			t.Fatal(err)
		}
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		for _, extend := range []string{"single", "multi"} {
			for _, threads := range []int{1, 2, 7} {
				r, err := engine.Once(t.Context(), join.New(), g, p, engine.Options{Threads: threads, Opt: map[string]string{"join.extend": extend, "join.batch": "64"}}, engine.Goal{})
				if err != nil || !r.Complete || r.Matches != want.Matches {
					t.Errorf("%s, %s on %d threads: %v, %v; want %v", name, extend, threads, r.Matches, err, want.Matches)
				}
			}
		}
	}
}

// TestFilterThreads: the filter by signatures leaves the same vertices for any number of threads.
func TestFilterThreads(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 16, M: 60000, Directed: true, VertexLabels: 3, EdgeLabels: 20, Skew: 1, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gql.Parse("MATCH (a:0)-[:1]->(b:1|2)-[:0]->(c)-[:2]->(d)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "gsi"})
	if err != nil {
		t.Fatal(err)
	}
	filter := func(threads int) (said []string, found engine.Uint128) {
		r, err := engine.Once(t.Context(), join.New(), g, p, engine.Options{Threads: threads, Opt: map[string]string{"join.filter": "signature"}}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Stats {
			if strings.Contains(s, "signatures leave") {
				said = append(said, s)
			}
		}
		return said, r.Matches
	}
	want, matches := filter(1)
	if len(want) == 0 || matches.IsZero() {
		t.Fatalf("%v matches, %q", matches, want)
	}
	for _, threads := range []int{2, 7} {
		if got, n := filter(threads); !slices.Equal(got, want) || n != matches {
			t.Errorf("on %d threads %v matches, %q; on one %v, %q", threads, n, got, matches, want)
		}
	}
}

// TestTail: a tail of more levels than inclusion–exclusion writes out is counted from the sizes of
// its sets, also where restrictions do not order it.
func TestTail(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 7, M: 600, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"(a)--(b), (a)--(c), (a)--(d), (a)--(e), (a)--(f), (a)--(g), (a)--(h)",
		"(a)--(b), (a)--(c), (a)--(d), (a)--(e), (b)--(f), (b)--(g), (b)--(h), (b)--(i)",
	} {
		q, err := gql.Parse("MATCH " + text)
		if err != nil {
			t.Fatal(err)
		}
		for _, embeddings := range []bool{false, true} {
			p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Embeddings: embeddings})
			if err != nil {
				t.Fatal(err)
			}
			ready, err := join.New().Prepare(t.Context(), g, p, engine.Options{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			if all := ready.Traits().Phases; !strings.HasPrefix(all[len(all)-1], "count ") {
				t.Fatalf("%s: phases %q; the last must count the tail of %d levels", text, all, p.Tail.K)
			}
			r, err := ready.Run(t.Context(), engine.Goal{})
			want, hostErr := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil || hostErr != nil || r.Matches != want.Matches || r.Matches.IsZero() {
				t.Errorf("%s: %v, %v; host %v, %v", text, r.Matches, err, want.Matches, hostErr)
			}
		}
	}
}

// TestCancel: a search that would take far too long ends with its context, and says that it is
// not complete.
func TestCancel(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 10, M: 12000, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("path(9)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Embeddings: true})
	if err != nil {
		t.Fatal(err)
	}
	// A busy machine may need longer until there is something to count.
	var r engine.Result
	for limit := 30 * time.Millisecond; r.Matches.IsZero() && limit < time.Minute; limit *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		r, err = engine.Once(ctx, join.New(), g, p, engine.Options{Threads: 3}, engine.Goal{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || r.Complete {
			t.Fatalf("%v, complete %v, %v", r.Matches, r.Complete, err)
		}
	}
	if r.Matches.IsZero() {
		t.Error("no partial count")
	}
	// A listing of a limit gives exactly that many, from bounded tables.
	var n atomic.Int64
	r, err = engine.Once(t.Context(), join.New(), g, p, engine.Options{Threads: 3, Memory: 1 << 20}, engine.Goal{Limit: 5000, Sink: sinkFunc(func(b *engine.Batch) {
		n.Add(int64(b.Rows))
	})})
	if err != nil || n.Load() != 5000 || r.Matches.Lo != 5000 || r.Complete {
		t.Errorf("%d rows of 5000, %v, complete %v, %v", n.Load(), r.Matches, r.Complete, err)
	}
}

// TestNamedPartitions: a search makes and keeps the partitions of the labels and directions that its
// plan reads, and no others.
func TestNamedPartitions(t *testing.T) {
	s := nodiff.Spec{N: 6, Directed: true, EdgeLabels: true}
	for v := range s.N {
		for i, label := range []string{"A", "B", "C"} {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: (v + i + 1) % s.N, Label: label})
		}
	}
	path := filepath.Join(t.TempDir(), "g.weft")
	if err := s.Build().WriteFile(vfs.OS{}, path); err != nil {
		t.Fatal(err)
	}
	g, err := graph.Open(t.Context(), path, graph.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	q, err := gql.Parse("MATCH (x)-[:A]->(y)-[:C]->(z)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"interval", "hashed"} {
		r, err := engine.Once(t.Context(), join.New(), g, p, engine.Options{Threads: 2, Opt: map[string]string{"join.lists": kind}}, engine.Goal{})
		if err != nil || r.Matches != engine.U64(6) || len(r.Notes) > 0 {
			t.Fatalf("%s: %v, %q, %v", kind, r.Matches, r.Notes, err)
		}
	}
	var got []string
	entries, err := os.ReadDir(layout.Folder(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := []string{"hashed.0+", "hashed.2+", "interval.0+", "interval.2+", "interval.ids"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

type sinkFunc func(*engine.Batch)

func (f sinkFunc) Emit(_ int, b *engine.Batch) error {
	f(b)
	return nil
}

// TestReduced: plans whose candidates the labels of edges or semijoins have reduced find what the oracle finds, whatever
// the pattern's mode, edges and labels.
func TestReduced(t *testing.T) {
	c := config()
	filtered, joined, n := 0, 0, 0
	c.Compile = func(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
		// Searches of small graphs are too short for semijoins, except where a GPU is to make them.
		o.Order, o.Given = []string{"join", plan.JoinOnGPU}[n%2], nil
		n++
		pl, err := planner.Compile(g, p, o)
		switch {
		case pl == nil || pl.Reduction == nil:
		case pl.Reduction.Joined:
			joined++
		default:
			filtered++
		}
		return pl, err
	}
	nodiff.Suite{Plans: 120, Graphs: 6}.Run(t, c, []engine.Engine{c.Engine})
	if filtered < 10 || joined < 10 {
		t.Errorf("only %d plans had their candidates filtered, and %d reduced by semijoins", filtered, joined)
	}
}
