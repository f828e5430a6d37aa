package gql

import "github.com/weftgraph/weft/internal/pattern"

// valueType is the type of a value as far as it is known without a graph.
type valueType uint8

const (
	typeAny valueType = iota // properties, parameters, NULL
	typeBool
	typeNumber
	typeString
	typeList
	typeVertex
	typeEdge
	typeID         // of a vertex: a number or a string
	typeCalculated // of properties: a number or a time
	typeTimestamp
	typeDuration
)

var typeNames = [...]string{"a value", "a truth value", "a number", "a string", "a list", "a vertex", "an edge", "an id", "a number", "a timestamp", "a duration"}

// where adds the conjuncts of x.
func (e *env) where(x *exprSyntax) {
	for _, part := range conjuncts(x, nil) {
		e.conjunct(e.truth(part), part.pos)
	}
}

// boolean resolves x as a list of conjuncts.
func (e *env) boolean(x *exprSyntax) []pattern.Expr {
	var out []pattern.Expr
	for _, part := range conjuncts(x, nil) {
		out = append(out, e.truth(part))
	}
	return out
}

func conjuncts(x *exprSyntax, to []*exprSyntax) []*exprSyntax {
	if x.kind == exprBinary && x.op == pattern.OpAnd {
		return conjuncts(x.args[1], conjuncts(x.args[0], to))
	}
	return append(to, x)
}

// conjunct adds a resolved conjunct. If it stands in an edge's brackets and is about that edge
// alone, it belongs to the edge, otherwise to the pattern. INDUCED needs the difference:
// conditions in the brackets say which data edges the pattern's edge accepts, and a WHERE after
// the paths only selects matches.
func (e *env) conjunct(x pattern.Expr, pos int) {
	refs := pattern.Refs(x)
	if len(refs) == 1 && refs[0].Kind == pattern.EdgeRef && e.self != nil && refs[0] == *e.self {
		edge := &e.p.Edges[refs[0].Index]
		edge.Where = append(edge.Where, x)
		return
	}
	for _, r := range refs {
		if r.Kind == pattern.EdgeRef && e.p.Edges[r.Index].Name == "" {
			panic(e.fail(pos, "only an edge with a name can be compared with something else").expecting("a name in the brackets, as in -[e WHERE …]->"))
		}
	}
	e.p.Where = append(e.p.Where, x)
}

// truth resolves x, which must be a condition.
func (e *env) truth(x *exprSyntax) pattern.Expr {
	out, t := e.expr(x)
	if t != typeBool && t != typeAny {
		panic(e.fail(x.pos, "%s is not a condition", typeNames[t]).expecting("a comparison, IN, IS NULL, EXISTS or a property"))
	}
	return out
}

// expr resolves x and tells its type.
func (e *env) expr(x *exprSyntax) (pattern.Expr, valueType) {
	switch x.kind {
	case exprLit:
		return pattern.Lit{Value: x.value}, literalType(x.value)
	case exprParam:
		return pattern.Param{Name: x.text}, typeAny
	case exprName:
		r := e.ref(x)
		if r.Kind == pattern.VertexRef {
			return pattern.RefExpr{Of: r}, typeVertex
		}
		return pattern.RefExpr{Of: r}, typeEdge
	case exprProp:
		return pattern.Prop{Of: e.ref(x.args[0]), Key: x.text}, typeAny
	case exprUnary:
		return e.unary(x)
	case exprBinary:
		return e.binary(x)
	case exprList:
		list := pattern.List{Items: []pattern.Expr{}}
		for _, a := range x.args {
			item, t := e.expr(a)
			if t == typeVertex || t == typeEdge || t == typeList {
				panic(e.fail(a.pos, "a list cannot hold %s", typeNames[t]).expecting("a number, a string or another value"))
			}
			list.Items = append(list.Items, item)
		}
		return list, typeList
	case exprCall:
		return e.function(x)
	}
	return e.exists(x.sub, false), typeBool
}

func literalType(v any) valueType {
	switch v.(type) {
	case bool:
		return typeBool
	case int64, float64:
		return typeNumber
	case string:
		return typeString
	case pattern.Timestamp:
		return typeTimestamp
	case pattern.Duration:
		return typeDuration
	}
	return typeAny
}

