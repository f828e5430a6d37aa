package native

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weftgraph/weft/internal/dynlib"
	"github.com/weftgraph/weft/internal/kir/emit/c"
)

// Job is one run of generated code by several workers. The code has the function
//
//	void Entry(Run *run, u64 worker)
//
// which takes units of work with w_take until none is left.
type Job struct {
	Library *Library
	Entry   string
	Memory  *c.Memory
	Extra   unsafe.Pointer // run->extra of the code; nil: nothing

	Workers int    // no more than MostWorkers run, and than Units where these are not shared
	Units   uint64 // of work, fewer than 2^32
	Shared  bool   // units have loops whose turns workers lend
	Schedule

	// Private is memory that each worker has to itself; nil: Words of them each, zero.
	Private [][]uint64
	Words   int
	Cap     uint32 // elements of each set in it, for code that asks
	Sums    int    // u64 that each worker has to itself, zero at first

	// Rows receives the emitted rows, RowBytes bytes each, in memory that is used again.
	// Several workers call it concurrently, each at most once at a time. An error ends the run,
	// which returns it.
	Rows     func(worker int, rows []byte) error
	RowBytes int

	// PerRoot receives counts of vertices, of which those that w_count is told of;
	// nil: nobody asks.
	PerRoot []Wide
	// Limit ends the run once so much is counted; 0: no limit.
	Limit uint64
	// Progress is told how many units were taken, a few times a second.
	Progress func(done, total uint64)
}

// MostWorkers is the largest number of workers of a run, more than any machine runs at once.
// Each worker has a thread while it works, and an idle one looks at all others.
const MostWorkers = 4096

// crew is how many workers a run has.
func (j *Job) crew() int {
	n := min(j.Workers, MostWorkers)
	if j.Shared && !j.NoSteal && j.Units > 0 {
		return n
	}
	return int(min(uint64(n), max(j.Units, 1)))
}

// Schedule is how units get to workers.
type Schedule struct {
	// Static gives each worker an equal share at the start. Otherwise they take
	// chunks of units from one counter.
	Static bool
	// NoSteal keeps workers without work from taking the later half of another's.
	NoSteal bool
}

// Wide is a number of 128 bits.
type Wide struct{ Hi, Lo uint64 }

// Result is the result of a run.
type Result struct {
	Count    Wide
	Complete bool   // no one told the run to stop
	Reached  bool   // as much was counted as the limit says; Count may be less
	Failed   uint32 // the code of the program's Fail that ended the run; 0: none did
	Sums     [][]uint64
	Lent     uint64 // times that a worker lent turns of a loop to another
}

// ErrOverflow is returned when a sum passes 128 bits.
var ErrOverflow = errors.New("a sum passes 2^128-1")

// header is struct Run of weft.h.
type header struct {
	graph, worker, extra        uintptr
	units, chunk                uint64
	workers, fixed, steal, most uint32
	rows                        uintptr
	number                      uint64
	perRoot                     uintptr
	limit                       uint64
	_                           [40]byte
	next                        atomic.Uint64
	_                           [120]byte
	total, lent                 atomic.Uint64
	_                           [112]byte
	stop, failed                atomic.Uint32
	waiting                     int32
	busy, offers                uint32
	_                           [108]byte
	_                           [64]uint32
}

// worker is struct Worker of weft.h.
type worker struct {
	run                   uintptr
	id                    uint64
	lo, hi                uint64
	over, rows, room, cap uint32
	most, _               uint32
	buffer, mem, sums     uintptr
	item, last            uint64
	done                  atomic.Uint64
	_                     [24]byte
	_                     [128]byte // turns
	units                 uint64
	_                     [120]byte
}

// line is the alignment of structs that several threads write.
const line = 128

// Words is memory for n words that shares no cache line with other memory. A worker that writes
// it continuously would slow down readers of the same line.
func Words(n int) []uint64 { return aligned[uint64](n) }

// aligned is memory for n values of T in lines of its own. Nothing in it is a
// pointer to the garbage collector.
func aligned[T any](n int) []T {
	var x T
	bytes := make([]byte, (n*int(unsafe.Sizeof(x))+line-1)/line*line+line)
	at := -uintptr(unsafe.Pointer(&bytes[0])) % line
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[at])), n)
}

// active are the runs under way, by number, for the function that takes rows.
var active struct {
	sync.Map
	last atomic.Uint64
}

// takeRows is the C function that takes rows.
var takeRows = sync.OnceValue(func() uintptr {
	return dynlib.Callback(func(number, id, rows uintptr) uintptr {
		r, ok := active.Load(uint64(number))
		if !ok || !r.(*running).take(int(id), int(rows)) {
			return 1
		}
		return 0
	})
})

// running is a run under way.
type running struct {
	job     *Job
	head    *header
	buffers [][]byte
	private [][]uint64

	mu     sync.Mutex
	err    error
	caught any // a panic of Rows
}

// Run runs a job by a team of its own.
func Run(ctx context.Context, j *Job) (Result, error) {
	var t Team
	defer t.Close()
	return t.Run(ctx, j)
}

