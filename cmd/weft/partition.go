package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/graph/partition"
	"github.com/weftgraph/weft/internal/sink"
)

func (a *app) partitionCmd() *cobra.Command {
	var g graphFlags
	var f commonFlags
	var parts int
	var method string
	var imbalance float64
	var sizes bool
	cmd := &cobra.Command{
		Use:   "partition [-g] FILE -k PARTS [flags]",
		Short: "cut a graph into parts with few edges between them",
		Long: `Cut the vertices of a graph into parts with few edges between them, and write the
part of each vertex. Parts have about the same bytes of neighbour lists. Directions
of edges do not matter. With --sizes, write the size of each part instead: its
vertices, the pairs of neighbours inside it, those with one neighbour in it, and
the bytes of its neighbour lists.

The partition of a .weft file is kept in the folder FILE.weft.parts, and read there
the next time. You may remove the folder at any time.

` + exitCodesNoTimeout,
		Example: `  weft partition -g graph.weft -k 8 -o parts.csv
  weft partition graph.weft -k 8 --sizes
  weft partition graph.weft -k 8 --method metis --imbalance 0.01 --sizes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.onlyGraph(a.ctx, args); err != nil {
				return err
			}
			if !cmd.Flags().Changed("parts") {
				return usagef("missing: -k, the number of parts; see %s --help", cmd.CommandPath())
			}
			m, err := partition.ParseMethod(method)
			if err != nil {
				return usagef("--method: %v", err)
			}
			if err := (&partition.Options{Method: m, Parts: parts, Slack: imbalance}).Check(); err != nil {
				return usagef("%v", err)
			}
			if err := f.check(a.ctx, a.runtime); err != nil {
				return err
			}
			out, err := a.open(f.out, f.timeout)
			if err != nil {
				return err
			}
			return out.finish(a.partition(&g, &f, parts, sizes, []weft.Option{weft.WithPartitioner(method), weft.WithImbalance(imbalance)}, out))
		},
	}
	g.add(cmd)
	f.addLoading(cmd)
	f.addWriting(cmd)
	fs := cmd.Flags()
	fs.IntVarP(&parts, "parts", "k", 0, "number of parts")
	fs.StringVar(&method, "method", "auto", "how the parts are found: builtin; metis, which needs the library METIS 5; auto is builtin")
	fs.Float64Var(&imbalance, "imbalance", partition.DefaultSlack, "share by which a part may have more bytes than the mean; a vertex is never divided")
	fs.Uint64Var(&f.seed, "seed", 0, "seed of the method builtin")
	fs.BoolVar(&sizes, "sizes", false, "write the size of each part instead of the part of each vertex")
	return cmd
}

// partition writes the parts, and to standard error how good they are.
func (a *app) partition(g *graphFlags, f *commonFlags, parts int, sizes bool, options []weft.Option, w io.Writer) error {
	graph, err := a.load(g, f, a.progress(f.progress))
	if err != nil {
		return err
	}
	defer graph.Close()
	p, err := graph.Partition(a.ctx, parts, append(options, weft.Concerning("Graph.Partition", f.options()...)...)...)
	if err != nil {
		return err
	}
	for _, n := range p.Notes {
		fmt.Fprintf(a.stderr, "weft: %s\n", n)
	}
	if !sizes {
		err = p.Write(w, f.outFormat())
	} else {
		number := func(name string, value func(*weft.PartSize) uint64) sink.Column {
			return column(name, sink.Int, func(i int) any { return int64(value(&p.Parts[i])) })
		}
		err = writeRows(w, f.outFormat(), len(p.Parts), []sink.Column{
			column("part", sink.Int, func(i int) any { return int64(i) }),
			number("vertices", func(s *weft.PartSize) uint64 { return s.Vertices }),
			number("inside", func(s *weft.PartSize) uint64 { return s.Inside }),
			number("cross", func(s *weft.PartSize) uint64 { return s.Cross }),
			number("bytes", func(s *weft.PartSize) uint64 { return s.Bytes }),
		})
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "weft: %d of %d edges are between parts, and the largest part has %.3f times the mean of bytes\n", p.Cut, p.Pairs, p.Balance)
	return nil
}
