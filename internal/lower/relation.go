package lower

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// Relations in a program. If a relation's lists are one sorted run, they are one global with an offset for
// each vertex, and a list is a view of it. If they are stored in parts, each part is a global, and its
// deleted entries are another. A program then reads a list by the functions of Relation<i>:
//
//	has(u, v)    whether v is in u's list
//	left(u)      its length: the entries that are not deleted
//	places(u)    the number of entries of all parts, with the deleted ones
//	place(u, k)  entry k of those, nowhere if it is deleted
//
// The checks view goes over places; the sets view gathers a list by kir.Merge, and
// cuts a set down by has.

// nowhere is the result of place for a deleted entry. No vertex has this id.
const nowhere = ^uint32(0)

// relation is an adjacency whose lists are stored in parts.
type relation struct {
	parts                    []relationPart
	has, left, places, place *kir.Func
}

// relationPart is the globals of one part; gone is nil where nothing is deleted.
type relationPart struct{ run, gone *kir.GlobalDef }

// InParts reports whether lists that p reads are not all sorted runs. Then a program in
// the Sets view is Roomy.
func InParts(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Adjs, func(a plan.Adjacency) bool { return a.Lists.InParts() })
}

// OneRun returns an error if a relation of p is not one sorted run. by names the feature that
// needs one run.
func OneRun(p *plan.Plan, by string) error {
	for i := range p.Adjs {
		if p.Adjs[i].Lists.InParts() {
			return plan.Refusef("%s is stored in %d parts, and %s reads lists that are one sorted run", p.Adjs[i].Name, len(p.Adjs[i].Lists.Parts), by)
		}
	}
	return nil
}

// addRelations gives each adjacency of the plan its globals. The first of each has the
// adjacency's number.
func (x *lowering) addRelations() {
	x.adjs, x.rels = make([]*kir.GlobalDef, len(x.p.Adjs)), make([]*relation, len(x.p.Adjs))
	for i := range x.p.Adjs {
		a := &x.p.Adjs[i]
		if a.Lists.InParts() {
			x.rels[i] = &relation{parts: []relationPart{{run: x.runGlobal(a, "", 0, a.Lists.Parts[0].Run)}}}
		} else {
			x.adjs[i] = x.prog.AddGlobal(x.listsDef(a))
		}
	}
	for i, r := range x.rels {
		if r == nil {
			continue
		}
		a := &x.p.Adjs[i]
		if x.stored[a.Lists] == nil {
			x.complete(a, r)
		}
		x.rels[i] = x.stored[a.Lists]
	}
}

// listsDef describes the lists of a relation that is not in parts.
func (x *lowering) listsDef(a *plan.Adjacency) *kir.GlobalDef {
	g := &kir.GlobalDef{Name: a.Name, Kind: kir.Adj, Of: Identity(a.Lists, 0)}
	s := a.Lists.Sparse
	switch {
	case s != nil && x.o.Sparse == AsStored:
		SetSparse(g, s)
	case s != nil && x.o.Sparse == OwnOffsets:
		run := s.Dense()
		g.Off, g.Adj, g.Of = run.Off, run.Adj, kir.Identity{}
	default:
		run := a.Lists.Flat()
		g.Off, g.Adj = run.Off, run.Adj
	}
	return g
}

// SetSparse gives a global sparse lists.
func SetSparse(g *kir.GlobalDef, s *graph.Sparse) {
	x := s.Index()
	g.Adj, g.Sparse = x.Adj, &kir.Sparse{Vertices: s.NumVertices(), Levels: x.Levels, Words: x.Words, Off: x.Off}
}

// runGlobal is the global of one run of a relation: part 2k is the run of part k, and
// 2k+1 its deleted entries.
func (x *lowering) runGlobal(a *plan.Adjacency, what string, part int, run *graph.CSR) *kir.GlobalDef {
	return x.prog.AddGlobal(&kir.GlobalDef{
		Name: a.Name + what, Kind: kir.Adj, Off: run.Off, Adj: run.Adj, Of: Identity(a.Lists, part),
	})
}

