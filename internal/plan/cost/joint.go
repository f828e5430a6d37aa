package cost

import (
	"math"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan/bind"
)

// jointDegrees has the degrees of candidates in each relation of a pattern, for patterns whose
// candidates are reduced. In a graph of many edge labels the vertices with edges of two labels are few, and often
// the same: the degrees in one relation say little about those in another. Only neighbours that are candidates
// count. Each entry is exact, or of a sample of the candidates.
type jointDegrees struct {
	links [][]bind.Link         // of each vertex, seen from it: U is the vertex
	d     [][][]float64         // by vertex, link and sampled candidate
	mean  [][]float64           // by vertex and link
	memo  map[[2]uint32]float64 // by vertex and set of neighbours
	pairs []float64             // by Binding.Links
	all   bool                  // a sample of more candidates would say nothing else, or was taken
}

// sampled is the number of candidates of a vertex whose degrees are read, and fewSampled the number where a
// rough estimate does.
const sampled, fewSampled = 512, 96

// newJointDegrees reads the degrees of up to most candidates of each vertex.
func newJointDegrees(b *bind.Binding, most int) *jointDegrees {
	j := &jointDegrees{
		links: make([][]bind.Link, b.N), d: make([][][]float64, b.N), mean: make([][]float64, b.N),
		memo: map[[2]uint32]float64{}, pairs: make([]float64, len(b.Links)), all: true,
	}
	// Links between the same two vertices are one: its pairs have all their edges.
	ends := func(l bind.Link) [2]int { return [2]int{min(l.U, l.V), max(l.U, l.V)} }
	also := make([][]bind.Link, len(b.Links))
	for i, l := range b.Links {
		first := slices.IndexFunc(b.Links, func(o bind.Link) bool { return !o.Neg && ends(o) == ends(l) })
		if !l.Neg && first != i {
			also[first] = append(also[first], l)
			j.pairs[i] = math.Inf(1)
		}
	}
	var scratch graph.Scratch
	members := make([]uint32, 0, 2*most)
	leaf := func(v int) bool { return b.Near[v] != 0 && b.Near[v]&(b.Near[v]-1) == 0 }
	for v := range b.N {
		if leaf(v) && !leaf(bits.TrailingZeros32(b.Near[v])) {
			continue // its neighbour tells the pairs, and there are no other degrees to go with its own
		}
		members = sampleBits(members[:0], b.Vertices[v].Bits, b.Vertices[v].Count, most)
		j.all = j.all && len(members) == b.Vertices[v].Count
		for i, l := range b.Links {
			if l.Neg || l.U != v && l.V != v || math.IsInf(j.pairs[i], 1) {
				continue
			}
			if l.V == v {
				l = bind.Link{U: v, V: l.U, Adj: b.Adjs[l.Adj].Rev}
			}
			lists, to := b.Adjs[l.Adj].Lists, b.Vertices[l.V].Bits
			d, sum := make([]float64, len(members)), 0.0
			for k, u := range members {
				n := 0
				for _, x := range lists.List(u, &scratch) {
					if to[x/64]>>(x%64)&1 != 0 && (also[i] == nil || joined(b, also[i], v, u, x)) {
						n++
					}
				}
				d[k] = float64(n)
				sum += d[k]
			}
			mean := sum / max(float64(len(members)), 1)
			j.links[v], j.d[v], j.mean[v] = append(j.links[v], l), append(j.d[v], d), append(j.mean[v], mean)
			if j.pairs[i] == 0 || b.Vertices[v].Count < b.Vertices[l.V].Count {
				j.pairs[i] = mean * float64(b.Vertices[v].Count)
			}
		}
	}
	return j
}

// joined reports whether links between two vertices of the pattern, of which one is v, join u, in v's place,
// and x.
func joined(b *bind.Binding, links []bind.Link, v int, u, x uint32) bool {
	for _, l := range links {
		if l.U != v {
			u, x = x, u
		}
		if !b.Adjs[l.Adj].Lists.Has(u, x) {
			return false
		}
		if l.U != v {
			u, x = x, u
		}
	}
	return true
}

// sampleBits appends the vertices of a bitmap of count, or an even sample of them: from most to twice as many.
func sampleBits(out []uint32, words []uint64, count, most int) []uint32 {
	step := max(count/most, 1)
	next := 0     // bits before the next one of the sample, in words that are left
	left := count // bits in them
	for at, w := range words {
		if w == 0 {
			continue
		}
		if left == 0 {
			break // vertices of large degrees, which have most of the relations, come first
		}
		n := bits.OnesCount64(w)
		left -= n
		for passed := 0; next < n; next += step {
			for ; passed < next; passed++ {
				w &= w - 1
			}
			out = append(out, uint32(64*at+bits.TrailingZeros64(w)))
		}
		next -= n
	}
	return out
}

// spread is the mean product of v's degrees in the links to vertices in set, divided by the product
// of the means. A relation that several of the links have gives one neighbour less each time.
func (j *jointDegrees) spread(v int, set uint32) float64 {
	near := uint32(0)
	for _, l := range j.links[v] {
		near |= 1 << l.V
	}
	key := [2]uint32{uint32(v), near & set}
	if x, ok := j.memo[key]; ok {
		return x
	}
	var use, again []int
	means := 1.0
	for i, l := range j.links[v] {
		if set>>l.V&1 == 0 {
			continue
		}
		n := 0
		for _, o := range use {
			if j.links[v][o].Adj == l.Adj {
				n++
			}
		}
		use, again = append(use, i), append(again, n)
		means *= j.mean[v][i]
	}
	x := 1.0
	if len(use) > 1 && means > 0 {
		sum := 0.0
		n := len(j.d[v][0])
		for k := range n {
			p := 1.0
			for i, o := range use {
				p *= max(j.d[v][o][k]-float64(again[i]), 0)
			}
			sum += p
		}
		x = max(sum/float64(n)/means, 1e-6)
	}
	j.memo[key] = x
	return x
}
