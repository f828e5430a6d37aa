package weft_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// TestDirectedMotifs compares the motifs of directed graphs with the counts of igraph and networkx.
func TestDirectedMotifs(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "wiki-vote-cut.txt"), weft.WithDirected(true))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	text, err := os.ReadFile(filepath.Join("testdata", "known", "directedmotifs.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, n, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			want[name] = n
		}
	}
	for k, classes := range map[int]int{3: 13, 4: 199} {
		for _, threads := range []int{1, 3} {
			results, err := g.Motifs(t.Context(), k, weft.WithThreads(threads))
			if err != nil {
				t.Fatal(err)
			}
			if len(results) != classes {
				t.Errorf("%d motifs of %d vertices", len(results), k)
			}
			for _, r := range results {
				if got := r.Subgraphs.String(); got != want[r.Query] {
					t.Errorf("%s: %s, want %s", r.Query, got, want[r.Query])
				}
			}
		}
	}
}

// TestDirectedMotifsOracle compares the census of directed motifs with the oracle's count of each motif, induced
// or not.
func TestDirectedMotifsOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		var edges strings.Builder
		for range 18 {
			fmt.Fprintln(&edges, r.IntN(9), r.IntN(9))
		}
		g := graphOf(t, edges.String(), weft.WithDirected(true))
		for k := 3; k <= 4; k++ {
			for _, induced := range []bool{true, false} {
				got, err := g.Motifs(t.Context(), k, weft.WithInduced(induced))
				if err != nil {
					t.Fatal(err)
				}
				want, err := g.Motifs(t.Context(), k, weft.WithInduced(induced), weft.WithEngine("oracle"))
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if got[i].Query != want[i].Query || got[i].Subgraphs.Cmp(want[i].Subgraphs) != 0 || got[i].Embeddings.Cmp(want[i].Embeddings) != 0 {
						t.Errorf("%s, induced %v: %v, the oracle counts %v\n%s", got[i].Query, induced, got[i].Subgraphs, want[i].Subgraphs, edges.String())
					}
				}
			}
		}
	}
}

// TestDirectionsOfMotifs: with directions, motifs of five vertices and programs are refused. Without directions,
// they are answered.
func TestDirectionsOfMotifs(t *testing.T) {
	g := graphOf(t, "1 2\n2 3\n3 1\n3 4\n4 5\n", weft.WithDirected(true))
	if _, err := g.Motifs(t.Context(), 5); !errors.Is(err, weft.ErrUsage) || !strings.Contains(err.Error(), "9364") {
		t.Errorf("five vertices: %v", err)
	}
	if _, err := g.MotifsMatcha(t.Context(), 3); !errors.Is(err, weft.ErrUsage) {
		t.Errorf("a program: %v", err)
	}
	results, err := g.Motifs(t.Context(), 3, weft.WithDirections(false))
	if err != nil || len(results) != 2 || results[0].Subgraphs.String() != "3" || results[1].Subgraphs.String() != "1" {
		t.Errorf("without directions: %v, %v", results, err)
	}
	if _, err := g.MotifsMatcha(t.Context(), 3, weft.WithDirections(false)); err != nil {
		t.Errorf("a program without directions: %v", err)
	}
}

// TestDirectedMotifsStop: a census that is cancelled ends soon, without a count.
func TestDirectedMotifsStop(t *testing.T) {
	g, err := weft.Generate(t.Context(), weft.Spec{Model: "cliques", N: 1, K: 3000, Directed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	results, err := g.Motifs(ctx, 4)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	for _, r := range results {
		if r.Complete || r.Subgraphs.Sign() != 0 {
			t.Errorf("%s: %v, complete %v", r.Query, r.Subgraphs, r.Complete)
		}
	}
}
