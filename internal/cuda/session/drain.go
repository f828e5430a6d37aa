package session

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
)

// ringBytes is the approximate size of the pinned memory of a device's ring, unless Options set
// it. The bus carries that much in a few tenths of a millisecond, so that the device need not
// wait while the host is busy.
const ringBytes = 16 << 20

// tileRows is how many rows lie in one tile of the ring; see base/ring.cuh.
const tileRows = 32

// batchRows is how many rows are handed to Rows at most.
const batchRows = 1024

// ringRows is the number of rows, a power of two, of a ring of about `bytes` bytes, for rows of
// width ids.
func ringRows(width int, bytes int64) uint32 {
	rows := uint32(tileRows)
	for int64(rows)*2*int64(width+1)*4 <= bytes {
		rows *= 2
	}
	return rows
}

// drain takes the rows of one device from its ring. Worker k of n takes tiles k, k+n, … of the
// run. The rows before the tile of the slowest worker are free for new ones.
type drain struct {
	words   []uint32 // the ring
	rows    uint32
	width   int
	columns []int
	control *control
	taken   *taken
	worker0 int // number of this device's first worker

	mu    sync.Mutex
	tile  []uint64    // the tile that each worker is at
	ended atomic.Bool // the kernel writes no more
	wg    sync.WaitGroup
	total atomic.Uint64 // rows seen
}

// taken is the state that all devices' drains share: the sink and the limit.
type taken struct {
	rows   func(worker int, rows []uint32) error
	limit  uint64
	stop   func(why error) // ends the run; nil: the limit
	count  atomic.Uint64   // rows handed to the sink
	claim  atomic.Uint64
	failed atomic.Bool // the sink returned an error: it is not called again
}

func (d *drain) start(workers int) {
	d.tile = make([]uint64, workers)
	for k := range workers {
		d.tile[k] = uint64(k) // all of them, before any worker looks for the slowest
	}
	for k := range workers {
		d.wg.Add(1)
		go func() {
			defer d.wg.Done()
			debug.SetPanicOnFault(true)
			d.work(k, workers)
		}()
	}
}

// end says that the kernel has ended and waits until all rows are taken.
func (d *drain) end() {
	d.ended.Store(true)
	d.wg.Wait()
}

func (d *drain) work(k, workers int) {
	batch := make([]uint32, 0, batchRows*d.width)
	flush := func() {
		if len(batch) > 0 {
			d.taken.hand(d.worker0+k, batch, d.width)
			batch = batch[:0]
		}
	}
	idle := time.Microsecond
	for tile := uint64(k); ; {
		ended := d.ended.Load()
		had := uint32(0) // rows of the tile that are taken
		for {
			got := d.stamped(tile) &^ had
			for r := range tileRows {
				if got>>r&1 != 0 {
					batch = d.append(batch, tile, r)
					if len(batch) == cap(batch) {
						flush()
					}
				}
			}
			had |= got
			if had == ^uint32(0) {
				break
			}
			if got != 0 {
				idle = time.Microsecond
				continue
			}
			if ended {
				flush()
				return
			}
			flush()
			time.Sleep(idle)
			idle = min(2*idle, time.Millisecond)
			ended = d.ended.Load()
		}
		tile += uint64(workers)
		d.free(k, tile)
	}
}

// stamped is a bit for each row of a tile that the kernel has written.
func (d *drain) stamped(tile uint64) (rows uint32) {
	want := uint32(tile*tileRows/uint64(d.rows)) + 1
	at := d.at(tile, d.width)
	for r := range tileRows {
		if atomic.LoadUint32(&d.words[at+r]) == want {
			rows |= 1 << r
		}
	}
	return rows
}

// at is where column c of a tile begins in the ring.
func (d *drain) at(tile uint64, c int) int {
	return (int(tile%uint64(d.rows/tileRows))*(d.width+1) + c) * tileRows
}

// append adds row r of a tile to rows, its columns in the job's order.
func (d *drain) append(rows []uint32, tile uint64, r int) []uint32 {
	for _, c := range d.columns {
		rows = append(rows, d.words[d.at(tile, c)+r])
	}
	d.total.Add(1)
	return rows
}

// free records that worker k is at a new tile, and tells the device which rows that frees.
func (d *drain) free(k int, tile uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tile[k] = tile
	least := tile
	for _, t := range d.tile {
		least = min(least, t)
	}
	atomic.StoreUint64(&d.control.Drained, least*tileRows)
}

// hand gives rows to the sink, at most the number that the limit allows.
func (t *taken) hand(worker int, rows []uint32, width int) {
	n := uint64(len(rows) / width)
	end := t.claim.Add(n)
	if t.limit > 0 && end >= t.limit {
		n -= min(n, end-t.limit)
		t.stop(nil)
	}
	if n == 0 || t.failed.Load() {
		return
	}
	if err := t.give(worker, rows[:n*uint64(width)]); err != nil {
		t.failed.Store(true)
		t.stop(err)
		return
	}
	t.count.Add(n)
}

// give calls the sink. A panic in it, as over a file that became shorter, becomes an error.
func (t *taken) give(worker int, rows []uint32) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("session: rows: panic: %v\n%s", x, debug.Stack())
		}
	}()
	return t.rows(worker, rows)
}

// newDrain makes device i ready to take rows; the ring is cleared, since stamps
// of an earlier run mean nothing.
func newDrain(c *cuda.Context, d *device, j *Job, ctl *control, ring int64) (*drain, error) {
	rows := ringRows(j.Width, ring)
	bytes := int64(rows) * int64(j.Width+1) * 4
	if d.ring != nil && int64(len(d.ring.Bytes())) < bytes {
		if err := d.ring.Free(); err != nil {
			return nil, err
		}
		d.ring = nil
	}
	if d.ring == nil {
		p, err := c.Pinned(bytes)
		if err != nil {
			return nil, err
		}
		d.ring = p
	}
	words, err := cuda.View[uint32](d.ring, 0, int(bytes/4))
	if err != nil {
		return nil, err
	}
	clear(words)
	return &drain{words: words, rows: rows, width: j.Width, columns: j.Columns, control: ctl}, nil
}
