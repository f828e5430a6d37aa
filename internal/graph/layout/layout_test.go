package layout

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
)

func TestOrient(t *testing.T) {
	ctx := context.Background()
	g, err := gen.Generate(ctx, gen.Spec{Model: "rmat", Scale: 9, M: 4000, Seed: 2}, 2)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Orient(ctx, g.Out, 2)
	if err != nil {
		t.Fatal(err)
	}
	for v := range uint32(g.NumVertices()) {
		a, b := o.Adj[o.Off[v]:o.First[v]], o.Adj[o.First[v]:o.Off[v+1]]
		if len(a)+len(b) != g.Out.Degree(v) || len(a) > 0 && a[len(a)-1] >= v || len(b) > 0 && b[0] <= v {
			t.Fatal(v, a, b)
		}
	}
}
