package matchatest

import (
	"math/rand/v2"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Buckets are programs whose graphs workers make, each with the number of its parallel phases.
var Buckets = []struct {
	Text     string
	Parallel int
}{
	{`input E: List[Tuple[int, 3]]
let D = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 1), get(e, 0)]), lambda e: get(e, 2) != 7, E))
return sum(apply(lambda e: size(intersect(neighbor(D, get(e, 0)), neighbor(D, get(e, 1)))), None, E))
`, 6}, // counts, two of prefix sums, places, sorts, and the sum
	{`input E: List[Tuple[int, 3]]
let D = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 1), get(e, 0)]), None, E))
let far = sum(apply(lambda e: get(e, 0) * 3 + get(e, 1), None, edges(D)))
return far + size(vertices(D)) * 1000003 + sum(vertices(D))
`, 11}, // prefix sums of sizes and a copy; prefix sums of vertices; the sum
	{`input E: List[Tuple[int, 3]]
let D = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 0), get(e, 1)]), None, E), einfo=apply(lambda e: get(e, 2) * 0.5, None, E))
def f(v):
    let n = neighbor(D, v)
    return sum(apply(lambda w, t, k: w * k, lambda w, t, k: t < 900.0, n, edge_info(D, v), range(size(n))))
return sum(apply(f, None, range(6000)))
`, 6},
	{`input E: List[Tuple[int, 3]]
let D = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 0), get(e, 1)]), None, E), einfo=apply(lambda e: get(e, 2), None, E))
def f(e):
    let n = neighbor(D, get(e, 1))
    return size(apply(lambda w, t: t, lambda w, t: w == get(e, 0) and t > get(e, 2), n, edge_info(D, get(e, 1))))
return sum(apply(f, None, E)) * 1000003 + sum(apply(lambda e: get(e, 0) - get(e, 1), None, edges(D)))
`, 9}, // sorts by second ends, first ends of all, and two sums
	{`input E: List[Tuple[int, 3]]
input T: List[int]
let D = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 0), get(e, 1)]), None, E), vlabel=apply(lambda e: mk_tuple(val=[get(e, 0), get(e, 0) % 7]), None, E), einfo=T)
def f(v):
    let n = neighbor(D, v)
    return sum(apply(lambda w, t, k: vertex_label(D, w) * t * k, None, n, edge_info(D, v), range(size(n)))) + vertex_label(D, v + 1)
return sum(apply(f, None, range(7000)))
`, 8}, // labels, and a comparison with them
}

// BucketInputs are the inputs of one of Buckets: n edges with information between numbers below 6000, of which
// many begin or end at few, and n numbers.
func BucketInputs(text string, n int) map[string]data.Input {
	r := rand.New(rand.NewPCG(3, 4))
	end := func() types.Word {
		if r.IntN(3) > 0 {
			return types.Word(r.IntN(5) * 1117)
		}
		return types.Word(r.IntN(6000))
	}
	var items []types.Word
	for range n {
		items = append(items, end(), end(), types.Word(r.IntN(50)))
	}
	in := map[string]data.Input{"E": {Items: items}}
	if strings.Contains(text, "input T:") {
		var times []types.Word
		for range n {
			times = append(times, types.Word(r.IntN(50)))
		}
		in["T"] = data.Input{Items: times}
	}
	return in
}
