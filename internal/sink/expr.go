package sink

import (
	"fmt"

	"github.com/weftgraph/weft/internal/expr"
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
	return Computed(g, p, name, x, edgeAt, func(plain pattern.Expr) (valueFunc, error) {
		if prop, ok := plain.(pattern.Prop); ok {
			return property(g, prop, edgeAt), nil
		}
		sc := &expr.Scope{Graph: g, Edge: edgeAt}
		f := sc.Compile(plain)
		return func(m []uint32, e []uint64) any { return f(m, e).Any() }, sc.Err
	})
}

// Computed is a column with the type that Expr gives an expression, and with values that compile's function computes: of the expression without
// literals of times. Of g only the types of ids and properties count, and the units of times. Times are numbers of these units, and become
// Instants and Spans.
func Computed(g *graph.Graph, p *pattern.Pattern, name string, x pattern.Expr, edgeAt func(edge int) int,
	compile func(plain pattern.Expr) (func(m []uint32, e []uint64) any, error)) (Column, error) {
	plain, times, _, err := expr.Plain(g, x)
	if err != nil {
		return Column{}, err
	}
	t, err := returned{g, p, edgeAt}.typeOf(plain)
	if err != nil {
		return Column{}, err
	}
	values, err := compile(plain)
	if err != nil {
		return Column{}, err
	}
	return timeColumn(name, t, times, values), nil
}

type valueFunc = func(m []uint32, e []uint64) any

// returned are the expressions that RETURN may show, with the types of their values.
type returned struct {
	g      *graph.Graph
	p      *pattern.Pattern
	edgeAt func(int) int
}

// typeOf returns the type of x's values, or an error where they cannot be shown.
func (r returned) typeOf(x pattern.Expr) (Type, error) {
	switch x := x.(type) {
	case pattern.Lit:
		return typeOfLiteral(x.Value)
	case pattern.ID:
		if r.g.IDs.Numeric() {
			return Int, nil
		}
		return String, nil
	case pattern.Deg:
		return Int, nil
	case pattern.Prop:
		if x.Of.Kind == pattern.EdgeRef && r.edgeAt(x.Of.Index) < 0 {
			return 0, fmt.Errorf("%s stands for no single edge: give it a name", r.p.EdgeName(x.Of.Index))
		}
		return typeOfColumn(columnOf(r.g, x)), nil
	case pattern.Unary:
		t, err := r.typeOf(x.X)
		if x.Op != pattern.OpNeg {
			t = Bool
		}
		return t, err
	case pattern.Binary:
		return r.typeOfBinary(x)
	}
	return 0, fmt.Errorf("RETURN cannot show %s", pattern.FormatExpr(r.p, x))
}

func typeOfLiteral(v any) (Type, error) {
	switch expr.Literal(v).Kind {
	case expr.Int:
		return Int, nil
	case expr.Float:
		return Float, nil
	case expr.Bool:
		return Bool, nil
	case expr.List:
		return 0, fmt.Errorf("RETURN cannot show a list")
	}
	return String, nil
}

func (r returned) typeOfBinary(x pattern.Binary) (Type, error) {
	if a, ok := x.X.(pattern.RefExpr); ok {
		if b, ok := x.Y.(pattern.RefExpr); ok && a.Of.Kind == pattern.VertexRef && b.Of.Kind == pattern.VertexRef {
			return Bool, nil
		}
	}
	a, err := r.typeOf(x.X)
	if err != nil {
		return 0, err
	}
	b, err := r.typeOf(x.Y)
	if err != nil {
		return 0, err
	}
	switch x.Op {
	case pattern.OpAnd, pattern.OpOr, pattern.OpEq, pattern.OpNe, pattern.OpLt, pattern.OpLe, pattern.OpGt, pattern.OpGe:
		return Bool, nil
	case pattern.OpAdd, pattern.OpSub, pattern.OpMul, pattern.OpDiv, pattern.OpMod:
		switch {
		case a == Int && b == Int:
			return Int, nil
		case a == String && b == String && x.Op == pattern.OpAdd:
			return String, nil
		}
		return Float, nil
	}
	return 0, fmt.Errorf("RETURN cannot show %s", pattern.FormatExpr(r.p, x))
}

// HasProperty reports whether g has the property that x asks for.
func HasProperty(g *graph.Graph, x pattern.Prop) bool { return columnOf(g, x) != nil }

// columnOf is the column of a property, nil where nothing has it.
func columnOf(g *graph.Graph, x pattern.Prop) *expr.Column {
	if x.Of.Kind == pattern.EdgeRef {
		return expr.EdgeColumn(g, x.Key)
	}
	return expr.VertexColumn(g, x.Key)
}

// property reads a property as it is shown.
func property(g *graph.Graph, x pattern.Prop, edgeAt func(int) int) valueFunc {
	c := columnOf(g, x)
	if c == nil {
		return func([]uint32, []uint64) any { return nil }
	}
	get := shown(c)
	if x.Of.Kind == pattern.EdgeRef {
		at := edgeAt(x.Of.Index)
		return func(_ []uint32, e []uint64) any { return get(int(e[at])) }
	}
	v := x.Of.Index
	return func(m []uint32, _ []uint64) any { return get(int(m[v])) }
}
