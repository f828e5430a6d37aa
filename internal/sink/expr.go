package sink

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Expr is a column of the values of an expression over a pattern. Row vertices
// are by pattern vertex; edgeAt gives the place of a pattern edge among a row's
// chosen edges, or -1. A bare name is the vertex's id, or the edge.
func Expr(g *graph.Graph, p *pattern.Pattern, name string, x pattern.Expr, edgeAt func(edge int) int) (Column, error) {
	if r, ok := x.(pattern.RefExpr); ok {
		if r.Of.Kind == pattern.VertexRef {
			return Vertex(g, name, r.Of.Index), nil
		}
		at := edgeAt(r.Of.Index)
		if at < 0 {
			return Column{}, fmt.Errorf("%s stands for no single edge", p.EdgeName(r.Of.Index))
		}
		return Edge(g, name, at), nil
	}
	if id, ok := x.(pattern.ID); ok {
		return Vertex(g, name, id.Vertex), nil
	}
	c := compiler{g, p, edgeAt}
	plain, times, _, err := pattern.PlainTimes(x, func(p pattern.Prop) pattern.TimeType { return timeType(g, p) })
	if err != nil {
		return Column{}, err
	}
	t, f, err := c.compile(plain)
	if err != nil {
		return Column{}, err
	}
	return timeColumn(name, t, times, f), nil
}

type valueFunc = func(m []uint32, e []uint64) any

// compiler turns expressions into functions with the type of their values.
type compiler struct {
	g      *graph.Graph
	p      *pattern.Pattern
	edgeAt func(int) int
}

func (c compiler) compile(x pattern.Expr) (Type, valueFunc, error) {
	switch x := x.(type) {
	case pattern.Lit:
		return literal(x.Value)
	case pattern.ID:
		ids, v := &c.g.IDs, x.Vertex
		if ids.Numeric() {
			return Int, func(m []uint32, _ []uint64) any { return ids.Int(m[v]) }, nil
		}
		return String, func(m []uint32, _ []uint64) any { return ids.String(m[v]) }, nil
	case pattern.Deg:
		adj, v := c.g.Any(), x.Vertex
		return Int, func(m []uint32, _ []uint64) any { return int64(adj.Degree(m[v])) }, nil
	case pattern.Prop:
		return c.prop(x)
	case pattern.Unary:
		return c.unary(x)
	case pattern.Binary:
		return c.binary(x)
	}
	return 0, nil, fmt.Errorf("RETURN cannot show %s", pattern.FormatExpr(c.p, x))
}

func literal(v any) (Type, valueFunc, error) {
	t := String
	switch v.(type) {
	case int64:
		t = Int
	case float64:
		t = Float
	case bool:
		t = Bool
	case string, nil:
	default:
		return 0, nil, fmt.Errorf("RETURN cannot show a list")
	}
	return t, func([]uint32, []uint64) any { return v }, nil
}

// HasProperty reports whether g has the property that x asks for.
func HasProperty(g *graph.Graph, x pattern.Prop) bool {
	rec := g.VertexProps
	if x.Of.Kind == pattern.EdgeRef {
		if g.Edges == nil {
			return false
		}
		if g.Edges.Time != nil && slices.Contains(graph.TimeNames, x.Key) {
			return true
		}
		rec = g.Edges.Props
	}
	return rec != nil && rec.Schema().HasField(x.Key)
}

func (c compiler) prop(x pattern.Prop) (Type, valueFunc, error) {
	rec := c.g.VertexProps
	if x.Of.Kind == pattern.EdgeRef {
		at := c.edgeAt(x.Of.Index)
		if at < 0 {
			return 0, nil, fmt.Errorf("%s stands for no single edge: give it a name", c.p.EdgeName(x.Of.Index))
		}
		t := c.g.Edges
		if t != nil && t.Props != nil {
			for i, f := range t.Props.Schema().Fields() {
				if f.Name == x.Key {
					typ, get := reader(t.Props.Column(i))
					return typ, func(_ []uint32, e []uint64) any { return get(int(e[at])) }, nil
				}
			}
		}
		if t != nil && t.Time != nil && slices.Contains(graph.TimeNames, x.Key) {
			return Int, func(_ []uint32, e []uint64) any { return t.Time[e[at]] }, nil
		}
		return String, func([]uint32, []uint64) any { return nil }, nil
	}
	if rec != nil {
		for i, f := range rec.Schema().Fields() {
			if f.Name == x.Key {
				typ, get := reader(rec.Column(i))
				v := x.Of.Index
				return typ, func(m []uint32, _ []uint64) any { return get(int(m[v])) }, nil
			}
		}
	}
	return String, func([]uint32, []uint64) any { return nil }, nil
}

