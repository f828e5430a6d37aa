package expr

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Scope says where an expression finds the vertices and edges that it mentions.
type Scope struct {
	Graph *graph.Graph
	// Source, if not nil, has the vertices instead of Graph.
	Source Source
	// Degree, if not nil, is deg() of a vertex in place of the graph's own.
	Degree func(v uint32) int64
	// The vertex of pattern vertex v is m[Vertex(v)], and the data edge of pattern
	// edge e is e[Edge(e)]; nil: m[v], and e[e].
	Vertex, Edge func(int) int
	// Exists compiles a sub-pattern into a function of the outer vertices, which are m[at[0]], m[at[1]], ….
	Exists func(x pattern.Exists) (func(m []uint32, at []int) bool, error)
	// Warn, if not nil, is told of properties that nothing has.
	Warn func(text string)
	// Ended, if not nil, is asked again and again while an expression is compiled: an
	// error gives the compilation up, and becomes Err.
	Ended func() error
	// Err is the first error of a compilation.
	Err error
}

// Source is a graph that is not a graph.Graph. Functions that are compiled for it are as safe for concurrent use as it is.
type Source interface {
	NumericIDs() bool
	ID(v uint32) Value     // the user's id: an Int or a Text
	Degree(v uint32) int64 // the number of distinct neighbours in either direction
	// Vertex and Edge return a function that reads a property. They return nil if the graph does not have the property.
	Vertex(key string) func(v uint32) Value
	Edge(key string) func(e uint64) Value
}

// numericIDs reports whether the users' ids are numbers.
func (s *Scope) numericIDs() bool {
	if s.Source != nil {
		return s.Source.NumericIDs()
	}
	return s.Graph.IDs.Numeric()
}

func (s *Scope) vertex(v int) int {
	if s.Vertex == nil {
		return v
	}
	return s.Vertex(v)
}

func (s *Scope) edge(e int) int {
	if s.Edge == nil {
		return e
	}
	return s.Edge(e)
}

// Func computes an expression.
type Func func(m []uint32, e []uint64) Value

// Check compiles a condition, which passes only where it is true. The function is safe
// for concurrent use.
func (s *Scope) Check(x pattern.Expr) func(m []uint32, e []uint64) bool {
	if f := s.fastCheck(x); f != nil {
		return f
	}
	f := s.Compile(x)
	return func(m []uint32, e []uint64) bool { return f(m, e).isTrue() }
}

// Compile turns x into a function, which is safe for concurrent use. Logic has three values, as in SQL and GQL.
func (s *Scope) Compile(x pattern.Expr) Func {
	if s.Err == nil && s.Ended != nil {
		s.Err = s.Ended()
	}
	if s.Err != nil { // the rest is of no use
		return func([]uint32, []uint64) Value { return null }
	}
	if v, ok := Constant(x); ok {
		return func([]uint32, []uint64) Value { return v }
	}
	switch x := x.(type) {
	case pattern.Param:
		s.fail("no value for parameter $" + x.Name)
	case pattern.Prop:
		return s.property(x)
	case pattern.ID:
		return s.id(x.Vertex)
	case pattern.Deg:
		at, degree := s.vertex(x.Vertex), s.degree()
		return func(m []uint32, _ []uint64) Value { return Value{Kind: Int, I: degree(m[at])} }
	case pattern.AllDifferent:
		return s.allDifferent(x)
	case pattern.Exists:
		found := s.exists(x)
		return func(m []uint32, e []uint64) Value { return boolean(found(m, e)) }
	case pattern.List:
		items := make([]Func, len(x.Items))
		for i, item := range x.Items {
			items[i] = s.Compile(item)
		}
		return func(m []uint32, e []uint64) Value {
			v := Value{Kind: List, List: make([]Value, len(items))}
			for i, f := range items {
				v.List[i] = f(m, e)
			}
			return v
		}
	case pattern.Unary:
		return s.unary(x)
	case pattern.Binary:
		return s.binary(x)
	}
	return func([]uint32, []uint64) Value { return null }
}

func (s *Scope) fail(text string) {
	if s.Err == nil {
		s.Err = errors.New(text)
	}
}

