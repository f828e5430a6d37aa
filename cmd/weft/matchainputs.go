package main

import (
	"slices"
	"strings"

	"github.com/weftgraph/weft"
)

// withInputs reads the inputs that the flags give, and closes graphs afterwards.
func (a *app) withInputs(f *matchaFlags, m *weft.Matcha, do func(in map[string]any) error) error {
	if err := f.checkValues(a.ctx); err != nil {
		return err
	}
	in := map[string]any{}
	var graphs []*weft.Graph
	defer func() {
		for _, g := range graphs {
			g.Close()
		}
	}()
	open := func(name, path string) error {
		files := f.graphFlags
		files.path = path
		bar := a.progress(f.progress)
		g, err := a.load(&files, &f.commonFlags, bar)
		if err != nil {
			return err
		}
		graphs = append(graphs, g)
		in[name] = g
		return nil
	}
	if f.path != "" {
		var names []string
		for _, i := range m.Inputs() {
			if isGraph(i.Type) {
				names = append(names, i.Name)
			}
		}
		if len(names) != 1 {
			return usagef("-g is for a program with one Graph, and this one has %d; see --input", len(names))
		}
		if err := open(names[0], f.path); err != nil {
			return err
		}
	}
	for _, s := range f.inputs {
		name, value, ok := strings.Cut(s, "=")
		i := slices.IndexFunc(m.Inputs(), func(i weft.MatchaInput) bool { return i.Name == name })
		switch {
		case !ok || name == "":
			return usagef("--input %q: want NAME=VALUE", s)
		case i < 0:
			return usagef("--input %s: the program has no input %s", s, name)
		case in[name] != nil:
			return usagef("the input %s is given twice", name)
		}
		t := m.Inputs()[i].Type
		if isGraph(t) {
			if err := open(name, value); err != nil {
				return err
			}
			continue
		}
		ctx, cancel := a.reading(&f.commonFlags)
		v, err := await(ctx, func() (any, error) { return matchaValue(ctx, t, value) })
		cancel()
		if a.interruption(ctx, err) != nil {
			return a.whileReading(ctx, value, err)
		}
		if err != nil && strings.HasPrefix(t, "List") { // a file
			return kindf(weft.ErrInput, "--input %s: %v", s, err)
		}
		if err != nil {
			return usagef("--input %s: %v", s, err)
		}
		in[name] = v
	}
	return do(in)
}

// isGraph reports whether an input of a type is a graph, with or without a property.
func isGraph(t string) bool { return strings.HasPrefix(t, "Graph") }
