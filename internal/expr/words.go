package expr

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weftgraph/weft/internal/graph"
)

// WordKind is the meaning of a column's words.
type WordKind uint8

// Kinds of words.
const (
	IntWords      WordKind = iota
	UnsignedWords          // values of 64 bits; those past 63 are read as fractions
	FloatWords             // by their bits
	BoolWords              // 0 or 1
	TextWords              // numbers in the order of all texts: see Columns.TextWord
	NullWords              // no row has a value
	MixedWords             // values that no single kind of word can say
)

// Words is a property column, or the ids of the vertices: one word a row.
type Words struct {
	Name  string
	Kind  WordKind
	Words []uint64
	Valid []uint64 // a bit a row, nil: every row has a value
	// OfGraph: the memory is all the graph's own, and the same for every plan.
	OfGraph bool

	text func(row int) string
	rows int
}

// Columns are the columns of one graph as words, each made when it is first asked for.
// They are safe for concurrent use.
type Columns struct {
	Graph *graph.Graph

	mu      sync.Mutex
	words   map[string]*Words
	order   []string // texts of the columns orderOf
	orderOf string
}

// Vertex returns the column of a vertex property, nil where no vertex has it.
func (t *Columns) Vertex(key string) *Words {
	return t.get("v."+key, func() *Words { return wordsOf(VertexColumn(t.Graph, key)) })
}

// Edge returns the column of an edge property, nil where no edge has it.
func (t *Columns) Edge(key string) *Words {
	return t.get("e."+key, func() *Words { return wordsOf(EdgeColumn(t.Graph, key)) })
}

// IDs returns the user's ids of the vertices.
func (t *Columns) IDs() *Words {
	return t.get("id", func() *Words {
		ids := &t.Graph.IDs
		if ids.Numeric() {
			return &Words{Kind: IntWords, Words: sameWords(ids.Num), OfGraph: true, rows: len(ids.Num)}
		}
		return &Words{Kind: TextWords, text: func(row int) string { return ids.String(uint32(row)) }, rows: t.Graph.NumVertices()}
	})
}

// get keeps columns, so that all that is made of them names the same memory.
func (t *Columns) get(name string, make func() *Words) *Words {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, ok := t.words[name]
	if !ok {
		if w = make(); w != nil {
			w.Name = name
		}
		if t.words == nil {
			t.words = map[string]*Words{}
		}
		t.words[name] = w
	}
	return w
}

// TextWord numbers the texts of cols, all of them TextWords, and those of constants, in their
// order. It fills the words of cols. The returned function gives the number of a text among
// them.
func (t *Columns) TextWord(cols []*Words, constants []string) func(text string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	for _, c := range cols {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	key := strings.Join(slices.Compact(names), "\x00") + "\x00\x00" + strings.Join(constants, "\x00")
	if t.order == nil || t.orderOf != key {
		t.order, t.orderOf = rankTexts(cols, constants), key
	}
	order := t.order
	return func(text string) uint64 {
		i, _ := slices.BinarySearch(order, text)
		return uint64(i)
	}
}

// rankTexts gives every row the number of its text among all, and returns these.
func rankTexts(cols []*Words, constants []string) (order []string) {
	place := map[string]uint64{}
	for _, s := range constants {
		if place[s] == 0 {
			place[s] = 1
			order = append(order, s)
		}
	}
	each := func(f func(c *Words, row int)) {
		for _, c := range cols {
			for row := range c.rows {
				if c.Valid == nil || c.Valid[row/64]>>(row%64)&1 != 0 {
					f(c, row)
				}
			}
		}
	}
	each(func(c *Words, row int) {
		if s := c.text(row); place[s] == 0 {
			place[s] = 1
			order = append(order, s)
		}
	})
	slices.Sort(order)
	for i, s := range order {
		place[s] = uint64(i)
	}
	for _, c := range cols {
		c.Words = make([]uint64, c.rows)
	}
	each(func(c *Words, row int) { c.Words[row] = place[c.text(row)] })
	return order
}

// wordsOf turns a column into words; values that are words already stay where they
// are.
func wordsOf(c *Column) *Words {
	switch {
	case c == nil:
		return nil
	case c.times != nil:
		return &Words{Kind: IntWords, Words: sameWords(c.times), OfGraph: true, rows: len(c.times)}
	}
	w := &Words{Kind: kindOf(c.array), rows: c.array.Len()}
	get := c.Reader()
	if c.array.NullN() > 0 {
		w.Valid = make([]uint64, (w.rows+63)/64)
		for row := range w.rows {
			if !c.array.IsNull(row) {
				w.Valid[row/64] |= 1 << (row % 64)
			}
		}
	}
	w.OfGraph = w.Valid == nil
	switch a := c.array.(type) {
	case *array.Int64:
		w.Words = sameWords(a.Values())
	case *array.Uint64:
		w.Words = a.Values()
	case *array.Float64:
		w.Words = sameWords(a.Values())
	default:
		w.OfGraph = false
		w.copyOf(get)
	}
	return w
}

// copyOf fills w from a column whose values are not words.
func (w *Words) copyOf(get func(row int) Value) {
	switch w.Kind {
	case TextWords:
		w.text = func(row int) string { return get(row).S }
		return
	case NullWords, MixedWords:
		return
	}
	w.Words = make([]uint64, w.rows)
	for row := range w.Words {
		if v := get(row); w.Kind == FloatWords {
			w.Words[row] = math.Float64bits(v.F)
		} else {
			w.Words[row] = uint64(v.I)
		}
	}
}

// sameWords is the memory of x, of which every element has 64 bits.
func sameWords[T int64 | float64 | arrow.Timestamp](x []T) []uint64 {
	return arrow.GetData[uint64](arrow.GetBytes(x))
}

// kindOf returns the kind of words that arrayGetter makes of a.
func kindOf(a arrow.Array) WordKind {
	switch a := a.(type) {
	case *array.Boolean:
		return BoolWords
	case *array.Uint64:
		return UnsignedWords
	case *array.Float32, *array.Float64:
		return FloatWords
	case *array.Null:
		return NullWords
	case *array.Dictionary:
		if k := kindOf(a.Dictionary()); k != UnsignedWords {
			return k
		}
		return MixedWords
	case *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Uint8, *array.Uint16, *array.Uint32,
		*array.Timestamp, *array.Date32, *array.Date64, *array.Duration:
		return IntWords
	}
	return TextWords
}
