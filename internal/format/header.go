package format

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Header says whether the first line of a text names the columns.
type Header uint8

// GuessHeader lets the values below the first line decide.
const (
	GuessHeader Header = iota
	WithHeader
	NoHeader
)

// isNumber reports whether a cell is a decimal number.
func isNumber(v []byte) bool {
	if len(v) == 0 || bytes.IndexByte([]byte("+-.0123456789"), v[0]) < 0 {
		return false
	}
	_, err := strconv.ParseFloat(bstr(v), 64)
	return err == nil
}

func isTime(v []byte) bool {
	_, err := parseISO(v)
	return err == nil
}

// headerGuess is the meaning of the first row, as guessed from its text and the rows below.
type headerGuess struct {
	is    bool   // it names the columns
	asked bool   // --columns has the same names
	doubt string // "": sure; else a note for a user who knows better
	err   error  // it cannot be told
}

// guessHeader looks at the rows of a text. ids are the columns of the ids if the first
// row names none, asked the items of --columns, and gap tells a missing value.
func guessHeader(rows [][][]byte, r role, ids []int, asked []string, gap func([]byte) bool) (g headerGuess) {
	first := trimEmpty(rows[0])
	names, typed := make([]string, len(first)), false
	for i, f := range first {
		if isNumber(f) || isTime(f) {
			return g
		}
		names[i] = string(f)
		if base, _, known := splitType(names[i]); known {
			typed = typed || base != names[i]
			names[i] = base
		}
	}
	if len(first) == 0 || r == edgeRole && len(first) < 2 {
		return g
	}
	names = distinct(names)
	rest := rows[1:]
	if len(asked) > 0 && len(asked) <= len(names) && !slices.ContainsFunc(asked, func(a string) bool { return squash(a) == "" }) {
		same := true
		for i, a := range asked {
			base, _, _ := splitType(a)
			same = same && squash(base) == squash(names[i])
		}
		if same {
			g.is, g.asked = true, true
			return g
		}
	}
	again := func(i int) bool {
		return slices.ContainsFunc(rest, func(row [][]byte) bool { return i < len(row) && bytes.Equal(row[i], first[i]) })
	}
	line := strings.Join(strings.Fields(strings.Join(names, ",")), " ")
	kinds, e, err := tableKinds(names, r, func(int) bool { return true })
	known := err != nil || slices.ContainsFunc(kinds, func(k colKind) bool { return k != colProp && k != colSkip })
	if e != nil {
		ids = []int{e.src, e.dst}
	}
	recurs := slices.ContainsFunc(rest, func(row [][]byte) bool {
		return slices.ContainsFunc(ids, func(i int) bool {
			return slices.ContainsFunc(ids, func(j int) bool { return i < len(first) && j < len(row) && bytes.Equal(first[i], row[j]) })
		})
	})
	for i := range first { // a text over values
		if values, all := valuesBelow(rest, i, gap); all && values > 0 && !gap(first[i]) && !recurs {
			g.is = true
			return g
		}
	}
	if r == vertexRole {
		word := false
		for i, n := range names {
			s := squash(n)
			word = word || (slices.Contains(idNames, s) || s == "name" || lastWord(n) == "id" && s != "id") && !again(i)
		}
		switch {
		case len(names) > 1 && (word || slices.Contains(kinds, colLabel) && !again(slices.Index(kinds, colLabel))):
			g.is = true
		case len(names) > 1 && len(rest) > 0 && !slices.ContainsFunc(seq(len(first)), again):
			g.doubt = fmt.Sprintf("the first line, %s, is read as a vertex; if it names the columns, name the first of them id", line)
		}
		return g
	}
	switch {
	case e != nil && typed:
		g.is = true
	case e == nil && err == nil && !known && (recurs || slices.ContainsFunc(seq(len(first)), again)):
	case len(rest) == 0 && (e == nil || e.bareLetters(names)):
	case e != nil && !e.directed && numbered(names[e.src], rest, ids):
	case recurs, e == nil && err == nil && !known, e != nil && (e.bareLetters(names) || e.far >= strange):
		if e == nil || !recurs || e.directed {
			g.doubt = fmt.Sprintf("the first line, %s, is read as an edge (--header yes if it names the columns)", line)
		}
	case e == nil && err == nil:
		g.err = wrapf(ErrHeader, "the first line names the columns, or is an edge: use --header yes or --header no")
	default:
		g.is = true
	}
	return g
}

