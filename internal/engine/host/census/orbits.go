package census

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// Orbits of the connected graphs of two to four vertices, in the numbers of Pržulj (Biological network comparison using graphlet
// degree distribution, Bioinformatics 2007).
const (
	orbitEdge         = iota // 0
	orbitWedgeEnd            // 1
	orbitWedgeMiddle         // 2
	orbitTriangle            // 3
	orbitPathEnd             // 4: of four vertices
	orbitPathInner           // 5
	orbitStarLeaf            // 6: of a star of three
	orbitStarMiddle          // 7
	orbitCycle               // 8: of four
	orbitTail                // 9: the end of the tail of a tailed triangle
	orbitTailedFar           // 10: its two vertices without a tail
	orbitTailedMiddle        // 11: its vertex with the tail
	orbitDiamondOuter        // 12
	orbitDiamondInner        // 13
	orbitClique              // 14: of four
	orbitsOfFour             // their number
	orbitsOfThree     = orbitPathEnd
)

// NumOrbits is the number of orbits of connected graphs of two to k vertices, or 0 if Orbits does not count those of k.
func NumOrbits(k int) int {
	switch k {
	case 3:
		return orbitsOfThree
	case 4:
		return orbitsOfFour
	case 5:
		return escape.NumOrbits
	}
	return 0
}

// Orbits counts for each vertex of a graph without directions how often it is at each orbit of the connected graphs of two to k
// vertices, k = 3, 4 or 5: how many subgraphs, or of induced ones, have it there. The result is by orbit and vertex. Numbers of more than
// 64 bits are engine.ErrOverflow. If ctx ends, the error is the context's. Of o it uses Threads and Crew. progress is told
// vertices of the passes.
//
// Subgraphs are counted by sums over a vertex's neighbours, the triangles of each edge, cycles of four from their vertex of the
// highest degree, and cliques in a matrix of each vertex's neighbours of higher degree; and made numbers of induced ones by subtraction. Five
// vertices have passes of their own (orbits5.go lists them). The idea is that of ESCAPE's counts at vertices (Pashanasangi and Seshadhri, Efficiently counting vertex orbits of all 5-vertex subgraphs, by EVOKE, WSDM
// 2020); that of visiting cycles and cliques by degree is Chiba and Nishizeki's (1985).
func Orbits(ctx context.Context, csr *graph.CSR, k int, induced bool, o engine.Options, progress func(done, total uint64)) ([][]uint64, error) {
	if NumOrbits(k) == 0 {
		return nil, fmt.Errorf("census: orbits of %d vertices", k)
	}
	c, err := newOrbitCounts(ctx, csr, k, o, progress)
	if err != nil {
		return nil, err
	}
	c.induced = induced
	if err := c.count(); err != nil {
		return nil, err
	}
	if c.five.order != nil {
		c.unsort()
	}
	return c.n, nil
}

// orbitCounts is a run of Orbits. Neighbours of higher degree are the "higher" ones; equal degrees are told apart by the vertices' numbers.
type orbitCounts struct {
	ctx      context.Context
	csr      *graph.CSR
	k        int
	induced  bool
	o        engine.Options
	progress func(done, total uint64)
	pass     int // of passes
	passes   int

	n    [][]uint64 // by orbit and vertex
	rank []uint32   // 0 is the vertex of the highest degree
	off  []uint64   // where a vertex's higher neighbours begin in higher
	// higher are the higher neighbours of all vertices, those of one vertex by their numbers, and triangles is the number of triangles of
	// each of these edges.
	higher    []uint32
	triangles []uint32

	five fives
}

