package cuda

import (
	"os"
	"os/exec"
	"testing"

	"github.com/weftgraph/weft/internal/testing/long"
)

// The package builds without cgo where there are GPUs and where there are none.
func TestBuilds(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	if _, err := os.Stat("doc.go"); err != nil {
		t.Skip("no source tree")
	}
	long.Only(t, "building for other systems takes a minute")
	for _, target := range []struct{ system, arch, tags string }{
		{"windows", "amd64", ""}, {"darwin", "arm64", ""}, {"linux", "arm64", ""}, {"linux", "amd64", "nogpu"}, {"freebsd", "amd64", ""},
	} {
		cmd := exec.Command("go", "build", "-tags", target.tags, ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+target.system, "GOARCH="+target.arch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", target, err, out)
		}
	}
}
