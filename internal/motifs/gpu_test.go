package motifs

import (
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/testing/device"
)

// onGPU is a runtime whose only GPU is an emulated device.
func onGPU(t *testing.T) *runtime.Runtime {
	t.Helper()
	b := device.Backend(t, emu.Options{})
	rt := runtime.New(runtime.Options{
		Count: func() (int, error) { return 1, nil },
		Open:  func(int) (*cuda.Device, error) { return cuda.New(b, device.Objects().Images) },
	})
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// TestGPUCensus: a GPU counts all motifs of four and five vertices by a census, those of three by their triangles, and one by one
// where something else is asked for or there is too little memory; the counts are those of the processor.
func TestGPUCensus(t *testing.T) {
	data, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 40, P: 0.3, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	rt := onGPU(t)
	small := search.NewGraph(rt, data)
	defer small.Close()
	g := small
	// Its lists take 1 MiB, which other engines leave in host memory.
	sparse, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 50000, P: 0.00005, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	large := search.NewGraph(rt, sparse)
	defer large.Close()
	count := func(k int, set func(s *setting.Settings)) []search.Result {
		t.Helper()
		s := setting.New()
		s.Device = "gpu:0"
		set(s)
		all, err := Count(t.Context(), g, k, s)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for k := 3; k <= 5; k++ {
		for _, induced := range []bool{true, false} {
			want := count(k, func(s *setting.Settings) { s.Device, s.Induced = "cpu", &induced })
			got := count(k, func(s *setting.Settings) { s.Induced = &induced })
			for i, r := range got {
				if r.Embeddings.Cmp(want[i].Embeddings) != 0 || r.Query != want[i].Query || !r.Complete {
					t.Errorf("%s, induced %v: %v, complete %v, want %v", r.Query, induced, r.Embeddings, r.Complete, want[i].Embeddings)
				}
				if census := r.Method == "census" && r.Engine == "census"; census != (k > 3) || (r.Device == "cpu") != (r.Query == "wedge") {
					t.Errorf("%s: method %s of %s on %s", r.Query, r.Method, r.Engine, r.Device)
				}
			}
			if len(got) != len(want) || strings.Contains(strings.Join(got[0].Stats, "\n"), "census: ") != (k > 3) {
				t.Errorf("%d results of %d, statistics %q", len(got), len(want), got[0].Stats)
			}
		}
	}
	want := count(4, func(*setting.Settings) {})
	for what, set := range map[string]func(s *setting.Settings){
		"the switch":      func(s *setting.Settings) { s.Switches["gpu.census"] = "off" },
		"another switch":  func(s *setting.Settings) { s.Switches["gpu.adjacency"] = "device" },
		"an engine":       func(s *setting.Settings) { s.Engine = "stack" },
		"a limit":         func(s *setting.Settings) { s.Limit = 1 << 40 },
		"a given order":   func(s *setting.Settings) { s.Order = "ri" },
		"too little room": func(s *setting.Settings) { s.GPUMemory = 900 << 10 },
	} {
		want := want
		if what == "too little room" {
			g = large
			want = count(4, func(s *setting.Settings) { s.Device = "cpu" })
		}
		got := count(4, set)
		g = small
		for i, r := range got {
			if r.Method == "census" || r.Embeddings.Cmp(want[i].Embeddings) != 0 {
				t.Errorf("%s: method %s, %v of %s, want %v", what, r.Method, r.Embeddings, r.Query, want[i].Embeddings)
			}
		}
		if noted := strings.Contains(strings.Join(got[0].Notes, "\n"), "a census of all motifs was not possible"); noted != (what == "too little room") {
			t.Errorf("%s: notes %q", what, got[0].Notes)
		}
	}
	if got := count(4, func(s *setting.Settings) { s.Switches["gpu.census"] = "on" }); got[0].Method != "census" {
		t.Errorf("method %s with the switch on", got[0].Method)
	}
}

// TestGPUKnown: motifs of real graphs on a GPU. Peregrine and GraphMiner give these counts of three and four vertices; those of
// five are the processor's.
func TestGPUKnown(t *testing.T) {
	rt := onGPU(t)
	for _, c := range []struct {
		file   string
		counts map[string]int64
	}{
		{"citeseer.graph.gz", map[string]int64{
			"wedge": 23380, "triangle": 1166, "star(3)": 222630, "path(4)": 111153, "tailed_triangle": 22900, "cycle(4)": 3094, "diamond": 2200, "clique(4)": 255,
		}},
		{"ego-facebook.txt.gz", map[string]int64{
			"wedge": 4478819, "triangle": 1612010, "star(3)": 361090174, "path(4)": 84332901, "tailed_triangle": 148691496, "cycle(4)": 5250007, "diamond": 48759042, "clique(4)": 30004668,
		}},
	} {
		data, err := format.Read(t.Context(), filepath.Join("..", "..", "testdata", "graphs", c.file), format.ReadOptions{Direction: format.Undirected}, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := search.NewGraph(rt, data)
		defer g.Close()
		count := func(k int, device string) []search.Result {
			t.Helper()
			s := setting.New()
			s.Device = device
			all, err := Count(t.Context(), g, k, s)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		for k := 3; k <= 5; k++ {
			var processor []search.Result
			if k == 5 {
				processor = count(k, "cpu")
			}
			for i, r := range count(k, "gpu:0") {
				want := big.NewInt(c.counts[r.Query])
				if k == 5 {
					want = processor[i].Subgraphs
				}
				if (r.Method == "census") != (k > 3) || r.Subgraphs.Cmp(want) != 0 {
					t.Errorf("%s: %s by %s: %v, want %v", c.file, r.Query, r.Method, r.Subgraphs, want)
				}
			}
		}
	}
}
