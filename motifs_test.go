package weft_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestMotifsOneByOne: motifs counted in one pass have the same counts as motifs counted one by one, for which an
// engine option asks.
func TestMotifsOneByOne(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "ca-grqc-cut.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for k := 3; k <= 5; k++ {
		for _, induced := range []bool{true, false} {
			together, err := g.Motifs(t.Context(), k, weft.WithInduced(induced))
			if err != nil {
				t.Fatal(err)
			}
			apart, err := g.Motifs(t.Context(), k, weft.WithInduced(induced), weft.WithEngineOption("host.steal", "on"))
			if err != nil {
				t.Fatal(err)
			}
			if together[0].Method == apart[0].Method || len(together) != len(apart) {
				t.Fatalf("%d motifs by %s, %d by %s", len(together), together[0].Method, len(apart), apart[0].Method)
			}
			for i, r := range together {
				if r.Query != apart[i].Query || r.Embeddings.Cmp(apart[i].Embeddings) != 0 || r.Subgraphs.Cmp(apart[i].Subgraphs) != 0 || r.Induced != induced {
					t.Errorf("%s, induced %v: %v, each for itself %v", r.Query, induced, r.Subgraphs, apart[i].Subgraphs)
				}
			}
		}
	}
}

// TestMotifsKinds: labels, and directions that are left out, do not change the counts. Other semantics and limits
// mean the same as for each motif counted alone.
func TestMotifsKinds(t *testing.T) {
	dir := t.TempDir()
	edges, labels := filepath.Join(dir, "edges.txt"), filepath.Join(dir, "labels.txt")
	var e, l strings.Builder
	for v := range 40 {
		for _, d := range []int{1, 2, 3, 5, 7, 11} {
			fmt.Fprintf(&e, "%d %d\n", v, (v*v+d)%40)
		}
		fmt.Fprintf(&l, "%d %d\n", v, v%3)
	}
	for name, text := range map[string]string{edges: e.String(), labels: l.String()} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open := func(options ...weft.Option) *weft.Graph {
		g, err := weft.Open(t.Context(), edges, options...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		return g
	}
	plain := open()
	for k := 3; k <= 5; k++ {
		if k == 5 && !long.Asked() {
			break
		}
		want, err := plain.Motifs(t.Context(), k, weft.WithEngine("oracle"))
		if err != nil {
			t.Fatal(err)
		}
		for name, g := range map[string]*weft.Graph{
			"directed": open(weft.WithDirected(true)), "labelled": open(weft.WithLabels(labels)),
			"both": open(weft.WithDirected(true), weft.WithLabels(labels)),
		} {
			got, err := g.Motifs(t.Context(), k, weft.WithDirections(false))
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if got[i].Subgraphs.Cmp(want[i].Subgraphs) != 0 {
					t.Errorf("%s: %s: %v, want %v", name, got[i].Query, got[i].Subgraphs, want[i].Subgraphs)
				}
			}
		}
	}
	for _, o := range [][]weft.Option{
		{weft.WithInduced(false), weft.WithSemantics("hom")}, {weft.WithInduced(false), weft.WithSemantics("trail")}, {weft.WithLimit(5)},
	} {
		got, err := plain.Motifs(t.Context(), 4, o...)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			q, err := weft.PatternByName(r.Query)
			if err != nil {
				t.Fatal(err)
			}
			want, err := plain.Count(t.Context(), q, append([]weft.Option{weft.WithInduced(true)}, o...)...)
			if err != nil {
				t.Fatal(err)
			}
			if r.Semantics != want.Semantics || r.Embeddings.Cmp(want.Embeddings) != 0 || r.Complete != want.Complete {
				t.Errorf("%s under %s: %v, %v; want %v, %v", r.Query, r.Semantics, r.Embeddings, r.Complete, want.Embeddings, want.Complete)
			}
		}
	}
}

// TestMotifsByCode: the engine codegen counts all motifs by one program. Its counts equal those of others, and the
// results name the engine.
func TestMotifsByCode(t *testing.T) {
	if _, err := native.C(); errors.Is(err, native.ErrNoCompiler) {
		t.Skip(err)
	}
	most := 5
	if !long.Asked() {
		t.Log("without WEFT_LONG: up to four vertices, and of three induced ones, since each program is compiled")
		most = 4
	}
	for file, directed := range map[string]bool{"ca-grqc-cut.csv": false, "cit-hepth-cut.txt": true} {
		g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", file), weft.WithDirected(directed))
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		for k := 3; k <= most; k++ {
			if directed && k == 5 {
				continue // as the other graph, except for the first line of the program
			}
			for _, induced := range []bool{true, false} {
				if !long.Asked() && k == 3 && !induced {
					continue
				}
				want, err := g.Motifs(t.Context(), k, weft.WithDirections(false), weft.WithInduced(induced))
				if err != nil {
					t.Fatal(err)
				}
				got, err := g.Motifs(t.Context(), k, weft.WithDirections(false), weft.WithInduced(induced), weft.WithEngine("codegen"), weft.WithDevice("cpu"))
				if err != nil || len(got) != len(want) {
					t.Fatalf("%s: %d motifs, want %d, %v", file, len(got), len(want), err)
				}
				for i, r := range got {
					w := want[i]
					if r.Query != w.Query || r.Subgraphs.Cmp(w.Subgraphs) != 0 || r.Embeddings.Cmp(w.Embeddings) != 0 || r.Induced != induced {
						t.Errorf("%s: %s, induced %v: %v, want %v", file, r.Query, induced, r.Subgraphs, w.Subgraphs)
					}
					if r.Engine != "codegen" || r.Device != "cpu" || r.Method != "program" || !r.Complete {
						t.Errorf("%s: %s by %s on %s, method %s", file, r.Query, r.Engine, r.Device, r.Method)
					}
				}
			}
		}
	}
}

// TestMotifsByCodeMemory: if there is too little memory for one number for each vertex on each thread, motifs of
// four vertices are counted by the program that needs less.
func TestMotifsByCodeMemory(t *testing.T) {
	if _, err := native.C(); errors.Is(err, native.ErrNoCompiler) {
		t.Skip(err)
	}
	long.Only(t, "thousands of threads")
	const vertices, threads = 300_000, 2600 // 12 bytes each are more than 8 GiB
	var b strings.Builder
	for v := range vertices - 1 {
		fmt.Fprintln(&b, v, v+1)
	}
	path := filepath.Join(t.TempDir(), "path.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := weft.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	got, err := g.Motifs(t.Context(), 4, weft.WithEngine("codegen"), weft.WithDevice("cpu"), weft.WithThreads(threads))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		want := int64(0)
		if r.Query == "path(4)" {
			want = vertices - 3
		}
		if r.Subgraphs.Int64() != want {
			t.Errorf("%s: %v, want %d", r.Query, r.Subgraphs, want)
		}
	}
}

// TestMotifsByCodeEnds: a run that is cut short has incomplete results, and an error of a device is returned.
func TestMotifsByCodeEnds(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "karate.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Motifs(t.Context(), 3, weft.WithEngine("codegen"), weft.WithDevice("tpu")); !errors.Is(err, weft.ErrUsage) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := g.Motifs(ctx, 3, weft.WithEngine("codegen"), weft.WithDevice("cpu"))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, r := range got {
		if r.Complete {
			t.Errorf("%s is complete", r.Query)
		}
	}
}
