package main

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench"
	"github.com/weftgraph/weft/internal/bench/papers"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
)

// benchAblationFlags are the flags of bench ablation.
type benchAblationFlags struct {
	graphFlags
	commonFlags
	graphs, experiments, queries []string
	system                       string
	runs, warmup                 int
}

func (a *app) benchAblationCmd() *cobra.Command {
	var f benchAblationFlags
	cmd := &cobra.Command{
		Use:   "ablation --system NAME -g FILE [-g FILE]... [flags]",
		Short: "repeat the experiments of a system's paper, one technique after the other",
		Long: `Count the queries of a paper's tables and figures in which one technique after the
other is switched on, with the techniques as switches of weft. The versions of one
query take turns and must give the same count; one that differs is marked, and the
exit code is 1. Each query's rows are written as soon as they are measured. The
paper measured other graphs on another GPU, and at times other queries, so compare
gains and not times.

Experiments (--system, --experiment):
` + experimentsHelp() + `
Columns:
  gain         the time of the version that the paper compares with, divided by that of
               this one
  gain_first   the same for the experiment's first version
  paper        what the paper has for gain, or for idle in tables of idle threads
  idle         the share of the steps of threads that had no work, where it is counted
  steals_block, steals_grid
               how often a warp stole from its block, and from another one
  occupancy    of programs, the share of the device's warps that had work
  device_bytes memory on the device besides the graph: stacks, pools and tables

Queries with labels get those of the graph's vertices, drawn at random: --seed.

` + exitCodesHelp,
		Example: `  weft bench ablation --system stmatch -g labelled.weft --experiment 'Figure 12'
  weft bench ablation --system gmatch -g a.weft -g b.weft --runs 5 --to ndjson`,
		Args: takes(),
		RunE: func(*cobra.Command, []string) error { return a.benchAblation(&f) },
	}
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.graphs, "graph", "g", nil, "graph `FILE` (repeatable)")
	f.graphFlags.addReading(cmd)
	f.addLoading(cmd)
	f.addWriting(cmd)
	fs.StringVar(&f.system, "system", "", "system whose paper it is: "+strings.Join(papers.Systems(), ", "))
	fs.StringArrayVar(&f.experiments, "experiment", nil, "`NAME` of a table or figure (repeatable; default: all of the system)")
	fs.StringArrayVar(&f.queries, "query", nil, "`NAME` of a query of the experiments (repeatable; default: all)")
	fs.StringVar(&f.device, "device", "gpu:0", "device of the versions that run on GPUs: gpu:0, or several as gpu:0,1")
	fs.Uint64Var(&f.seed, "seed", 0, "seed of the labels of queries")
	fs.DurationVar(&f.timeout, "timeout", 0, "give up a run after this long (30s, 5m); reading the graph may take as long too")
	fs.IntVar(&f.runs, "runs", 3, "measured runs of each version")
	fs.IntVar(&f.warmup, "warmup", 1, "runs before the measured ones")
	return cmd
}

func experimentsHelp() string {
	var b strings.Builder
	for _, system := range papers.Systems() {
		all, _ := papers.Of(system, nil)
		for _, e := range all {
			fmt.Fprintf(&b, "  %-8s %-21s %s\n", system, e.Name, e.What)
		}
	}
	return b.String()
}

// ablationRow is a row of the output.
type ablationRow struct {
	graph, query string
	e            *papers.Experiment
	version      *papers.Version
	at           int // number of the query
	gain, first  float64
	in           map[string]any // of a program
	meters       *weft.Meters
	use          weft.MatchaUse
	bench.Row
}

func (a *app) benchAblation(f *benchAblationFlags) error {
	a.answers = true
	if f.system == "" {
		return usagef("name the paper's system: --system %s", strings.Join(papers.Systems(), ", "))
	}
	if !slices.Contains(papers.Systems(), f.system) {
		return usagef("--system %s: want one of %s%s", f.system, strings.Join(papers.Systems(), ", "), didYouMean(f.system, papers.Systems()))
	}
	if f.runs < 1 || f.warmup < 0 {
		return usagef("--runs must be at least 1, and --warmup at least 0")
	}
	if len(f.graphs) == 0 {
		return usagef("no graph: give a file with -g")
	}
	experiments, err := papers.Of(f.system, f.experiments)
	if err != nil {
		return usagef("--experiment: %v", err)
	}
	for _, q := range f.queries {
		if !slices.ContainsFunc(experiments, func(e papers.Experiment) bool { return slices.Contains(e.Queries, q) }) {
			return usagef("--query %s: none of the experiments has it", q)
		}
	}
	f.engine = "auto"
	switch i := slices.IndexFunc(experiments, onDevice); {
	case i < 0:
		f.device = "cpu"
	case !strings.HasPrefix(f.device, "gpu"):
		return usagef("--device %s: versions of %s run on GPUs", f.device, experiments[i].Name)
	}
	if err := f.check(a.ctx, a.runtime); err != nil {
		return err
	}
	var rows []*ablationRow
	err = a.streamRows(f.out, f.outFormat(), 0, ablationColumns(&rows), func(upTo func(n int) error) error {
		return a.ablations(f, experiments, &rows, upTo)
	})
	if err != nil {
		return err
	}
	return a.ablationEnd(rows)
}

