package graph

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
)

// maxVertices is the largest number of vertices of a graph: ids are 32 bits and
// the largest value marks "none".
const maxVertices = 1<<32 - 2

// Errors that a Builder returns; test with errors.Is.
var (
	// ErrMixedIDs: some chunks had numeric ids and others string ids.
	ErrMixedIDs = errors.New("graph: numeric and string vertex ids in one graph")
	// ErrTooLarge: more vertices or edge rows than 32-bit numbers can count.
	ErrTooLarge = errors.New("graph: too large")
	// ErrColumns: chunks disagree about which columns there are, or a column's
	// length is wrong.
	ErrColumns = errors.New("graph: columns do not fit")
)

type builderState struct {
	o  BuildOptions
	mu sync.Mutex

	kind    idKind
	strs    *idInterner // string ids
	labels  interner    // edge labels
	vlabels interner    // vertex labels

	pairs pairStore // edges without columns
	edges []edgeRun // edges with columns
	verts []vertexRun
	known uint64 // vertices 0 … known-1 exist
	most  uint64 // largest id of edges with columns
	shape edgeShape
}

type idKind uint8

const (
	idsUnknown idKind = iota
	idsNumeric
	idsString
)

// edgeShape is which optional columns the edge chunks have.
type edgeShape struct{ set, label, time, props bool }

func (s edgeShape) plain() bool { return !s.label && !s.time && !s.props }

type edgeRun struct {
	seq   uint64
	ends  *segment
	label []uint32
	time  []int64
	props arrow.RecordBatch
}

type vertexRun struct {
	seq    uint64
	id     []uint64
	labels [][]uint32
	props  arrow.RecordBatch
}

func newBuilder(o BuildOptions) *Builder {
	b := &Builder{b: builderState{o: o}}
	b.b.reset()
	return b
}

// reset empties the builder and frees what it holds.
func (b *builderState) reset() {
	for _, s := range b.segments() {
		s.free()
	}
	b.kind, b.strs = idsUnknown, &idInterner{seed: maphash.MakeSeed()}
	b.labels, b.vlabels = interner{}, interner{}
	b.pairs = pairStore{}
	b.edges, b.verts, b.known, b.most, b.shape = nil, nil, 0, 0, edgeShape{}
}

// segments returns all segments, those of edges with columns first, in the
// order of b.edges.
func (b *builderState) segments() []*segment {
	var all []*segment
	for _, r := range b.edges {
		all = append(all, r.ends)
	}
	return append(append(all, b.pairs.opened...), b.pairs.wide...)
}

// interner numbers byte strings in order of first appearance.
type interner struct {
	num  map[string]uint32
	text []string
}

func (t *interner) put(s []byte) uint32 {
	if i, ok := t.num[string(s)]; ok {
		return i
	}
	if t.num == nil {
		t.num = map[string]uint32{}
	}
	i := uint32(len(t.text))
	c := string(s)
	t.num[c] = i
	t.text = append(t.text, c)
	return i
}

func (c *StringColumn) rows() int {
	if len(c.Off) == 0 {
		return 0
	}
	return len(c.Off) - 1
}

func (c *StringColumn) check() error {
	for i := 1; i < len(c.Off); i++ {
		if c.Off[i] < c.Off[i-1] {
			return fmt.Errorf("%w: string offsets descend at row %d", ErrColumns, i-1)
		}
	}
	if n := len(c.Off); n > 0 && uint64(c.Off[n-1]) > uint64(len(c.Bytes)) {
		return fmt.Errorf("%w: string offsets end after the bytes", ErrColumns)
	}
	return nil
}

func (c *StringColumn) at(i int) []byte { return c.Bytes[c.Off[i]:c.Off[i+1]] }

func (b *builderState) setKind(k idKind) error {
	if b.kind == idsUnknown {
		b.kind = k
	}
	if b.kind != k {
		return ErrMixedIDs
	}
	return nil
}

// rawIDs returns a chunk's ids as numbers: the user's, or those of interned
// strings. It does not copy numbers.
func (b *builderState) rawIDs(num []uint64, str *StringColumn) ([]uint64, error) {
	kind := idsNumeric
	if str != nil {
		if num != nil {
			return nil, ErrMixedIDs
		}
		if err := str.check(); err != nil {
			return nil, err
		}
		if str.rows() == 0 {
			return nil, nil
		}
		kind = idsString
	} else if len(num) == 0 {
		return nil, nil
	}
	b.mu.Lock()
	err := b.setKind(kind)
	b.mu.Unlock()
	if err != nil || str == nil {
		return num, err
	}
	return b.strs.column(str), nil
}

// checkEdges checks the lengths of a chunk's columns and returns which there
// are.
func (c *EdgeChunk) check(n int) (edgeShape, error) {
	sh := edgeShape{true, c.Label != nil, c.Time != nil, c.Props != nil}
	if sh.label {
		if err := c.Label.check(); err != nil {
			return sh, err
		}
		if c.Label.rows() != n {
			return sh, fmt.Errorf("%w: %d edges, %d labels", ErrColumns, n, c.Label.rows())
		}
	}
	if sh.time && len(c.Time) != n {
		return sh, fmt.Errorf("%w: %d edges, %d times", ErrColumns, n, len(c.Time))
	}
	if sh.props && c.Props.NumRows() != int64(n) {
		return sh, fmt.Errorf("%w: %d edges, %d property rows", ErrColumns, n, c.Props.NumRows())
	}
	return sh, nil
}