// Run runs a job. If ctx or an error of Rows ends it early, Run returns that error, and the
// result has the part that was found. It blocks until all workers have ended.
func (t *Team) Run(ctx context.Context, j *Job) (res Result, err error) {
	entry, err := j.Library.Symbol(j.Entry)
	if err != nil {
		return res, err
	}
	if j.Units > math.MaxUint32 || j.Workers < 1 {
		return res, fmt.Errorf("native: %d units for %d workers", j.Units, j.Workers)
	}
	r := &running{job: j, head: &aligned[header](1)[0]}
	workers, sums := r.prepare()
	if ctx.Err() != nil { // else a short run might be over before that is seen
		r.fail(context.Cause(ctx))
	}
	defer freeBitmaps(j)
	if j.Rows != nil {
		active.Store(r.head.number, r)
		defer active.Delete(r.head.number)
	}
	unwatch := r.watch(ctx, workers)
	t.do(len(workers), func(i int) {
		if r.head.stop.Load() == 0 {
			dynlib.Call(entry, uintptr(unsafe.Pointer(r.head)), uintptr(i))
		}
	})
	unwatch()
	runtime.KeepAlive(j)
	if r.caught != nil {
		panic(r.caught)
	}
	res.Complete, res.Failed, err = r.head.stop.Load() == 0, r.head.failed.Load(), r.err
	res.Lent = r.head.lent.Load()
	res.Reached = j.Limit > 0 && r.head.total.Load() >= j.Limit
	sum := Wide{}
	for i := range workers {
		w := &workers[i]
		over := w.over != 0
		sum, over = sum.add(Wide{w.hi, w.lo}, over)
		if over && err == nil {
			err = ErrOverflow
		}
		res.Sums = append(res.Sums, sums[i])
	}
	res.Count = sum
	return res, err
}

// prepare lays out the structs of a run.
func (r *running) prepare() (workers []worker, sums [][]uint64) {
	j, h := r.job, r.head
	n := j.crew()
	workers = aligned[worker](n)
	r.private = j.Private
	h.graph, h.worker, h.extra = j.Memory.Graph(), uintptr(unsafe.Pointer(&workers[0])), uintptr(j.Extra)
	h.units, h.workers, h.busy, h.limit = j.Units, uint32(n), uint32(n), j.Limit
	h.chunk = min(max(j.Units/uint64(n*chunksEach), 1), 256)
	h.most = 64
	if j.Limit > 0 {
		h.most = 1
	}
	if j.Static {
		h.fixed = 1
	}
	if !j.NoSteal {
		h.steal = 1
	}
	h.number = active.last.Add(1)
	if len(j.PerRoot) > 0 {
		h.perRoot = uintptr(unsafe.Pointer(&j.PerRoot[0]))
	}
	if j.Rows != nil {
		h.rows = takeRows()
		r.buffers = make([][]byte, n)
	}
	for i := range workers {
		w := &workers[i]
		w.run, w.id, w.cap = uintptr(unsafe.Pointer(h)), uint64(i), j.Cap
		if j.Static {
			first, end := share(j.Units, i, n), share(j.Units, i+1, n)
			w.units = end<<32 | first
		}
		if j.Private == nil {
			r.private = append(r.private, Words(j.Words/2+1))
		}
		sums = append(sums, Words(max(1, j.Sums)))
		w.mem, w.sums = uintptr(unsafe.Pointer(&r.private[i][0])), uintptr(unsafe.Pointer(&sums[i][0]))
		if j.Rows != nil {
			r.buffers[i] = make([]byte, max(1, mostRows*j.RowBytes))
			w.room, w.most, w.buffer = 1, mostRows, uintptr(unsafe.Pointer(&r.buffers[i][0]))
		}
	}
	return workers, sums
}

// mostRows is the number of rows that a worker gathers before it hands them over. It gathers
// fewer at first, so that a waiting reader gets some soon.
const mostRows = 1024

// chunksEach is the number of chunks of units that a worker takes from the common counter, or
// more if there are many units. Idle workers steal from the chunks of others, so chunks need
// not be small.
const chunksEach = 64

// share is where worker i's share of n units begins.
func share(n uint64, i, workers int) uint64 { return n * uint64(i) / uint64(workers) }

// fail ends the run with an error.
func (r *running) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.head.stop.Store(1)
}

// take hands rows over; false: enough.
func (r *running) take(id, rows int) (more bool) {
	defer func() {
		// A panic must not pass through C.
		if x := recover(); x != nil {
			r.mu.Lock()
			r.caught = x
			r.mu.Unlock()
			more = false
		}
	}()
	if err := r.job.Rows(id, r.buffers[id][:rows*r.job.RowBytes]); err != nil {
		r.fail(err)
		return false
	}
	return true
}

// freeBitmaps frees the bitmaps that the code has made of hubs' lists.
func freeBitmaps(j *Job) {
	made := j.Memory.Bitmaps()
	if len(made) == 0 {
		return
	}
	free, err := j.Library.Symbol("weft_free")
	if err != nil {
		return
	}
	for _, at := range made {
		dynlib.Call(free, at)
	}
	j.Memory.Forget()
}

// add is a + b, and whether that passes 128 bits, or over held before.
func (a Wide) add(b Wide, over bool) (Wide, bool) {
	lo := a.Lo + b.Lo
	carry := uint64(0)
	if lo < a.Lo {
		carry = 1
	}
	hi := a.Hi + b.Hi
	over = over || hi < a.Hi
	if hi+carry < hi {
		over = true
	}
	return Wide{hi + carry, lo}, over
}
