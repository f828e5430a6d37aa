package weft_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// BenchmarkLabelledSets counts all queries of a set in each iteration, on one thread. It reports the part of
// planning, on average and for each query's fastest run.
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
				qs, err := weft.ParseFile(b.Context(), f)
				if err != nil {
					b.Fatal(err)
				}
				queries = append(queries, qs...)
			}
			var plan, search time.Duration
			least := make([][2]time.Duration, len(queries))
			for b.Loop() {
				for i, q := range queries {
					r, err := g.Count(b.Context(), q, weft.WithThreads(1))
					if err != nil {
						b.Fatal(err)
					}
					plan += r.Plan
					search += r.Search
					if l := &least[i]; l[0] == 0 {
						*l = [2]time.Duration{r.Plan, r.Search}
					} else {
						*l = [2]time.Duration{min(l[0], r.Plan), min(l[1], r.Search)}
					}
				}
			}
			each := float64(b.N * len(queries))
			b.ReportMetric(float64(plan.Microseconds())/each, "plan-µs/query")
			b.ReportMetric(float64(search.Microseconds())/each, "search-µs/query")
			var leastPlan, leastSearch time.Duration
			for _, l := range least {
				leastPlan += l[0]
				leastSearch += l[1]
			}
			b.ReportMetric(float64(leastPlan.Nanoseconds())/1e3/float64(len(queries)), "least-plan-µs")
			b.ReportMetric(float64(leastSearch.Nanoseconds())/1e3/float64(len(queries)), "least-search-µs")
		})
	}
}

// BenchmarkMotifs plans and counts all motifs of a size in a small graph.
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

// BenchmarkPlanning plans the patterns P1 to P9, with estimates: the work of a count before its search.
func BenchmarkPlanning(b *testing.B) {
	g, err := weft.Open(b.Context(), filepath.Join("testdata", "graphs", "ego-facebook.txt.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	for _, name := range []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9"} {
		qs, err := weft.PatternsByName("gmatch:" + name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Explain(b.Context(), qs[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
