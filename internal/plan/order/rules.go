// Package order chooses matching orders. Each file has a rule:
//
//   - RI, GSI and GENEVA;
//   - the cost model with random walks;
//   - the number of tests of single candidates;
//   - the order for the local method;
//   - the order that the user gives;
//   - extension by edges, for ORDERED and WITHIN.
//
// It reads a Binding and asks package cost. It must not choose methods.
package order

import (
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/cost"
)

// Rules chooses orders for one pattern bound to one graph.
type Rules struct {
	*bind.Binding
	stats  *cost.Statistics // made when first asked for
	search *costSearch      // for cheap orders, with the first options that ask for it
}

// NewRules returns the rules for b.
func NewRules(b *bind.Binding) *Rules { return &Rules{Binding: b} }

func (b *Rules) statistics() *cost.Statistics {
	if b.stats == nil {
		b.stats = cost.NewStatistics(b.Binding)
	}
	return b.stats
}

// Choice is an order with the rule that made it and, in a sentence, why.
type Choice struct {
	Order     []int
	Name, Why string
	// Flip turns the restrictions: see sets.Restrict.
	Flip bool
	// Cost is the cost that the model of the graph expects; 0: the rule does not ask it.
	Cost float64
	// Levels are the estimates of the levels, where the model of the graph is good enough to do without
	// random walks; else nil.
	Levels []Expected
	// Walks are random walks down the plan of the order, where they have compared it with others; else nil.
	Walks *cost.Walks
	// Rows are the rows that a join is expected to make of each level, where it merges those that nothing later tells apart; nil: it
	// was not asked. Left are those that a merge behind the level leaves.
	Rows, Left []float64
}

// Expected is an estimate of a level: see plan.Level.
type Expected struct{ Matches, Cost float64 }

// Choose applies the rule that o names.
func (b *Rules) Choose(o plan.Options) (Choice, error) {
	if o.Method == "local" {
		return b.Local(o)
	}
	switch o.Order {
	case "", "auto":
		if o.Root < 0 && (o.Method == "" || o.Method == "large") && b.LargelyLabelled() {
			// The large method orders vertices as it goes; this one is only for
			// reading, and a search for a better one would take longer than the run.
			return b.orderRI(o), nil
		}
		return b.orderCost(o), nil
	case "cost", "join":
		c := b.orderCost(o)
		if o.Order == "join" && o.Merges && b.N >= leastMerged {
			c = b.orderMerged(o, c)
		}
		return c, nil
	case "ri":
		return b.orderRI(o), nil
	case "tests":
		return b.orderTests(o), nil
	case "gsi":
		return b.orderGSI(o), nil
	case "geneva":
		return b.orderGeneva(o), nil
	case "given":
		return b.orderGiven(o)
	}
	return Choice{}, plan.Errorf("unknown order %q: want auto, ri, gsi, geneva, cost, join, tests or given", o.Order)
}

// fewPairs is the number of list entries of a pattern's links up to which filtering candidates takes less time than the
// plan of a nest: some 0.03 ms.
const fewPairs = 8e3

// LargelyLabelled reports whether the method for large labelled patterns should run the
// pattern. The method must be able to run it, and the pattern must be large and labelled enough
// for a start by filtering candidates. Four vertices are enough where their links have few pairs.
func (b *Rules) LargelyLabelled() bool {
	if b.N < 4 || len(b.Edges) > 0 || len(b.Checks) > 0 || b.Pattern.Mode != pattern.Iso {
		return false
	}
	labelled := 0
	for v := range b.Vertices {
		if b.Vertices[v].Ranges != nil {
			labelled++
		}
	}
	if labelled <= b.N/2 {
		return false
	}
	if b.N > 4 {
		return true
	}
	pairs, _, _ := b.SemijoinReads()
	return pairs <= fewPairs
}
