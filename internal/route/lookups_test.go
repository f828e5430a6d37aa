package route

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestPreferLookups: a nest that would look elements up in hash tables goes to codegen
// unless fine has it already, in an order by tests; and what codegen does is said.
func TestPreferLookups(t *testing.T) {
	s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{})}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct{ engine, lookup, want, order, reason string }{
		{"stack", "hash", "codegen", orderOfLookups, "hash tables"},
		{"stack", "search", "stack", "", ""},
		{"stack", "bits", "stack", "", ""},
		{"fine", "hash", "fine", "", ""},
		{"codegen", "hash", "codegen", orderOfLookups, "named; neighbours are looked up in hash tables"},
		{"codegen", "bits", "codegen", orderOfLookups, "named; neighbours are looked up in rows of bits"},
		{"codegen", "search", "codegen", "", "named"},
	} {
		r := request(t, 0)
		r.Options.Opt = map[string]string{"codegen.lookup": c.lookup}
		order := ""
		compile := r.Compile
		r.Compile = func(method, by string) (*plan.Plan, error) {
			order = by
			return compile(method, by)
		}
		p, err := compile(plan.Nest.String(), "")
		if err != nil {
			t.Fatal(err)
		}
		x := trial{Request: r, auto: c.engine != "codegen", session: s}
		choice, ok := x.byLookups(t.Context(), c.engine, p, "named")
		if !ok {
			if c.want != c.engine || c.order != "" {
				t.Errorf("%+v: the plan stays", c)
			}
			continue
		}
		if got := choice.Engine.Name(); got != c.want || order != c.order || !strings.Contains(choice.Reason, c.reason) {
			t.Errorf("%+v: %s, order %q, %q", c, got, order, choice.Reason)
		}
	}
}

// TestHubsStay: a nest whose candidate sets would take too much of the memory does not go to
// codegen by itself.
func TestHubsStay(t *testing.T) {
	ps, err := pattern.ByName("gmatch:P5")
	if err != nil {
		t.Fatal(err)
	}
	for memory, goes := range map[int64]bool{28 << 10: false, 1 << 20: true} {
		s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{})}, session.Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		r := request(t, 0)
		r.Options.Opt = map[string]string{"codegen.lookup": "hash"}
		r.Compile = func(method, _ string) (*plan.Plan, error) {
			return planner.Compile(r.Graph, ps[0], plan.Options{Root: plan.NoRoot, Method: method})
		}
		p, err := r.Compile(plan.Nest.String(), "")
		if err != nil {
			t.Fatal(err)
		}
		if how := codegen.New(s).Lookup(p, r.Options); how != membership.Hash {
			t.Fatalf("%d bytes: no room for hash tables", memory)
		}
		x := trial{Request: r, auto: true, session: s}
		if _, got := x.byLookups(t.Context(), "stack", p, ""); got != goes {
			t.Errorf("%d bytes: goes to codegen %v", memory, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
