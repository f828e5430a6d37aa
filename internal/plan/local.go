package plan

import (
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// LocalOK returns the reason why the local method cannot run p, or nil.
//
// The method keeps the neighbourhood of level 0's vertex as a bit matrix. So all links must be
// of one symmetric relation. All vertices must be neighbours of the root, except at most one,
// which is at level 1. No condition may have to be tested for each match.
func LocalOK(p *Plan) error {
	switch {
	case p.Mode != pattern.Iso:
		return Refusef("it counts distinct vertices only")
	case len(p.Edges) > 0:
		return Refusef("edges are chosen one by one")
	case len(p.Levels) < 2:
		return Refusef("the pattern has one vertex")
	}
	adj := -1
	for l := range p.Levels {
		lv := &p.Levels[l]
		if len(lv.Checks) > 0 {
			return Refusef("%s has to be checked for each match", lv.Checks[0].Text)
		}
		inside := l == 0
		for _, b := range lv.Back {
			if adj < 0 {
				adj = b.Adj
			}
			if b.Adj != adj || p.Adjs[adj].Rev != adj {
				return Refusef("the edges are of several relations or directed")
			}
			inside = inside || b.Level == 0 && !b.Neg
		}
		if !inside && l != 1 {
			return Refusef("%s is not a neighbour of %s", p.Pattern.VertexName(lv.Vertex), p.Pattern.VertexName(p.Order[0]))
		}
	}
	if adj < 0 {
		return Refusef("the pattern has no edges")
	}
	if p.Levels[1].Set >= 0 {
		return nil
	}
	for l := 2; l < len(p.Levels); l++ {
		if slices.ContainsFunc(p.Levels[l].Back, func(b Back) bool { return b.Level == 1 && !b.Neg }) {
			return nil
		}
	}
	return Refusef("the pattern is not connected")
}

// MaxUniverse is the largest neighbourhood that the local method makes a bit
// matrix of (128 MiB a worker).
const MaxUniverse = 1 << 15

// LocalFits reports whether every neighbourhood that the plan needs as a bit
// matrix is small enough.
func LocalFits(pl *Plan) bool {
	lists := pl.Adjs[0].Lists
	if lists.Sparse != nil && lists.MaxDegree() <= MaxUniverse {
		return true
	}
	var s graph.Scratch
	for v := range uint32(lists.NumVertices()) {
		if lists.Degree(v) <= MaxUniverse {
			if len(pl.Graph.Classes) == 1 && lists.DegreeOrdered {
				return true
			}
			continue
		}
		list := lists.List(v, &s)
		if n := len(Within(list, 0, v)); n > MaxUniverse || LocalSide(pl) != LowerSide {
			return false
		}
	}
	return true
}

// Side is which neighbours of the root are its universe.
type Side uint8

const (
	AllSides  Side = iota
	LowerSide      // those with smaller ids
	UpperSide
)

// LocalSide is the side of the root that all its neighbours in the pattern are on.
func LocalSide(pl *Plan) Side {
	first := 1
	if pl.Levels[1].Set < 0 {
		first = 2
	}
	leads := func(bounds func(*Level) []int) bool {
		to := make([]bool, len(pl.Levels))
		to[0] = true
		for l := 1; l < len(pl.Levels); l++ {
			to[l] = slices.ContainsFunc(bounds(&pl.Levels[l]), func(j int) bool { return to[j] })
		}
		return !slices.Contains(to[first:], false)
	}
	switch {
	case leads(func(lv *Level) []int { return lv.Below }):
		return LowerSide
	case leads(func(lv *Level) []int { return lv.Above }):
		return UpperSide
	}
	return AllSides
}
