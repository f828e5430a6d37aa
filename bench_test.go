package weft_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// BenchmarkLabelledSets counts all queries of a set in each iteration, on one
// thread, and says how much of that is planning.
func BenchmarkLabelledSets(b *testing.B) {
	for _, name := range []string{"hprd", "github16"} {
		b.Run(name, func(b *testing.B) {
			dir := filepath.Join(dataDir(b), "labelled", name)
			g, err := weft.Open(b.Context(), filepath.Join(dir, name+".graph.gz"))
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			files, err := filepath.Glob(filepath.Join(dir, "queries", "*.graph"))
			if err != nil || len(files) == 0 {
				b.Fatalf("no queries: %v", err)
			}
			var queries []*weft.Query
			for _, f := range files {
				qs, err := weft.ParseFile(f)
				if err != nil {
					b.Fatal(err)
				}
				queries = append(queries, qs...)
			}
			var plan, search time.Duration
			for b.Loop() {
				for _, q := range queries {
					r, err := g.Count(b.Context(), q, weft.WithThreads(1))
					if err != nil {
						b.Fatal(err)
					}
					plan += r.Plan
					search += r.Search
				}
			}
			each := float64(b.N * len(queries))
			b.ReportMetric(float64(plan.Microseconds())/each, "plan-µs/query")
			b.ReportMetric(float64(search.Microseconds())/each, "search-µs/query")
		})
	}
}

// BenchmarkMotifs counts all motifs of a size in a small graph, planning
// included.
func BenchmarkMotifs(b *testing.B) {
	for _, name := range []string{"citeseer.graph.gz", "ca-grqc.csv.gz"} {
		g, err := weft.Open(b.Context(), filepath.Join("testdata", "graphs", name))
		if err != nil {
			b.Fatal(err)
		}
		defer g.Close()
		for _, k := range []int{4, 5} {
			b.Run(fmt.Sprintf("%s/%d", name, k), func(b *testing.B) {
				for b.Loop() {
					if _, err := g.Motifs(b.Context(), k); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
