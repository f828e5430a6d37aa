package cuda_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/testing/kirgen"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/onelane"
)

// TestSigns: two signs before an operand are not written as an operator that C++ has.
func TestSigns(t *testing.T) {
	for _, k := range []kir.Kind{kir.U32, kir.U64, kir.I64, kir.F64, kir.U128} {
		x := &kir.Var{Name: "x", T: kir.T(k)}
		negative := func(x kir.Expr) kir.Expr { return kir.Unary{Op: kir.Neg, X: x} }
		f := &kir.Func{Name: "f", Params: []*kir.Var{x}, Result: kir.T(k), Body: []kir.Stmt{&kir.Return{X: negative(negative(kir.R(x)))}}}
		if text := cuda.Text(&kir.Program{Funcs: []*kir.Func{f}, Owners: []kir.Owner{{}}}); strings.Contains(text, "--") {
			t.Errorf("%s: %s", k, text)
		}
	}
}

// TestRandomPrograms compiles the text of random programs for a group of one lane, half of
// them after all passes, and compares what they emit with the interpreter.
func TestRandomPrograms(t *testing.T) {
	onelane.Skip(t)
	count := 24
	if long.Asked() {
		count = 400
	}
	var programs []*kirgen.Program
	var want []string
	for seed := range uint64(count) {
		p := kirgen.New(kirgen.Seeded(seed), kirgen.Options{Tame: true, Flat: seed%3 == 0})
		out, err := p.Run()
		if err != nil {
			t.Fatal(err)
		}
		if seed%2 == 0 {
			kir.Optimize(p.Program)
		}
		programs, want = append(programs, p), append(want, out)
	}
	got := onelane.Run(t, kirgen.CPP(programs))
	for i, w := range want {
		if !strings.HasPrefix(got, w) {
			t.Fatalf("program %d prints\n%.3000s\nthe interpreter\n%s\n%s", i, got, w, cuda.Text(programs[i].Program))
		}
		got = got[len(w):]
	}
}
