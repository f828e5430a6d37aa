package kir_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/kir"
)

// TestPasses prints a program before and after one pass. Rewrite the expected
// text with -rewrite. The command is the pass, the input the program's name.
func TestPasses(t *testing.T) {
	datadriven.RunTest(t, "testdata/passes", func(t *testing.T, d *datadriven.TestData) string {
		build := programs[d.Input]
		if build == nil {
			t.Fatalf("no program %q", d.Input)
		}
		p := build()
		if err := kir.Verify(p); err != nil {
			t.Fatal(err)
		}
		if d.Cmd == "print" {
			return kir.Format(p)
		}
		for _, pass := range kir.Passes {
			if pass.Name != d.Cmd {
				continue
			}
			pass.Run(p)
			if err := kir.Verify(p); err != nil {
				t.Errorf("after %s: %v", pass.Name, err)
			}
			return kir.Format(p)
		}
		t.Fatalf("no pass %q", d.Cmd)
		return ""
	})
}

// builder gathers the statements of one function over one adjacency.
type builder struct {
	p   *kir.Program
	f   *kir.Func
	adj *kir.GlobalDef
	s   *kir.Var
}

func newBuilder(params ...*kir.Var) *builder {
	b := &builder{p: &kir.Program{}}
	state := &kir.Record{Name: "State", Fields: []kir.FieldDef{
		{Name: "m", Type: kir.ArrayOf(kir.U32, 3)}, {Name: "set", Type: kir.ArrayOf(kir.Set, 2)},
	}}
	b.p.Records = []*kir.Record{state}
	b.adj = b.p.AddGlobal(&kir.GlobalDef{Name: "N", Kind: kir.Adj})
	b.s = &kir.Var{Name: "s", T: kir.Of(state).Writable()}
	b.f = &kir.Func{Name: "f", Scope: kir.Group, Params: append([]*kir.Var{b.s}, params...), Result: kir.T(kir.U32)}
	b.p.Funcs = []*kir.Func{b.f}
	return b
}

func (b *builder) field(name string, i uint32) kir.Expr {
	return kir.Elem{X: kir.Field{X: kir.R(b.s), Name: name}, I: kir.C(i)}
}

func (b *builder) list(v kir.Expr) kir.Expr { return kir.Fn(kir.List, kir.G(b.adj), v) }

func (b *builder) add(body ...kir.Stmt) *builder {
	b.f.Body = append(b.f.Body, body...)
	return b
}

func u32(name string) *kir.Var { return &kir.Var{Name: name, T: kir.T(kir.U32)} }

func size(x kir.Expr) kir.Expr { return kir.Fn(kir.Size, x) }

