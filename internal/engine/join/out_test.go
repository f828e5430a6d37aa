package join_test

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestOutOfCorePath: a path of three vertices in a graph in two segments.
func TestOutOfCorePath(t *testing.T) {
	g := skewed(t)
	p := planned(t, g, "path(3)", plan.Options{Order: "gsi", NoTail: true})
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		for _, n := range []int{1, 2, 3, 7, 50} {
			o := engine.Options{Opt: map[string]string{"join.segments": fmt.Sprint(n)}}
			got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Errorf("%d segments: %v (complete %v, %v), want %v", n, got.Matches, got.Complete, err, want.Matches)
			}
			t.Log(got.Stats)
		}
	})
}

// outConfig compares joins out of core with the oracle: many small segments and sub-tables.
func outConfig() nodiff.Config {
	c := nodiff.Config{Compile: planner.Compile, MaxVertices: 12, LeastRuns: 1, Opt: map[string]string{
		"join.batch": "1|3|50", "join.segments": "1|2|5|100", "join.filter": "off|signature", "join.signature": "32|64", "join.lists": "graph|hashed|interval",
	}}
	for _, tech := range []nodiff.Technique{nodiff.Nest, nodiff.LabelledNest, nodiff.Listing, nodiff.Rooted} {
		c.Techniques = append(c.Techniques, tech.With("segments, "+tech.Name).Said("out of core: two segments"))
	}
	return c
}

// TestOutOfCoreAgrees compares counts, listings and counts by vertex with the oracle's, on a device of a few dozen KiB.
func TestOutOfCoreAgrees(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		engines.WithSession(t, session.Options{Memory: 48 << 10, Ring: 1 << 16}, func(s *session.Session) {
			compare(t, outConfig(), join.NewGPU(s), nodiff.Suite{Plans: 300, Graphs: 4}, nodiff.Suite{Plans: 30, Graphs: 2})
		}, d)
	})
}
