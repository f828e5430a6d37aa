package cuda

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/ctext"
)

// function is the state of the function that the writer writes.
type function struct {
	*kir.Func
	names    map[*kir.Var]string
	taken    map[string]bool
	last     map[string]int // the numbers behind names so far
	assigned map[*kir.Var]bool
}

func (w *writer) function(f *kir.Func) {
	w.fn = &function{Func: f, names: map[*kir.Var]string{}, taken: reserved(), last: map[string]int{}, assigned: ctext.Assigned(f.Body)}
	w.Comments("// ", f.Doc)
	params := []string{"const Graph& q"}
	head := "DEV "
	if f.Rare {
		head = "DEV_NOINLINE "
	}
	if f.Family != "" {
		head = "static " + head
	}
	if f.Scope == kir.Group || fails(f) {
		head = "template<class G> " + head
		params = []string{"G g", "const Graph& q"}
	}
	if overRows(f) {
		head = "template<class Row> " + head
	}
	for _, v := range f.Params {
		switch name := w.fn.name(v); {
		case v.Out:
			params = append(params, scalar(v.T.Kind)+"& "+name)
		case v.T.Kind == kir.Array && v.T.Len > 0:
			params = append(params, declare(kir.Type{Kind: kir.Array, Elem: v.T.Elem, Mut: v.T.Mut}, name))
		default:
			params = append(params, declare(v.T, name))
		}
	}
	w.Line("%s%s %s(%s) {", head, scalar(f.Result.Kind), f.Name, strings.Join(params, ", "))
	if f.Indivisible {
		a, i, n := w.fn.name(f.Params[0]), w.fn.name(f.Params[1]), w.fn.name(f.Params[2])
		old := w.fn.fresh("old")
		w.Line("  u32 %s = 0;", old)
		w.Line("  if (g.leader()) %s = atomic_add(&%s[%s], %s);", old, a, i, n)
		w.Line("  return g.shfl(%s, 0);", old)
	} else {
		w.block(f.Body)
	}
	w.Line("}")
	w.fn = nil
}

// name is the text of a variable: its own name, with a number where another
// variable of the function has it.
func (f *function) name(v *kir.Var) string {
	if s, ok := f.names[v]; ok {
		return s
	}
	s := v.Name
	for f.taken[s] {
		i := max(f.last[v.Name], 1) + 1
		f.last[v.Name] = i
		s = fmt.Sprintf("%s_%d", v.Name, i)
	}
	f.taken[s], f.names[v] = true, s
	return s
}

func (w *writer) block(body []kir.Stmt) {
	w.Indent++
	for _, s := range body {
		together := w.fn.Scope == kir.Group && writes(s)
		if together {
			w.Line("g.sync();")
		}
		w.stmt(s)
		if together {
			w.Line("g.sync();")
		}
	}
	w.Indent--
}

func (w *writer) stmt(s kir.Stmt) {
	switch s := s.(type) {
	case *kir.Comment:
		w.Comments("// ", s.Text)
	case *kir.Let:
		w.let(s)
	case *kir.Assign:
		if w.fn.Scope == kir.Group && kir.Shared(s.To) {
			w.put(s.To, s.X)
			return
		}
		w.Line("%s = %s;", w.expr(s.To), w.expr(s.X))
	case *kir.Accumulate:
		if w.fn.Scope == kir.Group && kir.Shared(s.To) {
			w.put(s.To, kir.Op2(kir.Add, s.To, s.X))
			return
		}
		if s.To.Type().Kind == kir.I64 {
			w.Line("%s = %s;", w.expr(s.To), w.expr(kir.Op2(kir.Add, s.To, s.X)))
			return
		}
		w.Line("%s += %s;", w.expr(s.To), w.expr(s.X))
	case *kir.If:
		w.ifElse(s)
	case *kir.Each:
		w.each(s)
	case *kir.Loop:
		i := w.fn.name(s.I)
		end := w.expr(s.Hi)
		if _, ok := s.Hi.(kir.Const); !ok { // it is evaluated once
			end = w.fn.fresh(i + "end")
			w.Line("const %s %s = %s;", scalar(s.I.T.Kind), end, w.expr(s.Hi))
		}
		w.Line("for (%s %s = %s; %s < %s%s; ++%s) {", scalar(s.I.T.Kind), i, w.expr(s.Lo), i, end, w.watched(), i)
		w.block(s.Body)
		w.Line("}")
	case *kir.SetOp:
		w.setOp(s)
	case *kir.Emit:
		row := make([]string, len(s.Row))
		for i, x := range s.Row {
			row[i] = w.expr(x)
		}
		w.Line("emit(%s);", strings.Join(append([]string{"g"}, row...), ", "))
	case *kir.Fail:
		w.Line("fail(g, %s);", w.expr(s.Code))
	case *kir.Do:
		w.Line("%s;", w.expr(s.X))
	case *kir.Return:
		if s.X == nil {
			w.Line("return;")
		} else {
			w.Line("return %s;", w.expr(s.X))
		}
	default:
		panic(fmt.Sprintf("cuda: no text for %T", s))
	}
}