var programs = map[string]func() *kir.Program{
	"constants": func() *kir.Program {
		a, x := u32("a"), u32("x")
		b := newBuilder(a)
		return b.add(
			&kir.Let{Var: x, Init: kir.Op2(kir.Add, kir.Op2(kir.Mul, kir.C(3), kir.C(5)), kir.Op2(kir.Mul, kir.C(1), kir.R(a)))},
			&kir.If{Cond: kir.Op2(kir.Lt, kir.C(2), kir.C(1)), Then: []kir.Stmt{&kir.Return{X: kir.C(0)}}},
			&kir.If{
				Cond: kir.NotX(kir.All(kir.True, kir.Op2(kir.Le, kir.R(a), kir.R(x)))),
				Then: []kir.Stmt{&kir.Return{X: kir.Op2(kir.Max, kir.C(7), kir.C(9))}},
			},
			&kir.Loop{I: u32("i"), Lo: kir.C(4), Hi: kir.C(4), Body: []kir.Stmt{&kir.Accumulate{To: kir.R(x), X: kir.C(1)}}},
			&kir.If{
				Cond: kir.True,
				Then: []kir.Stmt{&kir.Return{X: size(kir.Fn(kir.Slice, b.list(kir.R(a)), kir.C(0), kir.C(^uint32(0))))}},
				Else: []kir.Stmt{&kir.Return{X: kir.C(1)}},
			},
		).p
	},
	"repeated": func() *kir.Program {
		a := u32("a")
		b := newBuilder(a)
		m := func(i uint32) kir.Expr { return b.field("m", i) }
		return b.add(
			&kir.Assign{To: kir.R(total), X: size(b.list(m(0)))},
			&kir.If{
				Cond: kir.Op2(kir.Lt, m(0), m(1)),
				Then: []kir.Stmt{&kir.Accumulate{To: kir.R(total), X: size(b.list(m(0)))}},
			},
			&kir.Assign{To: m(1), X: kir.R(a)},
			&kir.Accumulate{To: kir.R(total), X: size(b.list(m(0)))},
			&kir.Assign{To: m(0), X: kir.R(a)},
			&kir.Accumulate{To: kir.R(total), X: size(b.list(m(0)))},
			&kir.Return{X: kir.R(total)},
		).declare(total).p
	},
	"invariant": func() *kir.Program {
		v, x := u32("v"), u32("x")
		b := newBuilder()
		return b.add(
			&kir.Each{X: v, Over: b.field("set", 0), Body: []kir.Stmt{
				&kir.Assign{To: b.field("m", 1), X: kir.R(v)},
				&kir.If{
					Cond: kir.Op2(kir.Lt, kir.R(v), b.field("m", 0)),
					Then: []kir.Stmt{&kir.Accumulate{To: kir.R(total), X: kir.Count{
						Over: b.list(b.field("m", 1)), X: x,
						Keep: kir.All(kir.Op2(kir.Ne, kir.R(x), b.field("m", 0)), kir.Fn(kir.Contains, b.list(b.field("m", 0)), kir.R(x))),
					}}},
				},
			}},
			&kir.Return{X: kir.R(total)},
		).declare(total).p
	},
	// Of each loop and predicate only what is certain to have a value may leave it:
	// they may have no turns, and then no index is one of the array.
	"unreached": func() *kir.Program {
		k, x, i, j := u32("k"), u32("x"), u32("i"), u32("j")
		b := newBuilder(k)
		array := b.p.AddGlobal(&kir.GlobalDef{Name: "A", Kind: kir.Array, Adj: []uint32{1, 0}})
		b.adj.Off, b.adj.Adj = []uint64{0, 1, 2}, []uint32{1, 0}
		at := func(i kir.Expr) kir.Expr { return kir.Elem{X: kir.G(array), I: i} }
		degree := func(v kir.Expr) *kir.Accumulate {
			return &kir.Accumulate{To: kir.R(total), X: kir.Fn(kir.Degree, kir.G(b.adj), v)}
		}
		own := &kir.Var{Name: "own", T: kir.T(kir.Set)}
		late := &kir.Var{Name: "late", T: kir.T(kir.Set)}
		return b.add(
			&kir.Loop{I: i, Lo: kir.C(0), Hi: kir.R(k), Body: []kir.Stmt{
				&kir.Let{Var: own, Init: b.list(at(kir.R(k)))},
				degree(at(kir.R(k))), degree(at(kir.C(1))), degree(at(kir.C(2))),
				degree(kir.R(k)), degree(kir.Op2(kir.Add, kir.R(k), kir.C(1))), degree(kir.C(1)), degree(kir.C(2)),
				degree(kir.Op2(kir.Div, kir.C(1), kir.R(k))),
				&kir.Accumulate{To: kir.R(total), X: size(kir.R(own))},
			}},
			&kir.Loop{I: j, Lo: kir.C(0), Hi: kir.C(2), Body: []kir.Stmt{
				degree(at(kir.R(k))),
				&kir.If{Cond: kir.Op2(kir.Lt, kir.R(k), kir.C(9)), Then: []kir.Stmt{&kir.Return{X: kir.C(0)}}},
				&kir.Let{Var: late, Init: b.list(at(kir.Op2(kir.Sub, kir.R(k), kir.C(9))))},
				&kir.Accumulate{To: kir.R(total), X: size(kir.R(late))},
			}},
			&kir.Accumulate{To: kir.R(total), X: kir.Count{Over: b.field("set", 0), X: x, Keep: kir.All(
				kir.Fn(kir.Contains, b.list(at(kir.R(k))), kir.R(x)), kir.Fn(kir.Contains, b.list(b.field("m", 0)), kir.R(x)),
			)}},
			&kir.Return{X: kir.R(total)},
		).declare(total).p
	},
	"merged": func() *kir.Program {
		b := newBuilder()
		gone := b.p.AddGlobal(&kir.GlobalDef{Name: "deleted", Kind: kir.Adj})
		mem := &kir.Var{Name: "mem", T: kir.ArrayOf(kir.U32, 0).Writable()}
		b.f.Params = append(b.f.Params, mem)
		set, unread := &kir.Var{Name: "S", T: kir.T(kir.Set)}, &kir.Var{Name: "T", T: kir.T(kir.Set)}
		pieces := func() []kir.Piece {
			return []kir.Piece{
				{Run: b.list(b.field("m", 0)), Gone: kir.Fn(kir.List, kir.G(gone), b.field("m", 0))},
				{Run: b.list(b.field("m", 1))},
			}
		}
		return b.add(
			&kir.Let{Var: set}, &kir.Let{Var: unread},
			&kir.SetOp{Op: kir.Merge, To: kir.R(set), Out: kir.R(mem), Pieces: pieces()},
			&kir.SetOp{Op: kir.Merge, To: kir.R(unread), Out: kir.R(mem), Pieces: pieces()},
			&kir.Return{X: size(kir.R(set))},
		).p
	},
	"unread": func() *kir.Program {
		x, y := u32("x"), u32("y")
		b := newBuilder()
		return b.add(
			&kir.Let{Var: x, Init: b.field("m", 0)},
			&kir.Let{Var: y, Init: kir.R(x)},
			&kir.Assign{To: kir.R(y), X: kir.C(3)},
			&kir.If{Cond: kir.Op2(kir.Eq, kir.R(x), kir.C(1)), Then: []kir.Stmt{&kir.Accumulate{To: kir.R(y), X: kir.C(1)}}},
			&kir.Return{X: b.field("m", 1)},
		).p
	},
}

