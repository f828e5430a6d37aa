package sink

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/pattern"
)

// TestArithmetic: divisions by zero are NULL, numbers compare by their exact
// values, and what 63 bits do not hold is a floating-point number.
func TestArithmetic(t *testing.T) {
	const least = int64(math.MinInt64)
	for _, c := range []struct {
		op   pattern.Op
		x, y any
		want string
	}{
		{pattern.OpDiv, int64(1), int64(0), ""},
		{pattern.OpDiv, 1.5, int64(0), ""},
		{pattern.OpDiv, int64(1), 0.0, ""},
		{pattern.OpDiv, 0.0, 0.0, ""},
		{pattern.OpMod, 1.5, 0.0, ""},
		{pattern.OpMod, int64(7), int64(0), ""},
		{pattern.OpAdd, int64(1), nil, ""},
		{pattern.OpAdd, int64(1), int64(0), "1"},
		{pattern.OpMul, 1.5, int64(0), "0"},
		{pattern.OpSub, int64(1), 0.5, "0.5"},
		{pattern.OpSub, 0.5, int64(1), "-0.5"},
		{pattern.OpSub, nil, int64(1), ""},
		{pattern.OpMul, nil, 2.5, ""},
		{pattern.OpAdd, int64(1), "x", ""},
		{pattern.OpAdd, "x", int64(1), ""},
		{pattern.OpSub, "x", "y", ""},
		{pattern.OpAdd, "x", "y", "xy"},
		{pattern.OpDiv, least, int64(-1), "9.223372036854776e+18"},
		{pattern.OpMod, least, int64(-1), "0"},
		{pattern.OpAdd, int64(math.MaxInt64), int64(1), "9.223372036854776e+18"},
		{pattern.OpGt, int64(1<<53 + 1), float64(1 << 53), "true"},
		{pattern.OpEq, int64(1<<53 + 1), float64(1 << 53), "false"},
		{pattern.OpLt, float64(1 << 53), int64(1<<53 + 1), "true"},
		{pattern.OpLt, int64(math.MaxInt64), float64(1 << 63), "true"},
		{pattern.OpLt, math.NaN(), int64(1), ""},
		{pattern.OpNe, math.NaN(), int64(1), "true"},
	} {
		x := pattern.Binary{Op: c.op, X: pattern.Lit{Value: c.x}, Y: pattern.Lit{Value: c.y}}
		col, err := Expr(pathGraph(), &pattern.Pattern{}, "x", x, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := write(t, "csv", []Column{col}, Rows(0, 1))
		if want := c.want; got != "x\n"+want+"\n" && (want != "" || got != "x\n\"\"\n") {
			t.Errorf("%v %v %v: %q, want %q", c.x, c.op, c.y, got, want)
		}
	}
	minus, err := Expr(pathGraph(), &pattern.Pattern{}, "x", pattern.Unary{Op: pattern.OpNeg, X: pattern.Lit{Value: least}}, nil)
	if err != nil || minus.Value(nil) != float64(1<<63) {
		t.Errorf("-(-2^63): %v, %v", minus.Value(nil), err)
	}
}

// TestIDAsInWhere: next to an id a returned constant is of the kind of the ids, as it is
// in a condition.
func TestIDAsInWhere(t *testing.T) {
	x := pattern.Binary{Op: pattern.OpEq, X: pattern.ID{Vertex: 0}, Y: pattern.Lit{Value: "2"}}
	g := pathGraph()
	col, err := Expr(g, &pattern.Pattern{Vertices: make([]pattern.Vertex, 1)}, "x", x, nil)
	if err != nil {
		t.Fatal(err)
	}
	for v := range uint32(g.NumVertices()) {
		if got, want := col.Value([]uint32{v}), g.IDs.Int(v) == 2; got != want {
			t.Errorf("id %d: %v", g.IDs.Int(v), got)
		}
	}
}

// TestNumberThatLeftItsType: a sum beyond 63 bits is not written as a missing value.
func TestNumberThatLeftItsType(t *testing.T) {
	x := pattern.Binary{Op: pattern.OpAdd, X: pattern.Lit{Value: int64(math.MaxInt64)}, Y: pattern.Lit{Value: int64(1)}}
	col, err := Expr(pathGraph(), &pattern.Pattern{}, "sum", x, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"arrow", "parquet"} {
		w, err := New(io.Discard, Options{Format: format, Columns: []Column{col}})
		if err != nil {
			t.Fatal(err)
		}
		if err = w.Emit(0, &engine.Batch{Rows: 1, Width: 1, Vertices: []uint32{0}}); err == nil {
			err = w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "column sum holds int64") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestListsAreNotShown: a list on either side of an operator is an error.
func TestListsAreNotShown(t *testing.T) {
	list, one := pattern.Lit{Value: []any{int64(1)}}, pattern.Lit{Value: int64(1)}
	for _, x := range []pattern.Binary{{Op: pattern.OpEq, X: list, Y: one}, {Op: pattern.OpEq, X: one, Y: list}} {
		if _, err := Expr(pathGraph(), &pattern.Pattern{}, "x", x, nil); err == nil || !strings.Contains(err.Error(), "cannot show a list") {
			t.Errorf("%v: %v", x, err)
		}
	}
}
