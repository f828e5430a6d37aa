// Package gen generates graphs: random models and regular families. A seed gives the same graph
// on every machine and with every number of threads.
//
// It must not know files, patterns or engines.
package gen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
)

// ErrSpec is wrapped by every complaint about a Spec.
var ErrSpec = errors.New("gen: bad parameters")

// Spec says which graph to make. Fields that a model does not use must be zero.
// User ids are 0 … vertices-1; vertices without edges exist.
type Spec struct {
	// Model is rmat, rgg, er, ws, ba, grid, cliques or star.
	Model string

	// Scale is the binary logarithm of the number of vertices of rmat (1 … 31)
	// and rgg (0 … 31).
	Scale int
	// N is the number of vertices of er, ws and ba, of cliques' cliques, and of
	// a star's leaves.
	N uint64
	// M is the number of draws of rmat (duplicates and self-loops are dropped
	// afterwards) and the exact number of edges of er's G(n,m).
	M uint64
	// K is ws's number of nearest neighbours (even), ba's edges per new vertex,
	// and the size of cliques.
	K uint64
	// P is er's edge probability where M is 0, and ws's probability of rewiring.
	P float64
	// Degree is rgg's expected mean degree.
	Degree float64
	// Dims are the sides of a grid, one or more.
	Dims []uint64
	// Torus joins the ends of every dimension of a grid.
	Torus bool
	// Ring joins each clique to the next by one edge.
	Ring bool

	// Directed keeps the direction in which edges are made.
	Directed bool
	Seed     uint64

	// VertexLabels and EdgeLabels are the numbers of labels, which are called 0, 1, …. 0 means
	// no labels. Each vertex and each pair of vertices with an edge has one, drawn by a power
	// law: label k has a weight of (k+1)^-Skew.
	VertexLabels, EdgeLabels uint64
	// Skew is the exponent of the power law, for labels of both kinds; 0 means that labels are
	// equally frequent.
	Skew float64
}

// Models returns the names that Spec.Model knows, sorted.
func Models() []string {
	var r []string
	for m := range models {
		r = append(r, m)
	}
	slices.Sort(r)
	return r
}

// model is how to make one family.
type model struct {
	uses string // the fields that it reads, by name
	// check validates; vertices and units (the independent parts of the work,
	// each with its own random numbers) follow from the parameters.
	check func(s *Spec) error
	size  func(s *Spec) (vertices, units uint64)
	// edges is about the number that make emits, rather less than more.
	edges func(s *Spec) uint64
	// grain is how many units go together.
	grain uint64
	// make emits the edges of units lo … hi-1.
	make func(s *Spec, lo, hi uint64, emit func(u, v uint64))
	// prepare, if set, is called once and returns make.
	prepare func(ctx context.Context, s *Spec, threads int) (func(s *Spec, lo, hi uint64, emit func(u, v uint64)), error)
}

var models map[string]*model

func init() {
	models = map[string]*model{
		"rmat": &rmat, "rgg": &rgg, "er": &er, "ws": &ws, "ba": &ba,
		"grid": &grid, "cliques": &cliques, "star": &star,
	}
}

func bad(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrSpec, fmt.Sprintf(format, a...))
}

// maxN is the largest number of vertices that a graph can have.
const maxN = 1<<32 - 2

// Check returns an error that wraps ErrSpec if a parameter is wrong.
func (s *Spec) Check() error {
	m := models[s.Model]
	if m == nil {
		return bad("model %q: want one of %s", s.Model, strings.Join(Models(), ", "))
	}
	for name, set := range map[string]bool{
		"Scale": s.Scale != 0, "N": s.N != 0, "M": s.M != 0, "K": s.K != 0, "P": s.P != 0,
		"Degree": s.Degree != 0, "Dims": s.Dims != nil, "Torus": s.Torus, "Ring": s.Ring,
	} {
		if set && !slices.Contains(strings.Fields(m.uses), name) {
			return bad("%s does not use %s", s.Model, name)
		}
	}
	if math.IsNaN(s.P) || s.P < 0 || s.P > 1 {
		return bad("probability %v: want 0 … 1", s.P)
	}
	if s.N > maxN {
		return bad("%d vertices: at most %d", s.N, uint64(maxN))
	}
	if err := s.checkLabels(); err != nil {
		return err
	}
	return m.check(s)
}

