package pattern

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWhere: the bits are what Matches says of each element, for one look at each name.
func TestWhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var formula func(depth int) *Label
	formula = func(depth int) *Label {
		switch op := LabelOp(r.IntN(5)); {
		case depth == 0 || op == LabelName:
			return &Label{Op: LabelName, Name: fmt.Sprint("L", r.IntN(5))}
		case op == LabelAny:
			return &Label{Op: LabelAny}
		case op == LabelNot:
			return &Label{Op: op, X: formula(depth - 1)}
		default:
			return &Label{Op: op, X: formula(depth - 1), Y: formula(depth - 1)}
		}
	}
	for range 500 {
		elements := make([][]string, r.IntN(200))
		for i := range elements {
			for k := range 4 { // L4 is of none
				if r.IntN(3) == 0 {
					elements[i] = append(elements[i], fmt.Sprint("L", k))
				}
			}
		}
		l := formula(5)
		names, asked := 0, 0
		l.Names(func(string) { names++ })
		got := l.Where(len(elements), func(name string) (out []int) {
			asked++
			for i, e := range elements {
				if slices.Contains(e, name) {
					out = append(out, i)
				}
			}
			return out
		}, func(i int) bool { return len(elements[i]) > 0 })
		for i, e := range elements {
			want := l.Matches(func(name string) bool { return slices.Contains(e, name) }, len(e) > 0)
			if got[i/64]>>(i%64)&1 != 0 != want {
				t.Fatalf("%s of %v: not %v", l, e, want)
			}
		}
		if asked != names {
			t.Errorf("%s: %d names were looked up %d times", l, names, asked)
		}
	}
}

// TestFormatLong: a chain of conditions is written in time that is linear in its length;
// else this would take hours.
func TestFormatLong(t *testing.T) {
	const n = 300_000
	one := Binary{Op: OpEq, X: ID{Vertex: 0}, Y: Lit{int64(1)}}
	var chain Expr = one
	for range n - 1 {
		chain = Binary{Op: OpOr, X: chain, Y: one}
	}
	p := &Pattern{Vertices: []Vertex{{}}}
	each := len(FormatExpr(p, one))
	if got, want := len(FormatExpr(p, chain)), n*each+(n-1)*len(" OR "); got != want {
		t.Errorf("%d bytes, not %d", got, want)
	}
}
