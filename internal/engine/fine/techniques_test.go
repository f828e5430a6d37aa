package fine_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestTechniques: a technique runs if its switch is on, and not if it is off. Why: counts would be right
// for a switch that no code reads.
func TestTechniques(t *testing.T) {
	long.Only(t, "every match of 5-cycles is visited four times")
	g := denseGraph(t)
	ps, err := pattern.ByName("cycle(5)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot, Order: "ri", NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{Threads: 1}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		// run counts with the options, and returns the engine's report of the run.
		run := func(opt string) engine.Result {
			o := engine.Options{Opt: map[string]string{"fine.siblings": "off"}}
			for kv := range strings.FieldsSeq(opt) {
				k, v, _ := strings.Cut(kv, "=")
				o.Opt["fine."+k] = v
			}
			got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Fatalf("%s: %v (complete %v, %v), want %v", opt, got.Matches, got.Complete, err, want.Matches)
			}
			return got
		}
		// figure is the number in what was said, 0 for none.
		figure := func(r engine.Result, pattern string) float64 {
			m := regexp.MustCompile(pattern).FindStringSubmatch(strings.Join(r.Stats, "\n"))
			if m == nil {
				return 0
			}
			n, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		const idle, given, across = `idle rate ([\d.]+)`, `given away (\d+)`, `times, (\d+) of`
		const pool, left = `pool of (\d+)`, `fewer than (\d+) neighbours`
		alone, block, grid := run("steal=off pool=0 batch=off"), run("steal=block pool=0"), run("steal=grid pool=2000 prune=on")
		if off, on := figure(alone, idle), figure(block, idle); on >= off {
			t.Errorf("idle rate %.1f %% with partial matches that share a pool, and %.1f without", on, off)
		}
		for _, r := range []engine.Result{alone, block} {
			if figure(r, pool) != 0 || figure(r, left) != 0 || figure(r, across) != 0 {
				t.Errorf("no pool, nothing pruned, and no work for other blocks: %q", r.Stats)
			}
		}
		if figure(grid, pool) < 2000 || figure(grid, left) != 2 {
			t.Errorf("no pool, or nothing pruned: %q", grid.Stats)
		}
		// A GPU is done before a warp that is idle has looked round.
		inside, far := figure(block, given), figure(run("steal=grid pool=0"), across)
		if gpu := strings.HasPrefix(block.Device, "GPU"); figure(alone, given) != 0 || !gpu && (inside == 0 || far == 0) {
			t.Errorf("work was given away %.0f times without stealing, %.0f times in blocks, %.0f times to others", figure(alone, given), inside, far)
		}
	})
}
