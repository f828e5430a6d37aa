package main

import (
	"strconv"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/sink"
)

// about answers a command about the graph that has no query, and writes as weft's command of the same name does.
func (s *shell) about(name, rest string) error {
	a := s.a
	f := s.flags()
	if name == ":motifs" {
		k, err := strconv.Atoi(rest)
		if err != nil || k < 3 || k > 5 {
			return usagef(":motifs %s: want a number of vertices from 3 to 5, as :motifs 4", rest)
		}
		f.limit = 0 // of matches
		return a.motifs(&f.graphFlags, &f.commonFlags, k, []weft.Option{weft.WithInduced(true)})
	}
	if rest != "" {
		return usagef("%s %s: %s stands alone", name, rest, name)
	}
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	switch name {
	case ":info":
		err = a.info(&f.graphFlags, &f.commonFlags, out)
	case ":labels":
		err = writeLabels(out, f.outFormat(), a.opened)
	case ":patterns":
		err = writeCatalogue(out, f.outFormat())
	}
	return out.finish(err)
}

// writeLabels writes a row for each label and each property of the graph. A label has the number of vertices or edges with it,
// and a property its type.
func writeLabels(out *output, to string, g *weft.Graph) error {
	type row struct {
		of, kind, name string
		more           any
	}
	var rows []row
	schema := g.Schema()
	vertices, edges := g.LabelCounts()
	add := func(of string, labels []weft.LabelCount, properties []weft.PropertyInfo) {
		for _, l := range labels {
			if l.Label == "" {
				rows = append(rows, row{of, "without a label", "", int64(l.Count)})
				continue
			}
			rows = append(rows, row{of, "label", l.Label, int64(l.Count)})
		}
		for _, p := range properties {
			rows = append(rows, row{of, "property", p.Name, p.Type})
		}
	}
	add("vertices", vertices, schema.VertexProps)
	add("edges", edges, schema.EdgeProps)
	if schema.Times {
		rows = append(rows, row{"edges", "property", "time", "time"})
	}
	return writeRows(out, to, len(rows), []sink.Column{
		column("of", sink.String, func(i int) any { return rows[i].of }),
		column("kind", sink.String, func(i int) any { return rows[i].kind }),
		column("name", sink.String, func(i int) any { return rows[i].name }),
		column("count", sink.Int, func(i int) any {
			if n, ok := rows[i].more.(int64); ok {
				return n
			}
			return nil
		}),
		column("type", sink.String, func(i int) any {
			if t, ok := rows[i].more.(string); ok {
				return t
			}
			return nil
		}),
	})
}

// graph opens another graph in place of the one that is open, with the same flags. If it cannot be read, the old one stays. Without
// a file it says which graph is open.
func (s *shell) graph(path string) error {
	a := s.a
	if path == "" {
		f := s.flags()
		out, err := a.open(f.out, f.timeout)
		if err != nil {
			return err
		}
		g := a.opened
		return out.finish(writeRows(out, f.outFormat(), 1, []sink.Column{
			column("graph", sink.String, func(int) any { return s.f.path }),
			column("vertices", sink.Int, func(int) any { return int64(g.NumVertices()) }),
			column("edges", sink.Int, func(int) any { return int64(g.NumEdges()) }),
			column("directed", sink.Bool, func(int) any { return g.Directed() }),
		}))
	}
	if path == "-" {
		return usagef(":graph -: standard input has the queries: give the graph as a file")
	}
	f := *s.f
	f.path = path
	if err := f.checkWithoutDevices(a.ctx); err != nil { // :to and the graph may be one file
		return err
	}
	if err := keepInputs(a.ctx, f.inputs(), s.out); err != nil {
		return err
	}
	before := a.opened
	a.opened = nil
	g, err := a.load(&f.graphFlags, &f.commonFlags, a.progress(f.progress))
	if err != nil {
		a.opened = before
		return err
	}
	a.opened, a.arrows, s.f.path = g, false, path
	if s.opens != nil {
		s.opens(g)
	}
	return before.Close()
}
