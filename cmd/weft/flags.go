package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/vfs"
)

// graphFlags say which graph to read and how.
type graphFlags struct {
	path, format, labels, vertices string
	header, duplicates             string
	null, columns                  []string
	directed                       bool
	skip                           int
	setDirected                    func() bool
}

func (f *graphFlags) add(cmd *cobra.Command) {
	cmd.Flags().VarP(&once{to: &f.path}, "graph", "g", "graph `FILE`; - is standard input; without -g the first argument is the graph")
	f.addReading(cmd)
}

// fromArgs takes the graph from the arguments where -g did not name it: it is
// the first of them, unless that is clearly a query. The rest are queries.
func (f *graphFlags) fromArgs(ctx context.Context, args []string) []string {
	if f.path != "" || len(args) == 0 || isQuery(ctx, args[0]) {
		return args
	}
	f.path = args[0]
	return args[1:]
}

// onlyGraph is fromArgs for commands that take no query.
func (f *graphFlags) onlyGraph(ctx context.Context, args []string) error {
	if rest := f.fromArgs(ctx, args); len(rest) > 0 {
		if f.path == "" {
			return usagef("%s is not a graph file", rest[0])
		}
		return usagef("one graph at a time: %s was given, and %s", f.path, rest[0])
	}
	return nil
}

// once is a file's name that is given once: of two, one would be ignored.
type once struct {
	to    *string
	given bool
}

func (o *once) String() string { return "" }
func (o *once) Type() string   { return "string" }

func (o *once) Set(s string) error {
	if o.given {
		return fmt.Errorf("one file at a time, and %s was given before", *o.to)
	}
	*o.to, o.given = s, true
	return nil
}

// oneOf is a word of a list.
type oneOf struct {
	to    *string
	words []string
}

func (o oneOf) String() string { return "" }
func (o oneOf) Type() string   { return "string" }

func (o oneOf) Set(s string) error {
	if !slices.Contains(o.words, s) {
		return fmt.Errorf("want %s", strings.Join(o.words, " or "))
	}
	*o.to = s
	return nil
}

// isQuery tells a query from the name of a file: vertices stand in brackets,
// which few files have in their names.
func isQuery(ctx context.Context, arg string) bool {
	if !strings.ContainsAny(arg, "()") {
		return false
	}
	_, err := vfs.From(ctx).Stat(arg)
	return err != nil
}

// addReading adds the flags that say how to read a graph.
func (f *graphFlags) addReading(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", "auto", "format of the graph: "+strings.Join(format.Formats(), ", "))
	fs.BoolVar(&f.directed, "directed", false, "edges have a direction (--directed=false: they have none); default: as the file or the names of its columns say, else undirected")
	fs.Var(&once{to: &f.labels}, "labels", "`FILE` of vertex labels: lines \"id label\"")
	fs.Var(&once{to: &f.vertices}, "vertices", "`FILE` of vertices: a table of ids, labels and properties")
	fs.StringSliceVar(&f.columns, "columns", nil, "`NAMES` of the columns: src,dst,label,time,weight, a property, or _ to skip one")
	fs.StringSliceVar(&f.null, "null", nil, "`WORDS` that stand for a missing value, also in columns of texts")
	fs.Var(oneOf{&f.header, []string{"yes", "no", "auto"}}, "header", "`WHETHER` the first line of the text is a header, with the names of the columns or the graph's sizes: yes, no, or auto")
	fs.Var(oneOf{&f.duplicates, []string{"merge", "keep"}}, "duplicates", "`HOW` to treat edges that are equal in all columns: merge (default) or keep")
	fs.IntVar(&f.skip, "skip", 0, "drop the first `N` lines of the text")
	f.setDirected = func() bool { return fs.Changed("directed") }
}

func (f *graphFlags) options() []weft.Option {
	o := []weft.Option{weft.WithFormat(f.format), weft.WithLabels(f.labels), weft.WithVertices(f.vertices), weft.WithSkip(f.skip)}
	if f.header == "yes" || f.header == "no" {
		o = append(o, weft.WithHeader(f.header == "yes"))
	}
	if f.duplicates == "keep" {
		o = append(o, weft.WithDuplicates())
	}
	if len(f.columns) > 0 {
		o = append(o, weft.WithColumns(f.columns...))
	}
	if len(f.null) > 0 {
		o = append(o, weft.WithNull(f.null...))
	}
	if f.setDirected() {
		o = append(o, weft.WithDirected(f.directed))
	}
	return o
}

// commonFlags are the flags of every command that searches.
type commonFlags struct {
	engine, extend, device, semantics, order, to, out, progress, memory, gpuMemory, spill string
	threads                                                                               int
	timeout                                                                               time.Duration
	limit                                                                                 int64
	seed                                                                                  uint64
	engineOpts, params                                                                    []string
	stats, product, induced                                                               bool
	program                                                                               bool // a program is written, not results
	standing                                                                              bool // a CREATE WATCH is taken
	setInduced                                                                            func() bool
}

