package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/sink"
)

func (a *app) infoCmd() *cobra.Command {
	var g graphFlags
	var f commonFlags
	var catalogue, layouts bool
	cmd := &cobra.Command{
		Use:   "info [-g] FILE [flags] | info --catalogue",
		Short: "describe a graph, or list the named patterns",
		Long: `Describe a graph: size, degrees, labels, properties, components, degeneracy, and
the memory of its parts. --to json shows all of it. With --catalogue, list the
names that --pattern accepts. With --layouts, give the bytes of each edge label's
neighbour lists in five layouts.

` + exitCodesNoTimeout,
		Example: `  weft info graph.txt.gz
  weft info graph.weft --to json
  weft info --layouts graph.weft
  weft info --catalogue`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if catalogue && layouts {
				return usagef("--layouts is about a graph, and --catalogue about none: give one of them")
			}
			if catalogue {
				if err := withoutGraph(cmd, args); err != nil {
					return err
				}
			}
			if err := f.check(a.ctx, a.runtime); err != nil {
				return err
			}
			out, err := a.open(f.out, f.timeout)
			if err != nil {
				return err
			}
			if catalogue {
				return out.finish(writeCatalogue(out, f.outFormat()))
			}
			if err := g.onlyGraph(a.ctx, args); err != nil {
				return err
			}
			if layouts {
				return out.finish(a.layouts(&g, &f, out))
			}
			return out.finish(a.info(&g, &f, out))
		},
	}
	g.add(cmd)
	f.addLoading(cmd)
	f.addWriting(cmd)
	toIs(cmd, "table, json, ndjson, and with --catalogue or --layouts also csv, arrow, parquet")
	cmd.Flags().BoolVar(&layouts, "layouts", false, "give the bytes of each edge label's neighbour lists as queries read them, as CSR, hashed PCSR, interval-PCSR, and interval-PCSR without renumbering instead")
	cmd.Flags().BoolVar(&catalogue, "catalogue", false, "list the named patterns instead")
	return cmd
}

// withoutGraph refuses a graph, and flags about one, beside --catalogue.
func withoutGraph(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("--catalogue is about no graph, and %s was given: leave out one of them", args[0])
	}
	var err error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "catalogue", "output", "to": // and those of all commands
		default:
			if err == nil && cmd.InheritedFlags().Lookup(flag.Name) == nil {
				err = usagef("--catalogue is about no graph, and --%s about one: leave out one of them", flag.Name)
			}
		}
	})
	return err
}

func writeCatalogue(w io.Writer, to string) error {
	entries := weft.Catalogue()
	return writeRows(w, to, len(entries), []sink.Column{
		column("pattern", sink.String, func(i int) any { return entries[i].Usage }),
		column("meaning", sink.String, func(i int) any { return entries[i].Meaning }),
	})
}

