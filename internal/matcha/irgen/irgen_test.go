package irgen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	kirinterp "github.com/weftgraph/weft/internal/kir/emit/interp"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

type failer interface {
	Helper()
	Fatal(args ...any)
}

// labelled is a small graph: a clique of four with a tail, with labels.
func labelled(t failer) *graph.Graph {
	t.Helper()
	g, err := graph.FromCSR(context.Background(), graph.CSRInput{
		Off: []uint64{0, 3, 6, 9, 13, 14}, Adj: []uint32{1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2, 4, 3},
		Label: []uint32{0, 1, 0, 1, graph.NoLabel}, LabelNames: []string{"a", "b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGolden shows the IR of programs, or why they have none yet. "after" names
// passes of the graph; what the inputs are is fixed.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := matchatest.Build(t, d.Input)
			off := ""
			d.MaybeScanArgs(t, "passes", &off)
			names, err := passes.Choose(off)
			if err != nil {
				t.Fatal(err)
			}
			passes.Optimize(p, names...)
			in := map[string]data.Input{}
			for _, n := range p.Inputs {
				in[n.Name] = data.Input{Graph: labelled(t), Var: 2}
			}
			set, err := data.Bind(p, in)
			if err != nil {
				t.Fatal(err)
			}
			lower := Lower
			if d.HasArg("debug") {
				lower = LowerDebug
			}
			c, err := lower(context.Background(), p, set)
			if err != nil {
				return err.Error()
			}
			if d.HasArg("optimize") {
				kir.Optimize(c.Program)
			}
			if d.HasArg("debug") {
				c.Assert()
			}
			return c.Format()
		})
	})
}

// more are programs for what the library does not have.
var more = []string{
	`input G: Graph
input l0: int
def f(e):
    let u = get(e, 0)
    let v = get(e, 1)
    let c = intersect(neighbor(G, u), neighbor(G, v))
    let d = diff(neighbor(G, u), mk_list(val=[v, l0]))
    let low = apply(lambda w: w, lambda w: w < v and w != 3 and u <= w, d)
    let labelled = apply(lambda w: w * 2, lambda w: vertex_label(G, w) == l0 and w >= l0 and not (w == v), c)
    apply(lambda w: emit(mk_tuple(val=[u, w])), lambda w: w > v and u < v, c)
    return size(low) * 100 + sum(labelled) + size(c) + size(intersect(c, low)) - size(labelled)
return sum(apply(f, None, edges(G)))
`,
	`input G: Graph
input l0: int in 0..9
let back = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 1), get(e, 0)]), lambda e: get(e, 0) % 2 == 1, edges(G)))
def f(v):
    let near = neighbor(back, v + l0 - 1)
    let odd = apply(lambda w: w, lambda w: size(neighbor(G, w)) % 2 == 1, near)
    let twice = apply(lambda w: mk_tuple(val=[w, -w]), None, odd)
    let pairs = sum(apply(lambda t: get(t, 0) * 3 + get(t, 1), lambda t: get(t, 0) > 1 or get(t, 1) == 0, twice))
    return mk_tuple(val=[pairs, size(intersect(range(5), near)), size(diff(near, vertices(G))), sum(range(l0)), size(twice)])
apply(lambda t: emit(t), lambda t: get(t, 0) >= 0, apply(f, None, vertices(G)))
return sum(apply(f, None, vertices(G)))
`,
	`input G: Graph
input l0: int
let half = sum(apply(lambda v: v / 2.0, lambda v: v != l0, vertices(G))) - 0.25 * l0
return mk_tuple(val=[half, sum(apply(lambda e: 1.5, lambda e: get(e, 0) < get(e, 1), edges(G))), -half])
`,
	`input G: Graph
input l0: int
let most = apply(lambda v: v, lambda v: v <= l0 and v > -5 and 9223372036854775807 >= v, vertices(G))
let none = apply(lambda v: v, lambda v: v > 9223372036854775807, vertices(G))
return sum(most) + size(none) == 3 or size(neighbor(G, -1)) > 0 or size(neighbor(G, 4294967297)) > 0
`,
}

// Names of the language of the text are names of variables like others.
var named = `input G: Graph
let list = neighbor(G, 0)
let slice = intersect(list, neighbor(G, 1))
let new = size(slice)
def filter(v):
    let this = intersect(list, neighbor(G, v))
    return size(this) + size(apply(lambda min: min, lambda min: min > v, this)) + new
return sum(apply(filter, None, slice)) + size(list)
`

