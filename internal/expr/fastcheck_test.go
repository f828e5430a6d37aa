package expr

import (
	"context"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// columnsGraph has a vertex property of each kind that has a short cut, one
// with missing values, and vertices of several degrees.
func columnsGraph(t *testing.T) *graph.Graph {
	t.Helper()
	mem := memory.NewGoAllocator()
	ints, floats, strs, nulls := array.NewInt64Builder(mem), array.NewFloat64Builder(mem), array.NewStringBuilder(mem), array.NewInt64Builder(mem)
	small := array.NewInt32Builder(mem)
	dict := array.NewDictionaryBuilder(mem, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	ids := []uint64{}
	for i, f := range []float64{1, 1 << 53, math.NaN(), 2, -1, math.Inf(1)} {
		ids = append(ids, uint64(7*i))
		ints.Append(int64(i % 3))
		small.Append(int32(i % 2))
		floats.Append(f)
		strs.Append([]string{"a", "b", "", "a", "é", "ab"}[i])
		if err := dict.AppendString([]string{"x", "y", "x", "z", "y", "x"}[i]); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			nulls.AppendNull()
		} else {
			nulls.Append(int64(i))
		}
	}
	cols := []arrow.Array{ints.NewArray(), floats.NewArray(), strs.NewArray(), dict.NewArray(), small.NewArray(), nulls.NewArray()}
	fields := make([]arrow.Field, len(cols))
	for i, name := range columnNames {
		fields[i] = arrow.Field{Name: name, Type: cols[i].DataType(), Nullable: true}
	}
	b := graph.NewBuilder(graph.BuildOptions{})
	err := b.AddVertices(&graph.VertexChunk{ID: ids, Props: array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(len(ids)))})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddEdges(&graph.EdgeChunk{Src: []uint64{ids[0], ids[0], ids[0], ids[1]}, Dst: []uint64{ids[1], ids[2], ids[3], ids[2]}}); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var columnNames = []string{"int", "float", "str", "dict", "small", "null"}

// TestFastChecks compares each short cut with the long way, on all pairs.
func TestFastChecks(t *testing.T) {
	g := columnsGraph(t)
	p := &pattern.Pattern{Vertices: []pattern.Vertex{{Name: "a"}, {Name: "b"}}}
	prop := func(v int, key string) pattern.Expr {
		return pattern.Prop{Of: pattern.Ref{Kind: pattern.VertexRef, Index: v}, Key: key}
	}
	ref := func(v int) pattern.Expr {
		return pattern.RefExpr{Of: pattern.Ref{Kind: pattern.VertexRef, Index: v}}
	}
	fast := 0
	for op := pattern.OpEq; op <= pattern.OpGe; op++ {
		var exprs []pattern.Expr
		for _, key := range columnNames {
			exprs = append(exprs, pattern.Binary{Op: op, X: prop(0, key), Y: prop(1, key)})
			for _, c := range []any{int64(1), int64(1 << 53), int64(1<<53 + 1), int64(-1), 2.0, math.NaN(), "a", "x", nil, true} {
				exprs = append(exprs, pattern.Binary{Op: op, X: prop(0, key), Y: pattern.Lit{Value: c}})
			}
		}
		exprs = append(exprs, pattern.Binary{Op: op, X: pattern.ID{Vertex: 0}, Y: pattern.ID{Vertex: 1}})
		for _, c := range []any{int64(1), int64(2), int64(math.MaxInt64), int64(math.MinInt64), 1.5, "1"} {
			for _, sum := range []pattern.Op{pattern.OpAdd, pattern.OpSub, pattern.OpMul} {
				a, b := pattern.Deg{Vertex: 0}, pattern.Binary{Op: sum, X: pattern.Deg{Vertex: 1}, Y: pattern.Lit{Value: c}}
				exprs = append(exprs, pattern.Binary{Op: op, X: a, Y: b}, pattern.Binary{Op: op, X: b, Y: a},
					pattern.Binary{Op: op, X: a, Y: pattern.Binary{Op: sum, X: pattern.Lit{Value: c}, Y: b}})
			}
		}
		if op == pattern.OpEq || op == pattern.OpNe {
			exprs = append(exprs, pattern.Binary{Op: op, X: ref(0), Y: ref(1)})
		}
		for _, x := range exprs {
			sc := &Scope{Graph: g}
			check, value := sc.Check(x), sc.Compile(x)
			if sc.fastCheck(x) != nil {
				fast++
			}
			if sc.Err != nil {
				t.Fatal(sc.Err)
			}
			quick := func(m []uint32) bool { return check(m, nil) }
			slow := func(m []uint32) bool { return value(m, nil).isTrue() }
			for u := range uint32(g.NumVertices()) {
				for v := range uint32(g.NumVertices()) {
					m := []uint32{u, v}
					if quick(m) != slow(m) {
						t.Errorf("%s on %v: %v, the long way %v", pattern.FormatExpr(p, x), m, quick(m), slow(m))
					}
				}
			}
		}
	}
	if fast < 60+6*2*2*3 {
		t.Errorf("only %d conditions took a short cut", fast)
	}
}
