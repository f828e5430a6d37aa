package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// edgesText counts or lists the pairs u < v of neighbours, a task a vertex u.
const edgesText = `
#include "base/ring.cuh"
#include "base/tasks.cuh"

struct P { Run run; Graph graph; };
WEFT_KERNEL(edges, P) {
  Warp g;
  u64 n = 0;
  for (;;) {
    Chunk t = take(g, p.run);
    if (t.count == 0) {
      if (t.over || stopped(g, p.run)) break;
      spin();
      continue;
    }
    if (stopped(g, p.run)) break;
    for (u32 i = 0; i < t.count; i++) {
      u32 u = (u32)t.first + i;
      Set s = above(p.graph.adj[0], u);
      if (!p.run.ring) {
        n += s.n;
        if (g.leader()) add_root(p.run, u, s.n);
        continue;
      }
      for (u32 k = 0; k < s.n; k += 32) {
        u32 v = k + lane() < s.n ? s.p[k + lane()] : 0;
        if (emit_rows(g, p.run, k + lane() < s.n, [&](u32 c) { return c == 0 ? u : v; }) == ~0u) return;
      }
    }
  }
  if (g.leader()) add128(p.run.counters, n);
}
`

// world is a random graph and what is true of it.
type world struct {
	n     uint32
	off   []uint64
	adj   []uint32
	edges [][2]uint32
	of    kir.Identity
	place session.Place
}

var worlds atomic.Uint64

func newWorld(n, degree int) *world {
	r := rand.New(rand.NewPCG(device.Seed(), 2))
	lists := make([][]uint32, n)
	w := &world{n: uint32(n), of: kir.Identity{ID: worlds.Add(1)}}
	for range n * degree / 2 {
		u, v := r.Uint32N(uint32(n)), r.Uint32N(uint32(n))
		if u == v || slices.Contains(lists[u], v) {
			continue
		}
		lists[u], lists[v] = append(lists[u], v), append(lists[v], u)
		w.edges = append(w.edges, [2]uint32{min(u, v), max(u, v)})
	}
	w.off = make([]uint64, n+1)
	for v, l := range lists {
		slices.Sort(l)
		w.adj = append(w.adj, l...)
		w.off[v+1] = uint64(len(w.adj))
	}
	slices.SortFunc(w.edges, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
	return w
}

func (w *world) program() *kir.Program {
	p := &kir.Program{Name: "edges"}
	p.AddGlobal(&kir.GlobalDef{Name: "graph", Kind: kir.Adj, Off: w.off, Adj: w.adj, Oriented: true, Of: w.of})
	return p
}

// job counts the world's edges.
func (w *world) job() *session.Job {
	p := w.program()
	j := &session.Job{Name: "edges", Program: p, Vertices: w.n, Tasks: uint64(w.n), Chunk: 4, Place: w.place}
	j.Source = cuda.Source{Name: "edges.cu", Text: kircuda.Text(p) + edgesText, Debug: true}
	j.Start = func(x *session.Exec) (func() error, error) {
		k, err := x.Kernel("edges")
		if err != nil {
			return nil, err
		}
		return func() error {
			return session.Launch(x, k, cuda.Launch{Blocks: 3, Threads: 64}, (*struct{})(nil))
		}, nil
	}
	return j
}

// list makes a job list what it would count, sorted.
func list(j *session.Job, rows *[][2]uint32) {
	var mu sync.Mutex
	j.Width, j.Columns = 2, []int{1, 0} // the larger id first
	j.Rows = func(_ int, ids []uint32) error {
		mu.Lock()
		defer mu.Unlock()
		for i := 0; i < len(ids); i += 2 {
			*rows = append(*rows, [2]uint32{ids[i+1], ids[i]})
		}
		return nil
	}
}

// on runs f with a session over n devices of each kind.
func on(t *testing.T, n int, o session.Options, f func(t *testing.T, s *session.Session)) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		devs := []*cuda.Device{d}
		for i := 1; i < n; i++ {
			if d.Info().Emulated {
				devs = append(devs, device.Emulated(t, emu.Options{SMs: 1 + i%2})) // of different speed
				continue
			}
			e, err := cuda.Open(i, device.Objects().Images)
			if errors.Is(err, cuda.ErrNoDevice) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			devs = append(devs, e)
		}
		s, err := session.Open(devs, o)
		if err != nil {
			t.Fatal(err)
		}
		f(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestCount(t *testing.T) {
	w := newWorld(3000, 8)
	for _, devices := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(devices), func(t *testing.T) {
			on(t, devices, session.Options{}, func(t *testing.T, s *session.Session) {
				for run := range 2 {
					j := w.job()
					j.PerRoot = true
					res, err := s.Run(context.Background(), j)
					if err != nil {
						t.Fatal(err)
					}
					if want := (session.Count{Lo: uint64(len(w.edges))}); res.Matches != want || !res.Complete {
						t.Errorf("%v matches, complete %v; want %v", res.Matches, res.Complete, want)
					}
					roots := make([]session.Count, w.n)
					for _, e := range w.edges {
						roots[e[0]].Lo++
					}
					if !slices.Equal(res.PerRoot, roots) {
						t.Error("counts per root differ")
					}
					tasks := uint64(0)
					for _, d := range res.Devices {
						tasks += d.Tasks
						if run == 1 && d.Uploaded != 0 {
							t.Errorf("%d bytes were uploaded again", d.Uploaded)
						}
					}
					if tasks != uint64(w.n) {
						t.Errorf("%d tasks were handed out, want %d", tasks, w.n)
					}
				}
			})
		})
	}
}

