// Command mutate tests the tests. It makes small mistakes in the code, one at a time, and runs
// the tests that should notice. A mistake is called a mutant. A mutant that no test notices has
// survived: a test is missing, or the mutant means the same as the code it replaces, and
// equivalent.txt says why.
//
//	go run ./internal/tools/mutate [flags] [GROUP ...]
//
// All mutants are compiled at once, each as a copy of its function, placed next to it. A
// variable in the environment chooses the mutant when a test runs, so that a mutant costs no
// build. Each test first runs once without a mutant and notes the mutants whose blocks it runs.
// A mutant then costs runs of the tests that reach it, the quick ones first, until one fails.
// The tree is not touched: changed files go to the compiler as an overlay.
//
// A mutant is drawn only from lines that the tests of its own packages run. The sample depends
// on the seed and on the texts of functions, and not on line numbers.
//
// It takes all of the processor that it gets: nice lets other programs come first.
//
// It exits with 1 if a mutant survived, and with 2 if it could not do its work.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// suite names tests: those of a package whose names match run; all if run is empty.
type suite struct{ pkg, run string }

// group is packages that are mutated together.
type group struct {
	name  string
	roots []string // folders; packages below them belong to the group
	not   []string // folders below roots that do not
	tests []suite  // what runs after the tests of the mutant's own package, in order
}

// groups has one entry for each row of the table in docs/mutation.md.
var groups = []group{
	{name: "plan", roots: []string{"internal/plan", "internal/expr"}, tests: []suite{
		{"internal/plan/planner", ""}, answers, {"internal/engine/host", "^Test(NoDiff|Laws|Conditions|Temporal|MethodsAgree|LabelledLocal|Homomorphisms|Trails)"},
	}},
	{name: "host", roots: []string{"internal/engine/host"}, not: []string{"internal/setops"}, tests: []suite{
		{"internal/engine/host", ""}, answers,
	}},
	{name: "setops", roots: []string{"internal/setops"}, tests: []suite{
		{"internal/engine/host", "^Test(NoDiff|MethodsAgree|CompleteGraph|LocalIn)"},
	}},
	{name: "lower", roots: []string{"internal/lower"}, tests: []suite{
		{"internal/engine/codegen", "^Test(CPU|NoDiff|Laws)"},
	}},
	{name: "kir", roots: []string{"internal/kir"}, tests: []suite{
		{"internal/kir", ""}, {"internal/kir/emit/cuda", ""}, {"internal/kir/emit/c", ""},
		{"internal/lower", ""},
	}},
	{name: "format", roots: []string{"internal/format"}, tests: []suite{files, commands}},
	{name: "graph", roots: []string{"internal/graph"}, tests: []suite{
		{"internal/graph", ""}, files, answers, {"internal/format", "^Test(Read|RoundTrip|Bad|Sides|Wild)"},
	}},
	{name: "gql", roots: []string{"internal/gql"}, tests: []suite{answers, commands}},
	{name: "sink", roots: []string{"internal/sink"}, tests: []suite{answers, commands}},
}

// Tests that go through all of the program.
var (
	answers  = suite{".", "^(Example|Test(Crosscheck|KnownCounts|Temporal|Exists|Excluded|Explain|Profile|Time|Directed|Motifs|Participation|Limit|CountLimit|Leaving|ExactJSON|Match[LVN]|MatchErrors|QueryError|EdgeTimes|Kinds))"}
	files    = suite{".", "^Test(Damaged|Changed|Verify|MemoryGraph|Read|ArrowsGuessed|InputError|Open)"}
	commands = suite{"cmd/weft", "^Test(CLI|OutputByName|MatchaLists|FullDiskGraphs)$"}
)

type options struct {
	seed     int64
	n        int
	jobs     int
	patience time.Duration // the limit of a run is this and five times a run without a mutant, of the processor's time
	match    *regexp.Regexp
	root     string
	work     string
	list     bool
	verbose  bool
	out      io.Writer
}

