// Package program reads, checks and runs Matcha programs. It takes their inputs in the types of Go.
//
// It knows the language and the conditions in it, and leaves targets to package run. It must not know the types of
// the API.
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/run"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/view"
)

// Program is a program that was read and checked. Safe for concurrent use.
type Program struct {
	file *syntax.File
	p    *asg.Program // as written; runs build their own to rewrite
}

// Parse reads a program and checks it. Errors name it as name, which may be empty.
func Parse(name, text string) (*Program, error) {
	f, err := syntax.ParseNamed(name, text)
	if err != nil {
		return nil, kind.With(kind.Query, err)
	}
	p, err := asg.Build(f)
	if err != nil {
		return nil, kind.With(kind.Query, err)
	}
	for _, t := range p.Texts {
		if err := view.Check(t.Of, t.Text); err != nil {
			return nil, kind.With(kind.Query, data.TextError(f, t, err))
		}
	}
	return &Program{f, p}, nil
}

// Input is the name and the type of an input.
type Input struct{ Name, Type string }

// Inputs are the program's inputs in their order.
func (m *Program) Inputs() (out []Input) {
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
		out = append(out, Input{n.Name, t})
	}
	return out
}

// String is the program in canonical form.
func (m *Program) String() string { return syntax.Format(m.file) }

// Emits reports whether the program emits rows.
func (m *Program) Emits() bool { return m.p.Row != nil }

// Graph is the program's abstract syntax graph after the passes of the settings.
func (m *Program) Graph(s *setting.Settings) (string, error) {
	p, err := m.optimized(s)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

// optimized is a graph of the program's own after the passes of the settings.
func (m *Program) optimized(s *setting.Settings) (*asg.Program, error) {
	off, err := passesOff(s)
	if err != nil {
		return nil, err
	}
	p, err := asg.Build(m.file)
	if err != nil {
		return nil, kind.With(kind.Query, err)
	}
	passes.Optimize(p, off...)
	return p, nil
}

// passesOff are the passes that are not wanted.
func passesOff(s *setting.Settings) ([]string, error) {
	if s.Passes == "" {
		return nil, nil
	}
	off, err := passes.Choose(s.Passes)
	return off, kind.With(kind.Usage, err)
}

// runOptions are the settings for a run.
func runOptions(s *setting.Settings) (run.Options, error) {
	off, err := passesOff(s)
	return run.Options{
		Target: s.Target, Schedule: s.Schedule, Threads: s.Threads, Device: s.Device, GPUMemory: s.GPUMemory, Memory: s.Memory, ProgramMemory: cmp.Or(s.ProgramMemory, s.Memory), CompilerMemory: cmp.Or(s.CompilerMemory, s.Memory),
		Off: off, Debug: s.Debug, Stats: s.Stats, Lanes: s.Lanes,
	}, err
}

// Result is the result of a run, with its times; see MatchaResult of the root package.
type Result struct {
	Values                             []any
	Row                                []string
	Emitted                            uint64
	Complete                           bool
	FrontEnd, Prepare, Compile, Search time.Duration
	Use                                run.Use
	Notes                              []string
}

// Run runs the program in a runtime. Graphs are *runtime.Graph, numbers are int64, float64 or
// bool, and lists are slices of these. It calls emit with each emitted row, in memory that is used
// again; emit ends the run by returning false. With a nil emit rows are only counted. The caller
// has a lease of the graphs.
func (m *Program) Run(ctx context.Context, rt *runtime.Runtime, in map[string]any, emit func(row []any) bool, s *setting.Settings) (r Result, err error) {
	return m.run(ctx, rt, in, s, func(o *run.Options, p *asg.Program, set *data.Set) {
		if emit == nil {
			return
		}
		var row []any
		o.Emit = func(words []types.Word) bool {
			row = row[:0]
			for i, x := range words {
				row = append(row, set.Value(p.Row.Part(i), x))
			}
			return emit(row)
		}
	})
}

// RunRows is Run for many rows. It calls take with batches of rows, which may be read until take returns. Workers call it concurrently, each
// at most once at a time. It returns how many rows it took, and whether it wants more. With a nil take rows are only counted.
func (m *Program) RunRows(ctx context.Context, rt *runtime.Runtime, in map[string]any, take func(rows Rows) (taken int, more bool), s *setting.Settings) (r Result, err error) {
	return m.run(ctx, rt, in, s, func(o *run.Options, p *asg.Program, set *data.Set) {
		if p.Row == nil || take == nil {
			return
		}
		of := columnsOf(p, set)
		o.Rows = func(worker int, words []types.Word) (int, bool) { return take(Rows{worker, of, words}) }
	})
}

// run is both; hand says who takes emitted rows.
func (m *Program) run(ctx context.Context, rt *runtime.Runtime, in map[string]any, s *setting.Settings, hand func(*run.Options, *asg.Program, *data.Set)) (r Result, err error) {
	start := time.Now()
	p, err := m.optimized(s)
	r.FrontEnd = time.Since(start)
	if err != nil {
		return r, err
	}
	start = time.Now()
	set, err := bind(ctx, s.ProgramMemory, p, in)
	r.Prepare = time.Since(start)
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
		g, ok := v.(*runtime.Graph)
		if !ok {
			continue
		}
		graphs = append(graphs, g.Data)
		if g.Data.Read.DirectionGuessed && len(r.Notes) == 0 && slices.ContainsFunc(m.p.Texts, func(t asg.Text) bool { return view.Arrows(t.Of, t.Text) }) {
			r.Notes = append(r.Notes, plan.ArrowsGuessed)
		}
	}
	ctx, stop := memory.Watch(ctx, s.Memory)
	defer stop()
	o, err := runOptions(s)
	if err != nil {
		return r, err
	}
	hand(&o, p, set)
	out, err := run.Run(ctx, rt, p, set, graphs, o)
	r.Prepare += out.Prepare
	r.Compile, r.Search = out.Compile, out.Search
	r.Use, r.Notes = out.Use, append(r.Notes, out.Notes...)
	r.Emitted, r.Complete = out.Emitted, err == nil && !out.Stopped
	if err != nil {
		if cause := memory.Cause(ctx); cause != nil {
			return r, cause
		}
		return r, classify(err)
	}
	for i, x := range out.Words {
		r.Values = append(r.Values, set.Value(p.Main.Result.Type.Part(i), x))
	}
	return r, nil
}

