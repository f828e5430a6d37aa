package format

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Words for a missing value, in a column that otherwise has numbers or truth values. In a
// column of texts they are texts.
var missingWords = []string{"NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "Null", "null", "None", "none", "NaN", "nan", "NAN", "-nan", "-", `\N`}

// missing holds the words for a missing value. A word is true if the user named it; it then
// means a missing value in columns of texts too.
type missing map[string]bool

// newMissing returns the usual words and the words of --null.
func newMissing(named []string) missing {
	m := missing{}
	for _, w := range missingWords {
		m[w] = false
	}
	for _, w := range named {
		m[w] = true
	}
	return m
}

// is reports whether v is such a word in a column that has, or may get, type t.
func (m missing) is(v []byte, t propType) bool {
	named, ok := m[string(v)]
	return ok && (named || t != propString)
}

// missed counts the words that were read as missing values, by column.
type missed map[int]map[string]uint64

func (m *missed) add(col int, word []byte) {
	if *m == nil {
		*m = missed{}
	}
	if (*m)[col] == nil {
		(*m)[col] = map[string]uint64{}
	}
	(*m)[col][string(word)]++
}

// noteValues reports two things about property columns: words that were read as missing values,
// and columns that are text although their values look like numbers.
func (r *reading) noteValues(sp *textSpec, workers []*rows) {
	where := "in --columns"
	for k := range sp.cols {
		c := &sp.cols[k]
		if c.kind != colProp {
			continue
		}
		for _, w := range workers {
			if w != nil && w.role == vertexRole {
				where = "in the header"
			}
		}
		if words := countWords(workers, k, func(w *rows) missed { return w.missed }); words != "" {
			settle := fmt.Sprintf(" (%s:string %s keeps them as text)", c.name, where)
			if c.typ == propString {
				settle = ""
			}
			r.note("column %s: %s read as missing%s", c.name, words, settle)
		}
		if words := countWords(workers, k, func(w *rows) missed { return w.kept }); words != "" {
			r.note("column %s: %s kept as text (--null makes such words missing, %s:string %s says that they are text)", c.name, words, c.name, where)
		}
		if c.typ == propString && c.against != "" {
			switch v := []byte(c.against); {
			case commaNumber().Match(v):
				r.note("column %s is text, because of the comma in %s: a number has a point before the fraction and nothing between thousands (%s:string %s says that it is text)", c.name, c.against, c.name, where)
			case isPadded(v):
				r.note("column %s is text: as a number %s would lose its zero (%s:int %s reads numbers)", c.name, c.against, c.name, where)
			default:
				r.note("column %s is text: as a floating-point number %s would be rounded", c.name, c.against)
			}
		}
	}
}

// countWords lists the words of a column that the workers have counted, as in 3 "NA",
// 1 "null"; "" where there are none.
func countWords(workers []*rows, col int, of func(*rows) missed) string {
	count := map[string]uint64{}
	for _, w := range workers {
		if w != nil {
			for word, n := range of(w)[col] {
				count[word] += n
			}
		}
	}
	var parts []string
	for _, word := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d %q", count[word], word))
	}
	return strings.Join(parts, ", ")
}
