package asg

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/matcha/syntax"
)

// TestGolden shows the graphs of programs, or their mistakes.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := build(d.Input)
			if err != nil {
				return err.Error()
			}
			check(t, p)
			return p.String()
		})
	})
}

func build(text string) (*Program, error) {
	f, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	return Build(f)
}

// check holds for every graph: what a node is computed from comes before it, in
// its own function or in one around it.
func check(t *testing.T, p *Program) {
	t.Helper()
	known := map[*Node]bool{}
	for _, n := range p.Inputs {
		known[n] = true
	}
	var body func(f *Func)
	body = func(f *Func) {
		for _, n := range Order(f) {
			for _, a := range n.Args {
				if !known[a] || !n.Home.Within(a.Home) {
					t.Errorf("%s (%d) is computed from %s (%d), which is not there", n.Op, n.ID, a.Op, a.ID)
				}
			}
			for _, inner := range []*Func{n.Cond, n.Func} {
				if inner == nil {
					continue
				}
				for _, o := range inner.Operands {
					known[o] = true
				}
				body(inner)
			}
			known[n] = true
		}
		if f.Result != nil && !known[f.Result] {
			t.Errorf("the result %s (%d) is not there", f.Result.Op, f.Result.ID)
		}
	}
	body(p.Main)
}

// FuzzBuild: any text is a program whose graph is in order, or has a mistake.
func FuzzBuild(f *testing.F) {
	for _, s := range []string{
		"input G: Graph\nreturn sum(apply(lambda e: size(intersect(neighbor(G, get(e, 0)), neighbor(G, get(e, 1)))), None, edges(G)))\n",
		"input L: List[Tuple[int, 2], 9]\nlet g = mk_graph(L, L, apply(lambda e: get(e, 0) / 2.0, None, L))\nemit(mk_tuple(val=[1 + 2, -3]))\nreturn size(edge_info(g, 2)) > 1 and vertex_label(g, 3) == 7",
		"input G: Graph\ndef f(v):\n    let c = Counter(size(vertices(G)), hashed=True)\n    apply(lambda w: add(c, w, 1), lambda w: w < v, neighbor(G, v))\n    return get(c, 1)\nreturn sum(apply(f, None, range(10)))",
		"def f(g, x):\n    return g(x)\nreturn f(lambda x: not x, True)",
		"input G: Graph\ndef f(u):\n    return size(apply(lambda e: e, lambda e: holds(G, '(a), ()-[e]->() WHERE a.x < e.w', u, e), between(G, '(a)-[:it''s]->(b)', u, u)))\nreturn sum(apply(f, None, vertices(G)))",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := build(text)
		if err == nil {
			check(t, p)
			_ = p.String()
		}
	})
}
