package asg

import (
	"fmt"

	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// value builds an expression. An expression without a value is of type Void.
func (b *builder) value(x syntax.Expr, s *scope) *Node {
	if x, ok := x.(*syntax.Call); ok {
		return b.call(x, s)
	}
	given := b.given
	b.given = ""
	defer func() { b.given = given }()
	at := x.Pos()
	switch x := x.(type) {
	case *syntax.Name:
		n, ok := s.find(x.Name)
		switch {
		case !ok:
			if _, is := builtins[x.Name]; is {
				b.fail(at, x.Name+" is an operator", "'"+x.Name+"(…)'")
			}
			b.unknown(at, x.Name, "value", s.visible())
		case n.node == nil:
			b.fail(at, x.Name+" is a function", "a value, such as "+x.Name+"(…)")
		}
		return n.node
	case *syntax.Int:
		if x.Value == 1<<63 {
			b.fail(at, "the number "+x.String()+" does not fit 64 bits", "a number up to 9223372036854775807")
		}
		return b.constant(at, types.Int, types.Word(x.Value))
	case *syntax.Float:
		return b.constant(at, types.Float, types.FromFloat(x.Value))
	case *syntax.Bool:
		return b.constant(at, types.Bool, types.FromBool(x.Value))
	case *syntax.None:
		b.fail(at, "None is not a value", "an expression")
	case *syntax.String:
		b.failHint(at, "a text is not a value", "", "label(G, '"+x.Value+"') is the number of a label")
	case *syntax.TypeName:
		b.fail(at, "a type is not a value", "an expression")
	case *syntax.Lambda:
		b.fail(at, "a function is not a value", "an expression")
	case *syntax.ListLit:
		return b.list(at, b.values(x.Items, s), x.Items, nil)
	case *syntax.Unary:
		return b.unary(x, s)
	case *syntax.Binary:
		return b.binary(x, s)
	}
	panic(fmt.Sprintf("asg: unknown expression %T", x))
}

func (b *builder) values(xs []syntax.Expr, s *scope) []*Node {
	var out []*Node
	for _, x := range xs {
		out = append(out, b.value(x, s))
	}
	return out
}

func (b *builder) constant(at syntax.Pos, k types.Kind, w types.Word) *Node {
	t := &types.Type{Kind: k}
	if k == types.Int && w >= 0 {
		t.Max = types.Exactly(int64(w))
	}
	return b.add(at, Node{Op: Const, Type: t, Words: []types.Word{w}})
}

// want fails unless n is of a kind.
func (b *builder) want(n *Node, at syntax.Pos, what string, kinds ...types.Kind) {
	expected := ""
	for i, k := range kinds {
		if n.Type.Kind == k {
			return
		}
		if i > 0 {
			expected += " or "
		}
		expected += k.String()
	}
	b.fail(at, fmt.Sprintf("%s is %s", what, describe(n.Type)), expected)
}

func describe(t *types.Type) string {
	if t.Kind == types.Void {
		return "no value"
	}
	return "of type " + t.String()
}

func (b *builder) unary(x *syntax.Unary, s *scope) *Node {
	if i, ok := x.X.(*syntax.Int); ok && x.Op == "-" && i.Value == 1<<63 {
		return b.constant(x.At, types.Int, -1<<63)
	}
	y := b.value(x.X, s)
	if x.Op == "not" {
		b.want(y, x.X.Pos(), "the operand of not", types.Bool)
		if y.Op == Const {
			return b.constant(x.At, types.Bool, 1-y.Words[0])
		}
		return b.add(x.At, Node{Op: Not, Type: types.TBool, Args: []*Node{y}})
	}
	b.want(y, x.X.Pos(), "the operand of -", types.Int, types.Float)
	if y.Op != Const {
		return b.add(x.At, Node{Op: Neg, Type: &types.Type{Kind: y.Type.Kind}, Args: []*Node{y}})
	}
	if y.Type.Kind == types.Float {
		return b.constant(x.At, types.Float, types.FromFloat(-y.Words[0].Float()))
	}
	w, err := types.Compute("-", types.Int, 0, y.Words[0])
	if err != nil {
		b.fail(x.At, err.Error(), "")
	}
	return b.constant(x.At, types.Int, w)
}

func (b *builder) binary(x *syntax.Binary, s *scope) *Node {
	l := b.value(x.X, s)
	logic := x.Op == "and" || x.Op == "or"
	if logic {
		b.maybe++
	}
	r := b.value(x.Y, s)
	if logic {
		b.maybe--
		b.want(l, x.X.Pos(), "the left of "+x.Op, types.Bool)
		b.want(r, x.Y.Pos(), "the right of "+x.Op, types.Bool)
		op := And
		if x.Op == "or" {
			op = Or
		}
		return b.add(x.At, Node{Op: op, Type: types.TBool, Args: []*Node{l, r}})
	}
	if x.Op == "==" || x.Op == "!=" {
		b.want(l, x.X.Pos(), "the left of "+x.Op, types.Int, types.Float, types.Bool)
		b.want(r, x.Y.Pos(), "the right of "+x.Op, types.Int, types.Float, types.Bool)
	} else {
		b.want(l, x.X.Pos(), "the left of "+x.Op, types.Int, types.Float)
		b.want(r, x.Y.Pos(), "the right of "+x.Op, types.Int, types.Float)
	}
	l, r = b.sameKind(x.At, x.Op, l, r)
	k := l.Type.Kind
	_, arithmetic := map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true}[x.Op]
	if l.Op == Const && r.Op == Const {
		if !arithmetic {
			return b.constant(x.At, types.Bool, types.FromBool(types.Compare(x.Op, k, l.Words[0], r.Words[0])))
		}
		w, err := types.Compute(x.Op, k, l.Words[0], r.Words[0])
		if err != nil {
			b.fail(x.At, err.Error(), "")
		}
		return b.constant(x.At, k, w)
	}
	if !arithmetic {
		return b.add(x.At, Node{Op: Compare, Type: types.TBool, Args: []*Node{l, r}, Name: x.Op})
	}
	if x.Op != "+" && r.Op == Const && k == types.Int && r.Words[0] == 0 && (x.Op == "/" || x.Op == "%") {
		b.fail(x.At, types.ErrDivision.Error(), "")
	}
	return b.add(x.At, Node{Op: Arith, Type: arithType(x.Op, l.Type, r.Type), Args: []*Node{l, r}, Name: x.Op})
}

