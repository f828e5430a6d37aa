package weft

import (
	"testing"

	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/setting"
)

// TestMostThreads: no search and no reader gets more threads than a machine can have.
func TestMostThreads(t *testing.T) {
	for n, want := range map[int]int{1: 1, 3: 3, native.MostWorkers: native.MostWorkers, 1 << 30: native.MostWorkers} {
		s, err := collect(setting.Open, []Option{WithThreads(n)})
		if err != nil {
			t.Fatal(err)
		}
		if s.Workers() != want || s.Read.Threads != want {
			t.Errorf("%d threads: %d, and %d that read", n, s.Workers(), s.Read.Threads)
		}
	}
}
