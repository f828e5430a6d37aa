package irgen

import (
	"fmt"

	"github.com/weftgraph/weft/internal/kir"
)

// phases divides the program's statements into phases: loops whose turns any worker may take,
// and the statements before, between and after them. results are variables of the program.
func (l *lowerer) phases(c *Code, body []kir.Stmt, results []*kir.Var) {
	c.State = &kir.Record{Name: "State", Doc: "The state that the phases share."}
	l.prog.Records, l.prog.Owners = append(l.prog.Records, c.State), []kir.Owner{{}}
	d := &division{l: l, c: c, fields: map[*kir.Var]int{}, sizes: map[*kir.Var]int{}}
	d.state = &kir.Var{Name: "state", T: kir.Of(c.State).Writable()}
	d.read = &kir.Var{Name: "state", T: kir.Of(c.State)}
	d.divide(body, l.parallel)
	if !d.crossable() {
		d.divide(body, nil)
	}
	for _, v := range results {
		c.Result = append(c.Result, d.field(v))
	}
	for i := range d.parts {
		if p := &d.parts[i]; p.loop != nil {
			d.item(i, p)
		} else {
			d.run(i, p)
		}
	}
	for i, p := range d.parts {
		if p.loop == nil {
			l.prog.Funcs[i].Body = append(l.prog.Funcs[i].Body, p.stores...)
		}
	}
}

// division is a program in parts, which become phases.
type division struct {
	l           *lowerer
	c           *Code
	parts       []part
	home        map[*kir.Var]*origin // of the variables that the program itself declares
	fields      map[*kir.Var]int     // of State: the variables that it has
	sizes       map[*kir.Var]int     // and of the sets in memory whose sizes it has
	state, read *kir.Var             // the parameter: of run, of item
}

// part is the statements of a phase: one parallel loop, or any others.
type part struct {
	loop   *kir.Loop
	body   []kir.Stmt
	stores []kir.Stmt // to State, at the end
}

// origin is where a variable gets its value.
type origin struct {
	part int
	let  *kir.Let
	op   *kir.SetOp // of a set in memory
}

// divide makes a part of each loop that is parallel and allows it.
func (d *division) divide(body []kir.Stmt, parallel map[kir.Stmt]bool) {
	d.parts, d.home = []part{{}}, map[*kir.Var]*origin{}
	for _, s := range body {
		last := len(d.parts) - 1
		switch s := s.(type) {
		case *kir.Let:
			d.home[s.Var] = &origin{part: last, let: s}
		case *kir.SetOp:
			if o := d.home[s.To.(kir.Ref).Var]; o != nil {
				o.op = s
			}
		case *kir.Loop:
			if parallel[s] && d.separable(s) {
				d.parts = append(d.parts, part{loop: s, body: s.Body}, part{})
				continue
			}
		}
		d.parts[last].body = append(d.parts[last].body, s)
	}
	if last := len(d.parts) - 1; last > 0 && len(d.parts[last].body) == 0 {
		d.parts = d.parts[:last]
	}
}

// crossable reports whether the values that a part needs from another can be had there. They
// are computed again, or kept in State, and change only as sums.
func (d *division) crossable() bool {
	for i, p := range d.parts {
		for _, v := range d.wanted(i) {
			o := d.home[v]
			if o == nil || o.part == i {
				continue
			}
			switch v.T.Kind {
			case kir.Bool, kir.U32, kir.U64, kir.I64, kir.F64, kir.Set:
			case kir.Array:
				if o.let.Init == nil {
					return false
				}
			default:
				return false
			}
		}
		for v := range changed(p.body) {
			if o := d.home[v]; p.loop == nil && o != nil && o.part != i {
				return false
			}
		}
	}
	return true
}

// wanted are the variables that a part reads and does not declare, and those that
// tell how many items the loop behind it has.
func (d *division) wanted(i int) []*kir.Var {
	p := d.parts[i]
	var bounds []kir.Expr
	if p.loop != nil {
		bounds = append(bounds, p.loop.Lo)
	} else if i+1 < len(d.parts) {
		next := d.parts[i+1].loop
		bounds = append(bounds, next.Lo, next.Hi)
	}
	var out []*kir.Var
	seen := inside(p.body)
	if p.loop != nil {
		seen[p.loop.I] = true
	}
	want := func(x kir.Expr) {
		if r, ok := x.(kir.Ref); ok && !seen[r.Var] {
			seen[r.Var] = true
			out = append(out, r.Var)
		}
	}
	for _, x := range bounds {
		kir.WalkExpr(x, want)
	}
	kir.WalkStmts(p.body, func(s kir.Stmt) { kir.StmtExprs(s, want) })
	return out
}

// run makes the function of a sequential part.
func (d *division) run(i int, p *part) {
	f := d.function("run", i, d.state)
	f.Body = append(d.prelude(i, d.state), p.body...)
	d.c.Phases = append(d.c.Phases, Phase{Run: f})
}