// Edges makes the edges of a graph and passes them to add in chunks, from
// several goroutines at once, in no order; add must not keep the slices. It
// returns the number of vertices. threads 0 means all cores.
func Edges(ctx context.Context, s Spec, threads int, add func(src, dst []uint64) error) (vertices uint64, err error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	m := models[s.Model]
	vertices, units := m.size(&s)
	make := m.make
	if m.prepare != nil {
		if make, err = m.prepare(ctx, &s, threads); err != nil {
			return 0, err
		}
	}
	var next atomic.Uint64
	var once sync.Once
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for range threads {
		wg.Go(func() {
			c := &chunk{add: add}
			for ctx.Err() == nil && c.err == nil {
				hi := next.Add(m.grain)
				lo := hi - m.grain
				if lo >= units {
					break
				}
				make(&s, lo, min(hi, units), c.emit)
			}
			c.flush()
			if c.err != nil {
				once.Do(func() { err = c.err })
				stop()
			}
		})
	}
	wg.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return vertices, err
}

// Generate makes a graph. threads 0 means all cores; the result does not depend
// on it.
func Generate(ctx context.Context, s Spec, threads int) (*graph.Graph, error) {
	b := graph.NewBuilder(graph.BuildOptions{Directed: s.Directed, Threads: threads, Read: graph.ReadStats{Format: "gen " + s.Model}})
	ofEdges := newLabels(s.EdgeLabels, s.Skew, s.Seed, 1)
	n, err := Edges(ctx, s, threads, func(src, dst []uint64) error {
		c := &graph.EdgeChunk{Src: src, Dst: dst}
		if ofEdges != nil {
			c.Label = ofEdges.edges(src, dst, s.Directed)
		}
		return b.AddEdges(c)
	})
	if err != nil {
		b.Discard()
		return nil, err
	}
	if ofVertices := newLabels(s.VertexLabels, s.Skew, s.Seed, 2); ofVertices != nil {
		err = ofVertices.vertices(b, n)
	} else {
		err = b.AddRange(n)
	}
	if err != nil {
		b.Discard()
		return nil, err
	}
	return b.Build(ctx)
}

// Room returns a *memory.Error if the graph needs more memory than the budget, in
// bytes, or than the system allows. A budget of 0 is none.
func Room(s Spec, budget int64) error {
	if err := s.Check(); err != nil {
		return err
	}
	m := models[s.Model]
	vertices, _ := m.size(&s)
	return graph.Room(s.Model+" makes", vertices, m.edges(&s), budget)
}

// chunk collects edges of one goroutine.
type chunk struct {
	src, dst []uint64
	add      func(src, dst []uint64) error
	err      error
}

const chunkEdges = 1 << 15

func (c *chunk) emit(u, v uint64) {
	if c.src == nil {
		c.src, c.dst = make([]uint64, 0, chunkEdges), make([]uint64, 0, chunkEdges)
	}
	c.src, c.dst = append(c.src, u), append(c.dst, v)
	if len(c.src) == chunkEdges {
		c.flush()
	}
}

func (c *chunk) flush() {
	if len(c.src) > 0 && c.err == nil {
		c.err = c.add(c.src, c.dst)
	}
	c.src, c.dst = c.src[:0], c.dst[:0]
}

// mix is the splitmix64 step: all randomness here is mix of seed and place.
func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// rng is a small counter-based generator.
type rng struct{ state, at uint64 }

func stream(seed, unit uint64) rng { return rng{state: mix(mix(seed) ^ mix(unit^0x5bf03635))} }

func (r *rng) next() uint64 {
	r.at++
	return mix(r.state + r.at*0x9E3779B97F4A7C15)
}

// float returns a number in (0, 1].
func (r *rng) float() float64 { return float64(r.next()>>11+1) / (1 << 53) }
