package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/format"
)

func (a *app) convertCmd() *cobra.Command {
	var g graphFlags
	var f commonFlags
	var lossy bool
	var vertices string
	cmd := &cobra.Command{
		Use:   "convert IN OUT [flags]",
		Short: "read a graph and write it in another format",
		Long: `Read a graph and write it in another format, by the name of OUT or --to. FILE.weft
is weft's own form: it opens in milliseconds and is checked. A format that cannot
hold all of the graph is refused unless --lossy.

Formats: ` + strings.Join(format.Formats(), ", ") + `; .gz and .zst compress text.
- reads standard input and writes standard output.

` + exitCodesHelp,
		Example: `  weft convert graph.txt.gz graph.weft
  weft convert --directed --columns src,dst,_,time events.tsv events.parquet
  zcat edges.gz | weft convert --format edgelist - - --to mtx > edges.mtx`,
		Args: takes("IN, the file of a graph", "OUT, the file to write"),
		RunE: func(cmd *cobra.Command, args []string) error {
			to := f.to
			f.to = ""
			if err := f.check(a.ctx); err != nil {
				return err
			}
			if _, err := format.ParseFormat(to); err != nil {
				return usagef("--to: %v", err)
			}
			if err := format.CheckOutput(args[1], to, vertices); err != nil {
				return usagef("%v", err)
			}
			if err := checkFiles(args[1], vertices); err != nil {
				return err
			}
			g.path = args[0]
			bar := a.progress(f.progress)
			graph, err := a.load(&g, &f, bar)
			if err != nil {
				return err
			}
			defer graph.Close()
			return graph.Write(a.ctx, args[1], weft.WriteOptions{Format: to, AllowLoss: lossy, Lost: a.lost(args[1]), Vertices: vertices, Stdout: a.stdout})
		},
	}
	g.addReading(cmd)
	f.addLoading(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var none *pflag.NotExistError
		if errors.As(err, &none) && none.GetSpecifiedName() == "o" {
			return usagef("there is no -o: the file to write is the second argument; see %s --help", cmd.CommandPath())
		}
		return cmd.Parent().FlagErrorFunc()(cmd, err)
	})
	cmd.Flags().StringVar(&f.to, "to", "", "format of OUT; default by its name")
	cmd.Flags().BoolVar(&lossy, "lossy", false, "write even what the format cannot hold")
	cmd.Flags().StringVar(&vertices, "write-vertices", "", "write ids, labels and properties of vertices to `FILE`")
	return cmd
}

// lost says on standard error what the format of a graph's file leaves out.
func (a *app) lost(file string) func(what string) {
	if file == "-" {
		file = "standard output"
	}
	return func(what string) { fmt.Fprintf(a.stderr, "weft: %s: %s\n", file, what) }
}
