package weft

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/choose"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
)

// TestCorrupt: a file that is too large to be checked when it is opened, and is
// wrong inside, is an input error wherever that shows, and no crash.
func TestCorrupt(t *testing.T) {
	g, err := Generate(t.Context(), Spec{Model: "er", N: 100_000, M: 1_200_000})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "g.weft")
	if err := g.Write(t.Context(), name, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[len(data)/4:], bytes.Repeat([]byte{0xff, 0xff, 0xff, 0x7f}, len(data)/8))
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	bad, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	q := named(t, "gmatch:P4")
	program := func(target string) error {
		_, err := matchaProgram(t, "input G: Graph\nreturn sum(apply(lambda v: size(intersect(neighbor(G, v), neighbor(G, v + 1))), None, vertices(G)))").
			Run(t.Context(), map[string]any{"G": bad}, nil, WithTarget(target))
		return err
	}
	for what, f := range map[string]func() error{
		"count": func() error { _, err := bad.Count(t.Context(), q, WithEngineOption("plan.method", "nest")); return err },
		"enumeration": func() error {
			_, err := bad.Count(t.Context(), q, WithEngineOption("plan.tail", "off"), WithOrder("ri"))
			return err
		},
		"motifs":  func() error { _, err := bad.Motifs(t.Context(), 4); return err },
		"census":  func() error { _, err := bad.Motifs(t.Context(), 5); return err },
		"info":    func() error { _, err := bad.Info(t.Context()); return err },
		"explain": func() error { _, err := bad.Explain(t.Context(), q); return err },
		// Who relies on the structure looks at it first, whether there is a compiler
		// and a device or not.
		"a program":           func() error { return program("interp") },
		"a program in C":      func() error { return program("c") },
		"a program for a GPU": func() error { return program("cuda") },
		"a GPU's engine": func() error {
			_, err := choose.Choice{Unchecked: true}.Run(t.Context(), bad.g, engine.Options{}, nil)
			return withKind(ErrInput, err)
		},
	} {
		if err := f(); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "adjacency") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCorruptEdges: so is a table of edges, of which a program reads a property.
func TestCorruptEdges(t *testing.T) {
	const n, m = 1000, 600_000
	var c graph.EdgeChunk
	for i := range uint64(m) {
		u := i * 7919 % n
		c.Src, c.Dst, c.Time = append(c.Src, u), append(c.Dst, (u+1+i/n)%n), append(c.Time, int64(i))
	}
	b := graph.NewBuilder(graph.BuildOptions{Directed: true})
	if err := b.AddEdges(&c); err != nil {
		t.Fatal(err)
	}
	built, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "g.weft")
	if err := newGraph(built, "", 0).Write(t.Context(), name, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	src := bytes.Index(data, bytes.Repeat([]byte{5, 0, 0, 0}, m/n)) // the edges that begin at vertex 5
	if src < 0 {
		t.Fatal("the file has no table of edges")
	}
	copy(data[src:], bytes.Repeat([]byte{0xff, 0xff, 0xff, 0x7f}, m/n))
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	bad, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	p := matchaProgram(t, "input G: Graph[int, 'time']\nreturn sum(apply(lambda v: size(edge_info(G, v)), None, vertices(G)))")
	in := map[string]any{"G": bad}
	_, ran := p.Run(t.Context(), in, nil)
	_, explained := p.Explain(in)
	_, emitted := p.Code(t.Context(), "ir", in)
	for what, err := range map[string]error{"run": ran, "explain": explained, "emit": emitted} {
		if !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
