package passes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// more are programs beside the library's, for what these do not have.
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
    return size(low) * 100 + sum(labelled) + size(c) + size(intersect(c, low))
return sum(apply(f, None, edges(G)))
`,
	`input G: Graph
input l0: int
let n = size(vertices(G))
let unread = Counter(n)
let total = Counter(n, hashed=True)
apply(lambda v: add(unread, v, 1), lambda v: v > 2, vertices(G))
def root(u):
    let c = Counter(n)
    apply(lambda w: add(c, w, 1), lambda w: w > u, neighbor(G, u))
    apply(lambda w: add(total, w, l0), lambda w: get(total, w) < 3, neighbor(G, u))
    return sum(apply(lambda w: mk_tuple(val=[add(c, w, 1), w, get(c, 0)]), None, neighbor(G, u)))
let rows = apply(root, None, vertices(G))
apply(lambda r: emit(r), lambda r: True or get(r, 0) > 1, rows)
return sum(apply(lambda v: get(total, v), None, vertices(G))) + get(sum(rows), 0)
`,
	`input G: Graph
input l0: int
def f(e):
    let g = mk_graph(apply(lambda x: x, lambda x: get(x, 0) < get(x, 1), edges(G)))
    return size(neighbor(g, get(e, 0))) - l0 * size(apply(lambda v: v, lambda v: v < 10 % (l0 + 1), vertices(g)))
return sum(apply(f, lambda e: get(e, 0) != l0, edges(G)))
`,
}

// TestSame: any choice of passes, in any order, leaves the answer and what is
// emitted as they are.
func TestSame(t *testing.T) {
	texts := slices.Clone(more)
	for _, e := range library.Entries() {
		if testing.Short() && len(e.Text) > 8<<10 {
			continue // a long program, which is compiled again and again here
		}
		texts = append(texts, e.Text)
	}
	for _, text := range texts {
		rapid.Check(t, func(t *rapid.T) {
			g := matchatest.Graph(t)
			in := map[string]data.Input{}
			if strings.Contains(text, "input G: Graph") {
				in["G"] = data.Input{Graph: g}
			} else { // the temporal program
				item := rapid.SliceOfN(rapid.IntRange(0, 4), 3, 3)
				for range rapid.IntRange(0, 20).Draw(t, "edges") {
					for _, x := range item.Draw(t, "edge") {
						in["E"] = data.Input{Items: append(in["E"].Items, types.Word(x))}
					}
				}
				in["E"] = data.Input{Items: in["E"].Items}
				in["gap1"], in["gap2"], in["total"] = data.Input{Var: 2}, data.Input{Var: 1}, data.Input{Var: 3}
			}
			for i := range 4 {
				if name := fmt.Sprint("l", i); strings.Contains(text, "input "+name) {
					in[name] = data.Input{Var: types.Word(rapid.IntRange(0, 2).Draw(t, name))}
				}
			}
			f, err := syntax.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := asg.Build(f)
			if err != nil {
				t.Fatal(err)
			}
			want := run(t, plain, in)
			order := rapid.Permutation(All).Draw(t, "order")[:rapid.IntRange(1, len(All)).Draw(t, "passes")]
			if rapid.Bool().Draw(t, "usual order") {
				order = All
			}
			p, err := asg.Build(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, pass := range order {
				pass.Run(p)
				check(t, p)
				if got := run(t, p, in); got != want {
					t.Fatalf("after %s it is\n%s, want\n%s\n%s\n%s", pass.Name, got, want, text, p)
				}
			}
		})
	}
}

func run(t *rapid.T, p *asg.Program, in map[string]data.Input) string {
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	r, err := interp.Run(context.Background(), p, set, interp.Options{Emit: func(row []types.Word) bool {
		fmt.Fprintln(&b, row)
		return true
	}})
	if err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	fmt.Fprint(&b, r.Words)
	return b.String()
}
