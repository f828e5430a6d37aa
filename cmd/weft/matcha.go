package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/sink"
)

// matchaFlags are the flags of commands on a Matcha program.
type matchaFlags struct {
	graphFlags
	commonFlags
	inputs []string
	passes string
	matchaTarget
}

func (a *app) matchaCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "matcha",
		Short: "run, check and explain programs that say how to match",
		Long: `Work with programs in Matcha, a small language for matching algorithms. A program
says which lists to go over, which neighbour lists to combine, and what to count or
to list. docs/matcha.md describes the language.

PROGRAM is a file, "-" for standard input, or the name of a program of the library.
weft matcha list shows the names.

A program may take any time and, up to --memory, any memory. Run only programs that
you trust.

` + exitCodesNoTimeout,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(a.matchaRunCmd(), a.matchaCheckCmd(), a.matchaEmitCmd(), a.matchaExplainCmd(), a.matchaListCmd())
	return cmd
}

// add adds the flags for a program's inputs.
func (f *matchaFlags) add(cmd *cobra.Command) {
	cmd.Flags().VarP(&once{to: &f.path}, "graph", "g", "`FILE` of the graph, for a program with one input that is a Graph")
	f.addReading(cmd)
	f.addLoading(cmd)
	cmd.Flags().Lookup("memory").Usage = "refuse, with exit code 5, to use more than `MEMORY` (2G, 500M); default: 8G for the program's lists, graphs and Counters, the system's limit for all"
	cmd.Flags().StringArrayVarP(&f.inputs, "input", "i", nil, "`NAME=VALUE` of an input (repeatable): a number, True, False, or the file of a Graph or a List, as FILE:1,2,4 of some columns of a List's")
	cmd.Flags().StringVar(&f.passes, "passes", "all", "passes: all, none, or names with commas; -NAME leaves one out")
}

// programOptions are f for the library.
func (f *matchaFlags) programOptions() ([]weft.Option, error) {
	o, err := f.targetOptions()
	return append(append(f.commonFlags.options(), weft.WithPasses(f.passes)), o...), err
}

func (a *app) matchaRunCmd() *cobra.Command {
	var f matchaFlags
	cmd := &cobra.Command{
		Use:   "run PROGRAM [-g FILE] [--input NAME=VALUE]…",
		Short: "run a program",
		Long: `Run a program. By default the interpreter runs it on one core. With --target c the
machine's compiler compiles it as C, and it runs on all cores. With --target cuda
it runs on a GPU.

A program that emits rows writes them to standard output, and its result to
standard error. With several threads the order of rows is not defined. A program
that emits no rows writes its result to standard output.

` + exitCodesHelp,
		Example: `  weft matcha run triangles -g graph.txt.gz
  weft matcha run mine.matcha -g graph.weft --input k=3 --to csv
  weft matcha run clique5 -g graph.weft --target c --schedule threads=8
  weft matcha run clique5 -g graph.weft --target cuda --schedule group=8,steal=on --stats`,
		Args:              takes(aProgram),
		ValidArgsFunction: offerPrograms,
		RunE:              func(_ *cobra.Command, args []string) error { return a.matchaRun(&f, args[0]) },
	}
	f.add(cmd)
	f.addWriting(cmd)
	f.addTarget(cmd)
	f.addDebug(cmd)
	f.addMeasure(cmd)
	cmd.Flags().StringVar(&f.device, "device", "auto", "gpu:0, gpu:1, … for the target cuda; auto: the first")
	cmd.Flags().StringVar(&f.gpuMemory, "gpu-memory", "", "use at most `MEMORY` of a GPU (40G), or fail with exit code 5; default: all free memory")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "stop a run after this long (30s, 5m), with exit code 124; reading its inputs may take as long too")
	cmd.Flags().Int64Var(&f.limit, "limit", 0, "stop after `N` emitted rows")
	return cmd
}

// aProgram is the argument of the commands on one.
const aProgram = "PROGRAM, a file or a name of weft matcha list"

