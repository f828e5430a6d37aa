package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
)

// parts are files that do not stand by themselves: pieces of base/device.cuh, and what is written over the text that
// is generated for a plan. The tests of engines and of Matcha check these, and all other folders, together with such texts.
var parts = []string{
	"base/device_clang.cuh", "base/device_cuda.cuh", "base/device_emu.cuh", "base/emu_abi.cuh", "membership/fill.cuh",
}

func TestCompilesForGPUs(t *testing.T) {
	for _, name := range kernels.Names() {
		switch folder, _, _ := strings.Cut(name, "/"); {
		case folder != "base" && folder != "membership" && folder != "nest" && name != "neighbourhood/rows.cuh", slices.Contains(parts, name):
		default:
			t.Run(name, func(t *testing.T) {
				CompileCheck(t, cuda.Source{Name: name, Text: "#include \"" + name + "\"\n"})
			})
		}
	}
	root := filepath.Join("..", "..")
	for _, file := range []string{"emu/testdata/faults.cu"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			CompileCheck(t, cuda.Source{Name: file, Text: string(text)})
		})
	}
}

// failures keeps what a check reports instead of failing.
type failures struct {
	testing.TB
	found []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.found = append(f.found, args[1].(string))
}

// A text that only a host's compiler accepts is refused, for each architecture and by each compiler.
func TestRefuses(t *testing.T) {
	f := &failures{TB: t}
	CompileCheck(f, cuda.Source{Name: "host.cu", Text: `#include "base/device.cuh"
struct Params { u32* out; };
u32 on_the_host();
WEFT_KERNEL(wrong, Params) { p.out[0] = on_the_host(); }
`})
	want := slices.Clone(Architectures)
	if haveNVRTC() {
		want = append(want, nvrtc)
	}
	slices.Sort(f.found)
	slices.Sort(want)
	if !slices.Equal(f.found, want) {
		t.Errorf("refused for %v, want %v", f.found, want)
	}
}
