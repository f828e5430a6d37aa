package weft

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// calls is a call of each exported method of Graph that can fail, and whether it fails on
// a closed graph.
var calls = map[string]func(ctx context.Context, g *Graph, q *Query) error{
	"Count": func(ctx context.Context, g *Graph, q *Query) error { _, err := g.Count(ctx, q); return err },
	"CountEach": func(ctx context.Context, g *Graph, q *Query) error {
		for _, err := range g.CountEach(ctx, []*Query{q}) {
			return err
		}
		return nil
	},
	"Cliques":   func(ctx context.Context, g *Graph, _ *Query) error { _, err := g.Cliques(ctx, 3); return err },
	"CheckFile": func(ctx context.Context, g *Graph, _ *Query) error { return g.CheckFile(ctx) },
	"Exists":    func(ctx context.Context, g *Graph, q *Query) error { _, _, err := g.Exists(ctx, q); return err },
	"Explain":   func(ctx context.Context, g *Graph, q *Query) error { _, err := g.Explain(ctx, q); return err },
	"Layouts":   func(ctx context.Context, g *Graph, _ *Query) error { _, err := g.Layouts(ctx); return err },
	"Partition": func(ctx context.Context, g *Graph, _ *Query) error { _, err := g.Partition(ctx, 2); return err },
	"Info":      func(ctx context.Context, g *Graph, _ *Query) error { _, err := g.Info(ctx); return err },
	"List": func(ctx context.Context, g *Graph, q *Query) error {
		_, err := g.List(ctx, q, io.Discard, "csv")
		return err
	},
	"Match": func(ctx context.Context, g *Graph, q *Query) error {
		for _, err := range g.Match(ctx, q) {
			return err
		}
		return nil
	},
	"Matcha":       func(ctx context.Context, g *Graph, q *Query) error { _, err := g.Matcha(ctx, q); return err },
	"Motifs":       func(ctx context.Context, g *Graph, _ *Query) error { _, err := g.Motifs(ctx, 3); return err },
	"MotifsMatcha": func(ctx context.Context, g *Graph, _ *Query) error { _, err := g.MotifsMatcha(ctx, 3); return err },
	"Orbits": func(ctx context.Context, g *Graph, _ *Query) error {
		_, err := g.Orbits(ctx, 3)
		return err
	},
	"Participation": func(ctx context.Context, g *Graph, q *Query) error {
		_, err := g.Participation(ctx, q, "a")
		return err
	},
	"Verify": func(ctx context.Context, g *Graph, q *Query) error {
		_, err := g.Verify(ctx, q, time.Second)
		return err
	},
	"Watch": func(ctx context.Context, g *Graph, q *Query) error { _, err := g.Watch(ctx, []*Query{q}); return err },
	"Follow": func(ctx context.Context, g *Graph, q *Query) error {
		_, err := g.Follow(ctx, []*Query{q}, FollowOptions{Source: "-", Stdin: strings.NewReader("+ 1 2\n")})
		return err
	},
	"Write": func(ctx context.Context, g *Graph, _ *Query) error {
		return g.Write(ctx, "-", WriteOptions{Stdout: io.Discard, Format: "csv"})
	},
	"WriteStream": func(ctx context.Context, g *Graph, _ *Query) error {
		_, err := g.WriteStream(ctx, "-", io.Discard, StreamOptions{Initial: WriteOptions{Stdout: io.Discard, Format: "csv", AllowLoss: true}})
		return err
	},
}

// answered are the methods that a closed graph answers too.
var answered = []string{"Close", "Directed", "LabelCounts", "LoadTime", "NumEdges", "NumVertices", "Read", "Schema", "Summary"}

// ofPrograms are calls of programs and results that read the graph.
var ofPrograms = map[string]func(ctx context.Context, g *Graph) error{
	"Matcha.Run": func(ctx context.Context, g *Graph) error {
		_, err := degrees.Run(ctx, map[string]any{"G": g}, nil)
		return err
	},
	"Matcha.RunRows": func(ctx context.Context, g *Graph) error {
		_, err := degrees.RunRows(ctx, map[string]any{"G": g}, nil)
		return err
	},
	"Matcha.Code": func(ctx context.Context, g *Graph) error {
		_, err := degrees.Code(ctx, "ir", map[string]any{"G": g})
		return err
	},
	"Matcha.Explain": func(_ context.Context, g *Graph) error {
		_, err := degrees.Explain(map[string]any{"G": g})
		return err
	},
}

