package format

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
)

// sample is the data lines of the head of a text, for guessing.
type sample struct {
	lines    [][]byte
	offsets  []int64
	comments [][]byte
	remarks  []int64    // where comments begin
	rows     [][][]byte // the fields of lines
	first    int64      // offset of the first line after a BOM and the skipped lines
	all      bool       // there are no other lines
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
			s.remarks = append(s.remarks, int64(pos))
			if len(s.comments) < 20 {
				s.comments = append(s.comments, t)
			}
		} else {
			s.lines = append(s.lines, bytes.TrimRight(head[pos:end], "\r"))
			s.offsets = append(s.offsets, int64(pos))
		}
		pos = end + 1
	}
	s.all = whole && pos >= len(head)
	return s, nil
}

// after is the offset of the line after line i.
func (s *sample) after(head []byte, i int) int64 {
	if n := bytes.IndexByte(head[s.offsets[i]:], '\n'); n >= 0 {
		return s.offsets[i] + int64(n) + 1
	}
	return int64(len(head))
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

// tabTable reports whether lines are a table in which each tab separates, so that
// a field may be empty: all lines have as many tabs, the first has a text in each
// column, and one of its texts is the name of a column, or a field is empty. Ids that
// happen to have tabs between them are separated by blanks.
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

// guessText works out how to read a text table from its head.
func guessText(head []byte, whole bool, o *ReadOptions, r role, f Format, note func(string, ...any)) (*textSpec, sample, error) {
	smp, err := sampleLines(head, whole, o.Skip)
	if err != nil {
		return nil, smp, err
	}
	sp := &textSpec{count: -1, span: 1 << 63, start: smp.first, missing: newMissing(o.Null)}
	if r == vertexRole { // numbers, as those of the edges
		for _, c := range o.Columns {
			base, c, _ := splitType(c)
			k := kindOf(base, edgeRole)
			sp.padded = sp.padded || (k == colSrc || k == colDst) && c.fixed && c.typ == propInt
		}
	}
	if err := sp.firstLine(head, whole, &smp, o, r, note); err != nil {
		return nil, smp, err
	}
	if sp.own {
		c := *o
		c.Columns = ownColumns(smp.comments)
		o = &c
	}
	rows := smp.rows
	width := 0
	if len(rows) > 0 {
		width = len(rows[0])
		if sp.sep != 0 && width > 1 && len(rows[0][width-1]) == 0 && (sp.header == nil || width > len(sp.header)) {
			width-- // a trailing separator
			sp.extra = true
		}
	} else if sp.header != nil {
		width = len(sp.header)
	}
	if r == edgeRole && sp.names == nil && !sp.own && !sp.konect && len(rows) > 0 {
		sp.names = commentHeader(smp.comments, sp.sep, width)
		if len(o.Columns) == 0 {
			sp.header = sp.names
		}
	}
	if err := sp.chooseColumns(rows, width, o, r, f, note); err != nil {
		return nil, smp, err
	}
	asked := sp.stringIDs
	sp.guessTypes(rows)
	if sp.stringIDs && !asked {
		if i, id := sp.oddID(rows); id != nil {
			at := smp.offsets[i+len(smp.offsets)-len(rows)]
			line := 1 + bytes.Count(head[:at], newline)
			switch {
			case isPadded(id):
				note("ids are text: %q in line %d begins with a zero (--columns src:int,dst:int,… reads numbers)", id, line)
			case r == edgeRole:
				note("ids are text: %q in line %d is not digits alone (--columns src:int,dst:int,… makes that an error)", id, line)
			}
		}
	}
	return sp, smp, nil
}

// heads is the number of comments between where the data may begin and their first line.
func (s *sample) heads(start int64) (n uint64) {
	for _, at := range s.remarks {
		if at >= start && (len(s.offsets) == 0 || at < s.offsets[0]) {
			n++
		}
	}
	return n
}

// firstLine finds out what the first line is where it is not an edge: the number of
// edges, the sizes of the graph, or the names of the columns. It leaves the rows that
// follow in smp.
func (sp *textSpec) firstLine(head []byte, whole bool, smp *sample, o *ReadOptions, r role, note func(string, ...any)) error {
	asked := r == edgeRole && len(o.Columns) > 0
	sp.konect = r == edgeRole && konectHeader(bytes.TrimPrefix(head, bom)) != nil
	sp.own = r == edgeRole && !asked && ownColumns(smp.comments) != nil
	lines := smp.lines
	drop := func() {
		sp.start = smp.after(head, 0)
		smp.lines, smp.offsets = smp.lines[1:], smp.offsets[1:]
		if smp.rows != nil {
			smp.rows = smp.rows[1:]
		}
	}
	// Numbers alone say nothing of what separates the others.
	digits := func(l []byte) bool {
		return !slices.ContainsFunc(bytes.Fields(l), func(f []byte) bool { return !isInt(f) })
	}
	if len(lines) > 1 && digits(lines[0]) && !digits(lines[1]) && len(bytes.Fields(lines[0])) <= 3 {
		lines = lines[1:]
	}
	if sp.sep = guessSep(lines); sp.own {
		sp.sep = '\t'
	}
	for _, l := range smp.lines {
		smp.rows = append(smp.rows, fieldsOf(l, sp.sep))
	}
	if len(smp.lines) == 0 || sp.own {
		return nil
	}
	if r == edgeRole && o.Header != NoHeader {
		words := make([][][]byte, len(smp.rows))
		copy(words, smp.rows)
		words[0] = bytes.Fields(smp.lines[0])
		one := words[0]
		if len(one) == 1 && isInt(one[0]) && !asked && o.Header == GuessHeader && (len(words) == 1 && whole || len(words) > 1 && len(words[1]) > 1) {
			n, e := strconv.ParseInt(string(one[0]), 10, 64)
			if e != nil || n < 0 {
				return &spot{pos: int(smp.offsets[0]), field: smp.lines[0], err: wrapf(ErrHeader, "the first line is not a count of edges")}
			}
			sp.count = n
			drop()
			return nil
		}
		if n, apart := sizesLine(words); n != nil && !sp.konect {
			rest := smp.rows[1:]
			fits, may := n.fit(rest, smp.all)
			switch {
			case o.Header == WithHeader:
				drop()
				return nil
			case apart && n.edgesFit(rest, smp.all), fits:
				sp.sizes, sp.apart = n, apart
				drop()
				return nil
			case may:
				note("the first line, %d %d, is read as an edge; if it is the numbers of vertices and edges, say --header yes", n.vertices, n.edges)
			}
		}
	}
	names := o.Header == WithHeader
	if o.Header == GuessHeader {
		ids := []int{0, 1}
		var columns []string
		if r == vertexRole {
			ids = ids[:1]
		} else if asked {
			columns, ids = o.Columns, nil
			for i, c := range o.Columns {
				base, _, _ := splitType(c)
				if k := kindOf(base, r); k == colSrc || k == colDst {
					ids = append(ids, i)
				}
			}
		}
		g := guessHeader(smp.rows, r, ids, columns, func(v []byte) bool { return len(v) == 0 || sp.missing.is(v, propInt) })
		if g.err != nil {
			return &spot{pos: int(smp.offsets[0]), field: smp.lines[0], err: g.err}
		}
		if g.doubt != "" {
			note("%s", g.doubt)
		}
		if names = g.is; names && asked && !g.asked {
			note("the first line names the columns, and is not an edge (--header no)")
		}
	}
	if names {
		var header []string
		for _, name := range trimEmpty(smp.rows[0]) {
			base, _, _ := splitType(string(name))
			header, sp.names = append(header, string(name)), append(sp.names, base)
		}
		sp.names = distinct(sp.names)
		if !asked {
			sp.header = header
		}
		drop()
	}
	return nil
}

// oddID is the first id that is no whole number but begins like a number, or whose
// column has whole numbers too, and its row; nil where ids are names.
func (sp *textSpec) oddID(rows [][][]byte) (row int, id []byte) {
	for i := range sp.cols {
		if k := sp.cols[i].kind; k != colSrc && k != colDst && k != colID {
			continue
		}
		first, ints := -1, false
		for n, f := range rows {
			if i >= len(f) || len(f[i]) == 0 {
				continue
			}
			if isPadded(f[i]) {
				return n, f[i]
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

// chooseColumns says what the columns are: as --columns or the header name them, or by
// their number.
func (sp *textSpec) chooseColumns(rows [][][]byte, width int, o *ReadOptions, r role, f Format, note func(string, ...any)) error {
	names := sp.header
	asked := r == edgeRole && len(o.Columns) > 0
	switch {
	case asked:
		names = o.Columns
	case sp.header != nil:
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
		switch {
		case sp.count < 0 && !sp.konect && relationBetween(rows, width, sp.sep):
			names, sp.relation = []string{"src", "label", "dst", "_"}[:width], true
		case width > 2:
			names = append(names, sp.guessExtra(rows, width, f, note)...)
			if !sp.konect && width > 3 {
				note("no line names the columns: the first two of %d are taken as the ends of an edge (--columns says otherwise)", width)
			}
		}
		if f == WEL && width == 2 {
			return wrapf(ErrColumns, "a .wel file has three columns: source, target, weight")
		}
	}
	bases := make([]string, len(names))
	sp.cols = make([]column, len(names))
	for i, n := range names {
		base, c, known := splitType(n)
		if !known && asked {
			return typeError(n, r)
		}
		bases[i], sp.cols[i] = strings.TrimSpace(base), c
	}
	var err error
	if sp.header != nil {
		bases = distinct(bases)
		err = sp.namedKinds(rows, bases, r, note)
	} else {
		err = sp.askedKinds(names, bases, r)
	}
	if err != nil {
		return err
	}
	have, propSeen := map[colKind]bool{}, map[string]bool{}
	for i := range sp.cols {
		c := &sp.cols[i]
		c.name = bases[i]
		have[c.kind] = true
		switch c.kind {
		case colSrc, colDst, colID:
			if asked && c.fixed && c.typ != propInt && c.typ != propString {
				return wrapf(ErrColumns, "column %q: ids are int or string", names[i])
			}
			sp.stringIDs = sp.stringIDs || c.fixed && c.typ == propString
			sp.padded = sp.padded || c.fixed && c.typ == propInt
		case colProp:
			if propSeen[c.name] {
				return wrapf(ErrColumns, "column %s is named twice", names[i])
			}
			propSeen[c.name] = true
		}
	}
	if r == edgeRole && (!have[colSrc] || !have[colDst]) {
		return wrapf(ErrColumns, "src and dst are needed, found %s", strings.Join(names, ","))
	}
	if r == vertexRole && !have[colID] {
		return wrapf(ErrColumns, "id is needed, found %s", strings.Join(names, ","))
	}
	if n := len(sp.cols); width > n {
		sp.extra = true
		switch {
		case width == n+1 && len(rows) > 0 && len(rows[0]) > 0 && len(rows[0][width-1]) == 0:
		case !asked && sp.header != nil:
			return wrapf(ErrColumns, "the lines have %d fields, and the header has %d names; name the columns with --columns", width, n)
		case width == n+1:
			note("column %d has no name and is not read", width)
		default:
			note("columns %d to %d have no name and are not read", n+1, width)
		}
	}
	return nil
}

// distinct names columns of one name as pandas does: Account and Account.1.
func distinct(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name
		for n := 1; name != "" && slices.Contains(out[:i], out[i]); n++ {
			out[i] = fmt.Sprintf("%s.%d", name, n)
		}
	}
	return out
}

// askedKinds gives the columns the kinds that --columns says. Names of a header that
// it says them by, as from_account, will do.
func (sp *textSpec) askedKinds(names, bases []string, r role) error {
	seen := map[colKind]bool{}
	for i, b := range bases {
		k := kindOf(b, r)
		if k != colSkip && k != colProp && !(r == vertexRole && k == colLabel) && seen[k] {
			if !sp.own {
				return wrapf(ErrColumns, "column %s is named twice", names[i])
			}
			k = colProp
		}
		seen[k] = true
		sp.cols[i].kind = k
	}
	if r == edgeRole && !seen[colSrc] && !seen[colDst] {
		kinds, e, err := tableKinds(bases, r, func(int) bool { return true })
		if err != nil || e == nil {
			return err
		}
		for i, k := range kinds {
			sp.cols[i].kind = k
		}
	}
	// The names of a header that --columns leaves out say the direction, too.
	is := func(k colKind) int { return slices.IndexFunc(sp.cols, func(c column) bool { return c.kind == k }) }
	if e := endsAt(sp.names, is(colSrc), is(colDst)); e != nil {
		sp.ends = e
	}
	return nil
}

// namedKinds gives the columns the kinds that a header names.
func (sp *textSpec) namedKinds(rows [][][]byte, bases []string, r role, note func(string, ...any)) error {
	cells := func(i int, f func(v []byte) bool) (some, all bool) {
		all = true
		for _, row := range rows {
			if i < len(row) {
				ok := f(row[i])
				some, all = some || ok, all && ok
			}
		}
		return some, all
	}
	named := slices.Clone(bases)
	toward := -1
	for i, b := range bases {
		if _, all := cells(i, func(v []byte) bool { return directionWord(v) != FileDirection }); r == edgeRole && toward < 0 && squash(b) == "type" && all && len(rows) > 0 && i < len(rows[0]) {
			toward, named[i], sp.direction = i, "_", directionWord(rows[0][i])
		}
	}
	kinds, e, err := tableKinds(named, r, func(i int) bool {
		_, all := cells(i, func(v []byte) bool { return !isTime(v) && (!isNumber(v) || isInt(v)) })
		return all
	})
	if err != nil {
		return err
	}
	sp.ends = e
	if toward >= 0 {
		kinds[toward] = colDirection
	}
	for i, k := range kinds {
		switch {
		case k == colSkip && bases[i] != "_":
			note("column %d has no name and is not read", i+1)
		case sp.cols[i].fixed && (k == colTime && !slices.Contains(graph.TimeNames, squash(bases[i])) || k == colLabel && squash(bases[i]) != "label"):
			kinds[i] = colProp // its type says so
		case k == colTime:
			some, all := cells(i, func(v []byte) bool { return isNumber(v) || isTime(v) })
			if usual := slices.Contains(graph.TimeNames, squash(bases[i])); len(rows) > 0 && (!some || !all && !usual) {
				kinds[i] = colProp
				note("column %s is a property: not all of it are times", bases[i])
			} else if !usual || !slices.Contains(graph.TimeNames, bases[i]) {
				note("column %s is the time of the edges", bases[i])
			}
		}
	}
	if err := firstColumns(kinds, bases, r, note); err != nil {
		return err
	}
	for i, k := range kinds {
		sp.cols[i].kind = k
	}
	return nil
}

// firstColumns takes the first columns for the ids where no name says which they are.
func firstColumns(kinds []colKind, names []string, r role, note func(string, ...any)) error {
	need, words := []colKind{colSrc, colDst}, []string{"source", "target"}
	if r == vertexRole {
		need, words = []colKind{colID}, []string{"vertex id"}
	}
	missing := slices.IndexFunc(need, func(k colKind) bool { return !slices.Contains(kinds, k) })
	if missing < 0 {
		return nil
	}
	fail := wrapf(ErrColumns, "the header %s names no %s; name the columns with --columns", strings.Join(names, ","), words[missing])
	if len(kinds) < len(need) || r == edgeRole && (slices.Contains(kinds, colSrc) || slices.Contains(kinds, colDst)) {
		return fail
	}
	for i := range need {
		if s := squash(names[i]); kinds[i] != colProp || r == edgeRole && len(names) > 2 && notVertex.MatchString(s) || r == edgeRole && len(names) > 2 && i == 0 && (rowName.MatchString(s) || strings.HasSuffix(s, "id") && !strings.HasSuffix(squash(names[1]), "id")) {
			return fail
		}
	}
	copy(kinds, need)
	note("the header's first columns %s are taken as the vertex ids", strings.Join(names[:len(need)], ","))
	return nil
}

// directionWord reads a cell of Gephi's column Type.
func directionWord(v []byte) Direction {
	switch strings.ToLower(string(v)) {
	case "directed":
		return Directed
	case "undirected":
		return Undirected
	}
	return FileDirection
}

// dates reports whether column i has dates alone.
func dates(rows [][][]byte, i int) bool {
	n := 0
	for _, row := range rows {
		if i < len(row) {
			if !isTime(row[i]) {
				return false
			}
			n++
		}
	}
	return n > 0
}

// relationBetween reports whether the first three columns are head, relation and tail:
// a text in the middle, and some of the first column are in the third, and none in the
// second. N-Triples end their lines with a point.
func relationBetween(rows [][][]byte, width int, sep byte) bool {
	if width != 3 && width != 4 {
		return false
	}
	heads, tails := map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		if len(row) != width || isNumber(row[1]) || isNumber(row[0]) != isNumber(row[2]) || isTime(row[2]) || width == 4 && (sep != 0 || string(row[3]) != ".") {
			return false
		}
		heads[string(row[0])], tails[string(row[2])] = true, true
	}
	among, between := false, false
	for _, row := range rows {
		among = among || tails[string(row[0])]
		between = between || heads[string(row[1])]
	}
	return (among || width == 4) && !between
}

// commaNumbers reports whether column i has numbers alone, and some have a comma.
func commaNumbers(rows [][][]byte, i int) bool {
	some := false
	for _, row := range rows {
		if i < len(row) {
			comma := commaNumber.Match(row[i])
			if !comma && !isNumber(row[i]) {
				return false
			}
			some = some || comma
		}
	}
	return some
}

// clocks reports whether column i has times of day alone.
func clocks(rows [][][]byte, i int) bool {
	return !slices.ContainsFunc(rows, func(row [][]byte) bool {
		return i < len(row) && !(len(row[i]) >= 5 && row[i][2] == ':' && isInt(row[i][:2]) && isInt(row[i][3:5]))
	})
}

// guessExtra names the columns after the first two of a file without names.
func (sp *textSpec) guessExtra(rows [][][]byte, width int, f Format, note func(string, ...any)) []string {
	look := func(i int) (ints, times, nums bool) {
		ints, times, nums = true, true, true
		if dates(rows, i) {
			return false, true, false
		}
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
	case f == WEL || !nums && commaNumbers(rows, 2):
		names = []string{"weight"}
	case !nums && times:
		names = []string{"time"}
		note("the third column is taken as time: all values are dates")
		if width > 3 && clocks(rows, 3) {
			note("the fourth column is the time of day, and is not part of the time: with a T between them, or in quotes, they are one")
		}
	case !nums:
		names = []string{"label"}
		if width == 3 && !isNumber(rows[0][1]) {
			note("the third column is taken as label; --columns src,label,dst reads the second as label")
		}
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
			note("column %d is taken as time: all values look like times", i+1)
			continue
		}
		names = append(names, fmt.Sprintf("col%d", i+1))
	}
	return names
}
