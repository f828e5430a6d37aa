package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/testing/device"
)

// loading is a device that counts the programs it gets, and passes for a GPU if it
// should.
type loading struct {
	cuda.Backend
	gpu      bool
	programs int
}

func (b *loading) Open() (cuda.Info, error) {
	i, err := b.Backend.Open()
	i.Emulated = !b.gpu
	return i, err
}

func (b *loading) Load(image []byte) (cuda.Handle, error) {
	b.programs++
	return b.Backend.Load(image)
}

// TestParts: on a GPU kernels of a job are programs of their own, except kernels with the same
// text. On an emulated device all are one program. The counts are the same.
func TestParts(t *testing.T) {
	w := newWorld(60, 6)
	const begin = "#include \"base/tasks.cuh\"\n#include \"base/ring.cuh\"\n"
	const two = "WEFT_KERNEL(nothing, P) {}\nWEFT_KERNEL(again, P) {}\n"
	programs := map[bool]int{}
	for _, gpu := range []bool{false, true} {
		b := &loading{Backend: device.Backend(t, emu.Options{}), gpu: gpu}
		d, err := cuda.New(b, device.Objects().Images)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		j := w.job()
		text, kernel, _ := strings.Cut(j.Source.Text, "WEFT_KERNEL")
		j.Source.Text = begin + text
		j.Parts = map[string]string{"edges": "WEFT_KERNEL" + kernel, "nothing": two, "again": two}
		start := j.Start
		j.Start = func(x *session.Exec) (func() error, error) {
			for _, name := range []string{"nothing", "again"} {
				k, err := x.Kernel(name)
				if err != nil {
					return nil, err
				}
				if err := session.Launch(x, k, cuda.Launch{Blocks: 1, Threads: 32}, (*struct{})(nil)); err != nil {
					return nil, err
				}
			}
			return start(x)
		}
		r, err := s.Run(context.Background(), j)
		if err != nil || r.Matches != (session.Count{Lo: uint64(len(w.edges))}) {
			t.Errorf("GPU %v: %v matches, not %d, %v", gpu, r.Matches, len(w.edges), err)
		}
		programs[gpu] = b.programs
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if programs[true] != programs[false]+1 {
		t.Errorf("%d programs on an emulated device, and on a GPU %d", programs[false], programs[true])
	}
}
