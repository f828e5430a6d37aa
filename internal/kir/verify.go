package kir

import (
	"errors"
	"fmt"
	"slices"
)

// Verify returns the first error in p. Emitters may rely on a program without errors. It finds
//
//   - a wrong type;
//   - a variable before its declaration;
//   - an assignment to read-only memory;
//   - a function that can end without its result;
//   - group work where lanes have diverged;
//   - recursion;
//   - an indivisible function that emitters have no instruction for.
//
// Group functions may branch on any value: values are equal in all lanes, because only
// predicates see single elements.
func Verify(p *Program) error {
	v := &verifier{p: p}
	for i, f := range p.Funcs {
		if slices.ContainsFunc(p.Funcs[:i], func(o *Func) bool {
			return o == f || o.Family == f.Family && o.Name == f.Name && (f.Family == "" || o.Index == f.Index)
		}) {
			return fmt.Errorf("kir: function %s twice", f.FullName())
		}
		v.done = p.Funcs[:i]
		if err := v.function(f); err != nil {
			return fmt.Errorf("kir: %s: %w", f.FullName(), err)
		}
	}
	return nil
}

type verifier struct {
	p     *Program
	done  []*Func // functions before the current one
	f     *Func
	known map[*Var]bool // variables ever declared in the function
	scope map[*Var]bool // variables in sight
	loops map[*Var]bool // loop variables, and parameters that are not Out
	lane  bool          // inside a predicate
	err   error
}

func (v *verifier) fail(format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf(format, args...)
	}
}

func (v *verifier) function(f *Func) error {
	*v = verifier{p: v.p, done: v.done, f: f, known: map[*Var]bool{}, scope: map[*Var]bool{}, loops: map[*Var]bool{}}
	for _, x := range f.Params {
		v.declare(x)
		v.loops[x] = !x.Out
	}
	v.block(f.Body)
	if f.Indivisible && !(f.Scope == Group && len(f.Params) == 3 && f.Params[0].T == ArrayOf(U32, 0).Writable() && f.Params[1].T == T(U32) && f.Params[2].T == T(U32) && f.Result == T(U32)) {
		return errors.New("it is indivisible, and not as FetchAdd makes it")
	}
	if v.err == nil && f.Result.Kind != Void && !returns(f.Body) {
		return errors.New("it can end without a result")
	}
	return v.err
}

// returns reports whether control never reaches the end of body.
func returns(body []Stmt) bool {
	if len(body) == 0 {
		return false
	}
	switch s := body[len(body)-1].(type) {
	case *Return:
		return true
	case *If:
		return returns(s.Then) && returns(s.Else)
	}
	return false
}

func (v *verifier) declare(x *Var) {
	if x == nil || x.Name == "" {
		v.fail("a variable without a name")
		return
	}
	if v.known[x] {
		v.fail("%s is declared twice", x.Name)
	}
	if x.T.Kind == Void {
		v.fail("%s has no type", x.Name)
	}
	v.known[x], v.scope[x] = true, true
	v.record(x.T)
}

func (v *verifier) record(t Type) {
	if t.Kind == Rec && !slices.Contains(v.p.Records, t.Record) {
		v.fail("record %v is not the program's", t.Record)
	}
}

// block checks statements, whose variables nobody sees afterwards.
func (v *verifier) block(body []Stmt) {
	var own []*Var
	for i, s := range body {
		if r, ok := s.(*Return); ok && i < len(body)-1 {
			v.fail("statements after return %v", r.X)
		}
		v.stmt(s)
		if l, ok := s.(*Let); ok {
			own = append(own, l.Var)
		}
	}
	for _, x := range own {
		delete(v.scope, x)
	}
}

