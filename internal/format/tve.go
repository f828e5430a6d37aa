package format

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"

	"github.com/weftgraph/weft/internal/graph"
)

// The dialects of `t v e` files.
const (
	tveGSpan  = "gSpan: t # 0, v id label, e u v label"
	tveCounts = "t N M, v id label degree, e u v"
	tveBare   = "v id label, e u v label"
)

// tveDialect returns the dialect of a text, or "" if it is none.
func tveDialect(head []byte) string {
	head = bytes.TrimPrefix(head, bom)
	for line := range bytes.SplitSeq(head, newline) {
		f := bytes.Fields(line)
		if len(f) == 0 || f[0][0] == '#' || f[0][0] == '%' {
			continue
		}
		switch string(f[0]) {
		case "t":
			if len(f) >= 2 && string(f[1]) == "#" {
				return tveGSpan
			}
			if len(f) == 3 && isInt(f[1]) && isInt(f[2]) {
				return tveCounts
			}
		case "v":
			if len(f) == 3 && isInt(f[1]) {
				return tveBare
			}
		}
		return ""
	}
	return ""
}

// tveChunk has the data of one block of a `t v e` file.
type tveChunk struct {
	seq      uint64
	id       []uint64
	labels   [][]string
	degree   []uint64
	src, dst []uint64
	label    *graph.StringColumn
	labelled bool
}

// readTVE reads one graph of vertices and edges, a line each.
func (r *reading) readTVE() error {
	dialect := tveDialect(r.head)
	if dialect == "" {
		return r.src.place(&spot{field: firstLine(r.head), err: wrapf(ErrHeader, "the first line is not `t # 0`, `t N M` or `v id label`")}, &block{data: r.head})
	}
	r.stat.Format = "tve (" + dialect + ")"
	r.begin(FileDirection)
	var nv, ne uint64
	var header spot
	start := int64(0)
	if bytes.HasPrefix(r.head, bom) {
		start = int64(len(bom))
	}
	if dialect != tveBare { // the header line is the first with a t
		i := bytes.IndexByte(r.head, 't')
		for i > 0 && r.head[i-1] != '\n' && int64(i) > start {
			k := bytes.IndexByte(r.head[i+1:], 't')
			i += 1 + k
		}
		line := firstLine(r.head[i:])
		header = spot{pos: i, field: line}
		if dialect == tveCounts {
			f := bytes.Fields(line)
			var e1, e2 error
			nv, e1 = strconv.ParseUint(string(f[1]), 10, 63)
			ne, e2 = strconv.ParseUint(string(f[2]), 10, 63)
			if e1 != nil || e2 != nil || nv > r.o.maxVertices() {
				return r.src.place(&spot{pos: i, field: line, err: wrapf(ErrHeader, "the counts of vertices and edges")}, &block{data: r.head})
			}
		}
		start = int64(min(i+len(line)+1, len(r.head)))
	}
	sp := &textSpec{span: 1 << 63, padded: true}
	if dialect == tveCounts {
		sp.span = nv
		if nv == 0 {
			sp.span = 1
		}
	}
	var mu sync.Mutex
	var vertices, edges uint64
	var labelled bool
	var chunks []*tveChunk
	seenV := &idSet{}
	degrees := dialect == tveCounts
	labels := tveLabels{num: map[string]string{}}
	err := r.src.eachBlock(r.ctx, start, r.o.threads(), func(_ int, b *block) error {
		c := &tveChunk{seq: b.seq}
		if err := c.parse(b.data, sp, dialect, &labels); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, id := range c.id {
			if !seenV.add(id) {
				return &spot{pos: findVertexLine(b.data, id), err: wrapf(ErrHeader, "vertex %d is declared twice", id)}
			}
		}
		vertices += uint64(len(c.id))
		edges += uint64(len(c.src))
		if len(c.src) > 0 {
			labelled = labelled || c.labelled
		}
		if len(c.id) > 0 {
			if err := r.build.AddVertices(&graph.VertexChunk{Seq: c.seq, ID: c.id, Labels: c.labels}); err != nil {
				return err
			}
		}
		if len(c.degree) != len(c.id) {
			degrees = false
		}
		// Edges wait: whether any has a label is known at the end.
		c.labels = nil
		chunks = append(chunks, c)
		return nil
	})
	if err != nil {
		return err
	}
	bad := func(kind error, format string, a ...any) error {
		header.err = wrapf(kind, format, a...)
		return r.src.place(&header, &block{data: r.head})
	}
	if dialect == tveCounts {
		kind := func(have, want uint64) error {
			if have < want {
				return ErrTruncated
			}
			return ErrCount
		}
		if vertices != nv {
			return bad(kind(vertices, nv), "the header promises %d vertices, the file has %d", nv, vertices)
		}
		if edges != ne {
			return bad(kind(edges, ne), "the header promises %d edges, the file has %d", ne, edges)
		}
	}
	if labelled && dialect == tveCounts && allZero(chunks) {
		labelled = false
		r.note("every edge has the label 0, which stands for none after `t N M`")
	}
	r.stat.Lines = edges
	r.stat.Columns = "src,dst"
	if labelled {
		r.stat.Columns += ",label"
	}
	for _, c := range chunks {
		for i := range c.src {
			if !seenV.has(c.src[i]) || !seenV.has(c.dst[i]) {
				id := c.src[i]
				if seenV.has(id) {
					id = c.dst[i]
				}
				return r.undeclared(id)
			}
		}
		if len(c.src) == 0 {
			continue
		}
		e := &graph.EdgeChunk{Seq: c.seq, Src: c.src, Dst: c.dst}
		if labelled {
			e.Label = c.label
			if e.Label == nil {
				e.Label = &graph.StringColumn{Off: make([]uint32, len(c.src)+1)}
			}
		}
		if err := r.build.AddEdges(e); err != nil {
			return err
		}
	}
	if degrees && r.o.Direction != Directed {
		r.degrees = chunks
	}
	return nil
}

