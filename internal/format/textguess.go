package format

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sample is the data lines of the head of a text, for guessing.
type sample struct {
	lines    [][]byte
	offsets  []int64
	comments [][]byte
	first    int64 // offset of the first line after a BOM and the skipped lines
}

func sampleLines(head []byte, whole bool, skip int) (sample, error) {
	var s sample
	pos := 0
	if bytes.HasPrefix(head, bom) {
		pos = len(bom)
	}
	for ; skip > 0; skip-- {
		i := bytes.IndexByte(head[pos:], '\n')
		if i < 0 {
			if !whole {
				return s, wrapf(ErrHeader, "the lines to skip are longer than %d bytes", headSize)
			}
			pos = len(head)
			break
		}
		pos += i + 1
	}
	s.first = int64(pos)
	for pos < len(head) && len(s.lines) < 4000 {
		i := bytes.IndexByte(head[pos:], '\n')
		end := pos + i
		if i < 0 {
			if !whole && len(s.lines) > 0 {
				break // a part of a line
			}
			end = len(head)
		}
		line := bytes.TrimRight(head[pos:end], " \t\r")
		if t := bytes.TrimLeft(line, " \t"); len(t) == 0 {
			// blank
		} else if isComment(t) {
			if len(s.comments) < 20 {
				s.comments = append(s.comments, t)
			}
		} else {
			s.lines = append(s.lines, bytes.TrimRight(head[pos:end], "\r"))
			s.offsets = append(s.offsets, int64(pos))
		}
		pos = end + 1
	}
	return s, nil
}

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
	for _, sep := range seps {
		if every(sep) {
			return sep
		}
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

// tabTable reports whether lines are a table in which each tab separates, so that
// a field may be empty: all lines have as many tabs, the first has a text in each
// column, and one of its texts is the name of a column, or a field is empty. Ids that
// happen to have tabs between them are separated by blanks.
func tabTable(lines [][]byte) bool {
	tabs, sure := bytes.Count(lines[0], []byte{'\t'}), false
	for _, f := range fieldsOf(lines[0], '\t') {
		if len(f) == 0 || isInt(f) {
			return false
		}
		e, _, _ := namedColumn(string(f), edgeRole, true)
		v, _, _ := namedColumn(string(f), vertexRole, true)
		sure = sure || e.kind != colProp || v.kind != colProp
	}
	for _, l := range lines {
		if bytes.Count(l, []byte{'\t'}) != tabs {
			return false
		}
		sure = sure || slices.ContainsFunc(fieldsOf(l, '\t'), func(f []byte) bool { return len(f) == 0 })
	}
	return sure
}

// guessText works out how to read a text table from its head.
func guessText(head []byte, whole bool, o *ReadOptions, r role, f Format, note func(string, ...any)) (*textSpec, sample, error) {
	smp, err := sampleLines(head, whole, o.Skip)
	if err != nil {
		return nil, smp, err
	}
	sp := &textSpec{count: -1, span: 1 << 63, start: smp.first, missing: newMissing(o.Null)}
	lines := smp.lines
	// A first line with one number, the count, before lines with more fields.
	if r == edgeRole && len(lines) > 0 && len(o.Columns) == 0 {
		one := fieldsOf(lines[0], 0)
		if len(one) == 1 && isInt(one[0]) && (len(lines) == 1 || len(bytes.Fields(lines[1])) > 1) && !(len(lines) == 1 && !whole) {
			n, e := strconv.ParseInt(string(one[0]), 10, 64)
			if e != nil || n < 0 {
				return nil, smp, &spot{pos: int(smp.offsets[0]), field: lines[0], err: wrapf(ErrHeader, "the first line is not a count of edges")}
			}
			sp.count = n
			sp.start = smp.offsets[0] + int64(len(lines[0])) + 1
			if i := bytes.IndexByte(head[smp.offsets[0]:], '\n'); i >= 0 {
				sp.start = smp.offsets[0] + int64(i) + 1
			}
			lines, smp.offsets = lines[1:], smp.offsets[1:]
		}
	}
	own := ownColumns(smp.comments)
	sp.sep = guessSep(lines)
	if own != nil && r == edgeRole && len(o.Columns) == 0 {
		sp.own, sp.sep = true, '\t'
		c := *o
		c.Columns = own
		o = &c
	}
	sp.konect = r == edgeRole && konectHeader(bytes.TrimPrefix(head, bom)) != nil
	var rows [][][]byte
	for _, l := range lines {
		rows = append(rows, fieldsOf(l, sp.sep))
	}
	// A header row: names where the other lines have numbers, or known names.
	if len(rows) > 0 && !sp.own && headerRow(rows, r) {
		for _, name := range rows[0] {
			sp.header = append(sp.header, string(name))
		}
		i := bytes.IndexByte(head[smp.offsets[0]:], '\n')
		if i < 0 {
			sp.start = int64(len(head))
		} else {
			sp.start = smp.offsets[0] + int64(i) + 1
		}
		rows = rows[1:]
	}
	width := 0
	if len(rows) > 0 {
		width = len(rows[0])
		if sp.sep != 0 && width > 1 && len(rows[0][width-1]) == 0 && sp.header == nil {
			width-- // a trailing separator
			sp.extra = true
		}
	} else if sp.header != nil {
		width = len(sp.header)
	}
	if err := sp.chooseColumns(rows, width, o, r, f, note); err != nil {
		return nil, smp, err
	}
	asked := sp.stringIDs
	sp.guessTypes(rows)
	if r == edgeRole && sp.stringIDs && !asked {
		if i, id := sp.oddID(rows); id != nil {
			at := smp.offsets[i+len(smp.offsets)-len(rows)]
			note("ids are text: %q in line %d is not digits alone (--columns src:int,dst:int,… makes that an error)", id, 1+bytes.Count(head[:at], []byte{'\n'}))
		}
	}
	return sp, smp, nil
}

// oddID is the first id that is no whole number but begins like a number, or whose
// column has whole numbers too, and its row; nil where ids are names.
func (sp *textSpec) oddID(rows [][][]byte) (row int, id []byte) {
	for i := range sp.cols {
		if k := sp.cols[i].kind; k != colSrc && k != colDst {
			continue
		}
		first, ints := -1, false
		for n, f := range rows {
			if i >= len(f) || len(f[i]) == 0 {
				continue
			}
			if isInt(f[i]) {
				ints = true
			} else if first < 0 {
				first = n
			}
			if ints && first >= 0 {
				break
			}
		}
		if first < 0 || id != nil && first >= row {
			continue
		}
		v := rows[first][i]
		if _, err := strconv.ParseFloat(string(v), 64); ints || err == nil && bytes.IndexByte([]byte("+-.0123456789"), v[0]) >= 0 {
			row, id = first, v
		}
	}
	return row, id
}

// headerRow reports whether the first row names the columns.
func headerRow(rows [][][]byte, r role) bool {
	known, id := 0, 0
	for _, f := range rows[0] {
		if isInt(f) || len(f) == 0 {
			return false
		}
		if _, err := strconv.ParseFloat(string(f), 64); err == nil {
			return false
		}
		c, _, _ := namedColumn(string(f), r, true)
		if c.kind == colSrc || c.kind == colDst || c.kind == colID {
			id++
		}
		if c.kind != colProp {
			known++
		}
	}
	if r == edgeRole && id >= 2 || r == vertexRole && id >= 1 && len(rows[0]) > 1 {
		return true
	}
	if len(rows) < 2 || len(rows[0]) != len(rows[1]) {
		return false
	}
	// Names over numbers.
	need := 2
	if r == vertexRole {
		need = 1
	}
	for i := 0; i < need && i < len(rows[1]); i++ {
		if !isInt(rows[1][i]) {
			return false
		}
	}
	return len(rows[1]) >= need
}

func (sp *textSpec) chooseColumns(rows [][][]byte, width int, o *ReadOptions, r role, f Format, note func(string, ...any)) error {
	names := sp.header
	switch {
	case r == edgeRole && len(o.Columns) > 0:
		names = o.Columns
	case sp.header != nil:
		need, have := []colKind{colSrc, colDst}, map[colKind]bool{}
		if r == vertexRole {
			need = []colKind{colID}
		}
		for _, n := range names {
			c, _, _ := namedColumn(n, r, true)
			have[c.kind] = true
		}
		for i, k := range need {
			if !have[k] { // names that say nothing: the first columns are the ids
				if i > 0 && have[need[0]] || len(names) < len(need) {
					return wrapf(ErrColumns, "the header %s names no %s; name the columns with --columns", strings.Join(names, ","), [...]string{"", "source", "target", "vertex id"}[k])
				}
				names = slices.Clone(names)
				note("the header's first columns %s are taken as the vertex ids", strings.Join(names[:len(need)], ","))
				for j := range need {
					names[j] = [...]string{"", "src", "dst", "id"}[need[j]]
				}
				break
			}
		}
	case r == vertexRole:
		names = []string{"id"}
		if width > 1 {
			names = append(names, "label")
		}
		for i := 2; i < width; i++ {
			names = append(names, fmt.Sprintf("col%d", i+1))
		}
	default:
		names = []string{"src", "dst"}
		if width > 2 {
			names = append(names, sp.guessExtra(rows, width, f, note)...)
		}
		if f == WEL && width == 2 {
			return wrapf(ErrColumns, "a .wel file has three columns: source, target, weight")
		}
	}
	seen := map[colKind]bool{}
	propSeen := map[string]bool{}
	sp.cols = nil
	for _, n := range names {
		c, str, err := namedColumn(n, r, true)
		if err != nil && r == edgeRole && len(o.Columns) > 0 {
			return err
		} else if err != nil { // a header's name may hold a colon
			c = column{kind: colProp, name: n}
		}
		isID := c.kind == colSrc || c.kind == colDst || c.kind == colID
		if isID && c.fixed && c.typ != propInt && c.typ != propString && len(o.Columns) > 0 {
			return wrapf(ErrColumns, "column %q: ids are int or string", n)
		}
		if c.kind != colSkip && c.kind != colProp && !(r == vertexRole && c.kind == colLabel) && seen[c.kind] {
			if !sp.own && (sp.header == nil || len(o.Columns) > 0) {
				return wrapf(ErrColumns, "column %s is named twice", n)
			}
			c.kind = colProp
		}
		if c.kind == colProp {
			if c.name == "" {
				c.name = fmt.Sprintf("col%d", len(sp.cols)+1)
			}
			if propSeen[c.name] {
				return wrapf(ErrColumns, "column %s is named twice", n)
			}
			propSeen[c.name] = true
		}
		seen[c.kind] = true
		sp.stringIDs = sp.stringIDs || str
		sp.cols = append(sp.cols, c)
	}
	if r == edgeRole && (!seen[colSrc] || !seen[colDst]) {
		return wrapf(ErrColumns, "src and dst are needed, found %s", strings.Join(names, ","))
	}
	if r == vertexRole && !seen[colID] {
		return wrapf(ErrColumns, "id is needed, found %s", strings.Join(names, ","))
	}
	if width > len(sp.cols) {
		sp.extra = true
		if !(width == len(sp.cols)+1 && len(rows) > 0 && len(rows[0]) > 0 && len(rows[0][width-1]) == 0) {
			note("columns %d to %d have no name and are not read", len(sp.cols)+1, width)
		}
	}
	return nil
}

// guessExtra names the columns after the first two of a file without names.
func (sp *textSpec) guessExtra(rows [][][]byte, width int, f Format, note func(string, ...any)) []string {
	look := func(i int) (ints, times, nums bool) {
		ints, times, nums = true, true, true
		gaps, some := false, false
		for _, row := range rows {
			if i >= len(row) {
				continue
			}
			if sp.missing.is(row[i], propFloat) { // no edge is without a time
				times, gaps = false, true
				continue
			}
			x, err := strconv.ParseFloat(string(row[i]), 64)
			if err != nil {
				return false, false, false
			}
			some = true
			ints = ints && isInt(row[i])
			// Seconds from 1990 on, or milliseconds, microseconds, nanoseconds.
			times = times && x >= 6e8 && x < 4.2e18
		}
		return ints, times, nums && (some || !gaps)
	}
	var names []string
	ints, times, nums := look(2)
	switch {
	case sp.count >= 0 && width == 3:
		sp.triples = true
		return []string{"label"}
	case f == WEL:
		names = []string{"weight"}
	case !nums:
		names = []string{"label"}
	case times && width == 3:
		names = []string{"time"}
		note("the third column is taken as time: all values look like times since 1970")
	default:
		names = []string{"weight"}
		if ints && !sp.konect {
			note("the third column is taken as weight; --columns src,dst,label or src,dst,time reads it otherwise")
		}
	}
	for i := 3; i < width; i++ {
		if _, t, _ := look(i); t && !slices.Contains(names, "time") {
			names = append(names, "time")
			continue
		}
		names = append(names, fmt.Sprintf("col%d", i+1))
	}
	return names
}
