// Package runtime owns the resources that searches share and that outlive each of them. They are open GPUs with
// their session, compiled code, and threads. Compiled code is kept in memory and on disk. Two runtimes of
// one process share nothing. The package has no variables that change.
//
// A query waits only for itself: no lock is held while a query waits for a device, and each wait ends with
// the query's context.
//
// It knows devices, and graphs as owners of memory. It must not know plans or engines.
package runtime

import (
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/runtime/code"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// Options say how a runtime works. The zero value keeps compiled code in memory.
type Options struct {
	// Folder is where compiled code is kept on disk; "": nowhere. See code.Folder.
	Folder string
	// Alone says that nothing else in this process uses CUDA, and that the runtime runs one
	// search at a time. The driver then starts only for the GPUs that are asked for by name;
	// names keep their meaning. Threads stand by between searches. The driver's setting holds
	// for the life of the process, so Alone is for a command.
	Alone bool

	// Count returns the number of GPUs, and Open opens one. With nil they are those of this
	// machine. Tests set their own.
	Count func() (int, error)
	Open  func(ordinal int) (*cuda.Device, error)
}

// Runtime owns devices, compiled code and threads. Safe for concurrent use.
type Runtime struct {
	Objects *native.Cache // compiled code; its Images have GPU kernels too
	Crew    *crew.Pool    // nil: no threads stand by
	Leases  Leases        // of calls that use the runtime

	o    Options
	gpus holder

	mu    sync.Mutex
	early time.Duration // see Early
}

// New makes a runtime. It opens nothing.
func New(o Options) *Runtime {
	images := code.New(o.Folder)
	if o.Count == nil {
		o.Count = cuda.Count
	}
	if o.Open == nil {
		o.Open = func(n int) (*cuda.Device, error) { return cuda.Open(n, images) }
	}
	r := &Runtime{Objects: native.NewCache(images), o: o}
	if o.Alone {
		r.Crew = crew.NewPool()
	}
	return r
}

// Close gives back the GPUs and ends the threads that stand by, once the calls that hold a
// lease have ended: the last of them does it. Close waits for none of them. Closing twice
// does nothing.
func (r *Runtime) Close() error {
	if r.Leases.Close() {
		return r.free()
	}
	return nil
}

// Leave gives back a lease that a caller took of r.Leases.
func (r *Runtime) Leave() error {
	if r.Leases.Give() {
		return r.free()
	}
	return nil
}

// free gives back all that r holds. Nothing runs.
func (r *Runtime) free() error {
	r.Crew.Close()
	return r.gpus.close()
}

// readyBytes is the least size of a graph for which a thread pays. Making threads slows down
// the one that has begun, and counts in smaller graphs end before the threads are ready.
const readyBytes = 32 << 10

// Ready has threads stand by for a short while for a search in a graph of that many bytes, if
// the device is the processor. It is called while a graph is read, for the search that follows.
// It returns at once.
func (r *Runtime) Ready(device string, threads int, bytes int64) {
	if list, err := ordinals(device); err == nil && len(list) == 0 {
		n := int(min(int64(threads), bytes/readyBytes))
		r.Crew.Ready(max(0, n-1)) // the caller of the search is one
	}
}

// narrow tells package cuda, before anything else is asked of it, which GPUs are wanted.
func (r *Runtime) narrow(list []int) {
	if r.o.Alone && len(list) > 0 {
		cuda.Only(list...)
	}
}
