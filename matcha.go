package weft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/run"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/view"
)

// Matcha is a program that says how to match; docs/matcha.md describes the
// language. It is safe for concurrent use.
type Matcha struct {
	rt   *Runtime // nil: the default
	file *syntax.File
	p    *asg.Program // as written; runs build their own to rewrite
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

// parseMatcha is both functions ParseMatcha.
func parseMatcha(rt *Runtime, name, text string) (*Matcha, error) {
	f, err := syntax.ParseNamed(name, text)
	if err != nil {
		return nil, withKind(ErrQuery, err)
	}
	p, err := asg.Build(f)
	if err != nil {
		return nil, withKind(ErrQuery, err)
	}
	for _, t := range p.Texts {
		if err := view.Check(t.Of, t.Text); err != nil {
			return nil, withKind(ErrQuery, textError(f, t, err))
		}
	}
	return &Matcha{rt, f, p}, nil
}

// textError is the error of a text of the pattern language at its place in the
// program.
func textError(f *syntax.File, t asg.Text, err error) error {
	var mistake *view.Mistake
	if !errors.As(err, &mistake) {
		return f.ErrorAt(t.At, err.Error())
	}
	at := t.At
	at.Col += mistake.Col
	e := f.ErrorAt(at, mistake.Msg)
	e.Expected = mistake.Expected
	return e
}

// Inputs are the program's inputs in their order.
func (m *Matcha) Inputs() (out []MatchaInput) {
	if m.given() != nil {
		return nil
	}
	for _, n := range m.p.Inputs {
		t := n.Type.String()
		if n.Type.Kind == types.List {
			t = "List[" + n.Type.Elem.String() + "]"
		}
		for _, k := range m.p.Keys {
			if k.Input == n.Name {
				t = fmt.Sprintf("Graph[%s, %s]", n.Type.Facts.Info, syntax.Quote(k.Property))
			}
		}
		out = append(out, MatchaInput{n.Name, t})
	}
	return out
}

// String is the program in canonical form.
func (m *Matcha) String() string {
	if m.given() != nil {
		return ""
	}
	return syntax.Format(m.file)
}

// Graph is the program's abstract syntax graph after a choice of passes; see
// WithPasses.
func (m *Matcha) Graph(options ...Option) (string, error) {
	s, err := collect(callGraph, options)
	if err != nil {
		return "", err
	}
	p, err := m.optimized(s)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

// optimized is a graph of the program's own after the passes of the options.
func (m *Matcha) optimized(s *settings) (*asg.Program, error) {
	if err := m.given(); err != nil {
		return nil, err
	}
	off, err := s.passesOff()
	if err != nil {
		return nil, err
	}
	p, err := asg.Build(m.file)
	if err != nil {
		return nil, withKind(ErrQuery, err)
	}
	passes.Optimize(p, off...)
	return p, nil
}

// passesOff are the passes that are not wanted.
func (s *settings) passesOff() ([]string, error) {
	if s.passes == "" {
		return nil, nil
	}
	off, err := passes.Choose(s.passes)
	return off, withKind(ErrUsage, err)
}

// WithPasses chooses the passes that rewrite a Matcha program: all, none, names
// with commas between them, or names with a minus, which are left out.
func WithPasses(choice string) Option {
	return Option{"WithPasses", func(s *settings) { s.passes = choice }}
}

// WithTarget chooses what runs a Matcha program: interp, the interpreter, on one
// core; c, C that the machine's compiler compiles, on all cores; or cuda, a GPU, which
// WithDevice names and WithGPUMemory limits. Answers are the same,
// and whole numbers that pass 64 bits are an error everywhere. Rows that a program
// emits come in any order from c and cuda.
func WithTarget(name string) Option {
	return Option{"WithTarget", func(s *settings) { s.target = name }}
}

// WithSchedule says how the target of a Matcha program spreads its work, as in
// "threads=4,loop=static": knobs with commas between them.
func WithSchedule(text string) Option {
	return Option{"WithSchedule", func(s *settings) { s.schedule = text }}
}

// WithDebug makes a debug build of a Matcha program: every access to memory is
// asserted, and sums are checked even where they are known to fit 64 bits. The
// interpreter has no other build.
func WithDebug() Option { return Option{"WithDebug", func(s *settings) { s.debug = true }} }

// WithStats asks a Matcha run for notes about what it did. With lanes, a GPU also
// counts which of its lanes have work, which takes time itself.
func WithStats(lanes bool) Option {
	return Option{"WithStats", func(s *settings) { s.stats, s.lanes = true, lanes }}
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
	defer endedBy(ctx, &err)
	rt, err := m.runtime(in)
	if err != nil {
		return r, err
	}
	s, err := rt.collect(callRun, options)
	if err != nil {
		return r, err
	}
	return m.run(ctx, rt, in, emit, s)
}

// runtime is the runtime in which the program runs with these inputs.
func (m *Matcha) runtime(in map[string]any) (*Runtime, error) {
	var rt *Runtime
	for _, v := range in {
		g, ok := v.(*Graph)
		if !ok || g == nil || g.g == nil {
			continue
		}
		if rt != nil && g.rt != rt {
			return nil, withKind(ErrUsage, errors.New("the graphs belong to two runtimes: a program runs in one"))
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

// run is Run.
func (m *Matcha) run(ctx context.Context, rt *Runtime, in map[string]any, emit func(row []any) bool, s *settings) (r MatchaResult, err error) {
	l, err := enterInputs(&ctx, in)
	if err != nil {
		return r, err
	}
	defer l.leave(&err, &r)
	if len(l.graphs) == 0 {
		if !rt.r.Leases.Take() {
			return r, errRuntimeClosed
		}
		defer rt.r.Leave()
	}
	start := time.Now()
	p, err := m.optimized(s)
	r.Times.FrontEnd = time.Since(start)
	if err != nil {
		return r, err
	}
	start = time.Now()
	set, err := bindInputs(p, in)
	r.Times.Prepare = time.Since(start)
	if err != nil {
		return r, err
	}
	if p.Row != nil {
		for i := range p.Row.Words() {
			r.Row = append(r.Row, set.TypeName(p.Row.Part(i)))
		}
	}
	var graphs []*graph.Graph
	for _, v := range in {
		g, ok := v.(*Graph)
		if ok {
			graphs = append(graphs, g.g)
		}
		if ok && g.g.Read.DirectionGuessed && len(r.Notes) == 0 && slices.ContainsFunc(m.p.Texts, func(t asg.Text) bool { return view.Arrows(t.Of, t.Text) }) {
			r.Notes = append(r.Notes, plan.ArrowsGuessed)
		}
	}
	ctx, stop := watchMemory(ctx, s.memory)
	defer stop()
	var row []any
	var take func(words []types.Word) bool
	if emit != nil {
		take = func(words []types.Word) bool {
			row = row[:0]
			for i, x := range words {
				row = append(row, set.Value(p.Row.Part(i), x))
			}
			return emit(row)
		}
	}
	o, err := s.matchaOptions()
	if err != nil {
		return r, err
	}
	o.Emit = take
	out, err := run.Run(ctx, rt.r, p, set, graphs, o)
	r.Times.Prepare += out.Prepare
	r.Times.Compile, r.Times.Search = out.Compile, out.Search
	r.Use, r.Notes = MatchaUse(out.Use), append(r.Notes, out.Notes...)
	r.Emitted, r.Complete = out.Emitted, err == nil && !out.Stopped
	if err != nil {
		if cause := memoryCause(ctx); cause != nil {
			return r, cause
		}
		return r, classifyMatcha(err)
	}
	for i, x := range out.Words {
		r.Values = append(r.Values, set.Value(p.Main.Result.Type.Part(i), x))
	}
	return r, nil
}

// Code is what is generated of the program for inputs as Run takes them: target is
// "ir", the kernel IR, "c", its text as C for threads, over a run-time library, or
// "cuda", as C++ for GPUs, functions of thread groups over the run-time library of
// weft's device code, for the schedule of WithSchedule. What code cannot be
// generated for yet is an error of kind ErrQuery.
func (m *Matcha) Code(ctx context.Context, target string, in map[string]any, options ...Option) (text string, err error) {
	defer endedBy(ctx, &err)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	l, err := enterInputs(&ctx, in)
	if err != nil {
		return "", err
	}
	defer l.leave(&err, &text)
	s, err := collect(callCode, options)
	if err != nil {
		return "", err
	}
	p, set, err := m.bind(in, s)
	if err != nil {
		return "", err
	}
	o, err := s.matchaOptions()
	if err != nil {
		return "", err
	}
	text, err = run.Code(ctx, target, p, set, o)
	return text, classifyMatcha(err)
}

// Explain says what a program is given and gives, what each pass makes of it, and
// the memory that its lists need: formulas over the inputs' sizes and, where in
// has the inputs, numbers; and the schedule of a target that is named.
func (m *Matcha) Explain(in map[string]any, options ...Option) (text string, err error) {
	ctx := context.Background()
	l, err := enterInputs(&ctx, in)
	if err != nil {
		return "", err
	}
	defer l.leave(&err, &text)
	s, err := collect(callMatchaExplain, options)
	if err != nil {
		return "", err
	}
	if err := m.given(); err != nil {
		return "", err
	}
	o, err := s.matchaOptions()
	if err != nil {
		return "", err
	}
	x := run.Explanation{}
	for _, i := range m.Inputs() {
		x.Inputs = append(x.Inputs, [2]string{i.Name, i.Type})
	}
	if x.Written, err = asg.Build(m.file); err != nil {
		return "", withKind(ErrQuery, err)
	}
	if len(in) == 0 && len(m.p.Inputs) > 0 {
		x.Optimized, err = m.optimized(s)
	} else {
		x.Optimized, x.Set, err = m.bind(in, s)
	}
	if err != nil {
		return "", err
	}
	text, err = run.Explain(x, o)
	return text, classifyMatcha(err)
}

// matchaOptions are s for a program.
func (s *settings) matchaOptions() (run.Options, error) {
	off, err := s.passesOff()
	return run.Options{
		Target: s.target, Schedule: s.schedule, Threads: s.threads, Device: s.device, GPUMemory: s.gpuMemory, Memory: s.memory,
		Off: off, Debug: s.debug, Stats: s.stats, Lanes: s.lanes,
	}, err
}

// bind gives a program its inputs.
func (m *Matcha) bind(in map[string]any, s *settings) (*asg.Program, *data.Set, error) {
	p, err := m.optimized(s)
	if err != nil {
		return nil, nil, err
	}
	set, err := bindInputs(p, in)
	return p, set, err
}

// bindInputs compares inputs with the program's declarations.
func bindInputs(p *asg.Program, in map[string]any) (set *data.Set, err error) {
	inputs := map[string]data.Input{}
	for name, v := range in {
		var i data.Input
		for _, n := range p.Inputs {
			if n.Name == name {
				var err error
				if i, err = matchaInput(n.Type, v); err != nil {
					return nil, withKind(ErrUsage, fmt.Errorf("input %s: %w", name, err))
				}
			}
		}
		inputs[name] = i
	}
	if set, err = data.Bind(p, inputs); err != nil {
		var mistake *syntax.Error
		if errors.As(err, &mistake) {
			return nil, withKind(ErrQuery, err)
		}
		return nil, withKind(ErrUsage, err)
	}
	return set, nil
}

// matchaInput is a value of Go as one of a type of Matcha.
func matchaInput(t *types.Type, v any) (in data.Input, err error) {
	kind := t.Kind
	if kind == types.List {
		kind = t.Elem.Part(0).Kind
	}
	list := t.Kind == types.List
	ok := false
	switch v := v.(type) {
	case *Graph:
		in.Graph, in.View, ok = v.g, view.Of{Graph: v.g}, kind == types.Graph
	case int64:
		in.Var, ok = types.Word(v), kind == types.Int && !list
	case float64:
		in.Var, ok = types.FromFloat(v), kind == types.Float && !list
	case bool:
		in.Var, ok = types.FromBool(v), kind == types.Bool && !list
	case []int64:
		ok = kind == types.Int && list
		for _, x := range v {
			in.Items = append(in.Items, types.Word(x))
		}
	case []float64:
		ok = kind == types.Float && list
		for _, x := range v {
			in.Items = append(in.Items, types.FromFloat(x))
		}
	case []bool:
		ok = kind == types.Bool && list
		for _, x := range v {
			in.Items = append(in.Items, types.FromBool(x))
		}
	}
	if !ok {
		return in, fmt.Errorf("a %T is not a %s", v, t)
	}
	return in, nil
}

// classifyMatcha finds the kind of an error of a run.
func classifyMatcha(err error) error {
	var room *data.MemoryError
	var mistake *syntax.Error
	switch {
	case errors.As(err, new(run.UsageError)):
		return withKind(ErrUsage, err)
	case errors.As(err, &room):
		return withKind(ErrMemory, err)
	case errors.As(err, &mistake):
		return withKind(ErrQuery, err)
	}
	return classify(err)
}

// Emits reports whether the program emits rows.
func (m *Matcha) Emits() bool { return m.given() == nil && m.p.Row != nil }

// given reports whether m is a program.
func (m *Matcha) given() error {
	if m == nil || m.p == nil {
		return errNoProgram
	}
	return nil
}
