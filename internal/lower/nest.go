package lower

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// NestCode is a lowered plan with its whole loop nest.
type NestCode struct {
	*Code
	// Nest is the loop nest below one vertex of level 0. Where Options.Counting holds, it
	// returns the number of matches; otherwise it also emits each match, a row of
	// vertices by pattern vertex. In the Sets view its parameters are those of
	// Level<0>::sets and the root. In the Checks view they are an array for the partial
	// match, one for the sizes of the tail's blocks, and the root.
	Nest *kir.Func
	// Part is the loop nest below some of level 1's candidates; nil: the view is Checks,
	// or level 1 is not walked. Its parameters are those of Level<0>::sets and the
	// candidates; the root is in the state, and its sets are made.
	Part *kir.Func
	// Totals are the variables of Part and Nest that their matches are added to.
	Totals []*kir.Var
}

// Nest lowers p as Plan does, with the loop nest as functions besides.
func Nest(p *plan.Plan, o Options) (*NestCode, error) {
	code, err := Plan(p, o)
	if err != nil {
		return nil, err
	}
	prog := code.Program
	out := &NestCode{Code: code}
	n := &nest{p: p, code: code, prog: prog, count: kir.T(kir.U64), tail: prog.Func("", 1, "tail")}
	if n.tail != nil {
		n.count = kir.T(kir.U128) // of many tails
	}
	if o.View == Checks {
		n.m = &kir.Var{Name: "m", T: kir.ArrayOf(kir.U32, len(p.Levels)).Writable()}
		n.sizes = &kir.Var{Name: "sizes", T: kir.ArrayOf(kir.U32, 0).Writable()}
		if n.tail = prog.Func("", 1, "combine"); n.tail != nil {
			n.count = kir.T(kir.U128)
		}
	} else {
		n.state = prog.Func("Level", 0, "sets").Params
	}
	n.emit = !o.Counting
	if n.m == nil && code.Walked > 1 && len(p.Levels) > 1 {
		out.Part = n.part()
		prog.Funcs = append(prog.Funcs, out.Part)
		out.Totals = append(out.Totals, n.total)
	}
	out.Nest = n.function()
	prog.Funcs = append(prog.Funcs, out.Nest)
	out.Totals = append(out.Totals, n.total)
	prog.Owners = append(prog.Owners, kir.Owner{Index: 2})
	return out, nil
}

// nest is the making of the nest function.
type nest struct {
	p     *plan.Plan
	code  *Code
	prog  *kir.Program
	tail  *kir.Func
	count kir.Type
	emit  bool
	total *kir.Var
	state []*kir.Var // of the Sets view: s, slots and cap
	m     *kir.Var   // of the Checks view, with sizes
	sizes *kir.Var
}

func (n *nest) function() *kir.Func {
	root := &kir.Var{Name: "root", T: kir.T(kir.U32)}
	n.total = &kir.Var{Name: "total", T: n.count}
	params := append(append([]*kir.Var{}, n.state...), root)
	if n.m != nil {
		params = []*kir.Var{n.m, n.sizes, root}
	}
	return n.counted("nest", "the number of matches below one vertex of level 0", params, []kir.Stmt{&kir.If{
		Cond: kir.Invoke{Fn: n.prog.Func("", 0, "root_ok"), Args: []kir.Expr{kir.R(root)}},
		Then: n.bind(0, kir.R(root)),
	}})
}

// part is the function part.
func (n *nest) part() *kir.Func {
	c := &kir.Var{Name: "c", T: kir.T(kir.Set)}
	n.total = &kir.Var{Name: "total", T: n.count}
	return n.counted("part", "the number of matches below some candidates of level 1", append(slices.Clone(n.state), c), n.walk(1, kir.R(c)))
}