func newOrbitCounts(ctx context.Context, csr *graph.CSR, k int, o engine.Options, progress func(done, total uint64)) (*orbitCounts, error) {
	n := csr.NumVertices()
	need := int64(n)*int64(8*NumOrbits(k)+4+8) + 4*int64(len(csr.Adj))
	if k == 5 {
		need += fivesMemory(csr, o.Threads)
	}
	if err := memory.Check("orbits", uint64(need), o.Memory); err != nil {
		return nil, err
	}
	if err := memory.ShareOf(ctx).Take("orbits", need); err != nil {
		return nil, err
	}
	c := &orbitCounts{ctx: ctx, csr: csr, k: k, o: o, progress: progress, rank: make([]uint32, n), off: make([]uint64, n+1)}
	most := uint64(0)
	for v := range uint32(n) {
		most = max(most, uint64(csr.Degree(v)))
	}
	// Choices of three neighbours, and of a neighbour and an edge, are the largest numbers; and of five vertices, choices of four, and of two neighbours
	// and an edge, also where vertices may be the same.
	switch adj := uint64(len(csr.Adj)); {
	case k == 4 && (most > mostDegree || mulOver(most, adj)), k == 5 && (most > mostDegree5 || mulOver(most*most, adj)):
		return nil, overflow{k, most}
	}
	for range NumOrbits(k) {
		c.n = append(c.n, make([]uint64, n))
	}
	begin := make([]uint32, most+2) // of the vertices of a degree, the highest degree first
	for v := range uint32(n) {
		begin[most-uint64(csr.Degree(v))+1]++
	}
	for d := range most + 1 {
		begin[d+1] += begin[d]
	}
	for v := range uint32(n) {
		at := &begin[most-uint64(csr.Degree(v))]
		c.rank[v] = *at
		*at++
	}
	if k == 5 {
		c.sortByDegree()
	}
	for v := range uint32(n) {
		c.off[v+1] = c.off[v]
		for _, u := range c.csr.List(v) {
			if c.rank[u] < c.rank[v] {
				c.off[v+1]++
			}
		}
	}
	c.higher, c.triangles = make([]uint32, c.off[n]), make([]uint32, c.off[n])
	return c, nil
}

// overflow is an engine.ErrOverflow of a graph whose largest degree may lead to numbers beyond 63 bits.
type overflow struct {
	k    int
	most uint64
}

func (e overflow) Error() string {
	return fmt.Sprintf("numbers of orbits of up to %d vertices may pass 2^63-1, the largest that they can be: a vertex has %d neighbours", e.k, e.most)
}

func (e overflow) Is(err error) bool { return err == engine.ErrOverflow }

// mostDegree is the largest degree whose choices of three neighbours have 63 bits, and mostDegree5 that whose choices of four have.
const (
	mostDegree  = 3_800_000
	mostDegree5 = 121_900
)

// mulOver reports whether a product has more than 63 bits.
func mulOver(a, b uint64) bool {
	high, low := bits.Mul64(a, b)
	return high > 0 || low > 1<<63
}

// above is the higher neighbours of v, and the place of the first among all.
func (c *orbitCounts) above(v uint32) (list []uint32, at uint64) {
	return c.higher[c.off[v]:c.off[v+1]], c.off[v]
}

// visitFunc is a visitor without a state.
type visitFunc func(v uint32)

func (f visitFunc) visit(v uint32) { f(v) }

// pass is a visit of all vertices by workers, each with a visitor of its own.
type pass func(stop *atomic.Bool, m *crew.Memory) visitFunc

// plain is a pass of visitors without a state.
func plain(f visitFunc) pass { return func(*atomic.Bool, *crew.Memory) visitFunc { return f } }

// each lets workers visit all vertices.
func (c *orbitCounts) each(p pass) error {
	n := uint64(c.csr.NumVertices())
	units := min(n, max(uint64(c.o.Threads)*unitsEach, (uint64(len(c.csr.Adj))+n)/unitWork))
	progress := c.progress
	if progress != nil {
		progress = func(done, _ uint64) { c.progress(uint64(c.pass)*n+done, uint64(c.passes)*n) }
	}
	_, err := visitAll(c.ctx, c.csr, c.o, progress, units, func(stop *atomic.Bool, m *crew.Memory) visitor { return p(stop, m) })
	return err
}

func (c *orbitCounts) count() error {
	n := c.csr.NumVertices()
	passes := []pass{
		plain(c.split),
		func(*atomic.Bool, *crew.Memory) visitFunc { return c.findTriangles(make([]uint32, n)) },
		plain(c.addEdges),
	}
	if c.k >= 4 {
		passes = append(passes, plain(c.addPaths), func(*atomic.Bool, *crew.Memory) visitFunc {
			return (&fours{c: c, at: make([]uint32, n), walks: make([]uint32, n)}).visit
		})
	}
	fours := len(passes)
	if c.k == 5 {
		passes = append(passes, c.fivePasses()...)
	}
	passes = append(passes, plain(c.finish))
	c.passes = len(passes)
	for i, p := range passes {
		c.pass = i
		matrices := int64(0)
		switch {
		case c.k >= 4 && i == fours-1:
			matrices = c.matrices()
		case c.k == 5 && i == fours:
			c.prepareFives()
			matrices = c.matrices5()
		}
		if matrices > 0 {
			if err := memory.Check("matrices of neighbourhoods", uint64(matrices), c.o.Memory); err != nil {
				return err
			}
			if err := memory.ShareOf(c.ctx).Take("matrices of neighbourhoods", matrices); err != nil {
				return err
			}
		}
		if err := c.each(p); err != nil {
			return err
		}
	}
	return nil
}

