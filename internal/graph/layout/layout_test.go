package layout

import (
	"context"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
)

func TestOrientedAndHubs(t *testing.T) {
	ctx := context.Background()
	g, err := gen.Generate(ctx, gen.Spec{Model: "rmat", Scale: 9, M: 4000, Seed: 2}, 2)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Orient(ctx, g.Out, 2)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for v := range uint32(g.NumVertices()) {
		a, b := o.Below(v), o.Above(v)
		if !slices.Equal(append(slices.Clone(a), b...), g.Out.List(v)) || len(a) > 0 && a[len(a)-1] >= v || len(b) > 0 && b[0] <= v {
			t.Fatal(v, a, b)
		}
		most = max(most, len(a))
	}
	if most != o.MaxBelow() {
		t.Fatal(most)
	}
	h, err := NewHubs(ctx, g.Out, 20, 64*10, 2)
	if err != nil || h.Len() != 10 {
		t.Fatal(h.Len(), err)
	}
	for v := range uint32(10) {
		b := h.Bitmap(v)
		if Count(b, b) != g.Out.Degree(v) {
			t.Fatal(v)
		}
		for _, w := range g.Out.List(v) {
			if b[w>>6]>>(w&63)&1 == 0 {
				t.Fatal(v, w)
			}
		}
	}
	if h.Bitmap(11) != nil {
		t.Fatal("a hub too many")
	}
}
