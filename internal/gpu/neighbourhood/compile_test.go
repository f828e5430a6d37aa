package neighbourhood

import (
	"maps"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestLocalCompilesForGPUs compiles every class of a few plans, as for an H200
// and a graph of large degrees; one of them by NVRTC
// too, and the kernel over all vertices; over lists with an offset for each vertex, and over sparse ones.
func TestLocalCompilesForGPUs(t *testing.T) {
	g := rmat(t, 5, 100)
	for _, c := range []struct {
		name          string
		sparse, nvrtc bool
	}{{"gmatch:P1", false, false}, {"gmatch:P5", false, true}, {"gmatch:P9", false, false}, {"gmatch:P1", true, false}, {"gmatch:P4", false, true}, {"gmatch:P4", true, true}, {"gmatch:P5", true, false}} {
		ps, err := pattern.ByName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local"})
		if err != nil {
			t.Fatal(err)
		}
		info := cuda.Info{SharedPerBlock: 232448}
		w := Switches{}
		if c.sparse {
			p, w.sparse = overSparse(p), lower.AsStored
		}
		l, err := newSearch(g, p, info, w)
		if err != nil {
			t.Fatal(err)
		}
		l.most = 16000
		if err := l.choose(info); err != nil {
			t.Fatal(err)
		}
		src, parts := l.source()
		if l.whole {
			whole := src
			whole.Text += parts[wholeKernel]
			check.CompileCheck(t, whole)
		}
		for _, text := range slices.Compact(slices.Sorted(maps.Values(parts))) {
			src.Text += text
		}
		if c.nvrtc {
			check.CompileCheck(t, src)
		} else {
			check.ClangCheck(t, src)
		}
	}
}
