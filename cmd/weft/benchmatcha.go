package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/schedule"
)

// benchMatchaFlags are the flags of bench matcha.
type benchMatchaFlags struct {
	graphFlags
	commonFlags
	graphs    []string
	programs  []string
	targets   []string
	schedules []string
	engines   []string
	inputs    []string
	passes    string
	lanes     bool
	runs      int
	warmup    int
}

func (a *app) benchMatchaCmd() *cobra.Command {
	var f benchMatchaFlags
	cmd := &cobra.Command{
		Use:   "matcha -g FILE [-g FILE]... [flags]",
		Short: "measure the programs of the Matcha library, and compare engines",
		Long: `Run programs of the Matcha library on each graph, on each target with each of its
schedules, several times after warming up. Write the median and the spread of the
search time. Programs that answer the same question, and the engines of --engine
for the same patterns, take turns and must give the same counts. A count that
differs is marked, and the exit code is 1.

Columns:
  frontend_ms  the time from the text to the graph after its passes
  compile_ms   the time of the target's compiler in a program's first run; it
               depends on whether the cache on disk has the code (WEFT_CACHE=DIR
               is its folder)
  again_ms     the same in later runs, where the process has the code
  parts_gain   how many times as fast a program that counts by parts is as the one
               that extends by vertices, on the same target with the same schedule
  warps_fit    on a GPU, the share of a multiprocessor's warps that the kernel can
               occupy
  thefts       on a GPU, how often a thread group stole work in the last run
  occupancy    with --lanes, the share of all warps that had work, over the time
               of the search
  utilisation  with --lanes, the share of lanes that had work in the steps of set
               operations

A schedule may have several values of a knob, with / between them. Each combination
is measured. With --lanes, programs on a GPU run once more, and that run is not
measured.

` + exitCodesHelp,
		Example: `  weft bench matcha -g a.weft --target c --schedule c:threads=1 --schedule c:threads=16
  weft bench matcha -g a.weft --program motifs4 --program motifs4_parts --engine host
  weft bench matcha -g a.weft --program clique5 --schedule cuda:group=1/8/32,steal=on/off --lanes
  weft bench matcha -g a.weft --program join -i l0=0 -i l1=1 -i l2=0 -i l3=1`,
		Args: takes(),
		RunE: func(*cobra.Command, []string) error { return a.benchMatcha(&f) },
	}
	var targets []string
	for _, t := range weft.MatchaTargets() {
		targets = append(targets, t[0])
	}
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.graphs, "graph", "g", nil, "graph `FILE` (repeatable)")
	f.graphFlags.addReading(cmd)
	f.addLoading(cmd)
	f.addWriting(cmd)
	fs.DurationVar(&f.timeout, "timeout", 0, "give up a run after this long (30s, 5m); reading the graph may take as long too")
	fs.StringArrayVar(&f.programs, "program", nil, "`NAME` of a program (repeatable; default: all that count patterns)")
	fs.StringArrayVarP(&f.inputs, "input", "i", nil, "`NAME=VALUE` of an input, for programs with more than a graph (repeatable), as for weft matcha run")
	fs.StringArrayVar(&f.targets, "target", nil, "`NAME` of a target: "+strings.Join(targets, ", ")+" (repeatable; default interp)")
	fs.StringArrayVar(&f.schedules, "schedule", nil, "`TARGET:KNOBS` of schedules for a target (repeatable): cuda:group=8/32,steal=off is two")
	fs.StringArrayVar(&f.engines, "engine", nil, "`NAME` of an engine to measure too (repeatable)")
	fs.StringVar(&f.device, "device", "", "device of engines and targets that run on one")
	fs.StringVar(&f.passes, "passes", "all", "passes: all, none, or names with commas; -NAME leaves one out")
	fs.BoolVar(&f.lanes, "lanes", false, "run programs on a GPU once more, to count the lanes with work")
	fs.IntVar(&f.runs, "runs", 5, "measured runs of each contestant")
	fs.IntVar(&f.warmup, "warmup", 1, "runs before the measured ones")
	return cmd
}

// matchaCase is one question: programs that count the same patterns.
type matchaCase struct {
	counts   []string
	programs []library.Entry
}

