package stack_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// figure is the number before or behind words of a run's statistics.
func figure(t *testing.T, stats []string, pattern string) int {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(strings.Join(stats, "\n"))
	if m == nil {
		t.Fatalf("no %s in %q", pattern, stats)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTechniques: a technique runs if its switch is on, and not if it is off. Why: counts would be right
// for a switch that no code reads.
func TestTechniques(t *testing.T) {
	const (
		combined = `combined steps (\d+)`
		lazy     = `sets left unfiltered (\d+)`
		flat     = `flat batches (\d+)`
		edges    = `edge chunks (\d+)`
		inside   = `(\d+) steals in blocks`
		across   = `(\d+) across`
	)
	g := rmat(t, 7, 700)
	p := named(t, g, "gmatch:P5", plan.Options{})
	want := hostCount(t, g, p)
	// One warp gets all roots, so that the others live by what they steal.
	const all = "1048576"
	cases := []struct {
		opt      []string
		done, no []string
	}{
		{nil, []string{flat}, []string{lazy}},
		{[]string{"unroll", "4", "flat", "off", "steal", "off", "roots", "vertex"}, []string{combined}, []string{lazy, flat, edges, inside, across}},
		{[]string{"unroll", "1", "roots", "edge"}, []string{flat, edges}, []string{combined, lazy}},
		{[]string{"slot", "3"}, []string{lazy}, nil},
		{[]string{"chunk", all, "steal", "block", "roots", "vertex"}, []string{inside}, []string{across}},
		{[]string{"chunk", all, "threads", "32", "roots", "vertex"}, []string{across}, []string{inside}},
	}
	onDevice(t, func(t *testing.T, e tiny) {
		for _, c := range cases {
			r := run(t, e, g, p, options(append([]string{"stats", "on"}, c.opt...)...))
			if r.Matches != want {
				t.Errorf("%v: %v, want %v", c.opt, r.Matches, want)
			}
			for _, f := range c.done {
				// A GPU is done before a warp that is idle has looked round.
				if (f == inside || f == across) && strings.HasPrefix(r.Device, "GPU") {
					continue
				}
				if figure(t, r.Stats, f) == 0 {
					t.Errorf("%v: no %s in %q", c.opt, f, r.Stats)
				}
			}
			for _, f := range c.no {
				if n := figure(t, r.Stats, f); n != 0 {
					t.Errorf("%v: %s is %d", c.opt, f, n)
				}
			}
		}
	})
}

// TestSieves counts where the set that last lists are compared with is long enough for
// a sieve: one of bits, and one of the elements themselves.
func TestSieves(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 80, P: 0.7, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		induced bool
		walked  bool // every level
	}{{"triangle", false, false}, {"triangle", false, true}, {"diamond", true, false}} {
		ps, err := pattern.ByName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		ps[0].Induced = c.induced
		p, err := nestPlan(g, ps[0], plan.Options{Root: plan.NoRoot, Seed: 1, NoTail: c.walked})
		if err != nil {
			t.Fatal(err)
		}
		want := hostCount(t, g, p)
		onDevice(t, func(t *testing.T, e tiny) {
			for _, room := range []string{"10", "14"} {
				r := run(t, e, g, p, options("stats", "on", "sieve", room))
				if n := figure(t, r.Stats, `sieves (\d+)`); r.Matches != want || n == 0 {
					t.Errorf("%s, room %s, every level walked %v: %v by %d sieves, want %v", c.name, room, c.walked, r.Matches, n, want)
				}
			}
		})
	}
}
