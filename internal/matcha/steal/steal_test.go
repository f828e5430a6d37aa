package steal_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/steal"
	"github.com/weftgraph/weft/internal/testing/matcharun"
)

// items are the functions of the items of a program of one graph.
func items(t *testing.T, text string) (out []*kir.Func) {
	t.Helper()
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "cliques", N: 1, K: 9}, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, _, code := matcharun.Lowered(t, text, map[string]data.Input{"G": {Graph: g}})
	for _, p := range code.Phases {
		if p.Item != nil {
			out = append(out, p.Item)
		}
	}
	return out
}

// TestLoops: which loops are shared, of each item of some programs, by level.
func TestLoops(t *testing.T) {
	for _, e := range library.Entries() {
		want, ok := map[string]struct{ every, one [][2]int }{
			"triangles": {[][2]int{{0, 0}}, [][2]int{{0, 0}}}, // nothing but a size inside an item
			"clique4":   {[][2]int{{1, 0}}, [][2]int{{1, 0}}},
			"clique5":   {[][2]int{{1, 1}}, [][2]int{{1, 1}}},
			"motifs4":   {[][2]int{{3, 6}}, [][2]int{{1, 1}}},
			// Around edges; cycles, whose Counter is one for all turns; cliques; stars.
			"motifs4_parts": {[][2]int{{0, 0}, {0, 0}, {1, 0}, {0, 0}}, [][2]int{{0, 0}, {0, 0}, {1, 0}, {0, 0}}},
		}[e.Name]
		if !ok {
			continue
		}
		for every, want := range map[bool][][2]int{true: want.every, false: want.one} {
			fs := items(t, e.Text)
			if len(fs) != len(want) {
				t.Fatalf("%s has %d parallel phases, want %d", e.Name, len(fs), len(want))
			}
			for i, f := range fs {
				params := len(f.Params)
				loops := steal.Loops(f, every)
				var got [2]int
				numbers := map[int]bool{}
				for _, l := range loops {
					got[l.Level-1]++
					numbers[l.Number] = true
				}
				if got != want[i] || len(numbers) != len(loops) {
					t.Errorf("%s, item %d, every %v: loops %v, want %v; numbers %v", e.Name, i, every, got, want[i], numbers)
				}
				if more := len(f.Params) - params; (more == 1) != (len(loops) > 0) || more > 1 {
					t.Errorf("%s, item %d: %d new parameters for %d loops", e.Name, i, more, len(loops))
				}
				guarded(t, e.Name, f, loops)
			}
		}
	}
}

// guarded: what is added and emitted around shared loops depends on why the worker
// has come, and nothing around them adds to a sum twice.
func guarded(t *testing.T, name string, f *kir.Func, loops map[*kir.Each]steal.Loop) {
	t.Helper()
	if len(loops) == 0 {
		return
	}
	stolen := f.Params[len(f.Params)-1]
	asks := func(x kir.Expr, level int) bool {
		le, ok := x.(kir.Binary)
		if !ok || le.Op != kir.Le {
			return false
		}
		r, ok := le.X.(kir.Ref)
		c, is := le.Y.(kir.Const)
		return ok && is && r.Var == stolen && c.Bits == uint64(level)
	}
	var look func(body []kir.Stmt, level int, free bool)
	look = func(body []kir.Stmt, level int, free bool) {
		deeper := false // there are shared loops of the next level
		kir.WalkStmts(body, func(s kir.Stmt) {
			if e, ok := s.(*kir.Each); ok && loops[e].Level == level+1 {
				deeper = true
			}
		})
		for _, s := range body {
			switch s := s.(type) {
			case *kir.If:
				look(s.Then, level, free || asks(s.Cond, level))
				look(s.Else, level, free)
				continue
			case *kir.Each:
				if l, ok := loops[s]; ok {
					look(s.Body, l.Level, false)
					continue
				}
			case *kir.Accumulate:
				if _, sum := s.To.(kir.Field); sum && !free && (level == 0 || deeper) {
					t.Errorf("%s: at level %d something is added whoever comes", name, level)
				}
			case *kir.Emit:
				if !free && (level == 0 || deeper) {
					t.Errorf("%s: at level %d something is emitted whoever comes", name, level)
				}
			}
			for _, b := range kir.Bodies(s) {
				look(*b, level, free)
			}
		}
	}
	look(f.Body, 0, false)
}
