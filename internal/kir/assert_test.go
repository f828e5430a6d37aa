package kir_test

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/interp"
)

// broken are programs of one function, run(mem), that access what is not there, by
// what is wrong; the statement with the access has the code 7. Memory is four
// words, and the graph has two vertices, which are neighbours.
var broken = map[string]func(p *kir.Program, mem *kir.Var) (bad kir.Stmt, before []kir.Stmt, helpers []*kir.Func){
	"an element that is read": func(_ *kir.Program, mem *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		return &kir.Let{Var: u32("x"), Init: elem(kir.R(mem), kir.C(4))}, nil, nil
	},
	"an element of a word that is read": func(_ *kir.Program, mem *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		view := kir.Fn(kir.Words, kir.R(mem), kir.C(2), kir.C(1))
		return &kir.Do{X: elem(view, kir.C(1))}, nil, nil
	},
	"a view": func(_ *kir.Program, mem *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		view := kir.Fn(kir.Words, kir.R(mem), kir.C(2), kir.C(2))
		return &kir.Do{X: elem(view, kir.C(0))}, nil, nil
	},
	"an element that is written": func(_ *kir.Program, mem *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		i := u32("i")
		bad := &kir.Assign{To: elem(kir.Fn(kir.IDs, kir.R(mem), kir.C(1), kir.C(2)), kir.R(i)), X: kir.C(1)}
		return bad, []kir.Stmt{&kir.Let{Var: i, Init: kir.C(2)}}, nil
	},
	"an element in a loop": func(_ *kir.Program, mem *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		i := u32("i")
		return &kir.Loop{I: i, Lo: kir.C(0), Hi: kir.C(5), Body: []kir.Stmt{&kir.Accumulate{To: elem(kir.R(mem), kir.R(i)), X: kir.C(1)}}}, nil, nil
	},
	"a vertex": func(p *kir.Program, _ *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		return &kir.Do{X: kir.Fn(kir.Size, kir.Fn(kir.List, kir.G(p.Globals[0]), kir.C(2)))}, nil, nil
	},
	"an item": func(p *kir.Program, _ *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		return &kir.Do{X: kir.Fn(kir.Item, kir.Fn(kir.List, kir.G(p.Globals[0]), kir.C(0)), kir.C(1))}, nil, nil
	},
	"an edge": func(p *kir.Program, _ *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		return &kir.Do{X: kir.Fn(kir.EdgeTarget, kir.G(p.Globals[0]), kir.C64(kir.U64, 2))}, nil, nil
	},
	"a row of a column": func(p *kir.Program, _ *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		return &kir.Do{X: kir.Fn(kir.CellInt, kir.G(p.Globals[1]), kir.C64(kir.U64, 3))}, nil, nil
	},
	"part of an array": func(p *kir.Program, _ *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		return &kir.Do{X: kir.Fn(kir.Size, kir.Fn(kir.Part, kir.G(p.Globals[2]), kir.C(1), kir.C(2)))}, nil, nil
	},
	"room for a set": func(p *kir.Program, mem *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		set, x := &kir.Var{Name: "set", T: kir.T(kir.Set)}, u32("x")
		list := kir.Fn(kir.List, kir.G(p.Globals[0]), kir.C(0))
		bad := &kir.SetOp{Op: kir.Filter, To: kir.R(set), Out: kir.Fn(kir.IDs, kir.R(mem), kir.C(0), kir.C(0)), A: list, X: x, Keep: kir.True}
		return bad, []kir.Stmt{&kir.Let{Var: set}}, nil
	},
	"room for a merge": func(p *kir.Program, mem *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		set := &kir.Var{Name: "set", T: kir.T(kir.Set)}
		list := func(v uint32) kir.Expr { return kir.Fn(kir.List, kir.G(p.Globals[0]), kir.C(v)) }
		bad := &kir.SetOp{
			Op: kir.Merge, To: kir.R(set), Out: kir.Fn(kir.IDs, kir.R(mem), kir.C(0), kir.C(1)),
			Pieces: []kir.Piece{{Run: list(0)}, {Run: list(1), Gone: kir.Fn(kir.Slice, list(1), kir.C(1), kir.C(2))}},
		}
		return bad, []kir.Stmt{&kir.Let{Var: set}}, nil
	},
	"an element of a predicate": func(p *kir.Program, mem *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		x := u32("x")
		list := kir.Fn(kir.List, kir.G(p.Globals[0]), kir.C(0))
		keep := kir.Op2(kir.Eq, elem(kir.R(mem), kir.Op2(kir.Add, kir.R(x), kir.C(3))), kir.C(0))
		return &kir.Do{X: kir.Count{Over: list, X: x, Keep: keep}}, nil, nil
	},
	"an element in a function that is called": func(_ *kir.Program, mem *kir.Var) (kir.Stmt, []kir.Stmt, []*kir.Func) {
		a := &kir.Var{Name: "a", T: kir.ArrayOf(kir.I64, 0).Writable()}
		third := &kir.Assign{To: elem(kir.R(a), kir.C(2)), X: kir.C64(kir.I64, 1)}
		f := &kir.Func{Name: "third", Scope: kir.Group, Params: []*kir.Var{a}, Result: kir.T(kir.Void), Body: []kir.Stmt{third}}
		call := &kir.Do{X: kir.Invoke{Fn: f, Args: []kir.Expr{kir.Fn(kir.Words, kir.R(mem), kir.C(0), kir.C(2))}}}
		return third, []kir.Stmt{call}, []*kir.Func{f}
	},
}

