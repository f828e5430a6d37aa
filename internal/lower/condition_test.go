package lower_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// TestConditionsAgreeWithHost interprets random conditions over properties of all types. Values
// are NULL, NaN, numbers at the ends of their ranges and about 2^53. Ids of graphs are numbers
// or texts. The host agrees with the oracle.
func TestConditionsAgreeWithHost(t *testing.T) {
	for _, numeric := range []bool{true, false} {
		g := typedGraph(t, numeric)
		e := engines.Of(interpreted{o: lower.Options{View: lower.Checks, Choices: true}})
		seen := 0
		rapid.Check(t, func(t *rapid.T) {
			x := condition
			if rapid.IntRange(0, 2).Draw(t, "about times") == 0 {
				x = timeCondition
			}
			p := conditioned(x(t, 3))
			if p.Validate() != nil {
				t.Skip("the drawn condition is not valid")
			}
			pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: "nest"})
			if err != nil {
				t.Skip(err)
			}
			want, err := engine.Once(context.Background(), host.New(), g, pl, engine.Options{Threads: 1}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			if err := engines.Refusal(e, g, pl, engine.Options{}); err != nil {
				t.Skip(err)
			}
			got, err := engine.Once(context.Background(), e, g, pl, engine.Options{}, engine.Goal{})
			if err != nil || got.Matches != want.Matches {
				t.Fatalf("%s: %v, on the host %v: %v", pattern.Format(p), got.Matches, want.Matches, err)
			}
			if got, err := engine.Once(context.Background(), oracle.New(), g, pl, engine.Options{}, engine.Goal{}); err != nil || got.Matches != want.Matches {
				t.Fatalf("%s: %v by the oracle, on the host %v: %v", pattern.Format(p), got.Matches, want.Matches, err)
			}
			if want.Matches != (engine.Uint128{}) {
				seen++
			}
		})
		if seen == 0 {
			t.Error("no condition was ever true")
		}
	}
}

// conditioned is an edge e from a to b for which x holds.
func conditioned(x pattern.Expr) *pattern.Pattern {
	return &pattern.Pattern{
		Vertices: []pattern.Vertex{{Name: "a"}, {Name: "b"}},
		Edges:    []pattern.Edge{{Name: "e", To: 1, Min: 1, Max: 1, Dir: pattern.Forward}},
		Mode:     pattern.Hom,
		Where:    []pattern.Expr{x},
	}
}

// typedGraph has every pair of its vertices as an edge, and a column of each type.
func typedGraph(t *testing.T, numeric bool) *graph.Graph {
	t.Helper()
	const n = 9
	b := graph.NewBuilder(graph.BuildOptions{Directed: true})
	vc, ec := &graph.VertexChunk{}, &graph.EdgeChunk{}
	var names, src, dst graph.StringColumn
	names.Off, src.Off, dst.Off = []uint32{0}, []uint32{0}, []uint32{0}
	add := func(c *graph.StringColumn, v int) {
		c.Bytes = fmt.Appendf(c.Bytes, "%d", 7*v%n)
		c.Off = append(c.Off, uint32(len(c.Bytes)))
	}
	var times []int64
	for u := range n {
		vc.ID = append(vc.ID, uint64(u))
		add(&names, u)
		for v := range n {
			if u != v {
				ec.Src, ec.Dst = append(ec.Src, uint64(u)), append(ec.Dst, uint64(v))
				add(&src, u)
				add(&dst, v)
				times = append(times, int64(u*v%5))
			}
		}
	}
	ec.Time = times
	if !numeric {
		vc.ID, vc.IDStr = nil, &names
		ec.Src, ec.Dst, ec.SrcStr, ec.DstStr = nil, nil, &src, &dst
	}
	vc.Props = typedColumns(n)
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
	g.Read.TimeUnit, g.Read.TimeEpoch = 3600e9, numeric
	return g
}