// TestDoubling: a condition that reads values twice and twice again is no
// expression that doubles each time.
func TestDoubling(t *testing.T) {
	text := "input G: Graph\ndef even(v):\n    let x0 = v\n"
	for i := range 100 {
		text += fmt.Sprintf("    let x%d = x%d + x%d\n", i+1, i, i)
	}
	text += "    return x100 == 0\nreturn size(apply(lambda v: v, even, neighbor(G, 0)))\n"
	p := matchatest.Build(t, text)
	set, err := data.Bind(p, map[string]data.Input{"G": {Graph: labelled(t)}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Lower(context.Background(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(kir.Format(c.Program)); n > 20_000 {
		t.Errorf("the code is %d characters long", n)
	}
}

// TestSame: the IR, with and without its own passes, gives what the interpreter
// of the language gives, whatever passes the graph went through.
func TestSame(t *testing.T) {
	texts := slices.Clone(more)
	for _, e := range library.Entries() {
		if !long.Asked() && len(e.Text) > 8<<10 {
			t.Logf("without WEFT_LONG: without %s, a long program, which is compiled again and again here", e.Name)
			continue
		}
		texts = append(texts, e.Text)
	}
	for _, text := range texts {
		rapid.Check(t, func(t *rapid.T) {
			in := matchatest.Inputs(t, text)
			p := matchatest.Build(t, text)
			set, err := data.Bind(p, in)
			if err != nil {
				t.Fatal(err)
			}
			want := sortRows(oracle(t, p, set))
			var off []string
			for _, pass := range passes.All {
				if rapid.IntRange(0, 3).Draw(t, pass.Name) == 0 {
					off = append(off, pass.Name)
				}
			}
			passes.Optimize(p, off...)
			if set, err = data.Bind(p, in); err != nil {
				t.Fatal(err)
			}
			c, err := Lower(context.Background(), p, set)
			if err != nil {
				t.Fatal(err, p)
			}
			if got := run(t, p, c); got != want {
				t.Fatalf("without %v it is\n%s, want\n%s\n%s\n%s", off, got, want, p, c.Format())
			}
			kir.Optimize(c.Program)
			if got := run(t, p, c); got != want {
				t.Fatalf("optimized it is\n%s, want\n%s\n%s", got, want, c.Format())
			}
		})
	}
}

// run runs code in the interpreter of the IR, with one worker.
func run(t failer, p *asg.Program, c *Code) string {
	t.Helper()
	var b strings.Builder
	m, err := kirinterp.New(c.Program, func(row []uint64) bool {
		fmt.Fprintln(&b, words(row))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	mem, shared := kirinterp.Array(make([]uint32, c.Words)), kirinterp.Array(make([]uint32, c.SharedWords))
	state := kirinterp.NewRecord(c.State)
	for _, ph := range c.Phases {
		if ph.Run != nil {
			m.Call(ph.Run, mem, shared, state)
			continue
		}
		sums := kirinterp.NewRecord(ph.Sums)
		for i := state.Rec.Fields[ph.Items].N; i > 0; i-- { // in any order
			m.Call(ph.Item, mem, shared, state, sums, kirinterp.Value{N: i - 1})
		}
		for k, f := range ph.Into {
			state.Rec.Fields[f].N += sums.Rec.Fields[k].N
		}
	}
	var result []uint64
	for _, f := range c.Result {
		result = append(result, state.Rec.Fields[f].N)
	}
	return sortRows(b.String()) + fmt.Sprint(words(result))
}

// sortRows gives rows an order, for those of a parallel phase have none.
func sortRows(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines[:len(lines)-1])
	return strings.Join(lines, "")
}

func words(row []uint64) (out []types.Word) {
	for _, x := range row {
		out = append(out, types.Word(x))
	}
	return out
}

// oracle runs a program in the interpreter of the language.
func oracle(t failer, p *asg.Program, set *data.Set) string {
	t.Helper()
	var b strings.Builder
	r, err := interp.Run(context.Background(), p, set, interp.Options{Emit: func(row []types.Word) bool {
		fmt.Fprintln(&b, row)
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b.String() + fmt.Sprint(r.Words)
}
