package weft

import (
	"testing"

	"github.com/weftgraph/weft/internal/native"
)

// TestMostThreads: no search nor reader is given more threads than a machine can
// have.
func TestMostThreads(t *testing.T) {
	for n, want := range map[int]int{1: 1, 3: 3, native.MostWorkers: native.MostWorkers, 1 << 30: native.MostWorkers} {
		s, err := collect(callOpen, []Option{WithThreads(n)})
		if err != nil {
			t.Fatal(err)
		}
		if s.workers() != want || s.read.Threads != want {
			t.Errorf("%d threads: %d, and %d that read", n, s.workers(), s.read.Threads)
		}
	}
}