// finish makes v's numbers those of subgraphs, or of induced ones.
func (c *orbitCounts) finish(v uint32) {
	var all [escape.NumOrbits]uint64
	n := all[:len(c.n)]
	for i := range n {
		n[i] = c.n[i][v]
	}
	if c.k == 5 {
		subgraphs(&all)
	} else {
		n[orbitTriangle] /= 2
	}
	if c.induced {
		escape.InduceOrbits(n)
	}
	for i := range n {
		c.n[i][v] = n[i]
	}
}

// matrices is the most bytes of all workers' matrices of higher neighbours.
func (c *orbitCounts) matrices() int64 {
	most := uint64(0)
	for v := range c.csr.NumVertices() {
		most = max(most, c.off[v+1]-c.off[v])
	}
	words := int64(most+63) / 64
	return int64(c.o.Threads) * 8 * int64(most) * words * 5 / 4
}

// split finds the higher neighbours of v.
func (c *orbitCounts) split(v uint32) {
	list, _ := c.above(v)
	i := 0
	for _, u := range c.csr.List(v) {
		if c.rank[u] < c.rank[v] {
			list[i] = u
			i++
		}
	}
}

// findTriangles counts the triangles of each edge, from each triangle's vertex of the lowest degree. at is 0 for all vertices, before and after.
func (c *orbitCounts) findTriangles(at []uint32) visitFunc {
	return func(v uint32) {
		c.eachTriangle(v, at, func(_, _ uint32, vu, uw, vw uint64) {
			atomic.AddUint32(&c.triangles[vu], 1)
			atomic.AddUint32(&c.triangles[uw], 1)
			atomic.AddUint32(&c.triangles[vw], 1)
		})
	}
}

// eachTriangle calls f for each triangle of v with two higher neighbours u and w, of which w is the higher one, with the places of its edges.
func (c *orbitCounts) eachTriangle(v uint32, at []uint32, f func(u, w uint32, vu, uw, vw uint64)) {
	list, begin := c.above(v)
	if len(list) < 2 {
		return
	}
	for i, u := range list {
		at[u] = uint32(i + 1)
	}
	for i, u := range list {
		next, of := c.above(u)
		for j, w := range next {
			if k := at[w]; k > 0 {
				f(u, w, begin+uint64(i), of+uint64(j), begin+uint64(k-1))
			}
		}
	}
	for _, u := range list {
		at[u] = 0
	}
}

// add adds to the number of an orbit at a vertex that other workers may have.
func (c *orbitCounts) add(orbit int, v uint32, n uint64) {
	if n > 0 {
		atomic.AddUint64(&c.n[orbit][v], n)
	}
}

// choose4 is C(n,4) for degrees of up to mostDegree5.
func choose4(n uint64) uint64 {
	if n < 4 {
		return 0
	}
	high, low := bits.Mul64(choose3(n), n-3)
	q, _ := bits.Div64(high, low, 4)
	return q
}

// choose3 is C(n,3) for degrees of up to mostDegree, where a product in escape.Choose3 has more than 64 bits.
func choose3(n uint64) uint64 {
	if n < 3 {
		return 0
	}
	high, low := bits.Mul64(escape.Choose2(n), n-2)
	q, _ := bits.Div64(high, low, 3)
	return q
}

// addEdges adds what v's degree tells, and for each edge to a higher neighbour what the ends' degrees and the edge's triangles tell.
// orbitTriangle gets each triangle twice, until all passes are over.
func (c *orbitCounts) addEdges(v uint32) {
	d := uint64(c.csr.Degree(v))
	c.add(orbitEdge, v, d)
	c.add(orbitWedgeMiddle, v, escape.Choose2(d))
	if c.k >= 4 {
		c.add(orbitStarMiddle, v, choose3(d))
	}
	list, at := c.above(v)
	for i, u := range list {
		du, t := uint64(c.csr.Degree(u)), uint64(c.triangles[at+uint64(i)])
		c.add(orbitWedgeEnd, v, du-1)
		c.add(orbitWedgeEnd, u, d-1)
		c.add(orbitTriangle, v, t)
		c.add(orbitTriangle, u, t)
		if c.k == 3 {
			continue
		}
		c.add(orbitStarLeaf, v, escape.Choose2(du-1))
		c.add(orbitStarLeaf, u, escape.Choose2(d-1))
		inner := (d-1)*(du-1) - t
		c.add(orbitPathInner, v, inner)
		c.add(orbitPathInner, u, inner)
		if t > 0 {
			c.add(orbitTailedFar, v, t*(du-2))
			c.add(orbitTailedFar, u, t*(d-2))
			c.add(orbitDiamondInner, v, escape.Choose2(t))
			c.add(orbitDiamondInner, u, escape.Choose2(t))
		}
	}
}

