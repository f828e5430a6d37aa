package plan

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// costStats is what the cost model knows of a graph and a pattern: how many
// candidates each vertex has, how many pairs each link, how uneven degrees are
// and how often wedges close.
//
// The expected number of embeddings of a set of pattern vertices is that of a
// random graph with the same degrees (Chung and Lu, 2002),
//
//	Π_v |C(v)| · Π_uv pairs(uv)/(|C(u)||C(v)|) · Π_v E[d^(k)]/E[d]^k
//
// where k is the degree of v inside the set and d^(k) a falling factorial, which
// is exact for stars; each edge that closes a triangle is more frequent than
// that by the measured factor closing. GraphPi's model (SC 2020) has the same
// inputs: n, m and the number of triangles.
type costStats struct {
	b       *binding
	pairs   []float64   // by link
	skew    [][]float64 // by vertex and degree: E[d^(k)]/E[d]^k
	closing float64     // frequency of closed wedges over that of the random graph
	class   []int       // vertices with equal ranges share a class
	memo    map[uint32]float64
}

// maxMoment is the largest k of E[d^(k)] that is measured.
const maxMoment = 6

func (b *binding) statistics() *costStats {
	if b.stats != nil {
		return b.stats
	}
	s := &costStats{b: b, memo: map[uint32]float64{}, skew: make([][]float64, b.n), class: make([]int, b.n)}
	for v := range b.n {
		s.class[v] = v
		for u := range v {
			if slices.Equal(b.vertices[u].ranges, b.vertices[v].ranges) && sameBits(b.vertices[u].bits, b.vertices[v].bits) {
				s.class[v] = s.class[u]
				s.skew[v] = s.skew[u]
				break
			}
		}
		if s.skew[v] == nil {
			s.skew[v] = b.moments(v)
		}
	}
	s.pairs = make([]float64, len(b.links))
	type end struct{ u, v, adj int }
	known := map[end]float64{}
	for i, l := range b.links {
		k := end{s.class[l.u], s.class[l.v], l.adj}
		p, ok := known[k]
		if !ok {
			p = b.countPairs(l)
			known[k] = p
		}
		s.pairs[i] = p
	}
	s.closing = b.wedgeClosing()
	b.stats = s
	return s
}

// arcs is the number of data edges at v, either way.
func (b *binding) arcs(v uint32) int {
	if b.g.Directed {
		return b.g.Out.Degree(v) + b.g.In.Degree(v)
	}
	return b.g.Out.Degree(v)
}

