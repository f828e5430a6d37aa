package weft

import (
	"context"
	"errors"
	"time"

	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/program"
	"github.com/weftgraph/weft/internal/matcha/run"
	"github.com/weftgraph/weft/internal/motifs"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/setting"
)

// Matcha is a program in the language Matcha, for matching algorithms that a pattern cannot
// express. docs/matcha.md describes the language. Safe for concurrent use.
type Matcha struct {
	rt *Runtime // nil: the default
	p  *program.Program
}

// MatchaInput is the name and the type of a program's input.
type MatchaInput struct {
	Name string
	Type string // as in the program, without ranges: int, float, bool, Graph, Graph[…], List[…]
}

// MatchaResult is the result of a run. Values are the program's result, a Tuple component by
// component: int64, float64 or bool, or the user's id of a vertex. A run that emit stopped is
// not Complete and has no values. Row has the types of the components of emitted rows: int,
// float, bool, or string for ids that are text.
type MatchaResult struct {
	Values   []any
	Row      []string
	Emitted  uint64
	Complete bool
	Times    MatchaTimes
	Use      MatchaUse
	Notes    []string // differences from the request; with WithStats, also the work done and its times
}

// MatchaUse says how a program used a GPU. It is zero for other targets. The largest grid had
// Blocks of Threads. WarpsFit is the share of a multiprocessor's warps that its kernel can
// occupy. Thefts is the number of times that a thread group stole work from another. With
// WithStats of lanes, Occupancy is the share of the device's warps, over the time of the
// search, that had work. Utilisation is the share of a warp's lanes that had work in steps of
// set operations.
type MatchaUse struct {
	Blocks, Threads        int
	WarpsFit               float64
	Thefts                 uint64
	Occupancy, Utilisation float64
}

// MatchaTimes are the times of a run. FrontEnd is from the text's tree to the graph after its
// passes. Prepare is for reading, making or copying inputs before the search and, for generated
// code, for its kernel IR. Compile is the target's compiler, nearly 0 if a cache had the code.
// Search is the program itself.
type MatchaTimes struct{ FrontEnd, Prepare, Compile, Search time.Duration }

// ParseMatcha reads a program and checks it. Errors use name for the program, which may be
// empty, and are of kind ErrQuery.
func ParseMatcha(name, text string) (*Matcha, error) { return parseMatcha(nil, name, text) }

// ParseMatcha is the function ParseMatcha for a program that runs in rt if no input is a graph.
// Otherwise it runs in the runtime of its graphs.
func (rt *Runtime) ParseMatcha(name, text string) (*Matcha, error) {
	return parseMatcha(rt, name, text)
}

// parseMatcha is both functions ParseMatcha.
func parseMatcha(rt *Runtime, name, text string) (*Matcha, error) {
	p, err := program.Parse(name, text)
	if err != nil {
		return nil, public(err)
	}
	return &Matcha{rt, p}, nil
}

// Matcha writes the plan of q as a program with the graph as its input G. A run of the program
// gives the query's answer:
//
//   - for a count, the number that Count gives, subgraphs or embeddings as Count does;
//   - with RETURN exists(), whether there is a match;
//   - with RETURN participation(v), all vertices with the numbers of Participation;
//   - with other items, or WithListing, the matches' vertices.
//
// A part of the query that a program cannot express is an error of kind ErrQuery.
func (g *Graph) Matcha(ctx context.Context, q *Query, options ...Option) (m *Matcha, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Matcha, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &m)
	text, err := g.s.MatchaText(ctx, q.question(s))
	if err != nil {
		return nil, err
	}
	return parseMatcha(g.rt, "", text)
}

// MotifsMatcha writes a program that counts every connected pattern of k vertices in one pass.
// Its input G is a graph without directions. The program's counts are those of Motifs with the
// same options, in the same order. A directed graph is an error of kind ErrUsage unless
// WithDirections(false) is given.
func (g *Graph) MotifsMatcha(ctx context.Context, k int, options ...Option) (m *Matcha, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.MotifsMatcha, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &m)
	text, err := motifs.MatchaText(ctx, g.s, k, s)
	if err != nil {
		return nil, err
	}
	return parseMatcha(g.rt, "", text)
}

