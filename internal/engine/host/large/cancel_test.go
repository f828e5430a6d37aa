package large

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/plan"
)

// hard is a run that takes far longer than a test may: an induced pattern
// without labels, where nothing falls apart.
func hard() (*world, *plan.Plan) {
	rng := rand.New(rand.NewPCG(1, 2))
	const nv, n = 300, 16
	r := raw{label: make([]int, nv)}
	for u := range nv {
		for v := range u {
			if rng.IntN(3) == 0 {
				r.edges = append(r.edges, [2]int{u, v})
			}
		}
	}
	q := raw{label: make([]int, n)}
	for u := range n {
		for v := range u {
			if rng.IntN(3) == 0 || v == u-1 {
				q.edges = append(q.edges, [2]int{u, v})
			}
		}
	}
	w := newWorld(r, false)
	p := planFor(w, q)
	for i := range p.Levels {
		linked := map[int]bool{}
		for _, b := range p.Levels[i].Back {
			linked[b.Level] = true
		}
		for j := range i {
			if !linked[j] {
				p.Levels[i].Back = append(p.Levels[i].Back, plan.Back{Level: j, Neg: true})
			}
		}
	}
	return w, p
}

// wide is a run over sets of many words: paths in a graph with hubs and without
// labels. A step takes long there, and few of them may pass after a stop.
func wide() (*world, *plan.Plan) {
	rng := rand.New(rand.NewPCG(3, 4))
	const nv = 40000
	r := raw{label: make([]int, nv)}
	for range 5 * nv {
		u, v := rng.IntN(nv), rng.IntN(1+rng.IntN(1+rng.IntN(nv)))
		r.edges = append(r.edges, [2]int{u, v})
	}
	q := raw{label: make([]int, 7)}
	for i := 1; i < len(q.label); i++ {
		q.edges = append(q.edges, [2]int{i - 1, i})
	}
	w := newWorld(r, false)
	return w, planFor(w, q)
}

// counter is a sink that counts rows.
type counter struct{ rows atomic.Int64 }

func (c *counter) Emit(_ int, b *engine.Batch) error {
	c.rows.Add(int64(b.Rows))
	return nil
}

// TestCancel: a run that is cut short stops soon and hands over what it found.
func TestCancel(t *testing.T) {
	t.Run("hard", func(t *testing.T) { cancelled(t, hard) })
	t.Run("wide", func(t *testing.T) { cancelled(t, wide) })
}

func cancelled(t *testing.T, load func() (*world, *plan.Plan)) {
	w, p := load()
	for _, threads := range []int{1, 4} {
		for _, list := range []bool{false, true} {
			ctx, cancel := context.WithCancel(context.Background())
			var asked atomic.Int64
			time.AfterFunc(200*time.Millisecond, func() {
				asked.Store(time.Now().UnixNano())
				cancel()
			})
			var s engine.Sink
			var c counter
			if list {
				s = &c
			}
			res, err := Run(ctx, w.g, p, engine.Options{Threads: threads}, engine.Goal{Sink: s})
			took := time.Since(time.Unix(0, asked.Load()))
			if !errors.Is(err, context.Canceled) || res.Complete {
				t.Errorf("threads %d, listing %v: %v, complete %v", threads, list, err, res.Complete)
			}
			// The contract is 100 ms; the whole search takes far longer than this.
			if took > 3*time.Minute {
				t.Errorf("threads %d, listing %v: stopped after %v", threads, list, took)
			}
			if list && uint64(c.rows.Load()) != res.Matches.Lo {
				t.Errorf("the sink got %d rows, the result says %v", c.rows.Load(), res.Matches)
			}
			cancel()
		}
	}
}

func TestCancelledBefore(t *testing.T) {
	w, p := hard()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, w.g, p, engine.Options{}, engine.Goal{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// TestListingMemory: a listing's memory does not grow with its length.
func TestListingMemory(t *testing.T) {
	q := raw{label: make([]int, 5)}
	for i := 1; i < 5; i++ {
		q.edges = append(q.edges, [2]int{i - 1, i})
	}
	r := raw{label: make([]int, 60)}
	for u := range r.label {
		for v := range u {
			if (u+v)%3 == 0 {
				r.edges = append(r.edges, [2]int{u, v})
			}
		}
	}
	w := newWorld(r, false)
	p := planFor(w, q)
	want, err := Run(context.Background(), w.g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var c counter
	res, err := Run(context.Background(), w.g, p, engine.Options{Threads: 2}, engine.Goal{Sink: &c})
	runtime.ReadMemStats(&after)
	if err != nil || res.Matches != want.Matches || uint64(c.rows.Load()) != want.Matches.Lo {
		t.Fatalf("counted %v, listed %v (%d rows), %v", want.Matches, res.Matches, c.rows.Load(), err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("%d rows took %d bytes of allocations", c.rows.Load(), got)
	}
}

func TestProgress(t *testing.T) {
	w, p := hard()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var calls atomic.Int64
	goal := engine.Goal{Limit: 1 << 40, Progress: func(done, total uint64) {
		if done > total {
			t.Errorf("%d of %d done", done, total)
		}
		calls.Add(1)
		cancel()
	}}
	Run(ctx, w.g, p, engine.Options{Threads: 1}, goal)
	if calls.Load() == 0 {
		t.Error("no progress was told")
	}
}