// onDevice reports whether a version of an experiment runs on a GPU.
func onDevice(e papers.Experiment) bool {
	return !e.Programs || slices.ContainsFunc(e.Versions, func(v papers.Version) bool { return strings.HasPrefix(v.Settings, "cuda") })
}

// ablations measures all queries of all graphs, and tells upTo the number of rows after each.
func (a *app) ablations(f *benchAblationFlags, experiments []papers.Experiment, rows *[]*ablationRow, upTo func(n int) error) error {
	for _, path := range f.graphs {
		f.path = path
		g, err := a.load(&f.graphFlags, &f.commonFlags, a.progress(f.progress))
		if err != nil {
			return err
		}
		defer g.Close()
		for i := range experiments {
			e := &experiments[i]
			labels, _ := g.LabelCounts()
			switch {
			case e.Labels && len(labels) == 0 && !e.Programs:
				fmt.Fprintf(a.stderr, "weft: %s: its vertices have no labels, so the queries of %s have none\n", path, e.Name)
			case e.Labels && len(labels) == 0:
				fmt.Fprintf(a.stderr, "weft: %s: its vertices have no labels, so %s is left out\n", path, e.Name)
				continue
			case e.Times && !(g.Directed() && g.Schema().Times):
				fmt.Fprintf(a.stderr, "weft: %s: its edges have no direction and time, so %s is left out\n", path, e.Name)
				continue
			}
			for at, name := range e.Queries {
				if len(f.queries) > 0 && !slices.Contains(f.queries, name) {
					continue
				}
				if a.ctx.Err() != nil {
					return nil // what was measured is written
				}
				more, err := f.measure(a.ctx, g, e, at)
				if err != nil {
					return err
				}
				*rows = append(*rows, more...)
				if err := upTo(len(*rows)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// measure lets the versions of an experiment count one query in turns.
func (f *benchAblationFlags) measure(ctx context.Context, g *weft.Graph, e *papers.Experiment, at int) (rows []*ablationRow, err error) {
	var all []bench.Contestant
	in, err := f.inputs(ctx, g, e, at)
	if err != nil {
		return nil, err
	}
	for i := range e.Versions {
		v := &e.Versions[i]
		if v.Devices > f.gpus() {
			continue // versions of more GPUs than the command names come last
		}
		r := &ablationRow{graph: f.path, query: e.Queries[at], e: e, version: v, at: at}
		rows = append(rows, r)
		c := bench.Contestant{Name: v.Name}
		if e.Programs {
			r.in = in
			c.Run, err = f.program(g, e.Queries[at], v, r)
		} else {
			c.Run, err = f.count(g, e, at, v, r)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	for i, m := range bench.Measure(ctx, all, f.warmup, f.runs) {
		r := rows[i]
		r.Row = m
		gain := func(than int) float64 {
			if than < 0 || rows[than].Median == 0 || r.Median == 0 {
				return 0
			}
			return float64(rows[than].Median) / float64(r.Median)
		}
		r.gain = gain(r.version.Than)
		if i > 0 {
			r.first = gain(0)
		}
	}
	for _, r := range rows {
		if e.Programs && r.Err == nil && strings.HasPrefix(r.version.Settings, "cuda") {
			f.lanes(ctx, g, r)
		}
	}
	return rows, nil
}

// count is the run of a version that counts a pattern.
func (f *benchAblationFlags) count(g *weft.Graph, e *papers.Experiment, at int, v *papers.Version, r *ablationRow) (func(context.Context) (bench.Sample, error), error) {
	q, err := f.queryOf(g, e, at)
	if err != nil {
		return nil, err
	}
	variants, err := parseVariants([]string{v.Name + ":" + v.Settings}, "")
	if err != nil {
		return nil, err
	}
	options := append(f.commonFlags.options(), variants[0].options...)
	if v.Devices > 0 {
		options = append(options, weft.WithDevice("gpu:"+strings.Join(f.devices()[:v.Devices], ",")))
	}
	return func(ctx context.Context) (bench.Sample, error) {
		ctx, cancel := f.within(ctx)
		defer cancel()
		x, err := g.Count(ctx, q, weft.Concerning("Graph.Count", options...)...)
		if err != nil {
			return bench.Sample{}, err
		}
		r.meters = x.Meters
		return bench.Sample{Took: x.Search, Plan: x.Plan, Prepare: x.Prepare, Answer: x.Embeddings.String()}, nil
	}, nil
}

// program is the run of a version that runs a program of the library.
func (f *benchAblationFlags) program(g *weft.Graph, name string, v *papers.Version, r *ablationRow, more ...weft.Option) (func(context.Context) (bench.Sample, error), error) {
	e := programNamed(cmp.Or(v.Program, name))
	target, schedule, _ := strings.Cut(v.Settings, ":")
	m := &benchMatchaFlags{commonFlags: f.commonFlags, passes: cmp.Or(v.Passes, "all")}
	row := &benchMatchaRow{program: name, on: onTarget{target, schedule}, in: r.in}
	return func(ctx context.Context) (bench.Sample, error) {
		s, err := m.runProgram(ctx, g, e, row, more...)
		r.use = row.use
		return s, err
	}, nil
}

// lanes runs a program once more, with its lanes counted, which takes time.
func (f *benchAblationFlags) lanes(ctx context.Context, g *weft.Graph, r *ablationRow) {
	run, err := f.program(g, r.query, r.version, r, weft.WithStats(true))
	if err == nil {
		var s bench.Sample
		if s, err = run(ctx); err == nil {
			r.Agrees = r.Agrees && s.Answer == r.Answer
			return
		}
	}
	r.Err = err
}

// programNamed is a program of the library; the tests of package papers see to it that there is one for each name.
func programNamed(name string) library.Entry {
	all := library.Entries()
	return all[slices.IndexFunc(all, func(e library.Entry) bool { return e.Name == name })]
}

// devices are the numbers of the GPUs that the command names.
func (f *benchAblationFlags) devices() []string {
	return strings.Split(cmp.Or(strings.TrimPrefix(strings.TrimPrefix(f.device, "gpu"), ":"), "0"), ",")
}

// gpus is how many GPUs the command names.
func (f *benchAblationFlags) gpus() int { return len(f.devices()) }

// inputs are those of an experiment's programs: the graph, numbers of labels that are drawn as those of queries are, edges with their
// times, and constants. It is nil for patterns.
func (f *benchAblationFlags) inputs(ctx context.Context, g *weft.Graph, e *papers.Experiment, at int) (map[string]any, error) {
	if !e.Programs {
		return nil, nil
	}
	in := map[string]any{}
	labels := len(g.Schema().VertexLabels)
	random := f.random(e.Queries[at])
	m, err := weft.ParseMatcha(e.Queries[at], programNamed(e.Queries[at]).Text)
	if err != nil {
		return nil, err
	}
	for _, i := range m.Inputs() {
		text, given := e.Inputs[i.Name]
		switch {
		case isGraph(i.Type):
			in[i.Name] = g
		case given:
			if in[i.Name], err = matchaValue(ctx, i.Type, text); err != nil {
				return nil, err
			}
		case e.Labels && strings.HasPrefix(i.Name, "l"):
			in[i.Name] = int64(random.IntN(labels))
		case e.Times && i.Name == "E":
			if in[i.Name], err = timedEdges(ctx, g); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s: nothing says what the input %s of %s is", e.Name, i.Name, e.Queries[at])
		}
	}
	return in, nil
}

// timedEdges are a directed graph's edges: from, to and time of each, in seconds where the times count from 1970.
func timedEdges(ctx context.Context, g *weft.Graph) ([]int64, error) {
	q, err := weft.Parse("MATCH (a)-[e]->(b)")
	if err != nil {
		return nil, err
	}
	numbers := map[any]int64{}
	number := func(id any) int64 {
		if _, ok := numbers[id]; !ok {
			numbers[id] = int64(len(numbers))
		}
		return numbers[id]
	}
	var out []int64
	for m, err := range g.Match(ctx, q) {
		if err != nil {
			return nil, err
		}
		e, _ := m.Edge("e")
		out = append(out, number(e.Src), number(e.Dst))
		switch t := e.Time.(type) {
		case time.Time:
			out = append(out, t.Unix())
		case int64:
			out = append(out, t)
		default:
			return nil, fmt.Errorf("the edge from %v to %v has no time", e.Src, e.Dst)
		}
	}
	return out, nil
}

// random draws labels: the same for all versions of a query and on every machine.
func (f *benchAblationFlags) random(query string) *rand.Rand {
	hash := fnv.New64a()
	hash.Write([]byte(query))
	return rand.New(rand.NewPCG(f.seed, hash.Sum64()))
}

// queryOf is a query of an experiment. With labels, each vertex has one of the graph's, the same for all versions and on every machine.
func (f *benchAblationFlags) queryOf(g *weft.Graph, e *papers.Experiment, at int) (*weft.Query, error) {
	name := e.Queries[at]
	labels, _ := g.LabelCounts()
	labels = slices.DeleteFunc(labels, func(l weft.LabelCount) bool { return l.Label == "" })
	if !e.Labels || len(labels) == 0 {
		return weft.PatternByName(name)
	}
	ps, err := pattern.Named(name, nil)
	if err != nil {
		return nil, err
	}
	random := f.random(name)
	p := ps[0]
	for i := range p.Vertices {
		p.Vertices[i].Label = &pattern.Label{Name: labels[random.IntN(len(labels))].Label}
	}
	return weft.Parse(pattern.Format(p))
}

// ablationEnd writes the errors of the runs, and returns benchEnd's.
func (a *app) ablationEnd(rows []*ablationRow) error {
	differ := false
	var failed error
	for _, r := range rows {
		differ = differ || r.Err == nil && !r.Agrees
		if r.Err != nil {
			fmt.Fprintf(a.stderr, "weft: %s, %s, %s, %s: %v\n", r.e.Name, r.graph, r.query, r.version.Name, r.Err)
			failed = cmp.Or(failed, r.Err)
		}
	}
	return a.benchEnd(differ, failed)
}

// ofPaper is what the paper has for a row.
func (r *ablationRow) ofPaper() any {
	switch {
	case r.version.Gains != nil:
		return fmt.Sprintf("%.2f", r.version.Gains[r.at])
	case r.version.Whole != "":
		return r.version.Paper + "; over the first: " + r.version.Whole
	case r.version.Paper != "":
		return r.version.Paper
	}
	return nil
}

func ablationColumns(rows *[]*ablationRow) []sink.Column {
	of := func(name string, t sink.Type, get func(r *ablationRow) any) sink.Column {
		return column(name, t, func(i int) any { return get((*rows)[i]) })
	}
	thousandth := func(x float64) any {
		if x == 0 {
			return nil
		}
		return float64(int64(x*1000+0.5)) / 1000
	}
	meter := func(get func(m *weft.Meters) any) func(r *ablationRow) any {
		return func(r *ablationRow) any {
			if r.meters == nil {
				return nil
			}
			return get(r.meters)
		}
	}
	return []sink.Column{
		of("system", sink.String, func(r *ablationRow) any { return r.e.System }),
		of("experiment", sink.String, func(r *ablationRow) any { return r.e.Name }),
		of("graph", sink.String, func(r *ablationRow) any { return r.graph }),
		of("query", sink.String, func(r *ablationRow) any { return r.query }),
		of("version", sink.String, func(r *ablationRow) any { return r.version.Name }),
		of("median_ms", sink.Float, func(r *ablationRow) any {
			if r.Runs == 0 {
				return nil
			}
			return float64(r.Median/time.Microsecond) / 1000
		}),
		of("gain", sink.Float, func(r *ablationRow) any { return thousandth(r.gain) }),
		of("gain_first", sink.Float, func(r *ablationRow) any { return thousandth(r.first) }),
		of("paper", sink.String, (*ablationRow).ofPaper),
		of("idle", sink.Float, func(r *ablationRow) any {
			share, ok := r.meters.Idle()
			if r.use.Utilisation > 0 {
				share, ok = 1-r.use.Utilisation, true
			}
			if !ok {
				return nil
			}
			return float64(int64(share*1e4+0.5)) / 1e4
		}),
		of("steals_block", sink.Int, meter(func(m *weft.Meters) any { return int64(m.StealsBlock) })),
		of("steals_grid", sink.Int, func(r *ablationRow) any {
			if r.e.Programs && !strings.HasPrefix(r.version.Settings, "cuda") {
				return nil
			}
			if r.e.Programs {
				return int64(r.use.Thefts)
			}
			return meter(func(m *weft.Meters) any { return int64(m.StealsGrid) })(r)
		}),
		of("occupancy", sink.Float, func(r *ablationRow) any { return thousandth(r.use.Occupancy) }),
		of("device_bytes", sink.Int, meter(func(m *weft.Meters) any { return m.Scratch })),
		of("count", sink.Count, func(r *ablationRow) any { return countIn(r.Answer) }),
		of("note", sink.String, func(r *ablationRow) any {
			switch {
			case r.Err != nil:
				return r.Err.Error()
			case !r.Agrees:
				return "COUNT DIFFERS"
			}
			return ""
		}),
	}
}
