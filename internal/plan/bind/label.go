package bind

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// bindLabels gives each vertex the ranges of its label. Vertices with the same label share one
// slice.
func (b *Binding) bindLabels() {
	// One array for the ranges of all: mostly each has one.
	room := make([]plan.Range, 0, b.N)
next:
	for v := range b.Vertices {
		l := b.Pattern.Vertices[v].Label
		if l == nil {
			continue
		}
		for u := range v {
			if k := b.Pattern.Vertices[u].Label; k == l || k != nil && l.Op == pattern.LabelName && k.Op == pattern.LabelName && k.Name == l.Name {
				b.Vertices[v].Ranges = b.Vertices[u].Ranges
				continue next
			}
		}
		k := len(room)
		room = b.matching(l, room)
		b.Vertices[v].Ranges = b.labelRanges(l, room[k:len(room):len(room)])
	}
}

// namesOfLabels warns of names that are labels of the graph: (Person) is any vertex.
func (b *Binding) namesOfLabels() {
	const text = "%s is the name of %s here, and a label in the graph: a label is written with a colon, as in %s"
	for _, v := range b.Pattern.Vertices {
		if v.Name != "" && v.Label == nil && slices.Contains(b.Graph.VertexLabels, v.Name) {
			b.warn(fmt.Sprintf(text, v.Name, "a vertex", "(:"+pattern.QuoteName(v.Name)+")"))
		}
	}
	for _, e := range b.Pattern.Edges {
		if e.Name != "" && e.Label == nil && slices.Contains(b.Graph.EdgeLabels, e.Name) {
			b.warn(fmt.Sprintf(text, e.Name, "an edge", "-[:"+pattern.QuoteName(e.Name)+"]-"))
		}
	}
}

// labelRanges evaluates a label over the graph's classes, where out are those that
// it matches: nil for every vertex, else sorted disjoint ranges, joined where they touch.
func (b *Binding) labelRanges(l *pattern.Label, out []plan.Range) []plan.Range {
	var unknown []string
	if l.Op != pattern.LabelName || len(out) == 0 {
		unknown = b.unknownLabels(l, "vertex", b.Graph.VertexLabels)
	}
	switch {
	case len(out) == 1 && out[0] == plan.Range{First: 0, End: uint32(b.Graph.NumVertices())}:
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
func (b *Binding) matching(l *pattern.Label, out []plan.Range) []plan.Range {
	first := len(out)
	add := func(c *graph.Class) {
		if k := len(out); k > first && out[k-1].End == c.First {
			out[k-1].End = c.End
		} else if c.First < c.End {
			out = append(out, plan.Range{First: c.First, End: c.End})
		}
	}
	if l.Op == pattern.LabelName {
		if x, ok := b.Graph.VertexLabel(l.Name); ok {
			for _, i := range b.Graph.ClassesWith(x) {
				add(&b.Graph.Classes[i])
			}
		}
		return out
	}
	where := l.Where(len(b.Graph.Classes), func(name string) []int {
		if x, ok := b.Graph.VertexLabel(name); ok {
			return b.Graph.ClassesWith(x)
		}
		return nil
	}, func(i int) bool { return len(b.Graph.Classes[i].Labels) > 0 })
	for i := range b.Graph.Classes {
		if where[i/64]>>(i%64)&1 != 0 {
			add(&b.Graph.Classes[i])
		}
	}
	return out
}

// unknownLabels describes the names in l that the graph lacks, and suggests similar ones.
//
// It describes the first mostUnknown names, and counts the rest.
func (b *Binding) unknownLabels(l *pattern.Label, what string, known []string) (out []string) {
	find := b.Graph.EdgeLabel
	if what == "vertex" {
		find = b.Graph.VertexLabel
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