func typedColumns(n int) arrow.RecordBatch {
	pool := memory.NewGoAllocator()
	i64, i8 := array.NewInt64Builder(pool), array.NewInt8Builder(pool)
	u64, f64 := array.NewUint64Builder(pool), array.NewFloat64Builder(pool)
	wide, real := array.NewInt64Builder(pool), array.NewFloat64Builder(pool)
	at := array.NewTimestampBuilder(pool, &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"})
	day, gap := array.NewDate32Builder(pool), array.NewDurationBuilder(pool, &arrow.DurationType{Unit: arrow.Second})
	yes, text, more := array.NewBooleanBuilder(pool), array.NewStringBuilder(pool), array.NewStringBuilder(pool)
	for v := range n {
		i64.Append([]int64{0, 1, -1, 2, math.MaxInt64, math.MinInt64, 3, 1 << 32, 7}[v])
		i8.Append(int8(v - 4))
		u64.Append([]uint64{0, 1, math.MaxUint64, 1 << 63, 2, 3, math.MaxInt64, 5, 7}[v])
		f64.Append([]float64{0, 0.5, -1, math.NaN(), math.Inf(1), 2, 1e300, -2.5, 7}[v])
		wide.Append([]int64{1<<53 + 1, 1 << 53, -1<<53 - 1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1, 1<<62 + 1, 0}[v])
		real.Append([]float64{1 << 53, 1<<53 + 2, -1 << 53, 1 << 63, math.Nextafter(1<<63, 0), -1 << 63, math.Inf(-1), math.Copysign(0, -1), 1 << 62}[v])
		at.Append(arrow.Timestamp([]int64{0, 1, -1, 86400_000, 86400_001, 2 * 86400_000, 1, 3600_000, 5}[v]))
		day.Append(arrow.Date32([]int32{0, 1, 2, -1, 3, 1, 0, 1, 5}[v]))
		gap.Append(arrow.Duration([]int64{0, 1, -1, 86400, 3600, 2, 86401, 5, 7}[v]))
		yes.Append(v%2 == 0)
		text.Append([]string{"", "a", "b", "B", "ä", "ab", "10", "9", "z"}[v])
		more.Append([]string{"a", "c", "z", "", "aa", "10", "7", "x", "b"}[v])
	}
	// A null in place of the last value.
	last := func(b array.Builder) arrow.Array {
		a := b.NewArray()
		defer a.Release()
		c, err := array.Concatenate([]arrow.Array{array.NewSlice(a, 0, int64(n-1)), array.MakeArrayOfNull(pool, a.DataType(), 1)}, pool)
		if err != nil {
			panic(err)
		}
		return c
	}
	columns := []arrow.Array{
		at.NewArray(), last(day), gap.NewArray(), wide.NewArray(), real.NewArray(), i64.NewArray(), last(i8), last(u64), f64.NewArray(), last(yes), last(text), more.NewArray(), array.NewNull(n),
	}
	var fields []arrow.Field
	for i, c := range columns {
		fields = append(fields, arrow.Field{Name: append([]string{"at", "day", "gap"}, properties...)[i], Type: c.DataType(), Nullable: true})
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(n))
}

// properties are those of typedColumns, times apart.
var properties = []string{"wide", "real", "i", "small", "u", "f", "yes", "text", "more", "none"}

// condition draws a condition over a, b and the edge between them.
func condition(t *rapid.T, depth int) pattern.Expr {
	ops := []pattern.Op{pattern.OpEq, pattern.OpNe, pattern.OpLt, pattern.OpLe, pattern.OpGt, pattern.OpGe, pattern.OpIn, pattern.OpAnd, pattern.OpOr}
	switch op := rapid.SampledFrom(ops).Draw(t, "operator"); {
	case op == pattern.OpIn:
		var items []pattern.Expr
		for range 3 {
			items = append(items, operand(t, depth-1))
		}
		return pattern.Binary{Op: op, X: operand(t, depth-1), Y: pattern.List{Items: items}}
	case op != pattern.OpAnd && op != pattern.OpOr:
		return pattern.Binary{Op: op, X: operand(t, depth-1), Y: operand(t, depth-1)}
	case depth > 0:
		var x pattern.Expr = pattern.Binary{Op: op, X: condition(t, depth-1), Y: condition(t, depth-1)}
		not := rapid.SampledFrom([]pattern.Op{op, pattern.OpNot, pattern.OpIsNull, pattern.OpIsNotNull}).Draw(t, "not")
		if not != op {
			x = pattern.Unary{Op: not, X: x}
		}
		return x
	}
	return pattern.Unary{Op: pattern.OpIsNull, X: operand(t, depth)}
}

// operand draws a value.
func operand(t *rapid.T, depth int) pattern.Expr {
	v := rapid.IntRange(0, 1).Draw(t, "vertex")
	most := 5
	if depth > 0 {
		most = 8
	}
	switch rapid.IntRange(0, most).Draw(t, "operand") {
	case 0:
		return pattern.ID{Vertex: v}
	case 1:
		return pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef}, Key: "time"}
	case 2:
		return pattern.Lit{Value: rapid.SampledFrom([]any{nil, true, int64(0), int64(-1), int64(3), int64(math.MinInt64), int64(1<<53 + 1), 0.0, 0x1p53, 0x1p63, 0.5, 1e19, "a", "7", "aaa"}).Draw(t, "constant")}
	case 6:
		return condition(t, depth-1)
	case 7, 8:
		op := rapid.SampledFrom([]pattern.Op{pattern.OpAdd, pattern.OpSub, pattern.OpMul, pattern.OpDiv, pattern.OpMod, pattern.OpNeg}).Draw(t, "arithmetic")
		if op == pattern.OpNeg {
			return pattern.Unary{Op: op, X: operand(t, depth-1)}
		}
		return pattern.Binary{Op: op, X: operand(t, depth-1), Y: operand(t, depth-1)}
	}
	return pattern.Prop{Of: pattern.Ref{Index: v}, Key: rapid.SampledFrom(properties).Draw(t, "property")}
}

