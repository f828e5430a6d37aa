package partition

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph/partition"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/vfs"
)

// run is one run.
type run struct {
	*prepared
	goal engine.Goal
	res  engine.Result
	over bool        // the matches pass 128 bits
	rows atomic.Bool // some were handed over

	of     []uint32 // the part of each vertex
	sizes  []partition.Part
	cut    uint64       // cross edges
	hosted int          // parts that were read in host memory
	waits  atomic.Int64 // parts whose graphs were made when those before were freed

	notes engine.Notes
	stats engine.Notes
	moved moved

	mu   sync.Mutex
	told time.Time
}

// moved is what the searches across parts brought to devices.
type moved struct {
	rows, chunks, bytes, split atomic.Uint64
	// busy is the time that gathering and copying lists took, and hidden is the part of it in which a kernel ran.
	busy, hidden atomic.Int64
}

// partsKey is the name under which a graph keeps its parts.
type partsKey struct{ partition.Options }

// cutGraph finds the part of each vertex.
func (r *run) cutGraph(ctx context.Context) error {
	key := partsKey{r.parts}
	key.Threads = 0
	found, err := r.g.Derived(ctx, key, func() (any, error) {
		var p *partition.Partition
		err := r.g.Guard(func() (err error) {
			var warning string
			p, warning, err = partition.Open(ctx, vfs.From(ctx), r.g.FileName(), r.g, r.parts)
			if warning != "" {
				r.notes.Add("%s", warning)
			}
			return err
		})
		return p, err
	})
	if err != nil {
		return err
	}
	p := found.(*partition.Partition)
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
	r.res.Prepare += time.Since(start)
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
	if r.hosted > 0 {
		r.notes.Add("%d parts of the graph left the search too little memory of the GPU, so their neighbour lists were read in host memory", r.hosted)
	}
	if n := r.waits.Load(); n > 0 {
		r.stats.Add("partition: the graphs of %d parts were made when those before were freed, as there was no memory for both", n)
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
	busy := time.Duration(m.busy.Load())
	overlap := float64(m.hidden.Load()) / float64(max(busy, 1))
	r.stats.Add("partition: %d searches across parts (%s) in %s: %d rows, %s of lists in %d chunks, gathered and copied in %s, while kernels ran for %.0f %% of that time",
		len(r.searches), how, gpu.Round(r.res.Search-inside), m.rows.Load(), memory.Text(m.bytes.Load()), m.chunks.Load(), gpu.Round(busy), 100*overlap)
}

// left is how many matches are still wanted; 0: all.
func (r *run) left() int64 {
	if r.goal.Limit <= 0 {
		return 0
	}
	return r.goal.Limit - int64(r.res.Matches.Lo)
}

// ended reports whether no more matches are wanted.
func (r *run) ended() bool {
	return !r.res.Complete || r.goal.Limit > 0 && r.res.Matches.Cmp(engine.U64(uint64(r.goal.Limit))) >= 0
}

// add adds a result whose matches count `times` each.
func (r *run) add(res *engine.Result, times uint64) {
	n, over := res.Matches.MulOver(engine.U64(times))
	sum, more := r.res.Matches.AddOver(n)
	r.res.Matches, r.over = sum, r.over || over || more
	r.res.Complete = r.res.Complete && res.Complete
	r.res.Search += res.Search
	r.res.Prepare += res.Prepare
	for _, note := range res.Notes {
		r.notes.Add("%s", note)
	}
	for _, s := range res.Stats {
		r.stats.Add("%s", s)
	}
}

// result is the result after an error, or nil.
func (r *run) result(ctx context.Context, err error) (engine.Result, error) {
	res := r.res
	res.Notes, res.Stats = r.notes.All(), r.stats.All()
	if limit := engine.U64(uint64(max(r.goal.Limit, 0))); r.goal.Limit > 0 && res.Matches.Cmp(limit) >= 0 {
		res.Matches, res.Complete = limit, false
	}
	if err == nil && r.over {
		err = engine.ErrOverflow
	}
	if err != nil {
		res.Complete = false
		if cause := context.Cause(ctx); cause == nil || !errors.Is(err, cause) {
			res.Matches = engine.Uint128{}
		}
		if r.rows.Load() {
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

// progress returns how the k-th part or search tells its progress.
func (r *run) progress(k int) func(done, total uint64) {
	if r.goal.Progress == nil {
		return nil
	}
	all := uint64(len(r.sizes)+len(r.searches)) * unit
	return func(done, total uint64) {
		r.mu.Lock()
		now := time.Now()
		tell := now.Sub(r.told) > 200*time.Millisecond
		if tell {
			r.told = now
		}
		r.mu.Unlock()
		if tell {
			r.goal.Progress(uint64(k)*unit+uint64(unit*float64(done)/float64(max(total, 1))), all)
		}
	}
}
