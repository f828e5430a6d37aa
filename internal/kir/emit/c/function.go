package c

import (
	"fmt"
	"slices"
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
	around   string // of a shared loop of level 2: the one of level 1, as weft.h's functions have it
}

// reserved are names that variables must not have.
var reserved = strings.Fields(`q w Graph Worker Run Set Adj Row Hood Column Cell Wide Hub u32 u64 i64 f64 u128 bool true false
	auto break case char const continue default do double else enum extern float for goto if inline int long register
	restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof unix linux`)

func (w *writer) function(f *kir.Func) {
	w.fn = &function{Func: f, names: map[*kir.Var]string{}, taken: map[string]bool{}, last: map[string]int{}, assigned: ctext.Assigned(f.Body)}
	for _, name := range reserved {
		w.fn.taken[name] = true
	}
	for _, r := range w.p.Records {
		w.fn.taken[r.Name] = true
	}
	w.Comments("// ", f.Doc)
	params := []string{"const Graph *restrict q", "Worker *w"}
	for _, v := range f.Params {
		switch name := w.fn.name(v); {
		case v.Out:
			params = append(params, scalar(v.T.Kind)+" *"+name)
		case v.T.Kind == kir.Array && v.T.Len > 0:
			params = append(params, declare(kir.Type{Kind: kir.Array, Elem: v.T.Elem, Mut: v.T.Mut}, name))
		default:
			params = append(params, declare(v.T, name))
		}
	}
	w.Line("static inline %s %s(%s) {", scalar(f.Result.Kind), Name(f), strings.Join(params, ", "))
	if f.Indivisible {
		a, i, n := w.fn.name(f.Params[0]), w.fn.name(f.Params[1]), w.fn.name(f.Params[2])
		w.Line("  return __atomic_fetch_add(&%s[%s], %s, __ATOMIC_RELAXED);", a, i, n)
	} else {
		w.block(f.Body)
	}
	w.Line("}")
	w.fn = nil
}

// name is the text of a variable: its own name, with a number where another
// variable of the function, or something else, has it.
func (f *function) name(v *kir.Var) string {
	if s, ok := f.names[v]; ok {
		return s
	}
	first := v.Name
	if strings.HasPrefix(first, "w_") || strings.HasPrefix(first, "f_") { // the library's, and functions'
		first = "v_" + first
	}
	s := first
	for f.taken[s] {
		i := max(f.last[first], 1) + 1
		f.last[first] = i
		s = fmt.Sprintf("%s_%d", first, i)
	}
	f.taken[s], f.names[v] = true, s
	return s
}

// fresh reserves a name for a variable that the program does not have.
func (f *function) fresh(name string) string { return f.name(&kir.Var{Name: name}) }

func (w *writer) block(body []kir.Stmt) {
	w.Indent++
	for _, s := range body {
		w.stmt(s)
		switch s.(type) {
		case *kir.Let, *kir.Assign, *kir.Accumulate, *kir.Do:
			w.pollAfter(s)
		}
	}
	w.Indent--
}

// leave is the statement that ends a function that was told to stop.
func (w *writer) leave() string {
	if w.fn.Result.Kind == kir.Void {
		return "return;"
	}
	return fmt.Sprintf("return (%s){0};", scalar(w.fn.Result.Kind))
}

