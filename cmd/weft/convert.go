package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/format"
)

func (a *app) convertCmd() *cobra.Command {
	var g graphFlags
	var f commonFlags
	var lossy bool
	var vertices string
	cmd := &cobra.Command{
		Use:   "convert [-g] IN [-o] OUT [flags]",
		Short: "read a graph and write it in another format",
		Long: `Read a graph and write it in another format. The name of OUT, or --to, says which.
FILE.weft is weft's own format: it is verified when it is first opened, and then
opens in milliseconds. A format that cannot hold all of the graph is refused,
unless --lossy is given.

Formats to write: ` + strings.Join(format.Writable(), ", ") + `;
.gz and .zst compress text. It reads gml and networkx as well.
- reads standard input and writes standard output.

` + exitCodesNoTimeout,
		Example: `  weft convert graph.txt.gz graph.weft
  weft convert -g graph.txt.gz -o graph.weft
  weft convert --directed --columns src,dst,_,time events.tsv events.parquet
  zcat edges.gz | weft convert --format edgelist - - --to mtx > edges.mtx`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.path == "" && len(args) > 0 {
				g.path, args = args[0], args[1:]
			}
			out := f.out
			if f.out = ""; out == "" && len(args) > 0 {
				out, args = args[0], args[1:]
			}
			switch {
			case len(args) > 0:
				return usagef("unexpected argument %q; see %s --help", args[0], cmd.CommandPath())
			case g.path == "":
				return usagef("missing: IN, the file of a graph, and OUT, the file to write; see %s --help", cmd.CommandPath())
			case out == "":
				return usagef("missing: OUT, the file to write; see %s --help", cmd.CommandPath())
			}
			to := f.to
			f.to = ""
			if err := f.check(a.ctx, a.runtime); err != nil {
				return err
			}
			if _, err := format.ParseFormat(to); err != nil {
				return usagef("--to: %v%s", err, didYouMean(to, format.Formats()))
			}
			if err := format.CheckOutput(out, to, vertices); err != nil {
				return usagef("%v%s", err, extensionMeant(out))
			}
			if err := checkFiles(a.ctx, out, vertices); err != nil {
				return err
			}
			bar := a.progress(f.progress)
			graph, err := a.load(&g, &f, bar)
			if err != nil {
				return err
			}
			defer graph.Close()
			memory, _ := parseBytes(f.memory)
			return graph.Write(a.ctx, out, weft.WriteOptions{Format: to, AllowLoss: lossy, Lost: a.lost(out), Vertices: vertices, Stdout: a.stdout, Memory: memory})
		},
	}
	g.add(cmd)
	f.addLoading(cmd)
	cmd.Flags().VarP(&once{to: &f.out}, "output", "o", "write to `FILE`; without -o the last argument is the file")
	cmd.Flags().StringVar(&f.to, "to", "", "format of OUT; default by its name")
	cmd.Flags().BoolVar(&lossy, "lossy", false, "write the file without the parts that its format cannot hold")
	cmd.Flags().StringVar(&vertices, "write-vertices", "", "write ids, labels and properties of vertices to `FILE`")
	return cmd
}

// lost writes to standard error which parts the format of a graph's file leaves out.
func (a *app) lost(file string) func(what string) {
	if file == "-" {
		file = "standard output"
	}
	return func(what string) { fmt.Fprintf(a.stderr, "weft: %s: %s\n", file, what) }
}
