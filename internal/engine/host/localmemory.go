package host

import (
	"sync"

	"github.com/weftgraph/weft/internal/runtime/crew"
)

// localScratch is the memory of a worker that serves any search, of this graph
// or of another: arrays over the vertices, all 0 between two roots.
type localScratch struct {
	_     [128]byte // as padded has it
	hood  neighbourhood
	wedge wedges
	_     [128]byte
}

// bytes is the size of the arrays over the vertices that a plan needs.
func (*localScratch) bytes(lp *localProgram) int {
	arrays := 1
	if lp.outside {
		arrays = 2
		if !lp.sizesOnly {
			arrays = 3
		}
	}
	return 4 * arrays * lp.g.NumVertices()
}

// localMemory keeps memory that workers no longer need for later runs.
var localMemory = sync.Pool{New: func() any { return new(localScratch) }}

// free ends w. The memory of a worker that panicked is not used again.
func (w *localWorker) free() {
	w.hood.leave()
	x := &w.wedge
	x.memo = x.memo[:0]
	localMemory.Put(w.localScratch)
	w.localScratch = nil
}

// enough is s, all of which is 0, with n elements, which are m's if s has fewer.
func enough(m *crew.Memory, s []uint32, n int) []uint32 {
	if cap(s) < n {
		return crew.Take[uint32](m, n)
	}
	return s[:n]
}
