// Package onelane runs text generated for GPUs on the processor, for a thread group of one
// lane. The machine's C++ compiler compiles it over the shared device code, under its
// sanitizers. Tests compare its output with an interpreter's.
package onelane

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft/internal/cuda/kernels"
)

// Skip skips the test where there is no C++ compiler.
func Skip(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler here")
	}
}

// Run compiles a program that includes base/graph.cuh and what that needs, with more
// options for the compiler, and returns what it prints. What a sanitizer finds
// fails the test.
func Run(t *testing.T, text string, options ...string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"base/device.cuh": oneLane, "main.cpp": text}
	for _, name := range []string{"base/group.cuh", "base/setops.cuh", "base/graph.cuh", "base/draw.cuh", "base/arithmetic.cuh"} {
		files[name] = kernels.Source(name)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "main")
	args := append([]string{"-std=c++17", "-w", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}, options...)
	args = append(args, "-I", dir, "-o", program, filepath.Join(dir, "main.cpp"))
	if out, err := exec.Command("c++", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// oneLane is what the shared device code needs of base/device.cuh, for one lane.
const oneLane = `#pragma once
typedef unsigned char u8; typedef unsigned u32; typedef unsigned long long u64; typedef int i32; typedef long long i64;
typedef unsigned __int128 u128; typedef float f32; typedef double f64;
#define DEV inline
#define DEV_NOINLINE inline
#define ALL 0xffffffffu
#define UNROLL
#define ROLLED
struct alignas(16) u32x4 { u32 x, y, z, w; };
template<class T> T ldg(const T* p) { return *p; }
template<class T> T min(T a, T b) { return a < b ? a : b; }
template<class T> T max(T a, T b) { return a < b ? b : a; }
inline u32 popc(u32 x) { return __builtin_popcount(x); }
inline u32 popc(u64 x) { return __builtin_popcountll(x); }
inline u32 clz(u32 x) { return x ? __builtin_clz(x) : 32; }
inline u32 clz(u64 x) { return x ? __builtin_clzll(x) : 64; }
inline u32 lane() { return 0; }
inline u32 ballot(u32, bool p) { return p; }
inline bool any(u32, bool p) { return p; }
inline bool all(u32, bool p) { return p; }
inline void sync_warp(u32) {}
template<class T> T atomic_add(T* p, T x) {
  T old = *p;
  *p += x;
  return old;
}
template<class T> T shfl(u32, T x, u32, u32 = 32) { return x; }
template<class T> T shfl_up(u32, T x, u32, u32 = 32) { return x; }
template<class T> T shfl_xor(u32, T x, u32, u32 = 32) { return x; }
template<class T> T reduce_add(u32, T x) { return x; }
inline u32 reduce_or(u32, u32 x) { return x; }
`