// ref resolves a name to a vertex or edge.
func (e *env) ref(x *exprSyntax) pattern.Ref {
	if x.text == "_" {
		if e.self == nil {
			panic(e.fail(x.pos, "_ has no meaning here: it is the node or edge inside whose brackets it stands"))
		}
		return *e.self
	}
	if i, ok := e.edges[x.text]; ok {
		return pattern.Ref{Kind: pattern.EdgeRef, Index: i}
	}
	if v, ok := e.vertex(x.text); ok {
		return pattern.Ref{Kind: pattern.VertexRef, Index: v}
	}
	if i, ok := e.edgeCalled(x.text); ok {
		return pattern.Ref{Kind: pattern.EdgeRef, Index: i}
	}
	if e.isEdge(x.text) {
		panic(e.fail(x.pos, "%s is an edge of the enclosing pattern: inside EXISTS and NOT only its vertices can be used", x.text))
	}
	panic(e.unknown(x.text, x.pos, e.names()))
}

func (e *env) unary(x *exprSyntax) (pattern.Expr, valueType) {
	a := x.args[0]
	switch x.op {
	case pattern.OpNot:
		return pattern.Unary{Op: x.op, X: e.truth(a)}, typeBool
	case pattern.OpNeg:
		v, t := e.expr(a)
		if t != typeDuration {
			e.number(a, t)
			t = calculated(t, t)
		}
		return pattern.Unary{Op: x.op, X: v}, t
	}
	v, t := e.expr(a)
	if t == typeVertex || t == typeEdge {
		panic(e.fail(a.pos, "%s is never NULL", typeNames[t]).expecting("a property, as in " + a.text + ".name IS NULL"))
	}
	return pattern.Unary{Op: x.op, X: v}, typeBool
}

// number checks that x, of type t, can be a number.
func (e *env) number(x *exprSyntax, t valueType) {
	if t != typeNumber && t != typeAny && t != typeID && t != typeCalculated {
		panic(e.fail(x.pos, "%s cannot be calculated with", typeNames[t]).expecting("a number"))
	}
}

func (e *env) binary(x *exprSyntax) (pattern.Expr, valueType) {
	a, b := x.args[0], x.args[1]
	switch x.op {
	case pattern.OpAnd, pattern.OpOr:
		return pattern.Binary{Op: x.op, X: e.truth(a), Y: e.truth(b)}, typeBool
	case pattern.OpAdd, pattern.OpSub, pattern.OpMul, pattern.OpDiv, pattern.OpMod:
		l, lt := e.expr(a)
		r, rt := e.expr(b)
		t := calculated(lt, rt)
		if lt >= typeTimestamp || rt >= typeTimestamp {
			t = e.timeArithmetic(x, lt, rt)
		} else {
			e.number(a, lt)
			e.number(b, rt)
		}
		return pattern.Binary{Op: x.op, X: l, Y: r}, t
	}
	l, lt := e.expr(a)
	r, rt := e.expr(b)
	out := pattern.Binary{Op: x.op, X: l, Y: r}
	if x.op == pattern.OpIn {
		if rt != typeList && rt != typeAny {
			panic(e.fail(b.pos, "IN needs a list, not %s", typeNames[rt]).expecting("[…] or $parameter"))
		}
		if lt == typeVertex || lt == typeEdge || lt == typeList {
			want := "a property"
			if lt == typeVertex {
				want = "id(" + a.text + ") or a property"
			}
			panic(e.fail(a.pos, "a list cannot hold %s", typeNames[lt]).expecting(want))
		}
		return out, typeBool
	}
	e.comparable(x, lt, rt)
	return out, typeBool
}

// calculated is the type of a calculation with two values that are not literals of times.
func calculated(l, r valueType) valueType {
	if l == typeAny || r == typeAny || l == typeCalculated || r == typeCalculated {
		return typeCalculated
	}
	return typeNumber
}