func (a *app) matchaCheckCmd() *cobra.Command {
	var format bool
	cmd := &cobra.Command{
		Use:   "check PROGRAM…",
		Short: "say whether programs are right",
		Long: `Check the text, names, types and bounds of programs. A mistake is reported with its
place, and the exit code is 4. Without a mistake nothing is written, or with
--format each program in canonical form.

` + exitCodesNoTimeout,
		Example: `  weft matcha check mine.matcha`,
		Args:    takesFrom(aProgram),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				m, err := a.matcha(&commonFlags{}, name)
				if err != nil {
					return err
				}
				if format {
					if _, err := fmt.Fprint(a.text, m); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&format, "format", false, "write the programs in canonical form")
	return cmd
}

func (a *app) matchaEmitCmd() *cobra.Command {
	var f matchaFlags
	var emit string
	cmd := &cobra.Command{
		Use:   "emit PROGRAM [--emit asg|ir|c|cuda] [-g FILE] [--input NAME=VALUE]…",
		Short: "show a program as the compiler transforms it",
		Long: `Show a program after the passes: as its abstract syntax graph (--emit asg), as the
kernel IR (--emit ir), as C (--emit c), or as text for GPUs (--emit cuda). The last
three need the inputs, because their sizes are part of the code.

` + exitCodesNoTimeout,
		Example: `  weft matcha emit triangles --passes none
  weft matcha emit clique4 --emit ir -g graph.weft`,
		Args:              takes(aProgram),
		ValidArgsFunction: offerPrograms,
		RunE: func(_ *cobra.Command, args []string) error {
			switch emit {
			case "asg", "ir", "c", "cuda":
			default:
				return usagef("--emit %q: want asg, ir, c or cuda", emit)
			}
			if f.schedule != "" && emit != "cuda" {
				return usagef("--schedule %s: only the text for GPUs depends on a schedule; add --emit cuda", f.schedule)
			}
			if f.debug && emit == "asg" {
				return usagef("--debug is for generated code: add --emit ir, c or cuda")
			}
			m, err := a.matcha(&f.commonFlags, args[0])
			if err != nil {
				return err
			}
			var text string
			if emit == "asg" {
				text, err = m.Graph(weft.WithPasses(f.passes))
			} else {
				err = a.withInputs(&f, m, func(in map[string]any) error {
					options, err := f.programOptions()
					if err != nil {
						return err
					}
					text, err = m.Code(a.ctx, emit, in, weft.Concerning("Matcha.Code", options...)...)
					return err
				})
			}
			if err == nil {
				_, err = io.WriteString(a.text, text)
			}
			return err
		},
	}
	f.add(cmd)
	f.addDebug(cmd)
	f.addSchedule(cmd)
	cmd.Flags().StringVar(&emit, "emit", "asg", "asg (the abstract syntax graph), ir (the kernel IR), c (text in C) or cuda (text for GPUs)")
	return cmd
}

func (a *app) matchaExplainCmd() *cobra.Command {
	var f matchaFlags
	cmd := &cobra.Command{
		Use:   "explain PROGRAM [-g FILE] [--input NAME=VALUE]…",
		Short: "show a program's inputs, passes and memory",
		Long: `Show a program's inputs and result, the effect of each pass, and the memory that
its lists need. Memory is shown as formulas and, if the inputs are given, as
numbers. With --target the whole schedule is shown too.

` + exitCodesNoTimeout,
		Example: `  weft matcha explain clique5
  weft matcha explain clique5 -g graph.weft`,
		Args:              takes(aProgram),
		ValidArgsFunction: offerPrograms,
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := a.matcha(&f.commonFlags, args[0])
			if err != nil {
				return err
			}
			explain := func(in map[string]any) error {
				options, err := f.programOptions()
				if err != nil {
					return err
				}
				text, err := m.Explain(in, weft.Concerning("Matcha.Explain", options...)...)
				if err == nil {
					_, err = io.WriteString(a.text, text)
				}
				return err
			}
			if f.path == "" && len(f.inputs) == 0 {
				return explain(nil)
			}
			return a.withInputs(&f, m, explain)
		},
	}
	f.add(cmd)
	f.addTarget(cmd)
	return cmd
}

func (a *app) matchaListCmd() *cobra.Command {
	var f commonFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the programs of the library",
		Args:  takes(),
		RunE: func(*cobra.Command, []string) error {
			if err := f.checkTo(a.ctx); err != nil {
				return err
			}
			out, err := a.open(f.out, 0)
			if err != nil {
				return err
			}
			all := library.Entries()
			return out.finish(writeRows(out, f.outFormat(), len(all), []sink.Column{
				column("program", sink.String, func(i int) any { return all[i].Name }),
				column("what", sink.String, func(i int) any { return all[i].Doc }),
			}))
		},
	}
	f.addWriting(cmd)
	return cmd
}

