package plan

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/weftgraph/weft/internal/pattern"
)

// scope says where an expression finds the vertices and edges it mentions: the
// vertex of pattern vertex v is m[vertex(v)], and the data edge of pattern edge
// e is e[edge(e)].
type scope struct {
	b      *binding
	vertex func(int) int
	edge   func(int) int
	err    error // the first error of a compilation
}

// scope returns one in which slots are indexes into the pattern.
func (b *binding) scope() *scope {
	same := func(i int) int { return i }
	return &scope{b: b, vertex: same, edge: same}
}

// evalFunc computes an expression.
type evalFunc func(m []uint32, e []uint64) value

// check compiles a condition, which passes only where it is true.
func (s *scope) check(x pattern.Expr) func(m []uint32, e []uint64) bool {
	if f := s.fastCheck(x); f != nil {
		return f
	}
	f := s.compile(x)
	return func(m []uint32, e []uint64) bool { return f(m, e).isTrue() }
}

// compile turns x into a closure. Logic has three values, as in SQL and GQL.
func (s *scope) compile(x pattern.Expr) evalFunc {
	if s.err == nil && s.b.ended() {
		s.err = errEnded
	}
	if s.err != nil { // the rest is of no use
		return func([]uint32, []uint64) value { return null }
	}
	if v, ok := constant(x); ok {
		return func([]uint32, []uint64) value { return v }
	}
	switch x := x.(type) {
	case pattern.Param:
		s.fail("no value for parameter $" + x.Name)
	case pattern.Prop:
		return s.property(x)
	case pattern.ID:
		return s.id(x.Vertex)
	case pattern.Deg:
		at, any := s.vertex(x.Vertex), s.b.g.Any()
		return func(m []uint32, _ []uint64) value { return value{kind: kindInt, i: int64(any.Degree(m[at]))} }
	case pattern.AllDifferent:
		return s.allDifferent(x)
	case pattern.Exists:
		return s.exists(x)
	case pattern.List:
		items := make([]evalFunc, len(x.Items))
		for i, item := range x.Items {
			items[i] = s.compile(item)
		}
		return func(m []uint32, e []uint64) value {
			v := value{kind: kindList, list: make([]value, len(items))}
			for i, f := range items {
				v.list[i] = f(m, e)
			}
			return v
		}
	case pattern.Unary:
		return s.unary(x)
	case pattern.Binary:
		return s.binary(x)
	}
	return func([]uint32, []uint64) value { return null }
}

func (s *scope) fail(text string) {
	if s.err == nil {
		s.err = queryErrorf("%s", text)
	}
}

// constant evaluates literals and lists of literals.
func constant(x pattern.Expr) (value, bool) {
	switch x := x.(type) {
	case pattern.Lit:
		return literal(x.Value), true
	case pattern.List:
		v := value{kind: kindList, list: make([]value, len(x.Items))}
		for i, item := range x.Items {
			var ok bool
			if v.list[i], ok = constant(item); !ok {
				return null, false
			}
		}
		return v, true
	}
	return null, false
}

// property reads v.key or e.key. A property that no vertex (or edge) has is
// NULL, with a warning.
func (s *scope) property(x pattern.Prop) evalFunc {
	if x.Of.Kind == pattern.VertexRef {
		if col := vertexColumn(s.b.g, x.Key); col != nil {
			at, get := s.vertex(x.Of.Index), col.getter()
			return func(m []uint32, _ []uint64) value { return get(int(m[at])) }
		}
		s.unknownProperty("vertex", x.Key, s.b.g.VertexProps, nil)
	} else {
		if col := edgeColumn(s.b.g, x.Key); col != nil {
			at, get := s.edge(x.Of.Index), col.getter()
			return func(_ []uint32, e []uint64) value { return get(int(e[at])) }
		}
		s.unknownEdgeProperty(x.Key)
	}
	return func([]uint32, []uint64) value { return null }
}

