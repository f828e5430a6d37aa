package device

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestLargeGraph: a program over a graph that does not fit the memory of the device reads
// neighbour lists in host memory, says how many bytes, and has the same result.
func TestLargeGraph(t *testing.T) {
	g := cliques(t, 240)
	lists := int64(4 * len(g.Out.Adj))
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, memory := range []int64{0, lists} {
			s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory, Ring: 1 << 14})
			if err != nil {
				t.Fatal(err)
			}
			p, set, c := ready(t, "input G: Graph\nreturn sum(apply(lambda v: size(neighbor(G, v)), None, vertices(G)))\n", g)
			r, err := Run(t.Context(), s, p, set, c, Options{Schedule: schedule.Default(schedule.CUDA)})
			if err != nil || len(r.Words) != 1 || int64(r.Words[0]) != lists/4 {
				t.Errorf("%d bytes: %v, want %d: %v", memory, r.Words, lists/4, err)
			}
			if (r.Host > 0) != (memory > 0) {
				t.Errorf("%d bytes: %d in host memory", memory, r.Host)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
