package device

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/testing/device"
)

// threeLists is a program that stores a list.
const threeLists = `input G: Graph
def pairs(e):
    let c = intersect(neighbor(G, get(e, 0)), neighbor(G, get(e, 1)))
    return sum(apply(lambda v: size(intersect(c, neighbor(G, v))), None, c))
return sum(apply(pairs, None, edges(G)))
`

// TestLeastMemory: a program with lists works with less and less memory, and then has an error that names the
// least memory that does, which does. A page less does not.
func TestLeastMemory(t *testing.T) {
	g := cliques(t, 24)
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		run := func(memory int64) error {
			s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory, Ring: 1 << 14})
			if err != nil {
				t.Fatal(err)
			}
			p, set, c := ready(t, threeLists, g)
			r, err := Run(t.Context(), s, p, set, c, Options{Schedule: schedule.Default(schedule.CUDA)})
			if err == nil && (len(r.Words) != 1 || r.Words[0] == 0) {
				t.Errorf("%d bytes: %v", memory, r.Words)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			return err
		}
		least := int64(0)
		for memory := int64(1 << 20); least == 0; memory -= memory/3 + 1 {
			var short *shortError
			if err := run(memory); errors.As(err, &short) {
				least = short.least
			} else if least = session.LeastOf(err); err != nil && least == 0 {
				t.Fatalf("%d bytes: %v", memory, err)
			}
		}
		if err := run(least); err != nil {
			t.Errorf("%d bytes are the least, and: %v", least, err)
		}
		if err := run(least - 4096); err == nil {
			t.Errorf("%d bytes are a page less than the least, and do", least-4096)
		}
	})
}

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
