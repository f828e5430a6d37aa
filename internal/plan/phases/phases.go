// Package phases cuts a plan's matching order into the phases of a breadth-first join. A phase
// extends all partial matches by one or several vertices, or eliminates those that lack an
// edge.
//
// GENEVA (Lu et al., TPDS 2023, sections 5 and 6) matches several vertices in one phase. With
// one vertex each, the phases are those of GSI's vertex-oriented join.
//
// It knows plans, and must not know engines.
package phases

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/plan"
)

// Patterns of phases that GENEVA has no number for.
const (
	Eliminate = -1 // it only eliminates
	Sizes     = -2 // it counts the plan's tail by the sizes of sets
	Merge     = -3 // it merges rows that later phases cannot tell apart
)

// Phase is one step of a join.
type Phase struct {
	// Pattern is GENEVA's matching pattern, 0 to 7, of an extension, or Eliminate, Sizes or Merge.
	Pattern int
	// Groups are the vertices that an extension matches, of at most two sets of candidates, or
	// the levels of the tail.
	Groups []Group
	// Close are the edges that an elimination looks for, all of one relation.
	Close []Edge
	// Weigh says that nothing later asks for the one vertex of the phase: a row gets the number of its candidates as a further factor of
	// its weight, and no row for each.
	Weigh bool
	// Merging says what a merge compares; nil: the phase is not a merge.
	Merging *Merging
	// Why says in words why the phase ends where it does; "": nothing else was possible.
	Why string
	// Initial says that the phase after this one takes its rows one by one, so that no table has them. It is said of
	// the first phase: GENEVA's first phase matches a vertex and others next to it at once.
	Initial bool
}

// Group is levels that have one set of candidates: the list at From, cut by the lists in
// With and by all else that the levels say of earlier phases.
type Group struct {
	Levels []int // ascending
	From   plan.Back
	With   []plan.Back
	// Inside are lists at levels of the same phase that cut the candidates too, as soon as these levels are
	// matched. A group that has any has one level.
	Inside []plan.Back
}

// Free reports whether no list generates the group's candidates: at level 0, and where a
// further component of the pattern begins.
func (g *Group) Free() bool { return g.From.Level < 0 }

// Edge is a backward neighbour of a level that an elimination looks for.
type Edge struct {
	Level int
	plan.Back
}

// Levels returns the levels that the phase matches, ascending.
func (p *Phase) Levels() []int {
	var all []int
	for _, g := range p.Groups {
		all = append(all, g.Levels...)
	}
	slices.Sort(all)
	return all
}

// Single returns phases of one vertex each, for the first levels of a plan.
func Single(p *plan.Plan, levels int) []Phase {
	all := make([]Phase, levels)
	for l := range all {
		all[l] = Phase{Groups: []Group{group(p, l, l, -1)}}
	}
	return all
}

// Tail returns the tail of a plan as a phase: each of its levels is a group, of which an engine
// needs only sizes.
func Tail(p *plan.Plan) Phase {
	x := Phase{Pattern: Sizes}
	first := len(p.Levels) - p.Tail.K
	for l := first; l < len(p.Levels); l++ {
		x.Groups = append(x.Groups, group(p, l, first, -1))
	}
	return x
}

// Multi returns phases, for the first levels of a plan, of as many vertices as GENEVA's matching patterns allow.
// A phase has two vertices in the pattern's core, where edges of cycles eliminate wrong matches. It has any
// number of them in the pattern's trees. With an edge inside it has two. Such an edge cuts the second one's candidates
// for each match of the first, so that no row is made that it eliminates.
func Multi(p *plan.Plan, levels int) []Phase { return several(p, levels, false) }

// MultiAfter returns the phases of Multi, but looks for edges inside them in eliminations after each phase, one for
// each relation, as GENEVA does.
func MultiAfter(p *plan.Plan, levels int) []Phase { return several(p, levels, true) }