// allZero reports whether every edge has the label 0.
func allZero(chunks []*tveChunk) bool {
	for _, c := range chunks {
		for i := range c.src {
			if c.label == nil || string(c.label.Bytes[c.label.Off[i]:c.label.Off[i+1]]) != "0" {
				return false
			}
		}
	}
	return true
}

// tveLabels shares the text of labels between lines.
type tveLabels struct {
	mu  sync.Mutex
	num map[string]string
}

func (t *tveLabels) get(b []byte) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.num[string(b)]; ok {
		return s
	}
	s := string(b)
	t.num[s] = s
	return s
}

func (c *tveChunk) parse(blk []byte, sp *textSpec, dialect string, labels *tveLabels) error {
	var f fields
	cache := map[string][]string{}
	for i := 0; i < len(blk); {
		stop := i + bytes.IndexByte(blk[i:], '\n')
		if stop < i {
			stop = len(blk)
		}
		if stop-i > maxLine {
			return &spot{pos: i, field: blk[i:stop], err: ErrLongLine}
		}
		line := blk[i:stop]
		if err := f.split(blk[:stop], i, 0); err != nil {
			return err
		}
		pos := i
		i = stop + 1
		if f.n == 0 {
			continue
		}
		wrong := func(format string, a ...any) error {
			if k := binaryByte(line); k >= 0 {
				return notText(line, pos, k)
			}
			return &spot{pos: pos, field: line, err: wrapf(ErrRagged, format, a...)}
		}
		switch kind := f.at[0].b; string(kind) {
		case "v":
			most := 3
			if dialect == tveCounts {
				most = 4
			}
			if f.n < 3 || f.n > most {
				return wrong("%d fields in a v line; this is the dialect %s", f.n, dialect)
			}
			id, err := parseID(f.at[1].b, f.at[1].pos, sp)
			if err != nil {
				return err
			}
			if err := text(f.at[2]); err != nil {
				return err
			}
			l, ok := cache[string(f.at[2].b)]
			if !ok {
				l = []string{labels.get(f.at[2].b)}
				cache[l[0]] = l
			}
			if f.n == 4 {
				d, err := parseID(f.at[3].b, f.at[3].pos, &textSpec{span: 1 << 63, padded: true})
				if err != nil {
					return &spot{pos: f.at[3].pos, field: f.at[3].b, err: wrapf(ErrNumber, "the degree of a vertex")}
				}
				c.degree = append(c.degree, d)
			}
			c.id = append(c.id, id)
			c.labels = append(c.labels, l)
		case "e":
			if f.n < 3 || f.n > 4 {
				return wrong("%d fields in an e line; it is e u v or e u v label", f.n)
			}
			u, err := parseID(f.at[1].b, f.at[1].pos, sp)
			if err != nil {
				return err
			}
			v, err := parseID(f.at[2].b, f.at[2].pos, sp)
			if err != nil {
				return err
			}
			if f.n == 4 {
				if err := text(f.at[3]); err != nil {
					return err
				}
				if c.label == nil {
					c.label = &graph.StringColumn{Off: make([]uint32, len(c.src)+1)}
				}
				putString(&c.label, f.at[3].b)
				c.labelled = true
			} else if c.label != nil {
				putString(&c.label, nil)
			}
			c.src, c.dst = append(c.src, u), append(c.dst, v)
		case "t":
			if f.n == 3 && string(f.at[1].b) == "#" && string(f.at[2].b) == "-1" {
				continue // gSpan's end mark
			}
			return &spot{pos: pos, field: line, err: wrapf(ErrManyGraphs, "the second begins here; split the file")}
		default:
			return wrong("a line begins with t, v or e")
		}
	}
	return nil
}

