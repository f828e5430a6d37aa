package weft_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// TestMatchaTexts: texts of the pattern language are read with the program, and the
// place of a mistake is inside of them.
func TestMatchaTexts(t *testing.T) {
	for call, want := range map[string]string{
		"size(vertices(G, '(a:'))":                                                  "line 2, column 29: unexpected end",
		"size(vertices(G, 'garbage (('))":                                           "line 2, column 35: unexpected (",
		"size(vertices(G, '(a)--(b)'))":                                             "column 25: (a)--(b) is not one vertex",
		"size(edges(subgraph(G, 'zzz')))":                                           "zzz",
		"size(edges(subgraph(G, '(a:A)--(b)')))":                                    "only the edge may have labels",
		"sum(apply(lambda v: size(between(G, '(a', v, v)), None, vertices(G)))":     "unexpected end",
		"size(apply(lambda v: v, lambda v: holds(G, '(a:A)', v), vertices(G)))":     "only conditions may say something",
		"size(apply(lambda v: v, lambda v: holds(G, '(a) WHERE', v), vertices(G)))": "unexpected end",
		// A doubled mark is one character of the text.
		"size(vertices(G, '(a) WHERE a.x = ''u'' AND (('))":           "line 2, column 54: unexpected end",
		"size(vertices(G, '(a) WHERE a.x = ''u'' AND ((]'))":          "line 2, column 54: unexpected ]",
		"size(vertices(G, '(a) WHERE ''u'' ]'))":                      "line 2, column 42: ",
		"size(vertices(G, \"(a) WHERE a.x = \"\"u\"\" AND 'é' (]\"))": "line 2, column 56: unexpected (",
	} {
		_, err := weft.ParseMatcha("", "input G: Graph\nreturn "+call+"\n")
		if !errors.Is(err, weft.ErrQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", call, err, want)
		}
	}
	const right = "input G: Graph\nlet E = subgraph(G, '(a)-[:X]->(b)')\nreturn size(vertices(G, '(a:A) WHERE a.x > 1'))\n"
	if _, err := weft.ParseMatcha("", right); err != nil {
		t.Error(err)
	}
}
