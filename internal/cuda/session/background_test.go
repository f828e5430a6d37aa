package session_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/runtime/code"
	"github.com/weftgraph/weft/internal/testing/device"
)

// sevenText finds seven matches in any graph.
const sevenText = `
#include "base/tasks.cuh"
struct P { Run run; Graph graph; };
WEFT_KERNEL(seven, P) {
  if (Warp().leader()) add128(p.run.counters, 7);
}
`

// compiling is a device that counts what it compiles.
type compiling struct {
	cuda.Backend
	programs atomic.Int32
}

func (b *compiling) Compile(src cuda.Source) ([]byte, error) {
	b.programs.Add(1)
	return b.Backend.Compile(src)
}

// TestCompile: Compile has the kernels of a job compiled and does no more; the run
// compiles none, and gets the error of those that are wrong.
func TestCompile(t *testing.T) {
	device.Emulated(t, emu.Options{}) // whose run-time system may be kept: kernels may not
	b := &compiling{Backend: device.Backend(t, emu.Options{Optimize: "-O0"})}
	d, err := cuda.New(b, code.New(t.TempDir())) // which has no kernel of an earlier run
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := session.Open([]*cuda.Device{d}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	started := 0
	job := func(more string) *session.Job {
		p := &kir.Program{Name: "seven"}
		return &session.Job{
			Name: "seven", Program: p, Chunk: 1, Source: cuda.Source{Name: "seven.cu", Text: kircuda.Text(p) + sevenText + more},
			Start: func(x *session.Exec) (func() error, error) {
				started++
				k, err := x.Kernel("seven")
				return func() error { return session.Launch(x, k, cuda.Launch{Blocks: 1, Threads: 32}, (*struct{})(nil)) }, err
			},
		}
	}
	good, wrong := job(""), job("#error this is no kernel\n")
	before := d.InUse()
	for _, j := range []*session.Job{good, wrong, good} {
		if err := s.Compile(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	if started != 0 || d.InUse() != before {
		t.Errorf("started %d times, %d bytes more in use", started, d.InUse()-before)
	}
	for range 2 {
		r, err := s.Run(t.Context(), good)
		if err != nil || r.Matches != (session.Count{Lo: 7}) {
			t.Errorf("%v matches, not 7, %v", r.Matches, err)
		}
	}
	if _, err := s.Run(t.Context(), wrong); !errors.Is(err, cuda.ErrCompile) || !strings.Contains(err.Error(), "this is no kernel") {
		t.Errorf("error %v", err)
	}
	if n := b.programs.Load(); n != 2 {
		t.Errorf("%d programs were compiled", n)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if err := s.Compile(ctx, good); !errors.Is(err, why) {
		t.Errorf("after the end of its context: %v", err)
	}
}
