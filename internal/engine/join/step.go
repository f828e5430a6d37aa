package join

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
)

// step is a phase with what can be worked out before a run.
type step struct {
	phases.Phase
	width  int // levels that are matched before the phase
	after  int // and after it
	groups []group
	levels []level // of an extension, in the order of their levels
	// count says that the phase's matches are counted and make no rows.
	count bool
	// closed says that they are counted by arithmetic over the sizes of the groups.
	closed bool
	// merging is what a merge does; nil: the step is not a merge.
	merging *merging
	// weighs says that the rows that the step makes have weights: there is a merge at it or before it.
	weighs bool
}

// group is a phases.Group with the tests that its candidates share.
type group struct {
	phases.Group
	*plan.Level                // of the group's first level
	one         plan.Range     // the ids that are allowed, from the least to the greatest
	open        bool           // one has all ids
	ranges      []plan.Range   // all of them, where they are several
	bits        []uint64       // a bit for each vertex that is allowed; nil: all are
	minDegree   int            // what is left of it to be tested
	queries     []layout.Query // of the levels; not nil: a device filters by them, and tests ranges, bits and degrees
	sources     []source
	early       int   // sources before the phase: the others, behind them, are lists at the phase's own levels
	below       []int // levels that bound the candidates: those before the phase, or before a group with lists inside it
	above       []int
	distinct    []int // levels among these that a match must differ from
	// all are the candidates of a group that no list generates.
	all []uint32
	// roots are the vertices of the first group within one, where bits or sparse lists say which they are.
	roots []uint32
	// ordered says that restrictions order the group's vertices completely.
	ordered bool
}

// level is one level of an extension: what depends on others of the same phase.
type level struct {
	level, group           int
	below, above, distinct []int // levels of the phase
	apart                  []int // all levels that the match must differ from
	checks                 []plan.Check
	late                   bool // its candidates are known when the levels before it are matched, and not with the row
	size                   bool // only their number is wanted, of a last level in several lists
}

// compile works out the steps of a plan's phases. The candidates of a level are in its bitmap of
// allowed, if it has one. Where counting is true, matches are
// counted without rows where that is possible.
func (x *prepared) compile(all []phases.Phase, allowed [][]uint64, counting bool) []step {
	p := x.p
	steps := make([]step, len(all))
	width := 0
	for i := range all {
		s := &steps[i]
		s.Phase, s.width = all[i], width
		first := width
		for k := range s.Groups {
			known := first
			if of := &s.Groups[k]; of.Inside != nil {
				known = of.Levels[0]
			}
			s.groups = append(s.groups, x.newGroup(&s.Groups[k], known, allowed))
			if s.Pattern == phases.Sizes {
				s.groups[k].queries = nil // neighbours that all come before have what the signature asks for
			}
			width += len(s.Groups[k].Levels)
		}
		s.after = width
		for l := first; l < width; l++ {
			pl := &p.Levels[l]
			in := func(levels []int) (out []int) {
				for _, j := range levels {
					if j >= first {
						out = append(out, j)
					}
				}
				return out
			}
			k := slices.IndexFunc(s.Groups, func(g phases.Group) bool { return slices.Contains(g.Levels, l) })
			lv := level{level: l, group: k, apart: pl.Distinct, checks: pl.Checks, late: s.Groups[k].Inside != nil}
			if !lv.late { // or its group has all of them
				lv.below, lv.above, lv.distinct = in(pl.Below), in(pl.Above), in(pl.Distinct)
			}
			s.levels = append(s.levels, lv)
		}
	}
	for i := range steps {
		steps[i].weighs = i > 0 && steps[i-1].weighs || steps[i].Weigh
		if of := steps[i].Merging; of != nil {
			steps[i].merging, steps[i].weighs = x.newMerging(of, steps[i+1:]), true
		}
	}
	if last := &steps[len(steps)-1]; counting {
		last.count = true
		last.closed = last.Pattern > 0 && !p.NoTail && arithmetic(last)
		if n := len(last.levels); n > 0 && last.Pattern != phases.Sizes {
			lv := &last.levels[n-1]
			sources := last.groups[lv.group].sources
			lv.size = (n == 1 || lv.late) && len(lv.checks) == 0 && len(sources) > 1 && !sources[len(sources)-1].Neg
		}
	}
	return steps
}