// Identity names a run of a relation to devices, if it lasts.
func Identity(h *graph.Handle, part int) kir.Identity {
	if !h.Kept {
		return kir.Identity{}
	}
	return kir.Identity{ID: h.ID, Version: h.Version, Part: part}
}

// innerRelations is addRelations for another plan of the program, with whose
// adjacencies it may have relations in common.
func (x *lowering) innerRelations() {
	x.adjs, x.rels = make([]*kir.GlobalDef, len(x.p.Adjs)), make([]*relation, len(x.p.Adjs))
	for i := range x.p.Adjs {
		a := &x.p.Adjs[i]
		if !a.Lists.InParts() {
			x.adjs[i] = x.adjGlobal(x.listsDef(a))
		} else if x.rels[i] = x.stored[a.Lists]; x.rels[i] == nil {
			x.rels[i] = &relation{parts: []relationPart{{run: x.runGlobal(a, "", 0, a.Lists.Parts[0].Run)}}}
			x.complete(a, x.rels[i])
		}
	}
}

// complete adds to r, which has the first run of a, all else of it.
func (x *lowering) complete(a *plan.Adjacency, r *relation) {
	for k, p := range a.Lists.Parts {
		if k > 0 {
			r.parts = append(r.parts, relationPart{run: x.runGlobal(a, fmt.Sprintf(", part %d", k+1), 2*k, p.Run)})
		}
		if p.Gone != nil {
			r.parts[k].gone = x.runGlobal(a, fmt.Sprintf(", deleted of part %d", k+1), 2*k+1, p.Gone)
		}
	}
	number := len(x.stored)
	x.stored[a.Lists] = r
	r.has, r.left, r.places, r.place = r.hasFunc(), r.sum("left", kir.Sub), r.sum("places", kir.Add), r.placeFunc()
	// Before all others: they call none.
	for i, f := range []*kir.Func{r.has, r.left, r.places, r.place} {
		f.Family, f.Index = "Relation", number
		x.prog.Funcs = slices.Insert(x.prog.Funcs, i, f)
	}
	x.prog.Owners = slices.Insert(x.prog.Owners, 0, kir.Owner{Family: "Relation", Index: number, Doc: a.Name + ", in parts"})
}

// listOf is u's list in one run.
func listOf(run *kir.GlobalDef, u *kir.Var) kir.Expr { return kir.Fn(kir.List, kir.G(run), kir.R(u)) }

func (r *relation) hasFunc() *kir.Func {
	u, v := &kir.Var{Name: "u", T: kir.T(kir.U32)}, &kir.Var{Name: "v", T: kir.T(kir.U32)}
	var in []kir.Expr
	for _, p := range r.parts {
		here := kir.Fn(kir.Contains, listOf(p.run, u), kir.R(v))
		if p.gone != nil {
			here = kir.All(here, kir.NotX(kir.Fn(kir.Contains, listOf(p.gone, u), kir.R(v))))
		}
		in = append(in, here)
	}
	return &kir.Func{Name: "has", Params: []*kir.Var{u, v}, Result: kir.T(kir.Bool), Body: []kir.Stmt{&kir.Return{X: kir.Any(in...)}}}
}

// sum is left or, where deleted entries are not taken off, places.
func (r *relation) sum(name string, deleted kir.Op) *kir.Func {
	u := &kir.Var{Name: "u", T: kir.T(kir.U32)}
	var n kir.Expr
	for _, p := range r.parts {
		n = narrow(kir.Add, n, kir.Fn(kir.Degree, kir.G(p.run), kir.R(u)))
		if p.gone != nil && deleted == kir.Sub {
			n = kir.Op2(kir.Sub, n, kir.Fn(kir.Degree, kir.G(p.gone), kir.R(u)))
		}
	}
	return &kir.Func{Name: name, Params: []*kir.Var{u}, Result: kir.T(kir.U32), Body: []kir.Stmt{&kir.Return{X: n}}}
}

