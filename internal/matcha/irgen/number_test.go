package irgen

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// TestNumbers: numbers among the inputs are what they are in the code, though its text does not have them.
func TestNumbers(t *testing.T) {
	text := "input k: int\ninput x: float\ninput b: bool\nreturn mk_tuple(val=[k, size(apply(lambda i: i, lambda i: b and x < 0.5, range(3)))])\n"
	formatted := map[string]bool{}
	for _, k := range []int64{0, 1, -1, 7, 1 << 32, -1 << 32, 1<<53 + 1, math.MaxInt64, math.MinInt64} {
		for _, x := range []float64{-2, 0.25, 1e300} {
			for _, b := range []bool{false, true} {
				p := matchatest.Build(t, text)
				in := map[string]data.Input{"k": {Var: types.Word(k)}, "x": {Var: types.FromFloat(x)}, "b": {Var: types.FromBool(b)}}
				set, err := data.Bind(p, in)
				if err != nil {
					t.Fatal(err)
				}
				c, err := Lower(context.Background(), p, set)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				if b && x < 0.5 {
					n = 3
				}
				formatted[c.Format()] = true
				if got, want := run(t, nil, c), fmt.Sprint([]int64{k, int64(n)}); got != want {
					t.Errorf("k = %d, x = %g, b = %v: %s, want %s", k, x, b, got, want)
				}
			}
		}
	}
	if len(formatted) != 1 {
		t.Errorf("%d texts, want 1", len(formatted))
	}
}
