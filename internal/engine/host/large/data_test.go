package large

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/engine"
)

func TestExplore(t *testing.T) {
	name := os.Getenv("SET")
	if name == "" {
		t.Skip("SET not set")
	}
	s := loadSet(t, name)
	limit, _ := strconv.ParseFloat(os.Getenv("LIMIT"), 64)
	if limit == 0 {
		limit = 10
	}
	threads, _ := strconv.Atoi(os.Getenv("THREADS"))
	if threads == 0 {
		threads = 1
	}
	if os.Getenv("WARM") != "" {
		for _, q := range s.queries {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			Run(ctx, s.w.g, q.p, engine.Options{Threads: threads}, nil)
			cancel()
		}
	}
	exact, small := 0, 0
	var total, totalSmall time.Duration
	for _, q := range s.queries {
		if os.Getenv("ONLY") != "" && q.name != os.Getenv("ONLY") {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(limit*float64(time.Second)))
		start := time.Now()
		res, err := Run(ctx, s.w.g, q.p, engine.Options{Threads: threads, Opt: map[string]string{"stats": "1"}}, nil)
		el := time.Since(start)
		cancel()
		total += el
		f, _ := strconv.ParseFloat(q.want, 64)
		if f < 1e8 {
			small++
			totalSmall += el
		}
		ok := res.Matches.String() == q.want
		if ok {
			exact++
		}
		if !ok || el > 20*time.Millisecond || os.Getenv("V") != "" {
			t.Logf("%-28s want %-18s %v %10v %v err=%v got=%v", q.name, q.want, ok, el.Round(time.Microsecond), res.Notes, err, res.Matches)
		}
		if !ok && err == nil {
			t.Errorf("%s: wrong", q.name)
		}
	}
	t.Logf("%s: %d exact of %d, total %v; %d below 1e8: %v", name, exact, len(s.queries), total, small, totalSmall)
}
