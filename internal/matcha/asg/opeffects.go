package asg

import (
	"fmt"

	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// apply and the operators that do something.

func (b *builder) apply(a *arguments) *Node {
	x := a.by["func"]
	fn := b.function(x, a.scope)
	if fn == nil {
		b.notFunction(a, "func", "a function of the program, or a lambda")
	}
	var cond *closure
	if c := a.by["cond"]; c != nil {
		if _, none := c.(*syntax.None); !none {
			if cond = b.function(c, a.scope); cond == nil {
				b.notFunction(a, "cond", "a function of the program, a lambda, or None where all items count")
			}
		}
	}
	if len(a.rest) == 0 {
		b.fail(a.at, "apply without a list", "apply(func, cond, list)")
	}
	n := Node{Op: Apply}
	var max *types.Bound
	for _, r := range a.rest {
		l := b.value(r, a.scope)
		b.want(l, r.Pos(), "a list of apply", types.List)
		n.Args = append(n.Args, l)
		b.sameLength(r.Pos(), "apply goes over lists of %d and of %d items", n.Args[0], l)
		max = types.MinOf(max, l.Type.Max)
	}
	if cond != nil {
		var result *Node
		n.Cond, result = b.inner(a.by["cond"].Pos(), cond, n.Args)
		if result == nil || result.Type.Kind != types.Bool {
			t := types.TVoid
			if result != nil {
				t = result.Type
			}
			b.fail(a.by["cond"].Pos(), "the result of cond is "+describe(t), "bool")
		}
		for _, s := range n.Cond.Steps {
			if s.Op != CounterGet {
				b.failHint(s.Pos, "cond does something", "", "cond only looks; func may emit and add")
			}
		}
	}
	var result *Node
	n.Func, result = b.inner(x.Pos(), fn, n.Args)
	n.Effects = writes(n.Cond, n.Cond) || writes(n.Func, n.Func)
	n.Type = types.TVoid
	if result == nil {
		if !n.Effects {
			b.fail(x.Pos(), "func has no result and does nothing", "a result, or emit or add")
		}
		return b.add(a.at, n)
	}
	if k := result.Type.Kind; !k.Scalar() && k != types.Tuple {
		b.failHint(x.Pos(), "the result of func is "+describe(result.Type), "int, float, bool or Tuple", "a list has no lists as items: return their size or sum, or emit their items")
	}
	t := types.ListOf(result.Type, max)
	if len(n.Args) == 1 && result == n.Func.Operands[0] {
		t.Ascending, t.Fan = n.Args[0].Type.Ascending, n.Args[0].Type.Fan
	}
	n.Type = t
	return b.add(a.at, n)
}

func (b *builder) notFunction(a *arguments, param, expected string) {
	x := a.by[param]
	if v, ok := x.(*syntax.Name); ok {
		if _, is := builtins[v.Name]; is {
			b.failHint(x.Pos(), param+" of apply is an operator", expected, "write lambda x: "+v.Name+"(x)")
		}
		if _, known := a.scope.find(v.Name); !known {
			b.unknown(x.Pos(), v.Name, "function", a.scope.visible())
		}
	}
	b.fail(x.Pos(), param+" of apply is not a function", expected)
}

// inner builds a function that an apply runs for the items of lists.
func (b *builder) inner(at syntax.Pos, fn *closure, lists []*Node) (*Func, *Node) {
	f := &Func{Parent: b.region}
	if len(fn.params) != len(lists) {
		b.fail(at, fmt.Sprintf("a function of %s for the items of %s", plural(len(fn.params), "parameter"), plural(len(lists), "list")),
			"a parameter for each list")
	}
	b.region = f
	maybe := b.maybe
	b.maybe = 0
	var args []binding
	for i, l := range lists {
		o := b.add(fn.params[i].At, Node{Op: Operand, Type: l.Type.Elem, Given: fn.params[i].Name})
		f.Operands = append(f.Operands, o)
		args = append(args, binding{node: o})
	}
	f.Result = b.inline(at, fn, args)
	b.region, b.maybe = f.Parent, maybe
	return f, f.Result
}

// writes reports whether f, inside outer or outer itself, has a step whose effect is visible
// outside outer. Steps that only concern counters of outer are not.
func writes(f, outer *Func) bool {
	if f == nil {
		return false
	}
	for _, s := range f.Steps {
		switch s.Op {
		case Emit:
			return true
		case CounterAdd, CounterReset, CounterGet:
			if !s.Args[0].Home.Within(outer) {
				return true
			}
		case Apply:
			if writes(s.Cond, outer) || writes(s.Func, outer) {
				return true
			}
		}
	}
	return false
}

func (b *builder) emit(a *arguments) *Node {
	row := b.arg(a, "t", types.Tuple, types.Int, types.Float, types.Bool)
	switch {
	case b.p.Row == nil:
		b.p.Row = row.Type
	case !types.Same(b.p.Row, row.Type):
		b.fail(a.by["t"].Pos(), "the emitted row is "+describe(row.Type), b.p.Row.String()+", as elsewhere in the program")
	default:
		b.p.Row = types.Join(b.p.Row, row.Type)
	}
	return b.add(a.at, Node{Op: Emit, Type: types.TVoid, Args: []*Node{row}})
}

func (b *builder) counter(a *arguments) *Node {
	keys := b.arg(a, "keys", types.Int)
	t := &types.Type{Kind: types.Counter, Max: b.bound(a, "keys", keys)}
	if x := a.by["hashed"]; x != nil {
		v := b.arg(a, "hashed", types.Bool)
		if v.Op != Const {
			b.fail(x.Pos(), "hashed of Counter is not a constant", "True or False")
		}
		t.Hashed = v.Words[0] != 0
	}
	return b.add(a.at, Node{Op: NewCounter, Type: t, Args: []*Node{keys}})
}

func (b *builder) counterAdd(a *arguments) *Node {
	args := []*Node{b.arg(a, "c", types.Counter), b.arg(a, "key", types.Int), b.arg(a, "n", types.Int)}
	return b.add(a.at, Node{Op: CounterAdd, Type: types.TInt, Args: args})
}

func (b *builder) counterReset(a *arguments) *Node {
	return b.add(a.at, Node{Op: CounterReset, Type: types.TVoid, Args: []*Node{b.arg(a, "c", types.Counter)}})
}
