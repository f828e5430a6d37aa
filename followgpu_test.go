package weft_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestFollowOnGPU: the status has the memory that lists take on a GPU that holds the graph, and nothing of a GPU without one.
func TestFollowOnGPU(t *testing.T) {
	rt := weft.RuntimeOpening(func(int) (*cuda.Device, error) {
		return cuda.New(device.Backend(t, emu.Options{}), device.Objects().Images)
	})
	defer rt.Close()
	g, err := rt.Open(t.Context(), karate)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	q, err := weft.PatternByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"host", "pipeline"} {
		o := weft.FollowOptions{Source: "-", Stdin: strings.NewReader("+ 1 200\n+ 2 200\n- 1 2\n"), Summary: true}
		options := []weft.Option{weft.WithEngine(engine)}
		if engine == "host" {
			options = append(options, weft.WithDevice("cpu"))
		}
		st, err := g.Follow(t.Context(), []*weft.Query{q}, o, options...)
		if err != nil {
			t.Fatal(err)
		}
		if st.Updates != 3 {
			t.Errorf("%s: %d updates", engine, st.Updates)
		}
		switch {
		case engine == "host" && st.GPU != nil:
			t.Errorf("%s: %+v", engine, st.GPU)
		case engine == "pipeline" && (st.GPU == nil || st.GPU.Lists == 0 || st.GPU.Most < st.GPU.Lists || st.GPU.Room < st.GPU.Most || st.GPU.Busy < 0 || st.GPU.Busy > 1):
			t.Errorf("%s: %+v", engine, st.GPU)
		}
	}
}
