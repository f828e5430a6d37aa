package lower_test

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/onelane"
)

// farInts and farFloats are numbers that rounding would make equal, and the ends
// of both ranges.
var (
	farInts = []int64{
		0, 1, -1, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<53 + 2, -1<<53 - 1, 1<<62 + 1,
		math.MaxInt64, math.MaxInt64 - 511, math.MaxInt64 - 512, math.MinInt64, math.MinInt64 + 1,
	}
	farFloats = []float64{
		math.Copysign(0, -1), 0.5, -0.5, 1<<53 - 1, 1 << 53, 1<<53 + 2, -1 << 53, 1 << 62,
		math.Nextafter(1<<63, 0), 1 << 63, -1 << 63, math.NaN(), math.Inf(1), math.Inf(-1),
	}
)

// farGraph has an edge between any two of its vertices, whose properties i and f
// are the numbers above.
func farGraph(t *testing.T) *graph.Graph {
	t.Helper()
	pool := memory.NewGoAllocator()
	ints, floats := array.NewInt64Builder(pool), array.NewFloat64Builder(pool)
	ints.AppendValues(farInts, nil)
	floats.AppendValues(farFloats, nil)
	vc, ec := &graph.VertexChunk{}, &graph.EdgeChunk{}
	for u := range uint64(len(farInts)) {
		vc.ID = append(vc.ID, u)
		for v := range uint64(len(farInts)) {
			if u != v {
				ec.Src, ec.Dst = append(ec.Src, u), append(ec.Dst, v)
			}
		}
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	vc.Props = array.NewRecordBatch(schema, []arrow.Array{ints.NewArray(), floats.NewArray()}, int64(len(farInts)))
	b := graph.NewBuilder(graph.BuildOptions{Directed: true})
	if err := b.AddVertices(vc); err != nil {
		t.Fatal(err)
	}
	if err := b.AddEdges(ec); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestIntsAndFloatsCompareExactly counts by every comparison of an integer with a
// floating-point number, column with column and column with constant. It does so on the host,
// by the oracle, interpreted, as C and as the text for GPUs. It compares with math/big.
func TestIntsAndFloatsCompareExactly(t *testing.T) {
	g := farGraph(t)
	prop := func(v int, key string) pattern.Expr { return pattern.Prop{Of: pattern.Ref{Index: v}, Key: key} }
	holds := map[pattern.Op]func(c int) bool{
		pattern.OpEq: func(c int) bool { return c == 0 }, pattern.OpNe: func(c int) bool { return c != 0 },
		pattern.OpLt: func(c int) bool { return c < 0 }, pattern.OpLe: func(c int) bool { return c <= 0 },
		pattern.OpGt: func(c int) bool { return c > 0 }, pattern.OpGe: func(c int) bool { return c >= 0 },
	}
	exact := func(op pattern.Op, i int64, f float64) bool {
		if f != f {
			return op == pattern.OpNe
		}
		return holds[op](new(big.Float).SetInt64(i).Cmp(big.NewFloat(f)))
	}
	pairs := func(keep func(i int64, f float64) bool) (n int) {
		for a, i := range farInts {
			for b, f := range farFloats {
				if a != b && keep(i, f) {
					n++
				}
			}
		}
		return n
	}
	var cases []textCase
	check := func(x pattern.Expr, want int) {
		t.Helper()
		pl, err := planner.Compile(g, conditioned(x), plan.Options{Root: plan.NoRoot, Method: "nest", Embeddings: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []engine.Engine{host.New(), oracle.New(), engines.Of(interpreted{o: lower.Options{View: lower.Checks, Choices: true}})} {
			got, err := engine.Once(context.Background(), e, g, pl, engine.Options{Threads: 1}, engine.Goal{})
			if err != nil || got.Matches != engine.U64(uint64(want)) {
				t.Errorf("%s by %s: %v, %v; want %d", pattern.Format(conditioned(x)), e.Name(), got.Matches, err, want)
			}
		}
		c := textCase{g: g, p: pl, o: lower.Options{View: lower.Checks, Counting: true, Choices: true}}
		if c.code, err = lower.Nest(pl, c.o); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	for op := pattern.OpEq; op <= pattern.OpGe; op++ {
		check(pattern.Binary{Op: op, X: prop(0, "i"), Y: prop(1, "f")}, pairs(func(i int64, f float64) bool { return exact(op, i, f) }))
		check(pattern.Binary{Op: op, X: prop(1, "f"), Y: prop(0, "i")}, pairs(func(i int64, f float64) bool {
			if f != f {
				return op == pattern.OpNe
			}
			return holds[op](big.NewFloat(f).Cmp(new(big.Float).SetInt64(i)))
		}))
	}
	for _, op := range []pattern.Op{pattern.OpEq, pattern.OpLt, pattern.OpGe} {
		for _, k := range []int64{5, 1<<53 + 1, math.MaxInt64, math.MinInt64} {
			check(pattern.Binary{Op: op, X: pattern.Lit{Value: k}, Y: prop(1, "f")}, pairs(func(_ int64, f float64) bool { return exact(op, k, f) }))
			other := map[pattern.Op]pattern.Op{pattern.OpEq: pattern.OpEq, pattern.OpLt: pattern.OpGt, pattern.OpGe: pattern.OpLe}[op]
			check(pattern.Binary{Op: other, X: prop(1, "f"), Y: pattern.Lit{Value: k}}, pairs(func(_ int64, f float64) bool { return exact(op, k, f) }))
		}
		for _, k := range []float64{0.5, 1 << 53, 1 << 63, -1 << 63, math.Inf(-1)} {
			check(pattern.Binary{Op: op, X: prop(0, "i"), Y: pattern.Lit{Value: k}}, pairs(func(i int64, _ float64) bool { return exact(op, i, k) }))
			check(pattern.Binary{Op: pattern.OpIn, X: prop(0, "i"), Y: pattern.List{Items: []pattern.Expr{pattern.Lit{Value: k}, prop(1, "i")}}},
				pairs(func(i int64, _ float64) bool { return exact(pattern.OpEq, i, k) }))
		}
	}
	t.Run("C", func(t *testing.T) { textOfC(t, compilerOfC(t), cases) })
	t.Run("GPU text", func(t *testing.T) {
		onelane.Skip(t)
		textOfCPP(t, cases)
	})
}

// TestArithmeticAtTheEnds: a division by zero is NULL for integers and fractions
// alike, and what 63 bits do not hold goes on as a floating-point number.
func TestArithmeticAtTheEnds(t *testing.T) {
	g := farGraph(t)
	lit := func(x any) pattern.Expr { return pattern.Lit{Value: x} }
	op := func(op pattern.Op, x, y pattern.Expr) pattern.Expr { return pattern.Binary{Op: op, X: x, Y: y} }
	null := func(x pattern.Expr) pattern.Expr { return pattern.Unary{Op: pattern.OpIsNull, X: x} }
	// Column i of vertex a is the number k.
	at := func(k int64, x pattern.Expr) pattern.Expr {
		return op(pattern.OpAnd, op(pattern.OpEq, pattern.Prop{Key: "i"}, lit(k)), x)
	}
	i, zero := pattern.Expr(pattern.Prop{Key: "i"}), pattern.Expr(pattern.Binary{Op: pattern.OpSub, X: pattern.ID{Vertex: 1}, Y: pattern.ID{Vertex: 1}})
	half := op(pattern.OpMul, i, lit(0.5))
	least := int64(math.MinInt64)
	var cases []textCase
	n := uint64(len(farInts) - 1)
	for k, x := range []pattern.Expr{
		at(1, null(op(pattern.OpDiv, i, zero))),
		at(1, null(op(pattern.OpMod, i, zero))),
		at(1, null(op(pattern.OpDiv, half, zero))),
		at(1, null(op(pattern.OpMod, half, zero))),
		at(0, null(op(pattern.OpDiv, half, op(pattern.OpMul, zero, lit(-1.5))))),
		at(0, null(op(pattern.OpDiv, lit(1.5), half))),
		at(0, null(op(pattern.OpDiv, half, half))),
		at(0, null(op(pattern.OpDiv, op(pattern.OpMul, i, i), i))),
		at(least, op(pattern.OpEq, op(pattern.OpDiv, i, op(pattern.OpSub, zero, lit(int64(1)))), lit(0x1p63))),
		at(least, op(pattern.OpEq, op(pattern.OpDiv, i, lit(int64(-1))), lit(0x1p63))),
		at(least, op(pattern.OpEq, op(pattern.OpMod, i, op(pattern.OpSub, zero, lit(int64(1)))), zero)),
		at(least, op(pattern.OpEq, pattern.Unary{Op: pattern.OpNeg, X: i}, lit(0x1p63))),
		at(least, op(pattern.OpEq, pattern.Unary{Op: pattern.OpNeg, X: op(pattern.OpSub, i, zero)}, lit(0x1p63))),
		at(least, op(pattern.OpEq, op(pattern.OpSub, i, lit(int64(1))), lit(-0x1p63))),
		at(math.MaxInt64, op(pattern.OpEq, op(pattern.OpAdd, i, lit(int64(1))), lit(0x1p63))),
		at(math.MaxInt64, op(pattern.OpLt, op(pattern.OpSub, i, zero), lit(0x1p63))),
		at(math.MaxInt64, op(pattern.OpEq, op(pattern.OpMul, i, op(pattern.OpSub, zero, i)), lit(-0x1p126))),
		at(math.MaxInt64, op(pattern.OpEq, pattern.Unary{Op: pattern.OpNeg, X: i}, op(pattern.OpAdd, lit(least), lit(int64(1))))),
	} {
		p := conditioned(op(pattern.OpAnd, x, op(pattern.OpGe, pattern.ID{Vertex: 1}, lit(int64(0)))))
		pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: "nest", Embeddings: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []engine.Engine{host.New(), oracle.New(), engines.Of(interpreted{o: lower.Options{View: lower.Checks, Choices: true}})} {
			got, err := engine.Once(context.Background(), e, g, pl, engine.Options{Threads: 1}, engine.Goal{})
			if err != nil || got.Matches != engine.U64(n) {
				t.Errorf("%d: %s by %s: %v, %v; want %d", k, pattern.Format(p), e.Name(), got.Matches, err, n)
			}
		}
		c := textCase{g: g, p: pl, o: lower.Options{View: lower.Checks, Counting: true, Choices: true}}
		if c.code, err = lower.Nest(pl, c.o); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	t.Run("C", func(t *testing.T) { textOfC(t, compilerOfC(t), cases) })
	t.Run("GPU text", func(t *testing.T) {
		onelane.Skip(t)
		textOfCPP(t, cases)
	})
}
