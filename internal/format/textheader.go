package format

import (
	"bytes"
	"slices"
	"strconv"
)

// firstLine reads a first line that is not an edge: the number of edges, the sizes of the
// graph, or the names of the columns. It leaves the rows that follow in smp.
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
	// A line of numbers does not show the separator of the others.
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
				note("the first line, %d %d, is read as an edge; if it has the numbers of vertices and edges, use --header yes", n.vertices, n.edges)
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
