package plan

import (
	"fmt"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// The automatic choice of a method compares prices: the expected number of set
// elements read, or of steps that take as long. What each price counts was
// fitted to measurements; docs/benchmarks.md has them.

const (
	// formulaGain is how much cheaper a formula must look: its price adds up
	// the errors of many estimates, and it has no partial result.
	formulaGain = 0.5
	// worthwhile is the price below which looking for something better takes
	// longer than counting (some 20 ms).
	worthwhile = 5e7
)

// auto replaces a plan for the nest by a better one where there is one.
func (b *binding) auto(pl *Plan, o Options) (*Plan, error) {
	ablation := o.NoTail || o.NoMotion || o.NoRestrictions || o.Embeddings
	ordered := o.Order != "" && o.Order != "auto" && o.Order != "cost"
	if pl.Mode == pattern.Trail && o.Method == "" && o.Root < 0 && !o.Listing && !ablation && !ordered &&
		pl.Empty == nil && pl.Work() > max(trailWorthwhile, trailWayWork*float64(b.trailWays())) && b.trailsOK() == nil {
		f, err := b.trails(o)
		if err != nil {
			return nil, err
		}
		if f.Cost < pl.Work() {
			pl.Method, pl.Formula, pl.Why = Decomposed, f, "counted by a formula: "+f.Why
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
	if o.Method == "direct" || o.Root >= 0 || best.Work() < worthwhile || Decomposable(b.p) != nil || b.classes() > 1 {
		return best, nil
	}
	d := NewDecomposer(b.g, o)
	whole := *best // the pattern's own plan is made already
	d.direct[d.canonical(b.p)] = &whole
	f, err := d.Formula(b.p)
	if err != nil {
		return nil, err
	}
	if f.Cost < formulaGain*best.Work() && (len(f.Terms) > 1 || f.Terms[0].Plan == nil) {
		best.Why = fmt.Sprintf("counted by a formula, %s: estimated %.1e steps instead of %.1e", f.Why, f.Cost, best.Work())
		best.Method, best.Formula = Decomposed, f
	}
	return best, nil
}

func (b *binding) classes() int { return len(b.g.Classes) }

// largelyLabelled reports whether the method for large labelled patterns can run
// the pattern, and the pattern is large and labelled enough for filtering
// candidates to be the better start.
func (b *binding) largelyLabelled() bool {
	if b.n < 5 || len(b.edges) > 0 || len(b.checks) > 0 || b.p.Mode != pattern.Iso {
		return false
	}
	labelled := 0
	for v := range b.vertices {
		if b.vertices[v].ranges != nil {
			labelled++
		}
	}
	return labelled > b.n/2
}

// becauseLarge is why a plan is for the large method.
const becauseLarge = "; a large labelled pattern: candidates are filtered first, the order adapts to what they leave"

// largeChosen reports whether the plan is to be for the large method: nothing
// else was asked for, and it suits.
func (b *binding) largeChosen(o Options) bool {
	ablation := o.NoTail || o.NoMotion || o.NoRestrictions
	return (o.Method == "" || o.Method == "direct") && (o.Order == "" || o.Order == "auto" || o.Order == "cost") &&
		o.Root < 0 && !ablation && b.empty == nil && b.largelyLabelled()
}

// tryLocal returns the plan for the local method if it looks cheaper than pl.
func (b *binding) tryLocal(pl *Plan, o Options) *Plan {
	if b.classes() > 1 || len(pl.Levels) < 3 {
		return nil
	}
	if len(pl.Levels)-pl.Tail.K == 2 && len(pl.Levels) > 3 && pl.Levels[1].Set >= 0 {
		return nil // the nest reads each edge once, and the matrix would be used once
	}
	o.Method = "local"
	c, err := b.orderLocal(o)
	if err != nil {
		return nil
	}
	b.flip = c.flip
	loc := b.assemble(c.order, o)
	loc.OrderName, loc.Why = c.name, c.why
	if LocalOK(loc) != nil {
		return nil
	}
	loc.Method = Local
	loc.estimate(o)
	loc.Price = localPrice(loc, surveyOf(loc.Adjs[0].Lists))
	// A triangle is an edge among the neighbours below the root: no matrix at
	// all, and always the cheapest way.
	triangle := len(pl.Levels) == 3 && loc.Levels[1].Set >= 0
	if loc.Price >= pl.Work() && !triangle || !LocalFits(loc) {
		return nil
	}
	loc.Why = fmt.Sprintf("%s has all other vertices but %s as neighbours: its neighbourhood is kept as a bit matrix, estimated %.1e steps instead of %.1e",
		b.p.VertexName(loc.Order[0]), map[bool]string{true: "one", false: "none"}[loc.Levels[1].Set < 0], loc.Price, pl.Work())
	return loc
}

// plainTriangle reports whether the pattern is a triangle without conditions.
func (b *binding) plainTriangle() bool {
	if b.n != 3 || len(b.links) != 3 || len(b.adjs) != 1 || len(b.edges)+len(b.checks) > 0 || b.p.Mode != pattern.Iso {
		return false
	}
	for v := range b.vertices {
		if x := &b.vertices[v]; x.ranges != nil || x.bits != nil {
			return false
		}
	}
	for _, l := range b.links {
		if l.neg {
			return false
		}
	}
	return true
}

// MaxUniverse is the largest neighbourhood that the local method makes a bit
// matrix of (128 MiB a worker).
const MaxUniverse = 1 << 15

// LocalFits reports whether every neighbourhood that the plan needs as a bit
// matrix is small enough.
func LocalFits(pl *Plan) bool {
	lists := pl.Adjs[0].Lists
	var s graph.Scratch
	for v := range uint32(lists.NumVertices()) {
		if lists.Degree(v) <= MaxUniverse {
			if len(pl.Graph.Classes) == 1 && lists.DegreeOrdered {
				return true
			}
			continue
		}
		list := lists.List(v, &s)
		if n := len(within(list, 0, v)); n > MaxUniverse || localSide(pl) != lowerSide {
			return false
		}
	}
	return true
}

// walksPrice is the expected work of counting closed walks of length five: from
// each vertex, the edges at what two steps reach.
func walksPrice(pl *Plan, o *Options) float64 {
	csr := pl.Adjs[pl.Levels[1].Back[0].Adj].Lists.Flat()
	n := csr.NumVertices()
	walks := 0.0
	for v := range uint32(n) {
		if v%4096 == 0 && o.ended() {
			break
		}
		sum := 0.0
		for _, u := range csr.List(v) {
			sum += float64(csr.Degree(u))
		}
		walks += sum * float64(csr.Degree(v))
	}
	return min(walks, float64(n)*float64(len(csr.Adj)))
}
