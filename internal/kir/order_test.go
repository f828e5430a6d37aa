package kir_test

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/interp"
)

// around builds a program around statements that add to total. body gets the builder, the
// memory, a number that is 0, and a call. The call makes the first vertex of the state, the
// first number of the memory and that number 1.
func around(body func(b *builder, mem, v *kir.Var, call kir.Expr) []kir.Stmt) *kir.Program {
	mem := &kir.Var{Name: "mem", T: kir.ArrayOf(kir.U32, 0).Writable()}
	b := newBuilder(mem)
	b.adj.Off, b.adj.Adj = []uint64{0, 2, 3, 3}, []uint32{1, 2, 0}
	s, m, out := &kir.Var{Name: "s", T: b.s.T}, &kir.Var{Name: "m", T: mem.T}, &kir.Var{Name: "out", T: kir.T(kir.U32), Out: true}
	set := &kir.Func{Name: "set", Scope: kir.Group, Params: []*kir.Var{s, m, out}, Result: kir.T(kir.U32), Body: []kir.Stmt{
		&kir.Assign{To: kir.Elem{X: kir.Field{X: kir.R(s), Name: "m"}, I: kir.C(0)}, X: kir.C(1)},
		&kir.Assign{To: kir.Elem{X: kir.R(m), I: kir.C(0)}, X: kir.C(1)},
		&kir.Assign{To: kir.R(out), X: kir.C(1)},
		&kir.Return{X: kir.C(1)},
	}}
	b.p.Funcs = []*kir.Func{set, b.f}
	sum, v := u32("total"), u32("v")
	b.add(&kir.Let{Var: sum, Init: kir.C(0)}, &kir.Let{Var: v, Init: kir.C(0)})
	for _, st := range body(b, mem, v, kir.Invoke{Fn: set, Args: []kir.Expr{kir.R(b.s), kir.R(mem), kir.R(v)}}) {
		kir.WalkStmts([]kir.Stmt{st}, func(st kir.Stmt) {
			if a, ok := st.(*kir.Accumulate); ok && a.To == nil {
				a.To = kir.R(sum)
			}
		})
		b.add(st)
	}
	b.add(&kir.Return{X: kir.R(sum)})
	return b.p
}

// result interprets the last function of p.
func result(p *kir.Program) (out string) {
	defer func() {
		if e := recover(); e != nil {
			out = fmt.Sprint(e)
		}
	}()
	m, err := interp.New(p, nil)
	if err != nil {
		return err.Error()
	}
	r := m.Call(p.Funcs[len(p.Funcs)-1], interp.NewRecord(p.Records[0]), interp.Array(make([]uint32, 4)))
	return fmt.Sprint(r.N)
}

// unchanged compares a program before and after each pass and all of them.
func unchanged(t *testing.T, name, want string, build func() *kir.Program) {
	t.Helper()
	if got := result(build()); got != want {
		t.Fatalf("%s: %s, want %s\n%s", name, got, want, kir.Format(build()))
	}
	for i := range len(kir.Passes) + 1 {
		p, by := build(), "all passes"
		if i < len(kir.Passes) {
			by = kir.Passes[i].Name
			kir.Passes[i].Run(p)
		} else {
			kir.Optimize(p)
		}
		if got := result(p); got != want {
			t.Errorf("%s: %s after %s, want %s\n%s", name, got, by, want, kir.Format(p))
		}
	}
}

// TestChangedBetween: no pass takes a value from before what it reads has changed.
func TestChangedBetween(t *testing.T) {
	changes := map[string]func(b *builder, mem, v *kir.Var, call kir.Expr) []kir.Stmt{
		"a call": func(_ *builder, _, _ *kir.Var, call kir.Expr) []kir.Stmt { return []kir.Stmt{&kir.Do{X: call}} },
		"a call for a variable": func(_ *builder, _, _ *kir.Var, call kir.Expr) []kir.Stmt {
			return []kir.Stmt{&kir.Let{Var: u32("r"), Init: call}}
		},
		"a call that is assigned": assignsUnread(func(to, call kir.Expr) kir.Stmt { return &kir.Assign{To: to, X: call} }),
		"a call that is added":    assignsUnread(func(to, call kir.Expr) kir.Stmt { return &kir.Accumulate{To: to, X: call} }),
		"stores": func(b *builder, mem, v *kir.Var, _ kir.Expr) []kir.Stmt {
			return []kir.Stmt{
				&kir.Assign{To: kir.Elem{X: kir.Field{X: kir.R(b.s), Name: "m"}, I: kir.Op2(kir.Mul, kir.R(v), kir.C(2))}, X: kir.C(1)},
				&kir.Assign{To: kir.Elem{X: kir.R(mem), I: kir.C(0)}, X: kir.C(1)},
				&kir.Assign{To: kir.R(v), X: kir.C(1)},
			}
		},
	}
	reads := map[string]func(b *builder, mem, v *kir.Var) kir.Expr{
		"the state": func(b *builder, _, _ *kir.Var) kir.Expr { return kir.Fn(kir.Degree, kir.G(b.adj), b.field("m", 0)) },
		"the memory": func(b *builder, mem, _ *kir.Var) kir.Expr {
			return size(kir.Fn(kir.Slice, b.list(kir.C(0)), kir.Op2(kir.Mul, kir.C(2), kir.Elem{X: kir.R(mem), I: kir.C(0)}), kir.C(9)))
		},
		"a variable": func(b *builder, _, v *kir.Var) kir.Expr {
			return size(kir.Fn(kir.Slice, b.list(kir.C(0)), kir.Op2(kir.Mul, kir.C(2), kir.R(v)), kir.C(9)))
		},
	}
	for by, change := range changes {
		for of, read := range reads {
			for _, loop := range []bool{false, true} {
				unchanged(t, fmt.Sprintf("%s, changed by %s, in a loop: %v", of, by, loop), "3", func() *kir.Program {
					return around(func(b *builder, mem, v *kir.Var, call kir.Expr) []kir.Stmt {
						add := func() kir.Stmt { return &kir.Accumulate{X: read(b, mem, v)} }
						if loop {
							return []kir.Stmt{&kir.Loop{I: u32("i"), Lo: kir.C(0), Hi: kir.C(2), Body: append([]kir.Stmt{add()}, change(b, mem, v, call)...)}}
						}
						return append(append([]kir.Stmt{add()}, change(b, mem, v, call)...), add())
					})
				})
			}
		}
	}
}