func (c compiler) unary(x pattern.Unary) (Type, valueFunc, error) {
	t, f, err := c.compile(x.X)
	if err != nil {
		return 0, nil, err
	}
	switch x.Op {
	case pattern.OpIsNull:
		return Bool, func(m []uint32, e []uint64) any { return f(m, e) == nil }, nil
	case pattern.OpIsNotNull:
		return Bool, func(m []uint32, e []uint64) any { return f(m, e) != nil }, nil
	case pattern.OpNot:
		return Bool, func(m []uint32, e []uint64) any {
			if b, ok := f(m, e).(bool); ok {
				return !b
			}
			return nil
		}, nil
	}
	return t, func(m []uint32, e []uint64) any {
		switch n := f(m, e).(type) {
		case int64:
			return pattern.Negative(n)
		case float64:
			return -n
		}
		return nil
	}, nil
}

func (c compiler) binary(x pattern.Binary) (Type, valueFunc, error) {
	if a, ok := x.X.(pattern.RefExpr); ok {
		if b, ok := x.Y.(pattern.RefExpr); ok && a.Of.Kind == pattern.VertexRef && b.Of.Kind == pattern.VertexRef {
			u, v, want := a.Of.Index, b.Of.Index, x.Op == pattern.OpEq
			return Bool, func(m []uint32, _ []uint64) any { return (m[u] == m[v]) == want }, nil
		}
	}
	ta, fa, err := c.compile(x.X)
	if err != nil {
		return 0, nil, err
	}
	tb, fb, err := c.compile(x.Y)
	if err != nil {
		return 0, nil, err
	}
	apply := func(f func(a, b any) any) valueFunc {
		return func(m []uint32, e []uint64) any { return f(fa(m, e), fb(m, e)) }
	}
	switch op := x.Op; op {
	case pattern.OpAnd, pattern.OpOr:
		return Bool, apply(func(a, b any) any { return logic(op == pattern.OpOr, a, b) }), nil
	case pattern.OpEq, pattern.OpNe, pattern.OpLt, pattern.OpLe, pattern.OpGt, pattern.OpGe:
		return Bool, apply(func(a, b any) any { return compare(op, a, b) }), nil
	case pattern.OpAdd, pattern.OpSub, pattern.OpMul, pattern.OpDiv, pattern.OpMod:
		t := Float
		switch {
		case ta == Int && tb == Int:
			t = Int
		case ta == String && tb == String && op == pattern.OpAdd:
			t = String
		}
		return t, apply(func(a, b any) any { return arithmetic(op, a, b) }), nil
	}
	return 0, nil, fmt.Errorf("RETURN cannot show %s", pattern.FormatExpr(c.p, x))
}

// logic is AND or OR in three values: the dominant value wins over NULL.
func logic(dominant bool, a, b any) any {
	switch {
	case a == dominant || b == dominant:
		return dominant
	case a == !dominant && b == !dominant:
		return !dominant
	}
	return nil
}

// compare orders numbers with numbers and strings with strings; values of
// different kinds are unequal and have no order.
func compare(op pattern.Op, a, b any) any {
	if a == nil || b == nil {
		return nil
	}
	var less, equal, ordered bool
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			ordered, less, equal = true, strings.Compare(x, y) < 0, x == y
		}
	case bool:
		y, ok := b.(bool)
		equal = ok && x == y
	default:
		c, ok := compareNumbers(a, b)
		ordered, less, equal = ok, ok && c < 0, ok && c == 0
	}
	switch op {
	case pattern.OpEq:
		return equal
	case pattern.OpNe:
		return !equal
	}
	if !ordered {
		return nil
	}
	switch op {
	case pattern.OpLt:
		return less
	case pattern.OpLe:
		return less || equal
	case pattern.OpGt:
		return !less && !equal
	}
	return !less
}

// compareNumbers orders two numbers by their exact values; NaN, and what is not a
// number, has no order.
func compareNumbers(a, b any) (c int, ok bool) {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, y), true
		case float64:
			return pattern.CompareIntFloat(x, y)
		}
	case float64:
		switch y := b.(type) {
		case int64:
			c, ok = pattern.CompareIntFloat(y, x)
			return -c, ok
		case float64:
			return cmp.Compare(x, y), x == x && y == y
		}
	}
	return 0, false
}

func float(a any) (float64, bool) {
	switch a := a.(type) {
	case int64:
		return float64(a), true
	case float64:
		return a, true
	}
	return 0, false
}

// arithmetic stays in integers between integers, unless the result has more than
// 63 bits; division by zero is NULL, and + joins strings.
func arithmetic(op pattern.Op, a, b any) any {
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok && op == pattern.OpAdd {
			return s + t
		}
		return nil
	}
	x, ok1 := float(a)
	y, ok2 := float(b)
	if !ok1 || !ok2 || y == 0 && (op == pattern.OpDiv || op == pattern.OpMod) {
		return nil
	}
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			if z, fits := pattern.IntArithmetic(op, i, j); fits {
				return z
			}
		}
	}
	return pattern.FloatArithmetic(op, x, y)
}