func (w *writer) let(s *kir.Let) {
	d := declare(s.Var.T, w.fn.name(s.Var))
	switch {
	case w.fn.assigned[s.Var] && s.Init == nil:
		w.Line("%s;", d)
		return
	case !w.fn.assigned[s.Var] && s.Var.T.Kind != kir.Array:
		d = "const " + d
	}
	w.Line("%s = %s;", d, w.expr(s.Init))
}

func (w *writer) ifElse(s *kir.If) {
	if len(s.Else) == 0 && len(s.Then) == 1 {
		if r, ok := s.Then[0].(*kir.Return); ok {
			text := "return;"
			if r.X != nil {
				text = "return " + w.expr(r.X) + ";"
			}
			w.Line("if (%s) %s", w.expr(s.Cond), text)
			return
		}
	}
	w.Line("if (%s) {", w.expr(s.Cond))
	w.block(s.Then)
	if len(s.Else) > 0 {
		w.Line("} else {")
		w.block(s.Else)
	}
	w.Line("}")
}

func (w *writer) each(s *kir.Each) {
	x := w.fn.name(s.X)
	if s.Over.Type().Kind == kir.Row {
		walk := w.fn.fresh(x + "s")
		w.Line("for (RowWalk<Row> %s(%s); %s.next();) {", walk, w.expr(s.Over), walk)
		w.Indent++
		w.Line("const u32 %s = %s.at;", x, walk)
		w.Indent--
		w.block(s.Body)
		w.Line("}")
		return
	}
	set, i := w.fn.fresh(x+"s"), w.fn.fresh(x+"i")
	w.Line("const Set %s = %s;", set, w.expr(s.Over))
	at := i
	if level, ok := w.o.Shared[s]; ok {
		w.Line("for (SharedLoop<G, %d> %s(g, %s.n); %s.next();) {", level, i, set, i)
		at += ".at"
	} else {
		w.Line("for (u32 %s = 0; %s < %s.n%s; ++%s) {", i, i, set, w.watched(), i)
	}
	w.Indent++
	w.Line("const u32 %s = %s.p[%s];", x, set, at)
	w.Indent--
	w.block(s.Body)
	w.Line("}")
}

// watched is the end of a loop's condition.
func (w *writer) watched() string {
	if w.o.Watched && w.fn.Scope == kir.Group {
		return " && g.turn()"
	}
	return ""
}

// fresh reserves a name for a variable that the program does not have.
func (f *function) fresh(name string) string { return f.name(&kir.Var{Name: name}) }

func (w *writer) setOp(s *kir.SetOp) {
	if s.Op == kir.Merge {
		pieces := make([]string, len(s.Pieces))
		for i, p := range s.Pieces {
			gone := "Set{0, 0}"
			if p.Gone != nil {
				gone = w.expr(p.Gone)
			}
			pieces[i] = fmt.Sprintf("{%s, %s}", w.expr(p.Run), gone)
		}
		all, out := w.fn.fresh("pieces"), w.expr(s.Out)
		w.Line("const Piece %s[] = {%s};", all, strings.Join(pieces, ", "))
		w.Line("%s = Set{%s, merge(g, %s, %s)};", w.expr(s.To), out, out, all)
		return
	}
	to, out, a := w.expr(s.To), w.expr(s.Out), w.expr(s.A)
	if s.Op == kir.Filter {
		w.Line("%s = Set{%s, filter(g, %s, %s, %s)};", to, out, out, a, w.lambda(s.X, s.Keep))
		return
	}
	w.Line("%s = Set{%s, %s(g, %s, %s, %s)};", to, out, s.Op, out, a, w.expr(s.B))
}

// lambda is a predicate of one lane.
func (w *writer) lambda(x *kir.Var, keep kir.Expr) string {
	lane, element := w.lane, w.element
	w.lane, w.element = true, x
	defer func() { w.lane, w.element = lane, element }()
	return fmt.Sprintf("[&](u32 %s) { return %s; }", w.fn.name(x), w.expr(keep))
}
