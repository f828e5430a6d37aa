package irgen

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// TestWindowLimits: a limit that does not fit 64 bits is beyond all items, in the interpreter and in
// generated code.
func TestWindowLimits(t *testing.T) {
	const first, last = -1 << 63, 1<<63 - 1
	for _, c := range []struct {
		cond string
		x, y types.Word
		want int
	}{
		{"t - x < y", last, 1, 4}, {"t - x < y", last, 0, 3}, {"t - x <= y", last, 0, 4}, {"t - x <= y", 1, last, 4},
		{"t - x > y", last, 1, 0}, {"t - x >= y", last, 0, 1}, {"t - x >= y", last, 1, 0},
		{"t - x < y", first, -1, 0}, {"t - x <= y", first, 0, 1}, {"t - x <= y", -1, first, 0}, {"t - x > y", first, -1, 4},
		{"t - x > y", first, 0, 3}, {"t - x >= y", first, -2, 4},
		{"t < x + y", last, last, 4}, {"t > x + y", last, last, 0}, {"t <= x + y", first, first, 0}, {"t >= x + y", first, first, 4},
		{"t <= x", last, 0, 4}, {"t > x", last, 0, 0}, {"t >= x", first, 0, 4}, {"t < x", first, 0, 0}, {"t == x", last, 0, 1}, {"t == x", first, 0, 1},
	} {
		p := matchatest.Build(t, `input x: int
input y: int
input I: List[int]
let G = mk_graph(apply(lambda t: mk_tuple(val=[0, 1]), None, I), einfo=I)
return size(apply(lambda t: t, lambda t: `+c.cond+` and y == y, edge_info(G, 0)))
`)
		passes.Optimize(p)
		set, err := data.Bind(p, map[string]data.Input{"x": {Var: c.x}, "y": {Var: c.y}, "I": {Items: []types.Word{last, 0, first, 5}}})
		if err != nil {
			t.Fatal(err)
		}
		code, err := Lower(context.Background(), p, set)
		if err != nil {
			t.Fatal(err)
		}
		got, err := try(t, code)
		want, wantErr := tryOracle(p, set)
		if err != nil || wantErr != nil || got != want || got != fmt.Sprint([]int{c.want}) {
			t.Errorf("%s for %d and %d: %s (%v), interpreted %s (%v), want %d", c.cond, c.x, c.y, got, err, want, wantErr, c.want)
		}
	}
}
