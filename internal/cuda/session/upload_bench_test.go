package session_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/testing/device"
)

// BenchmarkRun is a run without a search: what the session does around one, with arrays that
// are on the device and with those that are copied each time.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1000, 30000, 1000000} { // lists of 32 KiB, 1 MiB and 30 MiB
		w := newWorldOf(n)
		s, err := session.Open([]*cuda.Device{device.Emulated(b, emu.Options{})}, session.Options{})
		if err != nil {
			b.Fatal(err)
		}
		j := w.job()
		j.Program.Globals[0].Oriented, j.Tasks = false, 0
		j.Start = func(*session.Exec) (func() error, error) { return func() error { return nil }, nil }
		for _, copied := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d KiB, copied %v", 4*len(w.adj)>>10, copied), func(b *testing.B) {
				for b.Loop() {
					if copied {
						if err := s.Forget(); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := s.Run(context.Background(), j); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