// item makes the function of a parallel part. The part before says how many items
// there are.
func (d *division) item(i int, p *part) {
	sums := &kir.Record{Name: fmt.Sprintf("Sums%d", i), Doc: fmt.Sprintf("A worker's sums in item%d.", i)}
	d.l.prog.Records = append(d.l.prog.Records, sums)
	to := &kir.Var{Name: "sums", T: kir.Of(sums).Writable()}
	at := &kir.Var{Name: "at", T: kir.T(kir.U64)}
	ph := Phase{Sums: sums, Items: d.newField("items", kir.I64)}
	lo, hi := p.loop.Lo, p.loop.Hi
	n := kir.Expr(kir.Select{If: kir.Op2(kir.Lt, lo, hi), Then: kir.Op2(kir.Sub, hi, lo), Else: kir.C64(lo.Type().Kind, 0)})
	if c, ok := lo.(kir.Const); ok && c.Bits == 0 {
		n = hi
		if hi.Type().Kind == kir.I64 {
			n = kir.Op2(kir.Max, hi, i64(0))
		}
	}
	before := &d.parts[i-1]
	before.stores = append(before.stores, d.store(ph.Items, n))
	have := map[*kir.Var]string{}
	own := inside(p.body)
	kir.WalkStmts(p.body, func(s kir.Stmt) {
		a, ok := s.(*kir.Accumulate)
		if !ok {
			return
		}
		r, ok := a.To.(kir.Ref)
		if !ok || own[r.Var] {
			return
		}
		name, known := have[r.Var]
		if !known {
			name = fmt.Sprintf("%s_%d", r.Var.Name, len(sums.Fields))
			have[r.Var] = name
			sums.Fields = append(sums.Fields, kir.FieldDef{Name: name, Type: r.Var.T})
			ph.Into = append(ph.Into, d.field(r.Var))
		}
		a.To = kir.Field{X: kir.R(to), Name: name}
	})
	ph.Item = d.function("item", i, d.read, to, at)
	first := kir.Op2(kir.Add, lo, convert(lo.Type().Kind, kir.R(at)))
	if c, ok := lo.(kir.Const); ok && c.Bits == 0 {
		first = convert(lo.Type().Kind, kir.R(at))
	}
	body := append(d.prelude(i, d.read), &kir.Let{Var: p.loop.I, Init: first})
	ph.Item.Body = append(body, p.body...)
	d.c.Phases = append(d.c.Phases, ph)
}

// function adds a function of a part.
func (d *division) function(name string, i int, params ...*kir.Var) *kir.Func {
	if len(d.parts) > 1 {
		name = fmt.Sprint(name, i)
	}
	f := &kir.Func{Name: name, Scope: kir.Group, Params: append([]*kir.Var{d.l.mem, d.l.shared}, params...), Result: kir.T(kir.Void)}
	d.l.prog.Funcs = append(d.l.prog.Funcs, f)
	return f
}

// prelude declares the values that a part needs from others.
func (d *division) prelude(i int, state *kir.Var) (out []kir.Stmt) {
	have := map[*kir.Var]bool{}
	var need func(x kir.Expr)
	need = func(x kir.Expr) {
		r, ok := x.(kir.Ref)
		if !ok || have[r.Var] {
			return
		}
		have[r.Var] = true
		o := d.home[r.Var]
		if o == nil || o.part == i {
			return
		}
		init := o.let.Init
		switch k := r.Var.T.Kind; {
		case o.op != nil:
			init = kir.Fn(kir.Part, o.op.Out, kir.C(0), convert(kir.U32, d.load(state, d.size(r.Var))))
		case k == kir.Bool:
			init = kir.Op2(kir.Ne, d.load(state, d.field(r.Var)), i64(0))
		case k != kir.Set && k != kir.Array:
			init = convert(k, d.load(state, d.field(r.Var)))
		}
		kir.WalkExpr(init, need)
		out = append(out, &kir.Let{Var: r.Var, Init: init})
	}
	for _, v := range d.wanted(i) {
		need(kir.R(v))
	}
	return out
}

// field is the place of a variable in State, where the part that declares it
// stores it at its end.
func (d *division) field(v *kir.Var) int {
	f, ok := d.fields[v]
	if !ok {
		kind := kir.I64
		if v.T.Kind == kir.F64 {
			kind = kir.F64
		}
		f = d.newField(v.Name, kind)
		d.fields[v] = f
		home := &d.parts[d.home[v].part]
		home.stores = append(home.stores, d.store(f, kir.R(v)))
	}
	return f
}

// size is the place in State of a set's size.
func (d *division) size(v *kir.Var) int {
	f, ok := d.sizes[v]
	if !ok {
		f = d.newField(v.Name+"_size", kir.I64)
		d.sizes[v] = f
		home := &d.parts[d.home[v].part]
		home.stores = append(home.stores, d.store(f, kir.Fn(kir.Size, kir.R(v))))
	}
	return f
}

func (d *division) newField(name string, k kir.Kind) int {
	n := len(d.c.State.Fields)
	d.c.State.Fields = append(d.c.State.Fields, kir.FieldDef{Name: fmt.Sprintf("%s_%d", name, n), Type: kir.T(k)})
	return n
}

func (d *division) store(field int, x kir.Expr) kir.Stmt {
	return &kir.Assign{To: d.load(d.state, field), X: convert(d.c.State.Fields[field].Type.Kind, x)}
}

func (d *division) load(state *kir.Var, field int) kir.Expr {
	return kir.Field{X: kir.R(state), Name: d.c.State.Fields[field].Name}
}

// convert is x as a number of a kind.
func convert(k kir.Kind, x kir.Expr) kir.Expr {
	if x.Type().Kind == k {
		return x
	}
	return kir.Convert{T: kir.T(k), X: x}
}
