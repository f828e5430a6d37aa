package session

import (
	"sync/atomic"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
)

// OwnTasks says that this device does up to n tasks of its own choice, and gets none from the
// host. It is for searches that know their device's part of all tasks. Call it in Start, on
// every device of the run. The kernels add the finished tasks to the cursor. A complete run has
// done all of the job's tasks.
func (x *Exec) OwnTasks(n uint64) error {
	r := x.running
	r.mu.Lock()
	d := &r.split.devs[x.index]
	r.split.next = r.split.total
	g := grant{Count: n}
	d.c.Grant[0] = g
	atomic.StoreUint32(&d.c.Closed, 1)
	r.mu.Unlock()
	return cuda.Upload(x.c, x.counters, int64(unsafe.Offsetof(counters{}.Grant)), []grant{g})
}