// sample calls f with some candidates of pattern vertex v and how many
// candidates each stands for: the first of each label range, which have the
// greatest degrees, one by one, and the rest in strides.
func (b *binding) sample(v, each int, f func(u uint32, weight float64)) {
	bv := &b.vertices[v]
	ranges := bv.ranges
	if ranges == nil {
		ranges = []Range{{0, uint32(b.g.NumVertices())}}
	}
	for _, r := range ranges {
		head := min(r.End, r.First+uint32(each))
		visit := func(u uint32, w float64) {
			if bv.bits == nil || bv.bits[u/64]>>(u%64)&1 != 0 {
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

// moments measures E[d^(k)]/E[d]^k over the candidates of v.
func (b *binding) moments(v int) []float64 {
	var total float64
	var sum [maxMoment + 1]float64
	b.sample(v, 512, func(u uint32, w float64) {
		total += w
		x := w
		d := float64(b.arcs(u))
		for k := 0; k <= maxMoment && x > 0; k++ {
			sum[k] += x
			x *= d - float64(k)
		}
	})
	out := make([]float64, maxMoment+1)
	for k := range out {
		out[k] = 1
		if mean := sum[1] / max(total, 1); k > 0 && mean > 0 {
			out[k] = max(sum[k]/max(total, 1)/math.Pow(mean, float64(k)), 1e-6)
		}
	}
	return out
}

// at is E[d^(k)]/E[d]^k for any k.
func (s *costStats) at(v, k int) float64 {
	m := s.skew[v]
	if k <= maxMoment {
		return m[k]
	}
	return m[maxMoment] * math.Pow(m[maxMoment]/m[maxMoment-1], float64(k-maxMoment))
}

// countPairs estimates the number of pairs of candidates that link l joins.
func (b *binding) countPairs(l link) float64 {
	x, y := &b.vertices[l.u], &b.vertices[l.v]
	lists := b.adjs[l.adj].Lists
	if x.ranges == nil && y.ranges == nil && x.bits == nil && y.bits == nil {
		return float64(lists.Pairs())
	}
	from, to := l.u, l.v
	if y.count < x.count {
		from, to = to, from
		lists = b.adjs[b.adjs[l.adj].Rev].Lists
	}
	target := &b.vertices[to]
	dense := 1.0 // share of the target's ranges that passes its bits
	if target.bits != nil {
		size := float64(b.g.NumVertices())
		if target.ranges != nil {
			size = 0
			for _, r := range target.ranges {
				size += float64(r.End - r.First)
			}
		}
		dense = float64(target.count) / max(size, 1)
	}
	pairs := 0.0
	var s graph.Scratch
	b.sample(from, 128, func(u uint32, w float64) {
		list := lists.List(u, &s)
		n := len(list)
		if target.ranges != nil {
			n = 0
			for _, r := range target.ranges {
				n += len(within(list, r.First, r.End))
			}
		}
		pairs += w * float64(n) * dense
	})
	return pairs
}

// within returns the part of a sorted list with first ≤ x < end.
func within(list []uint32, first, end uint32) []uint32 {
	i, _ := slices.BinarySearch(list, first)
	list = list[i:]
	j, _ := slices.BinarySearch(list, end)
	return list[:j]
}

// wedgeClosing compares how often two neighbours of a vertex are adjacent with
// how often they would be in a random graph of the same degrees.
func (b *binding) wedgeClosing() float64 {
	type item struct {
		u   uint32
		sum float64
	}
	var items []item
	var m1, m2 float64
	all := &binding{tables: b.tables, vertices: make([]boundVertex, 1)}
	all.sample(0, 512, func(u uint32, w float64) {
		d := float64(b.g.Out.Degree(u))
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
		list := b.g.Out.List(items[min(i, len(items)-1)].u)
		p, q := rng.IntN(len(list)), rng.IntN(len(list)-1)
		if q >= p {
			q++
		}
		if b.g.Has(list[p], list[q]) || b.g.Directed && b.g.Has(list[q], list[p]) {
			closed++
		}
	}
	expected := min(m2*m2/(m1*m1*m1), 1)
	return min(max((float64(closed)+0.1)/tries/expected, 1e-3), 1e6)
}

// card is the expected number of embeddings of the pattern's vertices in set.
func (s *costStats) card(set uint32) float64 {
	if x, ok := s.memo[set]; ok {
		return x
	}
	b := s.b
	x := 1.0
	edges, triangles := 0, 0
	degree := [pattern.MaxVertices]int{}
	for _, v := range members(set) {
		x *= float64(b.vertices[v].count)
	}
	var seen [pattern.MaxVertices]uint32
	for i, l := range b.links {
		if l.neg || set>>l.u&1 == 0 || set>>l.v&1 == 0 {
			continue
		}
		size := float64(b.vertices[l.u].count) * float64(b.vertices[l.v].count)
		p := min(s.pairs[i]/max(size, 1), 1)
		x *= p
		if seen[l.u]>>l.v&1 != 0 {
			continue // parallel edge: no degree and no cycle more
		}
		seen[l.u] |= 1 << l.v
		seen[l.v] |= 1 << l.u
		degree[l.u]++
		degree[l.v]++
		edges++
		triangles += bits.OnesCount32(b.near[l.u] & b.near[l.v] & set & (1<<max(l.u, l.v) - 1) &^ (1<<min(l.u, l.v) - 1))
		triangles += bits.OnesCount32(b.near[l.u] & b.near[l.v] & set &^ (1<<max(l.u, l.v) - 1))
	}
	for _, v := range members(set) {
		x *= s.at(v, degree[v])
	}
	// Each independent cycle beyond a forest was counted as in a random graph.
	cycles := edges - bits.OnesCount32(set) + components(b.near, set)
	short := min(cycles, triangles)
	x *= math.Pow(s.closing, float64(short)) * math.Pow(s.closing, 0.5*float64(cycles-short))
	s.memo[set] = x
	return x
}

// components counts the connected parts of set.
func components(near []uint32, set uint32) (n int) {
	for set != 0 {
		part := set & -set
		for {
			next := part
			for _, v := range members(part) {
				next |= near[v] & set
			}
			if next == part {
				break
			}
			part = next
		}
		set &^= part
		n++
	}
	return n
}

// extension is the expected number of candidates of v once placed are placed,
// and list the length of u's neighbour list restricted to v's label there.
func (s *costStats) extension(placed uint32, v int) float64 {
	base := s.card(placed)
	if base <= 0 {
		return 0
	}
	return s.card(placed|1<<v) / base
}

func (s *costStats) list(placed uint32, u, v int) float64 {
	k := bits.OnesCount32(s.b.near[u] & placed)
	for i, l := range s.b.links {
		if l.u == u && l.v == v || l.u == v && l.v == u {
			mean := s.pairs[i] / max(float64(s.b.vertices[u].count), 1)
			return mean * s.at(u, k+1) / max(s.at(u, k), 1e-9)
		}
	}
	return 0
}

// mergeCost is the number of elements that intersecting two sorted lists reads:
// all of both, or for lists of very different length a search for each element
// of the shorter one.
func mergeCost(x, y float64) float64 {
	if x > y {
		x, y = y, x
	}
	return min(x+y, x*2*math.Log2(y/max(x, 1)+2))
}
