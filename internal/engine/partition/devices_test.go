package partition_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/engine/partition"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// named is a device with a name.
type named struct {
	cuda.Backend
	name string
}

func (b *named) Open() (cuda.Info, error) {
	i, err := b.Backend.Open()
	i.Name = b.name
	return i, err
}

// several opens emulated devices with names: first, second and so on. A change makes another backend of each.
func several(t *testing.T, n int, change func(i int, b cuda.Backend) cuda.Backend) (all []*cuda.Device) {
	t.Helper()
	for i, name := range []string{"first", "second", "third", "fourth"}[:n] {
		b := device.Backend(t, emu.Options{SMs: 1})
		if change != nil {
			b = change(i, b)
		}
		d, err := cuda.New(&named{b, name}, device.Objects().Images)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if n := d.InUse(); n != 0 && !d.Lost() {
				t.Errorf("%d bytes are in use on the %s device", n, name)
			}
			_ = d.Close() // reports the loss of a device again
		})
		all = append(all, d)
	}
	return all
}

// rowsOf is a sink that keeps all rows.
type rowsOf struct {
	mu   sync.Mutex
	rows []string
	busy []bool // by worker
	err  error
}

func (s *rowsOf) Emit(worker int, b *engine.Batch) error {
	s.mu.Lock()
	if worker >= len(s.busy) || s.busy[worker] {
		s.err = fmt.Errorf("worker %d of %d, which may be busy", worker, len(s.busy))
		defer s.mu.Unlock()
		return s.err
	}
	s.busy[worker] = true
	s.mu.Unlock()
	var rows []string
	for i := range b.Rows {
		rows = append(rows, fmt.Sprint(b.Vertices[i*b.Width:][:b.Width]))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[worker] = false
	s.rows = append(s.rows, rows...)
	return nil
}

// TestDevices: 1 to 4 devices count and list what the oracle does, with fewer parts than devices, and more. A listing with a limit has as
// many rows as it allows, none of them twice.
func TestDevices(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 220, Seed: 1})
	for i, name := range []string{"triangle", "cycle(4)"} {
		p, listed := compile(t, g, name, plan.Options{}), compile(t, g, name, plan.Options{Listing: true})
		want, err := engine.Once(t.Context(), oracle.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		for n := 1 + i; n <= 4; n += 2 - i { // triangles on 1 and 3 devices, cycles on 2 to 4
			engines.WithSession(t, session.Options{Ring: 1 << 12}, func(s *session.Session) {
				for _, parts := range []string{"1", "3", "7"} {
					o := engine.Options{Opt: map[string]string{"partition.parts": parts}}
					got, err := engine.Once(t.Context(), over(s), g, p, o, engine.Goal{})
					if err != nil || got.Matches != want.Matches || !got.Complete {
						t.Errorf("%s, %s parts on %d devices: %v (complete %v, %v), want %v", name, parts, n, got.Matches, got.Complete, err, want.Matches)
					}
				}
				for _, limit := range []int64{0, 5, int64(want.Matches.Lo) - 1} {
					sink := &rowsOf{busy: make([]bool, s.Workers())}
					o := engine.Options{Opt: map[string]string{"partition.parts": "5"}}
					got, err := engine.Once(t.Context(), over(s), g, listed, o, engine.Goal{Sink: sink, Limit: limit})
					all, wanted := len(sink.rows), want.Matches
					if limit > 0 {
						wanted = engine.U64(uint64(limit))
					}
					slices.Sort(sink.rows)
					if err != nil || got.Matches != wanted || uint64(all) != wanted.Lo || len(slices.Compact(sink.rows)) != all || got.Complete != (limit == 0) {
						t.Errorf("%s on %d devices, limit %d: %d rows, %v (complete %v, %v), want %v", name, n, limit, all, got.Matches, got.Complete, err, wanted)
					}
				}
			}, several(t, n, nil)...)
		}
	}
}

// meeting is an engine whose first runs wait until there are as many as devices.
type meeting struct {
	engine.Engine
	all *meetings
}

type meetings struct {
	mu       sync.Mutex
	want     int
	sessions []string
	sizes    []int
	met      chan struct{}
}

func (e *meeting) Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	ready, err := e.Engine.Prepare(ctx, g, p, o)
	return &meetingRun{ready, e, g}, err
}

type meetingRun struct {
	engine.Prepared
	e *meeting
	g *graph.Graph
}

func (r *meetingRun) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	a := r.e.all
	a.mu.Lock()
	a.sizes = append(a.sizes, len(r.g.Out.Adj))
	if a.want--; a.want == 0 {
		close(a.met)
	}
	a.mu.Unlock()
	select {
	case <-a.met:
	case <-time.After(time.Minute): // the test has failed
		return engine.Result{}, errors.New("other devices search no part at the same time")
	}
	res, err := r.Prepared.Run(ctx, goal)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions = append(a.sessions, res.Device)
	return res, err
}

