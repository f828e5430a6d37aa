package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/testing/device"
)

// graphBytes is what a world takes on a device: lists, offsets, and where the
// larger ids begin.
func (w *world) graphBytes() int64 {
	return int64(4*len(w.adj) + 8*len(w.off) + 8*int(w.n))
}

// runBytes bounds what a run takes beside its graph.
const runBytes = 64 << 10

// TestBudget: what does not fit is refused before anything is launched, with the
// numbers; graphs that no run uses make room for others, the longest unused first.
func TestBudget(t *testing.T) {
	a, b, c := newWorld(5000, 8), newWorld(5000, 8), newWorld(5000, 8)
	count := func(t *testing.T, s *session.Session, w *world) int64 {
		t.Helper()
		res, err := s.Run(context.Background(), w.job())
		if err != nil {
			t.Fatal(err)
		}
		if res.Matches.Lo != uint64(len(w.edges)) {
			t.Errorf("%v matches, want %d", res.Matches, len(w.edges))
		}
		return res.Devices[0].Uploaded
	}
	on(t, 1, session.Options{Memory: 2*a.graphBytes() + runBytes}, func(t *testing.T, s *session.Session) {
		for i, k := range []struct {
			w      *world
			upload bool
		}{{a, true}, {b, true}, {a, false}, {b, false}, {a, false}, {c, true}, {a, false}, {b, true}, {c, true}} {
			if got := count(t, s, k.w); got > 0 != k.upload {
				t.Errorf("run %d: %d bytes uploaded", i, got)
			}
		}
		if err := s.Forget(); err != nil {
			t.Error(err)
		}
		if count(t, s, c) == 0 {
			t.Error("nothing uploaded after Forget")
		}
	})
	on(t, 1, session.Options{Memory: a.graphBytes()}, func(t *testing.T, s *session.Session) {
		j := a.job()
		j.Place = session.Device
		j.Start = func(*session.Exec) (func() error, error) {
			t.Error("started")
			return nil, errors.New("started")
		}
		_, err := s.Run(context.Background(), j)
		if !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), "--gpu-memory") || !strings.Contains(err.Error(), "KiB for graph") {
			t.Errorf("error %v", err)
		}
	})
	on(t, 1, session.Options{Memory: a.graphBytes() + runBytes}, func(t *testing.T, s *session.Session) {
		j := a.job()
		start := j.Start
		j.Start = func(x *session.Exec) (func() error, error) {
			if _, err := x.Scratch("stacks", x.Room()+1); !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), "for stacks") {
				t.Errorf("error %v", err)
			}
			if _, err := x.Scratch("stacks", x.Room()); err != nil {
				t.Error(err)
			}
			return start(x)
		}
		if _, err := s.Run(context.Background(), j); err != nil {
			t.Error(err)
		}
	})
}

// TestIdentity: arrays are found again by their identity, wherever they lie in the
// host's memory. Another part is another array, a later version takes the place of
// earlier ones, and what has no identity is copied for each run.
func TestIdentity(t *testing.T) {
	w := newWorld(500, 8)
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		resident := int64(0)
		for i, c := range []struct {
			of       kir.Identity
			uploaded bool
			stay     int64 // copies of the lists on the device afterwards
		}{
			{kir.Identity{ID: 1}, true, 1},
			{kir.Identity{ID: 1}, false, 1},
			{kir.Identity{ID: 2}, true, 2},
			{kir.Identity{ID: 1, Part: 2}, true, 3},
			{kir.Identity{ID: 1}, false, 3},
			{kir.Identity{ID: 1, Version: 1}, true, 2},
			{kir.Identity{ID: 1, Version: 1}, false, 2},
			{kir.Identity{ID: 2}, false, 2},
			{kir.Identity{ID: 1}, true, 3}, // somebody still reads the earlier version
			{kir.Identity{}, true, 3},
			{kir.Identity{}, true, 3},
		} {
			j := w.job()
			g := j.Program.Globals[0]
			g.Of, g.Off, g.Adj = c.of, slices.Clone(g.Off), slices.Clone(g.Adj)
			res, err := s.Run(context.Background(), j)
			if err != nil {
				t.Fatal(err)
			}
			if res.Matches.Lo != uint64(len(w.edges)) {
				t.Errorf("run %d: %d edges, want %d", i, res.Matches.Lo, len(w.edges))
			}
			if up := res.Devices[0].Uploaded; up > 0 != c.uploaded {
				t.Errorf("run %d: %d bytes uploaded", i, up)
			}
			now := d.InUse()
			if i == 0 {
				resident = now
			}
			if now != resident+(c.stay-1)*w.graphBytes() {
				t.Errorf("run %d: %d bytes are in use, want %d copies of %d behind the first", i, now-resident, c.stay-1, w.graphBytes())
			}
		}
	})
}
