package cuda_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// TestWatched: a group's loops ask whether to go on where they are watched. A lane has no
// group to ask.
func TestWatched(t *testing.T) {
	const asks = "g.turn()"
	for _, scope := range []kir.Scope{kir.Group, kir.Lane} {
		n := &kir.Var{Name: "n", T: kir.T(kir.U32)}
		set := &kir.Var{Name: "set", T: kir.T(kir.Set)}
		f := &kir.Func{Name: "f", Scope: scope, Params: []*kir.Var{n, set}, Result: kir.T(kir.Void), Body: []kir.Stmt{
			&kir.Loop{I: &kir.Var{Name: "i", T: kir.T(kir.U32)}, Lo: kir.C(0), Hi: kir.R(n)},
			&kir.Each{X: &kir.Var{Name: "x", T: kir.T(kir.U32)}, Over: kir.R(set)},
		}}
		p := &kir.Program{Funcs: []*kir.Func{f}, Owners: []kir.Owner{{}}}
		if err := kir.Verify(p); err != nil {
			t.Fatal(err)
		}
		want := 0
		if scope == kir.Group {
			want = 2
		}
		if text := cuda.TextOf(p, cuda.Options{Watched: true}); strings.Count(text, asks) != want {
			t.Errorf("%v: want %d loops with %s in\n%s", scope, want, asks, text)
		}
		if text := cuda.Text(p); strings.Contains(text, asks) {
			t.Errorf("%v, not watched:\n%s", scope, text)
		}
	}
}
