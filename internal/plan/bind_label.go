package plan

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// bindLabels gives each vertex the ranges of its label; those of one name share
// theirs.
func (b *binding) bindLabels() {
	// One array for the ranges of all: mostly each has one.
	room := make([]Range, 0, b.n)
next:
	for v := range b.vertices {
		l := b.p.Vertices[v].Label
		if l == nil {
			continue
		}
		for u := range v {
			if k := b.p.Vertices[u].Label; k == l || k != nil && l.Op == pattern.LabelName && k.Op == pattern.LabelName && k.Name == l.Name {
				b.vertices[v].ranges = b.vertices[u].ranges
				continue next
			}
		}
		k := len(room)
		room = b.matching(l, room)
		b.vertices[v].ranges = b.labelRanges(l, room[k:len(room):len(room)])
	}
}

// namesOfLabels warns of names that are labels of the graph: (Person) is any vertex.
func (b *binding) namesOfLabels() {
	const text = "%s is the name of %s here, and a label in the graph: a label is written with a colon, as in %s"
	for _, v := range b.p.Vertices {
		if v.Name != "" && v.Label == nil && slices.Contains(b.g.VertexLabels, v.Name) {
			b.warn(fmt.Sprintf(text, v.Name, "a vertex", "(:"+pattern.QuoteName(v.Name)+")"))
		}
	}
	for _, e := range b.p.Edges {
		if e.Name != "" && e.Label == nil && slices.Contains(b.g.EdgeLabels, e.Name) {
			b.warn(fmt.Sprintf(text, e.Name, "an edge", "-[:"+pattern.QuoteName(e.Name)+"]-"))
		}
	}
}

// labelRanges evaluates a label over the graph's classes, where out are those that
// it matches: nil for every vertex, else sorted disjoint ranges, joined where they touch.
func (b *binding) labelRanges(l *pattern.Label, out []Range) []Range {
	var unknown []string
	if l.Op != pattern.LabelName || len(out) == 0 {
		unknown = b.unknownLabels(l, "vertex", b.g.VertexLabels)
	}
	switch {
	case len(out) == 1 && out[0] == Range{0, uint32(b.g.NumVertices())}:
		return nil
	case len(out) > 0:
		for _, text := range unknown {
			b.warn(text)
		}
	case len(unknown) > 0:
		b.nothing(unknown[0])
	default:
		b.nothing(fmt.Sprintf("no vertex has the label %s", l))
	}
	return out
}

// matching appends the ranges of the classes that l matches.
func (b *binding) matching(l *pattern.Label, out []Range) []Range {
	first := len(out)
	add := func(c *graph.Class) {
		if k := len(out); k > first && out[k-1].End == c.First {
			out[k-1].End = c.End
		} else if c.First < c.End {
			out = append(out, Range{c.First, c.End})
		}
	}
	if l.Op == pattern.LabelName {
		if x, ok := b.g.VertexLabel(l.Name); ok {
			for _, i := range b.g.ClassesWith(x) {
				add(&b.g.Classes[i])
			}
		}
		return out
	}
	where := l.Where(len(b.g.Classes), func(name string) []int {
		if x, ok := b.g.VertexLabel(name); ok {
			return b.g.ClassesWith(x)
		}
		return nil
	}, func(i int) bool { return len(b.g.Classes[i].Labels) > 0 })
	for i := range b.g.Classes {
		if where[i/64]>>(i%64)&1 != 0 {
			add(&b.g.Classes[i])
		}
	}
	return out
}

// unknownLabels describes the names in l that the graph lacks, with what may
// have been meant.
//
// Of many names only the first mostUnknown are described, and the others counted.
func (b *binding) unknownLabels(l *pattern.Label, what string, known []string) (out []string) {
	find := b.g.EdgeLabel
	if what == "vertex" {
		find = b.g.VertexLabel
	}
	more := 0
	l.Names(func(name string) {
		if _, ok := find(name); ok {
			return
		}
		if len(out) == mostUnknown {
			more++
			return
		}
		text := fmt.Sprintf("no %s has the label %s", what, pattern.QuoteName(name))
		switch near := pattern.Suggest(name, known); {
		case near != "":
			text += "; did you mean " + pattern.QuoteName(near) + "?"
		case len(known) == 0:
			text += fmt.Sprintf(": the graph has no %s labels", what)
		}
		out = append(out, text)
	})
	if more > 0 {
		out = append(out, fmt.Sprintf("no %s has any of %d more labels of the pattern", what, more))
	}
	return out
}

// mostUnknown is how many labels that no vertex or edge has are described.
const mostUnknown = 10

// overlap reports whether two label ranges share a vertex; nil is every vertex.
func overlap(x, y []Range) bool {
	if x == nil || y == nil {
		return true
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i].End <= y[j].First:
			i++
		case y[j].End <= x[i].First:
			j++
		default:
			return true
		}
	}
	return false
}

// intersectRanges is the vertices in both; nil is every vertex.
func intersectRanges(x, y []Range) []Range {
	if x == nil {
		return y
	}
	if y == nil {
		return x
	}
	out := []Range{}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		r := Range{max(x[i].First, y[j].First), min(x[i].End, y[j].End)}
		if r.First < r.End {
			out = append(out, r)
		}
		if x[i].End < y[j].End {
			i++
		} else {
			j++
		}
	}
	return out
}
