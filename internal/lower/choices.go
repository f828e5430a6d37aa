package lower

import (
	"fmt"
	"math/big"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Edge choices make several matches of one assignment of vertices: one for each way to bind the
// pattern's edges to data edges. A count needs only their number, which the function choices
// returns. Edges that no condition mentions and that may recur are factors. The function goes
// through the others in nested loops over the data edges between their ends.

// choicesFunc writes choices, of the parameters given and the vertices in m.
func (x *lowering) choicesFunc(params []*kir.Var, m vertices) *kir.Func {
	one := kir.C64(kir.U64, 1)
	f := &kir.Func{
		Name: "choices", Doc: "the number of ways to choose the data edges", Params: params, Result: kir.T(kir.U64),
	}
	edges := make([]kir.Expr, len(x.p.Edges))
	count := func(name string, which []int) kir.Expr {
		n := &kir.Var{Name: name, T: kir.T(kir.U64)}
		f.Body = append(f.Body, &kir.Let{Var: n, Init: kir.C64(kir.U64, 0)})
		f.Body = append(f.Body, x.chooseEdges(which, m, edges, []kir.Stmt{&kir.Accumulate{To: kir.R(n), X: one}})...)
		return kir.R(n)
	}
	var tied []int
	var product kir.Expr
	for i := range x.p.Edges {
		if x.p.Tied(i) {
			tied = append(tied, i)
		} else {
			product = narrow(kir.Mul, product, count(fmt.Sprintf("n%d", i), []int{i}))
		}
	}
	if len(tied) > 0 {
		product = narrow(kir.Mul, product, count("ways", tied))
	}
	f.Body = append(f.Body, &kir.Return{X: product})
	x.free(0, f)
	return f
}

// chooseEdges runs inner for each way to choose the data edges of which, ascending,
// whose places are then in edges.
func (x *lowering) chooseEdges(which []int, m vertices, edges []kir.Expr, inner []kir.Stmt) []kir.Stmt {
	if len(which) == 0 {
		return inner
	}
	i := which[0]
	c := &x.p.Edges[i]
	accepted := c.Accepted()
	if accepted != nil && x.p.Graph.Edges == nil {
		return nil // no edge has what is asked for
	}
	u, v := m(c.From), m(c.To)
	if !x.p.Graph.Directed {
		u, v = kir.Op2(kir.Min, u, v), kir.Op2(kir.Max, u, v)
	}
	row := &kir.Var{Name: fmt.Sprintf("e%d", i), T: kir.T(kir.U64)}
	edges[i] = kir.R(row)
	body := x.chooseEdges(which[1:], m, edges, inner)
	var tests []kir.Expr
	if accepted != nil {
		tests = append(tests, kir.Fn(kir.BitAt, kir.G(x.bitsOf(accepted, "edges that pass")), edges[i]))
	}
	if x.p.Mode == pattern.Trail {
		for _, used := range edges[:i] {
			tests = append(tests, kir.Op2(kir.Ne, edges[i], used))
		}
	}
	for k := range c.Checks {
		tests = append(tests, x.conditionHolds(&c.Checks[k], m, edges))
	}
	if len(tests) > 0 {
		body = []kir.Stmt{&kir.If{Cond: kir.All(tests...), Then: body}}
	}
	rows := func(u, v kir.Expr) kir.Stmt {
		a := kir.G(x.edgeLists())
		return &kir.Loop{I: row, Lo: kir.Fn(kir.EdgeFirst, a, u, v), Hi: kir.Fn(kir.EdgeEnd, a, u, v), Body: body}
	}
	if !c.Either {
		return []kir.Stmt{rows(u, v)}
	}
	side := &kir.Var{Name: fmt.Sprintf("side%d", i), T: kir.T(kir.U32)}
	from, to := &kir.Var{Name: fmt.Sprintf("from%d", i), T: kir.T(kir.U32)}, &kir.Var{Name: fmt.Sprintf("to%d", i), T: kir.T(kir.U32)}
	along := kir.Op2(kir.Eq, kir.R(side), kir.C(0))
	return []kir.Stmt{&kir.Loop{I: side, Lo: kir.C(0), Hi: kir.C(2), Body: []kir.Stmt{
		&kir.Let{Var: from, Init: kir.Select{If: along, Then: u, Else: v}},
		&kir.Let{Var: to, Init: kir.Select{If: along, Then: v, Else: u}},
		rows(kir.R(from), kir.R(to)),
	}}}
}

// mostChoicesOfEdges bounds the result of choices.
func (x *lowering) mostChoicesOfEdges() *big.Int {
	total := big.NewInt(1)
	for i := range x.p.Edges {
		n := int64(x.p.MostParallel())
		if x.p.Edges[i].Either {
			n *= 2
		}
		total.Mul(total, big.NewInt(n))
	}
	return total
}

// summedTail is the tail where only the last level is closed, and each of its
// vertices counts as often as its edges can be chosen.
func (x *lowering) summedTail(candidates, accept *kir.Func) (*kir.Func, error) {
	last := len(x.p.Levels) - 1
	most := x.mostChoicesOfEdges()
	if most.Mul(most, big.NewInt(int64(x.p.Graph.NumVertices()))).BitLen() > 62 {
		return nil, plan.Refusef("the count of a single vertex may pass 62 bits, because of the number of parallel edges")
	}
	x.prog.Types = append(x.prog.Types, kir.Alias{Name: "Count", Type: kir.T(kir.U64)})
	e := x.newEnv(false)
	e.own, e.at = &kir.Var{Name: name(last), T: kir.T(kir.U32)}, last
	choices := x.choicesFunc([]*kir.Var{e.s, e.own}, e.m)
	e = x.newEnv(true)
	s, v := kir.R(e.s), &kir.Var{Name: "v", T: kir.T(kir.U32)}
	return &kir.Func{
		Name: "tail", Doc: "the number of ways to match " + x.names[last] + " and to choose the data edges", Scope: kir.Group,
		Params: []*kir.Var{e.s, e.slots, e.cap}, Result: kir.T(kir.U64),
		Body: []kir.Stmt{&kir.Return{X: kir.Sum{
			Over: kir.Invoke{Fn: candidates, Args: []kir.Expr{s}}, X: v,
			Value: kir.Select{
				If: kir.Invoke{Fn: accept, Args: []kir.Expr{s, kir.R(v)}}, Then: kir.Invoke{Fn: choices, Args: []kir.Expr{s, kir.R(v)}},
				Else: kir.C64(kir.U64, 0),
			},
		}}},
	}, nil
}

// timesChoices multiplies the result of the tail function with the number of
// choices for the vertices before the tail, which all edges lie among.
func (t *tailWriter) timesChoices(count kir.Type) {
	if len(t.p.Edges) == 0 {
		return
	}
	e := t.newEnv(false)
	choices := t.choicesFunc([]*kir.Var{e.s}, e.m)
	last := t.body[len(t.body)-1].(*kir.Return)
	ways := kir.Convert{T: count, X: kir.Invoke{Fn: choices, Args: []kir.Expr{kir.R(t.e.s)}}}
	last.X = kir.Op2(kir.Mul, ways, last.X)
}