func (v *verifier) stmt(s Stmt) {
	switch s := s.(type) {
	case *Let:
		if s.Init != nil {
			v.want(s.Init, s.Var.T, "the value of "+s.Var.Name)
		} else if t := s.Var.T; !t.number() && t.Kind != Bool && t.Kind != Set && (t.Kind != Array || t.Len == 0) {
			v.fail("%s has no value", s.Var.Name)
		}
		v.declare(s.Var)
	case *Assign:
		v.target(s.To)
		v.want(s.X, s.To.Type(), "an assigned value")
	case *Accumulate:
		v.target(s.To)
		if !s.To.Type().number() {
			v.fail("%s is accumulated", s.To.Type())
		}
		v.want(s.X, s.To.Type(), "the accumulated value")
	case *If:
		v.want(s.Cond, T(Bool), "a condition")
		v.block(s.Then)
		v.block(s.Else)
	case *Each:
		if k := v.expr(s.Over).Kind; k != Set && k != Row {
			v.fail("a loop over %s", k)
		}
		v.loop(s.X, T(U32), s.Body)
	case *Loop:
		v.want(s.Lo, s.I.T, "a loop's begin")
		v.want(s.Hi, s.I.T, "a loop's end")
		if !s.I.T.integer() {
			v.fail("a loop's variable is %s", s.I.T)
		}
		v.loop(s.I, s.I.T, s.Body)
	case *SetOp:
		v.setOp(s)
	case *Emit:
		for _, x := range s.Row {
			v.expr(x)
		}
	case *Fail:
		v.want(s.Code, T(U32), "why a run fails")
	case *Do:
		v.expr(s.X)
	case *Return:
		switch {
		case s.X != nil:
			v.want(s.X, v.f.Result, "the result")
		case v.f.Result.Kind != Void:
			v.fail("return without a result")
		}
	case *Comment:
	default:
		v.fail("unknown statement %T", s)
	}
}

func (v *verifier) loop(x *Var, t Type, body []Stmt) {
	if x.T != t {
		v.fail("loop variable %s is %s, want %s", x.Name, x.T, t)
	}
	v.declare(x)
	v.loops[x] = true
	v.block(body)
	delete(v.scope, x)
}

func (v *verifier) setOp(s *SetOp) {
	v.group(s.Op.String())
	v.target(s.To)
	if s.To.Type().Kind != Set {
		v.fail("%s makes a %s", s.Op, s.To.Type())
	}
	if t := v.expr(s.Out); t.Kind != Array || t.Elem != U32 || !t.Mut {
		v.fail("%s writes to %s", s.Op, t)
	}
	if s.Op == Merge {
		if len(s.Pieces) == 0 {
			v.fail("a merge of nothing")
		}
		for _, p := range s.Pieces {
			v.want(p.Run, T(Set), "a piece")
			if p.Gone != nil {
				v.want(p.Gone, T(Set), "the removed part of a piece")
			}
		}
		return
	}
	v.want(s.A, T(Set), "an operand")
	if s.Op == Filter {
		v.predicate(s.X, s.Keep)
		return
	}
	v.want(s.B, T(Set), "an operand")
}

// predicate checks an expression that selects elements of a set.
func (v *verifier) predicate(x *Var, keep Expr) { v.each(x, keep, T(Bool)) }

// each checks an expression that single lanes evaluate for the elements of a set.
func (v *verifier) each(x *Var, value Expr, t Type) {
	if x.T != T(U32) {
		v.fail("an element that is %s", x.T)
	}
	v.declare(x)
	before := v.lane
	v.lane = true
	v.want(value, t, "the value for each element")
	v.lane = before
	delete(v.scope, x)
}

// group notes that a group works together here.
func (v *verifier) group(what string) {
	if v.f.Scope != Group || v.lane {
		v.fail("%s in lane code", what)
	}
}

// target checks something that is assigned.
func (v *verifier) target(x Expr) {
	v.expr(x)
	switch x := x.(type) {
	case Ref:
		if v.loops[x.Var] {
			v.fail("%s may not be assigned", x.Var.Name)
		}
	case Field:
		if !x.X.Type().Mut {
			v.fail("%s is read-only", x.X.Type())
		}
	case Elem:
		if r, ok := x.X.(Ref); ok && x.X.Type().Len > 0 && !v.loops[r.Var] {
			return // a local array
		}
		if !x.X.Type().Mut {
			v.fail("%s is read-only", x.X.Type())
		}
	default:
		v.fail("%T is assigned", x)
	}
}

// want checks that x has the type t; whether it may be written does not matter
// unless it must be.
func (v *verifier) want(x Expr, t Type, what string) {
	if got := v.expr(x); !fits(got, t) {
		v.fail("%s is %s, want %s", what, got, t)
	}
}

func fits(got, want Type) bool {
	if got.Mut && !want.Mut {
		got.Mut = false
	}
	if got.Kind == Array && want.Kind == Array && want.Len == 0 {
		got.Len = 0
	}
	return got == want
}

