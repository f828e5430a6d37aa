package lower

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// EXISTS { … } over several vertices is a function exists0, exists1, … of these: a
// lane's loops over the shortest lists of backward neighbours, down to the first
// match.

// existsFunc writes the function that decides a sub-pattern; nil: nothing matches.
func (x *lowering) existsFunc(sub *pattern.Pattern) (*kir.Func, error) {
	if f, ok := x.exists[sub]; ok {
		return f, nil
	}
	sp := x.p.Exists(sub)
	if sp.Plan.Empty != nil {
		x.exists[sub] = nil
		return nil, nil
	}
	y := x.inner(sp.Plan)
	if err := y.conditions(); err != nil {
		return nil, err
	}
	f := &kir.Func{Name: fmt.Sprintf("%sexists%d", x.prefix, len(x.exists)), Result: kir.T(kir.Bool)}
	x.exists[sub] = f
	vars := make([]*kir.Var, len(sp.Plan.Levels))
	for l := range vars {
		vars[l] = &kir.Var{Name: "o" + name(l), T: kir.T(kir.U32)}
	}
	f.Params = vars[:sp.Fixed]
	m := func(l int) kir.Expr { return kir.R(vars[l]) }
	var tests []kir.Expr
	for l := range sp.Fixed {
		tests = append(tests, y.fixed(l, m)...)
	}
	f.Body = []kir.Stmt{
		&kir.If{Cond: kir.All(tests...), Then: y.search(sp.Fixed, vars, m)},
		&kir.Return{X: kir.False},
	}
	x.free(0, f)
	return f, nil
}

// inner is the lowering of another plan into the same program.
func (x *lowering) inner(p *plan.Plan) *lowering {
	y := &lowering{p: p, o: x.o, shared: x.shared, names: plan.LevelNames(p), longest: map[int]int{}, tail: len(p.Levels)}
	y.innerRelations()
	return y
}

// fixed are the tests of a level whose vertex is given.
func (x *lowering) fixed(l int, m vertices) (tests []kir.Expr) {
	if rs := x.p.Levels[l].Ranges; rs != nil {
		tests = append(tests, x.inRanges(rs, m(l)))
	}
	if bits := x.p.Levels[l].Bits; bits != nil {
		tests = append(tests, kir.Fn(kir.Bit, kir.G(x.bitsOf(bits, "bits of "+x.names[l])), m(l)))
	}
	for _, b := range x.p.Levels[l].Back {
		tests = append(tests, x.adjacent(b, m(l), m))
	}
	return append(tests, x.levelChecks(l, m)...)
}

// search goes through the levels from l on, and returns true at the first match.
func (x *lowering) search(l int, vars []*kir.Var, m vertices) []kir.Stmt {
	if l == len(x.p.Levels) {
		which := make([]int, len(x.p.Edges))
		for i := range which {
			which[i] = i
		}
		found := []kir.Stmt{&kir.Return{X: kir.True}}
		return x.chooseEdges(which, m, make([]kir.Expr, len(which)), found)
	}
	if x.inParts() {
		return x.searchPlaces(l, vars, m)
	}
	var out []kir.Stmt
	b := x.levelBounds(l, l)
	list := &kir.Var{Name: "list" + name(l), T: kir.T(kir.Set)}
	let := func(init kir.Expr) { out = append(out, &kir.Let{Var: list, Init: init}) }
	backs := positive(x.p.Levels[l].Back)
	for i, back := range backs {
		next := kir.Fn(kir.List, kir.G(x.adjs[back.Adj]), m(back.Level))
		if i == 0 {
			let(next)
			continue
		}
		v := &kir.Var{Name: fmt.Sprintf("list%s_%d", name(l), i), T: kir.T(kir.Set)}
		out = append(out, &kir.Let{Var: v, Init: next}, &kir.If{
			Cond: kir.Op2(kir.Lt, kir.Fn(kir.Size, kir.R(v)), kir.Fn(kir.Size, kir.R(list))),
			Then: []kir.Stmt{&kir.Assign{To: kir.R(list), X: kir.R(v)}},
		})
	}
	over := b.cut(kir.R(list), m)
	if len(backs) == 0 {
		let(x.allWithin(b, m))
		over = kir.R(list)
	}
	return append(out, &kir.Each{X: vars[l], Over: over, Body: x.candidate(l, len(backs) == 1, vars, m)})
}

// candidate tests a vertex for level l, and goes on below it. listed says that it comes from
// the list of the only positive backward neighbour.
func (x *lowering) candidate(l int, listed bool, vars []*kir.Var, m vertices) []kir.Stmt {
	v := m(l)
	tests := append(x.distinct(l, v, m), x.alone(l, v)...)
	for _, back := range x.p.Levels[l].Back {
		if !listed || back.Neg {
			tests = append(tests, x.adjacent(back, v, m))
		}
	}
	tests = append(tests, x.levelChecks(l, m)...)
	return []kir.Stmt{&kir.If{Cond: kir.All(tests...), Then: slices.Clone(x.search(l+1, vars, m))}}
}

// searchPlaces is search where lists are stored in parts.
func (x *lowering) searchPlaces(l int, vars []*kir.Var, m vertices) []kir.Stmt {
	b := x.levelBounds(l, l)
	backs := positive(x.p.Levels[l].Back)
	if len(backs) == 0 {
		return []kir.Stmt{&kir.Each{X: vars[l], Over: x.allWithin(b, m), Body: x.candidate(l, false, vars, m)}}
	}
	which := &kir.Var{Name: "which" + name(l), T: kir.T(kir.U32)}
	find, n := x.fewest(backs, which, name(l), m)
	out := append([]kir.Stmt{&kir.Let{Var: which, Init: kir.C(0)}}, find...)
	k := &kir.Var{Name: "k" + name(l), T: kir.T(kir.U32)}
	tests := append([]kir.Expr{kir.Op2(kir.Ne, m(l), kir.C(nowhere))}, b.holds(m(l), m)...)
	return append(out, &kir.Loop{I: k, Lo: kir.C(0), Hi: n, Body: []kir.Stmt{
		&kir.Let{Var: vars[l], Init: x.placeOf(backs, kir.R(which), kir.R(k), m)},
		&kir.If{Cond: kir.All(tests...), Then: x.candidate(l, len(backs) == 1, vars, m)},
	}})
}
