package session

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/kir"
	devices "github.com/weftgraph/weft/internal/testing/device"
)

// TestScratchAgain: scratch memory stays for the next run that needs about as much, within a sixteenth of the budget. It goes when other memory
// is needed, and with Forget. A run that failed leaves none.
func TestScratchAgain(t *testing.T) {
	const budget = 1 << 20
	d := devices.Emulated(t, emu.Options{})
	s, err := Open([]*cuda.Device{d}, Options{Memory: budget, Ring: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wrong := errors.New("wrong")
	run := func(fail bool, sizes ...int64) (at []uint64) {
		t.Helper()
		_, err := s.Run(t.Context(), &Job{Name: "test", Program: &kir.Program{Name: "test"}, Chunk: 1, Start: func(x *Exec) (func() error, error) {
			for _, n := range sizes {
				b, err := x.Scratch("test", n)
				if err != nil {
					return nil, err
				}
				if b.Size != n {
					t.Errorf("%d bytes for %d", b.Size, n)
				}
				at = append(at, b.Ptr)
				if n := s.devs[0].room.used + s.devs[0].spares.bytes; n > budget {
					t.Errorf("%d bytes of %d", n, budget)
				}
			}
			return func() error {
				if fail {
					return wrong
				}
				return nil
			}, nil
		}})
		if fail != errors.Is(err, wrong) {
			t.Fatal(err)
		}
		return at
	}
	kept := func() int64 { return s.devs[0].spares.bytes }

	first := run(false, 30_000)[0]
	if again := run(false, 20_000)[0]; again != first {
		t.Errorf("other memory at %x, %x before", again, first)
	}
	if run(false, 40_000); kept() < 40_000 || kept() > budget/16 {
		t.Errorf("%d bytes are kept", kept())
	}
	before := kept()
	if run(false, 500_000); kept() > budget/16 {
		t.Errorf("%d bytes are kept after a run that needs much", kept())
	}
	run(false, 30_000)
	if run(false, budget-1000); kept() != 0 && s.devs[0].room.used+kept() > budget {
		t.Errorf("%d bytes are kept, %d before", kept(), before)
	}
	run(false, 30_000)
	if run(true, 30_000); kept() >= 30_000 {
		t.Errorf("%d bytes are kept of a run that failed", kept())
	}
	run(false, 30_000)
	if err := s.Forget(); err != nil || kept() != 0 {
		t.Errorf("%d bytes after Forget: %v", kept(), err)
	}
}