// matchaCases groups the requested programs by the patterns that they count.
func (f *benchMatchaFlags) matchaCases() (out []matchaCase, err error) {
	known := library.Entries()
	for _, name := range f.programs {
		i := slices.IndexFunc(known, func(e library.Entry) bool { return e.Name == name })
		switch {
		case i < 0:
			return nil, usagef("--program %s: the library has no such program; see weft matcha list", name)
		case known[i].Counts == nil && len(f.inputs) == 0:
			return nil, usagef("--program %s: it needs more inputs than a graph; see --input", name)
		}
	}
	for _, e := range known {
		if e.Counts == nil && slices.Contains(f.programs, e.Name) { // nothing else answers its question
			out = append(out, matchaCase{programs: []library.Entry{e}})
			continue
		}
		if e.Counts == nil || len(f.programs) > 0 && !slices.Contains(f.programs, e.Name) {
			continue
		}
		i := slices.IndexFunc(out, func(c matchaCase) bool { return c.counts != nil && slices.Equal(c.counts, e.Counts) })
		if i < 0 {
			i = len(out)
			out = append(out, matchaCase{counts: e.Counts})
		}
		out[i].programs = append(out[i].programs, e)
	}
	return out, nil
}

// onTarget is a target with a schedule, "" for its own.
type onTarget struct{ name, schedule string }

func (t onTarget) String() string {
	if t.schedule == "" {
		return t.name
	}
	return t.name + ":" + t.schedule
}

// combinations are the schedules of a text whose knobs may have several values, with
// slashes between them.
func combinations(knobs string) []string {
	out := []string{""}
	for i, knob := range strings.Split(knobs, ",") {
		name, values, ok := strings.Cut(knob, "=")
		var next []string
		for _, s := range out {
			for v := range strings.SplitSeq(values, "/") {
				one := name
				if ok {
					one += "=" + v
				}
				if i > 0 {
					one = s + "," + one
				}
				next = append(next, one)
			}
		}
		out = next
	}
	return out
}

func isTarget(name string) bool {
	return slices.ContainsFunc(weft.MatchaTargets(), func(k [2]string) bool { return k[0] == name })
}

// onTargets are the targets with their schedules.
func (f *benchMatchaFlags) onTargets() (out []onTarget, err error) {
	targets := f.targets
	for _, s := range f.schedules {
		target, knobs, ok := strings.Cut(s, ":")
		if !ok {
			return nil, usagef("--schedule %q: want TARGET:KNOBS", s)
		}
		for _, one := range combinations(knobs) {
			out = append(out, onTarget{target, one})
		}
		if !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	if len(targets) == 0 {
		targets = []string{weft.MatchaTargets()[0][0]}
	}
	for _, o := range out {
		if _, err := schedule.Parse(schedule.Target(o.name), o.schedule); err != nil && isTarget(o.name) {
			return nil, usagef("--schedule %s: %v", o, err)
		}
	}
	for _, t := range targets {
		if !isTarget(t) {
			return nil, usagef("there is no target %q", t)
		}
		if !slices.ContainsFunc(out, func(o onTarget) bool { return o.name == t }) {
			out = append(out, onTarget{name: t})
		}
	}
	return out, nil
}

func (a *app) benchMatcha(f *benchMatchaFlags) error {
	a.answers = true
	if f.runs < 1 || f.warmup < 0 {
		return usagef("--runs must be at least 1, and --warmup at least 0")
	}
	if len(f.graphs) == 0 {
		return usagef("no graph: give a file with -g")
	}
	cases, err := f.matchaCases()
	if err != nil {
		return err
	}
	if err := f.checkInputs(); err != nil {
		return err
	}
	on, err := f.onTargets()
	if err != nil {
		return err
	}
	cuda := slices.ContainsFunc(on, func(t onTarget) bool { return t.name == "cuda" })
	if f.lanes && !cuda {
		return usagef("--lanes: only the target cuda counts lanes")
	}
	for _, f.engine = range append([]string{"auto"}, f.engines...) {
		if err := f.check(a.ctx, a.runtime); err != nil {
			return err
		}
	}
	var rows []*benchMatchaRow
	for _, path := range f.graphs {
		f.path = path
		g, err := a.load(&f.graphFlags, &f.commonFlags, a.progress(f.progress))
		if err != nil {
			return err
		}
		for _, c := range cases {
			rows = append(rows, f.measure(a.ctx, g, path, c, on)...)
			if a.ctx.Err() != nil {
				break
			}
		}
		g.Close()
	}
	out, err := a.open(f.out, f.timeout)
	if err != nil {
		return err
	}
	if err := out.finish(writeBenchMatcha(out, f.outFormat(), rows, cuda)); err != nil {
		return err
	}
	return a.benchMatchaEnd(rows)
}

// benchMatchaEnd writes the errors of the runs, and returns benchEnd's.
func (a *app) benchMatchaEnd(rows []*benchMatchaRow) error {
	differ := false
	var failed error
	for _, r := range rows {
		differ = differ || r.Err == nil && !r.Agrees
		if r.Err != nil {
			fmt.Fprintf(a.stderr, "weft: %s, %s: %v\n", r.graph, r.Name, r.Err)
			failed = cmp.Or(failed, r.Err)
		}
	}
	return a.benchEnd(differ, failed)
}