var total = u32("total")

// declare puts a variable before everything.
func (b *builder) declare(v *kir.Var) *builder {
	b.f.Body = append([]kir.Stmt{&kir.Let{Var: v, Init: kir.C(0)}}, b.f.Body...)
	return b
}

// TestVerifyRefuses breaks programs in one way each, and is told which.
func TestVerifyRefuses(t *testing.T) {
	x, y := u32("x"), u32("y")
	type body = func(b *builder) []kir.Stmt
	is := func(body ...kir.Stmt) body { return func(*builder) []kir.Stmt { return body } }
	many := func(b *builder, x *kir.Var) kir.Expr { return kir.Count{Over: b.field("set", 0), X: x, Keep: kir.True} }
	for name, c := range map[string]struct {
		body body
		lane bool
		want string
	}{
		"a variable before its declaration": {body: is(&kir.Return{X: kir.R(x)}), want: "not declared"},
		"a variable out of its block": {body: is(
			&kir.If{Cond: kir.True, Then: []kir.Stmt{&kir.Let{Var: x, Init: kir.C(1)}}}, &kir.Return{X: kir.R(x)},
		), want: "not declared"},
		"no result":                {body: is(&kir.If{Cond: kir.True, Then: []kir.Stmt{&kir.Return{X: kir.C(1)}}}), want: "without a result"},
		"the wrong type of result": {body: is(&kir.Return{X: kir.True}), want: "the result is bool, want u32"},
		"unlike operands":          {body: is(&kir.Return{X: kir.Op2(kir.Add, kir.C(1), kir.C64(kir.U64, 1))}), want: "u32 + u64"},
		"an assigned loop variable": {body: is(
			&kir.Loop{I: x, Lo: kir.C(0), Hi: kir.C(1), Body: []kir.Stmt{&kir.Assign{To: kir.R(x), X: kir.C(0)}}}, &kir.Return{X: kir.C(0)},
		), want: "x may not be assigned"},
		"group work of a lane": {lane: true, body: func(b *builder) []kir.Stmt {
			return []kir.Stmt{&kir.Return{X: many(b, x)}}
		}, want: "in lane code"},
		"group work for one element": {body: func(b *builder) []kir.Stmt {
			return []kir.Stmt{&kir.Return{X: kir.Count{Over: b.field("set", 1), X: y, Keep: kir.Op2(kir.Lt, many(b, x), kir.C(3))}}}
		}, want: "in lane code"},
		"a missing global": {body: is(&kir.Return{X: kir.G(&kir.GlobalDef{Name: "stray", Kind: kir.U32})}), want: "global stray"},
		"a parameter without a type": {body: func(b *builder) []kir.Stmt {
			b.f.Params = append(b.f.Params, &kir.Var{Name: "n"})
			return []kir.Stmt{&kir.Return{X: kir.C(0)}}
		}, want: "n has no type"},
		"recursion": {body: func(b *builder) []kir.Stmt {
			return []kir.Stmt{&kir.Return{X: kir.Invoke{Fn: b.f, Args: []kir.Expr{kir.R(b.s)}}}}
		}, want: "before this one"},
		"another indivisible function": {body: func(b *builder) []kir.Stmt {
			b.f.Indivisible = true
			return []kir.Stmt{&kir.Return{X: kir.C(0)}}
		}, want: "indivisible"},
		"statements after return": {body: is(&kir.Return{X: kir.C(0)}, &kir.Let{Var: y, Init: kir.C(0)}), want: "after return"},
	} {
		b := newBuilder()
		b.add(c.body(b)...)
		if c.lane {
			b.f.Scope = kir.Lane
		}
		if err := kir.Verify(b.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

// TestCallsThatHand: no pass drops a call of a function that emits or fails, or calls one
// that does, though nothing reads its result.
func TestCallsThatHand(t *testing.T) {
	for name, act := range map[string]kir.Stmt{"emits": &kir.Emit{Row: []kir.Expr{kir.C(7)}}, "fails": &kir.Fail{Code: kir.C(3)}} {
		b := newBuilder()
		inner := &kir.Func{Name: "inner", Result: kir.T(kir.U32), Body: []kir.Stmt{act, &kir.Return{X: kir.C(0)}}}
		outer := &kir.Func{Name: "outer", Result: kir.T(kir.U32), Body: []kir.Stmt{&kir.Return{X: kir.Invoke{Fn: inner}}}}
		b.p.Funcs = []*kir.Func{inner, outer, b.f}
		b.add(
			&kir.Let{Var: u32("x"), Init: kir.Invoke{Fn: outer}},
			&kir.If{Cond: kir.Op2(kir.Eq, kir.Invoke{Fn: outer}, kir.C(1))},
			&kir.Return{X: kir.Op2(kir.Mul, kir.Invoke{Fn: outer}, kir.C(0))},
		)
		if err := kir.Verify(b.p); err != nil {
			t.Fatal(err)
		}
		kir.Optimize(b.p)
		calls := 0
		kir.WalkStmts(b.f.Body, func(s kir.Stmt) {
			kir.StmtExprs(s, func(x kir.Expr) {
				if _, ok := x.(kir.Invoke); ok {
					calls++
				}
			})
		})
		if calls != 3 {
			t.Errorf("%d calls of a function that %s are left of 3\n%s", calls, name, kir.Format(b.p))
		}
	}
}