func (w *writer) stmt(s kir.Stmt) {
	switch s := s.(type) {
	case *kir.Comment:
		w.Comments("// ", s.Text)
	case *kir.Let:
		w.let(s)
	case *kir.Assign:
		w.Line("%s = %s;", w.expr(s.To), w.expr(s.X))
	case *kir.Accumulate:
		if r, ok := s.To.(kir.Ref); ok && slices.Contains(w.o.Totals, r.Var) {
			w.Line("w_tally(w, &%s, %s);", w.bound(s.To, ctext.Primary), w.expr(s.X))
			return
		}
		if s.To.Type().Kind == kir.U128 {
			w.Line("w_add(w, &%s, %s);", w.bound(s.To, ctext.Primary), w.expr(s.X))
			return
		}
		w.Line("%s += %s;", w.expr(s.To), w.expr(s.X))
	case *kir.If:
		w.ifElse(s)
	case *kir.Each:
		w.each(s)
	case *kir.Loop:
		w.loop(s)
	case *kir.SetOp:
		w.setOp(s)
	case *kir.Emit:
		row := make([]string, len(s.Row))
		for i, x := range s.Row {
			row[i] = w.cell(x)
		}
		w.Line("if (w_emit(w, (const Cell[]){%s}, %d * sizeof(Cell))) %s", strings.Join(row, ", "), len(row), w.leave())
	case *kir.Fail:
		w.Line("w_fail(w, %s);", w.expr(s.Code))
		w.Line("%s", w.leave())
	case *kir.Do:
		w.Line("%s;", w.expr(s.X))
	case *kir.Return:
		if s.X == nil {
			w.Line("return;")
		} else {
			w.Line("return %s;", w.expr(s.X))
		}
	default:
		panic(fmt.Sprintf("c: no text for %T", s))
	}
}

// cell is a component of an emitted row.
func (w *writer) cell(x kir.Expr) string {
	if x.Type().Kind == kir.F64 {
		return fmt.Sprintf("((union { f64 f; u64 u; }){%s}).u", w.expr(x))
	}
	return w.expr(x)
}