// matcha reads a program: a file, standard input, or one of the library.
func (a *app) matcha(f *commonFlags, name string) (*weft.Matcha, error) {
	ctx, cancel := a.reading(f)
	defer cancel()
	if name == "-" {
		text, err := ctxio.ReadAll(ctx, a.stdin, mostProgram)
		if err != nil {
			return nil, a.whileReading(ctx, "the program", kindf(weft.ErrInput, "standard input: %w", err))
		}
		return a.parseMatcha(ctx, "", string(text))
	}
	text, err := a.readText(ctx, name)
	if err == nil {
		return a.parseMatcha(ctx, name, string(text))
	}
	if a.interruption(ctx, err) != nil {
		return nil, err
	}
	all := library.Entries()
	if i := slices.IndexFunc(all, func(e library.Entry) bool { return e.Name == name }); i >= 0 {
		return a.runtime.ParseMatcha(name, all[i].Text)
	}
	if errors.Is(err, os.ErrNotExist) {
		var known []string
		for _, e := range all {
			known = append(known, e.Name)
		}
		return nil, kindf(weft.ErrInput, "%s is neither a file nor a program of the library; see weft matcha list%s", name, didYouMean(name, known))
	}
	return nil, kindf(weft.ErrInput, "%w", err)
}

// parseMatcha is ParseMatcha of the runtime within ctx.
func (a *app) parseMatcha(ctx context.Context, name, text string) (*weft.Matcha, error) {
	return await(ctx, func() (*weft.Matcha, error) { return a.runtime.ParseMatcha(name, text) })
}

func (a *app) matchaRun(f *matchaFlags, name string) error {
	if err := f.checkValues(a.ctx); err != nil {
		return err
	}
	if f.gpuMemory != "" && f.target != "cuda" {
		return usagef("--gpu-memory %s: only the target cuda uses memory of a GPU", f.gpuMemory)
	}
	m, err := a.matcha(&f.commonFlags, name)
	if err != nil {
		return err
	}
	return a.withInputs(f, m, func(in map[string]any) error {
		ctx, cancel := a.within(a.ctx, &f.commonFlags)
		defer cancel()
		out, err := a.open(f.out, f.timeout)
		if err != nil {
			return err
		}
		var names []string
		if !m.Emits() {
			names = []string{"result"}
		}
		rows := sink.NewValues(out, f.to, names...)
		options, err := f.programOptions()
		if err != nil {
			return out.finish(err)
		}
		rows.Limit = f.limit
		r, err := m.RunRows(ctx, in, func(b weft.MatchaRows) (int, bool) { return rows.AddBatch(b.Worker(), b) }, weft.Concerning("Matcha.RunRows", options...)...)
		for _, n := range r.Notes {
			fmt.Fprintf(a.stderr, "weft: %s\n", n)
		}
		if rows.Err() != nil {
			err = rows.Err()
		}
		if cut := a.interruption(ctx, err); cut != nil {
			return a.matchaCut(m, rows, r, out, cut)
		}
		if err != nil {
			return out.finish(err)
		}
		return out.finish(a.matchaResult(m, rows, r))
	})
}

// matchaCut keeps the rows of a program that was cut short; a result there is
// none.
func (a *app) matchaCut(m *weft.Matcha, rows *sink.Values, r weft.MatchaResult, out *output, cut error) error {
	if !m.Emits() {
		fmt.Fprintf(a.stderr, "weft: %v: there is no result\n", cut)
		_ = out.finish(cut)
		return exitError(codeOf(cut))
	}
	if err := rows.Close(r.Row); err != nil {
		return out.finish(err)
	}
	if name, err := out.partial(); err != nil {
		return err
	} else if name != "" {
		fmt.Fprintf(a.stderr, "weft: the rows written so far were kept as %s\n", name)
	}
	return a.cutShort(cut)
}

// matchaResult writes the result of a run.
func (a *app) matchaResult(m *weft.Matcha, rows *sink.Values, r weft.MatchaResult) error {
	if !m.Emits() {
		rows.Add(r.Values)
		if rows.Err() != nil {
			return rows.Err()
		}
		return rows.Close(nil)
	}
	if len(r.Values) > 0 {
		var text []string
		for _, v := range r.Values {
			text = append(text, fmt.Sprint(v))
		}
		fmt.Fprintf(a.stderr, "weft: the result is %s\n", strings.Join(text, " "))
	}
	return rows.Close(r.Row)
}
