package large

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/engine"
)

// runSet counts the queries of a set whose count is below a bound, each within
// a minute.
func runSet(t *testing.T, name string, threads int, below float64) {
	s := loadSet(t, name)
	exact, ran := 0, 0
	var total, slowest time.Duration
	for _, q := range s.queries {
		if f, err := strconv.ParseFloat(q.want, 64); err != nil || f >= below {
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		start := time.Now()
		res, err := Run(ctx, s.w.g, q.p, engine.Options{Threads: threads}, engine.Goal{})
		took := time.Since(start)
		cancel()
		total += took
		slowest = max(slowest, took)
		if err != nil || !res.Complete || res.Matches.String() != q.want {
			t.Errorf("%s: counted %v (%v) in %v, want %s", q.name, res.Matches, err, took, q.want)
			continue
		}
		exact++
		if took > 100*time.Millisecond {
			t.Logf("%s: %s in %v", q.name, q.want, took)
		}
	}
	t.Logf("%s, %d threads: %d of %d exact, %v in total, slowest %v", name, threads, exact, ran, total, slowest)
}

func TestHPRD(t *testing.T)     { runSet(t, "hprd", 1, 1e30) }
func TestGithub16(t *testing.T) { runSet(t, "github16", 2, 1e30) }

// TestYeast counts all 173 queries, up to 1e15 embeddings; with -short those
// that enumeration could do.
func TestYeast(t *testing.T) {
	t.Run("below 1e8", func(t *testing.T) { runSet(t, "yeast", 1, 1e8) })
	t.Run("all", func(t *testing.T) {
		if testing.Short() {
			t.Skip("-short: all queries of a large set")
		}
		runSet(t, "yeast", runtime.GOMAXPROCS(0), 1e30)
	})
}

// TestListSets lists as many matches as the counts say, unless these are too many, and stops at limits.
func TestListSets(t *testing.T) {
	for _, name := range []string{"hprd", "yeast", "github16"} {
		s := loadSet(t, name)
		for _, q := range s.queries {
			want, err := strconv.ParseFloat(q.want, 64)
			if err != nil {
				t.Fatal(err)
			}
			var c counter
			o, goal := engine.Options{Threads: 2}, engine.Goal{Sink: &c}
			if want > 2e5 {
				goal.Limit = 1e5
				want = 1e5
			}
			res, err := Run(context.Background(), s.w.g, q.p, o, goal)
			if err != nil || float64(c.rows.Load()) != want || res.Matches.Float64() != want || res.Complete != (goal.Limit == 0) {
				t.Errorf("%s %s: %d rows, result %v, complete %v, %v; want %v", name, q.name, c.rows.Load(), res.Matches, res.Complete, err, want)
			}
			if goal.Limit > 0 {
				res, err := Run(context.Background(), s.w.g, q.p, o, engine.Goal{Limit: goal.Limit})
				if err != nil || res.Matches.Float64() != want {
					t.Errorf("%s %s: counted %v with limit %v, %v", name, q.name, res.Matches, want, err)
				}
			}
		}
	}
}
