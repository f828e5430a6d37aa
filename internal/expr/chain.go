package expr

import (
	"math"
	"reflect"

	"github.com/weftgraph/weft/internal/pattern"
)

// Conditions of very many comparisons are mostly lists: x IN [1, 2, …], x = 1 OR x = 2 OR …, and x <> 1 AND x <> 2 AND ….
// Each becomes one look into a set of constants. What AND or OR join is one loop, however many there are.

// constants is a set of constants that a value is looked for in.
type constants struct {
	ints   map[int64]struct{} // whole numbers, also those that are written as fractions
	floats map[float64]struct{}
	texts  map[string]struct{}
	bools  [2]bool
	null   bool
}

func newConstants(items []Value) *constants {
	c := &constants{ints: map[int64]struct{}{}, floats: map[float64]struct{}{}, texts: map[string]struct{}{}}
	for _, v := range items {
		switch v.Kind {
		case Null:
			c.null = true
		case Bool:
			c.bools[v.I] = true
		case Int:
			c.ints[v.I] = struct{}{}
		case Float:
			if i, ok := wholeOf(v.F); ok {
				c.ints[i] = struct{}{}
			} else {
				c.floats[v.F] = struct{}{} // NaN is never found
			}
		case Text:
			c.texts[v.S] = struct{}{}
		}
	}
	return c
}

// wholeOf is the whole number that f is, if it is one of 64 bits.
func wholeOf(f float64) (int64, bool) {
	if f == math.Trunc(f) && f >= -(1<<63) && f < 1<<63 {
		return int64(f), true
	}
	return 0, false
}

// in is v IN the constants, as inList says.
func (c *constants) in(v Value) Value {
	found := false
	switch v.Kind {
	case Null:
		return null
	case Bool:
		found = c.bools[v.I]
	case Int:
		_, found = c.ints[v.I]
	case Float:
		if i, ok := wholeOf(v.F); ok {
			_, found = c.ints[i]
		} else {
			_, found = c.floats[v.F]
		}
	case Text:
		_, found = c.texts[v.S]
	}
	if !found && c.null {
		return null
	}
	return boolean(found)
}

// link is a part of what one operator joins: a condition, or all equalities that follow each other with the same left side.
type link struct {
	x     pattern.Expr // the condition, or the left side
	items []Value      // what x is compared with; nil: x is a condition
}

// chain returns what AND or OR joins, in order. Of OR, equalities of one left side with constants are one link, and of AND
// inequalities: x <> 1 AND x <> 2 is NOT (x = 1 OR x = 2).
func chain(x pattern.Binary) (links []link) {
	eq := pattern.OpEq
	if x.Op == pattern.OpAnd {
		eq = pattern.OpNe
	}
	stack := []pattern.Expr{x}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		b, ok := top.(pattern.Binary)
		if ok && b.Op == x.Op {
			stack = append(stack, b.Y, b.X)
			continue
		}
		l := link{x: top}
		if ok && b.Op == eq {
			if v, ok := Constant(b.Y); ok {
				l = link{b.X, []Value{v}}
			} else if v, ok := Constant(b.X); ok {
				l = link{b.Y, []Value{v}}
			}
		}
		if n := len(links) - 1; l.items != nil && n >= 0 && links[n].items != nil && same(links[n].x, l.x) {
			links[n].items = append(links[n].items, l.items...)
			continue
		}
		links = append(links, l)
	}
	return links
}

// same reports whether two expressions are the same.
func same(x, y pattern.Expr) bool {
	switch a := x.(type) {
	case pattern.Prop, pattern.ID, pattern.Deg:
		return x == y
	case pattern.Binary:
		b, ok := y.(pattern.Binary)
		return ok && a.Op == b.Op && same(a.X, b.X) && same(a.Y, b.Y)
	}
	return reflect.DeepEqual(x, y)
}

// Cost returns the number of comparisons and operators that one evaluation of x computes at most, where EXISTS and what is
// read count as one.
func Cost(x pattern.Expr) int {
	switch x := x.(type) {
	case pattern.Unary:
		return 1 + Cost(x.X)
	case pattern.List:
		n := 1
		if _, ok := Constant(x); !ok {
			for _, item := range x.Items {
				n += Cost(item)
			}
		}
		return n
	case pattern.Binary:
		if x.Op != pattern.OpAnd && x.Op != pattern.OpOr {
			return 1 + Cost(x.X) + Cost(x.Y)
		}
		n := 0
		for _, l := range chain(x) {
			n += 1 + Cost(l.x)
		}
		return n
	}
	return 1
}

// joined compiles what AND or OR joins.
func (s *Scope) joined(x pattern.Binary) Func {
	links := chain(x)
	parts := make([]Func, len(links))
	for i, l := range links {
		if l.items == nil {
			parts[i] = s.Compile(l.x)
			continue
		}
		in := s.among(l.x, l.items)
		parts[i] = in
		if x.Op == pattern.OpAnd {
			parts[i] = func(m []uint32, e []uint64) Value { return not(in(m, e)) }
		}
	}
	stop := int64(1) // the truth value that decides
	if x.Op == pattern.OpAnd {
		stop = 0
	}
	return func(m []uint32, e []uint64) Value {
		out := boolean(stop == 0)
		for _, f := range parts {
			switch v := f(m, e); {
			case v.Kind != Bool:
				out = null
			case v.I == stop:
				return v
			}
		}
		return out
	}
}

// fewItems is the number of constants up to which looking at each is faster than a set.
const fewItems = 8

// among compiles x IN items.
func (s *Scope) among(x pattern.Expr, items []Value) Func {
	if _, ok := x.(pattern.ID); ok {
		items = LikeID(Value{Kind: List, List: items}, s.numericIDs()).List
	}
	f := s.Compile(x)
	if len(items) <= fewItems {
		list := Value{Kind: List, List: items}
		return func(m []uint32, e []uint64) Value { return inList(f(m, e), list) }
	}
	set := newConstants(items)
	return func(m []uint32, e []uint64) Value { return set.in(f(m, e)) }
}

func not(v Value) Value {
	if v.Kind != Bool {
		return null
	}
	return boolean(v.I == 0)
}