// valuesBelow counts the cells of column i that are numbers or times. all is false
// where a cell is neither one nor a gap.
func valuesBelow(rows [][][]byte, i int, gap func([]byte) bool) (n int, all bool) {
	for _, row := range rows {
		switch {
		case i >= len(row) || gap(row[i]):
		case isNumber(row[i]) || isTime(row[i]):
			n++
		default:
			return n, false
		}
	}
	return n, true
}

// numbered reports whether an id is the name with another number: node3 under node1.
func numbered(name string, rows [][][]byte, ids []int) bool {
	stem := strings.TrimRight(name, "0123456789")
	if stem == name {
		return false
	}
	like := func(v []byte) bool {
		digits, ok := bytes.CutPrefix(v, []byte(stem))
		return ok && isInt(digits)
	}
	return slices.ContainsFunc(rows, func(row [][]byte) bool {
		return slices.ContainsFunc(ids, func(i int) bool { return i < len(row) && like(row[i]) })
	})
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// trimEmpty drops the empty field after a separator at the end of a line.
func trimEmpty(row [][]byte) [][]byte {
	for len(row) > 1 && len(row[len(row)-1]) == 0 {
		row = row[:len(row)-1]
	}
	return row
}

// commentHeader returns the fields of the comment before the data that names the ends
// of an edge, as SNAP's FromNodeId and ToNodeId; nil where there is none.
func commentHeader(comments [][]byte, sep byte, width int) []string {
	for _, c := range slices.Backward(comments) {
		c = bytes.TrimLeft(c, "#% ")
		for _, s := range []byte{sep, '\t'} {
			fields := trimEmpty(fieldsOf(c, s))
			if len(fields) != width || slices.ContainsFunc(fields, isNumber) {
				continue
			}
			var names []string
			for _, f := range fields {
				names = append(names, string(f))
			}
			names = distinct(names)
			if _, e, err := tableKinds(names, edgeRole, func(int) bool { return true }); err != nil || e != nil && !e.bareLetters(names) && e.far < strange {
				return names
			}
		}
	}
	return nil
}

// sizesLine returns the numbers of vertices and edges that the first row may state: two
// numbers, or two equal ones and a third. apart is true if the row has fewer or more fields
// than all others, so that it is not an edge.
func sizesLine(rows [][][]byte) (s *sizes, apart bool) {
	if len(rows) < 2 || len(rows[0]) != 2 && len(rows[0]) != 3 {
		return nil, false
	}
	var n [3]uint64
	for i, f := range rows[0] {
		x, err := strconv.ParseUint(bstr(f), 10, 63)
		if err != nil {
			return nil, false
		}
		n[i] = x
	}
	k := len(rows[0])
	apart = !slices.ContainsFunc(rows[1:], func(row [][]byte) bool { return len(row) == k })
	if k == 3 && n[0] != n[1] || k == 2 && n[0] == 0 {
		return nil, apart
	}
	return &sizes{n[0], n[k-1]}, apart
}

// fit reports whether the rows below the first can be a graph of these sizes. may reports the
// same if some vertices may have no edge. all says that there are no other rows.
func (s *sizes) fit(rows [][][]byte, all bool) (fits, may bool) {
	ids, most := map[string]bool{}, uint64(0)
	for _, row := range rows {
		for _, f := range row[:min(2, len(row))] {
			ids[string(f)] = true
			x, err := strconv.ParseUint(bstr(f), 10, 63)
			if err != nil {
				x = 1 << 63
			}
			most = max(most, x)
		}
	}
	n := s.vertices
	if !s.edgesFit(rows, all) || n < uint64(len(ids)) {
		return false, false
	}
	return all && (n == uint64(len(ids)) || n == most || n == most+1) || !all && n >= most, all
}

// edgesFit is fit for the number of edges alone.
func (s *sizes) edgesFit(rows [][][]byte, all bool) bool {
	n := uint64(len(rows))
	return n == s.edges || !all && n < s.edges
}