// TestDealt: parts go to devices, which search at the same time, the largest parts first. A run says how many each had.
func TestDealt(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 8, M: 1500, Seed: 1})
	p := compile(t, g, "triangle", plan.Options{})
	want, err := engine.Once(t.Context(), oracle.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 3} {
		engines.WithSession(t, session.Options{}, func(s *session.Session) {
			all := &meetings{want: n, met: make(chan struct{})}
			e := partition.New(s, func(s *session.Session) []engine.Engine { return []engine.Engine{&meeting{join.NewGPU(s), all}} })
			var told []uint64
			goal := engine.Goal{Progress: func(done, total uint64) { told = append(told, done*1000/total) }}
			got, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: map[string]string{"partition.parts": "6"}}, goal)
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Errorf("%d devices: %v (complete %v, %v), want %v", n, got.Matches, got.Complete, err, want.Matches)
			}
			if !slices.IsSorted(told) || len(told) == 0 || told[len(told)-1] > 1000 {
				t.Errorf("progress %v", told)
			}
			if n == 1 {
				if len(all.sizes) != 6 || !slices.IsSortedFunc(all.sizes, func(a, b int) int { return b - a }) {
					t.Errorf("parts of %v entries, in the order of their searches", all.sizes)
				}
				return
			}
			slices.Sort(all.sessions)
			if len(all.sessions) != 6 || len(slices.Compact(all.sessions)) != n {
				t.Errorf("parts were searched on %v", all.sessions)
			}
			if said := strings.Join(got.Stats, "\n"); !strings.Contains(said, "parts went to 3 devices, which searched") {
				t.Error(said)
			}
		}, several(t, n, nil)...)
	}
}

// TestPartOfEachDevice: a graph that does not fit one device has a part for each at least, and one that fits has one part. The plan says so.
func TestPartOfEachDevice(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 8, M: 1500, Seed: 1})
	p := compile(t, g, "triangle", plan.Options{})
	devices := several(t, 4, nil)
	for memory, want := range map[int64]string{24 << 10: "into 4 parts", 1 << 20: "into 1 parts"} {
		engines.WithSession(t, session.Options{Memory: memory}, func(s *session.Session) {
			ready, err := over(s).Prepare(t.Context(), g, p, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(ready.Traits().Phases, "\n")
			if dealt := strings.Contains(said, "each of 4 devices takes the next part"); !strings.Contains(said, want) || dealt != (memory < 1<<20) {
				t.Errorf("%d bytes: %s", memory, said)
			}
		}, devices...)
	}
}

// TestDevicesFail: an error of one device ends the run with that device's name, wherever it comes. Nothing is left on the others.
func TestDevicesFail(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 250, Seed: 2})
	p := compile(t, g, "triangle", plan.Options{})
	for what, fault := range map[string]func(n int) *cuda.Faults{
		"lost":   func(n int) *cuda.Faults { return &cuda.Faults{LoseAfter: 6 * n} },
		"launch": func(n int) *cuda.Faults { return &cuda.Faults{FailLaunch: n} },
	} {
		failed := 0
		for n := 1; n < 20; n += 3 {
			devices := several(t, 3, func(i int, b cuda.Backend) cuda.Backend {
				if i != 1 {
					return b
				}
				f := fault(n)
				f.Backend = b
				return f
			})
			s, err := session.Open(devices, session.Options{})
			if err != nil {
				continue
			}
			all := &meetings{want: 3, met: make(chan struct{})} // each device has a part
			e := partition.New(s, func(s *session.Session) []engine.Engine { return []engine.Engine{&meeting{join.NewGPU(s), all}} })
			got, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: map[string]string{"partition.parts": "5"}}, engine.Goal{})
			switch {
			case err == nil && !got.Complete:
				t.Errorf("%s %d: %v", what, n, got.Matches)
			case err != nil && (!strings.Contains(err.Error(), "second") || !got.Matches.IsZero()):
				t.Errorf("%s %d: %v, %v", what, n, got.Matches, err)
			case err != nil:
				failed++
			}
			_ = s.Close() // an error of the lost device
		}
		if failed == 0 {
			t.Errorf("%s: no run failed", what)
		}
	}
}

// TestDevicesEnd: a run on several devices whose context ends while they search parts returns the cause, and leaves nothing.
func TestDevicesEnd(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 250, Seed: 2})
	p := compile(t, g, "cycle(4)", plan.Options{})
	ended := 0
	for _, at := range []int{1, 2, 5, 12, 25} {
		ctx, end := context.WithCancelCause(t.Context())
		devices := several(t, 2, func(i int, b cuda.Backend) cuda.Backend {
			if i == 0 {
				return b
			}
			return &ending{Backend: b, at: at, end: end}
		})
		engines.WithSession(t, session.Options{}, func(s *session.Session) {
			all := &meetings{want: 2, met: make(chan struct{})} // each device has a part
			e := partition.New(s, func(s *session.Session) []engine.Engine { return []engine.Engine{&meeting{join.NewGPU(s), all}} })
			got, err := engine.Once(ctx, e, g, p, engine.Options{Opt: map[string]string{"partition.parts": "5"}}, engine.Goal{})
			if err != nil && !errors.Is(err, errEnded) || (err == nil) != got.Complete {
				t.Errorf("%v, complete %v", err, got.Complete)
			}
			if err != nil {
				ended++
			}
		}, devices...)
		end(nil)
	}
	if ended == 0 {
		t.Error("no run ended early")
	}
}