// layouts writes the size of each edge label's lists in each layout, and in a table their sums.
func (a *app) layouts(g *graphFlags, f *commonFlags, w io.Writer) error {
	graph, err := a.load(g, f, a.progress(f.progress))
	if err != nil {
		return err
	}
	defer graph.Close()
	sizes, err := graph.Layouts(a.ctx, weft.WithThreads(f.threads))
	if err != nil {
		return err
	}
	if f.outFormat() == "table" {
		sum := weft.LayoutSize{Label: "(all)"}
		for i := range sizes {
			s := &sizes[i]
			if s.Label == "" {
				s.Label = "(none)"
			}
			sum.Edges, sum.Vertices, sum.Runs = sum.Edges+s.Edges, sum.Vertices+s.Vertices, sum.Runs+s.Runs
			sum.Lists, sum.CSR, sum.Hashed, sum.Interval = sum.Lists+s.Lists, sum.CSR+s.CSR, sum.Hashed+s.Hashed, sum.Interval+s.Interval
			sum.Own, sum.OwnRuns = sum.Own+s.Own, sum.OwnRuns+s.OwnRuns
		}
		sizes = append(sizes, sum)
	}
	number := func(name string, value func(*weft.LayoutSize) uint64) sink.Column {
		return column(name, sink.Int, func(i int) any { return int64(value(&sizes[i])) })
	}
	return writeRows(w, f.outFormat(), len(sizes), []sink.Column{
		column("label", sink.String, func(i int) any { return sizes[i].Label }),
		number("edges", func(s *weft.LayoutSize) uint64 { return s.Edges }),
		number("vertices", func(s *weft.LayoutSize) uint64 { return s.Vertices }),
		number("lists", func(s *weft.LayoutSize) uint64 { return s.Lists }),
		number("csr", func(s *weft.LayoutSize) uint64 { return s.CSR }),
		number("hashed_pcsr", func(s *weft.LayoutSize) uint64 { return s.Hashed }),
		number("interval_pcsr", func(s *weft.LayoutSize) uint64 { return s.Interval }),
		number("runs", func(s *weft.LayoutSize) uint64 { return s.Runs }),
		number("own_pcsr", func(s *weft.LayoutSize) uint64 { return s.Own }),
		number("own_runs", func(s *weft.LayoutSize) uint64 { return s.OwnRuns }),
	})
}

func (a *app) info(g *graphFlags, f *commonFlags, w io.Writer) error {
	if f.to != "" && f.to != "table" && f.to != "json" && f.to != "ndjson" {
		return usagef("--to %s: info writes table, json or ndjson", f.to)
	}
	graph, err := a.load(g, f, a.progress(f.progress))
	if err != nil {
		return err
	}
	defer a.closes(graph)
	info, err := graph.Info(a.ctx, weft.WithThreads(f.threads))
	if err != nil {
		return err
	}
	if j := (jsonWriter{w: w, to: f.to}); j.takes() {
		return j.add(info)
	}
	return writeInfo(w, info)
}

// labelsShown is how many labels the table names.
const labelsShown = 20

func writeInfo(w io.Writer, in *weft.Info) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	line := func(name, text string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(text, args...)) }
	direction := "undirected"
	if in.Directed {
		direction = "directed"
	}
	line("graph", "%s", in.Path)
	line("edges are", "%s", direction)
	line("vertices", "%d", in.Vertices)
	line("edges", "%d", in.Edges)
	line("density", "%.3g", in.Density)
	d := in.Degrees
	line("degree", "least %d, mean %.2f, greatest %d", d.MinDegree, d.MeanDegree, d.MaxDegree)
	for i, p := range d.Percentiles {
		name := ""
		if i == 0 {
			name = "degree percentiles"
		}
		line(name, "%g %%: %d", p.Percent, p.Degree)
	}
	line("clustering", "%.4f, about %.0f triangles (estimated from %d wedges)", d.Clustering, d.Triangles, d.Samples)
	line("components", "%d, the largest of %d vertices", in.Components, in.Largest)
	line("degeneracy", "%d", in.Degeneracy)
	labels := func(name string, list []weft.LabelCount) {
		for i, l := range list {
			if i == labelsShown {
				line("", "… and %d more; --to json has all", len(list)-i)
				break
			}
			if l.Label == "" {
				l.Label = "(none)"
			}
			line(name, "%s: %d", l.Label, l.Count)
			name = ""
		}
	}
	labels("vertex labels", in.VertexLabels)
	labels("edge labels", in.EdgeLabels)
	props := func(name string, list []weft.PropertyInfo) {
		for _, p := range list {
			line(name, "%s: %s", p.Name, p.Type)
			name = ""
		}
	}
	props("vertex properties", in.VertexProps)
	props("edge properties", in.EdgeProps)
	if in.Times {
		line("edge times", "yes")
	}
	line("memory", "%d bytes", in.MemoryTotal)
	for _, m := range in.Memory {
		line("", "%s: %d", m.Section, m.Bytes)
	}
	return t.Flush()
}
