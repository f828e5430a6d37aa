package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench"
	"github.com/weftgraph/weft/internal/matcha/library"
)

// measure measures one question on one graph.
func (f *benchMatchaFlags) measure(ctx context.Context, g *weft.Graph, path string, c matchaCase, on []onTarget) (rows []*benchMatchaRow) {
	var all []bench.Contestant
	for _, e := range c.programs {
		for _, t := range on {
			r := &benchMatchaRow{program: e.Name, on: t}
			rows = append(rows, r)
			all = append(all, bench.Contestant{Name: e.Name + " " + t.String(), Run: func(ctx context.Context) (bench.Sample, error) {
				return f.runProgram(ctx, g, e, r)
			}})
		}
	}
	for _, engine := range f.engines {
		if c.counts == nil {
			break // no patterns that an engine could count
		}
		rows = append(rows, &benchMatchaRow{})
		all = append(all, bench.Contestant{Name: "engine " + engine, Run: func(ctx context.Context) (bench.Sample, error) {
			return f.runEngine(ctx, g, c.counts, engine)
		}})
	}
	for i, m := range bench.Measure(ctx, all, f.warmup, f.runs) {
		rows[i].Row, rows[i].graph, rows[i].counts = m, path, strings.Join(c.counts, " ")
	}
	if f.lanes {
		f.countLanes(ctx, g, c, rows)
	}
	for _, r := range rows {
		whole, parts := strings.CutSuffix(r.program, "_parts")
		for _, o := range rows {
			if parts && o.program == whole && o.on == r.on && r.Median > 0 {
				r.partsGain = float64(o.Median) / float64(r.Median)
			}
		}
	}
	return rows
}

// runProgram runs a program once, and stores in r the times of its compilers and its use of a
// device.
func (f *benchMatchaFlags) runProgram(ctx context.Context, g *weft.Graph, e library.Entry, r *benchMatchaRow, more ...weft.Option) (bench.Sample, error) {
	ctx, cancel := f.within(ctx)
	defer cancel()
	m, err := weft.ParseMatcha(e.Name, e.Text)
	if err != nil {
		return bench.Sample{}, err
	}
	o := append(f.commonFlags.options(), more...)
	o = append(o, weft.WithTarget(r.on.name), weft.WithSchedule(r.on.schedule), weft.WithPasses(f.passes))
	if r.on.name != "cuda" {
		o = append(o, weft.WithDevice(""))
	}
	if r.in == nil {
		if r.in, err = f.values(ctx, m, g); err != nil {
			return bench.Sample{}, err
		}
	}
	found, err := m.Run(ctx, r.in, nil, weft.Concerning("Matcha.Run", o...)...)
	if err != nil {
		return bench.Sample{}, err
	}
	if r.frontEnd == 0 {
		r.first = found.Times.Compile
	}
	r.frontEnd, r.again, r.use = found.Times.FrontEnd, found.Times.Compile, found.Use
	return bench.Sample{Took: found.Times.Search, Plan: found.Times.FrontEnd, Prepare: found.Times.Prepare, Answer: strings.Trim(fmt.Sprint(found.Values), "[]")}, nil
}

// countLanes runs a program on a device once more, with its lanes counted. Counting takes time,
// so the row does not have the times of this run.
func (f *benchMatchaFlags) countLanes(ctx context.Context, g *weft.Graph, c matchaCase, rows []*benchMatchaRow) {
	for _, e := range c.programs {
		for _, r := range rows {
			if r.program != e.Name || r.on.name != "cuda" || r.Err != nil {
				continue
			}
			once := &benchMatchaRow{on: r.on, in: r.in}
			s, err := f.runProgram(ctx, g, e, once, weft.WithStats(true))
			r.lanes, r.lanesErr = once.use, err
			r.Agrees = r.Agrees && (err != nil || s.Answer == r.Answer)
		}
	}
}

// values are a program's inputs: the graph, and those of --input.
func (f *benchMatchaFlags) values(ctx context.Context, m *weft.Matcha, g *weft.Graph) (map[string]any, error) {
	in := map[string]any{}
	for _, i := range m.Inputs() {
		if isGraph(i.Type) {
			in[i.Name] = g
			continue
		}
		for _, s := range f.inputs {
			name, value, _ := strings.Cut(s, "=")
			if name != i.Name {
				continue
			}
			v, err := matchaValue(ctx, i.Type, value)
			if err != nil && strings.HasPrefix(i.Type, "List") { // a file
				return nil, kindf(weft.ErrInput, "--input %s: %v", s, err)
			}
			if err != nil {
				return nil, usagef("--input %s: %v", s, err)
			}
			in[name] = v
		}
	}
	return in, nil
}

// checkInputs says which of --input no program that is asked for has.
func (f *benchMatchaFlags) checkInputs() error {
	var names []string
	for _, e := range library.Entries() {
		if !slices.Contains(f.programs, e.Name) {
			continue
		}
		m, err := weft.ParseMatcha(e.Name, e.Text)
		if err != nil {
			return err
		}
		for _, i := range m.Inputs() {
			if !isGraph(i.Type) {
				names = append(names, i.Name)
			}
		}
	}
	seen := map[string]bool{}
	for _, s := range f.inputs {
		switch name, _, ok := strings.Cut(s, "="); {
		case !ok:
			return usagef("--input %q: want NAME=VALUE", s)
		case seen[name]:
			return usagef("the input %s is given twice", name)
		case !slices.Contains(names, name):
			return usagef("--input %s: no program of --program has an input %s besides its graph", s, name)
		default:
			seen[name] = true
		}
	}
	return nil
}

// runEngine counts the same patterns with an engine.
func (f *benchMatchaFlags) runEngine(ctx context.Context, g *weft.Graph, counts []string, engine string) (s bench.Sample, err error) {
	ctx, cancel := f.within(ctx)
	defer cancel()
	o := append(f.commonFlags.options(), weft.WithEngine(engine), weft.WithDirections(false))
	var results []weft.Result
	for _, name := range counts {
		var k int
		if _, err := fmt.Sscanf(name, "motifs(%d)", &k); err == nil {
			all, err := g.Motifs(ctx, k, weft.Concerning("Graph.Motifs", o...)...)
			if err != nil {
				return s, err
			}
			results = append(results, all...)
			continue
		}
		q, err := weft.PatternByName(name)
		if err != nil {
			return s, err
		}
		r, err := g.Count(ctx, q, weft.Concerning("Graph.Count", o...)...)
		if err != nil {
			return s, err
		}
		results = append(results, r)
	}
	var answers []string
	for _, r := range results {
		s.Took, s.Plan, s.Prepare = s.Took+r.Search, s.Plan+r.Plan, s.Prepare+r.Prepare
		answers = append(answers, r.Subgraphs.String())
	}
	s.Answer = strings.Join(answers, " ")
	return s, nil
}