func elem(array, i kir.Expr) kir.Expr { return kir.Elem{X: array, I: i} }

// brokenProgram is one of broken, not asserted yet.
func brokenProgram(name string) (*kir.Program, *kir.Func, *kir.Var) {
	p := &kir.Program{Owners: []kir.Owner{{}}}
	p.AddGlobal(&kir.GlobalDef{Name: "G", Kind: kir.Adj, Off: []uint64{0, 1, 2}, Adj: []uint32{1, 0}})
	p.AddGlobal(&kir.GlobalDef{Name: "times", Kind: kir.Col, Elem: kir.I64, Words: []uint64{5, 6, 7}})
	p.AddGlobal(&kir.GlobalDef{Name: "some", Kind: kir.Array, Adj: []uint32{4, 5}})
	mem := &kir.Var{Name: "mem", T: kir.ArrayOf(kir.U32, 0).Writable()}
	bad, body, helpers := broken[name](p, mem)
	p.Places = map[kir.Stmt]uint32{bad: 7}
	f := &kir.Func{Name: "run", Scope: kir.Group, Params: []*kir.Var{mem}, Result: kir.T(kir.Void), Body: body}
	if len(helpers) == 0 {
		f.Body = append(f.Body, bad)
	}
	p.Funcs = append(helpers, f)
	return p, f, mem
}

// TestAssert: programs that access what is not there fail at the statement that
// does it.
func TestAssert(t *testing.T) {
	for name := range broken {
		t.Run(name, func(t *testing.T) {
			p, f, mem := brokenProgram(name)
			if err := kir.Verify(p); err != nil {
				t.Fatal(err)
			}
			kir.Assert(p, map[*kir.Var]kir.Expr{mem: kir.C(4)}, 9)
			m, err := interp.New(p, nil)
			if err != nil {
				t.Fatal(err, kir.Format(p))
			}
			_, _, err = m.Try(f, interp.Array(make([]uint32, 4)))
			var failed *interp.Failure
			if !errors.As(err, &failed) || failed.Code != 7 {
				t.Errorf("%v, want code 7\n%s", err, kir.Format(p))
			}
		})
	}
}

// TestAssertKeeps: an access to what is there gives the same as before.
func TestAssertKeeps(t *testing.T) {
	for _, assert := range []bool{false, true} {
		p := &kir.Program{Owners: []kir.Owner{{}}}
		some := p.AddGlobal(&kir.GlobalDef{Name: "some", Kind: kir.Array, Adj: []uint32{4, 5, 6}})
		at, n := u32("at"), u32("n")
		f := &kir.Func{Name: "run", Scope: kir.Group, Params: []*kir.Var{at, n}, Result: kir.T(kir.U32), Body: []kir.Stmt{
			&kir.Return{X: kir.Fn(kir.Item, kir.Fn(kir.Part, kir.G(some), kir.R(at), kir.R(n)), kir.C(0))},
		}}
		p.Funcs = []*kir.Func{f}
		if assert {
			kir.Assert(p, nil, 9)
		}
		m, err := interp.New(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := m.Try(f, interp.Value{N: 1}, interp.Value{N: 2})
		if err != nil || got.N != 5 {
			t.Errorf("asserted: %t: the first of two elements from the second is %d, want 5; %v\n%s", assert, got.N, err, kir.Format(p))
		}
	}
}
