package join_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// TestOutOfCoreNested: where segments of lists stay on the device while those of an edge pass by, no candidate comes to the host
// before that edge is known. A count of triangles brings back the rows of the first phase and no others, and no edge is looked for later. auto
// finds that by itself.
func TestOutOfCoreNested(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 9, M: 4000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	back := func(r engine.Result) (bytes uint64) {
		m := regexp.MustCompile(` and wrote (.*) to the host`).FindStringSubmatch(strings.Join(r.Stats, "\n"))
		if m == nil {
			t.Fatal(r.Stats)
		}
		n, unit := 0.0, ""
		if _, err := fmt.Sscan(m[1], &n, &unit); err != nil {
			t.Fatal(m[1], err)
		}
		return uint64(n * map[string]float64{"B": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20}[unit])
	}
	device := device.Emulated(t, emu.Options{Seed: device.Seed()})
	for _, c := range []struct {
		name   string
		fewer  uint64 // half as many bytes back without, divided by those with
		checks bool   // further edges are looked for later
	}{{"triangle", 6, false}, {"clique(4)", 3, true}} {
		p := planned(t, g, c.name, plan.Options{Order: "gsi"})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		by := map[string]engine.Result{}
		for _, nested := range []string{"off", "on", "auto"} {
			engines.WithSession(t, session.Options{Memory: 80 << 10, Ring: 1 << 12}, func(s *session.Session) {
				o := engine.Options{Opt: map[string]string{"join.filter": "off", "join.segments": "16", "join.held": "4", "join.nested": nested, "join.shorter": "0"}}
				r, err := engine.Once(t.Context(), join.NewGPU(s), g, p, o, engine.Goal{})
				if err != nil || r.Matches != want.Matches {
					t.Errorf("%s, nested %s: %v, %v; want %v", c.name, nested, r.Matches, err, want.Matches)
				}
				logLaunches(t, c.name+", nested "+nested, 80<<10, r)
				by[nested] = r
				var copies gpu.Copies
				if !copies.Read(r.Stats) || copies.Bytes == 0 || copies.Took == 0 || copies.Hidden > copies.Took {
					t.Errorf("copies %+v: %v", copies, r.Stats)
				}
			}, device)
		}
		off, on := back(by["off"]), back(by["on"])
		if on*c.fewer > 2*off || back(by["auto"]) > on {
			t.Errorf("%s: kernels wrote %s to the host's memory, %s without, %s with auto", c.name, memory.Text(on), memory.Text(off), memory.Text(back(by["auto"])))
		}
		// 16 segments of an edge pass by two segments each time; fewer where symmetries leave out pairs of segments.
		all, launches := launches(t, by["on"])
		if (launches["check"] > 0) != c.checks || all > (len(p.Levels)-2)*16*16/2 {
			t.Errorf("%s: %v", c.name, launches)
		}
	}
}

// TestOutOfCoreNestedWaits: where more candidates wait for further edges than memory has room for, these edges are looked for, and the pass goes
// on where it was, also within the list of a row.
func TestOutOfCoreNestedWaits(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 40, M: 500, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"clique(4)"} {
		p := planned(t, g, name, plan.Options{Order: "gsi", NoTail: true})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		got, err := onSmall(t, t.Context(), device.Backend(t, emu.Options{Seed: device.Seed()}), g, p, engine.Goal{}, t.TempDir(), "join.nested=on", "join.held=3", "join.segments=6", "join.shorter=0")
		if err != nil || got.Matches != want.Matches || !got.Complete {
			t.Errorf("%s: %v (complete %v, %v), want %v", name, got.Matches, got.Complete, err, want.Matches)
		}
		said := strings.Join(got.Stats, "\n")
		if !regexp.MustCompile(`the segments of an edge passed [1-9][0-9]* times`).MatchString(said) || !regexp.MustCompile(`interrupted [1-9][0-9]* times`).MatchString(said) {
			t.Errorf("%s: %s", name, said)
		}
	}
}
