package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weftgraph/weft/internal/pattern"
)

// Engines that cannot call a Check's closure evaluate its expression themselves.
// What they need beside the expression is here: columns as plain memory, the data
// edges of a choice, the plans of EXISTS.

// WordKind says what the words of a column are.
type WordKind uint8

// Kinds of words.
const (
	IntWords      WordKind = iota
	UnsignedWords          // values of 64 bits; those past 63 are read as fractions
	FloatWords             // by their bits
	BoolWords              // 0 or 1
	TextWords              // numbers in the order of the plan's texts: see TextWord
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

// VertexWords returns the column of a vertex property, nil where no vertex has it.
func (p *Plan) VertexWords(key string) *Words {
	return p.words("v."+key, func() *Words { return wordsOf(vertexColumn(p.Graph, key)) })
}

// EdgeWords returns the column of an edge property, nil where no edge has it.
func (p *Plan) EdgeWords(key string) *Words {
	return p.words("e."+key, func() *Words { return wordsOf(edgeColumn(p.Graph, key)) })
}

// IDWords returns the user's ids of the vertices.
func (p *Plan) IDWords() *Words {
	return p.words("id", func() *Words {
		ids := &p.Graph.IDs
		if ids.Numeric() {
			return &Words{Kind: IntWords, Words: sameWords(ids.Num), OfGraph: true, rows: len(ids.Num)}
		}
		return &Words{Kind: TextWords, text: func(row int) string { return ids.String(uint32(row)) }, rows: p.Graph.NumVertices()}
	})
}

// words keeps columns, so that all that is made of a plan names the same memory.
func (p *Plan) words(name string, make func() *Words) *Words {
	t := p.columns
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

// TextWord numbers the texts of cols, all of them TextWords, and those of constants
// in their order, and fills the words of cols. What it returns gives the number of a
// text among them.
func (p *Plan) TextWord(cols []*Words, constants []string) func(text string) uint64 {
	t := p.columns
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
func wordsOf(c *column) *Words {
	switch {
	case c == nil:
		return nil
	case c.times != nil:
		return &Words{Kind: IntWords, Words: sameWords(c.times), OfGraph: true, rows: len(c.times)}
	}
	w := &Words{Kind: kindOf(c.array), rows: c.array.Len()}
	get := c.getter()
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

// copyOf fills w from a column whose values are no words.
func (w *Words) copyOf(get func(row int) value) {
	switch w.Kind {
	case TextWords:
		w.text = func(row int) string { return get(row).s }
		return
	case NullWords, MixedWords:
		return
	}
	w.Words = make([]uint64, w.rows)
	for row := range w.Words {
		if v := get(row); w.Kind == FloatWords {
			w.Words[row] = math.Float64bits(v.f)
		} else {
			w.Words[row] = uint64(v.i)
		}
	}
}

// sameWords is the memory of x, of which every element has 64 bits.
func sameWords[T int64 | float64 | arrow.Timestamp](x []T) []uint64 {
	return arrow.GetData[uint64](arrow.GetBytes(x))
}

// kindOf says what arrayGetter makes of a.
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

// Accepted are the data edges that the choice may take: a bit a row of the edge
// table, nil where it takes every edge. In a graph without an edge table a choice
// takes all or none.
func (c *EdgeChoice) Accepted() []uint64 {
	r := c.rows
	if r.all {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.words == nil {
		words := r.bits
		if words == nil {
			words = make([]uint64, max(1, (len(r.labels)+63)/64))
			for i := range words {
				if r.single {
					words[i] = r.word(i, len(r.labels))
				}
			}
		}
		r.words = words // when all of them are right: labels may be a file's
	}
	return r.words
}

// Filter is what an edge of the pattern language has in its brackets to accept the
// data edges that the choice may take, "" for all of them.
func (c *EdgeChoice) Filter() string { return c.rows.name }

// EdgeLists returns the data edges as lists of target vertices, ascending, in
// which an edge is named by its place: those of the edge table, or without one the
// outgoing neighbours. In undirected graphs an edge is in the list of its smaller
// end only, as far as choices are concerned.
func (p *Plan) EdgeLists() (off []uint64, dst []uint32) {
	if t := p.Graph.Edges; t != nil {
		return t.Off, t.Dst
	}
	return p.Graph.Out.Off, p.Graph.Out.Adj
}

// MostParallel is the largest number of data edges from one vertex to one other.
func (p *Plan) MostParallel() int {
	t := p.columns
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parallel > 0 {
		return t.parallel
	}
	t.parallel = 1
	if e := p.Graph.Edges; e != nil {
		run := 0
		for i := range e.Dst {
			if i > 0 && e.Src[i] == e.Src[i-1] && e.Dst[i] == e.Dst[i-1] {
				run++
			} else {
				run = 1
			}
			t.parallel = max(t.parallel, run)
		}
	}
	return t.parallel
}

// SubPlan is how EXISTS { … } is decided: whether Plan has a match whose first
// Fixed levels hold the outer vertices, in the order of the expression's Outer.
type SubPlan struct {
	Plan  *Plan
	Fixed int
}

// Exists returns the plan of a sub-pattern that the plan's checks mention.
func (p *Plan) Exists(sub *pattern.Pattern) *SubPlan { return p.columns.exists[sub] }
