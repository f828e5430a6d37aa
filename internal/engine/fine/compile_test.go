package fine

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// nothing is a sink for a text that is compiled and not run.
type nothing struct{}

func (nothing) Emit(int, *engine.Batch) error { return nil }

// TestCompilesForGPUs compiles the kernels of a few plans, counting with and
// without a tail and listing, for three architectures, with clang and without
// CUDA.
func TestCompilesForGPUs(t *testing.T) {
	clang, err := exec.LookPath("clang++-19")
	if err != nil {
		t.Skip("no clang++-19 here")
	}
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 20, P: 0.5, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, sink := range map[string]engine.Sink{"clique(5)": nil, "star(3)": nil, "diamond": nil, "cycle(5)": nothing{}} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Order: "ri"})
		if err != nil {
			t.Fatal(err)
		}
		prog, err := lowered(p, sink == nil)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		files := kernels.Includes()
		maps.Copy(files, includes())
		files["fine.cu"] = (&search{p: p, prog: prog, sink: sink}).text()
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, arch := range []string{"sm_70", "sm_80", "sm_90"} {
			out, err := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch="+arch, "-nocudainc", "-nocudalib",
				"-fdeclspec", "-std=c++17", "-O1", "-Xclang", "-target-feature", "-Xclang", "+ptx78", "-S",
				"-o", filepath.Join(dir, "out.ptx"), "-I", dir, filepath.Join(dir, "fine.cu")).CombinedOutput()
			if err != nil {
				t.Errorf("%s for %s: %v\n%s", name, arch, err, out)
			}
		}
	}
}