// Inputs returns the program's inputs in their order.
func (m *Matcha) Inputs() (out []MatchaInput) {
	if m.given() != nil {
		return nil
	}
	for _, i := range m.p.Inputs() {
		out = append(out, MatchaInput(i))
	}
	return out
}

// String returns the program in canonical form.
func (m *Matcha) String() string {
	if m.given() != nil {
		return ""
	}
	return m.p.String()
}

// Emits reports whether the program emits rows.
func (m *Matcha) Emits() bool { return m.given() == nil && m.p.Emits() }

// given reports whether m is a program.
func (m *Matcha) given() error {
	if m == nil || m.p == nil {
		return errNoProgram
	}
	return nil
}

// Graph returns the program's abstract syntax graph, as text, after a choice of passes; see
// WithPasses.
func (m *Matcha) Graph(options ...Option) (string, error) {
	if err := m.given(); err != nil {
		return "", public(err)
	}
	s, err := collect(setting.Graph, options)
	if err != nil {
		return "", public(err)
	}
	text, err := m.p.Graph(s)
	return text, public(err)
}

// MatchaTargets returns the targets of WithTarget with their meanings, the default first.
func MatchaTargets() [][2]string { return run.Targets() }

// MatchaPasses returns the passes with their effects, in the order in which they run.
func MatchaPasses() (out [][2]string) {
	for _, p := range passes.All {
		out = append(out, [2]string{p.Name, p.Doc})
	}
	return append(out, passes.IR()...)
}

// Run runs the program. An input that is a Graph is a *Graph. Numbers are int64, float64 or
// bool. Lists are slices of these, with the components of Tuples one after the other. Run calls
// emit with each emitted row, in memory that is used again; emit ends the run by returning
// false. With a nil emit rows are only counted. WithMemory limits the memory of lists, which is
// checked before anything runs.
func (m *Matcha) Run(ctx context.Context, in map[string]any, emit func(row []any) bool, options ...Option) (r MatchaResult, err error) {
	return m.run(ctx, setting.Run, in, options, func(ctx context.Context, rt *runtime.Runtime, in map[string]any, s *setting.Settings) (program.Result, error) {
		return m.p.Run(ctx, rt, in, emit, s)
	})
}

// MatchaRows are rows that a program emitted, all of one worker. They may be read until the function that was called
// with them returns.
type MatchaRows struct{ r program.Rows }

// Worker is the number of the worker that emitted the rows, from 0 on.
func (r MatchaRows) Worker() int { return r.r.Worker() }

// Len is the number of rows.
func (r MatchaRows) Len() int { return r.r.Len() }

// Width is the number of components of a row.
func (r MatchaRows) Width() int { return r.r.Width() }

// Value is component j of row i, in the types of MatchaResult's Values.
func (r MatchaRows) Value(i, j int) any { return r.r.Value(i, j) }

// Ints stores component j of each row i at to[i*step], if it is a whole number from -2^53 to 2^53, and otherwise the
// least int64.
func (r MatchaRows) Ints(j int, to []int64, step int) { r.r.Ints(j, to, step) }

// RunRows is Run for many rows. It calls take with batches of rows, and take returns how many of them it took, and
// whether it wants more. Workers call it concurrently: those whose rows have different numbers of Worker, which are less
// than 4096. With a nil take rows are only counted.
func (m *Matcha) RunRows(ctx context.Context, in map[string]any, take func(rows MatchaRows) (taken int, more bool), options ...Option) (MatchaResult, error) {
	return m.run(ctx, setting.RunRows, in, options, func(ctx context.Context, rt *runtime.Runtime, in map[string]any, s *setting.Settings) (program.Result, error) {
		if take == nil {
			return m.p.RunRows(ctx, rt, in, nil, s)
		}
		return m.p.RunRows(ctx, rt, in, func(rows program.Rows) (int, bool) { return take(MatchaRows{rows}) }, s)
	})
}

