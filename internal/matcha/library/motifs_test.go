package library_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower/matchatext"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// motifPrograms count all induced motifs, by the number of vertices, in the order of
// weft motifs.
var motifPrograms = map[string]int{"motifs3": 3, "motifs4": 4, "motifs4_parts": 4, "motifs5": 5, "motifs5_parts": 5}

// motifs are the patterns of k vertices, induced.
func motifs(t failer, k int) []*pattern.Pattern {
	t.Helper()
	ps, err := pattern.ByName(fmt.Sprintf("motifs(%d)", k))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		p.Induced = true
	}
	return ps
}

func TestRandomMotifs(t *testing.T) {
	for name, k := range motifPrograms {
		p := load(t, name)
		rapid.Check(t, func(t *rapid.T) {
			g := drawGraph(t, 0)
			got := result(t, p, map[string]data.Input{"G": {Graph: g}}, nil)
			for i, q := range motifs(t, k) {
				if want := embeddings(t, g, q) / oracle.Automorphisms(q).Int64(); int64(got.Words[i]) != want {
					t.Fatalf("%s counts %d of %s, want %d", name, got.Words[i], q.Name, want)
				}
			}
		})
	}
}

// TestRealMotifs compares with a user's census.
func TestRealMotifs(t *testing.T) {
	graphs := []string{"karate.txt", "ca-grqc-cut.csv", "citeseer.graph.gz"}
	if testing.Short() {
		t.Log("-short: on karate alone, since the interpreter takes seconds on larger graphs")
		graphs = graphs[:1]
	}
	five := "karate.txt" // in others five vertices take the interpreter seconds
	for file, g := range real(t, graphs...) {
		user, err := weft.Open(context.Background(), filepath.Join("..", "..", "..", "testdata", "graphs", file), weft.WithDirected(false))
		if err != nil {
			t.Fatal(err)
		}
		for name, k := range motifPrograms {
			if k == 5 && file != five {
				continue
			}
			want, err := user.Motifs(context.Background(), k)
			if err != nil {
				t.Fatal(err)
			}
			got := result(t, load(t, name), map[string]data.Input{"G": {Graph: g}}, nil)
			for i, r := range want {
				if fmt.Sprint(got.Words[i]) != fmt.Sprint(r.Subgraphs) {
					t.Errorf("%s: %s counts %d of %s, want %v", file, name, got.Words[i], r.Query, r.Subgraphs)
				}
			}
		}
		user.Close()
	}
}

var rewrite = flag.Bool("rewrite", false, "write the programs that are made of plans")

// TestMadeOfPlans: the programs that count motifs in one pass are those that the
// planner writes, in the order of RI.
func TestMadeOfPlans(t *testing.T) {
	g := graph.FromEdges(2, [][2]uint32{{0, 1}}, false)
	for k, number := range map[int]string{3: "three", 4: "four", 5: "five"} {
		var plans []*plan.Plan
		for _, p := range motifs(t, k) {
			pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Order: "ri", Method: "nest"})
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, pl)
		}
		want, err := matchatext.Forest(fmt.Sprintf(`# Motifs of %s vertices, all of them in one pass, a vertex at a time.
# What several motifs begin with is matched once, and orders of the vertices find each subgraph once, as in
# X. Chen et al., Efficient and Scalable Graph Pattern Mining on GPUs (G2Miner), OSDI 2022.
# Counts induced subgraphs, in the order of weft motifs. The text is that of weft motifs --matcha.`, number), plans)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("motifs%d", k)
		if *rewrite {
			if err := os.WriteFile(name+".matcha", []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for _, e := range library.Entries() {
			if e.Name == name && e.Text != want {
				t.Errorf("%s is not what the planner writes; see -rewrite", name)
			}
		}
	}
}
