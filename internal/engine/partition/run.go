package partition

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/partition"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/vfs"
)

// run is one run.
type run struct {
	*prepared
	goal engine.Goal

	of     []uint32 // the part of each vertex
	sizes  []partition.Part
	cut    uint64       // cross edges
	order  []int        // of the parts that have vertices
	gone   int          // graphs of parts that are known to be freed
	dealt  []int        // parts that each device has searched; of one session, all devices together
	hosted atomic.Int64 // parts that were read in host memory
	waits  atomic.Int64 // parts whose graphs were made when some of those before were freed
	some   atomic.Bool  // rows were handed over,
	handed atomic.Int64 // so many by searches of parts, those past the limit too

	notes engine.Notes
	stats engine.Notes
	moved moved

	mu       sync.Mutex
	res      engine.Result
	overflow bool // the matches pass 128 bits
	told     time.Time
	done     []uint64 // of unit, by part, and then by search
}

// moved is what the searches across parts brought to devices.
type moved struct {
	rows, chunks, bytes, windows atomic.Uint64
	// gathering is the time that the host took to gather lists. busy is that of gathering and copying, and hidden the part of it in which a kernel ran.
	gathering, busy, hidden atomic.Int64

	mu      sync.Mutex
	metered session.Metered // copies of lists, and kernels
}

// partsKey is the name under which a graph keeps its parts.
type partsKey struct{ partition.Options }

// partsOf returns a partition of a graph, which the graph keeps. find finds it at first.
func partsOf(ctx context.Context, g *graph.Graph, o partition.Options, find func() (*partition.Partition, error)) (*partition.Partition, error) {
	key := partsKey{o}
	key.Threads = 0
	found, err := g.Derived(ctx, key, func() (any, error) {
		var p *partition.Partition
		err := g.Guard(func() (err error) {
			p, err = find()
			return err
		})
		return p, err
	})
	if err != nil {
		return nil, err
	}
	return found.(*partition.Partition), nil
}

// cutGraph finds the part of each vertex.
func (r *run) cutGraph(ctx context.Context) error {
	p, err := partsOf(ctx, r.g, r.parts, func() (*partition.Partition, error) {
		p, warning, err := partition.Open(ctx, vfs.From(ctx), r.g.FileName(), r.g, r.parts)
		if warning != "" {
			r.notes.Add("%s", warning)
		}
		return p, err
	})
	if err != nil {
		return err
	}
	r.of, r.sizes, r.cut = p.Of, p.Parts, p.Cut
	return nil
}

// search searches the parts, and then across them.
func (r *run) search(ctx context.Context) error {
	if err := r.fits(); err != nil {
		return err
	}
	start := time.Now()
	if err := r.cutGraph(ctx); err != nil {
		return err
	}
	r.took(0, time.Since(start))
	r.done = make([]uint64, len(r.sizes)+len(r.searches))
	for part, size := range r.sizes {
		if size.Vertices == 0 {
			r.done[part] = unit
		}
	}
	if err := r.inside(ctx); err != nil || r.ended() {
		return err
	}
	inside := r.res.Search
	if len(r.sizes) > 1 { // cross edges are those of relations, which cut does not know
		if err := r.outside(ctx); err != nil {
			return err
		}
	}
	r.say(inside)
	return nil
}

// say tells how the search went.
func (r *run) say(inside time.Duration) {
	most, empty := uint64(0), 0
	for _, p := range r.sizes {
		most = max(most, p.Bytes)
		if p.Vertices == 0 {
			empty++
		}
	}
	r.stats.Add("partition: %d parts (%d empty) of %s at most, %d pairs of neighbours between parts; engine %s searched each part, all in %s",
		len(r.sizes), empty, memory.Text(most), r.cut, r.inner.engine.Name(), gpu.Round(inside))
	if len(r.dealt) > 1 {
		r.stats.Add("partition: parts went to %d devices, which searched %s of them", len(r.dealt), strings.Trim(strings.Join(strings.Fields(fmt.Sprint(r.dealt)), ", "), "[]"))
	}
	if n := r.hosted.Load(); n > 0 {
		r.notes.Add("%d parts of the graph left the search too little memory of the GPU, so their neighbour lists were read in host memory", n)
	}
	if n := r.waits.Load(); n > 0 {
		r.stats.Add("partition: the graphs of %d parts were made when some of those before were freed, as there was no memory for all", n)
	}
	if len(r.sizes) == 1 {
		return
	}
	how := "unshared"
	if r.shared {
		how = "shared"
	}
	pairs := 0
	for i := range r.searches {
		if r.searches[i].pairs > 0 {
			pairs++
		}
	}
	if pairs > 0 {
		r.stats.Add("partition: %d searches counted the last two vertices by the numbers of their candidates", pairs)
	}
	m := &r.moved
	if n := m.windows.Load(); n > 0 {
		r.stats.Add("partition: neighbour lists longer than a chunk came in %d parts", n)
	}
	busy := time.Duration(m.busy.Load())
	overlap := float64(m.hidden.Load()) / float64(max(busy, 1))
	r.stats.Add("partition: %d searches across parts (%s) in %s: %d rows, %s of lists in %d chunks, gathered in %s and copied in %s, while kernels ran for %.0f %% of that time",
		len(r.searches), how, gpu.Round(r.res.Search-inside), m.rows.Load(), memory.Text(m.bytes.Load()), m.chunks.Load(), gpu.Round(time.Duration(m.gathering.Load())), gpu.Round(m.metered.Copying), 100*overlap)
	r.stats.Add("%s", gpu.CopiesOf(m.metered).Line())
}