// Constant evaluates literals and lists of literals.
func Constant(x pattern.Expr) (Value, bool) {
	switch x := x.(type) {
	case pattern.Lit:
		return Literal(x.Value), true
	case pattern.List:
		v := Value{Kind: List, List: make([]Value, len(x.Items))}
		for i, item := range x.Items {
			var ok bool
			if v.List[i], ok = Constant(item); !ok {
				return null, false
			}
		}
		return v, true
	}
	return null, false
}

// property reads v.key or e.key. A property that no vertex (or edge) has is
// NULL, with a warning.
func (s *Scope) property(x pattern.Prop) Func {
	if s.Source != nil {
		return s.sourceProperty(x)
	}
	if x.Of.Kind == pattern.VertexRef {
		if col := VertexColumn(s.Graph, x.Key); col != nil {
			at, get := s.vertex(x.Of.Index), col.Reader()
			return func(m []uint32, _ []uint64) Value { return get(int(m[at])) }
		}
	} else if col := EdgeColumn(s.Graph, x.Key); col != nil {
		at, get := s.edge(x.Of.Index), col.Reader()
		return func(_ []uint32, e []uint64) Value { return get(int(e[at])) }
	}
	if s.Warn != nil {
		s.Warn(Unknown(s.Graph, x))
	}
	return func([]uint32, []uint64) Value { return null }
}

func (s *Scope) sourceProperty(x pattern.Prop) Func {
	if x.Of.Kind == pattern.VertexRef {
		if get := s.Source.Vertex(x.Key); get != nil {
			at := s.vertex(x.Of.Index)
			return func(m []uint32, _ []uint64) Value { return get(m[at]) }
		}
	} else if get := s.Source.Edge(x.Key); get != nil {
		at := s.edge(x.Of.Index)
		return func(_ []uint32, e []uint64) Value { return get(e[at]) }
	}
	return func([]uint32, []uint64) Value { return null }
}

// id reads the user's id of a vertex.
func (s *Scope) id(v int) Func {
	at := s.vertex(v)
	if of := s.Source; of != nil {
		return func(m []uint32, _ []uint64) Value { return of.ID(m[at]) }
	}
	ids := &s.Graph.IDs
	if ids.Numeric() {
		return func(m []uint32, _ []uint64) Value { return Value{Kind: Int, I: ids.Int(m[at])} }
	}
	return func(m []uint32, _ []uint64) Value { return Value{Kind: Text, S: ids.String(m[at])} }
}

// LikeID converts a constant that is compared with an id to the kind of the
// graph's ids: ids compare as numbers where they are numeric, as texts otherwise.
func LikeID(v Value, numeric bool) Value {
	switch {
	case v.Kind == List:
		list := make([]Value, len(v.List))
		for i := range list {
			list[i] = LikeID(v.List[i], numeric)
		}
		v.List = list
	case numeric && v.Kind == Text:
		if x, ok := decimal(v.S); ok {
			return Value{Kind: Int, I: x}
		}
	case !numeric && v.Kind == Int:
		return Value{Kind: Text, S: strconv.FormatInt(v.I, 10)}
	}
	return v
}

// sides compiles two operands that are compared with each other.
func (s *Scope) sides(x, y pattern.Expr) (Func, Func) {
	_, xid := x.(pattern.ID)
	_, yid := y.(pattern.ID)
	f, g := s.Compile(x), s.Compile(y)
	if v, ok := Constant(y); ok && xid {
		v = LikeID(v, s.numericIDs())
		g = func([]uint32, []uint64) Value { return v }
	}
	if v, ok := Constant(x); ok && yid {
		v = LikeID(v, s.numericIDs())
		f = func([]uint32, []uint64) Value { return v }
	}
	return f, g
}

// slot returns a function that tells data vertices, or data edges, apart.
func (s *Scope) slot(r pattern.Ref) func(m []uint32, e []uint64) uint64 {
	if r.Kind == pattern.VertexRef {
		at := s.vertex(r.Index)
		return func(m []uint32, _ []uint64) uint64 { return uint64(m[at]) }
	}
	at := s.edge(r.Index)
	return func(_ []uint32, e []uint64) uint64 { return e[at] }
}