// run is Run, with a run of the program.
func (m *Matcha) run(ctx context.Context, call setting.Call, in map[string]any, options []Option, program func(context.Context, *runtime.Runtime, map[string]any, *setting.Settings) (program.Result, error)) (r MatchaResult, err error) {
	defer ends(ctx, &err)
	rt, err := m.runtime(in)
	if err != nil {
		return r, err
	}
	s, err := rt.collect(call, options)
	if err != nil {
		return r, err
	}
	l, inputs, err := enterInputs(&ctx, rt.r, in)
	if err != nil {
		return r, err
	}
	defer l.Leave(&err, &r)
	if err := m.given(); err != nil {
		return r, err
	}
	out, err := program(ctx, rt.r, inputs, s)
	return MatchaResult{
		Values: out.Values, Row: out.Row, Emitted: out.Emitted, Complete: out.Complete,
		Times: MatchaTimes{out.FrontEnd, out.Prepare, out.Compile, out.Search}, Use: MatchaUse(out.Use), Notes: out.Notes,
	}, err
}

// runtime returns the runtime in which the program runs with these inputs.
func (m *Matcha) runtime(in map[string]any) (*Runtime, error) {
	var rt *Runtime
	for _, v := range in {
		g, ok := v.(*Graph)
		if !ok || g == nil || g.s == nil {
			continue
		}
		if rt != nil && g.rt != rt {
			return nil, kind.With(kind.Usage, errors.New("the graphs belong to two runtimes: a program runs in one"))
		}
		rt = g.rt
	}
	if rt == nil && m != nil {
		rt = m.rt
	}
	if rt == nil {
		rt = defaultRuntime()
	}
	return rt, nil
}

// enterInputs takes a lease for a call on the graphs among a program's inputs, or on the runtime
// if there are none. It returns the inputs in the form of package program.
func enterInputs(ctx *context.Context, rt *runtime.Runtime, in map[string]any) (runtime.Lease, map[string]any, error) {
	inputs := make(map[string]any, len(in))
	var graphs []*runtime.Graph
	for name, v := range in {
		inputs[name] = v
		if g, ok := v.(*Graph); ok {
			if g == nil || g.s == nil {
				return runtime.Lease{}, nil, errNoGraph
			}
			inputs[name] = g.s.Graph
			graphs = append(graphs, g.s.Graph)
		}
	}
	if len(graphs) == 0 {
		l, err := rt.Enter()
		return l, inputs, err
	}
	l, err := runtime.Enter(ctx, graphs...)
	return l, inputs, err
}

// Code returns the code generated for the program, for inputs as Run takes them. target is one
// of:
//
//   - "ir", the kernel IR;
//   - "c", C for threads, over a run-time library;
//   - "cuda", C++ for GPUs: functions of thread groups over the run-time library of weft's
//     device code, for the schedule of WithSchedule.
//
// A program for which no code can be generated yet is an error of kind ErrQuery.
func (m *Matcha) Code(ctx context.Context, target string, in map[string]any, options ...Option) (text string, err error) {
	defer ends(ctx, &err)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	rt, err := m.runtime(in)
	if err != nil {
		return "", err
	}
	l, inputs, err := enterInputs(&ctx, rt.r, in)
	if err != nil {
		return "", err
	}
	defer l.Leave(&err, &text)
	s, err := collect(setting.Code, options)
	if err != nil {
		return "", err
	}
	if err := m.given(); err != nil {
		return "", err
	}
	return m.p.Code(ctx, target, inputs, s)
}

// Explain describes a program's inputs and result, the effect of each pass, and the memory that
// its lists need. Memory is given as formulas over the inputs' sizes and, if in has the inputs,
// as numbers. With WithTarget it also gives the whole schedule.
func (m *Matcha) Explain(in map[string]any, options ...Option) (text string, err error) {
	ctx := context.Background()
	defer ends(ctx, &err)
	rt, err := m.runtime(in)
	if err != nil {
		return "", err
	}
	l, inputs, err := enterInputs(&ctx, rt.r, in)
	if err != nil {
		return "", err
	}
	defer l.Leave(&err, &text)
	s, err := collect(setting.MatchaExplain, options)
	if err != nil {
		return "", err
	}
	if err := m.given(); err != nil {
		return "", err
	}
	return m.p.Explain(inputs, s)
}