// expr checks x and returns its type.
func (v *verifier) expr(x Expr) Type {
	if x == nil {
		v.fail("a missing expression")
		return T(Void)
	}
	switch x := x.(type) {
	case Const:
		if !x.T.number() && x.T.Kind != Bool {
			v.fail("a constant of type %s", x.T)
		}
	case Ref:
		if !v.scope[x.Var] {
			v.fail("%s is used where it is not declared", x.Var.Name)
		}
	case Global:
		if !slices.Contains(v.p.Globals, x.G) {
			v.fail("global %s is not the program's", x.G.Name)
		}
	case Field:
		t := v.expr(x.X)
		if t.Kind != Rec {
			v.fail("field %s of %s", x.Name, t)
			return T(Void)
		}
		if _, ok := t.Record.Field(x.Name); !ok {
			v.fail("%s has no field %s", t, x.Name)
			return T(Void)
		}
	case Elem:
		if t := v.expr(x.X); t.Kind != Array {
			v.fail("an element of %s", t)
		} else if c, ok := x.I.(Const); ok && t.Len > 0 && c.Bits >= uint64(t.Len) {
			v.fail("element %d of %s", c.Bits, t)
		}
		v.want(x.I, T(U32), "an index")
	case Unary:
		if t := v.expr(x.X); x.Op == Not && t.Kind != Bool || x.Op == Neg && !t.number() || x.Op != Not && x.Op != Neg {
			v.fail("%s%s", x.Op, t)
		}
	case Binary:
		v.binary(x)
	case Select:
		v.want(x.If, T(Bool), "a condition")
		t := v.expr(x.Then)
		v.want(x.Else, t, "the other side of a choice")
	case Convert:
		if t := v.expr(x.X); !t.number() && t.Kind != Bool || !x.T.number() {
			v.fail("%s of %s", x.T, t)
		}
	case Call:
		v.call(x)
	case Invoke:
		v.invoke(x)
	case Count:
		v.group("count")
		v.want(x.Over, T(Set), "the counted set")
		v.predicate(x.X, x.Keep)
	case Sum:
		v.group("sum")
		v.want(x.Over, T(Set), "the set of a sum")
		v.each(x.X, x.Value, T(U64))
	default:
		v.fail("unknown expression %T", x)
	}
	if v.err != nil {
		return T(Void)
	}
	return x.Type()
}

func (v *verifier) binary(x Binary) {
	a, b := v.expr(x.X), v.expr(x.Y)
	ok := a == b
	switch {
	case x.Op == And || x.Op == Or:
		ok = ok && a.Kind == Bool
	case x.Op == Shl || x.Op == Shr:
		ok = a.integer() && b == T(U32)
	case x.Op == Mod || x.Op == BitAnd || x.Op == BitOr:
		ok = ok && a.integer()
	case x.Op == Eq || x.Op == Ne:
		ok = ok && (a.number() || a.Kind == Bool)
	case x.Op == Not || x.Op == Neg:
		ok = false
	default:
		ok = ok && a.number()
	}
	if !ok {
		v.fail("%s %s %s", a, x.Op, b)
	}
}

func (v *verifier) call(x Call) {
	if x.Fn.Group {
		v.group(x.Fn.Name)
	}
	if len(x.Args) != len(x.Fn.Params) {
		v.fail("%s takes %d arguments, not %d", x.Fn.Name, len(x.Fn.Params), len(x.Args))
		return
	}
	for i, a := range x.Args {
		if t := v.expr(a); t.Kind != x.Fn.Params[i] {
			v.fail("argument %d of %s is %s, want %s", i, x.Fn.Name, t, x.Fn.Params[i])
		}
	}
}

func (v *verifier) invoke(x Invoke) {
	if !slices.Contains(v.done, x.Fn) {
		v.fail("%s is not a function before this one", x.Fn.FullName())
	}
	if x.Fn.Scope == Group {
		v.group(x.Fn.FullName())
	}
	if x.Fn.Scope == Lane && v.f.Scope == Group && !v.lane && slices.ContainsFunc(x.Fn.Params, func(p *Var) bool { return p.T.Mut && p.T.Kind == Array }) {
		v.fail("%s writes to memory, as a lane, in group code", x.Fn.FullName())
	}
	if len(x.Args) != len(x.Fn.Params) {
		v.fail("%s takes %d arguments, not %d", x.Fn.FullName(), len(x.Fn.Params), len(x.Args))
		return
	}
	for i, a := range x.Args {
		v.want(a, x.Fn.Params[i].T, "argument "+x.Fn.Params[i].Name)
		if x.Fn.Params[i].Out {
			v.target(a)
		}
	}
}
