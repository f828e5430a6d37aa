package weft_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// TestAdjacencyOption gives gpu.adjacency to every engine of GPUs, with options of the engine. Elsewhere it is an
// error. Explain and the result say where lists are read, and the count equals the processor's.
func TestAdjacencyOption(t *testing.T) {
	g, b := onEmulated(t)
	released := make(chan struct{})
	close(released)
	b.hold = released
	q, err := weft.Parse("MATCH (a)--(b)--(c)--(a)")
	if err != nil {
		t.Fatal(err)
	}
	host := weft.WithEngineOption("gpu.adjacency", "host")
	want, err := g.Count(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range [][]weft.Option{
		{weft.WithDevice("gpu:0")},
		{weft.WithDevice("gpu:0"), weft.WithEngineOption("stack.local", "off")},
	} {
		options = append(options, host)
		e, err := g.Explain(t.Context(), q, options...)
		if err != nil {
			t.Fatal(err)
		}
		if name, reason := e.Engine(); name != "stack" || !strings.Contains(reason, "stay in host memory") {
			t.Errorf("%s, %q", name, reason)
		}
		got, err := g.Count(t.Context(), q, options...)
		if err != nil || got.Embeddings.Cmp(want.Embeddings) != 0 || !strings.Contains(strings.Join(got.Stats, "\n"), "were read in host memory") {
			t.Errorf("%v embeddings, want %v; %q, %v", got.Embeddings, want.Embeddings, got.Stats, err)
		}
	}
	for _, options := range [][]weft.Option{{}, {weft.WithDevice("cpu")}, {weft.WithEngine("host")}} {
		if _, err := g.Count(t.Context(), q, append(options, host)...); !errors.Is(err, weft.ErrUsage) || !strings.Contains(err.Error(), "add --device gpu:0") {
			t.Errorf("error %v", err)
		}
	}
	if _, err := g.Count(t.Context(), q, weft.WithDevice("gpu:0"), weft.WithEngineOption("gpu.adjacency", "both")); !errors.Is(err, weft.ErrUsage) {
		t.Errorf("error %v", err)
	}
}
