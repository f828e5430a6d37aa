package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/stream"
)

// edgeShare is a flag of a share, as 0.05 or 5%.
type edgeShare struct{ to *float64 }

func (s edgeShare) String() string { return "" }
func (s edgeShare) Type() string   { return "share" }

func (s edgeShare) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x >= 0 && x <= 1) {
		return fmt.Errorf("want a share of the edges, as 0.05 or 5%%")
	}
	*s.to = x
	return nil
}

func (a *app) genStreamCmd() *cobra.Command {
	var g graphFlags
	var f commonFlags
	var o weft.StreamOptions
	var initial, initialTo, arrivals, order, start string
	cmd := &cobra.Command{
		Use:   "stream [-g] FILE --initial FILE [-o FILE] [flags]",
		Short: "make a stream of updates from a graph",
		Long: `Make a stream of updates from a graph. Some edges are drawn to be added and some
to be removed. The graph without the edges to add is written to --initial, and the
updates, in a random order, to -o or standard output. The same graph, flags and
seed give the same output on every machine.

Formats of updates (--to):
  text       + u v [label] [time] and - u v [label] [time]
  rapidflow  e u v label and -e u v label; no times
  ndjson     {"op":"+","u":1,"v":2,"label":"A","time":3,"properties":{}}

If the graph's edges have times, updates have the times of their edges, and
--order time adds the latest edges in the order of their times. Of any other graph
--rate gives the updates times of arrival: Unix times in microseconds.

The papers on GCSM and DCSM use --insert 5% --delete 5% and --insert 45% --delete 5%.

` + exitCodesNoTimeout,
		Example: `  weft gen stream -g graph.txt.gz --initial initial.weft -o updates.txt
  weft gen stream -g graph.weft --insert 45% --delete 5% --initial initial.weft -o updates.ndjson
  weft gen stream -g graph.weft --rate 100000 --arrivals poisson --initial initial.weft -o updates.txt.zst`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.onlyGraph(a.ctx, args); err != nil {
				return err
			}
			given := cmd.Flags().Changed
			if !given("insert") && !given("delete") {
				o.Insert, o.Delete = 0.05, 0.05
			}
			if o.Insert+o.Delete > 1 {
				return usagef("--insert %v and --delete %v: together they are more than all edges", o.Insert, o.Delete)
			}
			switch {
			case given("rate") && !(o.Rate > 0 && o.Rate <= 1e12):
				return usagef("--rate %v: want a number of updates in a second, above 0", o.Rate)
			case !given("rate") && (given("arrivals") || given("batch") || given("start")):
				return usagef("--arrivals, --batch and --start are about times of arrival, which --rate gives")
			case o.Batch < 1:
				return usagef("--batch %d: want a number of updates, 1 or more", o.Batch)
			}
			o.Poisson, o.ByTime = arrivals == "poisson", order == "time"
			if start != "" {
				t, err := time.Parse(time.RFC3339Nano, start)
				if err != nil {
					return usagef("--start %q: want a time such as 2026-01-01T00:00:00Z", start)
				}
				o.Start = t
			}
			out, err := updatesFormat(f.out, f.to)
			if err != nil {
				return err
			}
			if o.Rate > 0 && out == stream.RapidFlow {
				return usagef("--rate: the format rapidflow has no times")
			}
			o.Format = string(out)
			switch {
			case initial == "":
				return usagef("missing: --initial, the file of the graph before the first update; see %s --help", cmd.CommandPath())
			case initial == "-" && (f.out == "" || f.out == "-"):
				return usagef("--initial -: the updates go to standard output; -o names a file for them")
			case initial != "-" && filepath.Clean(initial) == filepath.Clean(f.out):
				return usagef("%s: the initial graph and the updates need a file each", initial)
			}
			if _, err := format.ParseFormat(initialTo); err != nil {
				return usagef("--initial-to: %v%s", err, didYouMean(initialTo, format.Formats()))
			}
			if err := format.CheckOutput(initial, initialTo, o.Initial.Vertices); err != nil {
				return usagef("%v%s", err, extensionMeant(initial))
			}
			if err := checkFiles(a.ctx, initial, f.out, o.Initial.Vertices); err != nil {
				return err
			}
			if err := keepInputs(a.ctx, g.inputs(), initial, f.out, o.Initial.Vertices); err != nil {
				return err
			}
			if _, err := parseBytes(f.memory); err != nil {
				return usagef("--memory: %v", err)
			}
			o.Initial.Format = initialTo
			return a.genStream(&g, &f, initial, o)
		},
	}
	g.add(cmd)
	f.addLoading(cmd)
	fs := cmd.Flags()
	fs.StringVar(&initial, "initial", "", "write the graph before the first update to `FILE`; its name decides the format")
	fs.StringVar(&initialTo, "initial-to", "", "format of the initial graph; default by its name")
	fs.StringVar(&o.Initial.Vertices, "write-vertices", "", "write ids, labels and properties of vertices to `FILE`")
	fs.BoolVar(&o.Initial.AllowLoss, "lossy", false, "write the initial graph without the parts that its format cannot hold")
	fs.VarP(&once{to: &f.out}, "output", "o", "write the updates to `FILE`, which appears when it is complete; default standard output")
	fs.StringVar(&f.to, "to", "", "format of the updates: "+strings.Join(stream.Writable(), ", ")+"; default by the name of -o, else text")
	fs.Var(edgeShare{&o.Insert}, "insert", "`SHARE` of the edges that updates add, as 0.05 or 5%; default 5%, or 0 if --delete is given")
	fs.Var(edgeShare{&o.Delete}, "delete", "`SHARE` of the edges that updates remove; default 5%, or 0 if --insert is given")
	fs.Var(oneOf{&order, []string{"random", "time"}}, "order", "`HOW` to order the edges that are added: random (default) or time")
	fs.Float64Var(&o.Rate, "rate", 0, "give updates times of arrival, `N` in a second on average")
	fs.Var(oneOf{&arrivals, []string{"uniform", "poisson"}}, "arrivals", "`HOW` updates arrive: uniform (default), at equal distances, or poisson")
	fs.IntVar(&o.Batch, "batch", 1, "`N` updates arrive together")
	fs.StringVar(&start, "start", "", "`TIME` from which arrivals are counted; default 2026-01-01T00:00:00Z")
	fs.Uint64Var(&o.Seed, "seed", 0, "seed")
	return cmd
}

