// Package c writes kir programs as C text over a small run-time library (Runtime). The text is
// C11 with the extensions that gcc and clang share.
//
// A thread group is one worker here, a thread of the machine. Every function has two parameters
// of the run: the globals, const Graph *q, and the worker, Worker *w. Loops of group functions
// end early once the run is told to stop; the values that functions then return have no
// meaning.
package c

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/ctext"
)

//go:embed runtime/*.h
var runtimeFiles embed.FS

// Runtime is the run-time library: the text of each file by its name.
func Runtime() map[string]string {
	out := map[string]string{}
	for _, name := range []string{"weft.h", "setops.h", "graph.h", "rows.h"} {
		text, err := runtimeFiles.ReadFile("runtime/" + name)
		if err != nil {
			panic(err)
		}
		out[name] = string(text)
	}
	return out
}

// Options say what the text is used for.
type Options struct {
	// Totals are the variables that a run's limit counts. The text reports additions to them at
	// once. They are U64 or U128.
	Totals []*kir.Var
	// Shared are loops over sets, of which a worker lends turns to others while it
	// runs them. A loop of level 2 is inside one of level 1.
	Shared map[*kir.Each]SharedLoop
}

// SharedLoop is a loop of a function whose turns are shared.
type SharedLoop struct {
	Level  int // 1 or 2
	Number int // of the function's shared loops
}

// Text returns the program as C.
func Text(p *kir.Program) string { return TextOf(p, Options{}) }

// TextOf is Text for a purpose.
func TextOf(p *kir.Program, o Options) string {
	w := &writer{p: p, o: o, early: map[*kir.Func]bool{}}
	w.Comments("// ", p.Doc)
	w.Line("#include \"graph.h\"")
	if slices.ContainsFunc(p.Funcs, overRows) {
		w.Line("#include \"rows.h\"")
	}
	for _, d := range p.Defines {
		w.Line("#define %s %d", d.Name, d.Value)
	}
	w.Line("typedef %s Cell; // of what is emitted", RowKind(p))
	for _, a := range p.Types {
		w.Line("typedef %s;", declare(a.Type, a.Name))
	}
	w.graph()
	for _, r := range p.Records {
		w.record(r)
	}
	// In the order of definition, which callees come first in; an owner's text
	// stands before the first of its functions.
	told := map[string]bool{}
	for _, f := range p.Funcs {
		if f.Family != "" && !told[f.FullName()[:strings.Index(f.FullName(), ":")]] {
			told[f.FullName()[:strings.Index(f.FullName(), ":")]] = true
			for _, o := range p.Owners {
				if o.Family == f.Family && o.Index == f.Index {
					w.Comments("// ", o.Doc)
				}
			}
		}
		w.function(f)
	}
	return w.String()
}

// RowKind is the kind of the components of rows that p emits. It is U32 if all of them are;
// otherwise each component is a U64 with the bits of its value.
func RowKind(p *kir.Program) kir.Kind {
	kind := kir.U32
	for _, f := range p.Funcs {
		kir.WalkStmts(f.Body, func(s kir.Stmt) {
			if e, ok := s.(*kir.Emit); ok && slices.ContainsFunc(e.Row, func(x kir.Expr) bool { return x.Type().Kind != kir.U32 }) {
				kind = kir.U64
			}
		})
	}
	return kind
}

// Name is the name of a function in the text.
func Name(f *kir.Func) string {
	if f.Family == "" {
		return "f_" + f.Name
	}
	return fmt.Sprintf("%s%d_%s", f.Family, f.Index, f.Name)
}

// writer gathers the text.
type writer struct {
	p *kir.Program
	o Options
	ctext.Lines
	fn    *function
	temps int // number of temporary names for expressions
	early map[*kir.Func]bool
}

// graph writes the struct of the globals; Layout says the same in bytes.
func (w *writer) graph() {
	w.Line("struct Graph {")
	w.Indent++
	w.Line("struct GraphHead head;")
	for _, g := range members {
		if n := w.p.NumGlobals(g.kind); n > 0 {
			w.Line("%s %s[%d];", g.text, g.name, n)
		}
	}
	w.Line("u32 n; // vertices")
	if n := w.p.NumGlobals(kir.U32); n > 0 {
		w.Line("u32 limit[%d];", n)
	}
	w.Indent--
	w.Line("};")
}

// members of Graph in their order in memory, between the head and n.
var members = []struct {
	kind kir.Kind
	text string
	name string
}{
	{kir.Adj, "Adj", "adj"},
	{kir.Bits, "const u64 *", "bits"},
	{kir.Array, "const u32 *", "ids"},
	{kir.Col, "Column", "col"},
}

func (w *writer) record(r *kir.Record) {
	w.Comments("// ", r.Doc)
	var fields []string
	for _, f := range r.Fields {
		fields = append(fields, declare(f.Type, f.Name)+";")
	}
	w.Line("typedef struct { %s } %s;", strings.Join(fields, " "), r.Name)
}

// overRows reports whether f is a function over rows.
func overRows(f *kir.Func) bool {
	return slices.ContainsFunc(f.Params, func(v *kir.Var) bool { return v.T.Kind == kir.Hood })
}

// declare is a variable, field or parameter of a type.
func declare(t kir.Type, name string) string {
	constant := "const "
	if t.Mut {
		constant = ""
	}
	switch t.Kind {
	case kir.Array:
		if t.Len > 0 {
			return fmt.Sprintf("%s %s[%d]", scalar(t.Elem), name, t.Len)
		}
		return constant + scalar(t.Elem) + " *" + name
	case kir.Rec:
		return constant + t.Record.Name + " *" + name
	case kir.Hood:
		return "const Hood *" + name
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
