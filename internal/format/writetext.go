package format

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/graph"
)

// quoted appends a field, in quotes where a reader would misunderstand it.
func quoted(b, v []byte, sep byte) ([]byte, error) {
	need := len(v) > 0 && (v[0] == '#' || v[0] == '%' || v[0] == ' ' || v[len(v)-1] == ' ' || v[0] == '\t' || v[len(v)-1] == '\t')
	for _, c := range v {
		switch {
		case c == '\n' || c == '\r':
			return b, wrapf(ErrLoss, "a text edge list cannot hold %s: it has a line break", excerpt(v))
		case c < ' ' && c != '\t' || c == 0x7f:
			return b, wrapf(ErrLoss, "a text edge list cannot hold %s: it has control characters", excerpt(v))
		case c == sep || c == '"':
			need = true
		}
	}
	if !need {
		return append(b, v...), nil
	}
	b = append(b, '"')
	for _, c := range v {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"'), nil
}

// columnsOf names the columns of the edge table with their types, which a reader
// would have to guess from the values.
func columnsOf(g *graph.Graph) []string {
	names := []string{"src", "dst"}
	if !g.IDs.Numeric() {
		names = []string{"src:string", "dst:string"}
	}
	e := g.Edges
	if e == nil {
		return names
	}
	if e.Label != nil {
		names = append(names, "label")
	}
	if e.Time != nil {
		names = append(names, timeColumn(g))
	}
	if e.Props != nil {
		names = append(names, propColumns(e.Props.Schema())...)
	}
	return names
}

func propColumns(sc *arrow.Schema) (names []string) {
	for _, f := range sc.Fields() {
		t, _ := textType(f.Type)
		names = append(names, f.Name+":"+propNames[t])
	}
	return names
}

// textType is the type of a property column in a text; exact is false where that
// is text for want of a better one.
func textType(t arrow.DataType) (_ propType, exact bool) {
	for i, at := range arrowTypes {
		if arrow.TypeEqual(at, t) {
			return propType(i), true
		}
	}
	return propString, false
}

func checkNames(names []string) error {
	for _, n := range names {
		if strings.ContainsAny(n, ",\r\n\t\"") {
			return wrapf(ErrLoss, "a text edge list cannot hold a column named %q", n)
		}
	}
	return nil
}

// edgeList writes a table with a header (CSV), or tab-separated lines after a
// comment that a reader of weft's understands.
func (w *writing) edgeList(out io.Writer) error {
	g := w.g
	sep := byte('\t')
	names := columnsOf(g)
	if err := checkNames(names); err != nil {
		return err
	}
	if w.variant == "csv" {
		sep = ','
		if !g.Directed { // names that say no direction
			for i, name := range []string{"node1", "node2"} {
				_, t, _ := strings.Cut(names[i], ":")
				names[i] = strings.TrimSuffix(name+":"+t, ":")
			}
		}
		fmt.Fprintf(out, "%s\n", strings.Join(names, ","))
	} else {
		d := "undirected"
		if g.Directed {
			d = "directed"
		}
		fmt.Fprintf(out, "# weft edge list: %s, columns %s\n", d, strings.Join(names, ","))
	}
	var b, cell []byte
	return w.eachEdge(func(u, v uint32, row int) (err error) {
		b = b[:0]
		if b, err = quoted(b, g.IDs.Append(cell[:0], u), sep); err != nil {
			return err
		}
		b = append(b, sep)
		if b, err = quoted(b, g.IDs.Append(cell[:0], v), sep); err != nil {
			return err
		}
		if row >= 0 {
			e := g.Edges
			if e.Label != nil {
				b = append(b, sep)
				if l := e.Label[row]; l != graph.NoLabel {
					if b, err = quoted(b, []byte(g.EdgeLabels[l]), sep); err != nil {
						return err
					}
				}
			}
			if e.Time != nil {
				b = strconv.AppendInt(append(b, sep), e.Time[row], 10)
			}
			if b, err = w.cells(b, e.Props, row, sep); err != nil {
				return err
			}
		}
		b = append(b, '\n')
		_, err = out.Write(b)
		return err
	})
}

func (w *writing) cells(b []byte, p arrow.RecordBatch, row int, sep byte) (_ []byte, err error) {
	if p == nil {
		return b, nil
	}
	var cell []byte
	for i := range int(p.NumCols()) {
		cell = appendCell(cell[:0], p.Column(i), row)
		if b, err = quoted(append(b, sep), cell, sep); err != nil {
			return b, err
		}
	}
	return b, nil
}

// vertexText writes a table of the vertices: id, labels between semicolons,
// properties.
func (w *writing) vertexText(out io.Writer, variant string) error {
	g := w.g
	sep := byte('\t')
	if variant == "csv" {
		sep = ','
	}
	names := []string{"id", "labels"}
	if !g.IDs.Numeric() {
		names[0] = "id:string"
	}
	if g.VertexProps != nil {
		names = append(names, propColumns(g.VertexProps.Schema())...)
	}
	if err := checkNames(names); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", strings.Join(names, string(sep)))
	for v := range uint32(g.NumVertices()) {
		if err := w.check(); err != nil {
			return err
		}
		b, err := quoted(nil, g.IDs.Append(nil, v), sep)
		if err != nil {
			return err
		}
		l := strings.Join(w.labelsOf(v), ";")
		if strings.Count(l, ";") != max(0, len(w.labelsOf(v))-1) {
			return wrapf(ErrLoss, "a text table cannot hold a label with a semicolon: %q", l)
		}
		if b, err = quoted(append(b, sep), []byte(l), sep); err != nil {
			return err
		}
		if b, err = w.cells(b, g.VertexProps, int(v), sep); err != nil {
			return err
		}
		if _, err := out.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) labelsOf(v uint32) []string {
	var l []string
	for _, i := range w.g.Classes[w.g.ClassOf(v)].Labels {
		l = append(l, w.g.VertexLabels[i])
	}
	return l
}

// gapbsText writes .el and .wel, which have no comments. Text ids become ranks. The first line
// is turned where a reader could take it for the numbers of vertices and edges.
func (w *writing) gapbsText(out io.Writer, weighted bool) error {
	id := func(v uint32) int64 { return w.g.IDs.Int(v) }
	if !w.g.IDs.Numeric() {
		order, _ := denseIDs(w.g, 0)
		pos := ranks(order)
		id = func(v uint32) int64 { return int64(pos[v]) }
	}
	var b []byte
	first, below := !w.g.Directed, int64(w.g.NumEdges())-1
	return w.eachEdge(func(u, v uint32, row int) error {
		if first && id(v) == below {
			u, v = v, u
		}
		first = false
		b = append(strconv.AppendInt(b[:0], id(u), 10), ' ')
		b = strconv.AppendInt(b, id(v), 10)
		if weighted {
			b = strconv.AppendInt(append(b, ' '), w.weight(row), 10)
		}
		_, err := out.Write(append(b, '\n'))
		return err
	})
}

// weight is the integer weight of an edge, 1 where there is none.
func (w *writing) weight(row int) int64 {
	if row >= 0 && w.g.Edges.Props != nil && onlyWeightName(w.g) {
		if c := w.g.Edges.Props.Column(0); c.IsValid(row) {
			if x, err := cellsOf(c).int(row); err == nil && arrow.IsInteger(c.DataType().ID()) {
				return x
			}
		}
	}
	return 1
}

func onlyWeightName(g *graph.Graph) bool {
	p := g.Edges.Props
	return p != nil && p.NumCols() == 1 && p.Schema().Field(0).Name == "weight"
}

// mtx writes a coordinate matrix: general for a directed graph, symmetric (the
// lower triangle) for an undirected one.
func (w *writing) mtx(out io.Writer) error {
	g := w.g
	order, _ := denseIDs(g, 1)
	pos := ranks(order)
	kind, sym := "pattern", "symmetric"
	if g.Directed {
		sym = "general"
	}
	valued := g.Edges != nil && g.Edges.Props != nil && onlyWeight(g, false)
	if valued {
		kind = "real"
		if g.Edges.Props.Column(0).DataType().ID() == arrow.INT64 {
			kind = "integer"
		}
	}
	fmt.Fprintf(out, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", kind, sym, len(order), len(order), g.NumEdges())
	var b []byte
	return w.eachEdge(func(u, v uint32, row int) error {
		i, j := pos[u]+1, pos[v]+1
		if !g.Directed && i < j {
			i, j = j, i
		}
		b = strconv.AppendUint(b[:0], uint64(i), 10)
		b = strconv.AppendUint(append(b, ' '), uint64(j), 10)
		if valued {
			b = appendCell(append(b, ' '), g.Edges.Props.Column(0), row)
		}
		_, err := out.Write(append(b, '\n'))
		return err
	})
}

// tve writes the dialect `t N M`, `v id label degree`, `e u v [label]`. A
// vertex without a label gets 0, one with several the first.
func (w *writing) tve(out io.Writer) error {
	g := w.g
	order, _ := denseIDs(g, 0)
	pos := ranks(order)
	fmt.Fprintf(out, "t %d %d\n", len(order), g.NumEdges())
	for i, v := range order {
		if err := w.check(); err != nil {
			return err
		}
		label := "0"
		if l := w.labelsOf(v); len(l) > 0 {
			label = strings.Join(strings.Fields(l[0]), "_")
		}
		if _, err := fmt.Fprintf(out, "v %d %s %d\n", i, label, g.Degree(v)); err != nil {
			return err
		}
	}
	var b []byte
	return w.eachEdge(func(u, v uint32, row int) error {
		b = strconv.AppendUint(append(b[:0], "e "...), uint64(pos[u]), 10)
		b = strconv.AppendUint(append(b, ' '), uint64(pos[v]), 10)
		if row >= 0 && g.Edges.Label != nil && g.Edges.Label[row] != graph.NoLabel {
			b = append(append(b, ' '), strings.Join(strings.Fields(g.EdgeLabels[g.Edges.Label[row]]), "_")...)
		}
		_, err := out.Write(append(b, '\n'))
		return err
	})
}

// sortedRow returns the neighbours of v as ranks in a file, sorted.
func sortedRow(buf []uint32, list []uint32, pos []uint32) []uint32 {
	buf = buf[:0]
	for _, u := range list {
		buf = append(buf, pos[u])
	}
	slices.Sort(buf)
	return buf
}
