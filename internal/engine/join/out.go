package join

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/memory"
)

// outRun is a run out of core, on all devices.
type outRun struct {
	*gpuRun
	room  outPlan
	store *store
	need  []uint32 // by step: the levels whose columns later steps read, as a mask
	block int      // rows of a block of a table
	list  int      // candidates that are in memory before they are checked, at most

	mu      sync.Mutex
	total   engine.Tally
	perRoot []engine.Uint128 // nil: they are not wanted
	visits  []uint64
	metered session.Metered
	back    int64  // bytes that kernels have written to the host's memory
	aheads  int    // segments that were brought before the pass that read them
	shorts  uint64 // rows whose candidates were made of their shortest lists
	nests   int    // passes of segments of an edge by those of lists
	halts   int    // of these passes, because too many candidates waited
}

// outside is an out-of-core join on one device.
type outside struct {
	*outRun
	x       *session.Exec
	meter   *session.Meter
	feed    *session.Feed
	line    *line
	tables  []*rowTable // of each step, by the step
	bits    cuda.Buffer // of the vertices that may be candidates of group has-1
	has     int         // 0: of none
	allowed [][]uint64  // by group: a bit for each vertex that may be a candidate; nil: all may
	ended   bool        // all roots have been taken
	tasks   *cuda.Pinned
	rows    [maxLevels]atomic.Uint64 // found by level
	tally   engine.Tally

	scratch found         // as many as a sub-table has room for, of the line's consumer
	known   found         // of the consumer too
	held    []segmentHeld // see holds
	step    int           // that is joined
	joined  uint64        // roots whose rows were joined once
	byShort uint64        // rows whose candidates were made of their shortest lists
	passes  int           // see nested
	breaks  int           // of these passes, because too many candidates waited
	told    time.Time     // progress
}

// defaultBlock and defaultList are the rows of a block, and the candidates in memory, where memory is not limited.
const (
	defaultBlock = 1 << 23
	defaultList  = 1 << 25
)

// newOutRun returns a run with empty tables. The free host memory decides how many rows a block has and how many
// candidates are in memory at a time.
func (r *gpuRun) newOutRun(ctx context.Context, p outPlan) *outRun {
	o := &outRun{gpuRun: r, room: p, block: defaultBlock, list: defaultList}
	width := 1
	for i := range r.steps {
		width += i + 1
	}
	// Half of the memory is garbage at times.
	limit := min(int64(memory.Left(r.o.Memory)), memory.ShareOf(ctx).Left()) / 4
	o.block = int(max(min(int64(o.block), limit/4/int64(4*width)), leastSubRows))
	o.list = int(max(min(int64(o.list), limit/4/16), leastSubRows))
	if r.batch > 0 {
		o.block = min(o.block, r.batch)
	}
	if r.Goal.Limit > 0 {
		o.block = min(o.block, 1<<16)
	}
	o.store = newStore(ctx, r.o.Spill, limit)
	o.need = make([]uint32, len(r.steps))
	all := uint32(0)
	if r.listing {
		all = ^uint32(0)
	}
	if r.Goal.PerRoot != nil {
		all |= 1
		o.perRoot = make([]engine.Uint128, r.g.NumVertices())
	}
	for i := len(r.steps) - 1; i >= 0; i-- {
		o.need[i] = all
		r.eachProbe(i, func(p *probe) { all |= mask(p.columns) })
	}
	o.visits = make([]uint64, len(r.p.Levels))
	return o
}

// start takes a device's memory, as the plan divides it. It returns the search, which joins on the device until all roots
// are taken. The session gives the memory back through close.
func (o *outRun) start(x *session.Exec) (search func() error, err error) {
	t := &outside{outRun: o, x: x, allowed: make([][]uint64, len(o.groups))}
	x.AtEnd(t.close)
	if t.meter, err = x.NewMeter(); err != nil {
		return nil, err
	}
	if t.feed, err = x.NewFeed(o.room.room, o.room.held, t.meter); err != nil {
		return nil, err
	}
	t.line, err = newLine(x, t.meter, &o.room)
	if err != nil {
		t.line = nil // it has closed itself
		return nil, err
	}
	t.scratch, t.known = newFound(o.room.made), newFound(o.room.made)
	t.line.poll, t.line.ran = t.feed.Poll, o.launched
	if o.room.bits > 0 {
		if t.bits, err = x.Scratch("candidates of a vertex", o.room.bits); err != nil {
			return nil, err
		}
	}
	if t.tasks, err = x.Lend(64); err != nil {
		return nil, err
	}
	for i := range o.steps[:len(o.steps)-1] {
		live := make([]bool, i+1)
		for l := range live {
			live[l] = o.need[i]>>l&1 != 0
		}
		t.tables = append(t.tables, &rowTable{store: o.store, live: live, most: o.block})
	}
	return func() error {
		if err := t.search(); err != nil {
			return err
		}
		return t.report()
	}, nil
}

