package partition_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph/partition"
)

// TestMeasure prints cut and time of both methods on the graphs that WEFT_MEASURE names: the files, with spaces between
// them. Methods take turns; times are the least of three.
func TestMeasure(t *testing.T) {
	names := strings.Fields(os.Getenv("WEFT_MEASURE"))
	if len(names) == 0 {
		t.Skip("WEFT_MEASURE is not set")
	}
	needMETIS(t)
	for _, name := range names {
		g, err := format.Read(t.Context(), name, format.ReadOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		for _, k := range []int{2, 4, 8, 32} {
			var made [2]*partition.Partition
			var took [2][]time.Duration
			for range 3 {
				for _, m := range methods() {
					start := time.Now()
					p, err := partition.Make(t.Context(), g, partition.Options{Method: m, Parts: k, Slack: partition.DefaultSlack})
					if err != nil {
						t.Fatal(err)
					}
					made[m], took[m] = p, append(took[m], time.Since(start))
				}
			}
			t.Logf("| %s | %d | %d | %d | %.2f | %.3f, %.3f | %.1f |", name, k, made[0].Cut, made[1].Cut, float64(made[0].Cut)/float64(made[1].Cut),
				made[0].Balance(), made[1].Balance(), slices.Min(took[0]).Seconds()/slices.Min(took[1]).Seconds())
		}
	}
}
