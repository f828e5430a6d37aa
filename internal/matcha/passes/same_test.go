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
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// more are programs besides the library's, for what these do not have.
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
}

// TestSame: any choice of passes, in any order, leaves the answer and what is
// emitted as they are.
func TestSame(t *testing.T) {
	texts := slices.Clone(more)
	for _, e := range library.Entries() {
		if !long.Asked() && len(e.Text) > 8<<10 {
			t.Logf("without WEFT_LONG: without %s, a long program, which is compiled again and again here", e.Name)
			continue
		}
		texts = append(texts, e.Text)
	}
	for name, text := range matchatest.Programs {
		if !matchatest.Mistakes[name] {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		rapid.Check(t, func(t *rapid.T) {
			in := matchatest.Inputs(t, text)
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
