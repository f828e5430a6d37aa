package pattern

import "slices"

// maxTruthTable bounds the names of a truth table; label algebra over more is
// taken to be satisfiable and not to imply anything.
const maxTruthTable = 8

// Satisfiable reports whether some set of labels matches l.
func (l *Label) Satisfiable() bool {
	if l == nil || l.Op == LabelName {
		return true
	}
	return anyLabelling([]*Label{l}, func(m []bool) bool { return m[0] })
}

// implies reports whether every set of labels that matches l matches m.
func (l *Label) implies(m *Label) bool {
	return !anyLabelling([]*Label{l, m}, func(ok []bool) bool { return ok[0] && !ok[1] })
}

// anyLabelling reports whether found holds for the values of the formulas under some set of
// labels. It goes through the truth table over the names that they mention, with and without a
// label that none of them mentions.
func anyLabelling(formulas []*Label, found func([]bool) bool) bool {
	var names []string
	for _, l := range formulas {
		l.Names(func(s string) {
			if len(names) <= maxTruthTable && !slices.Contains(names, s) { // more need not be known
				names = append(names, s)
			}
		})
	}
	if len(names) > maxTruthTable {
		return true
	}
	values := make([]bool, len(formulas))
	for set := range 2 << len(names) {
		for i, l := range formulas {
			values[i] = l.Matches(func(s string) bool { return set>>slices.Index(names, s)&1 != 0 }, set != 0)
		}
		if found(values) {
			return true
		}
	}
	return false
}