func several(p *plan.Plan, levels int, after bool) []Phase {
	core := coreOf(p)
	var all []Phase
	for l := 0; l < levels; {
		best := Phase{Groups: []Group{group(p, l, l, -1)}}
		if l > 0 {
			for _, b := range p.Levels[l].Back {
				if b.Neg {
					continue
				}
				for end := l + 2; end <= levels; end++ {
					next, why := extension(p, l, end, b.Adj, core)
					if why == "" && !after {
						why = next.enclose(p, l)
					}
					if why != "" {
						why = fmt.Sprintf("without %s: %s", name(p, end-1), why)
						if best.Why == "" && end-1-l == len(best.Levels()) {
							best.Why = why
						}
						break
					}
					if better(&next, &best) {
						best = next
					}
				}
			}
		}
		all = append(all, best)
		first := l
		l += len(best.Levels())
		if after {
			all = append(all, eliminations(p, first, l)...)
		}
	}
	return all
}

// Auto returns phases, for the first levels of a plan, whose tables are expected to be smallest by the plan's estimates. A
// phase has one vertex, or it is one that Multi may have, except that its lists may be in several relations: GENEVA
// has one of them in memory at a time. pays reports whether a phase of several vertices, those from level first to
// before level end, is wanted.
func Auto(p *plan.Plan, levels int, pays func(first, end int) bool) []Phase {
	core := coreOf(p)
	best := make([]Phase, levels)
	cost := make([]float64, levels+1) // of the tables behind a level
	for l := levels - 1; l >= 0; l-- {
		after := func(end int) float64 {
			c := cost[end] + 1 // a phase less, all else being equal
			if end < len(p.Levels) {
				c += float64(end) * p.Levels[end-1].Estimate
			}
			return c
		}
		best[l], cost[l] = Phase{Groups: []Group{group(p, l, l, -1)}}, after(l+1)
		for end := l + 2; l > 0 && end <= levels; end++ {
			x, why := extension(p, l, end, -1, core)
			if why == "" {
				why = x.enclose(p, l)
			}
			if why == "" && !pays(l, end) {
				why = "one vertex at a time is expected to be faster"
			}
			if why != "" {
				if end == l+len(best[l].Levels())+1 {
					best[l].Why = fmt.Sprintf("without %s: %s", name(p, end-1), why)
				}
				break
			}
			if c := after(end); c < cost[l] {
				best[l], cost[l] = x, c
			} else if end == l+len(best[l].Levels())+1 {
				best[l].Why = fmt.Sprintf("without %s: tables are expected to be smaller", name(p, end-1))
			}
		}
	}
	var all []Phase
	for l := 0; l < levels; l += len(best[l].Levels()) {
		all = append(all, best[l])
	}
	return all
}

// enclose gives the edges inside a phase that begins at level first to its groups. Where that cannot be, it says why.
func (x *Phase) enclose(p *plan.Plan, first int) (why string) {
	levels := x.Levels()
	for _, l := range levels {
		var inside []plan.Back
		for _, b := range p.Levels[l].Back {
			if b.Level >= first {
				inside = append(inside, b)
			}
		}
		switch {
		case inside == nil:
		case len(levels) > 2:
			return "with an edge inside, a phase has two vertices"
		default:
			one, other := x.groupOf(first), x.groupOf(l)
			one.Levels, other.Levels, other.Inside = []int{first}, []int{l}, inside
			x.Groups = []Group{one, other}
		}
	}
	return ""
}

// groupOf returns a copy of the group that a level is in.
func (x *Phase) groupOf(l int) Group {
	return x.Groups[slices.IndexFunc(x.Groups, func(g Group) bool { return slices.Contains(g.Levels, l) })]
}

