package passes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/view"
)

// FuzzPasses: what any program gives on a small graph it gives after all passes,
// and after any one alone.
func FuzzPasses(f *testing.F) {
	for _, text := range more {
		f.Add(text, uint8(0))
	}
	for i, e := range library.Entries() {
		f.Add(e.Text, uint8(i))
	}
	f.Add("input l0: int\nlet a = mk_list(9, int, range(5))\nlet b = apply(lambda x: x + l0, lambda x: x != 3 and x < 4, a)\nreturn sum(b) + size(b) + size(intersect(b, a))", uint8(3))
	f.Add("let g = mk_graph(mk_list(val=[mk_tuple(val=[1, 2]), mk_tuple(val=[2, 1])]))\nreturn sum(apply(lambda e: size(neighbor(g, get(e, 1))), None, edges(g)))", uint8(9))
	for i := range len(All) + 1 {
		f.Add("input G: Graph\ndef f(u):\n    def h(v):\n        let all = between(G, '(a)--(b)', u, v)\n        return size(apply(lambda e: e, lambda e: holds(G, '(a), (b), ()-[e]-() WHERE deg(a) < deg(b) OR e.w > 1', u, v, e), all)) + size(all)\n    return sum(apply(h, lambda v: holds(G, '(a) WHERE deg(a) > 2', u), neighbor(G, u)))\nreturn sum(apply(f, None, vertices(G)))", uint8(i))
	}
	g := graph.FromEdges(6, [][2]uint32{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {3, 4}}, false)
	f.Fuzz(func(t *testing.T, text string, choice uint8) {
		file, err := syntax.Parse(text)
		if err != nil {
			return
		}
		p, err := asg.Build(file)
		if err != nil {
			return
		}
		in := map[string]data.Input{}
		for _, n := range p.Inputs {
			in[n.Name] = data.Input{Graph: g, View: view.Of{Graph: g}, Var: 1}
		}
		want, err := attempt(p, in)
		if err != nil {
			return
		}
		some := All
		if i := int(choice) % (len(All) + 1); i < len(All) {
			some = All[i : i+1]
		}
		if p, err = asg.Build(file); err != nil {
			t.Fatal(err)
		}
		for _, pass := range some {
			pass.Run(p)
			check(t, p)
		}
		got, err := attempt(p, in)
		if errors.Is(err, context.DeadlineExceeded) {
			return
		}
		if err != nil || got != want {
			t.Fatalf("%s\ngives %q, %v after passes from %s, and %q without\n%s", text, got, err, some[0].Name, want, p)
		}
		set, err := data.Bind(p, in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := irgen.Lower(context.Background(), p, set); err != nil && strings.HasPrefix(err.Error(), "kir:") {
			t.Fatalf("%s\n%v\n%s", text, err, p)
		}
	})
}

// attempt runs a program for a short time.
func attempt(p *asg.Program, in map[string]data.Input) (string, error) {
	set, err := data.Bind(p, in)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	var b strings.Builder
	r, err := interp.Run(ctx, p, set, interp.Options{Memory: 1 << 20, Emit: func(row []types.Word) bool {
		fmt.Fprintln(&b, row)
		return b.Len() < 1<<16
	}})
	return fmt.Sprint(b.String(), r.Words), err
}