func (r *relation) placeFunc() *kir.Func {
	u, k := &kir.Var{Name: "u", T: kir.T(kir.U32)}, &kir.Var{Name: "k", T: kir.T(kir.U32)}
	i := &kir.Var{Name: "i", T: kir.T(kir.U32)}
	body := []kir.Stmt{&kir.Let{Var: i, Init: kir.R(k)}}
	for n, p := range r.parts {
		list := &kir.Var{Name: fmt.Sprintf("list%d", n), T: kir.T(kir.Set)}
		v := &kir.Var{Name: fmt.Sprintf("v%d", n), T: kir.T(kir.U32)}
		found := []kir.Stmt{&kir.Let{Var: v, Init: kir.Fn(kir.Item, kir.R(list), kir.R(i))}}
		if p.gone != nil {
			found = append(found, &kir.If{
				Cond: kir.Fn(kir.Contains, listOf(p.gone, u), kir.R(v)), Then: []kir.Stmt{&kir.Return{X: kir.C(nowhere)}},
			})
		}
		size := kir.Fn(kir.Size, kir.R(list))
		body = append(body,
			&kir.Let{Var: list, Init: listOf(p.run, u)},
			&kir.If{Cond: kir.Op2(kir.Lt, kir.R(i), size), Then: append(found, &kir.Return{X: kir.R(v)})},
			&kir.Assign{To: kir.R(i), X: kir.Op2(kir.Sub, kir.R(i), size)})
	}
	return &kir.Func{
		Name: "place", Params: []*kir.Var{u, k}, Result: kir.T(kir.U32), Body: append(body, &kir.Return{X: kir.C(nowhere)}),
	}
}

// inParts reports whether some list of the plan is stored in parts.
func (x *lowering) inParts() bool {
	return slices.ContainsFunc(x.rels, func(r *relation) bool { return r != nil })
}

// isIn tests whether v is in u's list of adjacency a.
func (x *lowering) isIn(a int, u, v kir.Expr) kir.Expr {
	rev := x.adjs[x.p.Adjs[a].Rev]
	switch {
	case x.rels[a] != nil:
		return kir.Invoke{Fn: x.rels[a].has, Args: []kir.Expr{u, v}}
	case rev == nil:
		return kir.Fn(kir.Contains, kir.Fn(kir.List, kir.G(x.adjs[a]), u), v)
	}
	return kir.Fn(kir.Adjacent, kir.G(x.adjs[a]), kir.G(rev), u, v)
}

// inList is isIn where only the list itself is at hand.
func (x *lowering) inList(a int, u, v kir.Expr) kir.Expr {
	if x.rels[a] != nil {
		return x.isIn(a, u, v)
	}
	return kir.Fn(kir.Contains, kir.Fn(kir.List, kir.G(x.adjs[a]), u), v)
}

// degree is the length of v's list of adjacency a.
func (x *lowering) degree(a int, v kir.Expr) kir.Expr {
	if r := x.rels[a]; r != nil {
		return kir.Invoke{Fn: r.left, Args: []kir.Expr{v}}
	}
	return kir.Fn(kir.Degree, kir.G(x.adjs[a]), v)
}

// places is the number of entries of u's list of adjacency a, deleted ones too.
func (x *lowering) places(a int, u kir.Expr) kir.Expr {
	if r := x.rels[a]; r != nil {
		return kir.Invoke{Fn: r.places, Args: []kir.Expr{u}}
	}
	return kir.Fn(kir.Degree, kir.G(x.adjs[a]), u)
}

// place is entry k of u's list of adjacency a, nowhere if it is deleted.
func (x *lowering) place(a int, u, k kir.Expr) kir.Expr {
	if r := x.rels[a]; r != nil {
		return kir.Invoke{Fn: r.place, Args: []kir.Expr{u, k}}
	}
	return kir.Fn(kir.Item, kir.Fn(kir.List, kir.G(x.adjs[a]), u), k)
}

