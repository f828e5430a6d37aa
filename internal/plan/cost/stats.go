// Package cost estimates the work of plans and of matching orders. It has a model of the graph
// (Statistics), random walks down a plan on the graph itself (Walk, Tests, WalkEvents), and the
// prices of the methods.
//
// It reads plans and writes their estimates. It must not choose among them.
package cost

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
)

// Statistics holds the cost model's measurements of a graph and a pattern. These are the number
// of candidates of each vertex, the number of pairs of each link, how uneven degrees are, and
// how often wedges close.
//
// The expected number of embeddings of a set of pattern vertices is that of a random graph with
// the same degrees (Chung and Lu, 2002),
//
//	Π_v |C(v)| · Π_uv pairs(uv)/(|C(u)||C(v)|) · Π_v E[d^(k)]/E[d]^k
//
// where k is the degree of v inside the set and d^(k) is a falling factorial. This is exact for
// stars. An edge that closes a triangle is more frequent than that, by the measured factor
// closing. GraphPi's model (SC 2020) has the same inputs: n, m and the number of triangles.
type Statistics struct {
	b       *bind.Binding
	pairs   []float64   // by link
	skew    [][]float64 // by vertex and degree: E[d^(k)]/E[d]^k
	closing float64     // frequency of closed wedges, divided by that of the random graph; 0: not yet asked for
	Class   []int       // vertices with equal ranges share a class
	memo    memo
	// Visit is the work of a partial match besides its set operations, in elements.
	Visit float64
	// degrees, of a pattern whose candidates are reduced, takes the place of skew.
	degrees *jointDegrees
}

// maxMoment is the largest k of E[d^(k)] that is measured.
const maxMoment = 6

// NewStatistics measures b's graph and pattern for the cost model.
func NewStatistics(b *bind.Binding) *Statistics {
	s := &Statistics{b: b, Visit: VisitCost, memo: newMemo(b.N), skew: make([][]float64, b.N), Class: make([]int, b.N)}
	most := 1 // neighbours that a vertex of the pattern has, at most
	for _, near := range b.Near {
		most = max(most, min(bits.OnesCount32(near), maxMoment))
	}
	for v := range b.N {
		s.Class[v] = v
		for u := range v {
			if slices.Equal(b.Vertices[u].Ranges, b.Vertices[v].Ranges) && plan.SameBits(b.Vertices[u].Bits, b.Vertices[v].Bits) {
				s.Class[v] = s.Class[u]
				s.skew[v] = s.skew[u]
				break
			}
		}
		if s.skew[v] == nil && b.Reduction == nil {
			s.skew[v] = moments(b, v, most)
		}
	}
	if b.Reduction != nil {
		s.closing, s.Visit = 1, RowCost
		s.readDegrees(fewSampled)
		return s
	}
	s.pairs = make([]float64, len(b.Links))
	type end struct{ u, v, adj int }
	known := map[end]float64{}
	for i, l := range b.Links {
		k := end{s.Class[l.U], s.Class[l.V], l.Adj}
		p, ok := known[k]
		if !ok {
			p = countPairs(b, l)
			known[k] = p
		}
		s.pairs[i] = p
	}
	return s
}

// readDegrees makes degrees from up to most candidates of each vertex, or few more.
func (s *Statistics) readDegrees(most int) {
	s.degrees = newJointDegrees(s.b, most)
	s.pairs, s.memo = s.degrees.pairs, newMemo(s.b.N)
}

// Refine reads the degrees of more candidates where a search of that cost is worth it. It reports false if
// nothing changed.
func (s *Statistics) Refine(expected float64) bool {
	if s.degrees == nil || s.degrees.all || expected < walksPrice {
		return false
	}
	s.readDegrees(sampled)
	s.degrees.all = true
	return true
}

// closed returns the frequency of closed wedges in the graph, divided by that of the random graph. The graph keeps it.
func (s *Statistics) closed() float64 {
	if s.closing == 0 {
		x, _ := s.b.Graph.Derived(context.Background(), closingKey{}, func() (any, error) { return wedgeClosing(s.b.Graph), nil })
		s.closing = x.(float64)
	}
	return s.closing
}

// closingKey is the key of a graph's closing.
type closingKey struct{}

// arcs is the number of data edges at v, either way.
func arcs(g *graph.Graph, v uint32) int {
	if g.Directed {
		return g.Out.Degree(v) + g.In.Degree(v)
	}
	return g.Out.Degree(v)
}

