package irgen

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// TestCompute: ranges have all results of the numbers that they are made of, and
// what may fail is known.
func TestCompute(t *testing.T) {
	const least, most = math.MinInt64, math.MaxInt64
	numbers := []types.Word{least, least + 1, least + 2, -3037000500, -3, -2, -1, 0, 1, 2, 3, 3037000499, most - 1, most}
	for _, op := range []string{"+", "-", "*", "/", "%"} {
		for a := range numbers {
			for b := a; b < len(numbers); b++ {
				for c := range numbers {
					for d := c; d < len(numbers); d++ {
						x, y := interval{numbers[a], numbers[b]}, interval{numbers[c], numbers[d]}
						out, ok := compute(op, x, y)
						fails := false
						for _, p := range numbers[a : b+1] {
							for _, q := range numbers[c : d+1] {
								z, err := types.Compute(op, types.Int, p, q)
								if fails = fails || err != nil; err == nil && !out.has(z) {
									t.Fatalf("%v %s %v is %v, without %d %s %d", x, op, y, out, p, op, q)
								}
							}
						}
						if fails == ok {
							t.Fatalf("%v %s %v: fails %t, known %t", x, op, y, fails, !ok)
						}
					}
				}
			}
		}
	}
}

// TestInterval is what is known of the values that a program names.
func TestInterval(t *testing.T) {
	p := matchatest.Build(t, `input G: Graph
input n: int in 0..10
input X: List[int]
let total = Counter(9)
let loose = Counter(9)
def f(v):
    let near = size(neighbor(G, v))
    let less = near - 3
    let square = less * less
    let half = square / -2
    let rest = (v - 2) % 3
    let kind = vertex_label(G, v)
    let second = get(mk_tuple(val=[v, -v]), 1)
    let items = sum(apply(lambda x: x - n, lambda x: x > 0, X))
    let ends = sum(apply(lambda e: get(e, 1), None, edges(G)))
    let old = add(total, 1, less)
    let last = add(loose, 1, get(loose, 2) + 1)
    let own = Counter(9)
    add(own, 1, v)
    add(own, 1, 2)
    let mine = get(own, 1)
    let large = items * 4611686018427387904
    let most = apply(lambda x: x, None, mk_list(val=[n, less]))
    emit(mk_tuple(val=[near, less, square, half, rest, kind, second, items, ends, old, last, mine, large, sum(most)]))
apply(f, None, vertices(G))
`)
	in := map[string]data.Input{"G": {Graph: labelled(t)}, "n": {Var: 7}, "X": {Items: []types.Word{-3, 5}}}
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	l := &lowerer{p: p, in: set, ints: analyse(p)}
	want := map[string]interval{
		"near": {0, 4}, "less": {-3, 1}, "square": {-3, 9}, "half": {-4, 1}, "rest": {-2, 2}, "kind": {-1, 1},
		"second": {-4, 0}, "items": {-20, 0}, "ends": {0, 14 * 4}, "old": {-15, 5}, "last": anyInt, "mine": {0, 6},
		"large": {math.MinInt64, 0}, "most": {-3, 7},
	}
	asg.Walk(p, func(n *asg.Node) {
		w, ok := want[n.Given]
		if !ok {
			return
		}
		delete(want, n.Given)
		if got := l.interval(n); got != w {
			t.Errorf("%s is %v, want %v", n.Given, got, w)
		}
	})
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// TestOverflow: what does not fit 64 bits fails, and what just fits is right,
// whatever passes the program went through.
func TestOverflow(t *testing.T) {
	for _, o := range matchatest.Overflows {
		t.Run(o.Name, func(t *testing.T) {
			for _, choice := range []string{"all", "none"} {
				p := matchatest.Build(t, o.Text)
				off, err := passes.Choose(choice)
				if err != nil {
					t.Fatal(err)
				}
				passes.Optimize(p, off...)
				set, err := data.Bind(p, map[string]data.Input{"G": {Graph: matchatest.Star(t, o.Leaves)}})
				if err != nil {
					t.Fatal(err)
				}
				c, err := Lower(context.Background(), p, set)
				if err != nil {
					t.Fatal(err)
				}
				kir.Optimize(c.Program)
				got, err := try(t, c)
				switch {
				case o.Fails == "" && (err != nil || got != o.Want):
					t.Errorf("passes %s: %s, %v, want %s\n%s", choice, got, err, o.Want, c.Format())
				case o.Fails != "" && (err == nil || !strings.HasPrefix(err.Error(), o.Fails)):
					t.Errorf("passes %s: %s, %v, want %s\n%s", choice, got, err, o.Fails, c.Format())
				}
			}
		})
	}
}

// TestUnchecked: on small graphs the library's programs need no checks.
func TestUnchecked(t *testing.T) {
	for at, e := range library.Entries() {
		in := rapid.Custom(func(t *rapid.T) map[string]data.Input { return matchatest.Inputs(t, e.Text) }).Example(at)
		p := matchatest.Build(t, e.Text)
		passes.Optimize(p)
		set, err := data.Bind(p, in)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Lower(context.Background(), p, set)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.failures {
			if strings.Contains(f.Error(), types.ErrOverflow.Error()) {
				t.Errorf("%s: %v", e.Name, f)
			}
		}
	}
}
