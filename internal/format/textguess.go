package format

import (
	"bytes"
	"errors"
	"strconv"
)

// guessText works out how to read a text table from its head.
func guessText(head []byte, whole bool, o *ReadOptions, r role, f Format, note func(string, ...any)) (*textSpec, sample, error) {
	smp, err := sampleLines(head, whole, o.Skip)
	if err != nil {
		return nil, smp, err
	}
	sp := &textSpec{count: -1, span: 1 << 63, start: smp.first, missing: newMissing(o.Null)}
	if r == vertexRole { // numbers, as in the edge table
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
		var odd *oddCell
		if errors.As(err, &odd) {
			err = odd.place(head, &smp, sp.sep)
		}
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

// oddID returns the row and the text of the first id that looks like a number but is not a
// whole number. Such an id begins like a number, or its column has whole numbers too. id is nil
// if ids are names.
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