func firstLine(b []byte) []byte {
	l, _, _ := bytes.Cut(b, newline)
	return l
}

func findVertexLine(blk []byte, id uint64) int {
	pos, last := 0, 0
	want := []byte(fmt.Sprint(id))
	for line := range bytes.SplitSeq(blk, newline) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == "v" && bytes.Equal(f[1], want) {
			last = pos
		}
		pos += len(line) + 1
	}
	return last
}

// undeclared finds the first edge line with a vertex that no v line declares.
func (r *reading) undeclared(id uint64) error {
	cause := wrapf(ErrRange, "vertex %d has no v line", id)
	e := &Error{File: r.src.name, Offset: -1, Cause: cause}
	if !r.src.again() {
		return e
	}
	t := &source{ctx: r.ctx, fsys: r.src.fsys, name: r.src.name, size: r.src.size, zip: r.src.zip}
	want := []byte(fmt.Sprint(id))
	err := t.eachBlock(r.ctx, 0, 1, func(_ int, b *block) error {
		pos := 0
		for line := range bytes.SplitSeq(b.data, newline) {
			f := bytes.Fields(line)
			if len(f) > 2 && string(f[0]) == "e" && (bytes.Equal(f[1], want) || bytes.Equal(f[2], want)) {
				return &spot{pos: pos, field: line, err: cause}
			}
			pos += len(line) + 1
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e
}

// idSet is a set of numbers, most of them small.
type idSet struct {
	bits []uint64
	rest map[uint64]struct{}
}

// add reports whether x is new.
func (s *idSet) add(x uint64) bool {
	if x < 1<<34 && (x>>6 < uint64(len(s.bits)) || x>>6 < 2*uint64(len(s.bits))+1024) {
		for x>>6 >= uint64(len(s.bits)) {
			s.bits = append(s.bits, make([]uint64, max(1024, len(s.bits)))...)
		}
		if s.has(x) {
			return false
		}
		s.bits[x>>6] |= 1 << (x & 63)
		return true
	}
	if s.has(x) {
		return false
	}
	if s.rest == nil {
		s.rest = map[uint64]struct{}{}
	}
	s.rest[x] = struct{}{}
	return true
}

func (s *idSet) has(x uint64) bool {
	if x>>6 < uint64(len(s.bits)) && s.bits[x>>6]>>(x&63)&1 != 0 {
		return true
	}
	_, ok := s.rest[x]
	return ok
}
