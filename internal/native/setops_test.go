package native_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/native"
)

// TestSetOperations compares the run-time library's set operations with the obvious ones, under
// the sanitizers. Lists have all proportions, and the code is vector code or not. Memory has no
// more room than an operation may ask for.
func TestSetOperations(t *testing.T) {
	if _, err := native.C(); errors.Is(err, native.ErrNoCompiler) {
		t.Skip(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	list := func(n, of int) []uint32 {
		set := map[uint32]bool{}
		for len(set) < n {
			set[uint32(rnd.IntN(of))] = true
		}
		var out []uint32
		for x := range set {
			out = append(out, x)
		}
		slices.Sort(out)
		return out
	}
	var in, want strings.Builder
	for i := range 400 {
		n := []int{0, 1, 3, 7, 8, 9, 15, 16, 17, 40, 200, 1000}
		na, nb := n[rnd.IntN(len(n))], n[rnd.IntN(len(n))]
		of := max(na, nb)*(1+rnd.IntN(4)) + 1
		a, b := list(na, of), list(nb, of)
		fmt.Fprintln(&in, of, i%2, na, nb)
		for _, x := range append(slices.Clone(a), b...) {
			fmt.Fprintln(&in, x)
		}
		var and, minus uint64
		common := 0
		for _, x := range a {
			if slices.Contains(b, x) {
				common++
				and = and*31 + uint64(x) + 1
			} else {
				minus = minus*31 + uint64(x) + 1
			}
		}
		fmt.Fprintln(&want, common, common, na-common, na-common, and, minus)
	}
	for _, flag := range []string{"-march=native", "-mno-avx2"} {
		dir := t.TempDir()
		files := c.Runtime()
		files["main.c"] = setopsMain
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		program := filepath.Join(dir, "main")
		if out, err := exec.Command("cc", "-std=gnu11", "-w", "-O1", "-fwrapv", flag, "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
			"-I", dir, "-o", program, filepath.Join(dir, "main.c")).CombinedOutput(); err != nil {
			if flag == "-mno-avx2" {
				continue // no x86-64
			}
			t.Fatalf("%v\n%s", err, out)
		}
		run := exec.Command(program)
		run.Stdin = strings.NewReader(in.String())
		run.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
		out, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", flag, err, out)
		}
		got, wanted := strings.Split(string(out), "\n"), strings.Split(want.String(), "\n")
		for i := range wanted {
			if i >= len(got) || got[i] != wanted[i] {
				t.Fatalf("%s: case %d: %q, want %q", flag, i, got[i], wanted[i])
			}
		}
	}
}

const setopsMain = `
#include "graph.h"
#include <stdio.h>
#include <stdlib.h>
struct Graph { struct GraphHead head; Adj adj[1]; };
static u32 *read(u32 n) {
  u32 *p = malloc(4 * n);
  for (u32 i = 0; i < n; ++i) scanf("%u", &p[i]);
  return p;
}
static u64 hash(Set s) {
  u64 h = 0;
  for (u32 i = 0; i < s.n; ++i) h = h * 31 + s.p[i] + 1;
  return h;
}
int main(void) {
  u32 of, hub, na, nb;
  while (scanf("%u %u %u %u", &of, &hub, &na, &nb) == 4) {
    u32 *a = read(na), *b = read(nb);
    // b is the list of vertex 0.
    u64 off[] = {0, nb};
    Hub hubs[] = {{0, 0, 0}, {0, 0, 0}};
    struct Graph q = {{hubs, of / 64 + 1, 0}, {{off, b, 0, 0, 0}}};
    q.head.adj = q.adj;
    Set x = {a, na, 0}, y = {b, nb, hub};
    u32 *o = malloc(4 * (na < nb ? na : nb)), *p = malloc(4 * na);
    u32 n[4];
    u32 numbers[] = {0};
    q.adj[0].hubs = numbers;
    const Set and = w_intersect(&q, o, x, y), minus = w_subtract(&q, p, x, y);
    n[0] = w_intersect_count(&q, x, y);
    n[1] = and.n;
    n[2] = w_subtract_count(&q, x, y);
    n[3] = minus.n;
    printf("%u %u %u %u %llu %llu\n", n[0], n[1], n[2], n[3], hash(and), hash(minus));
    free(hubs[1].bits);
    free(a), free(b), free(o), free(p);
  }
}
`
