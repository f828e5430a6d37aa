package session_test

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/testing/device"
)

// degreesText writes the degrees of vertices, then adds up those of every other
// vertex from an offset on.
const degreesText = `
#include "base/control.cuh"
#include "base/graph.cuh"
struct X { u32* degrees; u32* ready; u32 from, step; };
struct P { Run run; Graph graph; X x; };
WEFT_KERNEL(write, P) {
  for (u32 v = block() * threads() + thread(); v < p.run.vertices; v += blocks() * threads())
    p.x.degrees[v] = degree(p.graph.adj[0], v);
}
WEFT_KERNEL(mark, P) {
  if (thread() == 0) p.x.ready[0] = 1;
}
WEFT_KERNEL(sum, P) {
  u64 n = 0;
  if (p.x.ready[0])
    for (u32 v = p.x.from + p.x.step * thread(); v < p.run.vertices; v += p.x.step * threads()) n += p.x.degrees[v];
  n = Warp::sum(n);
  if (lane() == 0) {
    add128(p.run.counters, n);
    if (warp() == 0) atomic_add(&p.run.counters->cursor, p.run.tasks); // its own
  }
}
`

type degreesX struct {
	Degrees, Ready uint64
	From, Step     uint32
}

// TestBranches adds up degrees by two kernels in branches of the search on each device. They
// begin behind the stream's work at the fork, and the search ends when they have ended. The
// array that was made for the graph is made once.
func TestBranches(t *testing.T) {
	w := newWorld(300, 6)
	devices := []*cuda.Device{device.Emulated(t, emu.Options{}), device.Emulated(t, emu.Options{Seed: device.Seed()})}
	s, err := session.Open(devices, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	made := make([]int, len(devices))
	p := w.program()
	j := &session.Job{Name: "degrees", Program: p, Vertices: w.n, Tasks: uint64(w.n), Chunk: 1}
	j.Source = cuda.Source{Name: "degrees.cu", Text: kircuda.Text(p) + degreesText}
	j.Start = func(x *session.Exec) (func() error, error) {
		kernels := map[string]*cuda.Kernel{}
		for _, name := range []string{"write", "mark", "sum"} {
			k, err := x.Kernel(name)
			if err != nil {
				return nil, err
			}
			kernels[name] = k
		}
		a := degreesX{}
		b, note, err := x.Keep("degrees", p.Globals[0], int64(4*w.n), func(b cuda.Buffer) (any, error) {
			made[x.Index()]++
			a.Degrees = b.Ptr
			return "note", session.Launch(x, kernels["write"], cuda.Launch{Blocks: 2, Threads: 64}, &a)
		})
		if err != nil || note != "note" {
			t.Errorf("kept: %v, %v", note, err)
			return nil, err
		}
		ready, err := x.Scratch("a flag", 8)
		if err != nil {
			return nil, err
		}
		if err := x.Context().Clear(ready, x.Stream()); err != nil {
			return nil, err
		}
		if err := x.OwnTasks(uint64(w.n) / 2); err != nil {
			return nil, err
		}
		a.Degrees, a.Ready, a.Step = b.Ptr, ready.Ptr, 4
		first := session.Prepared(x, kernels["mark"], cuda.Launch{Blocks: 1, Threads: 32}, &a)
		var sums []func() error
		for i := range 2 {
			branch, err := x.Branch()
			if err != nil {
				return nil, err
			}
			a.From = uint32(2*x.Index() + i)
			sums = append(sums, session.Prepared(x, kernels["sum"], cuda.Launch{Blocks: 1, Threads: 64, Stream: branch}, &a))
		}
		return func() error {
			if err := first(); err != nil {
				return err
			}
			if err := x.Fork(); err != nil {
				return err
			}
			for _, sum := range sums {
				if err := sum(); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
	want := session.Count{Lo: uint64(len(w.adj))}
	for range 3 {
		r, err := s.Run(context.Background(), j)
		if err != nil || r.Matches != want || !r.Complete {
			t.Fatalf("%v matches, complete %v, %v; want %v", r.Matches, r.Complete, err, want)
		}
		tasks := uint64(0)
		for _, d := range r.Devices {
			tasks += d.Tasks
		}
		if tasks != uint64(w.n) {
			t.Errorf("%d tasks, want %d", tasks, w.n)
		}
	}
	for i, n := range made {
		if n != 1 {
			t.Errorf("device %d made its array %d times", i, n)
		}
	}
}