// Code returns the code generated for the program, for inputs as Run takes them and a target of
// package run.
func (m *Program) Code(ctx context.Context, target string, in map[string]any, s *setting.Settings) (string, error) {
	p, err := m.optimized(s)
	if err != nil {
		return "", err
	}
	set, err := bind(ctx, 0, p, in)
	if err != nil {
		return "", err
	}
	o, err := runOptions(s)
	if err != nil {
		return "", err
	}
	text, err := run.Code(ctx, target, p, set, o)
	return text, classify(err)
}

// Explain describes the program's inputs and result, the effect of each pass, and the memory
// that its lists need. Memory is given as numbers if in has the inputs.
func (m *Program) Explain(in map[string]any, s *setting.Settings) (string, error) {
	o, err := runOptions(s)
	if err != nil {
		return "", err
	}
	x := run.Explanation{}
	for _, i := range m.Inputs() {
		x.Inputs = append(x.Inputs, [2]string{i.Name, i.Type})
	}
	if x.Written, err = asg.Build(m.file); err != nil {
		return "", kind.With(kind.Query, err)
	}
	if x.Optimized, err = m.optimized(s); err != nil {
		return "", err
	}
	if len(in) > 0 || len(m.p.Inputs) == 0 {
		if x.Set, err = bind(context.Background(), 0, x.Optimized, in); err != nil {
			return "", err
		}
	}
	text, err := run.Explain(x, o)
	return text, classify(err)
}

// classify marks an error of a run with its kind.
func classify(err error) error {
	var room *data.MemoryError
	var mistake *syntax.Error
	switch {
	case errors.As(err, new(run.UsageError)):
		return kind.With(kind.Usage, err)
	case errors.As(err, &room):
		return kind.With(kind.Memory, err)
	case errors.As(err, &mistake):
		return kind.With(kind.Query, err)
	}
	return search.Classify(err)
}