func (w *writer) let(s *kir.Let) {
	d := declare(s.Var.T, w.fn.name(s.Var))
	switch {
	case s.Init == nil:
		w.Line("%s = {0};", d)
		return
	case !w.fn.assigned[s.Var] && s.Var.T.Kind != kir.Array && s.Var.T.Kind != kir.Rec:
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
	w.Indent++
	w.pollAfter(s)
	w.Indent--
	w.block(s.Then)
	if len(s.Else) > 0 {
		w.Line("} else {")
		w.Indent++
		w.pollAfter(s)
		w.Indent--
		w.block(s.Else)
	}
	w.Line("}")
}

// pollAfter leaves the function after a statement with a call that may have ended early. The
// values left by such a call have no meaning.
func (w *writer) pollAfter(s kir.Stmt) {
	early := false
	kir.StmtExprs(s, func(x kir.Expr) {
		call, ok := x.(kir.Invoke)
		early = early || ok && w.endsEarly(call.Fn)
	})
	if early {
		w.Line("if (w_stopped(w)) %s", w.leave())
	}
}

// endsEarly reports whether f, or something that it calls, looks whether the run
// is to stop.
func (w *writer) endsEarly(f *kir.Func) bool {
	early, known := w.early[f]
	if known {
		return early
	}
	kir.WalkStmts(f.Body, func(s kir.Stmt) {
		switch s.(type) {
		case *kir.Each, *kir.Loop:
			early = early || f.Scope == kir.Group
		case *kir.Emit, *kir.Fail:
			early = true
		}
		kir.StmtExprs(s, func(x kir.Expr) {
			call, ok := x.(kir.Invoke)
			early = early || ok && w.endsEarly(call.Fn)
		})
	})
	w.early[f] = early
	return early
}

// poll ends a loop of a group's once the run is to stop. Lanes' loops are short.
func (w *writer) poll() {
	if w.fn.Scope == kir.Group {
		w.Line("if (w_stopped(w)) %s", w.leave())
	}
}

func (w *writer) loop(s *kir.Loop) {
	i := w.fn.name(s.I)
	end := w.expr(s.Hi)
	if _, ok := s.Hi.(kir.Const); !ok { // it is evaluated once
		end = w.fn.fresh(i + "end")
		w.Line("const %s %s = %s;", scalar(s.I.T.Kind), end, w.expr(s.Hi))
	}
	w.Line("for (%s %s = %s; %s < %s; ++%s) {", scalar(s.I.T.Kind), i, w.expr(s.Lo), i, end, i)
	w.Indent++
	w.poll()
	w.Indent--
	w.block(s.Body)
	w.Line("}")
}

func (w *writer) each(s *kir.Each) {
	x := w.fn.name(s.X)
	set, i := w.fn.fresh(x+"s"), w.fn.fresh(x+"i")
	w.Line("const %s %s = %s;", scalar(s.Over.Type().Kind), set, w.expr(s.Over))
	if s.Over.Type().Kind == kir.Row {
		word := w.fn.fresh(x + "w")
		w.Line("for (u32 %s = 0; %s < W_ROW_WORDS; ++%s)", i, i, i)
		w.Line("for (u64 %s = %s.w[%s]; %s != 0; %s &= %s - 1) {", word, set, i, word, word, word)
		w.Indent++
		w.Line("const u32 %s = 64 * %s + (u32)__builtin_ctzll(%s);", x, i, word)
	} else if shared, ok := w.o.Shared[s]; ok {
		w.sharedEach(s, shared, set, i)
		return
	} else {
		w.Line("for (u32 %s = 0; %s < %s.n; ++%s) {", i, i, set, i)
		w.Indent++
		w.Line("const u32 %s = %s.p[%s];", x, set, i)
	}
	w.poll()
	w.Indent--
	w.block(s.Body)
	w.Line("}")
}

// sharedEach is a loop over a set that runs the worker's turns, and lends the remaining turns
// to idle workers.
func (w *writer) sharedEach(s *kir.Each, l SharedLoop, set, i string) {
	x := w.fn.name(s.X)
	end := w.fn.fresh(x + "end")
	this := fmt.Sprintf("%du, %s, &%s", l.Number, i, end)
	w.Line("u32 %s = 0, %s = %s.n;", i, end, set)
	w.Line("w_turns(w, %d, %d, &%s, &%s);", l.Level, l.Number, i, end)
	w.Line("for (; %s < %s; ++%s) {", i, end, i)
	w.Indent++
	w.Line("const u32 %s = %s.p[%s];", x, set, i)
	w.Line("if (w_called(w)) {")
	w.Indent++
	w.poll()
	if around := w.fn.around; l.Level == 2 {
		w.Line("w_lend2(w, %s, %s);", around, this)
	} else {
		w.Line("w_lend(w, %s);", this)
		w.fn.around = this
		defer func() { w.fn.around = "" }()
	}
	w.Indent--
	w.Line("}")
	w.Indent--
	w.block(s.Body)
	w.Line("}")
}

func (w *writer) setOp(s *kir.SetOp) {
	if s.Op == kir.Merge {
		runs, gone := make([]string, len(s.Pieces)), make([]string, len(s.Pieces))
		for i, p := range s.Pieces {
			runs[i], gone[i] = w.expr(p.Run), "{0, 0, 0}"
			if p.Gone != nil {
				gone[i] = w.expr(p.Gone)
			}
		}
		w.Line("%s = w_merge_pieces(%s, (Set[]){%s}, (Set[]){%s}, %d);", w.expr(s.To), w.expr(s.Out), strings.Join(runs, ", "), strings.Join(gone, ", "), len(runs))
		return
	}
	to, out, a := w.expr(s.To), w.expr(s.Out), w.expr(s.A)
	if s.Op != kir.Filter {
		w.Line("%s = w_%s(q, %s, %s, %s);", to, s.Op, out, a, w.expr(s.B))
		return
	}
	x := w.fn.name(s.X)
	room, from, n, i := w.fn.fresh(x+"o"), w.fn.fresh(x+"s"), w.fn.fresh(x+"n"), w.fn.fresh(x+"i")
	w.Line("u32 *const %s = %s, %s = 0;", room, out, n)
	w.Line("const Set %s = %s;", from, a)
	w.Line("for (u32 %s = 0; %s < %s.n; ++%s) {", i, i, from, i)
	w.Indent++
	w.Line("const u32 %s = %s.p[%s];", x, from, i)
	w.Line("%s[%s] = %s; // kept where it passes", room, n, x)
	w.Line("%s += %s ? 1 : 0;", n, w.bound(s.Keep, ctext.Or))
	w.Indent--
	w.Line("}")
	w.Line("%s = (Set){%s, %s, 0};", to, room, n)
}
