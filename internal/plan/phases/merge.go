package phases

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/plan"
)

// Merging is what a phase of pattern Merge does. Rows that no later phase can tell apart become one row, with the sum of their numbers
// of partial matches.
//
// This is variable elimination (Dechter 1999), breadth first: the number of rows is bounded by the assignments of those vertices that
// have neighbours to come, and no longer by the partial matches.
type Merging struct {
	// End is the number of levels that are matched.
	End int
	// Live are the levels whose vertex later levels read, ascending: neighbours of theirs, and ends of restrictions.
	Live []int
	// Bars are the other levels whose vertex a later level must not have, grouped by Of. The order of the vertices of bars with equal
	// Of says nothing.
	Bars []Bar
}

// Bar is a level whose vertex matters only as long as one of the later levels Of may have the same one.
type Bar struct {
	Level int
	Of    []int
}

// Forgotten is the number of levels whose vertex is not asked for any more, or only in bars.
func (m *Merging) Forgotten() int { return m.End - len(m.Live) }

// merging is the merge of rows that have the levels before end.
func merging(p *plan.Plan, end int) Merging {
	m := Merging{End: end}
	live, of := make([]bool, end), make([][]int, end)
	if end > 0 {
		live[0] = p.Rooted // counts are added up by it
	}
	for l := end; l < len(p.Levels); l++ {
		lv := &p.Levels[l]
		read := slices.Concat(lv.Below, lv.Above)
		for _, b := range lv.Back {
			read = append(read, b.Level)
		}
		for _, j := range read {
			if j < end {
				live[j] = true
			}
		}
		for _, j := range lv.Distinct {
			if j < end {
				of[j] = append(of[j], l)
			}
		}
	}
	for j := range end {
		switch {
		case live[j]:
			m.Live = append(m.Live, j)
		case of[j] != nil:
			m.Bars = append(m.Bars, Bar{j, of[j]})
		}
	}
	slices.SortStableFunc(m.Bars, func(a, b Bar) int { return slices.Compare(a.Of, b.Of) })
	return m
}

// forgets reports whether nothing later asks for a level's vertex.
func (m *Merging) forgets(l int) bool {
	return !slices.Contains(m.Live, l) && !slices.ContainsFunc(m.Bars, func(b Bar) bool { return b.Level == l })
}

// finer reports whether rows that were merged by `before` may have equal ones again by m: a further level is forgotten, or more of the
// neighbours of a bar's later level are matched.
func (m *Merging) finer(p *plan.Plan, before *Merging) bool {
	if m.Forgotten() > before.Forgotten() || len(m.Bars) < len(before.Bars) {
		return true
	}
	known := func(l, end int) (n int) {
		for _, b := range p.Levels[l].Back {
			if b.Level < end {
				n++
			}
		}
		return n
	}
	for _, b := range m.Bars {
		at := slices.IndexFunc(before.Bars, func(o Bar) bool { return o.Level == b.Level })
		if at < 0 || len(before.Bars[at].Of) > len(b.Of) {
			return true
		}
		if slices.ContainsFunc(b.Of, func(l int) bool { return known(l, m.End) > known(l, before.End) }) {
			return true
		}
	}
	return false
}

// Merged returns phases with merges between them, where rows may then be equal and wanted says so. The first phase and the last one
// have none behind them. Phases that evaluate conditions over several vertices have none before them.
func Merged(p *plan.Plan, all []Phase, wanted func(m *Merging) bool) []Phase {
	checked := 0
	for l := range p.Levels {
		if len(p.Levels[l].Checks) > 0 {
			checked = l
		}
	}
	var out []Phase
	var before Merging
	end := 0
	for i, x := range all {
		end += len(x.Levels())
		if i == 0 || i == len(all)-1 || end <= checked {
			out = append(out, x)
			continue
		}
		m := merging(p, end)
		x.Weigh = x.Pattern == 0 && m.forgets(end-1) && wanted(&m)
		out = append(out, x)
		if x.Weigh {
			before.End++ // rows are as different as they were
		}
		if m.Forgotten() > 0 && m.finer(p, &before) && wanted(&m) {
			out = append(out, Phase{Pattern: Merge, Merging: &m})
			before = m
		}
	}
	return out
}

// text says in words what the merge compares.
func (m *Merging) text(p *plan.Plan) string {
	var live, bars []string
	for _, l := range m.Live {
		live = append(live, name(p, l))
	}
	sorted := slices.SortedFunc(slices.Values(m.Bars), func(a, b Bar) int { return cmp.Compare(a.Level, b.Level) })
	for _, b := range sorted {
		bars = append(bars, name(p, b.Level))
	}
	text := "merge rows that are equal in " + strings.Join(live, ", ")
	if live == nil {
		text = "merge all rows"
	}
	if bars != nil {
		text += fmt.Sprintf(" and, where a later vertex may be the same, %s", strings.Join(bars, ", "))
	}
	return text
}