// counted is a function that returns the total that body adds up.
func (n *nest) counted(name, doc string, params []*kir.Var, body []kir.Stmt) *kir.Func {
	body = append([]kir.Stmt{&kir.Let{Var: n.total, Init: kir.C64(n.count.Kind, 0)}}, body...)
	return &kir.Func{
		Name: name, Index: 2, Doc: doc, Scope: kir.Group, Params: params, Result: n.count,
		Body: append(body, &kir.Return{X: kir.R(n.total)}),
	}
}

// bind puts v at level l and goes on below.
func (n *nest) bind(l int, v kir.Expr) []kir.Stmt {
	body := []kir.Stmt{&kir.Assign{To: n.matched(l), X: v}}
	switch {
	case l == len(n.p.Levels)-1:
		if n.emit {
			row := make([]kir.Expr, len(n.p.Levels))
			for i, at := range n.p.LevelOf {
				row[i] = n.matched(at)
			}
			body = append(body, &kir.Emit{Row: row})
		}
		return append(body, &kir.Accumulate{To: kir.R(n.total), X: n.choices(kir.C64(n.count.Kind, 1))})
	case n.m != nil && n.tail != nil && n.enumerated(l):
		return append(body, n.blocks()...)
	case n.m != nil:
		return append(body, n.checked(l+1)...)
	}
	return append(body, &kir.If{
		Cond: kir.Invoke{Fn: n.prog.Func("Level", l, "sets"), Args: n.args()},
		Then: n.level(l + 1),
	})
}

func (n *nest) args() (out []kir.Expr) {
	for _, v := range n.state {
		out = append(out, kir.R(v))
	}
	return out
}

// matched is where level l's vertex is kept.
func (n *nest) matched(l int) kir.Expr {
	x := kir.Expr(nil)
	if n.m != nil {
		x = kir.R(n.m)
	} else {
		x = kir.Field{X: kir.R(n.state[0]), Name: "m"}
	}
	return kir.Elem{X: x, I: kir.C(uint32(l))}
}

// level is the loop of level l in the Sets view.
func (n *nest) level(l int) []kir.Stmt {
	candidates := n.prog.Func("Level", l, "candidates")
	if n.tail != nil && n.enumerated(l-1) {
		return []kir.Stmt{&kir.Accumulate{To: kir.R(n.total), X: n.wide(kir.Invoke{Fn: n.tail, Args: n.args()})}}
	}
	return n.walk(l, kir.Invoke{Fn: candidates, Args: []kir.Expr{kir.R(n.state[0])}})
}

// wide is a tail's count as the total's type.
func (n *nest) wide(x kir.Expr) kir.Expr {
	if x.Type() == n.count {
		return x
	}
	return kir.Convert{T: n.count, X: x}
}

// walk goes through candidates of level l in the Sets view.
func (n *nest) walk(l int, c kir.Expr) []kir.Stmt {
	v := &kir.Var{Name: name(l), T: kir.T(kir.U32)}
	s := kir.R(n.state[0])
	return []kir.Stmt{&kir.Each{X: v, Over: c, Body: []kir.Stmt{&kir.If{
		Cond: kir.Invoke{Fn: n.prog.Func("Level", l, "accept"), Args: []kir.Expr{s, kir.R(v)}},
		Then: n.bind(l, kir.R(v)),
	}}}}
}

// enumerated reports whether l is the last level before the tail.
func (n *nest) enumerated(l int) bool { return l == n.code.Walked-1 }