func (s *Scope) allDifferent(x pattern.AllDifferent) Func {
	slots := make([]func([]uint32, []uint64) uint64, len(x.Refs))
	for i, r := range x.Refs {
		slots[i] = s.slot(r)
	}
	return func(m []uint32, e []uint64) Value {
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

func (s *Scope) exists(x pattern.Exists) func(m []uint32, e []uint64) bool {
	find, err := s.Exists(x)
	if err != nil {
		if s.Err == nil {
			s.Err = err
		}
		return func([]uint32, []uint64) bool { return false }
	}
	at := make([]int, len(x.Outer))
	for i, v := range x.Outer {
		at[i] = s.vertex(v)
	}
	return func(m []uint32, _ []uint64) bool { return find(m, at) }
}

func (s *Scope) unary(x pattern.Unary) Func {
	f := s.Compile(x.X)
	switch x.Op {
	case pattern.OpIsNull:
		return func(m []uint32, e []uint64) Value { return boolean(f(m, e).Kind == Null) }
	case pattern.OpIsNotNull:
		return func(m []uint32, e []uint64) Value { return boolean(f(m, e).Kind != Null) }
	case pattern.OpNot:
		return func(m []uint32, e []uint64) Value { return not(f(m, e)) }
	case pattern.OpNeg:
		return func(m []uint32, e []uint64) Value {
			switch v := f(m, e); v.Kind {
			case Int:
				return Literal(pattern.Negative(v.I))
			case Float:
				return Value{Kind: Float, F: -v.F}
			}
			return null
		}
	}
	s.fail(fmt.Sprintf("unknown operator %s", x.Op))
	return f
}

func (s *Scope) binary(x pattern.Binary) Func {
	if a, ok := x.X.(pattern.RefExpr); ok {
		if b, ok := x.Y.(pattern.RefExpr); ok {
			return s.sameThing(x.Op, a.Of, b.Of)
		}
	}
	switch x.Op {
	case pattern.OpAnd, pattern.OpOr:
		return s.joined(x)
	case pattern.OpIn:
		if v, ok := Constant(x.Y); ok && v.Kind == List {
			return s.among(x.X, v.List)
		}
	}
	f, g := s.sides(x.X, x.Y)
	switch x.Op {
	case pattern.OpIn:
		return func(m []uint32, e []uint64) Value { return inList(f(m, e), g(m, e)) }
	case pattern.OpEq:
		return func(m []uint32, e []uint64) Value { return equalValues(f(m, e), g(m, e)) }
	case pattern.OpNe:
		return func(m []uint32, e []uint64) Value { return not(equalValues(f(m, e), g(m, e))) }
	}
	if holds := comparison(x.Op); holds != nil {
		return func(m []uint32, e []uint64) Value {
			c, ok := compareValues(f(m, e), g(m, e))
			if !ok {
				return null
			}
			return boolean(holds(c))
		}
	}
	op := x.Op
	return func(m []uint32, e []uint64) Value { return arithmetic(op, f(m, e), g(m, e)) }
}

// sameThing is a = b or a <> b over names.
func (s *Scope) sameThing(op pattern.Op, a, b pattern.Ref) Func {
	f, g := s.slot(a), s.slot(b)
	kinds := a.Kind == b.Kind
	switch op {
	case pattern.OpEq:
		return func(m []uint32, e []uint64) Value { return boolean(kinds && f(m, e) == g(m, e)) }
	case pattern.OpNe:
		return func(m []uint32, e []uint64) Value { return boolean(!kinds || f(m, e) != g(m, e)) }
	}
	s.fail("names can only be compared with = and <>; use id() or a property")
	return func([]uint32, []uint64) Value { return null }
}

// comparison is the test of op on the sign of a comparison; nil for other operators.
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
func arithmetic(op pattern.Op, a, b Value) Value {
	if a.Kind == Text && b.Kind == Text && op == pattern.OpAdd {
		return Value{Kind: Text, S: a.S + b.S}
	}
	x, ok1 := a.number()
	y, ok2 := b.number()
	if !ok1 || !ok2 || y == 0 && (op == pattern.OpDiv || op == pattern.OpMod) {
		return null
	}
	if a.Kind == Int && b.Kind == Int {
		if z, ok := pattern.IntArithmetic(op, a.I, b.I); ok {
			return Value{Kind: Int, I: z}
		}
	}
	return Value{Kind: Float, F: pattern.FloatArithmetic(op, x, y)}
}
