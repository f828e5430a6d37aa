package matchatest

import (
	"context"

	"github.com/weftgraph/weft/internal/graph"
)

// Overflow is a program whose numbers reach the end of 64 bits on a star.
type Overflow struct {
	Name, Text string
	Leaves     int // of the star G
	// Want is the result; Fails is how the error begins where there is none.
	Want, Fails string
}

// Overflows are such programs.
var Overflows = []Overflow{
	{Name: "binomial", Leaves: 2000, Fails: "line 5, column 90: the result does not fit 64 bits", Text: `input G: Graph
def extend1(v0):
    let s0 = neighbor(G, v0)
    let n1 = size(s0)
    return n1 * (n1 - 1) / 2 * (n1 - 2) / 3 * (n1 - 3) / 4 * (n1 - 4) / 5 * (n1 - 5) / 6 * (n1 - 6) / 7 * (n1 - 7) / 8 * (n1 - 8) / 9 * (n1 - 9) / 10
return sum(apply(extend1, None, vertices(G)))
`},
	{Name: "sum", Leaves: 4, Fails: "line 2, column 8: the result does not fit 64 bits", Text: `input G: Graph
return sum(apply(lambda v: 9223372036854775807 - v, None, vertices(G)))
`},
	{Name: "sum that fits", Leaves: 4, Want: "[9223372036854775807]", Text: `input G: Graph
return sum(apply(lambda v: 3074457345618258599 + 2 * v * v, lambda v: v < 3, vertices(G)))
`},
	{Name: "sum of negative numbers that fits", Leaves: 4, Want: "[-9223372036854775808]", Text: `input G: Graph
return sum(apply(lambda v: v * -4611686018427387904, lambda v: v < 2 or v == 3 and v * v < v, vertices(G))) + sum(apply(lambda v: -4611686018427387904, lambda v: v == 4, vertices(G)))
`},
	{Name: "product", Leaves: 4, Fails: "line 2, column 45: the result does not fit 64 bits", Text: `input G: Graph
return sum(apply(lambda v: (v + 3037000499) * (v + 3037000499) / 1000, lambda v: v > 0, vertices(G)))
`},
	{Name: "product that fits", Leaves: 4, Want: "[9223372036854775807]", Text: `input G: Graph
return sum(apply(lambda v: (v + 6) * 1317624576693539401, lambda v: v == 1, vertices(G)))
`},
	{Name: "counter", Leaves: 4, Fails: "line 3, column 17: the result does not fit 64 bits", Text: `input G: Graph
let c = Counter(1)
apply(lambda v: add(c, 0, 4611686018427387904), None, vertices(G))
return get(c, 0)
`},
	{Name: "counter of lanes", Leaves: 4, Fails: "line 4, column 21: the result does not fit 64 bits", Text: `input G: Graph
let c = Counter(size(vertices(G)))
def f(v):
    apply(lambda w: add(c, w, 4611686018427387904), None, neighbor(G, v))
apply(f, None, vertices(G))
return get(c, 0)
`},
}

// Star returns a graph of vertex 0 and leaves neighbours of it.
func Star(t Failer, leaves int) *graph.Graph {
	t.Helper()
	in := graph.CSRInput{Off: []uint64{0, uint64(leaves)}}
	for v := range leaves {
		in.Adj = append(in.Adj, uint32(v+1))
	}
	for v := range leaves {
		in.Adj, in.Off = append(in.Adj, 0), append(in.Off, uint64(leaves+v+1))
	}
	g, err := graph.FromCSR(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