// addPaths adds what needs the wedges and triangles of the neighbours: of those, n still has twice the number.
func (c *orbitCounts) addPaths(v uint32) {
	d, twice := uint64(c.csr.Degree(v)), c.n[orbitTriangle][v]
	if twice > 0 {
		c.add(orbitTailedMiddle, v, twice/2*(d-2))
	}
	// A path of v, u, w and x; x may not be v.
	ends, tails := uint64(0), uint64(0)
	for _, u := range c.csr.List(v) {
		ends += c.n[orbitWedgeEnd][u] - (d - 1)
		tails += c.n[orbitTriangle][u] / 2
	}
	c.add(orbitPathEnd, v, ends-twice)
	c.add(orbitTail, v, tails-twice) // each of v's triangles has v and two of its neighbours
}

// fours is a worker that counts cycles, cliques and the outer vertices of diamonds. at and walks are 0 for all vertices, before and after a visit.
type fours struct {
	c         *orbitCounts
	at, walks []uint32
	met       []uint32
	rows      []uint64
}

func (x *fours) visit(v uint32) {
	x.cycles(v)
	x.dense(v)
}

// cycles counts the cycles of four whose vertex of the highest degree is v.
func (x *fours) cycles(v uint32) {
	c, rank := x.c, x.c.rank[v]
	met := x.met[:0]
	for _, u := range c.csr.List(v) {
		if c.rank[u] < rank {
			continue
		}
		for _, w := range c.csr.List(u) {
			if c.rank[w] > rank {
				if x.walks[w] == 0 {
					met = append(met, w)
				}
				x.walks[w]++
			}
		}
	}
	all := uint64(0)
	for _, w := range met {
		n := escape.Choose2(uint64(x.walks[w]))
		all += n
		c.add(orbitCycle, w, n)
	}
	c.add(orbitCycle, v, all)
	if all > 0 {
		for _, u := range c.csr.List(v) {
			if c.rank[u] < rank {
				continue
			}
			n := uint64(0)
			for _, w := range c.csr.List(u) {
				if c.rank[w] > rank {
					n += uint64(x.walks[w] - 1)
				}
			}
			c.add(orbitCycle, u, n)
		}
	}
	for _, w := range met {
		x.walks[w] = 0
	}
	x.met = met
}

// dense counts the cliques whose vertex of the lowest degree is v, and the diamonds on the other side of each of its triangles' edges.
func (x *fours) dense(v uint32) {
	c := x.c
	list, _ := c.above(v)
	if len(list) < 2 {
		return
	}
	words := (len(list) + 63) / 64
	if need := len(list) * words; cap(x.rows) < need {
		x.rows = make([]uint64, need+need/4)
	}
	rows := x.rows[:len(list)*words]
	clear(rows)
	edges := 0
	c.eachTriangle(v, x.at, func(u, w uint32, vu, uw, vw uint64) {
		c.add(orbitDiamondOuter, v, uint64(c.triangles[uw]-1))
		c.add(orbitDiamondOuter, u, uint64(c.triangles[vw]-1))
		c.add(orbitDiamondOuter, w, uint64(c.triangles[vu]-1))
		i, j := int(x.at[u]-1), int(x.at[w]-1)
		rows[i*words+j/64] |= 1 << (j % 64)
		rows[j*words+i/64] |= 1 << (i % 64)
		edges++
	})
	if edges < 3 {
		return
	}
	all := uint64(0)
	for i, u := range list {
		row := rows[i*words : (i+1)*words]
		twice := 0
		for k, word := range row {
			for ; word != 0; word &= word - 1 {
				j := 64*k + bits.TrailingZeros64(word)
				other := rows[j*words : (j+1)*words]
				for l, w := range row {
					twice += bits.OnesCount64(w & other[l])
				}
			}
		}
		c.add(orbitClique, u, uint64(twice/2))
		all += uint64(twice / 2)
	}
	c.add(orbitClique, v, all/3)
}
