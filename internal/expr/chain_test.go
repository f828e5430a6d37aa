package expr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// some are values of all kinds that lists may have, and that are looked for.
var some = []any{
	nil, true, false, int64(0), int64(1), int64(-7), int64(1<<53 + 1), int64(math.MaxInt64), int64(math.MinInt64), 0.0, math.Copysign(0, -1), 1.0, 1.5, -7.0,
	float64(1 << 53), float64(1 << 62), -float64(1 << 63), float64(1 << 63), math.NaN(), math.Inf(1), math.Inf(-1), "", "1", "a", []any{int64(1)},
}

// TestConstants: a set of constants answers as a look at one after the other does.
func TestConstants(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var items []Value
		for range rnd.IntN(6) {
			items = append(items, Literal(some[rnd.IntN(len(some))]))
		}
		set := newConstants(items)
		for _, x := range some {
			v := Literal(x)
			if got, want := set.in(v).Any(), inList(v, Value{Kind: List, List: items}).Any(); got != want {
				t.Fatalf("%v IN %v is %v, want %v", x, items, got, want)
			}
		}
	}
}

// TestJoined: what AND and OR join has the value of the operators one after the other, with equalities and without.
func TestJoined(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	lit := func() pattern.Expr { return pattern.Lit{Value: some[rnd.IntN(len(some)-1)]} }
	for range 5000 {
		op := []pattern.Op{pattern.OpAnd, pattern.OpOr}[rnd.IntN(2)]
		left := lit()
		var x pattern.Expr
		want := null
		for i := range 2 + rnd.IntN(14) {
			y := pattern.Expr(pattern.Binary{Op: []pattern.Op{pattern.OpEq, pattern.OpNe}[rnd.IntN(2)], X: left, Y: lit()})
			switch rnd.IntN(6) {
			case 0:
				left = lit()
			case 1:
				y = pattern.Binary{Op: pattern.OpEq, X: lit(), Y: left}
			case 2:
				y = lit()
			}
			v := (&Scope{}).Compile(y)(nil, nil)
			if i == 0 {
				x, want = y, v
				continue
			}
			x = pattern.Binary{Op: op, X: x, Y: y}
			stop := op == pattern.OpOr
			switch {
			case want.Kind == Bool && want.isTrue() == stop:
			case v.Kind == Bool && v.isTrue() == stop:
				want = v
			case want.Kind != Bool || v.Kind != Bool:
				want = null
			}
		}
		if got := (&Scope{}).Compile(x)(nil, nil).Any(); got != want.Any() {
			t.Fatalf("%v is %v, want %v", x, got, want.Any())
		}
	}
}

// TestLongCondition: a condition of 100,000 comparisons of one value reads the value once.
func TestLongCondition(t *testing.T) {
	const n = 100_000
	read := 0
	value := pattern.Exists{Sub: &pattern.Pattern{}}
	s := &Scope{Graph: &graph.Graph{}, Exists: func(pattern.Exists) (func([]uint32, []int) bool, error) {
		return func([]uint32, []int) bool { read++; return true }, nil
	}}
	var either, neither pattern.Expr
	list := pattern.List{}
	for i := range n {
		c := pattern.Lit{Value: int64(i)}
		eq, ne := pattern.Expr(pattern.Binary{Op: pattern.OpEq, X: value, Y: c}), pattern.Expr(pattern.Binary{Op: pattern.OpNe, X: c, Y: value})
		if list.Items = append(list.Items, c); i == 0 {
			either, neither = eq, ne
		} else {
			either, neither = pattern.Binary{Op: pattern.OpOr, X: either, Y: eq}, pattern.Binary{Op: pattern.OpAnd, X: neither, Y: ne}
		}
	}
	for _, c := range []struct {
		name string
		x    pattern.Expr
		want any
	}{
		{"OR", either, false}, {"AND", neither, true}, {"IN", pattern.Binary{Op: pattern.OpIn, X: value, Y: list}, false},
	} {
		read = 0
		if got := s.Compile(c.x)(nil, nil).Any(); got != c.want || read != 1 || s.Err != nil {
			t.Errorf("%s: %v, read %d times: %v", c.name, got, read, s.Err)
		}
		if cost := Cost(c.x); cost > 3 {
			t.Errorf("%s: a cost of %d", c.name, cost)
		}
	}
	mixed := pattern.Expr(pattern.Binary{Op: pattern.OpEq, X: pattern.ID{}, Y: pattern.Deg{}})
	for range n - 1 {
		mixed = pattern.Binary{Op: pattern.OpOr, X: mixed, Y: pattern.Binary{Op: pattern.OpEq, X: pattern.ID{}, Y: pattern.Deg{}}}
	}
	if cost := Cost(mixed); cost < n {
		t.Errorf("%s: a cost of %d", fmt.Sprint(n, " comparisons of two values"), cost)
	}
}