func main() {
	o := options{out: os.Stdout, patience: 3 * time.Second}
	flag.Int64Var(&o.seed, "seed", 1, "choose the sample by this `NUMBER`")
	flag.IntVar(&o.n, "n", 40, "run `N` mutants a group, 0 for all")
	flag.IntVar(&o.jobs, "jobs", 1, "run `N` mutants at a time")
	match := flag.String("match", "", "run all mutants whose report matches `REGEXP`, also those that no test reaches, and no sample")
	doc := flag.String("doc", "", "write the rows of the groups that ran into the table of `FILE`")
	equivalents := flag.String("equivalent", "internal/tools/mutate/equivalent.txt", "`FILE` with the mutants that mean the same as the code")
	flag.BoolVar(&o.list, "list", false, "print mutants, and run none")
	flag.BoolVar(&o.verbose, "v", false, "print each mutant when it has run")
	flag.StringVar(&o.root, "C", ".", "the module's `FOLDER`")
	flag.Parse()
	if err := run(o, *match, *doc, *equivalents, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		if err == errSurvived {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

var errSurvived = fmt.Errorf("mutants survived")

func run(o options, match, doc, equivalents string, names []string) (err error) {
	if match != "" {
		if o.match, err = regexp.Compile(match); err != nil {
			return err
		}
		o.n = 0
	}
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	if o.work, err = os.MkdirTemp("", "weft-mutate-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.work)
	ctx, stop := signal.NotifyContext(background, os.Interrupt, syscall.SIGTERM)
	defer stop()

	text, err := os.ReadFile(filepath.Join(o.root, equivalents))
	if err != nil {
		return err
	}
	same, err := parseEquivalents(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", equivalents, err)
	}
	chosen := groups
	if len(names) > 0 {
		chosen = nil
		for _, n := range names {
			i := slices.IndexFunc(groups, func(g group) bool { return g.name == n })
			if i < 0 {
				return fmt.Errorf("%s is not a group", n)
			}
			chosen = append(chosen, groups[i])
		}
	}
	t := &tester{o: &o}
	var roots []string
	for _, g := range groups {
		for _, r := range g.roots {
			roots = append(roots, "./"+r+"/...")
		}
	}
	t.cover = strings.Join(roots, ",")
	var trials []*trial
	for _, g := range chosen {
		r, err := t.choose(ctx, g, same)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		if o.list {
			r.list(o.out)
		}
		trials = append(trials, r)
	}
	if o.list {
		return nil
	}
	if err := t.prepare(ctx, trials); err != nil {
		return err
	}
	var table []row
	var survivors []*mutant
	for _, r := range trials {
		start := time.Now()
		if err := t.try(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Fprintf(o.out, "%s, %s\n", r.row, time.Since(start).Round(time.Second))
		table = append(table, r.row)
		if doc != "" {
			if err := rewrite(filepath.Join(o.root, doc), table); err != nil {
				return err
			}
		}
		survivors = append(survivors, r.survivors...)
	}
	var stale bool
	for _, e := range same {
		inside := len(names) == 0 || slices.ContainsFunc(chosen, func(g group) bool { return g.has(filepath.Dir(e.file)) })
		if inside && !e.used {
			stale = true
			fmt.Fprintf(o.out, "\n%s has a mutant that the code no longer has:\n%s", equivalents, e)
		}
	}
	fmt.Fprint(o.out, "\n", markdown(table))
	for _, m := range survivors {
		fmt.Fprintf(o.out, "\nsurvived: line %d, %s\n%s", m.line, m.op, m.key())
	}
	if len(survivors) > 0 {
		return errSurvived
	}
	if stale {
		return fmt.Errorf("%s needs a look", equivalents)
	}
	return nil
}

// has says whether the package in folder dir belongs to g.
func (g *group) has(dir string) bool {
	return slices.ContainsFunc(g.roots, func(r string) bool { return below(dir, r) }) &&
		!slices.ContainsFunc(g.not, func(r string) bool { return below(dir, r) })
}

func below(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }
