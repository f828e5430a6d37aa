package format

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/graph"
)

// unitAttr is an attribute that weft adds to the key of times: their type, as --columns
// names it.
const unitAttr = "weft.time"

// graphMLTypes are the names of the types of properties.
var graphMLTypes = map[arrow.Type]string{arrow.INT64: "long", arrow.FLOAT64: "double", arrow.BOOL: "boolean", arrow.STRING: "string"}

// graphMLLosses lists the parts of the graph that GraphML cannot hold.
func graphMLLosses(g *graph.Graph, add func(cond bool, format string, a ...any)) {
	add(onlyNumbers(g), "that the vertex ids are text (all are numbers)")
	add(slices.ContainsFunc(g.VertexLabels, func(l string) bool {
		return strings.Contains(l, ";") || strings.HasPrefix(l, ":") || strings.TrimSpace(l) != l || !xmlText(l)
	}), "vertex labels with semicolons, a colon or blanks at an end, or control characters")
	props := func(of string, p arrow.RecordBatch, taken []string) {
		if p == nil {
			return
		}
		for _, f := range p.Schema().Fields() {
			_, typed := graphMLTypes[f.Type.ID()]
			add(!typed, "the type of the %s property %s", of, f.Name)
			add(slices.Contains(taken, f.Name), "the %s property %s, whose name stands for something else", of, f.Name)
			add(!xmlText(f.Name), "the %s property %q, whose name has control characters", of, f.Name)
		}
	}
	props("vertex", g.VertexProps, []string{"labels"})
	if g.Edges != nil {
		props("edge", g.Edges.Props, append([]string{"label"}, graph.TimeNames...))
		_, ok := timeTypeOf(g).name()
		add(g.Edges.Time != nil && !ok, "the unit of the times")
	}
}

// has reports whether there is a property of a name.
func has(p arrow.RecordBatch, name string) bool { return p != nil && p.Schema().HasField(name) }

// onlyNumbers reports whether text ids would be read back as numbers.
func onlyNumbers(g *graph.Graph) bool {
	if g.IDs.Numeric() || g.NumVertices() == 0 {
		return false
	}
	f := newFrame(vertexRole, false)
	c := f.next()
	for v := range uint32(g.NumVertices()) {
		c.num[0] = c.num[0][:0]
		if err := f.id(c, 0, g.IDs.String(v)); err != nil || f.ids == idsText {
			return false
		}
	}
	return true
}

// xmlText reports whether XML can hold a text.
func xmlText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff
	})
}

// xmlWriter writes tags. It keeps the first error.
type xmlWriter struct {
	out io.Writer
	b   bytes.Buffer
	err error
}

// text adds escaped text.
func (x *xmlWriter) text(s string) {
	if !xmlText(s) && x.err == nil {
		x.err = wrapf(ErrLoss, "XML cannot hold a text with control characters: %s", excerpt([]byte(s)))
	}
	_ = xml.EscapeText(&x.b, []byte(s)) // a buffer takes everything
}

// tag adds pieces of text: those at odd places are escaped.
func (x *xmlWriter) tag(pieces ...string) {
	for i, s := range pieces {
		if i%2 == 1 {
			x.text(s)
		} else {
			x.b.WriteString(s)
		}
	}
}

// flush writes the buffered text.
func (x *xmlWriter) flush() error {
	if x.err == nil {
		_, x.err = x.out.Write(x.b.Bytes())
	}
	x.b.Reset()
	return x.err
}

// keys declares the properties.
func (x *xmlWriter) keys(of string, p arrow.RecordBatch) {
	if p == nil {
		return
	}
	for i, f := range p.Schema().Fields() {
		typ := graphMLTypes[f.Type.ID()]
		if typ == "" {
			typ = "string"
		}
		x.tag(fmt.Sprintf("  <key id=\"%c%d\" for=\"%s\" attr.name=\"", of[0], i, of), f.Name, "\" attr.type=\""+typ+"\"/>\n")
	}
}

// data adds the properties of a row.
func (x *xmlWriter) data(of string, p arrow.RecordBatch, row int) {
	if p == nil {
		return
	}
	for i := range int(p.NumCols()) {
		if col := p.Column(i); !col.IsNull(row) {
			x.tag(fmt.Sprintf("<data key=\"%c%d\">", of[0], i), string(appendCell(nil, col, row)), "</data>")
		}
	}
}

// graphML writes GraphML: labels, times and properties are attributes of these names.
func (w *writing) graphML(out io.Writer) error {
	g := w.g
	x := &xmlWriter{out: out}
	x.tag("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n")
	if len(g.VertexLabels) > 0 || has(g.VertexProps, "label") {
		x.tag("  <key id=\"labels\" for=\"node\" attr.name=\"labels\" attr.type=\"string\"/>\n")
	}
	x.keys("node", g.VertexProps)
	e := g.Edges
	var props arrow.RecordBatch
	if e != nil {
		if props = e.Props; e.Label != nil || has(props, "labels") {
			x.tag("  <key id=\"label\" for=\"edge\" attr.name=\"label\" attr.type=\"string\"/>\n")
		}
		if e.Time != nil {
			unit := ""
			if name, _ := timeTypeOf(g).name(); name != "" {
				unit = " " + unitAttr + "=\"" + name + "\""
			}
			x.tag("  <key id=\"time\" for=\"edge\" attr.name=\"time\" attr.type=\"long\"" + unit + "/>\n")
		}
		x.keys("edge", props)
	}
	x.tag("  <graph edgedefault=\"" + map[bool]string{false: "undirected", true: "directed"}[g.Directed] + "\">\n")
	for v := range uint32(g.NumVertices()) {
		if err := w.check(); err != nil {
			return err
		}
		x.tag("    <node id=\"", g.IDs.String(v), "\">")
		if l := w.labelsOf(v); len(l) > 0 {
			x.tag("<data key=\"labels\">", strings.Join(l, ";"), "</data>")
		}
		x.data("node", g.VertexProps, int(v))
		x.tag("</node>\n")
		if err := x.flush(); err != nil {
			return err
		}
	}
	err := w.eachEdge(func(u, v uint32, row int) error {
		x.tag("    <edge source=\"", g.IDs.String(u), "\" target=\"", g.IDs.String(v), "\">")
		if row >= 0 {
			if e.Label != nil && e.Label[row] != graph.NoLabel {
				x.tag("<data key=\"label\">", g.EdgeLabels[e.Label[row]], "</data>")
			}
			if e.Time != nil {
				x.tag(fmt.Sprintf("<data key=\"time\">%d</data>", e.Time[row]))
			}
			x.data("edge", props, row)
		}
		x.tag("</edge>\n")
		return x.flush()
	})
	if err != nil {
		return err
	}
	x.tag("  </graph>\n</graphml>\n")
	return x.flush()
}
