package graph

import (
	"cmp"
	"errors"
	"fmt"
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
	strs    interner // string ids
	labels  interner // edge labels
	vlabels interner // vertex labels

	edges []edgeRun
	verts []vertexRun
	shape edgeShape
	err   error
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
	seq      uint64
	src, dst []uint64 // raw ids: the user's numbers, or numbers of interned strings
	label    []uint32
	time     []int64
	props    arrow.RecordBatch
}

type vertexRun struct {
	seq    uint64
	id     []uint64
	labels [][]uint32
	props  arrow.RecordBatch
}

func newBuilder(o BuildOptions) *Builder {
	return &Builder{b: builderState{o: o}}
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

func (b *builderState) rawIDs(num []uint64, str *StringColumn) ([]uint64, error) {
	if str == nil {
		for i, x := range num {
			if x >= 1<<63 {
				return nil, fmt.Errorf("%w: vertex id %d in row %d is 2^63 or more", ErrColumns, x, i)
			}
		}
		if len(num) > 0 {
			if err := b.setKind(idsNumeric); err != nil {
				return nil, err
			}
		}
		return slices.Clone(num), nil
	}
	if num != nil {
		return nil, ErrMixedIDs
	}
	if err := str.check(); err != nil {
		return nil, err
	}
	r := make([]uint64, str.rows())
	if len(r) > 0 {
		if err := b.setKind(idsString); err != nil {
			return nil, err
		}
	}
	for i := range r {
		r[i] = uint64(b.strs.put(str.at(i)))
	}
	return r, nil
}

func (b *builderState) addEdges(c *EdgeChunk) error {
	b.mu.Lock()
	defer b.mu.Unlock()
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
	sh := edgeShape{true, c.Label != nil, c.Time != nil, c.Props != nil}
	if b.shape.set && b.shape != sh {
		return fmt.Errorf("%w: chunks with different optional columns", ErrColumns)
	}
	b.shape = sh
	r := edgeRun{seq: c.Seq, src: src, dst: dst}
	if c.Label != nil {
		if err := c.Label.check(); err != nil {
			return err
		}
		if c.Label.rows() != n {
			return fmt.Errorf("%w: %d edges, %d labels", ErrColumns, n, c.Label.rows())
		}
		r.label = make([]uint32, n)
		for i := range r.label {
			if s := c.Label.at(i); len(s) > 0 {
				r.label[i] = b.labels.put(s)
			} else {
				r.label[i] = NoLabel
			}
		}
	}
	if c.Time != nil {
		if len(c.Time) != n {
			return fmt.Errorf("%w: %d edges, %d times", ErrColumns, n, len(c.Time))
		}
		r.time = slices.Clone(c.Time)
	}
	if c.Props != nil {
		if c.Props.NumRows() != int64(n) {
			return fmt.Errorf("%w: %d edges, %d property rows", ErrColumns, n, c.Props.NumRows())
		}
		c.Props.Retain()
		r.props = c.Props
	}
	b.edges = append(b.edges, r)
	return nil
}

func (b *builderState) addVertices(c *VertexChunk) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, err := b.rawIDs(c.ID, c.IDStr)
	if err != nil {
		return err
	}
	n := len(id)
	r := vertexRun{seq: c.Seq, id: id}
	if c.Labels != nil {
		if len(c.Labels) != n {
			return fmt.Errorf("%w: %d vertices, %d label lists", ErrColumns, n, len(c.Labels))
		}
		r.labels = make([][]uint32, n)
		for i, l := range c.Labels {
			for _, s := range l {
				if s != "" {
					r.labels[i] = append(r.labels[i], b.vlabels.put([]byte(s)))
				}
			}
		}
	}
	if c.Props != nil {
		if c.Props.NumRows() != int64(n) {
			return fmt.Errorf("%w: %d vertices, %d property rows", ErrColumns, n, c.Props.NumRows())
		}
		c.Props.Retain()
		r.props = c.Props
	}
	b.verts = append(b.verts, r)
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
