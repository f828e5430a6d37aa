package layout_test

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/graph/layout"
)

// BenchmarkLookup finds the lists of vertices, in random order, in the partitions of all labels of a
// graph with 200 labels by a power law: in hashed PCSR and in interval-PCSR in turns, each under its own
// ids. "members" asks each partition for the vertices that it has, "all" for all vertices, as GENEVA's
// evaluation (section 8.2). The metric "times" is how many times as fast interval-PCSR is. WEFT_LOOKUPS
// names a graph file to use in place of the generated graph.
func BenchmarkLookup(b *testing.B) {
	g, err := lookupGraph(b)
	if err != nil {
		b.Fatal(err)
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(g.NumVertices())
	// By kind and partition: the partition, and the vertices under its ids.
	type asked struct {
		p            layout.Partition
		members, all []uint32
	}
	var of [2][]asked
	for i, kind := range []layout.Kind{layout.Hashes, layout.Intervals} {
		l, err := layout.Make(b.Context(), g, kind, 0, 0)
		if err != nil {
			b.Fatal(err)
		}
		var all []uint32
		for _, v := range order {
			if l.Renumbering != nil {
				v = int(l.New[v])
			}
			all = append(all, uint32(v))
		}
		for label := range uint32(len(g.EdgeLabels)) {
			for _, side := range layout.RowsByLabel(g).Sides() {
				p, err := one(b.Context(), l, label, side)
				if err != nil {
					b.Fatal(err)
				}
				a := asked{p: p, all: all}
				for _, v := range all {
					if len(p.List(v)) > 0 {
						a.members = append(a.members, v)
					}
				}
				of[i] = append(of[i], a)
			}
		}
	}
	for _, what := range []string{"members", "all"} {
		b.Run(what, func(b *testing.B) {
			var took [2]time.Duration
			var found, looked [2]int
			for range b.N {
				for k := range of[0] {
					for i := range of {
						a := &of[i][k]
						ids := a.members
						if what == "all" {
							ids = a.all
						}
						start := time.Now()
						switch p := a.p.(type) {
						case *layout.Hashed:
							for _, v := range ids {
								found[i] += len(p.List(v))
							}
						case *layout.Interval:
							for _, v := range ids {
								found[i] += len(p.List(v))
							}
						}
						took[i] += time.Since(start)
						looked[i] += len(ids)
					}
				}
			}
			if found[0] == 0 || found[0] != found[1] || looked[0] != looked[1] {
				b.Fatalf("%d neighbours in %d lists, %d in %d", found[0], looked[0], found[1], looked[1])
			}
			b.ReportMetric(float64(took[0])/float64(looked[0]), "ns/hashed")
			b.ReportMetric(float64(took[1])/float64(looked[1]), "ns/interval")
			b.ReportMetric(float64(took[0])/float64(took[1]), "times")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func lookupGraph(b *testing.B) (*graph.Graph, error) {
	if path := os.Getenv("WEFT_LOOKUPS"); path != "" {
		return graph.Open(b.Context(), path, graph.OpenOptions{})
	}
	return gen.Generate(b.Context(), gen.Spec{Model: "rmat", Scale: 16, M: 1 << 20, EdgeLabels: 200, Skew: 1, Seed: 1}, 0)
}
