package format

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
)

// readMTX reads Matrix Market coordinate files (Boisvert, Pozo, Remington: The
// Matrix Market Exchange Formats, NISTIR 5935). Rows and columns are the
// vertices 1 … n; entry i, j is an edge from i to j.
func (r *reading) readMTX() error {
	fail := func(off int, line []byte, kind error, format string, a ...any) error {
		return r.src.place(&spot{pos: off, field: line, err: wrapf(kind, format, a...)}, &block{data: r.head})
	}
	head := r.head
	line, rest, _ := bytes.Cut(head, newline)
	line = bytes.TrimRight(line, "\r ")
	w := strings.Fields(strings.ToLower(string(line)))
	if len(w) != 5 || w[0] != "%%matrixmarket" || w[1] != "matrix" {
		return fail(0, line, ErrHeader, "the first line is not %%%%MatrixMarket matrix coordinate FIELD SYMMETRY")
	}
	if w[2] != "coordinate" {
		return fail(0, line, ErrHeader, "a dense matrix (%s); only coordinate files are graphs", w[2])
	}
	fieldName, symmetry := w[3], w[4]
	cols := []column{{kind: colSrc}, {kind: colDst}}
	switch fieldName {
	case "pattern":
	case "integer":
		cols = append(cols, column{kind: colProp, name: "weight", typ: propInt, fixed: true})
	case "real", "double":
		cols = append(cols, column{kind: colProp, name: "weight", typ: propFloat, fixed: true})
	case "complex":
		cols = append(cols, column{kind: colProp, name: "real", typ: propFloat, fixed: true},
			column{kind: colProp, name: "imag", typ: propFloat, fixed: true})
	default:
		return fail(0, line, ErrHeader, "unknown field %s; known are pattern, integer, real, complex", fieldName)
	}
	dir := Undirected
	switch symmetry {
	case "general":
		dir = Directed
	case "symmetric":
	case "skew-symmetric", "hermitian":
		r.note("%s: each stored entry is one undirected edge with the value as stored", symmetry)
	default:
		return fail(0, line, ErrHeader, "unknown symmetry %s; known are general, symmetric, skew-symmetric, hermitian", symmetry)
	}
	// Comments, then: rows columns entries.
	off := len(head) - len(rest)
	var size []byte
	for {
		if off >= len(head) {
			if !r.whole {
				return fail(0, nil, ErrHeader, "no line with the sizes in the first %d bytes", len(head))
			}
			return fail(len(head), nil, ErrTruncated, "no line with the sizes")
		}
		size, _, _ = bytes.Cut(head[off:], newline)
		if t := bytes.TrimSpace(size); len(t) > 0 && t[0] != '%' {
			break
		}
		off += len(size) + 1
	}
	nums := bytes.Fields(size)
	var n [3]uint64
	if len(nums) != 3 {
		return fail(off, size, ErrHeader, "the sizes are not three numbers: rows, columns, entries")
	}
	for i := range n {
		x, err := strconv.ParseUint(string(nums[i]), 10, 63)
		if err != nil {
			return fail(off, size, ErrHeader, "the sizes are not three numbers: rows, columns, entries")
		}
		n[i] = x
	}
	if n[0] != n[1] {
		return fail(off, size, ErrHeader, "%d rows and %d columns: only a square matrix is a graph", n[0], n[1])
	}
	if n[0] > r.o.maxVertices() {
		return fail(off, size, ErrOverflow, "%d vertices; at most %d can be read", n[0], r.o.maxVertices())
	}
	if most := r.src.most(4); n[2] > most { // an entry has two digits, a blank and an end of line
		return fail(off, size, ErrTruncated, "the header promises %d entries, the file has room for %d", n[2], most)
	}
	if err := r.room(n[0], n[2]); err != nil {
		return err
	}
	sp := &textSpec{cols: cols, start: int64(min(off+len(size)+1, len(head))), lo: 1, span: n[0], count: -1, padded: true}
	r.begin(dir)
	both := dir == Undirected && r.directed
	if both {
		r.note("--directed on a %s matrix: each entry off the diagonal is two edges", symmetry)
	}
	r.mirror = both
	lines, err := r.edgeText(sp)
	if err != nil {
		return err
	}
	r.stat.Format = "mtx (" + fieldName + " " + symmetry + ")"
	r.stat.Lines = lines
	r.stat.Columns = sp.describe()
	if lines < n[2] {
		return fail(off, size, ErrTruncated, "the header promises %d entries, the file has %d", n[2], lines)
	}
	if lines > n[2] {
		return fail(off, size, ErrCount, "the header promises %d entries, the file has %d", n[2], lines)
	}
	return r.addRange(1, n[0])
}

// addRange adds the vertices first … first+n-1.
func (r *reading) addRange(first, n uint64) error {
	const step = 1 << 16
	ids := make([]uint64, 0, min(step, n))
	for i := uint64(0); i < n; i += step {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		ids = ids[:0]
		for j := i; j < min(n, i+step); j++ {
			ids = append(ids, first+j)
		}
		if err := r.build.AddVertices(&graph.VertexChunk{Seq: i / step, ID: ids}); err != nil {
			return err
		}
	}
	return nil
}
