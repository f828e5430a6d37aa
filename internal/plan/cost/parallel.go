package cost

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// Parallel calls f with 0 to n-1, on as many threads as planning may use. It blocks until all
// calls have returned. Random numbers are seeded by the index, so that a plan does not depend
// on the number of threads. A panic in f, as over a corrupt file, becomes a panic of the
// caller, where it can be recovered.
func Parallel(o *plan.Options, n int, f func(i int)) {
	var next atomic.Int64
	var caught atomic.Pointer[any]
	work := func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if x := recover(); x != nil {
				caught.Store(&x)
				next.Store(int64(n)) // the others leave
			}
		}()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	var others crew.Crew
	others.Spread(min(o.Threads, n)-1, crew.Short, func(int, *crew.Memory) { work() })
	work()
	others.Wait()
	if x := caught.Load(); x != nil {
		panic(*x)
	}
}
