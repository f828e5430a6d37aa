package lower

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// setsView writes Level<l>::sets, candidates and accept, and tail.
func (x *lowering) setsView() error {
	type function struct {
		level int
		f     *kir.Func
	}
	var funcs []function
	var candidates, accept *kir.Func // of the last level that has them
	for l := range x.p.Levels {
		funcs = append(funcs, function{l, x.setsFunc(l)})
		if l > 0 && (l < x.tail || x.summed) {
			candidates, accept = x.candidatesFunc(l), x.acceptFunc(l)
			funcs = append(funcs, function{l, candidates}, function{l, accept})
		}
		if l == 1 && x.p.Levels[1].Set >= 0 && !x.inParts() {
			funcs = append(funcs, function{l, x.firstFunc()})
		}
	}
	var tail *kir.Func
	if x.tail < len(x.p.Levels) {
		var err error
		if x.summed {
			tail, err = x.summedTail(candidates, accept)
		} else {
			tail, err = x.tailFunc()
		}
		if err != nil {
			return err
		}
	}
	for l := range x.p.Levels {
		x.owner("Level", l, x.levelDoc(l))
	}
	for _, f := range funcs {
		x.member("Level", f.level, f.f)
	}
	if tail != nil {
		x.free(1, tail)
		x.owner("", 1, "")
	}
	x.out.Sets.Lazy, x.out.Sets.First = !x.o.Roomy, x.firstAdj()
	if x.inParts() { // what these read are views of lists
		return nil
	}
	x.operandFuncs()
	return x.flatFuncs()
}

// firstAdj is the adjacency whose lists Level<1>::first cuts; 0 where there is no
// such function.
func (x *lowering) firstAdj() int {
	if len(x.p.Levels) < 2 || x.p.Levels[1].Set < 0 || x.inParts() {
		return 0
	}
	return positive(x.p.Levels[1].Back)[0].Adj
}

// setsFunc makes the nodes that level l's vertex makes possible.
func (x *lowering) setsFunc(l int) *kir.Func {
	e := x.newEnv(true)
	var body []kir.Stmt
	for i := range x.nodes {
		if x.nodes[i].At == l && !x.nodes[i].deferred {
			body = append(body, x.compute(i, e)...)
		}
	}
	return &kir.Func{
		Name: "sets", Scope: kir.Group, Params: []*kir.Var{e.s, e.slots, e.cap}, Result: kir.T(kir.Bool),
		Body: append(body, &kir.Return{X: kir.True}),
	}
}

// candidatesFunc is level l's set within the level's bounds.
func (x *lowering) candidatesFunc(l int) *kir.Func {
	e := x.newEnv(false)
	return &kir.Func{
		Name: "candidates", Scope: kir.Group, Params: []*kir.Var{e.s}, Result: kir.T(kir.Set),
		Body: []kir.Stmt{&kir.Return{X: x.candidates(l, l, e)}},
	}
}

// candidates is level l's set within those of its bounds that refer to a level
// before end.
func (x *lowering) candidates(l, end int, e *env) kir.Expr {
	b := x.levelBounds(l, end)
	i := x.p.Levels[l].Set
	if i < 0 {
		return x.allWithin(b, e.m)
	}
	return b.without(x.nodeBounds(i)).cut(e.set(i), e.m)
}

// allWithin is every vertex within b.
func (x *lowering) allWithin(b bounds, m vertices) kir.Expr {
	lo, hi := b.limits(m)
	if hi == nil {
		hi = kir.G(x.limitOf("vertices", uint32(x.p.Graph.NumVertices())))
	}
	if lo == nil {
		return kir.Fn(kir.Part, kir.G(x.every()), kir.C(0), hi)
	}
	n := kir.Select{If: kir.Op2(kir.Lt, lo, hi), Then: kir.Op2(kir.Sub, hi, lo), Else: kir.C(0)}
	return kir.Fn(kir.Part, kir.G(x.every()), lo, n)
}

// acceptFunc returns a function with the tests that level l's candidates have not passed yet.
func (x *lowering) acceptFunc(l int) *kir.Func {
	e := x.newEnv(false)
	v := &kir.Var{Name: "v", T: kir.T(kir.U32)}
	tests := x.distinct(l, kir.R(v), e.m)
	tests = append(tests, x.alone(l, kir.R(v))...)
	if i := x.p.Levels[l].Set; i < 0 {
		tests = append(tests, x.apart(l, kir.R(v), e.m)...)
	} else if x.mayBeLazy(i) {
		tests = append(tests, x.unlessLazy(i, kir.R(v), e))
	}
	tests = append(tests, x.levelChecks(l, vertices(e.m).with(l, kir.R(v)))...)
	return &kir.Func{
		Name: "accept", Scope: kir.Lane, Params: []*kir.Var{e.s, v}, Result: kir.T(kir.Bool),
		Body: []kir.Stmt{&kir.Return{X: kir.All(tests...)}},
	}
}

