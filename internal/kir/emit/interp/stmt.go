package interp

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
)

func (c *compiler) block(body []kir.Stmt) step {
	var steps []step
	for _, s := range body {
		if st := c.stmt(s); st != nil {
			steps = append(steps, st)
		}
	}
	switch len(steps) {
	case 0:
		return func(*frame) flow { return next }
	case 1:
		return steps[0]
	}
	return func(f *frame) flow {
		for _, st := range steps {
			if st(f) == leave {
				return leave
			}
		}
		return next
	}
}

func (c *compiler) stmt(s kir.Stmt) step {
	switch s := s.(type) {
	case *kir.Comment:
		return nil
	case *kir.Let:
		at, t := c.at(s.Var), s.Var.T
		if s.Init == nil {
			return func(f *frame) flow { f.vars[at] = zero(t); return next }
		}
		x := c.expr(s.Init)
		return func(f *frame) flow { f.vars[at] = x(f); return next }
	case *kir.Assign:
		to, x := c.target(s.To), c.expr(s.X)
		return func(f *frame) flow { to(f, x(f)); return next }
	case *kir.Accumulate:
		return c.stmt(&kir.Assign{To: s.To, X: kir.Op2(kir.Add, s.To, s.X)})
	case *kir.If:
		cond, then, other := c.expr(s.Cond), c.block(s.Then), c.block(s.Else)
		return func(f *frame) flow {
			if cond(f).N != 0 {
				return then(f)
			}
			return other(f)
		}
	case *kir.Each:
		return c.each(s)
	case *kir.Loop:
		at, lo, hi, body := c.at(s.I), c.expr(s.Lo), c.expr(s.Hi), c.block(s.Body)
		less := comparison(kir.Lt, s.I.T.Kind)
		add := arithmetic(kir.Add, s.I.T.Kind)
		return func(f *frame) flow {
			for i, end := lo(f), hi(f); less(i, end); i = add(i, Value{N: 1}) {
				f.vars[at] = i
				if body(f) == leave {
					return leave
				}
			}
			return next
		}
	case *kir.SetOp:
		return c.setOp(s)
	case *kir.Emit:
		row := c.exprs(s.Row)
		return func(f *frame) flow {
			out := make([]uint64, len(row))
			for i, x := range row {
				out[i] = x(f).N
			}
			if !c.m.emit(out) {
				panic(stopped{})
			}
			return next
		}
	case *kir.Fail:
		code := c.expr(s.Code)
		return func(f *frame) flow { panic(&Failure{Code: uint32(code(f).N)}) }
	case *kir.Do:
		x := c.expr(s.X)
		return func(f *frame) flow { x(f); return next }
	case *kir.Return:
		if s.X == nil {
			return func(*frame) flow { return leave }
		}
		x := c.expr(s.X)
		return func(f *frame) flow { f.result = x(f); return leave }
	}
	panic(fmt.Sprintf("interp: cannot run %T", s))
}

func (c *compiler) each(s *kir.Each) step {
	at, over, body := c.at(s.X), c.expr(s.Over), c.block(s.Body)
	return func(f *frame) flow {
		for _, x := range over(f).List {
			f.vars[at] = Value{N: uint64(x)}
			if body(f) == leave {
				return leave
			}
		}
		return next
	}
}

// target assigns to an expression.
func (c *compiler) target(x kir.Expr) func(f *frame, v Value) {
	switch x := x.(type) {
	case kir.Ref:
		at := c.at(x.Var)
		return func(f *frame, v Value) { f.vars[at] = v }
	case kir.Field:
		rec, i := c.expr(x.X), fieldIndex(x)
		return func(f *frame, v Value) { rec(f).Rec.Fields[i] = v }
	case kir.Elem:
		arr, i := c.expr(x.X), c.expr(x.I)
		if x.X.Type().Elem == kir.U32 {
			return func(f *frame, v Value) { arr(f).List[i(f).N] = uint32(v.N) }
		}
		return func(f *frame, v Value) { arr(f).put(i(f).N, v) }
	}
	panic(fmt.Sprintf("interp: cannot assign %T", x))
}

func fieldIndex(x kir.Field) int {
	for i, f := range x.X.Type().Record.Fields {
		if f.Name == x.Name {
			return i
		}
	}
	panic("interp: no field " + x.Name)
}

func (c *compiler) setOp(s *kir.SetOp) step {
	if s.Op == kir.Merge {
		return c.merge(s)
	}
	to, out, a := c.target(s.To), c.expr(s.Out), c.expr(s.A)
	if s.Op == kir.Filter {
		at, keep := c.at(s.X), c.expr(s.Keep)
		return func(f *frame) flow {
			from, room, n := a(f).List, out(f).List, 0
			for _, x := range from {
				f.vars[at] = Value{N: uint64(x)}
				if keep(f).N != 0 {
					room[n] = x
					n++
				}
			}
			to(f, Value{List: room[:n:n]})
			return next
		}
	}
	b, common := c.expr(s.B), s.Op == kir.Intersect
	return func(f *frame) flow {
		from, other, room, n := a(f).List, b(f).List, out(f).List, 0
		need := len(from)
		if common {
			need = min(need, len(other))
		}
		_ = room[:need] // the room that the operation must have
		for _, x := range from {
			if contains(other, x) == common {
				room[n] = x
				n++
			}
		}
		to(f, Value{List: room[:n:n]})
		return next
	}
}

func (c *compiler) merge(s *kir.SetOp) step {
	to, out := c.target(s.To), c.expr(s.Out)
	type piece struct{ run, gone eval }
	var pieces []piece
	for _, p := range s.Pieces {
		x := piece{run: c.expr(p.Run), gone: func(*frame) Value { return Value{} }}
		if p.Gone != nil {
			x.gone = c.expr(p.Gone)
		}
		pieces = append(pieces, x)
	}
	return func(f *frame) flow {
		var all []uint32
		for _, p := range pieces {
			gone := p.gone(f).List
			for _, x := range p.run(f).List {
				if !contains(gone, x) {
					all = append(all, x)
				}
			}
		}
		slices.Sort(all)
		room := out(f).List[:len(all):len(all)] // the room that the operation must have
		copy(room, all)
		to(f, Value{List: room})
		return next
	}
}
