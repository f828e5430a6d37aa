package run

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// forms are the programs whose texts differ from graph to graph, and why.
var forms = map[string]string{
	"relations":              "lists of few vertices are sparse",
	"edges of a subgraph":    "lists of few vertices are sparse",
	"vertices of a subgraph": "lists of few vertices are sparse",
	"data edges":             "edges have directions or not, some are accepted, or there are none",
	"data edges listed":      "edges have directions or not, some are accepted, or there are none",
	"data edges with a property, edge by edge": "edges have directions or not, some are accepted, or there are none",
	"graphs of any list":                       "sums that may not fit 64 bits are checked",
	"labels of any list":                       "sums that may not fit 64 bits are checked",
	"labels":                                   "vertices are ids, or are found by a hash index",
	"two labels":                               "sums that may not fit 64 bits are checked",
	"graphs of each item":                      "sums that may not fit 64 bits are checked",
	"times and places":                         "sums that may not fit 64 bits are checked",
	"numbers":                                  "sums that may not fit 64 bits are checked",
	"division":                                 "a divisor that may be 0 is checked",
	"divided by zero":                          "a divisor that may be 0 is checked",
}

// TestTexts: the text of a program is the same for graphs and lists of other sizes, with other labels and
// numbers, in C and for GPUs. So it is compiled once for all of them.
func TestTexts(t *testing.T) {
	for _, e := range library.Entries() {
		if sizes := oneText(t, e.Name, e.Text); sizes < 2 {
			t.Errorf("%s: inputs of %d sizes", e.Name, sizes)
		}
	}
	for name, text := range matchatest.Programs {
		if forms[name] == "" {
			oneText(t, name, text)
		}
	}
}

// oneText writes a program for inputs that are drawn, and returns how many different sizes they have.
func oneText(t *testing.T, name, text string) int {
	sizes := map[int]bool{}
	for _, target := range []string{"c", "cuda"} {
		var texts []string
		for seed := range 8 {
			in := rapid.Custom(func(t *rapid.T) map[string]data.Input { return matchatest.Inputs(t, text) }).Example(seed)
			p := matchatest.Build(t, text)
			passes.Optimize(p)
			set, err := data.Bind(p, in)
			if err != nil {
				t.Fatal(err)
			}
			code, err := Code(t.Context(), target, p, set, Options{})
			if err != nil {
				t.Fatal(name, err)
			}
			texts = append(texts, code)
			size := 0
			for _, i := range in {
				size += len(i.Items)
				if i.Graph != nil {
					size += i.Graph.NumVertices()
				}
			}
			sizes[size] = true
		}
		slices.Sort(texts)
		if texts = slices.Compact(texts); len(texts) != 1 {
			t.Errorf("%s, %s: %d texts, want 1", name, target, len(texts))
		}
	}
	return len(sizes)
}