// gather makes the list of level of's vertex in adjacency a, within b.
func (x *lowering) gather(a, of int, b bounds, to, out kir.Expr, m vertices) *kir.SetOp {
	op := &kir.SetOp{Op: kir.Merge, To: to, Out: out}
	list := func(run *kir.GlobalDef) kir.Expr { return b.cut(kir.Fn(kir.List, kir.G(run), m(of)), m) }
	for _, p := range x.rels[a].parts {
		piece := kir.Piece{Run: list(p.run)}
		if p.gone != nil {
			piece.Gone = list(p.gone)
		}
		op.Pieces = append(op.Pieces, piece)
	}
	return op
}

// fewest finds at run time which backward neighbour has the fewest places, and how
// many: the variables that it makes end in suffix.
func (x *lowering) fewest(backs []plan.Back, which *kir.Var, suffix string, m vertices) (body []kir.Stmt, n kir.Expr) {
	number := func(name string, init kir.Expr) *kir.Var {
		v := &kir.Var{Name: name + suffix, T: kir.T(kir.U32)}
		body = append(body, &kir.Let{Var: v, Init: init})
		return v
	}
	least := number("least", x.places(backs[0].Adj, m(backs[0].Level)))
	body = append(body, &kir.Assign{To: kir.R(which), X: kir.C(0)})
	for i, b := range backs[1:] {
		size := number(fmt.Sprintf("size%d", i+1), x.places(b.Adj, m(b.Level)))
		body = append(body, &kir.If{Cond: kir.Op2(kir.Lt, kir.R(size), kir.R(least)), Then: []kir.Stmt{
			&kir.Assign{To: kir.R(least), X: kir.R(size)}, &kir.Assign{To: kir.R(which), X: kir.C(uint32(i + 1))},
		}})
	}
	return body, kir.R(least)
}

// placeOf is entry k of the list of the backward neighbour of number which.
func (x *lowering) placeOf(backs []plan.Back, which, k kir.Expr, m vertices) kir.Expr {
	var out kir.Expr
	for i, b := range backs {
		here := x.place(b.Adj, m(b.Level), k)
		if out == nil {
			out = here
			continue
		}
		out = kir.Select{If: kir.Op2(kir.Eq, which, kir.C(uint32(i))), Then: here, Else: out}
	}
	return out
}

// pivotPlaces are the functions places and place, in the place of pivot.
func (l merged) pivotPlaces() (places, place *kir.Func) {
	x, backs := l.x, l.positive()
	b, _ := l.bounds()
	p, m := matched()
	which := &kir.Var{Name: "which", T: kir.T(kir.U32), Out: true}
	places = &kir.Func{Name: "places", Params: []*kir.Var{p, which}, Result: kir.T(kir.U32)}
	var n kir.Expr
	if len(backs) == 0 {
		places.Body, n = []kir.Stmt{&kir.Assign{To: kir.R(which), X: kir.C(0)}}, kir.Fn(kir.Size, x.allWithin(b, m))
	} else {
		places.Body, n = x.fewest(backs, which, "", m)
	}
	places.Body = append(places.Body, &kir.Return{X: n})

	p, m = matched()
	of, k := &kir.Var{Name: "which", T: kir.T(kir.U32)}, &kir.Var{Name: "k", T: kir.T(kir.U32)}
	at := kir.Fn(kir.Item, x.allWithin(b, m), kir.R(k))
	if len(backs) > 0 {
		at = x.placeOf(backs, kir.R(of), kir.R(k), m)
	}
	place = &kir.Func{Name: "place", Params: []*kir.Var{p, of, k}, Result: kir.T(kir.U32), Body: []kir.Stmt{&kir.Return{X: at}}}
	return places, place
}
