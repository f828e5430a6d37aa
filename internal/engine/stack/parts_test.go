package stack_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestParts compares plans over relations in parts with the oracle.
func TestParts(t *testing.T) {
	onDevice(t, func(t *testing.T, e tiny) {
		for _, l := range parts.Layouts {
			x := &parts.Trial{Layout: l}
			x.Compare(t, nodiff.Config{Compile: nestPlan, MaxVertices: 12, Opt: map[string]string{
				"stack.chunk": "1", "stack.steal": "block", "stack.stats": "on",
			}}, parts.Few(3), e)
		}
	})
}

// TestPartsRefused: a table, a start from edges and less memory than lists take are
// refused with the reason.
func TestPartsRefused(t *testing.T) {
	onDevice(t, func(t *testing.T, e tiny) {
		g := nodiff.Complete(6).Build()
		parts.Layout{Runs: 2, Deleted: true, Seed: 1}.Store(g)
		p := named(t, g, "clique(4)", plan.Options{})
		for _, c := range []struct {
			opt  engine.Options
			want string
		}{
			{options("program", "table"), "N is stored in 2 parts, and a table reads lists that are one sorted run"},
			{options("roots", "edge"), "stack.roots=edge"},
			{options("slot", "2"), "lists in parts need memory for sets of 5 elements"},
		} {
			if err := engines.Refusal(e, g, p, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: the error is %v, want %s", c.opt.Opt, err, c.want)
			}
		}
	})
}

// TestSparse compares plans over sparse lists with the oracle.
func TestSparse(t *testing.T) {
	onDevice(t, func(t *testing.T, e tiny) {
		x := &parts.Trial{Layout: parts.Sparse}
		x.Compare(t, nodiff.Config{Compile: parts.Short(nestPlan), MaxVertices: 12, Opt: map[string]string{
			"stack.chunk": "1", "stack.roots": "edge|vertex", "stack.program": "table", "stack.slot": "2", "stack.flat": "off", "gpu.adjacency": "host|cached", gpu.Offsets: "on",
		}}, parts.Few(3), e)
	})
}