// id reads the user's id of a vertex.
func (s *scope) id(v int) evalFunc {
	at, ids := s.vertex(v), &s.b.g.IDs
	if ids.Numeric() {
		return func(m []uint32, _ []uint64) value { return value{kind: kindInt, i: ids.Int(m[at])} }
	}
	return func(m []uint32, _ []uint64) value { return value{kind: kindString, s: ids.String(m[at])} }
}

// likeID converts a constant that is compared with an id to the kind of the
// graph's ids: ids compare as numbers where they are numbers, as strings
// otherwise.
func (b *binding) likeID(v value) value {
	switch numeric := b.g.IDs.Numeric(); {
	case v.kind == kindList:
		list := make([]value, len(v.list))
		for i := range list {
			list[i] = b.likeID(v.list[i])
		}
		v.list = list
	case numeric && v.kind == kindString:
		if x, ok := decimal(v.s); ok {
			return value{kind: kindInt, i: x}
		}
	case !numeric && v.kind == kindInt:
		return value{kind: kindString, s: strconv.FormatInt(v.i, 10)}
	}
	return v
}

// sides compiles two operands that are compared with each other.
func (s *scope) sides(x, y pattern.Expr) (evalFunc, evalFunc) {
	_, xid := x.(pattern.ID)
	_, yid := y.(pattern.ID)
	f, g := s.compile(x), s.compile(y)
	if v, ok := constant(y); ok && xid {
		v = s.b.likeID(v)
		g = func([]uint32, []uint64) value { return v }
	}
	if v, ok := constant(x); ok && yid {
		v = s.b.likeID(v)
		f = func([]uint32, []uint64) value { return v }
	}
	return f, g
}

// slot returns a function that tells data vertices, or data edges, apart.
func (s *scope) slot(r pattern.Ref) func(m []uint32, e []uint64) uint64 {
	if r.Kind == pattern.VertexRef {
		at := s.vertex(r.Index)
		return func(m []uint32, _ []uint64) uint64 { return uint64(m[at]) }
	}
	at := s.edge(r.Index)
	return func(_ []uint32, e []uint64) uint64 { return e[at] }
}

func (s *scope) allDifferent(x pattern.AllDifferent) evalFunc {
	slots := make([]func([]uint32, []uint64) uint64, len(x.Refs))
	for i, r := range x.Refs {
		slots[i] = s.slot(r)
	}
	return func(m []uint32, e []uint64) value {
		for i, f := range slots {
			for j, g := range slots[:i] {
				if x.Refs[i].Kind == x.Refs[j].Kind && f(m, e) == g(m, e) {
					return boolean(false)
				}
			}
		}
		return boolean(true)
	}
}

func (s *scope) exists(x pattern.Exists) evalFunc {
	find, err := s.b.exists(x)
	var wrong *QueryError
	if errors.As(err, &wrong) && s.err == nil {
		s.err = &QueryError{Vertex: -1, Edge: -1, Msg: wrong.Msg, Near: wrong.Near, Expected: wrong.Expected}
	}
	if err != nil {
		s.fail(err.Error())
		return func([]uint32, []uint64) value { return null }
	}
	at := make([]int, len(x.Outer))
	for i, v := range x.Outer {
		at[i] = s.vertex(v)
	}
	return func(m []uint32, _ []uint64) value {
		var outer [pattern.MaxVertices]uint32
		for i, l := range at {
			outer[i] = m[l]
		}
		return boolean(find(outer[:len(at)]))
	}
}

func (s *scope) unary(x pattern.Unary) evalFunc {
	f := s.compile(x.X)
	switch x.Op {
	case pattern.OpIsNull:
		return func(m []uint32, e []uint64) value { return boolean(f(m, e).kind == kindNull) }
	case pattern.OpIsNotNull:
		return func(m []uint32, e []uint64) value { return boolean(f(m, e).kind != kindNull) }
	case pattern.OpNot:
		return func(m []uint32, e []uint64) value {
			v := f(m, e)
			if v.kind != kindBool {
				return null
			}
			return boolean(v.i == 0)
		}
	case pattern.OpNeg:
		return func(m []uint32, e []uint64) value {
			switch v := f(m, e); v.kind {
			case kindInt:
				return literal(pattern.Negative(v.i))
			case kindFloat:
				return value{kind: kindFloat, f: -v.f}
			}
			return null
		}
	}
	s.fail(fmt.Sprintf("unknown operator %s", x.Op))
	return f
}

