package plan

import (
	"sync"
	"sync/atomic"
)

// atOnce calls f with 0 to n-1, on as many threads as planning may use. What is
// random is seeded by the index, so that a plan does not depend on their number.
func (o *Options) atOnce(n int, f func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	var others sync.WaitGroup
	for range min(o.Threads, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
