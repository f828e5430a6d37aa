package session

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/kir"
	devices "github.com/weftgraph/weft/internal/testing/device"
)

// TestLendAgain: page-locked memory that a run has borrowed stays for the next run that borrows, past runs that do not, but not for ever.
func TestLendAgain(t *testing.T) {
	d := devices.Emulated(t, emu.Options{})
	s, err := Open([]*cuda.Device{d}, Options{Memory: 1 << 20, Ring: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := func(bytes int64) (at uint64) {
		t.Helper()
		_, err := s.Run(t.Context(), &Job{Name: "test", Program: &kir.Program{Name: "test"}, Chunk: 1, Start: func(x *Exec) (func() error, error) {
			return func() error {
				if bytes == 0 {
					return nil
				}
				p, err := x.Lend(bytes)
				if err == nil {
					at = p.Ptr()
				}
				return err
			}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	first := run(5000)
	for range spareRuns {
		run(0)
	}
	if again := run(4000); again != first {
		t.Errorf("other memory at %x, %x before", again, first)
	}
	for range spareRuns + 1 {
		run(0)
	}
	if n := len(s.devs[0].spare); n != 0 {
		t.Errorf("%d pieces of memory after %d runs without", n, spareRuns+1)
	}
	run(5000)
	run(50000)
	if n := len(s.devs[0].spare); n != 1 {
		t.Errorf("%d pieces of memory after runs that borrowed one each", n)
	}
}