// newGroup makes a group whose candidates depend on the levels before `known`.
func (s *prepared) newGroup(of *phases.Group, known int, allowed [][]uint64) group {
	p := s.p
	l := of.Levels[0]
	pl := &p.Levels[l]
	x := group{Group: *of, Level: pl, bits: pl.Bits, one: plan.Range{First: 0, End: uint32(s.g.NumVertices())}}
	if pl.Ranges != nil {
		x.one = plan.Range{}
		if n := len(pl.Ranges); n > 0 {
			x.one = plan.Range{First: pl.Ranges[0].First, End: pl.Ranges[n-1].End}
		}
		if len(pl.Ranges) > 1 {
			x.ranges = pl.Ranges
		}
	}
	x.open = pl.Ranges == nil
	if end, ok := p.DegreeEnd(l); ok && s.ids == nil {
		x.open = false
		x.one.End = min(x.one.End, end)
	} else if p.NeedsDegree(l) {
		x.minDegree = pl.MinDegree
	}
	x.queries = s.signed.queries(of.Levels)
	if allowed != nil {
		x.bits = either(allowed, of.Levels, pl.Bits)
	}
	if s.ids != nil {
		if !whole(s.g, pl.Ranges) { // a range of the graph's ids is not a range of others
			x.bits = plan.Bitmap(s.g.NumVertices(), pl.Ranges, x.bits)
			x.one, x.ranges, x.open = plan.Range{First: 0, End: uint32(s.g.NumVertices())}, nil, true
		}
		x.bits = renumber(x.bits, s.ids)
	}
	before := func(levels []int) (out []int) {
		for _, j := range levels {
			if j < known {
				out = append(out, j)
			}
		}
		return out
	}
	x.below, x.above, x.distinct = before(pl.Below), before(pl.Above), before(pl.Distinct)
	x.sources = x.newSources()
	x.early = len(x.sources) - len(of.Inside)
	if of.Free() && l > 0 {
		for v := x.one.First; v < x.one.End; v++ {
			if x.allows(s.lists, v) {
				x.all = append(x.all, v)
			}
		}
	}
	if sparse := p.SparseRoots(); l == 0 && x.bits != nil {
		x.roots = members(x.bits, x.one)
	} else if l == 0 && sparse != nil && s.ids == nil {
		x.roots = make([]uint32, 0, sparse.Len())
		for v := range sparse.Vertices {
			if v >= x.one.First && v < x.one.End {
				x.roots = append(x.roots, v)
			}
		}
	}
	x.ordered = ordered(p, of.Levels)
	return x
}

// members returns the vertices of a bitmap that are in a range.
func members(words []uint64, r plan.Range) []uint32 {
	out := make([]uint32, 0, r.Count(words))
	for i := r.First / 64; i < (r.End+63)/64; i++ {
		for w := words[i]; w != 0; w &= w - 1 {
			if v := 64*i + uint32(bits.TrailingZeros64(w)); r.First <= v && v < r.End {
				out = append(out, v)
			}
		}
	}
	return out
}

// either returns the vertices that some of the levels allow, or standard where a level says nothing.
func either(allowed [][]uint64, levels []int, standard []uint64) []uint64 {
	all := allowed[levels[0]]
	for _, l := range levels {
		if allowed[l] == nil {
			return standard
		}
	}
	if len(levels) > 1 {
		all = slices.Clone(all)
		for _, l := range levels[1:] {
			for i, w := range allowed[l] {
				all[i] |= w
			}
		}
	}
	return all
}

// whole reports whether each range consists of whole label classes, which a renumbering keeps.
func whole(g *graph.Graph, ranges []plan.Range) bool {
	return !slices.ContainsFunc(ranges, func(r plan.Range) bool {
		return r.First < r.End && !(slices.ContainsFunc(g.Classes, func(c graph.Class) bool { return c.First == r.First }) &&
			slices.ContainsFunc(g.Classes, func(c graph.Class) bool { return c.End == r.End }))
	})
}

// tests reports whether vertices of a list need more than bounds to be candidates.
func (x *group) tests() bool {
	return x.ranges != nil || x.bits != nil || x.minDegree > 0
}

// allows applies what a vertex must satisfy by itself.
func (x *group) allows(in lists, v uint32) bool {
	if x.bits != nil && x.bits[v>>6]>>(v&63)&1 == 0 {
		return false
	}
	if x.ranges != nil && !slices.ContainsFunc(x.ranges, func(r plan.Range) bool { return v >= r.First && v < r.End }) {
		return false
	}
	return x.minDegree == 0 || in.degree(x.MinDegreeAdj, v) >= x.minDegree
}

// ordered reports whether restrictions order the levels completely: each is bound by the one
// before, the same way.
func ordered(p *plan.Plan, levels []int) bool {
	for i := 1; i < len(levels); i++ {
		l, before := &p.Levels[levels[i]], levels[i-1]
		if !slices.Contains(l.Below, before) && !slices.Contains(l.Above, before) {
			return false
		}
		if i > 1 && slices.Contains(l.Below, before) != slices.Contains(p.Levels[before].Below, levels[i-2]) {
			return false
		}
	}
	return true
}

// arithmetic reports whether the number of a phase's matches follows from the sizes of its groups. Each
// group must be ordered completely, or not at all. In a group without order, either all vertices differ
// or all may be equal. Two groups either can have no vertex in common, or may share vertices.
func arithmetic(s *step) bool {
	for i := range s.levels {
		if len(s.levels[i].checks) > 0 || s.levels[i].late {
			return false
		}
	}
	for k := range s.groups {
		x := &s.groups[k]
		for i := range s.levels {
			lv := &s.levels[i]
			other := func(j int) bool { return !slices.Contains(x.Levels, j) }
			if lv.group == k && (slices.ContainsFunc(lv.below, other) || slices.ContainsFunc(lv.above, other) || slices.ContainsFunc(lv.distinct, other)) {
				return false
			}
			if lv.group == k && !x.ordered && len(lv.below)+len(lv.above) > 0 {
				return false
			}
		}
		if some, all := distinctInside(s, k); !x.ordered && some && !all {
			return false
		}
	}
	return true
}

// distinctInside reports whether some level of group k must differ from one before it in the
// group, and whether each must differ from all of them.
func distinctInside(s *step, k int) (some, all bool) {
	seen := 0
	all = true
	for i := range s.levels {
		if l := &s.levels[i]; l.group == k {
			some = some || len(l.distinct) > 0
			all = all && len(l.distinct) == seen
			seen++
		}
	}
	return some, all
}
