package weft_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench/papers"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestPapers: all versions of the papers' experiments run on a device, with their switches together, and count the same. What the
// tables compare is counted: idle lanes in tables of them, and memory on the device.
func TestPapers(t *testing.T) {
	long.Only(t, "it compiles some thirty kernels")
	_, g := runtimeOver(t, t.TempDir())
	for _, system := range papers.Systems() {
		all, err := papers.Of(system, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Programs {
				continue // TestMatchaSchedulesOnDevice
			}
			q, err := weft.PatternByName(e.Queries[0])
			if err != nil {
				t.Fatal(err)
			}
			want, busy := "", []uint64(nil)
			for _, v := range e.Versions {
				var options []weft.Option
				for s := range strings.SplitSeq(v.Settings, ",") {
					if name, value, _ := strings.Cut(s, "="); name == "engine" {
						options = append(options, weft.WithEngine(value))
					} else {
						options = append(options, weft.WithEngineOption(name, value))
					}
				}
				r, err := g.Count(t.Context(), q, options...)
				if err != nil {
					t.Errorf("%s, %s, %s: %v", system, e.Name, v.Name, err)
					continue
				}
				if got := r.Embeddings.String(); want == "" {
					want = got
				} else if got != want {
					t.Errorf("%s, %s, %s: %s embeddings, and %s of the first version", system, e.Name, v.Name, got, want)
				}
				if r.Meters == nil || r.Meters.Scratch == 0 {
					t.Errorf("%s, %s, %s: %+v", system, e.Name, v.Name, r.Meters)
				}
				if strings.Contains(v.Settings, "stack.stats=on") { // a thief makes the sets of its prefix again
					alone, err := g.Count(t.Context(), q, append(options, weft.WithEngineOption("stack.steal", "off"))...)
					if err != nil || alone.Meters == nil {
						t.Fatalf("%v, %+v", err, alone.Meters)
					}
					busy = append(busy, alone.Meters.LanesBusy)
				}
				if idle, ok := r.Meters.Idle(); e.Idle && (!ok || idle < 0 || idle > 1) {
					t.Errorf("%s, %s, %s: idle %v, %v", system, e.Name, v.Name, idle, ok)
				}
			}
			if len(busy) > 0 && slices.Min(busy) != slices.Max(busy) { // the same sets are made, by several siblings together or one after the other
				t.Errorf("%s, %s: %d elements were gone over", system, e.Name, busy)
			}
		}
	}
}