func (s *scope) binary(x pattern.Binary) evalFunc {
	if a, ok := x.X.(pattern.RefExpr); ok {
		if b, ok := x.Y.(pattern.RefExpr); ok {
			return s.sameThing(x.Op, a.Of, b.Of)
		}
	}
	f, g := s.sides(x.X, x.Y)
	switch x.Op {
	case pattern.OpAnd:
		return func(m []uint32, e []uint64) value {
			a := f(m, e)
			if a.isFalse() {
				return a
			}
			b := g(m, e)
			switch {
			case b.isFalse():
				return b
			case a.isTrue() && b.isTrue():
				return a
			}
			return null
		}
	case pattern.OpOr:
		return func(m []uint32, e []uint64) value {
			a := f(m, e)
			if a.isTrue() {
				return a
			}
			b := g(m, e)
			switch {
			case b.isTrue():
				return b
			case a.isFalse() && b.isFalse():
				return a
			}
			return null
		}
	case pattern.OpIn:
		return func(m []uint32, e []uint64) value { return inList(f(m, e), g(m, e)) }
	case pattern.OpEq:
		return func(m []uint32, e []uint64) value { return equalValues(f(m, e), g(m, e)) }
	case pattern.OpNe:
		return func(m []uint32, e []uint64) value {
			v := equalValues(f(m, e), g(m, e))
			if v.kind == kindNull {
				return null
			}
			return boolean(v.i == 0)
		}
	}
	if holds := comparison(x.Op); holds != nil {
		return func(m []uint32, e []uint64) value {
			c, ok := compareValues(f(m, e), g(m, e))
			if !ok {
				return null
			}
			return boolean(holds(c))
		}
	}
	op := x.Op
	return func(m []uint32, e []uint64) value { return arithmetic(op, f(m, e), g(m, e)) }
}

// sameThing is a = b or a <> b over names.
func (s *scope) sameThing(op pattern.Op, a, b pattern.Ref) evalFunc {
	f, g := s.slot(a), s.slot(b)
	kinds := a.Kind == b.Kind
	switch op {
	case pattern.OpEq:
		return func(m []uint32, e []uint64) value { return boolean(kinds && f(m, e) == g(m, e)) }
	case pattern.OpNe:
		return func(m []uint32, e []uint64) value { return boolean(!kinds || f(m, e) != g(m, e)) }
	}
	s.fail("names can only be compared with = and <>; use id() or a property")
	return func([]uint32, []uint64) value { return null }
}

// comparison is what op asks of the sign of a comparison; nil for others.
func comparison(op pattern.Op) func(c int) bool {
	switch op {
	case pattern.OpEq:
		return func(c int) bool { return c == 0 }
	case pattern.OpNe:
		return func(c int) bool { return c != 0 }
	case pattern.OpLt:
		return func(c int) bool { return c < 0 }
	case pattern.OpLe:
		return func(c int) bool { return c <= 0 }
	case pattern.OpGt:
		return func(c int) bool { return c > 0 }
	case pattern.OpGe:
		return func(c int) bool { return c >= 0 }
	}
	return nil
}

// arithmetic stays in integers between integers, unless the result has more than
// 63 bits; division by zero is NULL, and + joins strings.
func arithmetic(op pattern.Op, a, b value) value {
	if a.kind == kindString && b.kind == kindString && op == pattern.OpAdd {
		return value{kind: kindString, s: a.s + b.s}
	}
	x, ok1 := a.number()
	y, ok2 := b.number()
	if !ok1 || !ok2 || y == 0 && (op == pattern.OpDiv || op == pattern.OpMod) {
		return null
	}
	if a.kind == kindInt && b.kind == kindInt {
		if z, ok := pattern.IntArithmetic(op, a.i, b.i); ok {
			return value{kind: kindInt, i: z}
		}
	}
	return value{kind: kindFloat, f: pattern.FloatArithmetic(op, x, y)}
}
