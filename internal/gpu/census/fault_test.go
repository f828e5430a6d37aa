package census

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/faulty"
)

// cliques is the number of the last motif, the clique, as an engine gives it.
// Nearly all roots are those of large teams, so that no kernel is without effect.
func cliques(t *testing.T, s *session.Session, g *graph.Graph, k int) (engine.Result, error) {
	got, err := Motifs(t.Context(), s, g, &g.Out, motifs(t, k, true), Options{limit: 2})
	if err != nil || got.Counts == nil {
		return engine.Result{}, err
	}
	n, err := engine.FromBig(got.Counts[len(got.Counts)-1])
	return engine.Result{Matches: n, Complete: true}, err
}

// TestFaults lets each call of a device fail in turn. The run returns an error and no number, and leaves nothing on the device.
// The next run in the session, if the device still works, has the right number.
func TestFaults(t *testing.T) {
	g := generate(t, gen.Spec{Model: "cliques", N: 2, K: 7})
	for what, fault := range faulty.Kinds() {
		t.Run(what, func(t *testing.T) {
			failed := 0
			for n := 1; n <= 40 && faulty.Count(t, fault(n), engine.U64(2*21), func(s *session.Session) (engine.Result, error) {
				return cliques(t, s, g, 5)
			}) != nil; n++ {
				failed++
			}
			if failed < 2*len(passes(5))-1 { // kernels, at least
				t.Errorf("%d calls failed", failed)
			}
		})
	}
}

// TestSkippedLaunches: no number comes of a device that left kernels out.
func TestSkippedLaunches(t *testing.T) {
	g := generate(t, gen.Spec{Model: "cliques", N: 2, K: 7})
	for k, want := range map[int]uint64{4: 70, 5: 42} {
		device.Skipping(t, func(d *cuda.Device) error {
			var got engine.Result
			var err error
			engines.WithSession(t, session.Options{}, func(s *session.Session) { got, err = cliques(t, s, g, k) }, d)
			if err == nil && got.Matches != engine.U64(want) {
				t.Errorf("%d vertices: %v cliques, want %d", k, got.Matches, want)
			}
			return err
		})
	}
}

// TestStops: a cancelled run ends soon, even if one root takes long, and returns no counts.
func TestStops(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		engines.WithSession(t, session.Options{}, func(s *session.Session) {
			g := generate(t, gen.Spec{Model: "cliques", N: 1, K: 1500})
			for k := 4; k <= 5; k++ {
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				start := time.Now()
				got, err := Motifs(ctx, s, g, &g.Out, motifs(t, k, true), Options{})
				cancel()
				if device.Required() && err == nil {
					continue // it was faster
				}
				if d := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || got.Counts != nil || d > 20*time.Second {
					t.Errorf("%d vertices: after %s: error %v, counts %v", k, d, err, got.Counts)
				}
			}
		}, d)
	})
}

// TestProgress: progress is told, up to all roots of all passes.
func TestProgress(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		engines.WithSession(t, session.Options{}, func(s *session.Session) {
			g := generate(t, gen.Spec{Model: "er", N: 1500, P: 0.02})
			told := false
			_, err := Motifs(t.Context(), s, g, &g.Out, motifs(t, 5, true), Options{Progress: func(done, total uint64) {
				told = true
				if done > total || total != 5*1500 {
					t.Errorf("%d of %d", done, total)
				}
			}})
			if err != nil || !told && !device.Required() {
				t.Errorf("told %v, error %v", told, err)
			}
		}, d)
	})
}
