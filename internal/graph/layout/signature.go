package layout

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
)

// Signatures is GSI's signature table (section 3.1): for each vertex a row of groups of two
// bits. Each pair of an edge and a neighbour hashes to a group, by the edge's direction and label
// and the neighbour's label class. A group is 00 without a pair, 01 with one and 11 with several.
// A vertex v cannot stand for a pattern vertex u whose signature has a bit that v's lacks.
//
// The paper's signatures begin with a hash of the vertex's own label. Here the range of ids of a
// label says that exactly. A neighbour counts a second time without its class, for patterns that do
// not ask for one class.
type Signatures struct {
	groups  int
	table   []uint32   // the columns one after the other, as the paper's figure 7(d)
	columns [][]uint32 // column c has word c of each vertex's signature
	id      uint64
}

// AnyClass is the class of a Pair that asks for no class.
const AnyClass = -1

// Pair is an edge and a neighbour as a signature sees them.
type Pair struct {
	Label uint32 // of the edge, an index into Graph.EdgeLabels, or graph.NoLabel
	In    bool   // against the edge's direction; false in an undirected graph
	Class int    // of the neighbour, an index into Graph.Classes, or AnyClass
}

func (p Pair) hash() uint64 {
	h := uint64(p.Label+1)<<1 | 1
	if p.In {
		h ^= 1
	}
	return mix(mix(h) + uint64(p.Class+2))
}

// NewSignatures makes the signatures of all vertices, of a multiple of 32 bits each. It reads all
// edges, on threads goroutines; 0 means all cores.
func NewSignatures(ctx context.Context, g *graph.Graph, size, threads int) (*Signatures, error) {
	if size < 32 || size%32 != 0 {
		return nil, fmt.Errorf("signatures have a multiple of 32 bits, not %d", size)
	}
	n := g.NumVertices()
	s := &Signatures{groups: size / 2, table: make([]uint32, n*size/32), columns: make([][]uint32, size/32), id: graph.NewRelationID()}
	for i := range s.columns {
		s.columns[i] = s.table[i*n:][:n]
	}
	class := make([]int32, n)
	for i, c := range g.Classes {
		for v := c.First; v < c.End; v++ {
			class[v] = int32(i)
		}
	}
	add := func(u, v, label uint32, in bool) {
		s.add(u, Pair{label, in, int(class[v])})
		s.add(u, Pair{label, in, AnyClass})
	}
	edge := func(u, v, label uint32) {
		add(u, v, label, false)
		add(v, u, label, g.Directed)
	}
	if t := g.Edges; t != nil {
		return s, graph.Parallel(ctx, t.Off, threads, func(lo, hi uint32) {
			for i := t.Off[lo]; i < t.Off[hi]; i++ {
				label := graph.NoLabel
				if t.Label != nil {
					label = t.Label[i]
				}
				// Rows of one pair and label are next to each other, apart by times or properties.
				if i > t.Off[lo] && t.Src[i] == t.Src[i-1] && t.Dst[i] == t.Dst[i-1] && (t.Label == nil || label == t.Label[i-1]) {
					continue
				}
				edge(t.Src[i], t.Dst[i], label)
			}
		})
	}
	return s, graph.Parallel(ctx, g.Out.Off, threads, func(lo, hi uint32) {
		for u := lo; u < hi; u++ {
			for _, v := range g.Out.List(u) {
				if g.Directed || u < v {
					edge(u, v, graph.NoLabel)
				}
			}
		}
	})
}

// add counts a pair of vertex v. Safe for concurrent use.
func (s *Signatures) add(v uint32, p Pair) {
	word, bit := s.place(p)
	at := &s.columns[word][v]
	for {
		old := atomic.LoadUint32(at)
		if old>>bit&3 == 3 || atomic.CompareAndSwapUint32(at, old, old|(old>>bit&1<<1|1)<<bit) {
			return
		}
	}
}

// place returns the word of a pair's group, and the lower of its two bits there.
func (s *Signatures) place(p Pair) (word, bit int) {
	g := int(p.hash() % uint64(s.groups))
	return g / 16, 2 * (g % 16)
}

// Query is the signature of a pattern vertex.
type Query struct{ words []uint32 }

// Words returns the words of the signature, as many as the table has columns. The caller must not
// change them.
func (q Query) Words() []uint32 { return q.words }

// NewQuery returns the signature of a vertex that has these pairs, each of another neighbour.
func (s *Signatures) NewQuery(pairs []Pair) Query {
	q := Query{make([]uint32, len(s.columns))}
	for _, p := range pairs {
		word, bit := s.place(p)
		q.words[word] |= (q.words[word]>>bit&1<<1 | 1) << bit
	}
	return q
}

// Filter clears those bits of candidates, a bit for each vertex first ≤ v < end, whose
// signatures lack something of the query's. It reads only the columns that the query needs.
func (s *Signatures) Filter(q Query, candidates []uint64, first, end uint32) {
	for c, want := range q.words {
		if want == 0 {
			continue
		}
		column := s.columns[c]
		for i := int(first / 64); i < int(end+63)/64; i++ {
			left := candidates[i]
			for w := left; w != 0; w &= w - 1 {
				b := bits.TrailingZeros64(w)
				if column[64*i+b]&want != want {
					left &^= 1 << b
				}
			}
			candidates[i] = left
		}
	}
}

// Bytes returns the size of the table.
func (s *Signatures) Bytes() uint64 { return 4 * uint64(len(s.table)) }

// Table returns the columns of the table, one after the other. The caller must not change them.
func (s *Signatures) Table() []uint32 { return s.table }

// Columns returns the number of columns: of words of a signature.
func (s *Signatures) Columns() int { return len(s.columns) }

// ID returns the number that copies of the table are found by, as that of a relation.
func (s *Signatures) ID() uint64 { return s.id }
