package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// faulty opens an emulated device whose calls fail as f says.
func faulty(t *testing.T, f *cuda.Faults) *cuda.Device {
	t.Helper()
	f.Backend = device.Backend(t, emu.Options{})
	d, err := cuda.New(f, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// runWith runs a counting and a listing job over one sound device and one with
// faults, and a counting job again afterwards. It returns the first error and
// checks that there is no number with it, and that nothing leaks. text makes the
// source another one, which no cache has.
func runWith(t *testing.T, w *world, f *cuda.Faults, text string) error {
	t.Helper()
	bad := faulty(t, f)
	good := faulty(t, &cuda.Faults{})
	defer bad.Close()
	defer good.Close()
	devices := []*cuda.Device{bad, good}
	if f.FailCompile > 0 {
		devices = devices[:1] // or the sound one may compile for both
	}
	s, err := session.Open(devices, session.Options{Ring: 4096})
	if err != nil {
		return err
	}
	want := session.Count{Lo: uint64(len(w.edges))}
	var first error
	for k := range 3 {
		j := w.job()
		j.PerRoot = true
		j.Source.Text += text
		var rows [][2]uint32
		if k == 1 {
			list(j, &rows)
		}
		res, err := s.Run(context.Background(), j)
		switch {
		case err == nil && (res.Matches != want || !res.Complete):
			t.Errorf("run %d: %v matches, complete %v, and no error; want %v", k, res.Matches, res.Complete, want)
		case err != nil && (res.Matches != session.Count{} || res.Complete || res.PerRoot != nil):
			t.Errorf("run %d: %v matches with error %v", k, res.Matches, err)
		}
		if first == nil {
			first = err
		}
	}
	closed := s.Close()
	if first == nil {
		first = closed
	}
	if errors.Is(first, cuda.ErrLost) {
		return first // the device keeps its memory until Close
	}
	for _, d := range []*cuda.Device{bad, good} {
		if n := d.InUse(); n != 0 {
			t.Errorf("%d bytes are in use after error %v", n, first)
		}
	}
	return first
}

// TestFaults: whatever call fails, the run fails with its error, no number comes
// with it, nothing leaks, and the session goes on if the device does.
func TestFaults(t *testing.T) { testFaults(t, newWorld(400, 6)) }

// TestFaultsHost: the same where neighbour lists lie in host memory.
func TestFaultsHost(t *testing.T) {
	w := newWorld(400, 6)
	w.place = session.Host
	testFaults(t, w)
}

func testFaults(t *testing.T, w *world) {
	sound := &cuda.Faults{}
	if err := runWith(t, w, sound, ""); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		name string
		want error
		set  func(f *cuda.Faults, n int)
		most int
	}{
		{"alloc", cuda.ErrMemory, func(f *cuda.Faults, n int) { f.FailAlloc = n }, 100},
		{"launch", cuda.ErrLaunch, func(f *cuda.Faults, n int) { f.FailLaunch = n }, 100},
		{"skip", cuda.ErrLaunch, func(f *cuda.Faults, n int) { f.SkipFrom = n }, 100},
		{"gap", cuda.ErrLaunch, func(f *cuda.Faults, n int) { f.SkipOne = n }, 100},
		{"compile", cuda.ErrCompile, func(f *cuda.Faults, n int) { f.FailCompile = n }, 100},
		{"copy", nil, func(f *cuda.Faults, n int) { f.FailCopy = n }, 100},
		{"work", cuda.ErrLost, func(f *cuda.Faults, n int) { f.FailWork = n }, 100},
		{"lose", cuda.ErrLost, func(f *cuda.Faults, n int) { f.LoseAfter = n }, sound.Calls()},
	} {
		t.Run(k.name, func(t *testing.T) {
			seen := 0
			step := 1
			if !long.Asked() {
				step = 5
			}
			for n := 1; n <= k.most; n += step {
				f := &cuda.Faults{}
				k.set(f, n)
				text := ""
				if k.want == cuda.ErrCompile {
					text = fmt.Sprintf("// %d", time.Now().UnixNano())
				}
				err := runWith(t, w, f, text)
				if err == nil {
					break // there is no n-th such call
				}
				seen++
				if text := err.Error(); errors.Is(err, cuda.ErrLost) && strings.Count(text, "injected") != 1 {
					t.Errorf("%s %d: said more than once: %s", k.name, n, text)
				}
				if k.want != nil && !errors.Is(err, k.want) {
					t.Errorf("%s %d: error %v, want %v", k.name, n, err, k.want)
				}
			}
			if seen == 0 {
				t.Error("no fault came to pass")
			}
		})
	}
}

// faultText reports a fault from one lane, and runs on.
const faultText = `
#include "base/tasks.cuh"
struct P { Run run; Graph graph; };
WEFT_KERNEL(edges, P) {
  Warp g;
  while (!stopped(g, p.run)) {
    Chunk t = take(g, p.run);
    if (t.over) break;
    if (g.leader() && t.count && t.first <= 77 && 77 < t.first + t.count) fail(p.run, 3, 77);
    if (g.leader()) add128(p.run.counters, t.count);
  }
}
`

func TestKernelFault(t *testing.T) {
	w := newWorld(400, 6)
	on(t, 2, session.Options{}, func(t *testing.T, s *session.Session) {
		j := w.job()
		j.Source.Text = kircuda.Text(j.Program) + faultText
		j.FaultText = func(code uint32, about uint64) string { return fmt.Sprintf("code %d at task %d", code, about) }
		res, err := s.Run(context.Background(), j)
		var f *session.Fault
		if !errors.As(err, &f) || f.Code != 3 || f.About != 77 || !errors.Is(err, cuda.ErrLaunch) || !strings.Contains(err.Error(), "code 3 at task 77") {
			t.Errorf("error %v", err)
		}
		if res.Matches != (session.Count{}) {
			t.Errorf("%v matches", res.Matches)
		}
	})
}

// TestKernelLeaves: a kernel that ends the run by itself has failed, and so has one whose
// rows do not arrive: both are errors of a launch, for which others may count instead.
func TestKernelLeaves(t *testing.T) {
	w := newWorld(400, 6)
	for what, text := range map[string]string{
		"left early": "store_relaxed(&p.run.counters->stop, 1u);",
		"arrived":    "if (p.run.ring && g.leader()) atomic_add(&p.run.counters->reserved, (u64)1);",
	} {
		on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
			j := w.job()
			list(j, new([][2]uint32))
			j.Source.Text = strings.Replace(j.Source.Text, "  if (g.leader()) add128", text+"\n  if (g.leader()) add128", 1)
			res, err := s.Run(context.Background(), j)
			if !errors.Is(err, cuda.ErrLaunch) || !strings.Contains(err.Error(), what) || res.Matches != (session.Count{}) {
				t.Errorf("%s: %v matches, %v", what, res.Matches, err)
			}
		})
	}
}

