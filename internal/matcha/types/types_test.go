package types

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestCompute compares with numbers of any size.
func TestCompute(t *testing.T) {
	edge := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1 << 32, -1 << 31}))
	rapid.Check(t, func(t *rapid.T) {
		x, y := edge.Draw(t, "x"), edge.Draw(t, "y")
		for _, op := range []string{"+", "-", "*", "/", "%"} {
			a, b, want := big.NewInt(x), big.NewInt(y), new(big.Int)
			got, err := Compute(op, Int, Word(x), Word(y))
			switch op {
			case "+":
				want.Add(a, b)
			case "-":
				want.Sub(a, b)
			case "*":
				want.Mul(a, b)
			default:
				if y == 0 {
					if !errors.Is(err, ErrDivision) {
						t.Fatalf("%d %s %d: %v", x, op, y, err)
					}
					continue
				}
				if op == "/" {
					want.Quo(a, b)
				} else if want.Rem(a, b); y == -1 && x == math.MinInt64 {
					continue // no machine has this remainder
				}
			}
			if !want.IsInt64() {
				if !errors.Is(err, ErrOverflow) {
					t.Fatalf("%d %s %d = %d, %v", x, op, y, got, err)
				}
			} else if err != nil || int64(got) != want.Int64() {
				t.Fatalf("%d %s %d = %d, %v; want %s", x, op, y, got, err, want)
			}
		}
	})
}

func TestFloats(t *testing.T) {
	for _, c := range []struct {
		op         string
		x, y, want float64
	}{{"+", 1, 2, 3}, {"-", 1, 2, -1}, {"*", 3, 2, 6}, {"/", 3, 2, 1.5}, {"%", 7, 2.5, 2}} {
		if got, err := Compute(c.op, Float, FromFloat(c.x), FromFloat(c.y)); err != nil || got.Float() != c.want {
			t.Errorf("%v %s %v = %v, %v", c.x, c.op, c.y, got.Float(), err)
		}
	}
	if !Compare("<", Float, FromFloat(-1), FromFloat(0.5)) || Compare(">=", Int, -1, 0) || !Compare("!=", Bool, 0, 1) {
		t.Error("comparisons")
	}
}

func TestBounds(t *testing.T) {
	deg, n := Size(Degree, "G"), Size(Vertices, "G")
	sizes := func(s Sym) int64 { return map[SymKind]int64{Degree: 7, Vertices: 100}[s.Of] }
	for _, c := range []struct {
		b    *Bound
		text string
		want int64
	}{
		{MinOf(deg, MinOf(n, deg)), "min(vertices(G), max_degree(G))", 7},
		{MinOf(nil, deg), "max_degree(G)", 7},
		{MaxOf(deg, n), "max(max_degree(G), vertices(G))", 100},
		{Times(Plus(deg, Exactly(1)), n), "(max_degree(G) + 1) * vertices(G)", 800},
		{Plus(n, Exactly(-1)), "vertices(G) - 1", 99},
		{Times(Exactly(math.MaxInt64), n), "9223372036854775807 * vertices(G)", math.MaxInt64},
		{Plus(Plus(n, Exactly(-1)), Exactly(1)), "vertices(G)", 100},
		{Plus(Exactly(2), Exactly(3)), "5", 5},
	} {
		if c.b.String() != c.text || c.b.Value(sizes) != c.want {
			t.Errorf("%s is %d, want %s, %d", c.b, c.b.Value(sizes), c.text, c.want)
		}
	}
	if Plus(nil, n) != nil || MaxOf(n, nil) != nil {
		t.Error("a sum with what is not known is known")
	}
}

func TestJoin(t *testing.T) {
	v := InputGraph("G", nil).Facts.From
	a := TupleOf(v, v)
	b := TupleOf(v, &Type{Kind: Int, Max: Exactly(3)})
	j := Join(a, b)
	if !Same(a, b) || !Same(j, a) || j.Part(0).Vertex != "G" || j.Part(1).Vertex != "" || j.String() != "Tuple[int, 2]" {
		t.Errorf("%s %+v", j, j)
	}
	if Same(a, TupleOf(v)) || Same(a, TInt) || Same(ListOf(TInt, nil), ListOf(TBool, nil)) {
		t.Error("different types are the same")
	}
}

// TestLongBounds: a formula does not double with each step.
func TestLongBounds(t *testing.T) {
	n := Size(Vertices, "G")
	sum, least := n, n
	for i := range 100 {
		sum = Plus(sum, sum)
		least = MinOf(Plus(n, Exactly(int64(i))), Times(least, Size(Degree, "G")))
	}
	if sum != nil {
		t.Errorf("a sum of 2^100 terms is known")
	}
	if least == nil || least.parts > maxParts || len(least.String()) > 2000 {
		t.Errorf("%v", least)
	}
}
