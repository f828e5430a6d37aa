package cuda

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/runtime/code"
)

func TestReport(t *testing.T) {
	t.Setenv("WEFT_CACHE", t.TempDir())
	var whats []string
	for _, f := range Report(code.New(code.Folder(""))) {
		if f.What == "" || f.Found == "" {
			t.Errorf("finding %+v", f)
		}
		whats = append(whats, f.What)
	}
	if got := strings.Join(whats, ", "); !strings.HasPrefix(got, "GPU driver, GPU compiler (NVRTC), ") || !strings.HasSuffix(got, "GPU kernel cache") {
		t.Errorf("findings: %s", got)
	}
}

func TestFindings(t *testing.T) {
	noDriver := driverFinding(nil, errorOf("start", 803, "", "mismatch"))
	if noDriver.Found != "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): mismatch" || !strings.Contains(noDriver.Advice, "restart") {
		t.Errorf("%+v", noDriver)
	}
	old := deviceFinding(Finding{What: "GPU 0"}, Info{Name: "Tesla P100", Major: 6, Memory: 16 << 30, SMs: 56})
	if old.Found != "Tesla P100, 16.0 GiB, sm_60, 56 multiprocessors" || !strings.Contains(old.Advice, "sm_70") {
		t.Errorf("%+v", old)
	}
	t.Setenv("WEFT_CACHE", "off")
	if f := cacheFinding(code.New(code.Folder(""))); f.Found != "off" || f.Advice != "" {
		t.Errorf("%+v", f)
	}
}

func TestInfo(t *testing.T) {
	gpu := Info{Ordinal: 2, Name: "NVIDIA H200", Major: 9}
	if gpu.Arch() != "sm_90" || gpu.String() != "GPU 2 (NVIDIA H200)" {
		t.Errorf("%s, %s", gpu.Arch(), gpu)
	}
	emulated := Info{Name: "emulated device", Emulated: true}
	if emulated.Arch() != "emulated" || strings.Contains(emulated.String(), "GPU") {
		t.Errorf("%s, %s", emulated.Arch(), emulated)
	}
}