// sameKind makes an Int a Float where the other side is one.
func (b *builder) sameKind(at syntax.Pos, op string, l, r *Node) (*Node, *Node) {
	switch {
	case l.Type.Kind == r.Type.Kind:
	case l.Type.Kind == types.Int && r.Type.Kind == types.Float:
		l = b.toFloat(l)
	case l.Type.Kind == types.Float && r.Type.Kind == types.Int:
		r = b.toFloat(r)
	default:
		b.fail(at, fmt.Sprintf("%s %s %s", l.Type, op, r.Type), "both sides of one type")
	}
	return l, r
}

func (b *builder) toFloat(n *Node) *Node {
	if n.Op == Const {
		return b.constant(n.Pos, types.Float, types.FromFloat(float64(n.Words[0])))
	}
	return b.add(n.Pos, Node{Op: ToFloat, Type: types.TFloat, Args: []*Node{n}})
}

// arithType is the type of a result, with the range that is known of it.
func arithType(op string, l, r *types.Type) *types.Type {
	t := &types.Type{Kind: l.Kind}
	if t.Kind != types.Int || l.Max == nil || r.Max == nil {
		return t
	}
	switch op {
	case "+":
		t.Max = types.Plus(l.Max, r.Max)
	case "*":
		t.Max = types.Times(l.Max, r.Max)
	case "/":
		t.Max = l.Max
	case "%":
		t.Max = types.MinOf(l.Max, r.Max)
	}
	return t
}

// list makes a list of items of one type, which stand at places; item is the type
// if there are none.
func (b *builder) list(at syntax.Pos, items []*Node, places []syntax.Expr, item *types.Type) *Node {
	if item == nil && len(items) == 0 {
		b.failHint(at, "an empty list has no type", "", "mk_list(0, int) is an empty list of numbers")
	}
	for i, n := range items {
		if !n.Type.Kind.Scalar() && n.Type.Kind != types.Tuple {
			b.fail(places[i].Pos(), "an item of the list is "+describe(n.Type), "int, float, bool or Tuple")
		}
		switch {
		case i == 0 && item == nil:
			item = n.Type
		case !types.Same(item, n.Type):
			b.fail(places[i].Pos(), "an item of the list is "+describe(n.Type), item.String())
		case i == 0:
			item = n.Type
		default:
			item = types.Join(item, n.Type)
		}
	}
	t := types.ListOf(item, types.Exactly(int64(len(items))))
	t.Ascending = item.Kind == types.Int && len(items) < 2
	return b.add(at, Node{Op: MakeList, Type: t, Args: items})
}