// extension tries to match the levels first … end-1 in one phase, each from the list in
// relation adj of an earlier level; with -1 in any relation. Where that cannot be, it says why.
func extension(p *plan.Plan, first, end, adj int, core uint32) (x Phase, why string) {
	for l := first; l < end; l++ {
		g := group(p, l, first, adj)
		switch {
		case g.Free() && adj < 0:
			return x, "it is in no list of an earlier phase"
		case g.Free() || adj >= 0 && g.From.Adj != adj:
			return x, fmt.Sprintf("it is in no list %s of an earlier phase", p.Adjs[adj].Name)
		}
		at := slices.IndexFunc(x.Groups, func(h Group) bool { return alike(p, &g, &h, first) })
		if at >= 0 {
			x.Groups[at].Levels = append(x.Groups[at].Levels, l)
			continue
		}
		if len(x.Groups) == 2 {
			return x, "a phase has at most two sets of candidates"
		}
		x.Groups = append(x.Groups, g)
	}
	for l := first; l < end; l++ {
		if end-first > 2 && core>>l&1 != 0 {
			return x, "of vertices in cycles, a phase has at most two"
		}
	}
	x.Pattern = matchingPattern(p, x.Groups)
	return x, ""
}

// group returns level l as a group of its own in a phase that begins at level first. Its list
// is in relation adj; with -1 in the relation of fewest pairs, as GSI's algorithm 3 has it.
func group(p *plan.Plan, l, first, adj int) Group {
	g := Group{Levels: []int{l}, From: plan.Back{Level: -1}}
	var backs []plan.Back
	for _, b := range p.Levels[l].Back {
		if b.Level < first {
			backs = append(backs, b)
		}
	}
	from := -1
	pairs := func(i int) int { return p.Adjs[backs[i].Adj].Lists.Pairs() }
	for i, b := range backs {
		if !b.Neg && (adj < 0 || b.Adj == adj) && (from < 0 || pairs(i) < pairs(from)) {
			from = i
		}
	}
	if from >= 0 {
		g.From = backs[from]
		backs = slices.Delete(backs, from, from+1)
	}
	g.With = backs
	return g
}

// alike reports whether the levels of two groups of a phase that begins at level first have the
// same candidates.
func alike(p *plan.Plan, g, h *Group, first int) bool {
	a, b := &p.Levels[g.Levels[0]], &p.Levels[h.Levels[0]]
	before := func(levels []int) []int {
		var out []int
		for _, l := range levels {
			if l < first {
				out = append(out, l)
			}
		}
		slices.Sort(out)
		return out
	}
	return g.From == h.From && slices.Equal(g.With, h.With) && sameCandidates(a, b) &&
		slices.Equal(before(a.Below), before(b.Below)) && slices.Equal(before(a.Above), before(b.Above)) &&
		slices.Equal(before(a.Distinct), before(b.Distinct))
}

// sameCandidates reports whether two levels allow the same vertices by themselves.
func sameCandidates(a, b *plan.Level) bool {
	return slices.Equal(a.Ranges, b.Ranges) && (a.Ranges == nil) == (b.Ranges == nil) && plan.SameBits(a.Bits, b.Bits) &&
		a.MinDegree == b.MinDegree && a.MinDegreeAdj == b.MinDegreeAdj
}

// matchingPattern classifies the groups of a phase as GENEVA's figure 1 does.
func matchingPattern(p *plan.Plan, groups []Group) int {
	n := 0
	for _, g := range groups {
		n += len(g.Levels)
	}
	switch {
	case n == 1:
		return 0
	case len(groups) == 1 && n == 2:
		return 1
	case len(groups) == 1:
		return 5
	}
	one := groups[0].From.Level == groups[1].From.Level
	switch {
	case n > 2 && one:
		return 6
	case n > 2:
		return 7
	case one:
		return 3
	case sameCandidates(&p.Levels[groups[0].Levels[0]], &p.Levels[groups[1].Levels[0]]):
		return 2
	}
	return 4
}

