package partition_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// TestLeast: the parts of the vertices and their marks must be on the device. With too little memory for them a run ends
// before the graph is cut, and names the memory that works, which explain has named before. That memory is enough, and
// clearly less is not.
func TestLeast(t *testing.T) {
	var pairs [][2]uint32
	for v := range uint32(6000) { // a band in several parts; the other vertices have no edges
		pairs = append(pairs, [2]uint32{v, v + 1}, [2]uint32{v, v + 2}, [2]uint32{v, v + 3})
	}
	g := graph.FromEdges(1<<15, pairs, false)
	d := device.Emulated(t, emu.Options{SMs: 1})
	for _, name := range []string{"triangle", "clique(4)"} {
		p := compile(t, g, name, plan.Options{})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		run := func(memory int64) (least int64, res engine.Result, err error) {
			engines.WithSession(t, session.Options{Memory: memory}, func(s *session.Session) {
				o := engine.Options{Opt: map[string]string{"partition.parts": "3"}}
				ready, failed := over(s).Prepare(t.Context(), g, p, o)
				if failed != nil {
					t.Fatal(failed)
				}
				m := ready.Traits().Memory
				least = m.Least
				if said := strings.Join(m.Lines(), "\n"); !strings.Contains(said, fmt.Sprintf("the smallest --gpu-memory that works is %d", least)) {
					t.Error(said)
				}
				res, err = ready.Run(t.Context(), engine.Goal{})
			}, d)
			return least, res, err
		}
		refused := func(memory int64) int64 {
			least, res, err := run(memory)
			if !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), fmt.Sprintf("--gpu-memory %d is enough", least)) || res.Prepare+res.Search != 0 {
				t.Errorf("%s in %d bytes: %v, prepared in %v and searched in %v", name, memory, err, res.Prepare, res.Search)
			}
			return least
		}
		least := refused(60 << 10)
		refused(least * 7 / 8)
		_, res, err := run(least)
		if strings.Contains(strings.Join(res.Stats, "\n"), " 0 pairs of neighbours between parts") {
			t.Error("no edge is between parts")
		}
		if err != nil || res.Matches != want.Matches || !res.Complete {
			t.Errorf("%s in %d bytes: %v (complete %v, %v), want %v", name, least, res.Matches, res.Complete, err, want.Matches)
		}
	}
}