// TestChangedByOut: a call changes the variable that it is given to write, and no memory.
func TestChangedByOut(t *testing.T) {
	unchanged(t, "a variable", "3", func() *kir.Program {
		out := &kir.Var{Name: "out", T: kir.T(kir.U32), Out: true}
		one := &kir.Func{Name: "one", Params: []*kir.Var{out}, Result: kir.T(kir.U32), Body: []kir.Stmt{
			&kir.Assign{To: kir.R(out), X: kir.C(1)}, &kir.Return{X: kir.C(0)},
		}}
		p := around(func(b *builder, _, v *kir.Var, _ kir.Expr) []kir.Stmt {
			add := func() kir.Stmt { return &kir.Accumulate{X: kir.Fn(kir.Degree, kir.G(b.adj), kir.R(v))} }
			return []kir.Stmt{add(), &kir.Do{X: kir.Invoke{Fn: one, Args: []kir.Expr{kir.R(v)}}}, &kir.Do{X: kir.Invoke{Fn: one, Args: []kir.Expr{kir.R(v)}}}, add()}
		})
		p.Funcs = append([]*kir.Func{one}, p.Funcs...)
		return p
	})
}

// assignsUnread gives the result of a call to a variable that nothing reads.
func assignsUnread(assign func(to, call kir.Expr) kir.Stmt) func(*builder, *kir.Var, *kir.Var, kir.Expr) []kir.Stmt {
	return func(_ *builder, _, _ *kir.Var, call kir.Expr) []kir.Stmt {
		w := u32("w")
		return []kir.Stmt{&kir.Let{Var: w, Init: kir.C(0)}, assign(kir.R(w), call)}
	}
}

// TestNotReached: nothing is evaluated that has no value, where a loop has no turns.
func TestNotReached(t *testing.T) {
	for name, x := range map[string]func(b *builder, v kir.Expr) kir.Expr{
		"the list of a vertex computed": func(b *builder, v kir.Expr) kir.Expr {
			return kir.Fn(kir.Degree, kir.G(b.adj), kir.Op2(kir.Add, v, kir.C(9)))
		},
		"the list of no vertex": func(b *builder, _ kir.Expr) kir.Expr { return kir.Fn(kir.Degree, kir.G(b.adj), kir.C(3)) },
		"an edge from no vertex": func(b *builder, v kir.Expr) kir.Expr {
			return kir.Select{If: kir.Fn(kir.Adjacent, kir.G(b.adj), kir.G(b.adj), kir.Op2(kir.Add, v, kir.C(9)), kir.C(0)), Then: kir.C(1), Else: kir.C(2)}
		},
		"an edge to no vertex": func(b *builder, v kir.Expr) kir.Expr {
			return kir.Select{If: kir.Fn(kir.Adjacent, kir.G(b.adj), kir.G(b.adj), kir.C(0), kir.Op2(kir.Add, v, kir.C(9))), Then: kir.C(1), Else: kir.C(2)}
		},
		"an item of an empty set": func(b *builder, _ kir.Expr) kir.Expr {
			item := kir.Fn(kir.Item, b.list(kir.C(2)), kir.C(0))
			return kir.Select{If: kir.Fn(kir.Contains, b.list(kir.C(0)), item), Then: kir.C(1), Else: kir.C(2)}
		},
	} {
		unchanged(t, name, "0", func() *kir.Program {
			return around(func(b *builder, _, v *kir.Var, _ kir.Expr) []kir.Stmt {
				return []kir.Stmt{&kir.Loop{I: u32("i"), Lo: kir.C(0), Hi: kir.R(v), Body: []kir.Stmt{&kir.Accumulate{X: x(b, kir.R(v))}}}}
			})
		})
	}
}

// TestNumbersWrap: constants of 32 bits are folded to as many.
func TestNumbersWrap(t *testing.T) {
	unchanged(t, "a sum beyond 32 bits", "1", func() *kir.Program {
		return around(func(*builder, *kir.Var, *kir.Var, kir.Expr) []kir.Stmt {
			wide := kir.Convert{T: kir.T(kir.U64), X: kir.Op2(kir.Add, kir.C(^uint32(0)), kir.C(2))}
			return []kir.Stmt{&kir.Accumulate{X: kir.Convert{T: kir.T(kir.U32), X: kir.Op2(kir.Min, wide, kir.C64(kir.U64, 5))}}}
		})
	})
}