func (f *commonFlags) add(cmd *cobra.Command) {
	f.addSearching(cmd)
	f.addOrder(cmd)
	f.addMeaning(cmd)
}

// addSearching adds the flags of all commands that run an engine.
func (f *commonFlags) addSearching(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.addRunning(cmd)
	fs.StringVar(&f.engine, "engine", "auto", "engine: auto, "+engineNames())
	fs.StringVar(&f.extend, "extend", "", "have engine join match one vertex in a phase (single) or several where the pattern allows it (multi); it chooses that engine")
	fs.StringVar(&f.device, "device", "auto", "device: cpu; gpu:0,1,… for these GPUs; auto for the processor or, for long counts, GPUs")
	fs.StringVar(&f.gpuMemory, "gpu-memory", "", "use at most `MEMORY` of a GPU (40G), or fail with exit code 5; default: all free memory")
	fs.StringVar(&f.spill, "spill", "", "folder for files of partial matches that exceed the memory, of joins on GPUs that are out of core; default: that for temporary files (TMPDIR)")
	fs.DurationVar(&f.timeout, "timeout", 0, "stop each query after this time (30s, 5m), with a partial result and exit code 124; reading the graph, and waiting for the output's reader, have the same limit each")
	fs.StringArrayVar(&f.engineOpts, "engine-opt", nil, "`NAME=VALUE`, a switch of planning or of one engine (repeatable); see weft help engine-options")
	fs.BoolVar(&f.stats, "stats", false, "write the work done and its times to standard error")
}

// addOrder adds the flags of planning.
func (f *commonFlags) addOrder(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.order, "order", "auto", "matching order: auto, ri, gsi, geneva, cost, join, tests, or names with commas")
	fs.Uint64Var(&f.seed, "seed", 0, "seed of estimates and samples")
}

// addMeaning adds the flags that say what a pattern means.
func (f *commonFlags) addMeaning(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.semantics, "semantics", "", "semantics of a pattern whose text does not say: iso, trail or hom; default iso")
	fs.BoolVar(&f.induced, "induced", false, "no edges between matched vertices beyond the pattern's")
	fs.StringArrayVar(&f.params, "param", nil, "`NAME=VALUE` of $NAME in the query (repeatable): a number, true, false, null, a text, or a list [1,2]")
	f.addProduct(cmd)
	f.setInduced = func() bool { return fs.Changed("induced") }
}

// addProduct adds --allow-product.
func (f *commonFlags) addProduct(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.product, "allow-product", false, "permit patterns that are not connected")
}

// addLimit adds --limit.
func (f *commonFlags) addLimit(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&f.limit, "limit", 0, "stop each query after `N` matches (subgraphs or embeddings, as --count says); such a count is not complete")
}

// addRunning adds the flags of commands that load and write.
func (f *commonFlags) addRunning(cmd *cobra.Command) {
	f.addLoading(cmd)
	f.addWriting(cmd)
}

// addLoading adds the flags of commands that read a graph.
func (f *commonFlags) addLoading(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&f.threads, "threads", 0, "threads; 0 means one for each core")
	f.addMemory(cmd)
	fs.StringVar(&f.progress, "progress", "auto", "progress on standard error: auto (a bar on a terminal), plain, json, none")
}

func (f *commonFlags) addMemory(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.memory, "memory", "", "refuse, with exit code 5, to use more than `MEMORY` (2G, 500M); default: the system's limit")
}

// addWriting adds the flags of commands that write tables.
func (f *commonFlags) addWriting(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.VarP(&once{to: &f.out}, "output", "o", "write to `FILE`, which appears when it is complete; default standard output")
	fs.StringVar(&f.to, "to", "", "")
	toIs(cmd, strings.Join(sink.Formats, ", "))
}

// toIs describes --to of a command that writes these formats.
func toIs(cmd *cobra.Command, formats string) {
	cmd.Flags().Lookup("to").Usage = "output format: " + formats + "; default by the name of -o, else table"
}

func engineNames() string {
	var out []string
	for _, e := range route.Engines() {
		out = append(out, e.Name)
	}
	return strings.Join(out, ", ")
}

// check finds mistakes before the graph is read.
func (f *commonFlags) check(ctx context.Context, rt *weft.Runtime) error {
	if err := f.checkWithoutDevices(ctx); err != nil {
		return err
	}
	return f.checkDevices(ctx, rt)
}

// checkDevices refuses engines and devices that are unknown, or that the machine does not have.
func (f *commonFlags) checkDevices(ctx context.Context, rt *weft.Runtime) error {
	return rt.Check(ctx, weft.WithEngine(f.engine), weft.WithDevice(f.device))
}

