// Package check compiles device code for GPUs on a machine without a GPU and without a toolkit. It uses
// clang, with base/device_clang.cuh, and NVRTC where that is installed. It finds mistakes that a C++ compiler
// of the host accepts and a GPU's compiler does not. It does not run the result.
package check

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
)

// Architectures are those that CompileCheck compiles for: the oldest that kernels are written for, which lacks
// asynchronous copies and reductions, and Hopper. Kernels have no other differences.
var Architectures = []string{"sm_70", "sm_90"}

// wanted is the environment variable that `make kernels-check` sets.
const wanted = "WEFT_KERNELS_CHECK"

// compilerNames are looked for in this order; WEFT_CLANG comes before them.
var compilerNames = []string{"clang++-19", "clang++-20", "clang++-21", "clang++"}

// findClang is a clang that compiles for NVIDIA's GPUs, or "".
var findClang = sync.OnceValue(func() string {
	names := compilerNames
	if name := os.Getenv("WEFT_CLANG"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		targets, err := exec.Command(path, "--print-targets").Output()
		if err == nil && strings.Contains(string(targets), "nvptx64") {
			return path
		}
	}
	return ""
})

// needNVRTC is the environment variable that makes it an error if there is no NVRTC.
const needNVRTC = "WEFT_REQUIRE_NVRTC"

// haveNVRTC reports whether NVIDIA's run-time compiler is to be there: whether it works is for the check to find out.
var haveNVRTC = sync.OnceValue(func() bool {
	_, err := cuda.CompileFor(cuda.Source{Name: main}, 9, 0)
	return !errors.Is(err, cuda.ErrNoCompiler) || os.Getenv(needNVRTC) != ""
})

// nvrtc is what messages call NVIDIA's run-time compiler.
const nvrtc = "NVRTC"

// main is the file that a program is compiled from.
const main = "weft-kernel.cu"

// CompileCheck compiles a program of kernels by clang, and by NVRTC if the machine has it.
//
// clang compiles it for the first of Architectures as it is for release. For the second it compiles it with the assertions of
// debugging, for racecheck, and with a cache of lists. NVRTC compiles it as users' machines do. Both find the shared files of package kernels
// without their names in Includes.
//
// Without a clang that can compile it, the rest of the test is skipped. All of the test is skipped if WEFT_KERNELS_CHECK is
// not set.
func CompileCheck(t testing.TB, src cuda.Source) {
	t.Helper()
	if os.Getenv(wanted) != "" {
		nvrtcCheck(t, src)
	}
	ClangCheck(t, src)
}

// nvrtcCheck compiles a program by NVRTC, for Hopper.
func nvrtcCheck(t testing.TB, src cuda.Source) {
	t.Helper()
	name, files := src.Name, files(src)
	src.Name, src.Includes = main, files // a source may have the name of a file that it includes
	switch _, err := cuda.CompileFor(src, 9, 0); {
	case !haveNVRTC():
		t.Log("not compiled by NVRTC, which is not installed")
	case err != nil:
		t.Errorf("%s does not compile by %s: %v", name, nvrtc, err)
	}
}

// files are all that a program includes.
func files(src cuda.Source) map[string]string {
	out := kernels.Includes(append(slices.Collect(maps.Values(src.Includes)), src.Text)...)
	maps.Copy(out, src.Includes)
	return out
}

// ClangCheck is CompileCheck without NVRTC, which takes long over large programs.
func ClangCheck(t testing.TB, src cuda.Source) {
	t.Helper()
	if os.Getenv(wanted) == "" {
		t.Skip("`make kernels-check` compiles kernels for GPUs, which takes minutes")
	}
	clang := findClang()
	if clang == "" {
		t.Skip("no clang that compiles for NVIDIA's GPUs: install clang-19, or set WEFT_CLANG")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files(src) {
		write(name, text)
	}
	write(main, src.Text)
	for i, arch := range Architectures {
		args := []string{
			"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=" + arch, "-nocudainc", "-nocudalib", "-fdeclspec",
			"-I.", "-std=c++17", "-Werror=gnu", "-Werror=c++20-designator", "-O1", "-Xclang", "-target-feature", "-Xclang", "+ptx78",
		}
		if i == 1 {
			args = append(args, "-DWEFT_DEBUG", "-DWEFT_RACECHECK", "-DWEFT_CACHED")
		}
		for _, o := range src.Options {
			if strings.HasPrefix(o, "-D") || strings.HasPrefix(o, "-U") {
				args = append(args, o)
			}
		}
		cmd := exec.Command(clang, append(args, "-S", main, "-o", "kernel.ptx")...)
		cmd.Dir = dir
		if log, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s does not compile for %s: %v\n%s", src.Name, arch, err, log)
		}
	}
}
