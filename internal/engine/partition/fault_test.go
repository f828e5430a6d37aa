package partition_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/faulty"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestFaults lets the device refuse any one call, in the search of parts and across them. The run has an error and no
// number, or the right number. Nothing is left on the device.
func TestFaults(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 5, M: 90, Seed: 2})
	p := compile(t, g, "cycle(4)", plan.Options{})
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	step, most := 11, 60
	if long.Asked() {
		step, most = 1, 200
	}
	for what, fault := range map[string]func(n int) *cuda.Faults{
		"alloc":  func(n int) *cuda.Faults { return &cuda.Faults{FailAlloc: n} },
		"launch": func(n int) *cuda.Faults { return &cuda.Faults{FailLaunch: n} },
		"skip":   func(n int) *cuda.Faults { return &cuda.Faults{SkipFrom: n} },
		"gap":    func(n int) *cuda.Faults { return &cuda.Faults{SkipOne: n} },
		"copy":   func(n int) *cuda.Faults { return &cuda.Faults{FailCopy: n} },
		"lost":   func(n int) *cuda.Faults { return &cuda.Faults{LoseAfter: 4 * n} },
		"work":   func(n int) *cuda.Faults { return &cuda.Faults{FailWork: n} },
	} {
		t.Run(what, func(t *testing.T) {
			failed := 0
			step, last := step, most
			if what == "alloc" {
				step, last = max(1, step/3), 60
			}
			for n := 1; n <= last; n += step {
				err := faulty.Count(t, fault(n), want.Matches, func(s *session.Session) (engine.Result, error) {
					o := engine.Options{Opt: map[string]string{"partition.parts": "2", "partition.batch": "25"}}
					return engine.Once(t.Context(), over(s), g, p, o, engine.Goal{})
				})
				if err == nil && (what == "gap" || what == "alloc") {
					continue // nothing was lost with that launch, or lists were read in host memory; or there is no such call
				}
				if err == nil {
					break // there is no n-th call
				}
				failed++
			}
			if failed < 4 {
				t.Errorf("%d calls failed", failed)
			}
		})
	}
}

// ending ends a context at a number of the device's copies and launches.
type ending struct {
	cuda.Backend
	calls, at int
	end       context.CancelCauseFunc
}

func (b *ending) Fill(dst uint64, value byte, bytes int64, stream cuda.Handle) error {
	if b.calls++; b.calls == b.at {
		b.end(errEnded)
	}
	return b.Backend.Fill(dst, value, bytes, stream)
}

var errEnded = errors.New("ended")

// TestEnds: a run whose context ends at any time returns the context's cause or the whole answer, and leaves nothing.
func TestEnds(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 250, Seed: 2})
	p := compile(t, g, "cycle(4)", plan.Options{})
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for at := 1; ; at += 4 {
		ctx, end := context.WithCancelCause(t.Context())
		b := &ending{Backend: device.Backend(t, emu.Options{}), at: at, end: end}
		d, err := cuda.New(b, device.Objects().Images)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := engine.Options{Opt: map[string]string{"partition.parts": "3", "partition.batch": "60"}}
		got, err := engine.Once(ctx, over(s), g, p, o, engine.Goal{})
		if err != nil && !errors.Is(err, errEnded) || (err == nil) != got.Complete || err == nil && got.Matches != want.Matches {
			t.Errorf("ended at %d: %v (complete %v, %v), want %v", at, got.Matches, got.Complete, err, want.Matches)
		}
		if err != nil {
			ended++
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if n := d.InUse(); n != 0 {
			t.Errorf("ended at %d: %d bytes are in use", at, n)
		}
		d.Close()
		past := b.calls < at
		end(nil)
		if past {
			break
		}
	}
	if ended == 0 {
		t.Error("no run ended early")
	}
}

// TestHub: a vertex with most of the graph's edges, whose part has more than its share. Where its list is longer than the memory for a
// chunk, it comes in several, down to the smallest memory that explain and errors name. The last two vertices are then found one by one.
func TestHub(t *testing.T) {
	var pairs [][2]uint32
	for v := uint32(1); v < 4000; v++ {
		pairs = append(pairs, [2]uint32{0, v})
		if v%3 == 0 {
			pairs = append(pairs, [2]uint32{v, v - 1})
		}
		if v%40 == 0 {
			pairs = append(pairs, [2]uint32{v, v - 2})
		}
	}
	g := graph.FromEdges(4000, pairs, false)
	d := device.Emulated(t, emu.Options{SMs: 1})
	for _, name := range []string{"triangle", "diamond"} {
		p := compile(t, g, name, plan.Options{})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		run := func(memory int64) (least int64, said string, err error) {
			engines.WithSession(t, session.Options{Memory: memory}, func(s *session.Session) {
				ready, failed := over(s).Prepare(t.Context(), g, p, engine.Options{Opt: map[string]string{"partition.parts": "4"}})
				if failed != nil {
					t.Fatal(failed)
				}
				least = ready.Traits().Memory.Least
				var got engine.Result
				got, err = ready.Run(t.Context(), engine.Goal{})
				said = strings.Join(got.Stats, "\n")
				if err == nil && (got.Matches != want.Matches || !got.Complete) {
					t.Errorf("%s in %d bytes: %v (complete %v), want %v", name, memory, got.Matches, got.Complete, want.Matches)
				}
			}, d)
			return least, said, err
		}
		const pieces, together = "longer than a chunk came in", "counted the last two vertices"
		least, said, err := run(1 << 20)
		if err != nil || strings.Contains(said, pieces) || name == "diamond" && !strings.Contains(said, together) {
			t.Errorf("%s: %v: %s", name, err, said)
		}
		if name == "diamond" { // the memory for its hub's list, less than which is enough too
			if least, said, err = run(least - 1); err != nil || strings.Contains(said, together) {
				t.Errorf("%s: %v: %s", name, err, said)
			}
		}
		if now, said, err := run(least); err != nil || now != least || !strings.Contains(said, pieces) {
			t.Errorf("%s in the least %d bytes, or %d: %v: %s", name, least, now, err, said)
		}
		if _, _, err := run(least / 2); !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), fmt.Sprintf("--gpu-memory %d is enough", least)) {
			t.Errorf("%s in half of the least memory, %d: %v", name, least, err)
		}
	}
}
