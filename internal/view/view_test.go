package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// of is a directed graph with labels: 0 → 1 → 2 by X, 2 → 0 by Y, 0 → 3 without
// one. Ids inside are by label and degree, so that tests compare users' ids.
func of(t *testing.T) (Of, func(v ...uint32) []string) {
	t.Helper()
	x, y := int64(1), int64(2)
	s := &nodiff.Spec{
		N: 4, Directed: true, EdgeLabels: true, Weights: true, Labels: [][]string{{"A"}, {"A", "B"}, {"B"}, nil}, X: []*int64{&x, &y, nil, &y},
		Edges: []nodiff.SpecEdge{{U: 0, V: 1, Label: "X", W: &x}, {U: 1, V: 2, Label: "X", W: &y}, {U: 2, V: 0, Label: "Y"}, {U: 0, V: 3}},
	}
	g := s.Build()
	return Of{g}, func(v ...uint32) (out []string) {
		for _, v := range v {
			out = append(out, g.IDs.String(v))
		}
		slices.Sort(out)
		return out
	}
}

func TestVertices(t *testing.T) {
	o, ids := of(t)
	for text, want := range map[string]string{
		"(a)": "0 10 20 30", "(a:A)": "0 10", "(a:A&B)": "10", "(:!%)": "30", "(a:B) WHERE a.x > 1": "10", "(a) WHERE a.x IS NULL": "20",
		"(a:Z)": "", "(a) WHERE EXISTS { (a)-[:Y]->(b) }": "20", "(a:A) WHERE id(a) = 0": "0", "(a) WHERE 1 = 2": "",
	} {
		got, err := o.Vertices(text)
		if err != nil {
			t.Fatal(err)
		}
		if s := strings.Join(ids(got...), " "); s != want || !slices.IsSorted(got) {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

func TestRelation(t *testing.T) {
	o, ids := of(t)
	for text, want := range map[string]string{
		"(a)-[:X]->(b)": "0:10 10:20", "(a)<-[:X]-(b)": "10:0 20:10", "(a)-[:Y]-(b)": "0:20 20:0", "(a)-[:!%]->(b)": "0:30",
		"(a)-[e WHERE e.w > 1]->(b)": "10:20", "(a)-[e]->(b) WHERE e.w = 1": "0:10", "(a)-[:Z]-(b)": "", "(b)<--(a)": "0:20 10:0 20:10 30:0",
	} {
		c, err := o.Relation(text)
		if err != nil {
			t.Fatal(err)
		}
		var pairs []string
		for v := range uint32(c.NumVertices()) {
			for _, w := range c.List(v) {
				pairs = append(pairs, ids(v)[0]+":"+ids(w)[0])
			}
		}
		slices.Sort(pairs)
		if got := strings.Join(pairs, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestBetween: which data edges of a text lead from one vertex to another.
func TestBetween(t *testing.T) {
	o, _ := of(t)
	at := func(id uint64) uint32 {
		v, ok := o.Graph.LookupInt(int64(id))
		if !ok {
			t.Fatalf("there is no vertex %d", id)
		}
		return v
	}
	for text, want := range map[string]string{
		"(a)-->(b)": "0:10 0:30 10:20 20:0", "(a)<--(b)": "0:20 10:0 20:10 30:0", "(a)-[:X]->(b)": "0:10 10:20",
		"(a)-[:X]-(b)": "0:10 10:0 10:20 20:10", "(a)-[e WHERE e.w > 1]->(b)": "10:20", "(a)-[e]->(b) WHERE e.w IS NULL": "0:30 20:0", "(a)-[:Z]->(b)": "",
	} {
		d, err := o.Between(text)
		if err != nil {
			t.Fatal(err)
		}
		var pairs []string
		for _, u := range []uint64{0, 10, 20, 30} {
			for _, v := range []uint64{0, 10, 20, 30} {
				d.Each(at(u), at(v), func(e uint64) bool {
					if dst := d.Dst[e]; dst != at(v) && dst != at(u) {
						t.Errorf("%s: edge %d leads to %d", text, e, dst)
					}
					pairs = append(pairs, fmt.Sprintf("%d:%d", u, v))
					return true
				})
			}
		}
		if got := strings.Join(pairs, " "); got != want || (d.Most == 0) != (want == "") {
			t.Errorf("%s: %s, want %s; at most %d", text, got, want, d.Most)
		}
	}
}

// TestCondition: arguments are the vertices of a text, then its edges.
func TestCondition(t *testing.T) {
	o, _ := of(t)
	vertex := func(id int64) types.Word {
		v, ok := o.Graph.LookupInt(id)
		if !ok {
			t.Fatalf("there is no vertex %d", id)
		}
		return types.Word(v)
	}
	edge := func(u, v int64) (out types.Word) {
		d, err := o.Between("(a)-->(b)")
		if err != nil {
			t.Fatal(err)
		}
		d.Each(uint32(vertex(u)), uint32(vertex(v)), func(e uint64) bool { out = types.Word(e); return false })
		return out
	}
	for _, c := range []struct {
		text string
		args []types.Word
		want bool
	}{
		{"(a), (b) WHERE a.x < b.x", []types.Word{vertex(0), vertex(10)}, true},
		{"(b), (a) WHERE a.x < b.x", []types.Word{vertex(0), vertex(10)}, false},
		{"(a), (b) WHERE a.x < b.x", []types.Word{vertex(0), vertex(20)}, false}, // NULL
		{"(a) WHERE a.x = 1", []types.Word{vertex(0)}, true},
		{"()-[e]->() WHERE e.w = 1", []types.Word{edge(0, 10)}, true},
		{"()-[e]->(), (a), ()-[f]-() WHERE e.w = a.x AND f.w > e.w", []types.Word{vertex(0), edge(0, 10), edge(10, 20)}, true},
		{"(a), (b) WHERE EXISTS { (b)-[:Y]->(a) }", []types.Word{vertex(0), vertex(20)}, true},
	} {
		got, err := o.Condition(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got.Eval(c.args) != c.want {
			t.Errorf("%s of %v is not %v", c.text, c.args, c.want)
		}
	}
}

// TestConditionEnds: the ends of an edge that is an argument are vertices like others
// for EXISTS, nested or not, since a condition does not know them.
func TestConditionEnds(t *testing.T) {
	o, _ := of(t)
	d, err := o.Between("(a)-->(b)")
	if err != nil {
		t.Fatal(err)
	}
	for _, exists := range []string{"EXISTS { (a)-->(x) WHERE id(x) = $ }", "EXISTS { (a)-->(x) WHERE id(x) = $ AND EXISTS { (a)-->(x) } }"} {
		for a := range uint32(4) {
			for x := range uint32(4) {
				text := "(a), ()-[e]->() WHERE " + strings.ReplaceAll(exists, "$", o.Graph.IDs.String(x))
				c, err := o.Condition(text)
				if err != nil {
					t.Fatal(err)
				}
				want := o.Graph.Out.Has(a, x)
				d.Each(a, x, func(e uint64) bool {
					if got := c.Eval([]types.Word{types.Word(a), types.Word(e)}); got != want {
						t.Errorf("%s of a = %d: %v", text, a, got)
					}
					return true
				})
				_, of, err := c.Code(&kir.Program{}, "f")
				if err != nil || slices.Contains(of, -1) {
					t.Errorf("%s: arguments %v: %v", text, of, err)
				}
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	o := Of{graph.FromEdges(2, [][2]uint32{{0, 1}}, false)}
	for text, want := range map[string]string{
		"(a)": "not an edge", "(a)--(b)--(c)": "not an edge", "(a:A)--(b)": "only the edge", "(a)--(b) WHERE deg(a) > 1": "only the edge",
		"(a)--(": "(a)--(: ", "NOT (a)--(b)": "NOT introduces no names",
	} {
		if _, err := o.Relation(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{"(a)--(b)": "not one vertex", "a": "no pattern or macro"} {
		if _, err := o.Vertices(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"(a)--(b)": "have a name here", "(a:A)": "only conditions", "(a)-[e]->(b)": "only conditions", "(a), () WHERE deg(a) > 1": "only conditions",
		"()-[e:X]->()": "no label", "a": "no pattern or macro", "()-[e*2]->()": "e is not a single data edge", "()-[e]->()-[f]->()": "no ends in common",
		"()-[e]->(), ()-[f]->() ORDERED e < f": "compare times", "()-[e]->(), ()-[f]->() WITHIN 3": "compare times",
		"(a) RETURN a": "leave RETURN out", "INDUCED (a), (b)": "INDUCED is about",
	} {
		if _, err := o.Condition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := o.Between("(a)-->(b)-->(c)"); err == nil || !strings.Contains(err.Error(), "not an edge") {
		t.Errorf("a path: %v", err)
	}
}
