//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyTheGPUsAskedFor: a command starts the driver for the GPUs that it was
// asked to use, by the names that the environment has for them, and the doctor
// for all. The driver is the stand-in of package cuda, with two GPUs, the numbers 0 and 1.
func TestOnlyTheGPUsAskedFor(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler, cc")
	}
	dir := t.TempDir()
	graph := filepath.Join(dir, "k3.txt")
	if err := os.WriteFile(graph, []byte("1 2\n2 3\n1 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-w", "-shared", "-fPIC", "-o", filepath.Join(dir, "libcuda.so.1"), "../../internal/cuda/testdata/driver.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	count := func(device ...string) []string {
		return append([]string{"count", graph, "--pattern", "triangle"}, device...)
	}
	for _, c := range []struct {
		visible string
		args    []string
		code    int
		want    string
	}{
		// The stand-in does not know such names: it shows what it was started for by refusing.
		{"GPU-a,GPU-b", count("--device", "gpu:1"), exitDevice, "CUDA_VISIBLE_DEVICES=GPU-b: it shows 0 of these 1 GPUs"},
		{"GPU-a,GPU-b,GPU-c", count("--device", "gpu:2,0"), exitDevice, "CUDA_VISIBLE_DEVICES=GPU-a,GPU-c: it shows 0 of these 2 GPUs"},
		{"GPU-a,GPU-b", count("--engine", "fine"), exitDevice, "CUDA_VISIBLE_DEVICES=GPU-a: "},
		{"0,1", count("--device", "gpu:7"), exitDevice, "gpu:7 was asked for, and the GPUs here are 0 … 1"},
		{"GPU-a,GPU-b", count(), exitOK, ""},
		{"1,0", []string{"doctor"}, exitOK, "GPU 1"},
	} {
		w := command(t, c.args...)
		w.Env = append(w.Env, "LD_LIBRARY_PATH="+dir, "CUDA_VISIBLE_DEVICES="+c.visible)
		var out bytes.Buffer
		w.Stdout, w.Stderr = &out, &out
		_ = w.Run()
		if code := w.ProcessState.ExitCode(); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v with %s: exit %d, not %d, and no %q in\n%s", c.args, c.visible, code, c.code, c.want, out.String())
		}
	}
}
