package census

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/gen"
)

// BenchmarkCount counts in a graph with hubs and clustering, on one thread.
func BenchmarkCount(b *testing.B) {
	g, err := gen.Generate(b.Context(), gen.Spec{Model: "rmat", Scale: 12, M: 40000, Seed: 1}, 1)
	if err != nil {
		b.Fatal(err)
	}
	for k := 3; k <= 5; k++ {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			for b.Loop() {
				if _, err := Count(b.Context(), &g.Out, k, engine.Options{Threads: 1}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOrbits counts in the same graph.
func BenchmarkOrbits(b *testing.B) {
	g, err := gen.Generate(b.Context(), gen.Spec{Model: "rmat", Scale: 12, M: 40000, Seed: 1}, 1)
	if err != nil {
		b.Fatal(err)
	}
	for k := 3; k <= 5; k++ {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			for b.Loop() {
				if _, err := Orbits(b.Context(), &g.Out, k, true, engine.Options{Threads: 1}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