// checkWithoutDevices is check without engines and devices.
func (f *commonFlags) checkWithoutDevices(ctx context.Context) error {
	if err := f.checkValues(ctx); err != nil {
		return err
	}
	if f.gpuMemory != "" && f.device == "cpu" {
		return usagef("--gpu-memory %s: --device cpu uses no GPU", f.gpuMemory)
	}
	if f.spill != "" && f.device == "cpu" {
		return usagef("--spill %s: --device cpu writes no files of partial matches", f.spill)
	}
	if f.spill != "" {
		fsys := vfs.From(ctx)
		if info, err := fsys.Stat(f.spill); err != nil {
			return usagef("--spill: %v", err)
		} else if !info.IsDir() {
			return usagef("--spill %s: not a folder", f.spill)
		}
		if err := disk.CheckFolder(fsys, f.spill); err != nil {
			return usagef("--spill %s: %v", f.spill, err)
		}
	}
	return nil
}

// checkValues refuses values of single flags.
func (f *commonFlags) checkValues(ctx context.Context) error {
	if err := f.checkTo(ctx); err != nil {
		return err
	}
	switch {
	case f.extend == "":
	case f.extend != "single" && f.extend != "multi":
		return usagef("--extend %q: want single or multi", f.extend)
	case f.engine == "" || f.engine == "auto":
		f.engine = "join"
	case f.engine != "join":
		return usagef("--extend %s is about engine join, not %s", f.extend, f.engine)
	}
	switch f.progress {
	case "auto", "plain", "json", "none":
	default:
		return usagef("--progress %q: want auto, plain, json or none", f.progress)
	}
	if f.semantics != "" {
		if _, err := pattern.ParseMode(f.semantics); err != nil {
			return usagef("--semantics: %v", err)
		}
	}
	if f.threads < 0 || f.limit < 0 || f.timeout < 0 {
		return usagef("--threads, --limit and --timeout cannot be negative")
	}
	if _, err := parseBytes(f.memory); err != nil {
		return usagef("--memory: %v", err)
	}
	if _, err := parseBytes(f.gpuMemory); err != nil {
		return usagef("--gpu-memory: %v", err)
	}
	for _, s := range f.engineOpts {
		if name, _, ok := strings.Cut(s, "="); !ok || name == "" {
			return usagef("--engine-opt %q: want NAME=VALUE", s)
		} else if name == "join.extend" && f.extend != "" {
			return usagef("--extend %s and --engine-opt %s say the same thing: give one of them", f.extend, s)
		}
	}
	for _, s := range f.params {
		name, _, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return usagef("--param %q: want NAME=VALUE", s)
		}
	}
	return nil
}

// checkFiles says, before anything is read or searched, that a file cannot be
// written under its name.
func checkFiles(ctx context.Context, names ...string) error {
	for _, name := range names {
		if name == "" || name == "-" {
			continue
		}
		if err := disk.Check(vfs.From(ctx), name); err != nil {
			return err
		}
	}
	return nil
}

// keepInputs refuses an output that would overwrite one of the files that the command reads. An input may be a folder, of whose files each
// is read.
func keepInputs(ctx context.Context, inputs []string, outputs ...string) error {
	files := vfs.From(ctx)
	regular := func(name string) fs.FileInfo {
		if name == "" || name == "-" {
			return nil
		}
		st, err := files.Stat(name)
		if err != nil || !st.Mode().IsRegular() && !st.IsDir() {
			return nil
		}
		return st
	}
	for _, out := range outputs {
		to := regular(out)
		if to == nil || to.IsDir() {
			continue
		}
		for _, in := range inputs {
			from := regular(in)
			switch {
			case from == nil:
			case from.IsDir():
				if dir := regular(filepath.Dir(out)); dir != nil && os.SameFile(dir, from) {
					return usagef("%s is a file of the folder %s, which is read: it would be overwritten", out, in)
				}
			case os.SameFile(to, from):
				return usagef("%s is a file that is read (%s): it would be overwritten", out, in)
			}
		}
	}
	return nil
}

// inputs are the files of the graph.
func (f *graphFlags) inputs() []string { return []string{f.path, f.labels, f.vertices} }

// checkTo finds mistakes in --to and -o.
func (f *commonFlags) checkTo(ctx context.Context) error {
	if f.to != "" {
		if err := sink.CheckFormat(f.to); err != nil {
			return usagef("--to: %v", err)
		}
	}
	if err := f.nameFormat(); err != nil {
		return err
	}
	return checkFiles(ctx, f.out)
}

