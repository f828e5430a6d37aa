package c_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestGolden compares generated text with testdata/golden. Rewrite it with
// -rewrite. Commands: "nest", the loop nest of a plan, with a catalogue name as
// input and the flag list, and "program", one of the programs below.
func TestGolden(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 50, M: 200, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "program" {
			p := programs[d.Input]()
			if err := kir.Verify(p); err != nil {
				t.Fatal(err)
			}
			return c.Text(p)
		}
		ps, err := pattern.ByName(d.Input)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Seed: 1, Listing: d.HasArg("list")})
		if err != nil {
			t.Fatal(err)
		}
		code, err := lower.Nest(p, lower.Options{Counting: !d.HasArg("list"), Roomy: true})
		if err != nil {
			t.Fatal(err)
		}
		return c.Text(code.Program)
	})
}

var programs = map[string]func() *kir.Program{"all": everything, "rows": overRows}

// everything has what plans seldom have: names that C has for itself, Out
// parameters, fractions, filters, sums, emitted rows of mixed types.
func everything() *kir.Program {
	u32, f64, wide := kir.T(kir.U32), kir.T(kir.F64), kir.T(kir.U128)
	p := &kir.Program{Doc: "no \\ ends this line"}
	adj := p.AddGlobal(&kir.GlobalDef{Name: "N", Kind: kir.Adj})
	col := p.AddGlobal(&kir.GlobalDef{Name: "weight", Kind: kir.Col, Elem: kir.F64})
	least := p.AddGlobal(&kir.GlobalDef{Name: "least", Kind: kir.U32})
	out := &kir.Var{Name: "int", T: u32, Out: true}
	x := &kir.Var{Name: "x", T: u32}
	half := &kir.Func{Name: "half", Params: []*kir.Var{x, out}, Result: kir.T(kir.Bool), Body: []kir.Stmt{
		&kir.Assign{To: kir.R(out), X: kir.Op2(kir.Div, kir.R(x), kir.C(2))},
		&kir.Return{X: kir.Op2(kir.Eq, kir.Op2(kir.Mod, kir.R(x), kir.R(out)), kir.C(0))},
	}}
	mem := &kir.Var{Name: "w_mem", T: kir.ArrayOf(kir.U32, 0).Writable()}
	v := &kir.Var{Name: "v", T: u32}
	set, y, z := &kir.Var{Name: "set", T: kir.T(kir.Set)}, &kir.Var{Name: "y", T: u32}, &kir.Var{Name: "z", T: u32}
	h, total, f := &kir.Var{Name: "h", T: u32}, &kir.Var{Name: "total", T: wide}, &kir.Var{Name: "f", T: f64}
	list := func(x kir.Expr) kir.Expr { return kir.Fn(kir.List, kir.G(adj), x) }
	run := &kir.Func{Name: "run", Scope: kir.Group, Params: []*kir.Var{mem, v}, Result: wide, Body: []kir.Stmt{
		&kir.Let{Var: set},
		&kir.Let{Var: h},
		&kir.Let{Var: total, Init: kir.C64(kir.U128, 0)},
		&kir.SetOp{Op: kir.Filter, To: kir.R(set), Out: kir.R(mem), A: list(kir.R(v)), X: y, Keep: kir.Any(
			kir.Op2(kir.Lt, kir.R(y), kir.G(least)), kir.All(kir.Fn(kir.Contains, list(kir.R(y)), kir.R(v)), kir.NotX(kir.Op2(kir.Eq, kir.R(y), kir.R(v)))),
		)},
		&kir.Accumulate{To: kir.R(total), X: kir.Convert{T: wide, X: kir.Sum{
			Over: kir.R(set), X: z, Value: kir.Convert{T: kir.T(kir.U64), X: kir.Fn(kir.Degree, kir.G(adj), kir.R(z))},
		}}},
		&kir.Let{Var: f, Init: kir.Op2(kir.Max, kir.Fn(kir.CellFloat, kir.G(col), kir.Convert{T: kir.T(kir.U64), X: kir.R(v)}), kir.F(0.5))},
		&kir.If{
			Cond: kir.Invoke{Fn: half, Args: []kir.Expr{kir.R(v), kir.R(h)}},
			Then: []kir.Stmt{&kir.Emit{Row: []kir.Expr{kir.R(v), kir.R(f), kir.C64(kir.I64, ^uint64(2))}}},
			Else: []kir.Stmt{&kir.Return{X: kir.Convert{T: wide, X: kir.R(h)}}},
		},
		&kir.Return{X: kir.R(total)},
	}}
	p.Funcs, p.Owners = []*kir.Func{half, run}, []kir.Owner{{}}
	return p
}

// overRows counts pairs of neighbours in a neighbourhood.
func overRows() *kir.Program {
	u32 := kir.T(kir.U32)
	hood, n, i := &kir.Var{Name: "hood", T: kir.T(kir.Hood)}, &kir.Var{Name: "n", T: u32}, &kir.Var{Name: "i", T: u32}
	f := &kir.Func{Name: "pairs", Params: []*kir.Var{hood}, Result: u32, Body: []kir.Stmt{
		&kir.Let{Var: n, Init: kir.C(0)},
		&kir.Each{X: i, Over: kir.Fn(kir.RowOnes, kir.R(hood)), Body: []kir.Stmt{&kir.Accumulate{To: kir.R(n), X: kir.Fn(kir.RowSize,
			kir.Fn(kir.RowBelow, kir.Fn(kir.RowOf, kir.R(hood), kir.R(i)), kir.R(i)))}}},
		&kir.Return{X: kir.R(n)},
	}}
	return &kir.Program{Funcs: []*kir.Func{f}, Owners: []kir.Owner{{}}}
}

// TestNames: a long program has thousands of variables of one name, and telling
// them apart takes a time that grows as they do, not as their square.
func TestNames(t *testing.T) {
	const n = 1 << 15
	body := make([]kir.Stmt, n, n+1)
	for i := range body {
		body[i] = &kir.Let{Var: &kir.Var{Name: "t", T: kir.T(kir.U32)}, Init: kir.C(uint32(i))}
	}
	f := &kir.Func{Name: "long", Result: kir.T(kir.U32), Body: append(body, &kir.Return{X: kir.C(0)})}
	p := &kir.Program{Funcs: []*kir.Func{f}, Owners: []kir.Owner{{}}}
	began := time.Now()
	text := c.Text(p)
	if took := time.Since(began); took > 3*time.Minute {
		t.Errorf("%d variables of one name took %v", n, took)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`\bt(_\d+)? =`).FindAllString(text, -1) {
		seen[m] = true
	}
	if len(seen) != n {
		t.Errorf("%d variables have %d names", n, len(seen))
	}
}