func TestRows(t *testing.T) {
	vertices := 20000
	if !long.Asked() {
		vertices = 3000
	}
	w := newWorld(vertices, 16) // more edges than the ring of the test has rows
	for _, devices := range []int{1, 2} {
		t.Run(fmt.Sprint(devices), func(t *testing.T) {
			on(t, devices, session.Options{Ring: 4096}, func(t *testing.T, s *session.Session) {
				var rows [][2]uint32
				j := w.job()
				list(j, &rows)
				res, err := s.Run(context.Background(), j)
				if err != nil {
					t.Fatal(err)
				}
				slices.SortFunc(rows, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
				if !slices.Equal(rows, w.edges) {
					t.Errorf("%d rows, want %d, or others", len(rows), len(w.edges))
				}
				if res.Matches.Lo != uint64(len(rows)) || !res.Complete {
					t.Errorf("%v matches, complete %v", res.Matches, res.Complete)
				}
			})
		})
	}
}

func TestLimit(t *testing.T) {
	w := newWorld(20000, 16)
	limits := []uint64{1, 1000, 100_000}
	if !long.Asked() {
		limits = limits[:2]
	}
	on(t, 2, session.Options{}, func(t *testing.T, s *session.Session) {
		for _, limit := range limits {
			var rows [][2]uint32
			j := w.job()
			list(j, &rows)
			j.Limit = limit
			res, err := s.Run(context.Background(), j)
			if err != nil || res.Complete || uint64(len(rows)) != limit || res.Matches.Lo != limit {
				t.Errorf("limit %d: %d rows, %v matches, complete %v, error %v", limit, len(rows), res.Matches, res.Complete, err)
			}
			slices.SortFunc(rows, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
			if len(slices.Compact(slices.Clone(rows))) != len(rows) {
				t.Error("rows twice")
			}
			for _, r := range rows {
				if _, ok := slices.BinarySearchFunc(w.edges, r, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) }); !ok {
					t.Fatalf("%v is no edge", r)
				}
			}
		}
	})
}

func TestRowsError(t *testing.T) {
	w := newWorld(20000, 16)
	enough := errors.New("enough")
	on(t, 1, session.Options{Ring: 4096}, func(t *testing.T, s *session.Session) {
		calls := 0
		var mu sync.Mutex
		var rows [][2]uint32
		j := w.job()
		list(j, &rows)
		take := j.Rows
		j.Rows = func(worker int, ids []uint32) error {
			mu.Lock()
			defer mu.Unlock()
			if calls++; calls == 3 {
				return enough
			}
			// The other workers may have been on their way already.
			if calls > 3+s.Workers()-1 {
				t.Error("Rows is called after its error")
			}
			return take(worker, ids)
		}
		res, err := s.Run(context.Background(), j)
		if !errors.Is(err, enough) || res.Complete || res.Matches.Lo != uint64(len(rows)) {
			t.Errorf("%v matches of %d rows, complete %v, error %v", res.Matches, len(rows), res.Complete, err)
		}
	})
}

// endlessText never ends by itself, and writes rows if there is a ring.
const endlessText = `
#include "base/ring.cuh"
#include "base/tasks.cuh"

struct P { Run run; Graph graph; };
WEFT_KERNEL(edges, P) {
  Warp g;
  u64 n = 0;
  while (!stopped(g, p.run)) {
    if (p.run.ring) emit_rows(g, p.run, true, [](u32 c) { return c; });
    if (n++ == 0 && g.leader()) add128(p.run.counters, 1);
    spin();
  }
}
`

func TestStop(t *testing.T) {
	w := newWorld(100, 4)
	for _, listing := range []bool{false, true} {
		t.Run(map[bool]string{false: "count", true: "list"}[listing], func(t *testing.T) {
			on(t, 2, session.Options{Ring: 4096}, func(t *testing.T, s *session.Session) {
				j := w.job()
				j.Source.Text = kircuda.Text(j.Program) + endlessText
				var blocked chan struct{}
				if listing {
					// A sink that is stuck: the kernels wait for room.
					blocked = make(chan struct{})
					j.Width, j.Columns = 2, []int{0, 1}
					j.Rows = func(int, []uint32) error { <-blocked; return nil }
				}
				if _, err := s.Run(context.Background(), w.job()); err != nil { // compiled, uploaded
					t.Fatal(err)
				}
				stop := func(after time.Duration) session.Result {
					ctx, cancel := context.WithCancelCause(context.Background())
					why := errors.New("the user")
					var at time.Time
					timer := time.AfterFunc(after, func() {
						at = time.Now()
						cancel(why)
						if blocked != nil {
							close(blocked)
						}
					})
					defer timer.Stop()
					res, err := s.Run(ctx, j)
					late := time.Since(at)
					if !errors.Is(err, why) || res.Complete {
						t.Errorf("complete %v, error %v", res.Complete, err)
					}
					if late > 3*time.Minute { // the bound is 100 ms, and the kernel runs for ever
						t.Errorf("stopped after %v", late)
					}
					return res
				}
				after := 300 * time.Millisecond
				for stop(after).Matches.Lo == 0 && !listing { // a busy machine may not have begun
					if after *= 3; after > 3*time.Minute {
						t.Fatal("nothing was counted until then")
					}
				}
			})
		})
	}
}

func TestLimitOfCount(t *testing.T) {
	w := newWorld(100, 4)
	on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
		j := w.job()
		j.Source.Text = kircuda.Text(j.Program) + endlessText
		j.Limit = 3
		res, err := s.Run(context.Background(), j)
		if err != nil || res.Complete || res.Matches.Lo < 3 {
			t.Errorf("%v matches, complete %v, error %v", res.Matches, res.Complete, err)
		}
	})
}