// firstFunc is level 1's candidates by level 0's vertex alone, before that is
// tested: the tasks of a schedule that starts from edges.
func (x *lowering) firstFunc() *kir.Func {
	v := &kir.Var{Name: "v0", T: kir.T(kir.U32)}
	m := func(int) kir.Expr { return kir.R(v) }
	back := positive(x.p.Levels[1].Back)[0]
	set, rest := x.list(back.Adj, 0, x.levelBounds(1, 1), m)
	return &kir.Func{
		Name: "first", Scope: kir.Lane, Params: []*kir.Var{v}, Result: kir.T(kir.Set),
		Body: []kir.Stmt{&kir.Return{X: rest.cut(set, m)}},
	}
}

// distinct are the tests that v is not a vertex matched already.
func (x *lowering) distinct(l int, v kir.Expr, m vertices) (out []kir.Expr) {
	for _, j := range x.p.Levels[l].Distinct {
		out = append(out, kir.Op2(kir.Ne, v, m(j)))
	}
	return out
}

// alone are the tests of a vertex of level l by itself, without the range around
// the level's ranges; those of level 0 are the schedule's to walk.
func (x *lowering) alone(l int, v kir.Expr) (out []kir.Expr) {
	lv := &x.p.Levels[l]
	if lv.Bits != nil {
		out = append(out, kir.Fn(kir.Bit, kir.G(x.bitsOf(lv.Bits, "bits of "+x.names[l])), v))
	}
	if len(lv.Ranges) > 1 && l > 0 {
		out = append(out, x.inRanges(lv.Ranges, v))
	}
	if x.testsDegree(l) {
		out = append(out, kir.Op2(kir.Ge, x.degree(lv.MinDegreeAdj, v), kir.C(uint32(lv.MinDegree))))
	}
	return out
}

func (x *lowering) inRanges(rs []plan.Range, v kir.Expr) kir.Expr {
	var any []kir.Expr
	for _, r := range rs {
		first, end := x.rangeLimits(r)
		any = append(any, kir.All(kir.Op2(kir.Ge, v, kir.G(first)), kir.Op2(kir.Lt, v, kir.G(end))))
	}
	return kir.Any(any...)
}

// apart tests all backward neighbours of a level that has no set.
func (x *lowering) apart(l int, v kir.Expr, m vertices) (out []kir.Expr) {
	for _, b := range x.p.Levels[l].Back {
		out = append(out, x.adjacent(b, v, m))
	}
	return out
}

// adjacent tests one backward neighbour.
func (x *lowering) adjacent(b plan.Back, v kir.Expr, m vertices) kir.Expr {
	t := x.isIn(b.Adj, m(b.Level), v)
	if b.Neg {
		return kir.NotX(t)
	}
	return t
}

// root writes root_ok and the ranges of level 0.
func (x *lowering) root() {
	rs := x.p.Levels[0].Ranges
	if rs == nil {
		rs = []plan.Range{{First: 0, End: uint32(x.p.Graph.NumVertices())}}
	}
	degree, cut := x.degreeEnd(0)
	i := &kir.Var{Name: "i", T: kir.T(kir.U32)}
	first, end := kir.C(0), kir.C(0)
	for j, r := range rs {
		f, e := x.limitOf(fmt.Sprintf("root %d first", j), r.First), x.limitOf(fmt.Sprintf("root %d end", j), r.End)
		if cut {
			e = degree
		}
		x.roots = append(x.roots, [2]*kir.GlobalDef{f, e})
		if j == 0 {
			first, end = kir.G(f), kir.G(e)
			continue
		}
		this := kir.Op2(kir.Eq, kir.R(i), kir.C(uint32(j)))
		first, end = kir.Select{If: this, Then: kir.G(f), Else: first}, kir.Select{If: this, Then: kir.G(e), Else: end}
	}
	v := &kir.Var{Name: "v", T: kir.T(kir.U32)}
	x.free(0, &kir.Func{
		Name: "root_first", Doc: fmt.Sprintf("the first candidate of %s in root range i; root_end is the one after the last", x.names[0]),
		Params: []*kir.Var{i}, Result: kir.T(kir.U32), Body: []kir.Stmt{&kir.Return{X: first}},
	})
	x.free(0, &kir.Func{Name: "root_end", Params: []*kir.Var{i}, Result: kir.T(kir.U32), Body: []kir.Stmt{&kir.Return{X: end}}})
	x.free(0, &kir.Func{
		Name: "root_ok", Doc: "whether " + x.names[0] + " may be v, a vertex of the root ranges",
		Params: []*kir.Var{v}, Result: kir.T(kir.Bool), Body: []kir.Stmt{&kir.Return{X: kir.All(x.alone(0, kir.R(v))...)}},
	})
	x.owner("", 0, "")
}

func (x *lowering) levelDoc(l int) string {
	lv := &x.p.Levels[l]
	var b strings.Builder
	fmt.Fprintf(&b, "level %d: %s", l, x.names[l])
	for _, j := range lv.Below {
		fmt.Fprintf(&b, ", < %s", x.names[j])
	}
	for _, j := range lv.Above {
		fmt.Fprintf(&b, ", > %s", x.names[j])
	}
	for _, j := range lv.Distinct {
		fmt.Fprintf(&b, ", ≠ %s", x.names[j])
	}
	return b.String()
}

// positive are the backward neighbours that a candidate must have.
func positive(back []plan.Back) (out []plan.Back) {
	for _, b := range back {
		if !b.Neg {
			out = append(out, b)
		}
	}
	return out
}
