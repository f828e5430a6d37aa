package host

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine"
)

// limiter stops a run once enough matches were found: exactly at the limit when
// listing, soon after it when counting.
type limiter struct {
	max     int64
	s       *sched
	claimed atomic.Int64 // matches listed

	mu    sync.Mutex
	total engine.Uint128
	seen  []engine.Uint128
}

// claim reports whether one more match may be listed.
func (l *limiter) claim() bool {
	if l.max <= 0 {
		return true
	}
	n := l.claimed.Add(1)
	if n >= l.max {
		l.s.Fail(engine.ErrStop)
	}
	return n <= l.max
}

// clamp is the count to report: a run may have found more than was asked for.
func (l *limiter) clamp(n engine.Uint128) engine.Uint128 {
	if most := engine.U64(uint64(max(l.max, 0))); l.max > 0 && n.Cmp(most) > 0 {
		return most
	}
	return n
}

// add takes worker w's count so far.
func (l *limiter) add(w *worker) { l.addCount(w.id, w.count) }

func (l *limiter) addCount(id int, count engine.Uint128) {
	if l.max <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.seen) <= id {
		l.seen = append(l.seen, engine.Uint128{})
	}
	l.total = l.total.Add(count.Sub(l.seen[id]))
	l.seen[id] = count
	if l.total.Cmp(engine.U64(uint64(l.max))) >= 0 {
		l.s.Fail(engine.ErrStop)
	}
}

// levelClock attributes wall time to levels by looking, every so often, at how
// deep each worker is.
type levelClock struct {
	on    bool
	depth int
	hits  []int64
	total int64
	start time.Time
	quit  chan struct{}
	done  sync.WaitGroup
}

func startLevelClock(on bool, depth int, ws []*worker) *levelClock {
	c := &levelClock{on: on, depth: depth, start: time.Now(), quit: make(chan struct{}), hits: make([]int64, depth)}
	if !on {
		return c
	}
	for _, w := range ws {
		w.where = new(atomic.Int32)
	}
	c.done.Add(1)
	go func() {
		defer c.done.Done()
		t := time.NewTicker(200 * time.Microsecond)
		defer t.Stop()
		for {
			select {
			case <-c.quit:
				return
			case <-t.C:
				for _, w := range ws {
					c.hits[w.where.Load()]++
					c.total++
				}
			}
		}
	}()
	return c
}

// stop ends the sampling and returns what each level did.
func (c *levelClock) stop(ws []*worker) []engine.LevelStat {
	close(c.quit)
	c.done.Wait()
	wall := time.Since(c.start)
	out := make([]engine.LevelStat, c.depth)
	for l := range out {
		for _, w := range ws {
			out[l].Matches = out[l].Matches.Add(w.stats[l])
		}
		if c.total > 0 {
			out[l].Time = time.Duration(float64(wall) * float64(c.hits[l]) / float64(c.total))
		}
	}
	return out
}
