package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
)

// chooseMethod sets the method of pl: the nest unless another one is asked for.
func (b *binding) chooseMethod(pl *Plan, o Options) error {
	switch o.Method {
	case "", "nest", "direct", "temporal": // temporal where nothing can match
		pl.Method = Nest
	case "local":
		if err := LocalOK(pl); err != nil {
			return queryErrorf("the local method does not apply: %v", err)
		}
		pl.Method = Local
	case "large":
		pl.Method = Large
	case "formula":
		if b.p.Mode == pattern.Trail {
			f, err := b.trails(o)
			if err != nil {
				return err
			}
			pl.Method, pl.Formula = Decomposed, f
			return nil
		}
		if err := Decomposable(b.p); err != nil {
			return queryErrorf("no formula: %v", err)
		}
		d := NewDecomposer(b.g, o)
		f, err := d.Decomposition(b.p)
		if err == nil && f == nil {
			f, err = d.Formula(b.p)
		}
		if err != nil {
			return err
		}
		pl.Method, pl.Formula = Decomposed, f
	case "walks":
		if err := walksOK(pl); err != nil {
			return queryErrorf("the walks method does not apply: %v", err)
		}
		pl.Method, pl.Price = Walks, walksPrice(pl, &o)
	default:
		return queryErrorf("unknown method %q: want nest, local, large, formula, temporal or walks", o.Method)
	}
	return nil
}

// walksOK says why the closed walks of length five are not what p counts, or
// nil: homomorphisms of a cycle of five vertices without conditions, over one
// symmetric relation.
func walksOK(p *Plan) error {
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

// LocalOK says why the local method cannot run p, or nil. It holds the
// neighbourhood of level 0's vertex as a bit matrix, so all links must be of one
// symmetric relation and all vertices neighbours of the root, but for one at
// most, which is at level 1; and nothing may have to be looked at for each match.
func LocalOK(p *Plan) error {
	switch {
	case p.Mode != pattern.Iso:
		return errors.New("it counts distinct vertices only")
	case len(p.Edges) > 0:
		return errors.New("edges are chosen one by one")
	case len(p.Levels) < 2:
		return errors.New("the pattern has one vertex")
	}
	adj := -1
	for l := range p.Levels {
		lv := &p.Levels[l]
		if len(lv.Checks) > 0 {
			return fmt.Errorf("%s has to be checked for each match", lv.Checks[0].Text)
		}
		inside := l == 0
		for _, b := range lv.Back {
			if adj < 0 {
				adj = b.Adj
			}
			if b.Adj != adj || p.Adjs[adj].Rev != adj {
				return errors.New("the edges are of several relations or directed")
			}
			inside = inside || b.Level == 0 && !b.Neg
		}
		if !inside && l != 1 {
			return fmt.Errorf("%s is not a neighbour of %s", p.Pattern.VertexName(lv.Vertex), p.Pattern.VertexName(p.Order[0]))
		}
	}
	if adj < 0 {
		return errors.New("the pattern has no edges")
	}
	if p.Levels[1].Set >= 0 {
		return nil
	}
	for l := 2; l < len(p.Levels); l++ {
		if slices.ContainsFunc(p.Levels[l].Back, func(b Back) bool { return b.Level == 1 && !b.Neg }) {
			return nil
		}
	}
	return errors.New("the pattern is not connected")
}