// timeCondition draws a condition over times of different units, literals of times
// and numbers.
func timeCondition(t *rapid.T, depth int) pattern.Expr {
	if depth > 1 && rapid.IntRange(0, 3).Draw(t, "not a comparison") == 0 {
		x := timeCondition(t, depth-1)
		switch rapid.IntRange(0, 2).Draw(t, "logic") {
		case 0:
			return pattern.Unary{Op: pattern.OpNot, X: x}
		case 1:
			return pattern.Binary{Op: pattern.OpOr, X: x, Y: timeCondition(t, depth-1)}
		}
		var items []pattern.Expr
		for range 3 {
			items = append(items, timeOperand(t, 1))
		}
		return pattern.Binary{Op: pattern.OpIn, X: timeOperand(t, 1), Y: pattern.List{Items: items}}
	}
	op := rapid.SampledFrom([]pattern.Op{pattern.OpEq, pattern.OpNe, pattern.OpLt, pattern.OpLe, pattern.OpGt, pattern.OpGe}).Draw(t, "comparison")
	return pattern.Binary{Op: op, X: timeOperand(t, depth-1), Y: timeOperand(t, depth-1)}
}

func timeOperand(t *rapid.T, depth int) pattern.Expr {
	v := rapid.IntRange(0, 1).Draw(t, "vertex")
	most := 5
	if depth > 0 {
		most = 9
	}
	ns := []int64{0, 1, 1e6, -1e6, 86400e9, 86400e9 + 5e5, 2 * 86400e9, 3600e9, 1e9, 15e8}
	switch rapid.IntRange(0, most).Draw(t, "time") {
	case 0:
		return pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef}, Key: "time"}
	case 1:
		return pattern.Lit{Value: pattern.Timestamp{Nanos: rapid.SampledFrom(ns).Draw(t, "timestamp")}}
	case 2:
		return pattern.Lit{Value: pattern.Duration{Nanos: rapid.SampledFrom(ns).Draw(t, "duration")}}
	case 3:
		return pattern.Lit{Value: rapid.SampledFrom([]any{nil, int64(0), int64(1), int64(3600), int64(86400_000)}).Draw(t, "number")}
	case 6, 7, 8, 9:
		op := rapid.SampledFrom([]pattern.Op{pattern.OpAdd, pattern.OpSub, pattern.OpSub, pattern.OpMul, pattern.OpMod, pattern.OpNeg}).Draw(t, "arithmetic")
		if op == pattern.OpNeg {
			return pattern.Unary{Op: op, X: timeOperand(t, depth-1)}
		}
		return pattern.Binary{Op: op, X: timeOperand(t, depth-1), Y: timeOperand(t, depth-1)}
	}
	return pattern.Prop{Of: pattern.Ref{Index: v}, Key: rapid.SampledFrom([]string{"at", "day", "gap", "at", "day", "gap", "small", "unknown"}).Draw(t, "property")}
}