// overflowText adds 2^127 a task.
const overflowText = `
#include "base/tasks.cuh"
struct P { Run run; Graph graph; };
WEFT_KERNEL(edges, P) {
  Warp g;
  for (Chunk t = take(g, p.run); !t.over; t = take(g, p.run))
    if (g.leader() && t.count) add128(p.run.counters, (u128)t.count << 127);
}
`

func TestOverflow(t *testing.T) {
	w := newWorld(16, 2)
	for _, k := range []struct {
		tasks uint64
		want  error
	}{{1, nil}, {2, session.ErrOverflow}, {3, session.ErrOverflow}} {
		for _, devices := range []int{1, 2} {
			on(t, devices, session.Options{}, func(t *testing.T, s *session.Session) {
				j := w.job()
				j.Source.Text = kircuda.Text(j.Program) + overflowText
				j.Tasks, j.Chunk = k.tasks, 1
				res, err := s.Run(context.Background(), j)
				if !errors.Is(err, k.want) {
					t.Errorf("%d tasks: error %v, want %v", k.tasks, err, k.want)
				}
				if err == nil && res.Matches != (session.Count{Hi: 1 << 63}) {
					t.Errorf("%v matches", res.Matches)
				}
			})
		}
	}
}

// TestSlowCompiler: a run whose time is over while its kernels compile does not
// wait for them, and what it returns says that it is not complete.
func TestSlowCompiler(t *testing.T) {
	w := newWorld(100, 6)
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	defer release()
	f := &cuda.Faults{HoldCompile: hold}
	d := faulty(t, f)
	defer d.Close()
	s, err := session.Open([]*cuda.Device{d}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	why := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, why)
	defer cancel()
	j := w.job()
	j.Source.Text += fmt.Sprintf("// %d: in no cache\n", time.Now().UnixNano())
	res, err := s.Run(ctx, j) // if it waited for the compiler, it would not return
	if !errors.Is(err, why) || res.Complete || res.Matches != (session.Count{}) {
		t.Errorf("%+v, %v", res, err)
	}
	release()
	// What was begun serves the next run.
	res, err = s.Run(context.Background(), j)
	if want := (session.Count{Lo: uint64(len(w.edges))}); err != nil || !res.Complete || res.Matches != want {
		t.Errorf("%v matches, complete %v, %v; want %v", res.Matches, res.Complete, err, want)
	}
}