// updatesFormat returns the format of updates that --to or the name of a file asks for.
func updatesFormat(name, to string) (stream.Format, error) {
	base, _ := unpacked(name)
	ext := strings.ToLower(filepath.Ext(base))
	says := stream.Lines
	switch other := formatsByName[ext]; {
	case other == "ndjson":
		says = stream.NDJSON
	case other != "" && ext != ".txt" || slices.Contains(foreignNames, ext):
		return "", usagef("%s: updates cannot be written as %s; formats are %s", name, ext[1:], strings.Join(stream.Writable(), ", "))
	}
	if to == "" {
		return says, nil
	}
	f, err := stream.ParseWritable(to)
	switch {
	case err != nil:
		return "", usagef("--to: %v%s", err, didYouMean(to, stream.Writable()))
	case says == stream.NDJSON && f != says:
		return "", usagef("%s is asked for and the name %s says ndjson", to, name)
	}
	return f, nil
}

func (a *app) genStream(g *graphFlags, f *commonFlags, initial string, o weft.StreamOptions) error {
	bar := a.progress(f.progress)
	graph, err := a.load(g, f, bar)
	if err != nil {
		return err
	}
	defer a.done(graph)
	out, err := a.open(f.out, 0)
	if err != nil {
		return err
	}
	o.Initial.Lost, o.Initial.Stdout = a.lost(initial), a.stdout
	o.Initial.Memory, _ = parseBytes(f.memory)
	r, err := graph.WriteStream(a.ctx, initial, out, o)
	if err := out.finish(err); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "weft: %s: %d vertices, %d edges before %d updates, of which %d add an edge and %d remove one\n",
		initial, graph.NumVertices(), graph.NumEdges()-r.Added, r.Added+r.Removed, r.Added, r.Removed)
	return nil
}