// sample calls f with some of the n vertices of a graph that are in ranges and bits, as a level
// has them. It also passes the number of vertices that each one represents. The first vertices
// of each range, which have the greatest degrees, are passed one by one, and the rest in
// strides.
func sample(n int, ranges []plan.Range, bits []uint64, each int, f func(u uint32, weight float64)) {
	if ranges == nil {
		ranges = []plan.Range{{First: 0, End: uint32(n)}}
	}
	for _, r := range ranges {
		head := min(r.End, r.First+uint32(each))
		visit := func(u uint32, w float64) {
			if bits == nil || bits[u/64]>>(u%64)&1 != 0 {
				f(u, w)
			}
		}
		for u := r.First; u < head; u++ {
			visit(u, 1)
		}
		stride := float64(r.End-head) / float64(each)
		if stride < 1 {
			stride = 1
		}
		for x := float64(head) + stride/2; x < float64(r.End); x += stride {
			visit(uint32(x), stride)
		}
	}
}

// moments measures E[d^(k)]/E[d]^k over the candidates of v, for k up to most.
func moments(b *bind.Binding, v, most int) []float64 {
	var total float64
	var sum [maxMoment + 1]float64
	sample(b.Graph.NumVertices(), b.Vertices[v].Ranges, b.Vertices[v].Bits, 512, func(u uint32, w float64) {
		total += w
		x := w
		d := float64(arcs(b.Graph, u))
		for k := 0; k <= most && x > 0; k++ {
			sum[k] += x
			x *= d - float64(k)
		}
	})
	out := make([]float64, most+1)
	for k := range out {
		out[k] = 1
		if mean := sum[1] / max(total, 1); k > 0 && mean > 0 {
			out[k] = max(sum[k]/max(total, 1)/math.Pow(mean, float64(k)), 1e-6)
		}
	}
	return out
}

// at is E[d^(k)]/E[d]^k for any k.
func (s *Statistics) at(v, k int) float64 {
	m := s.skew[v]
	if k < len(m) {
		return m[k]
	}
	top := len(m) - 1
	return m[top] * math.Pow(m[top]/m[top-1], float64(k-top))
}

// spread is E[d^(k)]/E[d]^k at v, the k links of which lead to vertices in set. With several relations it is the mean
// product of the degrees in them, divided by the product of their means.
func (s *Statistics) spread(v, k int, set uint32) float64 {
	if s.degrees != nil {
		return s.degrees.spread(v, set)
	}
	return s.at(v, k)
}

// countPairs estimates the number of pairs of candidates that link l joins.
func countPairs(b *bind.Binding, l bind.Link) float64 {
	x, y := &b.Vertices[l.U], &b.Vertices[l.V]
	lists := b.Adjs[l.Adj].Lists
	if x.Ranges == nil && y.Ranges == nil && x.Bits == nil && y.Bits == nil {
		return float64(lists.Pairs())
	}
	from, to := l.U, l.V
	if y.Count < x.Count {
		from, to = to, from
		lists = b.Adjs[b.Adjs[l.Adj].Rev].Lists
	}
	target := &b.Vertices[to]
	dense := 1.0 // share of the target's ranges that passes its bits
	if target.Bits != nil {
		size := float64(b.Graph.NumVertices())
		if target.Ranges != nil {
			size = 0
			for _, r := range target.Ranges {
				size += float64(r.End - r.First)
			}
		}
		dense = float64(target.Count) / max(size, 1)
	}
	pairs := 0.0
	var s graph.Scratch
	sample(b.Graph.NumVertices(), b.Vertices[from].Ranges, b.Vertices[from].Bits, 128, func(u uint32, w float64) {
		list := lists.List(u, &s)
		n := len(list)
		if target.Ranges != nil {
			n = 0
			for _, r := range target.Ranges {
				n += len(plan.Within(list, r.First, r.End))
			}
		}
		pairs += w * float64(n) * dense
	})
	return pairs
}

