package device

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/matcha/schedule"
)

// TestCompilesForGPUs compiles programs that count, list, store and use a Counter,
// under schedules that use all of matcha/phase.cuh and matcha/crew.cuh.
func TestCompilesForGPUs(t *testing.T) {
	for i, name := range []string{"clique5", "diamonds", "wedges"} {
		o, err := schedule.Parse(schedule.CUDA, []string{"group=8,shared=c2", "group=32,steal=off,loop=static", "group=1,loop=static"}[i])
		if err != nil {
			t.Fatal(err)
		}
		_, _, c := ready(t, named(t, name), cliques(t, 6))
		text, err := newText(c, Options{Schedule: o, Stats: i == 1})
		if err != nil {
			t.Fatal(err)
		}
		check.CompileCheck(t, cuda.Source{
			Name: name, Text: text.all,
		})
	}
}
