package planner

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/plan/formula"
)

// The automatic choice of a method compares prices. A price is the expected number of set
// elements read, or of steps that take the same time. Why these constants: they were fitted to
// measurements, which docs/benchmarks.md has.

// trailWorthwhile is the work of a nest for trails, which takes each match in
// hand, below which nothing better is looked for.
const trailWorthwhile = 2e5

// trailWayWork is the work of a nest that takes longer than one of the ways to let the
// vertices of a trail coincide.
const trailWayWork = 50

// auto replaces a plan for the nest by a better one where there is one.
func (b *planner) auto(pl *plan.Plan, o plan.Options) (*plan.Plan, error) {
	ablation := o.NoTail || o.NoMotion || o.NoRestrictions || o.Embeddings
	ordered := o.Order != "" && o.Order != "auto" && o.Order != "cost"
	if pl.Mode == pattern.Trail && o.Method == "" && o.Root < 0 && !o.Listing && !ablation && !ordered &&
		pl.Empty == nil && pl.Work() > max(trailWorthwhile, trailWayWork*float64(formula.TrailWays(b.Graph, b.Pattern))) && formula.TrailsOK(b.Graph, b.Pattern) == nil {
		f, err := NewDecomposer(b.Graph, o).Trails(b.Pattern)
		if err != nil {
			return nil, err
		}
		if f.Cost < pl.Work() {
			pl.Method, pl.Formula, pl.Why = plan.Decomposed, f, "counted by a formula: "+f.Why
		}
		return pl, nil
	}
	if pl.Empty != nil || ordered || ablation && !o.Embeddings || len(pl.Levels) < 3 || pl.Mode == pattern.Trail {
		return pl, nil
	}
	if o.Listing {
		return pl, nil
	}
	best := pl
	if pl.Mode == pattern.Iso {
		if loc := b.tryLocal(pl, o); loc != nil {
			best = loc
		}
	}
	if o.Method == "direct" || o.Root >= 0 || best.Work() < cost.Worthwhile || formula.Decomposable(b.Pattern) != nil || b.classes() > 1 {
		return best, nil
	}
	d := NewDecomposer(b.Graph, o)
	whole := *best // the pattern's own plan is made already
	d.Known(b.Pattern, &whole)
	f, err := d.Formula(b.Pattern)
	if err != nil {
		return nil, err
	}
	if f.Cost < best.Work() && (len(f.Terms) > 1 || f.Terms[0].Plan == nil) {
		best.Why = fmt.Sprintf("counted by a formula, %s: estimated %.1e steps instead of %.1e", f.Why, f.Cost, best.Work())
		best.Method, best.Formula = plan.Decomposed, f
	}
	return best, nil
}

func (b *planner) classes() int { return len(b.Graph.Classes) }

// becauseLarge is why a plan is for the large method.
const becauseLarge = "; a large labelled pattern: candidates are filtered first, the order adapts to what they leave"

// largeChosen reports whether the plan is to be for the large method: nothing
// else was asked for, and it suits.
func (b *planner) largeChosen(o plan.Options) bool {
	ablation := o.NoTail || o.NoMotion || o.NoRestrictions
	return (o.Method == "" || o.Method == "direct") && (o.Order == "" || o.Order == "auto" || o.Order == "cost") &&
		o.Root < 0 && !ablation && b.Empty == nil && b.LargelyLabelled()
}

// tryLocal returns the plan for the local method if it looks cheaper than pl.
func (b *planner) tryLocal(pl *plan.Plan, o plan.Options) *plan.Plan {
	if b.classes() > 1 || len(pl.Levels) < 3 || b.severalRelations() {
		return nil
	}
	if len(pl.Levels)-pl.Tail.K == 2 && len(pl.Levels) > 3 && pl.Levels[1].Set >= 0 {
		return nil // the nest reads each edge once, and the matrix would be used once
	}
	o.Method = "local"
	c, err := b.Local(o)
	if err != nil {
		return nil
	}
	b.Flip = c.Flip
	loc := b.Assemble(c.Order, o)
	loc.OrderName, loc.Why = c.Name, c.Why
	if plan.LocalOK(loc) != nil {
		return nil
	}
	loc.Method = plan.Local
	cost.Estimate(loc, o, 0)
	loc.Price = cost.LocalPrice(loc, cost.NewSurvey(b.Graph, loc.Adjs[0].Lists, &o))
	// A triangle is an edge among the neighbours below the root: no matrix at
	// all, and always the cheapest way.
	triangle := len(pl.Levels) == 3 && loc.Levels[1].Set >= 0 && slices.ContainsFunc(loc.Levels[2].Back, func(x plan.Back) bool { return x.Level == 1 && !x.Neg })
	if loc.Price >= pl.Work() && !triangle || !plan.LocalFits(loc) {
		return nil
	}
	loc.Why = fmt.Sprintf("%s has all other vertices but %s as neighbours: its neighbourhood is kept as a bit matrix, estimated %.1e steps instead of %.1e",
		b.Pattern.VertexName(loc.Order[0]), map[bool]string{true: "one", false: "none"}[loc.Levels[1].Set < 0], loc.Price, pl.Work())
	return loc
}

// severalRelations reports whether links are of several relations, or directed.
func (b *planner) severalRelations() bool {
	return slices.ContainsFunc(b.Links, func(l bind.Link) bool { return l.Adj != b.Links[0].Adj || b.Adjs[l.Adj].Rev != l.Adj })
}

// plainTriangle reports whether the pattern is a triangle without conditions.
func (b *planner) plainTriangle() bool {
	if b.N != 3 || len(b.Links) != 3 || len(b.Adjs) != 1 || len(b.Edges)+len(b.Checks) > 0 || b.Pattern.Mode != pattern.Iso {
		return false
	}
	for v := range b.Vertices {
		if x := &b.Vertices[v]; x.Ranges != nil || x.Bits != nil {
			return false
		}
	}
	for _, l := range b.Links {
		if l.Neg {
			return false
		}
	}
	return true
}