// left is how many matches are still wanted; 0: all.
func (r *run) left() int64 {
	if r.goal.Limit <= 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.goal.Limit-int64(r.res.Matches.Lo), 1)
}

// ended reports whether no more matches are wanted.
func (r *run) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.res.Complete || r.goal.Limit > 0 && r.res.Matches.Cmp(engine.U64(uint64(r.goal.Limit))) >= 0
}

// add adds a result whose matches count `times` each.
func (r *run) add(res *engine.Result, times uint64) {
	n, over := res.Matches.MulOver(engine.U64(times))
	r.mu.Lock()
	sum, more := r.res.Matches.AddOver(n)
	r.res.Matches, r.overflow = sum, r.overflow || over || more
	r.res.Complete = r.res.Complete && res.Complete
	r.mu.Unlock()
	for _, note := range res.Notes {
		r.notes.Add("%s", note)
	}
	for _, s := range res.Stats {
		r.stats.Add("%s", s)
	}
}

// addRoots adds the matches of some vertices, which no other part has.
func (r *run) addRoots(vertices []uint32, found []engine.Uint128) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, n := range found {
		r.goal.PerRoot[vertices[i]] = r.goal.PerRoot[vertices[i]].Add(n)
	}
}

// roots is a sink that counts rows by the vertex of the root.
type roots struct{ *run }

// Emit implements engine.Sink.
func (x roots) Emit(_ int, b *engine.Batch) error {
	root, n := x.p.Order[0], engine.U64(x.factor)
	x.mu.Lock()
	defer x.mu.Unlock()
	for ; root < b.Rows*b.Width; root += b.Width {
		v := b.Vertices[root]
		x.goal.PerRoot[v] = x.goal.PerRoot[v].Add(n)
	}
	return nil
}

// took adds the time of a phase.
func (r *run) took(search, prepare time.Duration) {
	r.res.Search += search
	r.res.Prepare += prepare
}

// result is the result after an error, or nil.
func (r *run) result(ctx context.Context, err error) (engine.Result, error) {
	res := r.res
	res.Notes, res.Stats = r.notes.All(), r.stats.All()
	if limit := engine.U64(uint64(max(r.goal.Limit, 0))); r.goal.Limit > 0 && res.Matches.Cmp(limit) >= 0 {
		res.Matches, res.Complete = limit, false
	}
	if err == nil && r.overflow {
		err = engine.ErrOverflow
	}
	if err != nil {
		res.Complete = false
		if cause := context.Cause(ctx); cause == nil || !errors.Is(err, cause) {
			res.Matches = engine.Uint128{}
		}
		if r.some.Load() {
			err = &laterError{err}
		}
	}
	return res, err
}

// laterError is the error of a listing that has handed rows over. It is not one of those that say that nothing was
// searched, after which a caller begins again.
type laterError struct{ error }

func (e *laterError) Is(target error) bool {
	return target != session.ErrShort && target != session.ErrTaken && target != cuda.ErrClosed && errors.Is(e.error, target)
}

func (e *laterError) As(target any) bool { return errors.As(e.error, target) }

// unit is how many steps of progress a part or a search has.
const unit = 1000

// progress returns how the k-th part or search tells its progress. Several devices may tell that of several parts, or of one search.
func (r *run) progress(k int) func(done, total uint64) {
	if r.goal.Progress == nil {
		return nil
	}
	return func(done, total uint64) { r.reached(k, uint64(unit*(float64(done)/float64(max(total, 1))))) }
}

// finished notes that the k-th part or search is done.
func (r *run) finished(k int) {
	if r.goal.Progress != nil {
		r.reached(k, unit)
	}
}

// reached notes the steps of the k-th part or search, and tells the sum, a few times a second.
func (r *run) reached(k int, steps uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[k] = max(r.done[k], min(steps, unit))
	sum := uint64(0)
	for _, n := range r.done {
		sum += n
	}
	if now := time.Now(); now.Sub(r.told) > 200*time.Millisecond {
		r.told = now
		r.goal.Progress(sum, uint64(len(r.done))*unit)
	}
}
