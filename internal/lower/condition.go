package lower

import (
	"fmt"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// A condition over several vertices and edges is a function of these, check0, check1, …. It
// computes the same as package expr: values that may be NULL, logic of three values, whole
// numbers that become fractions if they pass 63 bits. Every value is computed, in the order of
// the expression. An operation that must not be evaluated, such as a division by zero, is
// guarded by a choice.

// conditionCode is the function of one check, and its arguments.
type conditionCode struct {
	f        *kir.Func
	vertices []int // levels
	edges    []int // choices
}

// conditions writes the functions of all checks of the plan.
func (x *lowering) conditions() error {
	add := func(cs []plan.Check) error {
		for i := range cs {
			if err := x.condition(&cs[i]); err != nil {
				return fmt.Errorf("the condition %s: %w", cs[i].Text, err)
			}
		}
		return nil
	}
	for l := range x.p.Levels {
		if err := add(x.p.Levels[l].Checks); err != nil {
			return err
		}
	}
	for i := range x.p.Edges {
		if err := add(x.p.Edges[i].Checks); err != nil {
			return err
		}
	}
	return nil
}

// holds calls the function of a check.
func (x *lowering) conditionHolds(c *plan.Check, m vertices, e []kir.Expr) kir.Expr {
	code := x.codes[c]
	var args []kir.Expr
	for _, l := range code.vertices {
		args = append(args, m(l))
	}
	for _, i := range code.edges {
		args = append(args, e[i])
	}
	return kir.Invoke{Fn: code.f, Args: args}
}

// levelChecks are the tests of level l's conditions, with its vertex in m.
func (x *lowering) levelChecks(l int, m vertices) (out []kir.Expr) {
	for i := range x.p.Levels[l].Checks {
		out = append(out, x.conditionHolds(&x.p.Levels[l].Checks[i], m, nil))
	}
	return out
}

// with is m with v at level l.
func (m vertices) with(l int, v kir.Expr) vertices {
	return func(j int) kir.Expr {
		if j == l {
			return v
		}
		return m(j)
	}
}

// condition writes the function of c.
func (x *lowering) condition(c *plan.Check) error {
	if c.Outside {
		return plan.Refusef("it is of the whole graph, and kernels read a part")
	}
	w := &conditionWriter{x: x, vertex: map[int]*kir.Var{}, edge: map[int]*kir.Var{}}
	code := &conditionCode{}
	var params []*kir.Var
	for _, r := range pattern.Refs(c.Expr) {
		if r.Kind == pattern.VertexRef {
			l := x.p.LevelOf[r.Index]
			w.vertex[r.Index] = &kir.Var{Name: name(l), T: kir.T(kir.U32)}
			code.vertices = append(code.vertices, l)
			params = append(params, w.vertex[r.Index])
		}
	}
	for _, r := range pattern.Refs(c.Expr) {
		if r.Kind == pattern.EdgeRef {
			i := x.choiceOf(r.Index)
			w.edge[r.Index] = &kir.Var{Name: fmt.Sprintf("e%d", i), T: kir.T(kir.U64)}
			code.edges = append(code.edges, i)
			params = append(params, w.edge[r.Index])
		}
	}
	result := w.isTrue(w.expr(c.Expr))
	if w.err != nil {
		return w.err
	}
	code.f = &kir.Func{
		Name: fmt.Sprintf("%scheck%d", x.prefix, len(x.codes)), Doc: c.Text, Params: params, Result: kir.T(kir.Bool),
		Body: append(w.body, &kir.Return{X: result}),
	}
	x.free(0, code.f)
	x.codes[c] = code
	return nil
}

// choiceOf is the edge choice of a pattern edge.
func (x *lowering) choiceOf(edge int) int {
	for i := range x.p.Edges {
		if x.p.Edges[i].Edge == edge {
			return i
		}
	}
	panic("lower: a condition over an edge that is not chosen")
}

// conditionWriter is the making of one function.
type conditionWriter struct {
	x      *lowering
	body   []kir.Stmt
	vertex map[int]*kir.Var // by pattern vertex
	edge   map[int]*kir.Var // by pattern edge
	lets   int
	err    error
}

func (w *conditionWriter) fail(format string, args ...any) value {
	if w.err == nil {
		w.err = plan.Refusef(format, args...)
	}
	return value{}
}

// let gives x a variable, unless it is as short as one.
func (w *conditionWriter) let(x kir.Expr) kir.Expr {
	switch x.(type) {
	case kir.Const, kir.Ref, nil:
		return x
	}
	v := &kir.Var{Name: fmt.Sprintf("t%d", w.lets), T: x.Type()}
	w.lets++
	w.body = append(w.body, &kir.Let{Var: v, Init: x})
	return kir.R(v)
}

// expr computes x.
func (w *conditionWriter) expr(x pattern.Expr) value {
	switch x := x.(type) {
	case pattern.Lit:
		return w.constant(expr.Literal(x.Value))
	case pattern.Prop:
		return w.property(x)
	case pattern.ID:
		return w.column(w.x.p.Columns().IDs(), w.row(pattern.Ref{Kind: pattern.VertexRef, Index: x.Vertex}))
	case pattern.Deg:
		n := kir.Fn(kir.Degree, kir.G(w.x.neighbours()), kir.R(w.vertex[x.Vertex]))
		return value{kind: intValue, i: w.let(kir.Convert{T: kir.T(kir.I64), X: n})}
	case pattern.AllDifferent:
		return w.allDifferent(x)
	case pattern.Exists:
		return w.exists(x)
	case pattern.List:
		v := value{kind: listValue}
		for _, item := range x.Items {
			v.items = append(v.items, w.expr(item))
		}
		return v
	case pattern.Unary:
		return w.unary(x)
	case pattern.Binary:
		return w.binary(x)
	}
	return value{}
}

// slot is the number that distinguishes data vertices, or data edges.
func (w *conditionWriter) slot(r pattern.Ref) kir.Expr {
	if r.Kind == pattern.VertexRef {
		return kir.R(w.vertex[r.Index])
	}
	return kir.R(w.edge[r.Index])
}

// row is where a vertex or edge is in columns.
func (w *conditionWriter) row(r pattern.Ref) kir.Expr {
	if r.Kind == pattern.VertexRef {
		return kir.Convert{T: kir.T(kir.U64), X: w.slot(r)}
	}
	return w.slot(r)
}

func (w *conditionWriter) property(x pattern.Prop) value {
	words := w.x.p.Columns().Edge
	if x.Of.Kind == pattern.VertexRef {
		words = w.x.p.Columns().Vertex
	}
	if c := words(x.Key); c != nil {
		return w.column(c, w.row(x.Of))
	}
	return value{}
}

// column reads a row of c.
func (w *conditionWriter) column(c *expr.Words, row kir.Expr) value {
	cell := func(fn *kir.Builtin) kir.Expr { return w.let(kir.Fn(fn, kir.G(w.x.columnOf(c)), row)) }
	var v value
	if c.Valid != nil {
		v.null = w.let(kir.NotX(cell(kir.HasCell)))
	}
	switch c.Kind {
	case expr.IntWords:
		v.kind, v.i = intValue, cell(kir.CellInt)
	case expr.TextWords:
		v.kind, v.i = textValue, cell(kir.CellInt)
	case expr.FloatWords:
		v.kind, v.f = floatValue, cell(kir.CellFloat)
	case expr.UnsignedWords:
		v.kind, v.i = numberValue, cell(kir.CellInt)
		v.fraction = w.let(kir.Op2(kir.Lt, v.i, integer(kir.T(kir.I64), 0)))
		v.f = w.let(kir.Convert{T: kir.T(kir.F64), X: kir.Convert{T: kir.T(kir.U64), X: v.i}})
	case expr.BoolWords:
		v.kind = boolValue
		v.t = w.let(kir.All(v.known(), kir.Op2(kir.Ne, cell(kir.CellInt), integer(kir.T(kir.I64), 0))))
	case expr.MixedWords:
		return w.fail("a dictionary of unsigned 64-bit numbers is not lowered")
	default:
		return value{}
	}
	return v
}

func (w *conditionWriter) allDifferent(x pattern.AllDifferent) value {
	var tests []kir.Expr
	for i, r := range x.Refs {
		for _, o := range x.Refs[:i] {
			if r.Kind == o.Kind {
				tests = append(tests, kir.Op2(kir.Ne, w.slot(r), w.slot(o)))
			}
		}
	}
	return w.truth(kir.All(tests...))
}

func (w *conditionWriter) exists(x pattern.Exists) value {
	f, err := w.x.existsFunc(x.Sub)
	if err != nil {
		return w.fail("%w", err)
	}
	if f == nil {
		return w.truth(kir.False)
	}
	var args []kir.Expr
	for _, v := range x.Outer {
		args = append(args, kir.R(w.vertex[v]))
	}
	return w.truth(kir.Invoke{Fn: f, Args: args})
}

func (w *conditionWriter) unary(x pattern.Unary) value {
	v := w.expr(x.X)
	switch x.Op {
	case pattern.OpIsNull:
		return w.truth(v.isNull())
	case pattern.OpIsNotNull:
		return w.truth(kir.NotX(v.isNull()))
	case pattern.OpNeg:
		return w.negative(v)
	}
	if v.kind != boolValue {
		return value{}
	}
	return value{kind: boolValue, null: v.null, t: w.let(kir.All(v.known(), kir.NotX(v.t)))}
}

func (w *conditionWriter) binary(x pattern.Binary) value {
	if a, ok := x.X.(pattern.RefExpr); ok {
		if b, ok := x.Y.(pattern.RefExpr); ok {
			return w.sameThing(x.Op, a.Of, b.Of)
		}
	}
	a, b := w.sides(x.X, x.Y)
	switch x.Op {
	case pattern.OpAnd, pattern.OpOr:
		return w.logic(x.Op, a, b)
	case pattern.OpIn:
		return w.in(a, b)
	case pattern.OpEq, pattern.OpNe, pattern.OpLt, pattern.OpLe, pattern.OpGt, pattern.OpGe:
		return w.compare(comparisons[x.Op], a, b)
	}
	return w.arithmetic(x.Op, a, b)
}

var comparisons = map[pattern.Op]kir.Op{
	pattern.OpEq: kir.Eq, pattern.OpNe: kir.Ne, pattern.OpLt: kir.Lt, pattern.OpLe: kir.Le, pattern.OpGt: kir.Gt, pattern.OpGe: kir.Ge,
}

// sameThing compares names.
func (w *conditionWriter) sameThing(op pattern.Op, a, b pattern.Ref) value {
	if a.Kind != b.Kind {
		return w.truth(kir.Const{T: kir.T(kir.Bool), Bits: uint64(b2i(op == pattern.OpNe))})
	}
	return w.truth(kir.Op2(comparisons[op], w.slot(a), w.slot(b)))
}

// sides are two operands that are compared with each other. A constant that is compared with an
// id has the kind of the graph's ids.
func (w *conditionWriter) sides(x, y pattern.Expr) (a, b value) {
	ids := &w.x.p.Graph.IDs
	side := func(x, other pattern.Expr) value {
		if _, id := other.(pattern.ID); id {
			if c, ok := expr.Constant(x); ok {
				return w.constant(expr.LikeID(c, ids.Numeric()))
			}
		}
		return w.expr(x)
	}
	return side(x, y), side(y, x)
}

// logic is AND and OR. A value that is not a boolean is neither true nor false.
func (w *conditionWriter) logic(op pattern.Op, a, b value) value {
	t, f := kir.All(w.isTrue(a), w.isTrue(b)), kir.Any(w.isFalse(a), w.isFalse(b))
	if op == pattern.OpOr {
		t, f = kir.Any(w.isTrue(a), w.isTrue(b)), kir.All(w.isFalse(a), w.isFalse(b))
	}
	t = w.let(t)
	return value{kind: boolValue, t: t, null: w.let(kir.NotX(kir.Any(t, f)))}
}

// in is x IN list.
func (w *conditionWriter) in(x, list value) value {
	if list.kind != listValue || x.kind == nullValue {
		return value{}
	}
	var found, unknown []kir.Expr
	for _, item := range list.items {
		e := w.compare(kir.Eq, x, item)
		found, unknown = append(found, w.isTrue(e)), append(unknown, e.isNull())
	}
	t := w.let(kir.All(x.known(), kir.Any(found...)))
	return value{kind: boolValue, t: t, null: w.let(kir.Any(x.isNull(), kir.All(kir.NotX(t), kir.Any(unknown...))))}
}
