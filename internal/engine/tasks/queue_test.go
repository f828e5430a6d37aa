package tasks

import (
	"context"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/runtime/crew"
)

// TestPanics: a panic of a worker or of progress is one of Run, and ends the search of the others.
func TestPanics(t *testing.T) {
	for _, c := range []struct {
		who      string
		worker   int // that panics
		progress func(uint64)
	}{
		{"the caller's worker", 0, nil},
		{"progress", -1, func(uint64) { panic("progress") }},
	} {
		var q Queue[int]
		q.Init(2, true, 8, func(i uint64) (int, bool) { return int(i), true })
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", c.who)
				}
			}()
			q.Run(context.Background(), nil, c.progress, func(worker int, _ *crew.Memory) {
				if worker == c.worker {
					panic("worker")
				}
				for end := time.Now().Add(time.Minute); !q.Stop.Load() && time.Now().Before(end); {
					time.Sleep(time.Millisecond)
				}
				if !q.Stop.Load() {
					t.Errorf("%s: the search went on", c.who)
				}
			})
		}()
		if q.Failure() == nil {
			t.Errorf("%s: no failure", c.who)
		}
	}
}
