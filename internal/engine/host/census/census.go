package census

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/setops"
)

// maxDegree is the largest neighbourhood that is made a matrix, and below it no
// number of one root or edge passes 64 bits.
const maxDegree = 1 << 15

// maxMemory is how many bytes the workers' matrices may have together, and for
// four vertices their arrays over the vertices.
const maxMemory = 1 << 30

// Suits reports whether counting all patterns of k vertices by a census is a
// good way. Wedges and triangles are counted in fewer steps along an orientation,
// which takes longer to set up: measured, one is faster than the other from about
// this number of steps.
func Suits(csr *graph.CSR, k, threads int) bool {
	steps, most := work(csr, k)
	matrices := most <= maxDegree && most*most/8*threads <= maxMemory
	switch k {
	case 3:
		return steps < 1<<21
	case 4:
		return matrices && 8*csr.NumVertices()*threads <= maxMemory
	}
	return matrices
}

// work is about the number of steps to the neighbours' neighbours, and the largest
// neighbourhood to be made a matrix, or a bound of it.
func work(csr *graph.CSR, k int) (steps uint64, most int) {
	for v := range uint32(csr.NumVertices()) {
		d := csr.Degree(v)
		if k == 5 {
			steps += uint64(d) * uint64(d)
		} else {
			steps += uint64(d) * uint64(min(d, onceDegree)) / 2
			if d > largeDegree {
				d = max(largeDegree, setops.LowerBound(csr.List(v), v))
			}
		}
		most = max(most, d)
	}
	return steps, most
}

// onceDegree is about the degree of the end with the larger id of an average edge, in graphs
// with hubs. largeDegree is a degree that only hubs have.
const (
	onceDegree  = 64
	largeDegree = 1 << 12
)

// workerSteps is the least work for which a goroutine pays, besides the time to clear its
// arrays over the vertices. onceSteps is the same for fewer than five vertices, where steps are
// shorter. unitsEach is the number of units of roots for each goroutine. unitWork bounds the number
// of neighbours of a unit, so that progress is reported often enough.
const (
	workerSteps = 1 << 14
	onceSteps   = 1 << 15
	unitsEach   = 64
	unitWork    = 4096
)

// share is the state that the workers share: the next unit to take. All workers write it, so it
// is kept away from memory that they read in their loops.
type share struct {
	_    [128]byte
	next atomic.Uint64
	_    [128]byte
	stop atomic.Bool
	_    [128]byte
}

// vertexBytes is the most bytes that a visitor has for each vertex: the number of walks to it, its place in a list, its place among the vertices met, and the list of these.
const vertexBytes = 16

// visitor counts root by root, for one worker.
type visitor interface{ visit(v uint32) }

// visitAll visits each vertex by one of the workers' visitors, in units of roots, and
// returns the visitors. The error is the context's. Progress, in roots, is told by one
// goroutine, a few times a second. A panic of a worker comes out of visitAll.
func visitAll(ctx context.Context, csr *graph.CSR, o engine.Options, progress func(done, total uint64), units uint64, newVisitor func(stop *atomic.Bool, m *crew.Memory) visitor) ([]visitor, error) {
	n := uint64(csr.NumVertices())
	counted, arrays := memory.ShareOf(ctx), int64(o.Threads)*vertexBytes*int64(n)
	if err := counted.Take("arrays over the vertices", arrays); err != nil {
		return nil, err
	}
	defer counted.Give(arrays)
	var sh share
	next, stop := &sh.next, &sh.stop
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	var failure atomic.Pointer[any]
	visitors := make([]visitor, o.Threads)
	work := func(worker int, m *crew.Memory, tell func(done, total uint64)) {
		defer func() {
			if x := recover(); x != nil {
				stop.Store(true)
				failure.Store(&x)
			}
		}()
		if next.Load() >= units {
			return // came too late for any
		}
		r := newVisitor(stop, m) // before it takes a unit that others would wait for
		told := time.Now()
		for !stop.Load() {
			i := next.Add(1) - 1
			if i >= units {
				break
			}
			from, end := graph.Cut(csr.Off, 0, uint32(n), i, units), graph.Cut(csr.Off, 0, uint32(n), i+1, units)
			for v := from; v < end && !stop.Load(); v++ {
				r.visit(v)
			}
			if tell != nil && time.Since(told) > 100*time.Millisecond {
				told = time.Now()
				tell(uint64(from), n)
			}
		}
		visitors[worker] = r
	}
	others := crew.Crew{Pool: o.Crew}
	others.Spread(o.Threads-1, crew.Short, func(i int, m *crew.Memory) { work(i, m, nil) })
	work(0, o.Crew.Own(), progress)
	others.Wait()
	if x := failure.Load(); x != nil {
		panic(*x)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(visitors, func(v visitor) bool { return v == nil }), nil
}

// Count returns the number of occurrences, as a subgraph, of each connected pattern of k vertices, k
// = 3, 4 or 5, by the names of the catalogue. If ctx ends, the error is the context's, and there is
// no partial count. Of o it uses Threads, Crew and Progress. One goroutine reports progress, in
// roots, a few times a second. A panic of a worker, as over a corrupt file, becomes a panic of Count.
func Count(ctx context.Context, csr *graph.CSR, k int, o engine.Options, progress func(done, total uint64)) (map[string]*big.Int, error) {
	if k < 3 || k > 5 {
		return nil, fmt.Errorf("census: patterns of %d vertices", k)
	}
	steps, _ := work(csr, k)
	n := uint64(csr.NumVertices())
	each := uint64(workerSteps)
	if k < 5 {
		each = onceSteps
	}
	o.Threads = int(min(uint64(o.Threads), steps/(each+n/4)+1))
	units := min(n, max(uint64(o.Threads)*unitsEach, (uint64(len(csr.Adj))+n)/unitWork))
	visitors, err := visitAll(ctx, csr, o, progress, units, func(stop *atomic.Bool, m *crew.Memory) visitor {
		return newRoot(csr, k, stop, m)
	})
	if err != nil {
		return nil, err
	}
	var all escape.Sums
	for _, v := range visitors {
		all.Plus(&v.(*root).sums)
	}
	return all.Counts(k), nil
}

// Motifs returns how often each of the patterns occurs: all those that the
// catalogue calls motifs of one size, in its order, all of them induced or none.
func Motifs(ctx context.Context, csr *graph.CSR, ps []*pattern.Pattern, o engine.Options, progress func(done, total uint64)) ([]*big.Int, error) {
	counts, err := Count(ctx, csr, len(ps[0].Vertices), o, progress)
	if err != nil {
		return nil, err
	}
	return escape.Motifs(counts, ps)
}