// blocks computes the sizes of the tail's blocks, and adds the result of combine to the total.
func (n *nest) blocks() (body []kir.Stmt) {
	for b := range n.code.Checks.Blocks {
		if n.prog.Func("Block", b, "places") != nil {
			size := kir.Elem{X: kir.R(n.sizes), I: kir.C(uint32(b))}
			body = append(body, &kir.Assign{To: size, X: kir.C(0)})
			body = append(body, n.places("Block", b, []kir.Stmt{&kir.Accumulate{To: size, X: kir.C(1)}})...)
			continue
		}
		which := &kir.Var{Name: fmt.Sprintf("of%d", b), T: kir.T(kir.U32)}
		list := &kir.Var{Name: fmt.Sprintf("list%d", b), T: kir.T(kir.Set)}
		x := &kir.Var{Name: fmt.Sprintf("x%d", b), T: kir.T(kir.U32)}
		pivot, valid := n.prog.Func("Block", b, "pivot"), n.prog.Func("Block", b, "valid")
		body = append(body,
			&kir.Let{Var: which, Init: kir.C(0)},
			&kir.Let{Var: list, Init: kir.Invoke{Fn: pivot, Args: []kir.Expr{kir.R(n.m), kir.R(which)}}},
			&kir.Assign{To: kir.Elem{X: kir.R(n.sizes), I: kir.C(uint32(b))}, X: kir.Count{
				Over: kir.R(list), X: x,
				Keep: kir.Invoke{Fn: valid, Args: []kir.Expr{kir.R(n.m), kir.R(which), kir.R(x)}},
			}})
	}
	ways := n.wide(kir.Invoke{Fn: n.tail, Args: []kir.Expr{kir.R(n.sizes)}})
	return append(body, &kir.Accumulate{To: kir.R(n.total), X: n.choices(ways)})
}

// choices is n times the number of ways to choose the data edges, in the Checks
// view where matches are only counted.
func (n *nest) choices(x kir.Expr) kir.Expr {
	f := n.prog.Func("", 0, "choices")
	if n.m == nil || n.emit || f == nil {
		return x
	}
	ways := kir.Invoke{Fn: f, Args: []kir.Expr{kir.R(n.m)}}
	return kir.Op2(kir.Mul, kir.Convert{T: n.count, X: ways}, x)
}

// places loops over the valid candidates of a level or block of the Checks view whose lists are stored in
// parts. A nil then binds the candidate.
func (n *nest) places(family string, i int, then []kir.Stmt) []kir.Stmt {
	number := func(name string) *kir.Var {
		return &kir.Var{Name: fmt.Sprintf("%s%s%d", name, family, i), T: kir.T(kir.U32)}
	}
	v, which, size, k := number("v"), number("which"), number("n"), number("k")
	if then == nil {
		v.Name = name(i)
		then = n.bind(i, kir.R(v))
	}
	ask := func(name string, args ...kir.Expr) kir.Expr {
		return kir.Invoke{Fn: n.prog.Func(family, i, name), Args: append([]kir.Expr{kir.R(n.m), kir.R(which)}, args...)}
	}
	return []kir.Stmt{
		&kir.Let{Var: which, Init: kir.C(0)},
		&kir.Let{Var: size, Init: ask("places")},
		&kir.Loop{I: k, Lo: kir.C(0), Hi: kir.R(size), Body: []kir.Stmt{
			&kir.Let{Var: v, Init: ask("place", kir.R(k))},
			&kir.If{Cond: kir.All(kir.Op2(kir.Ne, kir.R(v), kir.C(nowhere)), ask("valid", kir.R(v))), Then: then},
		}},
	}
}

// checked is the loop of level l in the Checks view.
func (n *nest) checked(l int) []kir.Stmt {
	if n.prog.Func("Level", l, "places") != nil {
		return n.places("Level", l, nil)
	}
	v := &kir.Var{Name: name(l), T: kir.T(kir.U32)}
	which := &kir.Var{Name: fmt.Sprintf("which%d", l), T: kir.T(kir.U32)}
	pivot, valid := n.prog.Func("Level", l, "pivot"), n.prog.Func("Level", l, "valid")
	return []kir.Stmt{
		&kir.Let{Var: which, Init: kir.C(0)},
		&kir.Each{X: v, Over: kir.Invoke{Fn: pivot, Args: []kir.Expr{kir.R(n.m), kir.R(which)}}, Body: []kir.Stmt{&kir.If{
			Cond: kir.Invoke{Fn: valid, Args: []kir.Expr{kir.R(n.m), kir.R(which), kir.R(v)}},
			Then: n.bind(l, kir.R(v)),
		}}},
	}
}
