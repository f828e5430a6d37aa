package irgen

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// BenchmarkFrontEnd is a program of the library from its text to the text of its
// code, with all passes, on a graph of a few vertices.
func BenchmarkFrontEnd(b *testing.B) {
	g := labelled(b)
	for _, e := range library.Entries() {
		b.Run(e.Name, func(b *testing.B) {
			for b.Loop() {
				f, err := syntax.Parse(e.Text)
				if err != nil {
					b.Fatal(err)
				}
				p, err := asg.Build(f)
				if err != nil {
					b.Fatal(err)
				}
				passes.Optimize(p)
				in := map[string]data.Input{}
				for _, n := range p.Inputs {
					in[n.Name] = data.Input{Graph: g, Items: []types.Word{0, 1, 5, 1, 2, 6}}
				}
				set, err := data.Bind(p, in)
				if err != nil {
					b.Fatal(err)
				}
				c, err := Lower(context.Background(), p, set)
				if err != nil {
					b.Fatal(err)
				}
				passes.OptimizeIR(c.Program)
				cuda.Text(c.Program)
			}
		})
	}
}
