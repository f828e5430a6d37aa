package fine

import (
	"math/bits"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// The structs of fine/candidates.cuh, fine/rows.cuh and fine/index.cuh.
type (
	span   struct{ First, End uint32 }
	demand struct{ Adj, SpansAt, Spans, Least uint32 }
	wanted struct{ SpansAt, Spans, DemandsAt, Demands, Degree, DegreeAdj, Bitmap, Bitmapped uint32 } // Vertex
	edge   struct{ From, To, Adj, _ uint32 }
	link   struct {
		Bits                       uint64
		Row, Level, ToFirst, Words uint32
	}
	ban       struct{ Level, Adj, Back, _ uint32 }
	place     struct{ LinksAt, Links, BansAt, Bans, Apart, Below, Above, Vertex uint32 }
	tailGroup struct {
		Members uint32
		Blocks  [1<<maxGroup - 1]uint32
	}
	rowsOf struct {
		Bits                                            uint64
		Row, From, To, Adj, First, Span, ToFirst, Words uint32
		_                                               [2]uint32
	}

	candidates struct {
		Vertices, Spans, Demands, Edges, Near uint64
		Marks, Alive, Rank, IDs, Survey       uint64
		Query, EdgeCount, Round, _            uint32
	}
	index struct {
		Rows, Sizes, Off, Adj, Bits, Keys, Slots, Total uint64
		Edges, _                                        uint32
	}
	table struct {
		Places, Links, Bans, Groups, Column uint64
		Levels, Blocks, Singles, GroupCount uint32
		First, _                            uint32
	}
)

// conditions are the tables of a query that the device filters by.
type conditions struct {
	vertices []wanted
	spans    []span
	demands  []demand
	edges    []edge
	near     []uint32
}

func (q *query) conditions() (c conditions) {
	g := q.p.Graph
	bitmaps := uint32(0)
	for i := range q.p.Levels {
		l := &q.p.Levels[i]
		w := wanted{SpansAt: uint32(len(c.spans)), DemandsAt: uint32(len(c.demands)), Degree: uint32(l.MinDegree), DegreeAdj: uint32(l.MinDegreeAdj)}
		for _, r := range rangesOf(g, l) {
			c.spans = append(c.spans, span{r.First, r.End})
		}
		w.Spans = uint32(len(c.spans)) - w.SpansAt
		if l.Bits != nil {
			w.Bitmap, w.Bitmapped = bitmaps, 1
			bitmaps++
		}
		for _, n := range q.needs(i) {
			d := demand{Adj: uint32(n.adj), SpansAt: uint32(len(c.spans)), Least: n.least}
			if n.ranges == nil {
				c.spans = append(c.spans, span{0, uint32(g.NumVertices())})
			}
			for _, r := range n.ranges {
				c.spans = append(c.spans, span{r.First, r.End})
			}
			d.Spans = uint32(len(c.spans)) - d.SpansAt
			c.demands = append(c.demands, d)
		}
		w.Demands = uint32(len(c.demands)) - w.DemandsAt
		c.vertices = append(c.vertices, w)
	}
	c.near = make([]uint32, len(q.p.Adjs)*maxQuery)
	for _, a := range q.arcs {
		if !a.neg {
			c.near[a.adj*maxQuery+a.from] |= 1 << a.to
		}
		c.edges = append(c.edges, edge{From: uint32(a.from), To: uint32(a.to), Adj: uint32(a.adj)})
	}
	return c
}

// plot lays out the rows of the candidate graph and the table of a search in this
// order.
type plot struct {
	*query
	s        *survey
	arcs     []uint64
	o        order
	rows     []rowsOf
	total    uint64 // rows
	members  uint64 // of all rows
	words    uint64 // of all bitmaps
	places   []place
	links    []link
	bans     []ban
	groups   []tailGroup
	singles  int
	levelOf  []int       // of a pattern vertex; of the tail: -1
	rowsByID map[int]int // of an arc of the query: which of rows
}

func (q *query) plot(s *survey, arcs []uint64, o order) *plot {
	p := &plot{query: q, s: s, arcs: arcs, o: o, levelOf: make([]int, q.n), rowsByID: map[int]int{}}
	for v := range p.levelOf {
		p.levelOf[v] = -1
	}
	for l, v := range o.walk {
		pl := p.place([]int{v}, l)
		pl.Vertex = uint32(v)
		p.places = append(p.places, pl)
		p.levelOf[v] = l
	}
	p.groups = make([]tailGroup, len(o.groups))
	// Blocks of one vertex first: an empty one leaves no match.
	for size := 1; size <= maxGroup; size++ {
		for i, g := range o.groups {
			p.groups[i].Members = uint32(len(g))
			for set := uint32(1); set < 1<<len(g); set++ {
				if bits.OnesCount32(set) != size {
					continue
				}
				var of []int
				for _, k := range vertices(set) {
					of = append(of, g[k])
				}
				p.groups[i].Blocks[set-1] = uint32(len(p.places) - len(o.walk))
				p.places = append(p.places, p.place(of, len(o.walk)))
			}
		}
		if size == 1 {
			p.singles = len(p.places) - len(o.walk)
		}
	}
	return p
}

// place is the set of conditions of some pattern vertices on one data vertex, as far as they
// concern the levels before end.
func (p *plot) place(of []int, end int) place {
	out := place{LinksAt: uint32(len(p.links)), BansAt: uint32(len(p.bans))}
	apart, linked := uint32(0), uint32(0)
	for _, v := range of {
		for i, a := range p.query.arcs {
			l := p.levelOf[a.from]
			switch {
			case a.to != v || l < 0:
			case a.neg:
				p.bans = append(p.bans, ban{Level: uint32(l), Adj: uint32(a.adj), Back: uint32(p.p.Adjs[a.adj].Rev)})
			default:
				r := p.rows[p.rowsFor(i)]
				p.links = append(p.links, link{
					Bits: r.Bits - uint64(r.First)*uint64(r.Words), Row: r.Row - r.First, Level: uint32(l), ToFirst: r.ToFirst, Words: r.Words,
				})
			}
		}
		for l, u := range p.o.walk[:end] {
			if p.distinct && p.s.Overlap[v]>>u&1 != 0 {
				apart |= 1 << l
			}
			if p.linked[v]>>u&1 != 0 {
				linked |= 1 << l
			}
			if p.less[v]>>u&1 != 0 {
				out.Below |= 1 << l
			}
			if p.less[u]>>v&1 != 0 {
				out.Above |= 1 << l
			}
		}
	}
	// No vertex is its own neighbour.
	out.Apart = apart &^ linked
	out.Links, out.Bans = uint32(len(p.links))-out.LinksAt, uint32(len(p.bans))-out.BansAt
	return out
}

// rowsFor is which of rows arc i has; they are added where there are none.
func (p *plot) rowsFor(i int) int {
	k, ok := p.rowsByID[i]
	if ok {
		return k
	}
	a := p.query.arcs[i]
	r := rowsOf{
		Bits: p.words, Row: uint32(p.total), From: uint32(a.from), To: uint32(a.to), Adj: uint32(a.adj),
		First: p.s.First[a.from], Span: p.s.End[a.from] - p.s.First[a.from], ToFirst: p.s.First[a.to],
		Words: (p.s.End[a.to] - p.s.First[a.to] + 31) / 32,
	}
	p.rowsByID[i] = len(p.rows)
	p.rows = append(p.rows, r)
	p.total += uint64(r.Span)
	p.words += uint64(r.Span) * uint64(r.Words)
	p.members += p.arcs[i]
	return p.rowsByID[i]
}

// columns says where a pattern vertex of the plan's order is matched here.
func (p *plot) columns() []uint32 {
	out := make([]uint32, p.n)
	for v, l := range p.levelOf {
		out[v] = uint32(max(l, 0))
	}
	return out
}

// store gathers tables for one upload.
type store struct{ words []uint64 }

// put adds a table and returns where it begins behind the address of the store.
func put[T any](s *store, rows []T) uint64 {
	at := len(s.words)
	bytes := len(rows) * int(bytesOf[T]())
	s.words = append(s.words, make([]uint64, (bytes+15)/16*2)...)
	if bytes > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&s.words[at])), bytes), unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), bytes))
	}
	return uint64(8 * at)
}

// upload copies a store to the device, where it stays until the end of the run.
func (s *store) upload(x *session.Exec) (uint64, error) {
	b, err := x.Scratch("the tables of a pattern", int64(8*len(s.words)))
	if err != nil {
		return 0, err
	}
	return b.Ptr, cuda.Upload(x.Context(), b, 0, s.words)
}
