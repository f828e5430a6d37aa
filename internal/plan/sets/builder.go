// Package sets completes a plan that has only checks. It adds the restrictions that break
// symmetry, the set program with code motion and shared nodes, and the tail that counts the
// last levels by arithmetic.
//
// It knows plans and patterns. It must not know the binding or the graph's contents.
package sets

import (
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Builder adds to a plan the fields that its restrictions decide, and the set program.
type Builder struct {
	pl       *plan.Plan
	less     *Poset
	tail     int // levels that the tail closes
	noMotion bool
}

// NewBuilder adds the restrictions and Distinct to a plan that has the rest of the
// checks view, and decides how many levels the tail closes.
func NewBuilder(pl *plan.Plan, less *Poset, o plan.Options) *Builder {
	tail := tailLevels(pl, less, o)
	less.addTo(pl, len(pl.Order)-tail)
	if pl.Mode == pattern.Iso {
		addDistinct(pl, less)
	}
	return &Builder{pl, less, tail, o.NoMotion}
}

// Add adds the set program and the tail.
func (b *Builder) Add() {
	addSets(b.pl, b.less, len(b.pl.Order)-b.tail, b.noMotion)
	addTail(b.pl, b.tail, b.less)
}