// wedgeClosing compares how often two neighbours of a vertex are adjacent with
// how often they would be in a random graph of the same degrees.
func wedgeClosing(g *graph.Graph) float64 {
	type item struct {
		u   uint32
		sum float64
	}
	var items []item
	var m1, m2 float64
	sample(g.NumVertices(), nil, nil, 512, func(u uint32, w float64) {
		d := float64(g.Out.Degree(u))
		m1 += w * d
		if d > 1 {
			m2 += w * d * (d - 1)
			items = append(items, item{u, m2})
		}
	})
	if m2 == 0 {
		return 1
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const tries = 400
	closed := 0
	for range tries {
		x := rng.Float64() * m2
		i, _ := slices.BinarySearchFunc(items, x, func(it item, x float64) int {
			if it.sum < x {
				return -1
			}
			return 1
		})
		list := g.Out.List(items[min(i, len(items)-1)].u)
		p, q := rng.IntN(len(list)), rng.IntN(len(list)-1)
		if q >= p {
			q++
		}
		if g.Has(list[p], list[q]) || g.Directed && g.Has(list[q], list[p]) {
			closed++
		}
	}
	expected := min(m2*m2/(m1*m1*m1), 1)
	return min(max((float64(closed)+0.1)/tries/expected, 1e-3), 1e6)
}

// memo keeps a number for each of some sets of pattern vertices.
type memo struct {
	few  []float64 // by set, of small patterns; NaN: none
	many map[uint32]float64
}

// fewSets is the most vertices of patterns whose sets are all listed.
const fewSets = 8

func newMemo(vertices int) memo {
	if vertices > fewSets {
		return memo{many: map[uint32]float64{}}
	}
	return memo{few: slices.Repeat([]float64{math.NaN()}, 1<<vertices)}
}

func (m *memo) get(set uint32) (x float64, ok bool) {
	if m.few != nil {
		x = m.few[set]
		return x, !math.IsNaN(x)
	}
	x, ok = m.many[set]
	return x, ok
}

func (m *memo) put(set uint32, x float64) {
	if m.few != nil {
		m.few[set] = x
	} else {
		m.many[set] = x
	}
}

// Card is the expected number of embeddings of the pattern's vertices in set.
func (s *Statistics) Card(set uint32) float64 {
	if x, ok := s.memo.get(set); ok {
		return x
	}
	b := s.b
	x := 1.0
	edges, triangles := 0, 0
	degree := [pattern.MaxVertices]int{}
	for _, v := range pattern.Members(set) {
		x *= float64(b.Vertices[v].Count)
	}
	var seen [pattern.MaxVertices]uint32
	for i, l := range b.Links {
		if l.Neg || set>>l.U&1 == 0 || set>>l.V&1 == 0 {
			continue
		}
		size := float64(b.Vertices[l.U].Count) * float64(b.Vertices[l.V].Count)
		p := min(s.pairs[i]/max(size, 1), 1)
		x *= p
		if seen[l.U]>>l.V&1 != 0 {
			continue // parallel edge: no degree and no cycle more
		}
		seen[l.U] |= 1 << l.V
		seen[l.V] |= 1 << l.U
		degree[l.U]++
		degree[l.V]++
		edges++
		// A triangle is counted at the link of its two lower vertices.
		triangles += bits.OnesCount32(b.Near[l.U] & b.Near[l.V] & set &^ (1<<max(l.U, l.V) - 1))
	}
	for _, v := range pattern.Members(set) {
		x *= s.spread(v, degree[v], set)
	}
	// Each independent cycle beyond a forest was counted as in a random graph.
	cycles := edges - bits.OnesCount32(set) + pattern.Components(b.Near, set)
	if cycles > 0 {
		short := min(cycles, triangles)
		x *= math.Pow(s.closed(), float64(short)+0.5*float64(cycles-short))
	}
	s.memo.put(set, x)
	return x
}

// Extension is the expected number of candidates of v once placed are placed,
// and List the length of u's neighbour list restricted to v's label there.
func (s *Statistics) Extension(placed uint32, v int) float64 {
	base := s.Card(placed)
	if base <= 0 {
		return 0
	}
	return s.Card(placed|1<<v) / base
}

func (s *Statistics) List(placed uint32, u, v int) float64 {
	k := bits.OnesCount32(s.b.Near[u] & placed)
	for i, l := range s.b.Links {
		if l.U == u && l.V == v || l.U == v && l.V == u {
			mean := s.pairs[i] / max(float64(s.b.Vertices[u].Count), 1)
			return mean * s.spread(u, k+1, placed|1<<v) / max(s.spread(u, k, placed), 1e-9)
		}
	}
	return 0
}

// MergeCost is the number of elements that an intersection of two sorted lists reads. It is the
// length of both, or for lists of very different length a search for each element of the
// shorter one.
func MergeCost(x, y float64) float64 {
	if x > y {
		x, y = y, x
	}
	return min(x+y, x*2*math.Log2(y/max(x, 1)+2))
}
