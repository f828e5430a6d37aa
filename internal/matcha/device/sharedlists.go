package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
)

// fastLists moves the named lists of an item's functions into shared memory, a new
// parameter of these, and returns how many words a group needs there.
func (t *text) fastLists(names []string) (words int64, err error) {
	c := t.code
	type move struct{ from, end, to int64 }
	var moves []move
	var known []string
	for _, name := range names {
		found := false
		for _, l := range c.Lists {
			if l.Shared || l.Node.Given == "" {
				continue
			}
			if !slices.Contains(known, l.Node.Given) {
				known = append(known, l.Node.Given)
			}
			if l.Node.Given == name {
				found = true
				moves = append(moves, move{l.At, l.At + max(l.Words, 1), words})
				t.moved[l.At] = true
				words += (l.Words + 1) &^ 1
			}
		}
		if !found {
			has := "the program stores no list that has a name in a function"
			if len(known) > 0 {
				has = "there are " + strings.Join(known, ", ")
			}
			return 0, fmt.Errorf("schedule: shared=%s: there is no list %s that a worker stores: %s", strings.Join(names, "+"), name, has)
		}
	}
	for _, p := range c.Phases {
		if p.Item == nil {
			continue
		}
		mem := p.Item.Params[0]
		fast := &kir.Var{Name: "fast", T: mem.T}
		p.Item.Params = append(p.Item.Params, fast)
		t.params = append(t.params, fast)
		kir.WalkStmts(p.Item.Body, func(s kir.Stmt) {
			for _, x := range kir.Operands(s) {
				*x = kir.MapExpr(*x, func(x kir.Expr) kir.Expr {
					call, ok := x.(kir.Call)
					if !ok || len(call.Args) < 2 || call.Args[0] != kir.Expr(kir.R(mem)) {
						return x
					}
					at, ok := placeOf(call.Args[1])
					for _, m := range moves {
						if ok && at >= m.from && at < m.end {
							call.Args = append([]kir.Expr{kir.R(fast), kir.C(uint32(m.to + at - m.from))}, call.Args[2:]...)
							return call
						}
					}
					return x
				})
			}
		})
	}
	return words, nil
}

// placeOf is where in memory a list begins. It is a number of the inputs, or a constant.
func placeOf(x kir.Expr) (at int64, ok bool) {
	switch x := x.(type) {
	case kir.Const:
		return int64(x.Bits), true
	case kir.Global:
		return int64(x.G.Value), x.G.Kind == kir.U32
	}
	return 0, false
}
