package pattern

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConnectivity(t *testing.T) {
	p := mustEdges(Either, "0-1 1-2 0-2 2-3 4-5")
	if got, want := p.Components(), []int{0, 0, 0, 0, 4, 4}; !slices.Equal(got, want) {
		t.Errorf("components %v, want %v", got, want)
	}
	if p.Connected() {
		t.Error("connected")
	}
	if got, want := p.CutVertices(), []int{2}; !slices.Equal(got, want) {
		t.Errorf("cut vertices %v, want %v", got, want)
	}
	p.Edges[3].Negated = true
	if got := p.CutVertices(); got != nil {
		t.Errorf("with 2-3 negated, cut vertices %v", got)
	}
}

func TestSubPattern(t *testing.T) {
	p := mustEdges(Forward, "0-1 1-2 2-3")
	for i, n := range []string{"e", "f", "g"} {
		p.Edges[i].Name = n
		p.Edges[i].Where = []Expr{Binary{OpGt, Prop{Ref{EdgeRef, i}, "w"}, Lit{int64(1)}}}
	}
	p.Where = []Expr{
		Binary{OpLt, ID{1}, ID{2}},
		Binary{OpLt, ID{0}, ID{2}},
		Binary{OpLt, Prop{Ref{EdgeRef, 1}, "t"}, Prop{Ref{EdgeRef, 2}, "t"}},
	}
	p.Order = &Order{Edges: []int{0, 1, 2}, Within: 7}
	want := "MATCH (v3), (v2)<-[f WHERE f.w > 1]-(v1), (v3)<-[g WHERE g.w > 1]-(v2)" +
		" ORDERED f < g WITHIN 7 WHERE id(v1) < id(v2) AND f.t < g.t"
	if got := Format(p.SubPattern([]int{3, 2, 1})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPermuteKeepsMeaning(t *testing.T) {
	p := mustEdges(Forward, "0-1 1-2")
	p.Where = []Expr{Exists{Sub: mustEdges(Forward, "0-1"), Outer: []int{2}}, AllDifferent{[]Ref{{VertexRef, 0}, {VertexRef, 1}}}}
	q := p.Permute([]int{2, 0, 1})
	if d := cmp.Diff(p, q.Permute([]int{1, 2, 0})); d != "" {
		t.Error(d)
	}
	if got := q.Where[0].(Exists).Outer[0]; got != 1 {
		t.Errorf("outer vertex %d, want 1", got)
	}
}

func TestSubstituteParams(t *testing.T) {
	p := mustEdges(Either, "0-1")
	sub := mustEdges(Either, "0-1")
	sub.Where = []Expr{Binary{OpEq, Prop{Ref{VertexRef, 1}, "x"}, Param{"inner"}}}
	p.Edges[0].Where = []Expr{Binary{OpGt, Prop{Ref{EdgeRef, 0}, "w"}, Param{"min"}}}
	p.Where = []Expr{Binary{OpIn, ID{0}, Param{"ids"}}, Exists{Sub: sub, Outer: []int{0}}}
	if got, want := p.Params(), []string{"min", "ids", "inner"}; !slices.Equal(got, want) {
		t.Errorf("parameters %v, want %v", got, want)
	}
	q, err := SubstituteParams(p, map[string]any{"min": uint8(3), "ids": []int{4, 5}, "inner": "a'b"})
	if err != nil {
		t.Fatal(err)
	}
	want := `MATCH (v0)-[WHERE _.w > 3]-(v1) WHERE id(v0) IN [4, 5] AND EXISTS { (v0)--(v1_2) WHERE v1_2.x = 'a\'b' }`
	if got := Format(q); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(q.Params()) != 0 || len(p.Params()) != 3 {
		t.Error("a parameter is left, or the pattern given was changed")
	}
	_, err = SubstituteParams(p, map[string]any{"min": 1, "ids": nil})
	var missing *MissingParam
	if !errors.As(err, &missing) || missing.Name != "inner" || err.Error() != "no value for parameter $inner" {
		t.Errorf("missing parameter: %v", err)
	}
	if _, err = SubstituteParams(p, map[string]any{"min": struct{}{}}); err == nil || !strings.Contains(err.Error(), "$min") {
		t.Errorf("bad type: %v", err)
	}
}

func TestValidate(t *testing.T) {
	a, b := &Label{Op: LabelName, Name: "A"}, &Label{Op: LabelName, Name: "B"}
	either := &Label{Op: LabelOr, X: a, Y: b}
	edge := func(from, to int, dir Dir, l *Label, not bool) Edge {
		return Edge{From: from, To: to, Dir: dir, Label: l, Negated: not, Min: 1, Max: 1}
	}
	for _, c := range []struct {
		name  string
		edges []Edge
		want  string // part of the message; "" for a valid pattern
	}{
		{"loop", []Edge{edge(0, 0, Forward, nil, false)}, "self-loops"},
		{"end", []Edge{edge(0, 2, Forward, nil, false)}, "not a vertex of the pattern"},
		{"same", []Edge{edge(0, 1, Forward, a, false), edge(0, 1, Forward, a, true)}, "excludes"},
		{"wider not", []Edge{edge(0, 1, Forward, a, false), edge(0, 1, Forward, either, true)}, "excludes"},
		{"any way", []Edge{edge(0, 1, Forward, a, false), edge(1, 0, Either, nil, true)}, "excludes"},
		{"either way", []Edge{edge(0, 1, Either, a, false), edge(1, 0, Either, a, true)}, "excludes"},
		{"narrower not", []Edge{edge(0, 1, Forward, either, false), edge(0, 1, Forward, a, true)}, ""},
		{"other way", []Edge{edge(0, 1, Forward, a, false), edge(1, 0, Forward, a, true)}, ""},
		{"one of two ways", []Edge{edge(0, 1, Either, a, false), edge(0, 1, Forward, a, true)}, ""},
		{"other label", []Edge{edge(0, 1, Forward, a, false), edge(0, 1, Forward, b, true)}, ""},
		{"label", []Edge{edge(0, 1, Forward, &Label{Op: LabelAnd, X: a, Y: &Label{Op: LabelNot, X: either}}, false)}, "A&!(A|B)"},
	} {
		p := shape(2, Either, nil)
		p.Edges = c.edges
		err := p.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := (&Pattern{}).Validate(); err == nil {
		t.Error("the empty pattern is valid")
	}
	if err := shape(33, Either, nil).Validate(); err == nil {
		t.Error("33 vertices are valid")
	}
	nothing := shape(1, Either, nil)
	nothing.Vertices[0].Label = &Label{Op: LabelAnd, X: a, Y: &Label{Op: LabelNot, X: &Label{Op: LabelAny}}}
	if err := nothing.Validate(); err == nil {
		t.Error("A&!% is valid")
	}
}
