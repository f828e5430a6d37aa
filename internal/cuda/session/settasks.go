package session

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
)

// SetTasks says that the tasks of the run are 0 … n-1, whatever the job said: for
// a search whose tasks are made on the device. Only in a run on one device, and
// before the kernel that takes tasks is launched.
func (x *Exec) SetTasks(n uint64) error {
	r := x.running
	switch {
	case len(r.parts) != 1:
		return errors.New("session: several devices share the tasks of a run; one of them cannot set their number")
	case n >= 1<<(cursorBits-1):
		return fmt.Errorf("session: %d tasks; a run has less than 2^%d", n, cursorBits-1)
	}
	r.mu.Lock()
	c := r.controls[0]
	r.split = newSplitter(n, r.job.Chunk, 1)
	g := r.split.first(0, c)
	r.mu.Unlock()
	x.run.Tasks = n
	return cuda.Upload(x.c, x.counters, int64(unsafe.Offsetof(counters{}.Grant)), []grant{g})
}
