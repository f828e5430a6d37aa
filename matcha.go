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

// Matcha is a program that says how to match; docs/matcha.md describes the
// language. It is safe for concurrent use.
type Matcha struct {
	rt *Runtime // nil: the default
	p  *program.Program
}

// MatchaInput is what a program must be given.
type MatchaInput struct {
	Name string
	Type string // as in the program, without ranges: int, float, bool, Graph, Graph[…], List[…]
}

// MatchaResult is what a run gave. Values are the program's result, a Tuple
// component by component: int64, float64 or bool, or the user's id of a vertex.
// A run that emit stopped is not Complete and has no values. Row are the types of the
// components of what is emitted: int, float, bool, or string for ids that are text.
type MatchaResult struct {
	Values   []any
	Row      []string
	Emitted  uint64
	Complete bool
	Times    MatchaTimes
	Use      MatchaUse
	Notes    []string // what was done otherwise than asked for; with WithStats, what was done, and how fast
}

// MatchaUse is how a program used a GPU; all zero for other targets. WarpsFit is the
// part of the warps a multiprocessor has room for that it can hold of the largest
// grid's kernel, which has Blocks of Threads; Thefts is how often a thread group took
// work of another. With WithStats of lanes, Occupancy is the part of all the
// device's warps, over the time of the search, that had work, and Utilisation that of
// the lanes of warps in steps of set operations.
type MatchaUse struct {
	Blocks, Threads        int
	WarpsFit               float64
	Thefts                 uint64
	Occupancy, Utilisation float64
}

// MatchaTimes is what a run took: FrontEnd from the text's tree to the graph after
// its passes; Prepare what of the inputs is looked at, made or copied before, and,
// for generated code, its kernel IR; Compile the target's compiler, next to nothing
// where it kept the code; Search the program itself.
type MatchaTimes struct{ FrontEnd, Prepare, Compile, Search time.Duration }

// ParseMatcha reads a program and checks it. Errors name the program as name,
// which may be empty, and are of kind ErrQuery.
func ParseMatcha(name, text string) (*Matcha, error) { return parseMatcha(nil, name, text) }

// ParseMatcha is the function ParseMatcha for a program that runs in rt where no input is a
// graph. The runtime of its graphs comes first.
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

// Matcha writes the plan of q as a program whose input G is the graph, and which,
// run, gives the query's answer: the number that Count gives, subgraphs or
// embeddings as it does; with RETURN exists() whether there is a match; with
// RETURN participation(v) all vertices with the numbers of Participation; with
// other items, or WithListing, the matches' vertices. What of the query a program
// cannot say is an error of kind ErrQuery.
func (g *Graph) Matcha(ctx context.Context, q *Query, options ...Option) (m *Matcha, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Matcha, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &m)
	text, err := g.s.MatchaText(ctx, q.asked(s))
	if err != nil {
		return nil, err
	}
	return parseMatcha(g.rt, "", text)
}

// MotifsMatcha writes a program whose input G is a graph without directions, and
// which counts every connected pattern of k vertices in one pass: what Motifs does,
// with the same options, in the same order. A directed graph is an error of kind
// ErrUsage without WithDirections(false).
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

// Inputs are the program's inputs in their order.
func (m *Matcha) Inputs() (out []MatchaInput) {
	if m.given() != nil {
		return nil
	}
	for _, i := range m.p.Inputs() {
		out = append(out, MatchaInput(i))
	}
	return out
}

// String is the program in canonical form.
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

// Graph is the program's abstract syntax graph after a choice of passes; see
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

// MatchaTargets are the targets of WithTarget, the default first, and what they
// are.
func MatchaTargets() [][2]string { return run.Targets() }

// MatchaPasses are the passes and what they do, in the order in which they run.
func MatchaPasses() (out [][2]string) {
	for _, p := range passes.All {
		out = append(out, [2]string{p.Name, p.Doc})
	}
	return append(out, passes.IR()...)
}

// Run runs the program. A Graph is given as *Graph, numbers as int64, float64 or
// bool, and lists as slices of these, the components of Tuples one after the
// other. emit takes what the program emits, in memory that is used again, and
// ends the run by returning false; nil: it is only counted. WithMemory limits
// what lists may need, which is compared before anything runs.
func (m *Matcha) Run(ctx context.Context, in map[string]any, emit func(row []any) bool, options ...Option) (r MatchaResult, err error) {
	defer ends(ctx, &err)
	rt, err := m.runtime(in)
	if err != nil {
		return r, err
	}
	s, err := rt.collect(setting.Run, options)
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
	out, err := m.p.Run(ctx, rt.r, inputs, emit, s)
	return MatchaResult{
		Values: out.Values, Row: out.Row, Emitted: out.Emitted, Complete: out.Complete,
		Times: MatchaTimes{out.FrontEnd, out.Prepare, out.Compile, out.Search}, Use: MatchaUse(out.Use), Notes: out.Notes,
	}, err
}

// runtime is the runtime in which the program runs with these inputs.
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
// where there are none, and returns the inputs as package program takes them.
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

// Code is what is generated of the program for inputs as Run takes them: target is
// "ir", the kernel IR, "c", its text as C for threads, over a run-time library, or
// "cuda", as C++ for GPUs, functions of thread groups over the run-time library of
// weft's device code, for the schedule of WithSchedule. What code cannot be
// generated for yet is an error of kind ErrQuery.
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

// Explain says what a program is given and gives, what each pass makes of it, and
// the memory that its lists need: formulas over the inputs' sizes and, where in
// has the inputs, numbers; and the schedule of a target that is named.
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
