// Package cuda writes kir programs as CUDA C++ text over the run-time library of device code
// (base/device.cuh, base/group.cuh, base/setops.cuh, base/graph.cuh). The text is C++17 and
// names no toolkit function, so that a host compiler takes it too.
//
// Every function has the globals as a parameter, const Graph& q. A group's function is a
// template over its group, whose lanes work together inside set operations. The group's type
// defines what Emit and Fail do: emit(g, row…) and fail(g, code).
package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/ctext"
)

// Options say how loops are written.
type Options struct {
	// Watched: a turn of a group's loop begins only if g.turn() holds, the same in
	// all lanes, so that a run can be stopped.
	Watched bool
	// Shared are loops over sets whose turns other groups may take, by their level:
	// SharedLoop<G, level> hands out the turns.
	Shared map[*kir.Each]int
	// Neighbours says that a predicate over a set's elements tests membership in one vertex's
	// list by neighbours(a, u), made before the loop, and has(v).
	Neighbours bool
}

// Text returns the program as C++.
func Text(p *kir.Program) string { return TextOf(p, Options{}) }

// TextOf is Text with options.
func TextOf(p *kir.Program, o Options) string {
	w := &writer{p: p, o: o}
	w.Comments("// ", p.Doc)
	w.Line("#pragma once")
	for _, name := range []string{"base/device.cuh", "base/group.cuh", "base/setops.cuh", "base/graph.cuh"} {
		w.Line("#include \"%s\"", name)
	}
	if hasGuarded(p) {
		w.Line("#include \"base/arithmetic.cuh\"")
	}
	if slices.ContainsFunc(p.Funcs, overRows) {
		w.Line("#include \"neighbourhood/rows.cuh\"")
	}
	for _, d := range p.Defines {
		w.Line("#define %s %d", d.Name, d.Value)
	}
	for _, a := range p.Types {
		w.Line("typedef %s;", declare(a.Type, a.Name))
	}
	w.graph()
	for _, r := range p.Records {
		w.record(r)
	}
	families := map[string]bool{}
	for _, o := range p.Owners {
		if o.Family != "" && !families[o.Family] {
			families[o.Family] = true
			w.Line("template<int> struct %s;", o.Family)
		}
	}
	for _, o := range p.Owners {
		w.owner(o)
	}
	return w.String()
}

// writer gathers the text.
type writer struct {
	p *kir.Program
	o Options
	ctext.Lines
	fn   *function
	lane bool // inside a predicate, which each lane evaluates alone
	// element is the predicate's variable.
	element *kir.Var
}

// graph writes the struct of the globals; Layout says the same in bytes.
func (w *writer) graph() {
	w.Line("struct Graph {")
	w.Indent++
	w.Line("static constexpr bool sparse = %t; // some lists are", slices.ContainsFunc(w.p.Globals, func(g *kir.GlobalDef) bool { return g.Sparse != nil }))
	for _, g := range members {
		n := w.p.NumGlobals(g.kind)
		if n == 0 && !g.always {
			continue
		}
		w.Line("%s %s[%d];", g.text, g.name, max(1, n))
	}
	w.Line("u32 n; // vertices")
	if n := w.p.NumGlobals(kir.U32); n > 0 {
		w.Line("u32 limit[%d];", n)
	}
	w.Indent--
	w.Line("};")
}

// members of Graph in their order in memory, before n and the limits.
var members = []struct {
	kind   kir.Kind
	text   string
	name   string
	always bool
}{
	{kir.Adj, "Adj", "adj", true},
	{kir.Bits, "const u64*", "bits", true},
	{kir.Array, "const u32*", "ids", false},
	{kir.Col, "Column", "col", false},
}

func (w *writer) record(r *kir.Record) {
	w.Comments("// ", r.Doc)
	var fields []string
	for _, f := range r.Fields {
		fields = append(fields, declare(f.Type, f.Name)+";")
	}
	w.Line("struct %s { %s };", r.Name, strings.Join(fields, " "))
}

func (w *writer) owner(o kir.Owner) {
	w.Comments("// ", o.Doc)
	if o.Family != "" {
		w.Line("template<> struct %s<%d> {", o.Family, o.Index)
		w.Indent++
		for _, c := range o.Consts {
			w.Line("static constexpr u32 %s = %d;", c.Name, c.Value)
		}
	}
	for _, f := range w.p.Funcs {
		if f.Family == o.Family && f.Index == o.Index {
			w.function(f)
		}
	}
	if o.Family != "" {
		w.Indent--
		w.Line("};")
	}
}

// overRows reports whether f is a function over rows: a template over their type.
func overRows(f *kir.Func) bool {
	return slices.ContainsFunc(f.Params, func(v *kir.Var) bool { return v.T.Kind == kir.Hood })
}

// declare is a variable, field or parameter of a type.
func declare(t kir.Type, name string) string {
	switch t.Kind {
	case kir.Array:
		if t.Len > 0 {
			return fmt.Sprintf("%s %s[%d]", scalar(t.Elem), name, t.Len)
		}
		if t.Mut {
			return scalar(t.Elem) + "* " + name
		}
		return "const " + scalar(t.Elem) + "* " + name
	case kir.Rec:
		if t.Mut {
			return t.Record.Name + "& " + name
		}
		return "const " + t.Record.Name + "& " + name
	case kir.Hood:
		return "const Hood<Row>& " + name
	}
	return scalar(t.Kind) + " " + name
}

func scalar(k kir.Kind) string {
	switch k {
	case kir.Set:
		return "Set"
	case kir.Row:
		return "Row"
	}
	return k.String()
}

// hasGuarded reports whether the program has operators that are functions of base/arithmetic.cuh.
func hasGuarded(p *kir.Program) bool {
	found := false
	for _, f := range p.Funcs {
		kir.WalkStmts(f.Body, func(s kir.Stmt) {
			kir.StmtExprs(s, func(x kir.Expr) {
				b, ok := x.(kir.Binary)
				found = found || ok && guarded(b)
			})
		})
	}
	return found
}
