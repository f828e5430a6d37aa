package stack

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// TestLocalCompilesForGPUs compiles every class of a few plans, as for an H200
// and a graph of large degrees, for three architectures, with clang and without
// CUDA.
func TestLocalCompilesForGPUs(t *testing.T) {
	clang, err := exec.LookPath("clang++-19")
	if err != nil {
		t.Skip("no clang++-19 here")
	}
	g := rmat(t, 5, 100)
	for _, name := range []string{"gmatch:P1", "gmatch:P4", "gmatch:P5", "gmatch:P7", "gmatch:P9"} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local"})
		if err != nil {
			t.Fatal(err)
		}
		info := cuda.Info{SharedPerBlock: 232448}
		l, err := newLocal(g, p, info, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.most = 16000
		if err := l.choose(info, nil); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		src := l.source()
		files := kernels.Includes()
		maps.Copy(files, src.Includes)
		files["local.cu"] = src.Text
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, arch := range []string{"sm_70", "sm_80", "sm_90"} {
			out, err := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch="+arch, "-nocudainc", "-nocudalib",
				"-fdeclspec", "-std=c++17", "-O1", "-Xclang", "-target-feature", "-Xclang", "+ptx78", "-S",
				"-o", filepath.Join(dir, "out.ptx"), "-I", dir, filepath.Join(dir, "local.cu")).CombinedOutput()
			if err != nil {
				t.Errorf("%s for %s: %v\n%s", name, arch, err, out)
			}
		}
	}
}
