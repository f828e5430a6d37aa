package cost

import (
	"github.com/weftgraph/weft/internal/plan"
	"sync"
	"testing"
)

// TestPanicOfAnother: a panic of another thread than the caller's can be recovered.
func TestPanicOfAnother(t *testing.T) {
	for _, threads := range []int{0, 1, 4} {
		all := max(threads, 1)
		var inside sync.WaitGroup // so that each thread has one of the first calls
		inside.Add(all)
		called := make([]bool, 100)
		caught := func() (x any) {
			defer func() { x = recover() }()
			o := plan.Options{Threads: threads}
			Parallel(&o, len(called), func(i int) {
				called[i] = true
				inside.Done()
				inside.Wait()
				panic(i)
			})
			return nil
		}()
		if i, ok := caught.(int); !ok || i >= all {
			t.Errorf("%d threads: %v", threads, caught)
		}
		for i, called := range called {
			if called != (i < all) {
				t.Errorf("%d threads: %d called: %v", threads, i, called)
			}
		}
	}
}