// timeArithmetic is the type of an operation on a timestamp or a duration. Only a graph knows
// the type of a property.
func (e *env) timeArithmetic(x *exprSyntax, l, r valueType) valueType {
	open := func(t valueType) bool { return t == typeAny || t == typeCalculated }
	moment := func(t valueType) bool { return t == typeTimestamp || open(t) }
	span := func(t valueType) bool { return t == typeDuration || open(t) }
	switch x.op {
	case pattern.OpSub:
		switch {
		case moment(l) && r == typeTimestamp:
			return typeDuration
		case l == typeTimestamp && r == typeDuration:
			return typeTimestamp
		case l == typeDuration && span(r):
			return typeDuration
		case l == typeTimestamp && open(r), open(l) && r == typeDuration:
			return typeCalculated
		}
	case pattern.OpAdd:
		switch {
		case l == typeTimestamp && span(r), span(l) && r == typeTimestamp:
			return typeTimestamp
		case l == typeDuration && r == typeDuration:
			return typeDuration
		case open(l) && r == typeDuration, l == typeDuration && open(r):
			return typeCalculated
		}
	case pattern.OpMul:
		if l == typeDuration && (r == typeNumber || open(r)) || r == typeDuration && (l == typeNumber || open(l)) {
			return typeDuration
		}
	}
	panic(e.fail(x.args[1].pos, "%s %s %s has no meaning", typeNames[l], x.op, typeNames[r]).
		expecting("a difference of timestamps, a timestamp and a duration, two durations, or a duration times a number"))
}

// comparable checks the types of a comparison.
func (e *env) comparable(x *exprSyntax, l, r valueType) {
	b := x.args[1]
	named := func(t valueType) bool { return t == typeVertex || t == typeEdge }
	switch {
	case named(l) || named(r):
		if l != r {
			panic(e.fail(b.pos, "%s cannot be compared with %s", typeNames[l], typeNames[r]).expecting("a property, or id() of a vertex"))
		}
		if x.op != pattern.OpEq && x.op != pattern.OpNe {
			panic(e.fail(x.pos, "%s has no order", typeNames[l]).expecting("=, <>, or a comparison of id() or properties"))
		}
	case l == typeList || r == typeList:
		panic(e.fail(b.pos, "a list cannot be compared").expecting("IN"))
	case l == typeAny || r == typeAny || l == r:
	case l == typeCalculated && r >= typeTimestamp || r == typeCalculated && l >= typeTimestamp:
	case l == typeCalculated && r == typeNumber || r == typeCalculated && l == typeNumber:
	case l == typeID && r != typeBool && r < typeTimestamp || r == typeID && l != typeBool && l < typeTimestamp:
	default:
		panic(e.fail(b.pos, "%s cannot be compared with %s", typeNames[l], typeNames[r]).expecting(typeNames[l]))
	}
}

var functions = []string{"id", "deg", "ALL_DIFFERENT", "EXISTS"}

// function resolves id(v), deg(v) and ALL_DIFFERENT(…).
func (e *env) function(x *exprSyntax) (pattern.Expr, valueType) {
	switch x.text {
	case "id", "deg":
		if len(x.args) != 1 || x.args[0].kind != exprName {
			panic(e.fail(x.pos, "%s takes one vertex", x.text).expecting(x.text + "(name)"))
		}
		r := e.ref(x.args[0])
		if r.Kind != pattern.VertexRef {
			panic(e.fail(x.args[0].pos, "%s takes a vertex, and %s is an edge", x.text, x.args[0].text))
		}
		if x.text == "id" {
			return pattern.ID{Vertex: r.Index}, typeID
		}
		return pattern.Deg{Vertex: r.Index}, typeNumber
	case "all_different":
		var refs []pattern.Ref
		for _, a := range x.args {
			if a.kind != exprName {
				panic(e.fail(a.pos, "ALL_DIFFERENT is about vertices and edges").expecting("a name"))
			}
			refs = append(refs, e.ref(a))
		}
		if len(refs) < 2 {
			panic(e.fail(x.pos, "ALL_DIFFERENT needs at least two names"))
		}
		return pattern.AllDifferent{Refs: refs}, typeBool
	case "count", "participation", "exists":
		panic(e.fail(x.pos, "%s can only stand by itself in RETURN", x.text))
	}
	err := e.fail(x.pos, "unknown function %s", x.text).expecting("id, deg, ALL_DIFFERENT or EXISTS { … }")
	err.Suggestion = pattern.Suggest(x.text, functions)
	panic(err)
}
