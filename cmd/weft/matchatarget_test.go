package main

import (
	"runtime"
	"strings"
	"testing"
)

// TestCompilerMemory: --memory bounds the C compiler too, of programs and of the engine codegen. weft is a process of its own, as --memory counts all
// that a process has.
func TestCompilerMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux bounds the memory of compilers")
	}
	graph := smallGraph(t)
	for _, args := range [][]string{
		{"matcha", "run", "motifs4", "--target", "c", "-g", graph}, {"count", "--engine", "codegen", "--device", "cpu", "--pattern", "clique(4)", "-g", graph},
	} {
		for memory, want := range map[string]int{"1G": exitOK, "48M": exitMemory} {
			c := command(t, append(args, "--memory", memory)...)
			c.Env = append(c.Env, "WEFT_CACHE=off")
			out, _ := c.CombinedOutput()
			code := c.ProcessState.ExitCode()
			if code == exitDevice {
				t.Skipf("this machine has no compiler: %s", out)
			}
			if code != want || want == exitMemory && !strings.Contains(string(out), "the compiler needs more memory than the 48.0 MiB that it may have") {
				t.Errorf("%v with %s: exit %d: %s", args, memory, code, out)
			}
		}
	}
}