// rank is the order of matching patterns: which of several that are possible a phase takes
// (section 5.5).
var rank = [...]int{5: 7, 6: 6, 7: 5, 1: 4, 3: 3, 4: 2, 2: 1, 0: 0}

func better(x, y *Phase) bool {
	if rank[x.Pattern] != rank[y.Pattern] {
		return rank[x.Pattern] > rank[y.Pattern]
	}
	return len(x.Levels()) > len(y.Levels())
}

// eliminations returns the phases that look for edges between the levels first … end-1, one
// for each relation.
func eliminations(p *plan.Plan, first, end int) []Phase {
	var all []Phase
	for l := first; l < end; l++ {
		for _, b := range p.Levels[l].Back {
			if b.Level < first {
				continue
			}
			relation := min(b.Adj, p.Adjs[b.Adj].Rev)
			at := slices.IndexFunc(all, func(x Phase) bool {
				a := x.Close[0].Adj
				return min(a, p.Adjs[a].Rev) == relation
			})
			if at < 0 {
				at = len(all)
				all = append(all, Phase{Pattern: Eliminate})
			}
			all[at].Close = append(all[at].Close, Edge{l, b})
		}
	}
	return all
}

// coreOf returns the levels that are left when those with one neighbour are taken away again
// and again.
func coreOf(p *plan.Plan) uint32 {
	near := make([]uint32, len(p.Levels))
	for l := range p.Levels {
		for _, b := range p.Levels[l].Back {
			if !b.Neg {
				near[l] |= 1 << b.Level
				near[b.Level] |= 1 << l
			}
		}
	}
	core := uint32(1)<<len(p.Levels) - 1
	for changed := true; changed; {
		changed = false
		for l := range near {
			if core>>l&1 != 0 && bits.OnesCount32(near[l]&core) < 2 {
				core &^= 1 << l
				changed = true
			}
		}
	}
	return core
}

// name is the name of the pattern's vertex at level l.
func name(p *plan.Plan, l int) string { return p.Pattern.Vertices[p.Order[l]].Name }

// Kind names the phase in a word or two.
func (x *Phase) Kind() string {
	switch x.Pattern {
	case Eliminate:
		return "elimination"
	case Sizes:
		return "sizes"
	case Merge:
		return "merge"
	}
	return fmt.Sprintf("pattern %d", x.Pattern)
}

// String says in words what the phase does, with the names of the pattern's vertices.
func (x *Phase) String(p *plan.Plan) string {
	name := func(l int) string { return name(p, l) }
	back := func(b plan.Back) string {
		text := fmt.Sprintf("%s(%s)", p.Adjs[b.Adj].Name, name(b.Level))
		if b.Neg {
			text = "not " + text
		}
		return text
	}
	if x.Pattern == Eliminate {
		var edges []string
		for _, e := range x.Close {
			edges = append(edges, fmt.Sprintf("%s in %s", name(e.Level), back(e.Back)))
		}
		return "keep where " + strings.Join(edges, ", ")
	}
	if x.Pattern == Merge {
		return x.Merging.text(p)
	}
	var groups []string
	for _, g := range x.Groups {
		var names []string
		for _, l := range g.Levels {
			names = append(names, name(l))
		}
		text := strings.Join(names, ", ") + " in "
		if g.Free() {
			text += "all vertices"
		} else {
			text += back(g.From)
		}
		for _, b := range slices.Concat(g.With, g.Inside) {
			text += " ∩ " + back(b)
		}
		groups = append(groups, text)
	}
	if x.Pattern == Sizes {
		return fmt.Sprintf("count %s", strings.Join(groups, "; "))
	}
	if x.Weigh {
		return fmt.Sprintf("multiply by the number of %s", strings.Join(groups, "; "))
	}
	kind := x.Kind()
	if x.Initial {
		kind += ", with the next phase"
	}
	if x.Why != "" {
		kind += ", " + x.Why
	}
	return fmt.Sprintf("match %s (%s)", strings.Join(groups, "; "), kind)
}
