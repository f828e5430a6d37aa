package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
)

// chooseColumns decides the kinds of the columns: by --columns, by the header's names, or by
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
	mayID := func(v []byte) bool { return !isTime(v) && (!isNumber(v) || isInt(v)) }
	may := func(i int) bool {
		_, all := cells(i, mayID)
		return all
	}
	kinds, e, err := tableKinds(named, r, may)
	if err != nil {
		return err
	}
	unfit, directed := unfitEnd(named, r, kinds, may)
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
	err = firstColumns(kinds, bases, r, note)
	if unfit >= 0 && (err != nil || directed && (kinds[unfit] == colSrc || kinds[unfit] == colDst)) { // to go on would lose the direction
		row := slices.IndexFunc(rows, func(row [][]byte) bool { return unfit < len(row) && !mayID(row[unfit]) })
		return &oddCell{row, unfit, wrapf(ErrColumns, "column %s holds vertex ids, which are whole numbers or text (--columns src:string,dst,… reads all as text)", bases[unfit])}
	}
	if err != nil {
		return err
	}
	for i, k := range kinds {
		sp.cols[i].kind = k
	}
	return nil
}

// oddCell is an error about a cell, before it is known where in the file the cell is.
type oddCell struct {
	row, col int
	err      error
}

func (o *oddCell) Error() string { return o.err.Error() }
func (o *oddCell) Unwrap() error { return o.err }

// place gives the error the cell's place in the head of the file.
func (o *oddCell) place(head []byte, smp *sample, sep byte) error {
	at := len(smp.offsets) - len(smp.rows) + o.row
	begin := int(smp.offsets[at])
	var f fields
	if err := f.split(head[:begin+len(smp.lines[at])], begin, sep); err != nil || o.col >= f.n {
		return &spot{pos: begin, field: smp.lines[at], err: o.err}
	}
	return &spot{pos: f.at[o.col].pos, field: f.at[o.col].b, err: o.err}
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
		if s := squash(names[i]); kinds[i] != colProp || r == edgeRole && len(names) > 2 && notVertex().MatchString(s) || r == edgeRole && len(names) > 2 && i == 0 && (rowName().MatchString(s) || strings.HasSuffix(s, "id") && !strings.HasSuffix(squash(names[1]), "id")) {
			return fail
		}
	}
	copy(kinds, need)
	note("the header's first columns %s are taken as the vertex ids", strings.Join(names[:len(need)], ","))
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
