package irgen

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
)

// Mistakes at run time. The language computes only needed values, and only these can fail.
// Generated code computes each value in its place, needed or not. So a value that may fail has
// a code next to it, which is 0 if it did not fail. A reader of the value fails with that code.
// When a step uses a failed value, the run fails.

// code numbers a mistake at a node.
func (l *lowerer) code(n *asg.Node, format string, args ...any) kir.Expr {
	l.failures = append(l.failures, l.p.File.ErrorAt(n.Pos, fmt.Sprintf(format, args...)))
	return kir.C(uint32(len(l.failures)))
}

// mark records the place of a statement in the program. Accesses made there fail with that
// place when they are asserted.
func (l *lowerer) mark(s kir.Stmt) {
	if l.at == nil {
		return
	}
	code, ok := l.places[l.at]
	if !ok {
		l.code(l.at, "an access outside memory, which is a mistake of the compiler")
		code = uint32(len(l.failures))
		l.places[l.at] = code
	}
	l.prog.Places[s] = code
}

// sink is the code of the value that is being computed: a variable, once something
// can fail.
type sink struct{ code *kir.Var }

// guarded writes a value that is only computed, with its code.
func (l *lowerer) guarded(write func() *value) *value {
	before := l.sink
	s := &sink{}
	l.sink = s
	var v *value
	body := l.block(func() { v = write() })
	l.sink = before
	if s.code != nil {
		// Where it is first needed: one phase may then have all that changes it.
		i := max(slices.IndexFunc(body, func(st kir.Stmt) bool { return mentions(st, s.code) }), 0)
		*l.out = append(*l.out, body[:i]...)
		body = body[i:]
		l.do(&kir.Let{Var: s.code, Init: kir.C(0)})
		v.code = kir.R(s.code)
	}
	*l.out = append(*l.out, body...)
	return v
}

// mentions reports whether a statement, or one inside it, reads or assigns a variable.
func mentions(s kir.Stmt, v *kir.Var) (found bool) {
	kir.WalkStmts([]kir.Stmt{s}, func(s kir.Stmt) {
		for _, x := range kir.Operands(s) {
			kir.WalkExpr(*x, func(y kir.Expr) {
				r, ok := y.(kir.Ref)
				found = found || ok && r.Var == v
			})
		}
	})
	return found
}

// unguarded writes a step: its mistakes end the run.
func (l *lowerer) unguarded(write func() *value) *value {
	before := l.sink
	l.sink = nil
	defer func() { l.sink = before }()
	return write()
}

// unsure writes a value that workers compute together and that may not be needed.
// Mistakes cannot be told from there; where there may be some, one worker does it.
func (l *lowerer) unsure(write func() *value) *value {
	var v *value
	body := l.block(func() { v = l.unguarded(write) })
	code := &kir.Var{Name: "code", T: kir.T(kir.U32)}
	if l.noted(body, code) {
		l.do(&kir.Let{Var: code, Init: kir.C(0)})
		v.code = kir.R(code)
		for _, s := range body {
			delete(l.parallel, s)
		}
	}
	*l.out = append(*l.out, body...)
	return v
}

// noted makes statements note in a variable why they fail, and reports whether they
// may.
func (l *lowerer) noted(body []kir.Stmt, code *kir.Var) (any bool) {
	for i, s := range body {
		for _, b := range kir.Bodies(s) {
			any = l.noted(*b, code) || any
		}
		if f, ok := s.(*kir.Fail); ok {
			body[i] = when(kir.Op2(kir.Eq, kir.R(code), kir.C(0)), set(code, f.Code))
			any = true
		}
	}
	return any
}

// findSure notes the nodes that the program computes for all inputs: its steps and results, and
// their operands.
func (l *lowerer) findSure(f *asg.Func) {
	l.sure = map[*asg.Node]bool{}
	var visit func(n *asg.Node)
	visit = func(n *asg.Node) {
		if l.sure[n] {
			return
		}
		l.sure[n] = true
		for i, a := range n.Args {
			if i == 0 || n.Op != asg.And && n.Op != asg.Or {
				visit(a)
			}
		}
	}
	for _, s := range f.Steps {
		visit(s)
	}
	if f.Result != nil {
		visit(f.Result)
	}
}

// fail notes a mistake where cond holds.
func (l *lowerer) fail(cond, code kir.Expr) {
	if c, ok := cond.(kir.Const); ok && c.Bits == 0 {
		return
	}
	then := kir.Stmt(&kir.Fail{Code: code})
	if l.sink != nil {
		if l.sink.code == nil {
			l.sink.code = &kir.Var{Name: "code", T: kir.T(kir.U32)}
		}
		// The first mistake counts.
		cond = kir.All(kir.Op2(kir.Eq, kir.R(l.sink.code), kir.C(0)), cond)
		then = &kir.Assign{To: kir.R(l.sink.code), X: code}
	}
	l.do(&kir.If{Cond: cond, Then: []kir.Stmt{then}})
}

// need is a read of a value: it fails with the value's code.
func (l *lowerer) need(v *value) *value {
	if v.code != nil {
		l.fail(kir.Op2(kir.Ne, v.code, kir.C(0)), v.code)
	}
	return v
}

// list is the value of a node that is a list, a graph or a counter, to be read now.
func (l *lowerer) list(n *asg.Node) *value { return l.need(l.vals[n]) }

// logic is and, where stop is false, or or: the right side is needed where the left
// one is not stop.
func (l *lowerer) logic(n *asg.Node, stop bool) kir.Expr {
	x := l.scalar(n.Args[0])
	more := x
	if stop {
		more = kir.NotX(x)
	}
	if y := l.vals[n.Args[1]]; y != nil && y.code != nil {
		l.fail(kir.All(more, kir.Op2(kir.Ne, y.code, kir.C(0))), y.code)
	}
	y := l.parts(n.Args[1])[0]
	if stop {
		return kir.Any(x, y)
	}
	return kir.All(x, y)
}
