package large

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
)

// BenchmarkSets counts every query of a set in each iteration, everything after
// the plan included: filtering, candidate graph, search.
func BenchmarkSets(b *testing.B) {
	for _, name := range []string{"hprd", "github16", "yeast"} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", name, threads), func(b *testing.B) {
				s := loadSet(b, name)
				for b.Loop() {
					for _, q := range s.queries {
						res, err := Run(context.Background(), s.w.g, q.p, engine.Options{Threads: threads}, engine.Goal{})
						if err != nil || res.Matches.String() != q.want {
							b.Fatalf("%s: %v, %v; want %s", q.name, res.Matches, err, q.want)
						}
					}
				}
			})
		}
	}
}
