package layout

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
)

// BenchmarkMake makes both sides of the partition of one label with 4 M edges, under the ids of interval-PCSR.
func BenchmarkMake(b *testing.B) {
	g, err := gen.Generate(b.Context(), gen.Spec{Model: "rmat", Scale: 20, M: 4_000_000, Directed: true, EdgeLabels: 1, Seed: 1}, 0)
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []Kind{Intervals, Hashes} {
		l, err := Make(context.Background(), g, kind, 0, 0)
		if err != nil {
			b.Fatal(err)
		}
		for _, threads := range []int{1, 2, 4, 8, 16} {
			b.Run(fmt.Sprintf("%v/threads=%d", kind, threads), func(b *testing.B) {
				for b.Loop() {
					for _, side := range []Side{Out, In} {
						if _, err := l.make(context.Background(), Key{0, side}, threads); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
