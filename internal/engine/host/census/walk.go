package census

import (
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// root is one worker's state: the current root, with the neighbours that it shares with others.
type root struct {
	csr  *graph.CSR
	size int // vertices of the patterns
	stop *atomic.Bool
	sums escape.Sums

	memory *crew.Memory // for the arrays

	v     uint32
	list  []uint32 // its neighbours
	share []uint32 // by vertex: neighbours in common with the root
	met   []uint32 // the vertices for which share is not 0
	at    []uint32 // by vertex: its place in list + 1, or 0
	// By place in list + 1, with 0 at 0 for vertices that are not neighbours.
	degree, closed []uint64

	matrix
}

func newRoot(csr *graph.CSR, size int, stop *atomic.Bool, m *crew.Memory) *root {
	n := csr.NumVertices()
	return &root{csr: csr, size: size, stop: stop, memory: m, share: crew.Take[uint32](m, n), at: crew.Take[uint32](m, n)}
}

// visit adds up the values of root v. If it must stop, it returns at once, and the sums have no
// meaning.
func (r *root) visit(v uint32) {
	if r.size < 5 {
		r.visitOnce(v)
		return
	}
	list := r.csr.List(v)
	d := uint64(len(list))
	if d == 0 {
		return
	}
	r.v, r.list = v, list
	s := &r.sums
	s.Wedge.Add(escape.Choose2(d))
	s.Star4.Add(escape.Choose4(d))
	r.walk()
	degree, closed := r.degree[:d+1], r.closed[:d+1]
	triangles := uint64(0) // t(v), twice
	for i, u := range list {
		degree[i+1] = uint64(r.csr.Degree(u))
		closed[i+1] = uint64(r.share[u])
		triangles += closed[i+1]
	}
	s.Triangle.Add(triangles)
	if d > 1 {
		s.Tailed.Mul(triangles, d-2)
	}
	triangles /= 2
	var far, squares, pairs uint64 // Σ (d(u)−1), its squares; Σ C(t(vu),2)
	for i := range list {
		t, du := closed[i+1], degree[i+1]
		far += du - 1
		squares += (du - 1) * (du - 1)
		pairs += escape.Choose2(t)
	}
	s.Path4.Mul(d-1, far)
	s.Diamond.Add(pairs)
	cycles := uint64(0) // c(v)
	for _, w := range r.met {
		c := uint64(r.share[w])
		cycles += c * (c - 1)
	}
	cycles = (cycles - d*(d-1)) / 2 // not with v itself
	s.Cycle4.Add(cycles)
	if triangles > 0 {
		for i, u := range list {
			r.at[u] = uint32(i + 1)
		}
	}
	r.five(d, triangles, cycles, far, squares)
	if triangles > 0 {
		r.cliques()
		for _, u := range list {
			r.at[u] = 0
		}
	}
	for _, w := range r.met {
		r.share[w] = 0
	}
}

// walk goes to the neighbours' neighbours, the root among them.
func (r *root) walk() {
	met := r.met[:0]
	for _, u := range r.list {
		nb := r.csr.List(u)
		k := len(met)
		if cap(met) < k+len(nb) {
			met = append(crew.Take[uint32](r.memory, 2*(k+len(nb)))[:0], met...)
		}
		// A first meeting cannot be predicted: store always, advance on one.
		buf := met[k : k+len(nb)]
		fresh := 0
		for _, w := range nb {
			c := r.share[w]
			r.share[w] = c + 1
			buf[fresh] = w
			fresh += int((uint64(c) - 1) >> 63)
		}
		met = met[:k+fresh]
	}
	r.met = met
	if n := len(r.list) + 1; len(r.degree) < n {
		r.degree, r.closed = make([]uint64, 2*n), make([]uint64, 2*n)
	}
}

// five adds to the patterns of five vertices that are sums over the root and its
// edges.
func (r *root) five(d, triangles, cycles, far, squares uint64) {
	s := &r.sums
	degree, closed := r.degree, r.closed
	s.Fork.Mul(escape.Choose2(d-1), far)
	s.Path5.Mul(far, far)
	s.Path5.Sub(squares)
	s.Bowtie.Add(escape.Choose2(triangles))
	if d > 1 {
		s.Banner.Mul(cycles, d-2)
		s.Cricket.Mul(triangles, escape.Choose2(d-2))
	}
	for _, w := range r.met {
		if c := uint64(r.share[w]); c > 2 && w != r.v {
			s.K23.Add(escape.Choose3(c))
		}
	}
	r.closedWalks()
	for i, u := range r.list {
		t, du := closed[i+1], degree[i+1]
		s.Lollipop.Mul(triangles-t, du-1)
		if t == 0 {
			continue
		}
		// Over the neighbours x of u: s(v,x); over those that v shares, d(x) and
		// t(vx).
		var shared, degrees, further uint64
		for _, x := range r.csr.List(u) {
			at := r.at[x]
			shared += uint64(r.share[x])
			degrees += degree[at]
			further += closed[at]
		}
		// Not x = v, and of the s(v,x) not u.
		cyclesAt := shared - d - (du - 1) // c(vu)
		s.House.Mul(cyclesAt, t)
		s.Bull.Mul(t*(d-2), du-2)
		s.Book.Add(escape.Choose3(t))
		s.Kite.Mul(t-1, degrees-2*t)
		s.Gem.Mul(t-1, further-t)
		if t > 1 {
			s.Dart.Mul(escape.Choose2(t), d-3)
		}
	}
}

// closedWalks counts the walks of length five from the root back to it: two of
// length two that meet over an edge.
func (r *root) closedWalks() {
	for _, w := range r.met {
		if r.stop.Load() {
			return
		}
		// Each edge is met from both ends: once is enough.
		x := uint64(0)
		for _, z := range r.csr.List(w) {
			if z >= w {
				break
			}
			x += uint64(r.share[z])
		}
		r.sums.Cycle5.Mul(2*x, uint64(r.share[w]))
	}
}
