package format

import (
	"bytes"
	"slices"
)

// guessSep finds the separator of the lines.
func guessSep(lines [][]byte) byte {
	if len(lines) == 0 {
		return 0
	}
	n := min(len(lines), 100)
	every := func(sep byte) bool {
		for _, l := range lines[:n] {
			if bytes.IndexByte(l, sep) < 0 {
				return false
			}
		}
		return true
	}
	if every('\t') {
		if tabTable(lines) {
			return '\t'
		}
		// Blanks inside a field, or an empty field, make tabs strict.
		for _, l := range lines[:n] {
			if len(bytes.Fields(l)) != bytes.Count(l, []byte{'\t'})+1 {
				words := 0
				for _, f := range fieldsOf(l, '\t') {
					if len(f) == 0 || bytes.IndexByte(f, ' ') >= 0 && !isInt(bytes.Fields(f)[0]) {
						words++
					}
				}
				if words > 0 && len(bytes.TrimRight(l, "\t ")) == len(bytes.TrimRight(l, " ")) {
					return '\t'
				}
			}
		}
		return 0
	}
	seps := []byte{',', ';', '|'}
	best := byte(0)
	for _, sep := range seps {
		// Of two that each line has, it is the one before the first field's end: the comma
		// of a;b;1,5 belongs to a number.
		if every(sep) && (best == 0 || !slices.ContainsFunc(lines[:n], func(l []byte) bool { return bytes.IndexByte(l, sep) > bytes.IndexByte(l, best) })) {
			best = sep
		}
	}
	if best != 0 {
		return best
	}
	words := len(bytes.Fields(lines[0]))
	if words > 1 && !slices.ContainsFunc(lines[:n], func(l []byte) bool { return len(bytes.Fields(l)) != words }) {
		return 0 // blanks separate, and some of the words hold a comma
	}
	// A line without the separator of most others is an error in that line.
	for _, sep := range seps {
		with := 0
		for _, l := range lines[:n] {
			if first, _, ok := bytes.Cut(l, []byte{sep}); ok && !bytes.ContainsAny(bytes.TrimSpace(first), " \t") {
				with++
			}
		}
		if bytes.IndexByte(lines[0], sep) >= 0 && 2*with > n {
			return sep
		}
	}
	return 0
}

// tabTable reports whether lines are a table in which each tab separates, so that a field may
// be empty. All lines must have the same number of tabs, and the first must have a text in each
// column. Besides, one of its texts must be the name of a column, or some field must be empty.
// Otherwise ids that happen to have tabs between them are separated by blanks.
func tabTable(lines [][]byte) bool {
	tabs, sure := bytes.Count(lines[0], []byte{'\t'}), false
	var names []string
	for _, f := range fieldsOf(lines[0], '\t') {
		if len(f) == 0 || isInt(f) {
			return false
		}
		base, _, _ := splitType(string(f))
		names = append(names, base)
	}
	for _, r := range []role{edgeRole, vertexRole} {
		kinds, e, err := tableKinds(names, r, func(int) bool { return true })
		sure = sure || err != nil || (e == nil || e.far < strange) && slices.ContainsFunc(kinds, func(k colKind) bool { return k != colProp })
	}
	for _, l := range lines {
		if bytes.Count(l, []byte{'\t'}) != tabs {
			return false
		}
		sure = sure || slices.ContainsFunc(fieldsOf(l, '\t'), func(f []byte) bool { return len(f) == 0 })
	}
	return sure
}