var degrees = func() *Matcha {
	m, err := ParseMatcha("", "input G: Graph\nreturn sum(apply(lambda v: size(neighbor(G, v)), None, vertices(G)))")
	if err != nil {
		panic(err)
	}
	return m
}()

// weftFile is a graph in weft's own form.
func weftFile(t *testing.T, s Spec) string {
	t.Helper()
	g, err := Generate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	name := filepath.Join(t.TempDir(), "g.weft")
	if err := g.Write(t.Context(), name, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return name
}

func mustOpen(t *testing.T, name string) *Graph {
	t.Helper()
	g, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestClosed: each exported method of a closed graph fails with ErrClosed, or is in the list of those that need no
// memory of the graph.
func TestClosed(t *testing.T) {
	q := asked(t, "MATCH (a)--(b)--(c)--(a)")
	name := weftFile(t, Spec{Model: "er", N: 100, M: 600})
	for typ, i := reflect.TypeFor[*Graph](), 0; i < typ.NumMethod(); i++ {
		method := typ.Method(i).Name
		call, fails := calls[method]
		if fails == slices.Contains(answered, method) {
			t.Errorf("Graph.%s is in one of calls and answered", method)
			continue
		}
		if !fails {
			continue
		}
		g := mustOpen(t, name)
		if err := call(t.Context(), g, q); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if err := call(t.Context(), g, q); !errors.Is(err, ErrClosed) || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s of a closed graph: %v", method, err)
		}
	}
	g := mustOpen(t, name)
	summary, read := g.Summary(), g.Read()
	p, err := g.Participation(t.Context(), q, "a")
	if err != nil {
		t.Fatal(err)
	}
	o, err := g.Orbits(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	for what, call := range ofPrograms {
		if err := call(t.Context(), g); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for range 2 {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	for what, call := range ofPrograms {
		if err := call(t.Context(), g); !errors.Is(err, ErrClosed) {
			t.Errorf("%s of a closed graph: %v", what, err)
		}
	}
	if g.Summary() != summary || g.NumVertices() != 100 || g.NumEdges() != 600 || g.Directed() || !reflect.DeepEqual(g.Read(), read) {
		t.Errorf("a closed graph is %+v, %+v", g.Summary(), g.Read())
	}
	if err := p.Write(io.Discard, "csv"); !errors.Is(err, ErrClosed) {
		t.Errorf("Participation.Write of a closed graph: %v", err)
	}
	for what, f := range map[string]func(){"Count": func() { p.Count("1") }, "All": func() {
		for range p.All() {
		}
	}} {
		refuses(t, "Participation."+what, f)
	}
	if err := o.Write(io.Discard, "csv"); !errors.Is(err, ErrClosed) {
		t.Errorf("Orbits.Write of a closed graph: %v", err)
	}
	for what, f := range map[string]func(){"Count": func() { o.Count("1") }, "All": func() {
		for range o.All() {
		}
	}} {
		refuses(t, "Orbits."+what, f)
	}
}

// TestCloseInLoop: an iteration continues after Close in its body, and its matches do not change. At its end the
// graph's memory is released.
func TestCloseInLoop(t *testing.T) {
	q := asked(t, "MATCH (a)--(b)--(c)--(a)")
	g := mustOpen(t, weftFile(t, Spec{Model: "cliques", N: 20, K: 12}))
	seen := map[string]bool{}
	n := 0
	var last Match
	for m, err := range g.Match(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Count(t.Context(), q); !errors.Is(err, ErrClosed) {
				t.Fatalf("a count in the loop, after Close: %v", err)
			}
		}
		if m.ID("b") != m.IDs()[1] {
			t.Fatal(m.ID("b"), m.IDs())
		}
		ids := m.IDs()
		slices.Sort(ids)
		seen[ids[0]+" "+ids[1]+" "+ids[2]] = true
		n, last = n+1, m
	}
	if !released(g) {
		t.Error("the memory is there after the loop")
	}
	if want := 20 * 12 * 11 * 10 / 6; n != want || len(seen) != want {
		t.Errorf("%d matches, %d of them different; want %d", n, len(seen), want)
	}
	for what, f := range map[string]func(){
		"IDs": func() { last.IDs() }, "ID": func() { last.ID("a") }, "Vertex": func() { last.Vertex("a") },
		"Edge": func() { last.Edge("e") }, "Values": func() { last.Values() }, "Value": func() { last.Value("a") },
	} {
		refuses(t, "Match."+what, f)
	}
}

// refuses expects a panic with ErrClosed.
func refuses(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if x := recover(); x != ErrClosed {
			t.Errorf("%s of a closed graph: %v", what, x)
		}
	}()
	f()
}

// released reports whether the memory of a graph is gone.
func released(g *Graph) bool { return g.s.Data.NumVertices() == 0 }

// TestLoopsEnd: the lease of a loop over matches or counts ends with the loop, in whatever way that ends.
func TestLoopsEnd(t *testing.T) {
	q := asked(t, "MATCH (a)--(b)--(c)--(a)")
	name := weftFile(t, Spec{Model: "cliques", N: 20, K: 12})
	panicking := func(f func()) {
		defer func() {
			if x := recover(); x != "mine" {
				t.Errorf("recovered %v", x)
			}
		}()
		f()
	}
	for what, loop := range map[string]func(g *Graph){
		"break": func(g *Graph) {
			for range g.Match(t.Context(), q) {
				break
			}
		},
		"panic": func(g *Graph) {
			panicking(func() {
				for range g.Match(t.Context(), q) {
					panic("mine")
				}
			})
		},
		"counts": func(g *Graph) {
			for range g.CountEach(t.Context(), []*Query{q, q}) {
				break
			}
		},
		"panic at a count": func(g *Graph) {
			panicking(func() {
				for range g.CountEach(t.Context(), []*Query{q, q}) {
					panic("mine")
				}
			})
		},
		"canceled": func(g *Graph) {
			ctx, cancel := context.WithCancel(t.Context())
			for range g.Match(ctx, q) {
				cancel()
			}
			cancel()
		},
	} {
		g := mustOpen(t, name)
		loop(g)
		if released(g) {
			t.Errorf("%s: the memory is gone before Close", what)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if !released(g) {
			t.Errorf("%s: the memory is there after Close", what)
		}
	}
}

// TestCloseDuringCalls: a call at the time of Close returns its whole answer or ErrClosed.
func TestCloseDuringCalls(t *testing.T) {
	q := asked(t, "MATCH (a)--(b)--(c)--(d)--(a)")
	name := weftFile(t, Spec{Model: "er", N: 2000, M: 40000})
	g := mustOpen(t, name)
	want, err := g.Count(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	for round := range 10 {
		g := mustOpen(t, name)
		var wg sync.WaitGroup
		begun := make(chan bool, 8)
		for range 4 {
			wg.Go(func() {
				for {
					begun <- true
					r, err := g.Count(t.Context(), q)
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil || r.Embeddings.Cmp(want.Embeddings) != 0 || !r.Complete {
						t.Errorf("%v embeddings, want %v: %v", r.Embeddings, want.Embeddings, err)
						return
					}
				}
			})
			wg.Go(func() {
				for call := range 20 {
					var b bytes.Buffer
					if err := g.Write(t.Context(), "-", WriteOptions{Stdout: &b, Format: "csv"}); err != nil && !errors.Is(err, ErrClosed) {
						t.Error(call, err)
					}
				}
			})
		}
		go func() {
			for range begun {
			}
		}()
		for range round {
			runtime.Gosched()
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		close(begun)
		if !released(g) {
			t.Error("the memory is there when all calls have returned")
		}
	}
}

// asked is the query of a text.
func asked(t *testing.T, text string) *Query {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
