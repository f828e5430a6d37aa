package large

import (
	"math/bits"
	"sync"

	"github.com/weftgraph/weft/internal/engine"
)

var workerPool = sync.Pool{New: func() any { return &worker{} }}

// batchRows is how many matches a worker gathers before it hands them over.
const batchRows = 1024

// A batch gathers a worker's matches.
type batch struct {
	rows    []uint32
	n       int
	width   int
	levels  [maxVars]int // pattern vertex by variable
	emitted uint64
}

func (b *batch) begin(r *run, pb *problem) {
	b.width, b.n, b.emitted = pb.n, 0, 0
	if need := batchRows * pb.n; len(b.rows) < need {
		b.rows = make([]uint32, need)
	}
	for i := range pb.n {
		b.levels[i] = pb.p.Levels[i].Vertex
	}
}

// flush hands the gathered matches to the sink, no more than the limit allows.
func (b *batch) flush(w *worker) {
	r := w.run
	n := b.n
	b.n = 0
	if n > 0 && r.limited {
		n = int(r.allow(int64(n)))
	}
	if n == 0 || r.mute.Load() {
		return
	}
	if r.sink != nil {
		e := engine.Batch{Rows: n, Width: b.width, Vertices: b.rows[:n*b.width]}
		if err := r.sink.Emit(w.id, &e); err != nil {
			r.fail(err)
		}
	}
	b.emitted += uint64(n)
}

// allow takes n matches from the limit, or its rest; then the run stops.
func (r *run) allow(n int64) int64 {
	left := r.allowance.Add(-n) + n
	if left > n {
		return n
	}
	r.cancel()
	return max(left, 0)
}

// emit gathers the current match.
func (w *worker) emit() {
	b := &w.out
	row := b.rows[b.n*b.width:][:b.width]
	for u, i := range w.value[:b.width] {
		row[b.levels[u]] = w.sp.univ[u][i]
	}
	b.n++
	full := b.n == batchRows
	if !full && w.run.limited && int64(b.n) >= w.run.allowance.Load() {
		full = true
	}
	if full {
		b.flush(w)
	}
}

// list enumerates the matches of the variables in c, unmatched at depth d. It
// reports whether there were any, and if not a core as product does.
func (w *worker) list(d int, c uint64) (bool, uint64) {
	w.count++
	if c == 0 {
		w.emit()
		return true, 0
	}
	if w.run.sink == nil && w.run.free && w.unlinked(c) {
		// A count with a limit: the remaining variables are arithmetic.
		n, core := w.product(d, c, false, engine.U64(1))
		if n.IsZero() {
			return false, core
		}
		take := int64(1) << 62
		if n.Hi == 0 && n.Lo < 1<<62 {
			take = int64(n.Lo)
		}
		w.out.emitted += uint64(w.run.allow(take))
		return true, 0
	}
	f := w.frames[d]
	f.comp, f.v, f.tail = c, w.chooseToList(c), true
	if d == 0 {
		w.run.roots.Add(uint64(w.size(f.v)))
	}
	f.rest = append(f.rest[:0], w.set(f.v)...)
	if c&(c-1) == 0 {
		return w.listLast(d)
	}
	return w.listBranch(d)
}

// unlinked reports whether no two variables of c are linked.
func (w *worker) unlinked(c uint64) bool {
	for m := c; m != 0; m &= m - 1 {
		if w.sp.pb.adj[bits.TrailingZeros64(m)]&c != 0 {
			return false
		}
	}
	return true
}

// chooseToList picks the variable with the fewest candidates for its links.
func (w *worker) chooseToList(c uint64) int {
	best, bestScore := -1, 0.0
	for m := c; m != 0; m &= m - 1 {
		v := bits.TrailingZeros64(m)
		score := float64(w.size(v))
		if score > 1 {
			score /= float64(1 + bits.OnesCount64(w.sp.pb.adj[v]&c))
			if w.sp.pb.adj[v]&c == 0 {
				score *= 1e6
			}
		}
		if best < 0 || score < bestScore {
			best, bestScore = v, score
		}
	}
	return best
}

// listBranch tries the candidates left in frame d.
func (w *worker) listBranch(d int) (bool, uint64) {
	f := w.frames[d]
	u := f.v
	others := f.comp &^ (1 << u)
	found := false
	core := uint64(1) << u
	for i := 0; i < len(f.rest); {
		x := f.rest[i]
		if x == 0 {
			i++
			continue
		}
		f.rest[i] = x & (x - 1)
		f.at = i<<6 + bits.TrailingZeros64(x)
		// Only now: this candidate cannot be given away, so a task gets done
		// and is not handed round.
		if w.work++; w.run.stopped() || w.work >= w.next && w.attend(d) {
			break
		}
		w.value[u] = uint32(f.at)
		var any bool
		var k uint64
		if bad := w.assign(d, u, f.at, others); bad >= 0 {
			k = 1 << bad
		} else {
			any, k = w.list(d+1, others)
		}
		if w.run.stopped() {
			w.undo(d + 1)
			break
		}
		if !any {
			// As in branch.
			if !found && w.frames[d+1].changed&k == 0 {
				w.undo(d + 1)
				return false, k
			}
			core |= k
		}
		w.undo(d + 1)
		found = found || any
		if d == 0 {
			w.run.rooted.Add(1)
		}
	}
	return found, core
}

// listLast emits a match for every candidate of the last variable.
func (w *worker) listLast(d int) (bool, uint64) {
	f := w.frames[d]
	for i := range f.rest {
		for x := f.rest[i]; x != 0; x &= x - 1 {
			w.value[f.v] = uint32(i<<6 + bits.TrailingZeros64(x))
			w.emit()
			if w.out.n == 0 && w.run.stopped() {
				return true, 0
			}
		}
		f.rest[i] = 0
	}
	return true, 0
}
