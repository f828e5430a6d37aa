package device

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/matcha/schedule"
)

// labelSum reads labels that the program's text does not know.
const labelSum = `input G: Graph
def f(v):
    let l = vertex_label(G, v)
    return l * size(apply(lambda w: w, lambda w: vertex_label(G, w) == l, neighbor(G, v)))
return sum(apply(f, None, vertices(G)))
`

// TestCompilesForGPUs compiles programs that count, list, store, look at labels and use a Counter,
// under schedules that use all of matcha/phase.cuh and matcha/crew.cuh.
func TestCompilesForGPUs(t *testing.T) {
	for i, program := range []struct{ name, text, schedule string }{
		{"clique5", named(t, "clique5"), "group=8,shared=c2"},
		{"diamonds", named(t, "diamonds"), "group=32,steal=off,loop=static"},
		{"wedges", named(t, "wedges"), "group=1,loop=static"},
		{"motifs5_parts", named(t, "motifs5_parts"), ""},
		{"labels", labelSum, ""},
	} {
		o, err := schedule.Parse(schedule.CUDA, program.schedule)
		if err != nil {
			t.Fatal(err)
		}
		_, _, c := ready(t, program.text, cliques(t, 6))
		text, err := newText(c, Options{Schedule: o, Stats: i == 1})
		if err != nil {
			t.Fatal(err)
		}
		check.CompileCheck(t, cuda.Source{
			Name: program.name, Text: text.all,
		})
	}
}