// options are the flags that were given, for the library.
func (f *commonFlags) options() []weft.Option {
	memory, _ := parseBytes(f.memory)
	gpuMemory, _ := parseBytes(f.gpuMemory)
	var o []weft.Option
	add := func(given bool, option weft.Option) {
		if given {
			o = append(o, option)
		}
	}
	add(f.threads != 0, weft.WithThreads(f.threads))
	add(memory != 0, weft.WithMemory(memory))
	add(gpuMemory != 0, weft.WithGPUMemory(gpuMemory))
	add(f.spill != "", weft.WithSpill(f.spill))
	add(f.engine != "" && f.engine != "auto", weft.WithEngine(f.engine))
	add(f.extend != "", weft.WithEngineOption("join.extend", f.extend))
	add(f.device != "" && f.device != "auto", weft.WithDevice(f.device))
	add(f.limit != 0, weft.WithLimit(f.limit))
	add(f.order != "" && f.order != "auto", weft.WithOrder(f.order))
	add(f.seed != 0, weft.WithSeed(f.seed))
	add(f.semantics != "", weft.WithSemantics(f.semantics))
	add(f.setInduced != nil && f.setInduced(), weft.WithInduced(f.induced))
	add(f.product, weft.WithProduct())
	for _, s := range f.engineOpts {
		name, value, _ := strings.Cut(s, "=")
		o = append(o, weft.WithEngineOption(name, value))
	}
	for _, s := range f.params {
		name, value, _ := strings.Cut(s, "=")
		o = append(o, weft.WithParam(name, paramValue(value)))
	}
	return o
}

// within returns a context that ends after the timeout.
func (f *commonFlags) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, f.timeout, errTimeout)
}

// queryFlags say which patterns to look for.
type queryFlags struct {
	files []string
	names []string
}

func (f *queryFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.files, "file", "f", nil, "`FILE` or directory of patterns (repeatable)")
	cmd.Flags().StringArrayVar(&f.names, "pattern", nil, "`NAME` in the catalogue, such as triangle or clique(5) (repeatable; see weft info --catalogue)")
}

// queries are all queries of the command line, in order.
func (f *queryFlags) queries(ctx context.Context, args []string) ([]*weft.Query, error) {
	var out []*weft.Query
	for _, text := range args {
		q, err := weft.Parse(text)
		if err != nil {
			named, e := weft.PatternsByName(text)
			if e == nil {
				out = append(out, named...)
				continue
			}
			if st, none := vfs.From(ctx).Stat(text); none == nil && !strings.ContainsAny(text, "()") {
				return nil, usagef("%s is a %s, not a query: patterns in files are given with -f, the graph with -g", text, map[bool]string{true: "directory", false: "file"}[st.IsDir()])
			}
			if strings.Contains(e.Error(), "did you mean") && !strings.ContainsAny(text, " \t\n") {
				return nil, e
			}
			return nil, err
		}
		out = append(out, q)
	}
	for _, path := range f.files {
		qs, err := queriesIn(ctx, path)
		if err != nil {
			return nil, err
		}
		out = append(out, qs...)
	}
	for _, name := range f.names {
		qs, err := weft.PatternsByName(name)
		if err != nil {
			return nil, err
		}
		out = append(out, qs...)
	}
	if len(out) == 0 {
		return nil, usagef("no pattern: give a query as the last argument, a file with -f, or a name with --pattern")
	}
	return out, nil
}

// queriesIn reads a file, or the files of a directory in the order of their
// names, numbers inside them compared as numbers.
func queriesIn(ctx context.Context, path string) ([]*weft.Query, error) {
	st, err := vfs.From(ctx).Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, kindf(weft.ErrInput, "-f %s: no such file or directory", path)
	case err != nil:
		return nil, kindf(weft.ErrInput, "-f: %w", err)
	}
	if !st.IsDir() {
		return weft.ParseFile(ctx, path)
	}
	entries, err := vfs.From(ctx).ReadDir(path)
	if err != nil {
		return nil, kindf(weft.ErrInput, "-f: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	sortNatural(names)
	var out []*weft.Query
	for _, n := range names {
		qs, err := weft.ParseFile(ctx, path+string(os.PathSeparator)+n)
		if err != nil {
			return nil, err
		}
		out = append(out, qs...)
	}
	if len(out) == 0 {
		return nil, kindf(weft.ErrInput, "-f %s: there are no patterns in this directory", path)
	}
	return out, nil
}

// parseBytes reads a size: a number with an optional unit, K, M, G or T, which
// are powers of 1024.
func parseBytes(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	text := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	shift := 0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("KMGT", text[n-1]); i >= 0 {
			shift, text = 10*(i+1), text[:n-1]
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0) || x*float64(int64(1)<<shift) > 1<<62 {
		return 0, fmt.Errorf("%q is not a size: want a number with K, M, G or T, as 2G", s)
	}
	return int64(x * float64(int64(1)<<shift)), nil
}
