package interp

import (
	"fmt"

	"github.com/weftgraph/weft/internal/kir"
)

func (c *compiler) exprs(xs []kir.Expr) []eval {
	out := make([]eval, len(xs))
	for i, x := range xs {
		out[i] = c.expr(x)
	}
	return out
}

func (c *compiler) expr(x kir.Expr) eval {
	switch x := x.(type) {
	case kir.Const:
		v := Value{N: x.Bits}
		return func(*frame) Value { return v }
	case kir.Ref:
		at := c.at(x.Var)
		return func(f *frame) Value { return f.vars[at] }
	case kir.Global:
		v := Value{N: uint64(x.G.Value), List: x.G.Adj}
		return func(*frame) Value { return v }
	case kir.Field:
		rec, i := c.expr(x.X), fieldIndex(x)
		return func(f *frame) Value { return rec(f).Rec.Fields[i] }
	case kir.Elem:
		arr, i := c.expr(x.X), c.expr(x.I)
		if x.X.Type().Elem == kir.U32 {
			return func(f *frame) Value { return Value{N: uint64(arr(f).List[i(f).N])} }
		}
		return func(f *frame) Value { return arr(f).item(i(f).N) }
	case kir.Unary:
		return c.unary(x)
	case kir.Binary:
		return c.binary(x)
	case kir.Select:
		cond, then, other := c.expr(x.If), c.expr(x.Then), c.expr(x.Else)
		return func(f *frame) Value {
			if cond(f).N != 0 {
				return then(f)
			}
			return other(f)
		}
	case kir.Convert:
		y, conv := c.expr(x.X), conversion(x.X.Type().Kind, x.T.Kind)
		return func(f *frame) Value { return conv(y(f)) }
	case kir.Call:
		return c.call(x)
	case kir.Invoke:
		return c.invoke(x)
	case kir.Count:
		over, at, keep := c.expr(x.Over), c.at(x.X), c.expr(x.Keep)
		return func(f *frame) Value {
			n := uint64(0)
			for _, v := range over(f).List {
				f.vars[at] = Value{N: uint64(v)}
				n += keep(f).N
			}
			return Value{N: n}
		}
	case kir.Sum:
		over, at, value := c.expr(x.Over), c.at(x.X), c.expr(x.Value)
		return func(f *frame) Value {
			n := uint64(0)
			for _, v := range over(f).List {
				f.vars[at] = Value{N: uint64(v)}
				n += value(f).N
			}
			return Value{N: n}
		}
	}
	panic(fmt.Sprintf("interp: cannot evaluate %T", x))
}

func (c *compiler) unary(x kir.Unary) eval {
	y := c.expr(x.X)
	if x.Op == kir.Not {
		return func(f *frame) Value { return Value{N: 1 - y(f).N} }
	}
	sub := arithmetic(kir.Sub, x.X.Type().Kind)
	if x.X.Type().Kind == kir.F64 {
		return func(f *frame) Value { return Value{N: y(f).N ^ 1<<63} }
	}
	return func(f *frame) Value { return sub(Value{}, y(f)) }
}

func (c *compiler) binary(x kir.Binary) eval {
	a, b := c.expr(x.X), c.expr(x.Y)
	switch k := x.X.Type().Kind; x.Op {
	case kir.And:
		return func(f *frame) Value {
			if v := a(f); v.N == 0 {
				return v
			}
			return b(f)
		}
	case kir.Or:
		return func(f *frame) Value {
			if v := a(f); v.N != 0 {
				return v
			}
			return b(f)
		}
	case kir.Eq, kir.Ne, kir.Lt, kir.Le, kir.Gt, kir.Ge:
		test := comparison(x.Op, k)
		return func(f *frame) Value {
			if v := a(f); test(v, b(f)) {
				return Value{N: 1}
			}
			return Value{}
		}
	default:
		op := arithmetic(x.Op, k)
		return func(f *frame) Value { v := a(f); return op(v, b(f)) }
	}
}

func (c *compiler) invoke(x kir.Invoke) eval {
	args, fn := c.exprs(x.Args), c.m.funcs[x.Fn]
	type out struct {
		param int
		to    func(f *frame, v Value)
	}
	var outs []out
	for i, p := range x.Fn.Params {
		if p.Out {
			outs = append(outs, out{i, c.target(x.Args[i])})
		}
	}
	return func(f *frame) Value {
		fr := frame{vars: make([]Value, fn.vars)}
		for i, a := range args {
			fr.vars[i] = a(f)
		}
		fn.run(&fr)
		for _, o := range outs {
			o.to(f, fr.vars[o.param])
		}
		return fr.result
	}
}
