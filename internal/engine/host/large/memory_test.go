package large

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/memory"
)

// TestMemoryOfSparseRows: a candidate graph whose rows are lists is refused before it is made.
func TestMemoryOfSparseRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const nv, ne = 1 << 15, 1 << 18
	r := raw{label: make([]int, nv)}
	seen := map[[2]int]bool{}
	for len(r.edges) < ne {
		u, v := rng.IntN(nv), rng.IntN(nv)
		if e := [2]int{max(u, v), min(u, v)}; u != v && !seen[e] {
			seen[e] = true
			r.edges = append(r.edges, e)
		}
	}
	w := newWorld(r, false)
	q := raw{label: make([]int, 8), edges: [][2]int{{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}, {6, 5}, {7, 6}, {2, 0}}}
	p := planFor(w, q)
	made := func(limit int64) (bytes uint64, err error) {
		scratchPool = sync.Pool{New: scratchPool.New} // what an earlier run has made is not made again
		share := memory.NewAccount("the test may have").Share(limit)
		defer share.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Run(memory.WithShare(t.Context(), share), w.g, p, engine.Options{Threads: 1}, engine.Goal{Limit: 1})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, err
	}
	whole, err := made(0)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 2 << 20
	less, err := made(limit)
	var room *memory.Error
	if !errors.As(err, &room) {
		t.Fatalf("%v after %d of %d bytes", err, less, whole)
	}
	t.Logf("%d of %d", less, whole)
	if less > whole*2/3 {
		t.Errorf("%d bytes were made under a limit of %d, and %d without", less, limit, whole)
	}
}