func (b *builderState) setShape(sh edgeShape) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shape.set && b.shape != sh {
		return fmt.Errorf("%w: chunks with different optional columns", ErrColumns)
	}
	b.shape = sh
	return nil
}

func (b *builderState) fill(n int, f func(room []uint64) (used int, most uint32, err error)) error {
	g := b.pairs.take(n)
	defer b.pairs.give(g)
	at := len(g.p)
	used, most, err := f(g.p[at:][:n])
	if err != nil || used == 0 {
		return err
	}
	if err := b.setShape(edgeShape{set: true}); err != nil {
		return err
	}
	b.mu.Lock()
	err = b.setKind(idsNumeric)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	g.p = g.p[:at+used]
	b.pairs.counted(uint64(used), uint64(most))
	return nil
}

func (b *builderState) addEdges(c *EdgeChunk) error {
	src, err := b.rawIDs(c.Src, c.SrcStr)
	if err != nil {
		return err
	}
	dst, err := b.rawIDs(c.Dst, c.DstStr)
	if err != nil {
		return err
	}
	n := len(src)
	if len(dst) != n {
		return fmt.Errorf("%w: %d sources, %d targets", ErrColumns, n, len(dst))
	}
	if n == 0 {
		return nil
	}
	sh, err := c.check(n)
	if err != nil {
		return err
	}
	if err := b.setShape(sh); err != nil {
		return err
	}
	if sh.plain() && !b.o.KeepDuplicates {
		return b.pairs.add(src, dst)
	}
	ends, most, err := newSegment(src, dst)
	if err != nil {
		return err
	}
	r := edgeRun{seq: c.Seq, ends: ends, time: slices.Clone(c.Time), props: c.Props}
	if r.props != nil {
		r.props.Retain()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if sh.label {
		r.label = make([]uint32, n)
		for i := range r.label {
			r.label[i] = NoLabel
			if s := c.Label.at(i); len(s) > 0 {
				r.label[i] = b.labels.put(s)
			}
		}
	}
	b.most = max(b.most, most)
	b.edges = append(b.edges, r)
	return nil
}

func (b *builderState) addVertices(c *VertexChunk) error {
	id, err := b.rawIDs(c.ID, c.IDStr)
	if err != nil {
		return err
	}
	n := len(id)
	if c.Labels != nil && len(c.Labels) != n {
		return fmt.Errorf("%w: %d vertices, %d label lists", ErrColumns, n, len(c.Labels))
	}
	if c.Props != nil && c.Props.NumRows() != int64(n) {
		return fmt.Errorf("%w: %d vertices, %d property rows", ErrColumns, n, c.Props.NumRows())
	}
	if err := tooLong(id, id); err != nil {
		return err
	}
	r := vertexRun{seq: c.Seq, id: slices.Clone(id), props: c.Props}
	if r.props != nil {
		r.props.Retain()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.Labels != nil {
		r.labels = make([][]uint32, n)
		for i, l := range c.Labels {
			for _, s := range l {
				if s != "" {
					r.labels[i] = append(r.labels[i], b.vlabels.put([]byte(s)))
				}
			}
		}
	}
	b.verts = append(b.verts, r)
	return nil
}

// AddRange says that the vertices with the numeric ids 0 … n-1 exist.
func (b *Builder) AddRange(n uint64) error {
	b.b.mu.Lock()
	defer b.b.mu.Unlock()
	if n > maxVertices {
		return fmt.Errorf("%w: %d vertices", ErrTooLarge, n)
	}
	if n > 0 {
		if err := b.b.setKind(idsNumeric); err != nil {
			return err
		}
	}
	b.b.known = max(b.b.known, n)
	return nil
}

// labelOrder sorts label names so that the result does not depend on which
// chunk came first: numbers by value, then text by bytes. It returns the names
// and, for each interned number, its place.
func labelOrder(t *interner) (names []string, place []uint32) {
	idx := make([]uint32, len(t.text))
	for i := range idx {
		idx[i] = uint32(i)
	}
	slices.SortFunc(idx, func(a, b uint32) int { return compareLabels(t.text[a], t.text[b]) })
	names = make([]string, len(idx))
	place = make([]uint32, len(idx))
	for i, x := range idx {
		names[i], place[x] = t.text[x], uint32(i)
	}
	return names, place
}

// compareLabels orders decimal numbers by value before all other text.
func compareLabels(a, b string) int {
	da, db := isDecimal(a), isDecimal(b)
	switch {
	case da && db:
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case da:
		return -1
	case db:
		return 1
	}
	return cmp.Compare(a, b)
}

// isDecimal reports whether s is a number without sign or leading zero.
func isDecimal(s string) bool {
	if s == "" || (s[0] == '0' && len(s) > 1) {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// Discard empties the builder and frees its memory, for callers that give up
// before Build.
func (b *Builder) Discard() {
	b.b.mu.Lock()
	defer b.b.mu.Unlock()
	b.b.reset()
}