// close gives back what the session does not.
func (t *outside) close() error {
	var errs []error
	if t.line != nil {
		errs = append(errs, t.line.close())
	}
	if t.feed != nil {
		errs = append(errs, t.feed.Close())
	}
	if t.meter != nil {
		errs = append(errs, t.meter.Close())
	}
	return errors.Join(errs...)
}

// report adds the device's part to the run.
func (t *outside) report() error {
	m, err := t.meter.Read()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.metered = t.metered.Plus(m)
	t.back += t.line.back
	t.aheads += t.feed.Aheads
	t.shorts += t.byShort
	t.nests += t.passes
	t.halts += t.breaks
	t.total = t.total.Plus(t.tally)
	for l := range t.visits {
		t.visits[l] += t.rows[l].Load()
	}
	return nil
}

// search goes through the steps. A block of rows goes on as soon as it is full, the deepest first, so that tables
// stay short. Blocks that are not full wait until all roots are taken.
func (t *outside) search() error {
	for i := range t.groups {
		if err := t.candidates(i); err != nil {
			return err
		}
	}
	for !t.x.Stopped() {
		i := t.next()
		if i < 0 {
			return nil
		}
		if i == 0 {
			if err := t.roots(); err != nil {
				return err
			}
			continue
		}
		b, err := t.tables[i-1].next()
		if err != nil {
			return err
		}
		t.step = i
		rows := uint64(b.rows)
		err = t.join(i, b)
		if i == 1 {
			t.joined += rows
		}
		t.store.done(b)
		if err != nil {
			return err
		}
	}
	return nil
}

// next is the step to go on with; -1: all is done.
func (t *outside) next() int {
	for i := len(t.tables); i > 0; i-- {
		if t.tables[i-1].full() {
			return i
		}
	}
	if !t.ended {
		return 0
	}
	for i := range t.tables {
		if t.tables[i].rows > 0 {
			return i + 1
		}
	}
	return -1
}

// roots takes tasks, and makes rows of those that are candidates of level 0.
func (t *outside) roots() error {
	k, err := t.line.kernel(segmentTake)
	if err != nil {
		return err
	}
	got := view[uint64](t.tasks.Bytes(), 4)
	t.line.turn++
	got[3] = 0
	a := segmentTasks{Out: t.tasks.Ptr(), Turn: t.line.turn}
	err = t.line.run(k, segmentTake, 1, func(g cuda.Launch) error { return session.LaunchFixed(t.x, k, g, &a) })
	if err != nil {
		return err
	}
	if err := t.x.Stream().Synchronize(); err != nil {
		return err
	}
	if got[3] != a.Turn {
		return &cuda.Error{Op: Name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("launch number %d did not run", a.Turn)}
	}
	t.ended = got[2] != 0
	first, n := int(got[0]), int(got[1])
	if n == 0 {
		return nil
	}
	ranges, listed := t.prepared.roots()
	g := &t.steps[0].groups[0]
	parts := make([][]uint32, partsOf(n))
	err = parallel(t.ctx(), n, func(k, lo, hi int) error {
		var out []uint32
		for task := first + lo; task < first+hi; task++ {
			v := uint32(0)
			if listed != nil {
				v = listed[task]
			} else {
				at := uint64(task)
				for _, r := range ranges {
					if size := uint64(r.End - r.First); at >= size {
						at -= size
						continue
					}
					v = r.First + uint32(at)
					break
				}
			}
			if b := t.allowed[0]; b == nil && g.allows(t.lists, v) || b != nil && b[v/64]>>(v%64)&1 != 0 {
				out = append(out, v)
			}
		}
		parts[k] = out
		return nil
	})
	if err != nil {
		return err
	}
	roots := slices.Concat(parts...)
	t.rows[0].Add(uint64(len(roots)))
	if len(t.tables) == 0 {
		return t.matches(&rowBlock{}, nil, roots)
	}
	return t.tables[0].add(len(roots), func(to []uint32, _, lo, hi int) { copy(to, roots[lo:hi]) })
}

func (t *outside) ctx() context.Context { return t.store.ctx }

// original returns the graph's id of a vertex of the lists.
func (x *prepared) original(v uint32) uint32 {
	if x.ids != nil {
		return x.ids.Old[v]
	}
	return v
}
