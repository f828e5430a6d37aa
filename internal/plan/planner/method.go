package planner

import (
	"errors"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/plan/formula"
)

// chooseMethod sets the method of pl: the nest unless another one is asked for.
func (b *planner) chooseMethod(pl *plan.Plan, o plan.Options) error {
	switch o.Method {
	case "", "nest", "direct", "temporal": // temporal where nothing can match
		pl.Method = plan.Nest
	case "local":
		if err := plan.LocalOK(pl); err != nil {
			return plan.Errorf("the local method does not apply: %v", err)
		}
		pl.Method = plan.Local
	case "large":
		pl.Method = plan.Large
	case "formula":
		if b.Pattern.Mode == pattern.Trail {
			f, err := NewDecomposer(b.Graph, o).Trails(b.Pattern)
			if err != nil {
				return err
			}
			pl.Method, pl.Formula = plan.Decomposed, f
			return nil
		}
		if err := formula.Decomposable(b.Pattern); err != nil {
			return plan.Errorf("no formula: %v", err)
		}
		d := NewDecomposer(b.Graph, o)
		f, err := d.Decomposition(b.Pattern)
		if err == nil && f == nil {
			f, err = d.Formula(b.Pattern)
		}
		if err != nil {
			return err
		}
		pl.Method, pl.Formula = plan.Decomposed, f
	case "walks":
		if err := walksOK(pl); err != nil {
			return plan.Errorf("the walks method does not apply: %v", err)
		}
		pl.Method, pl.Price = plan.Walks, cost.WalksPrice(pl, &o)
	default:
		return plan.Errorf("unknown method %q: want nest, local, large, formula, temporal or walks", o.Method)
	}
	return nil
}

// walksOK returns the reason why p does not count closed walks of length five, or nil. p must
// count homomorphisms of a cycle of five vertices without conditions, over one symmetric
// relation.
func walksOK(p *plan.Plan) error {
	if p.Mode != pattern.Hom || p.Induced || len(p.Levels) != 5 || len(p.Edges) > 0 || p.Empty != nil {
		return errors.New("it counts homomorphisms of a cycle of five")
	}
	degree := make([]int, 5)
	adj := -1
	for l := range p.Levels {
		lv := &p.Levels[l]
		if lv.Ranges != nil || lv.Bits != nil || len(lv.Checks) > 0 {
			return errors.New("a vertex has a condition")
		}
		for _, b := range lv.Back {
			if adj < 0 {
				adj = b.Adj
			}
			if b.Neg || b.Adj != adj || p.Adjs[adj].Rev != adj {
				return errors.New("the edges are of several relations, directed or excluded")
			}
			degree[l]++
			degree[b.Level]++
		}
	}
	for _, d := range degree {
		if d != 2 {
			return errors.New("the pattern is not a cycle")
		}
	}
	return nil // five vertices of degree two: one cycle, as two need six
}
