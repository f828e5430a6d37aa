package cuda_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/kir/emit/interp"
)

// TestWideDivision compares quotients of 128-bit numbers with the interpreter's,
// for divisors of all lengths.
func TestWideDivision(t *testing.T) {
	cxx, err := exec.LookPath("c++")
	if err != nil {
		t.Skip("no C++ compiler here")
	}
	wide := kir.T(kir.U128)
	a, b := &kir.Var{Name: "a", T: wide}, &kir.Var{Name: "b", T: wide}
	f := &kir.Func{Name: "quotient", Params: []*kir.Var{a, b}, Result: wide, Body: []kir.Stmt{
		&kir.Return{X: kir.Op2(kir.Div, kir.R(a), kir.R(b))},
	}}
	p := &kir.Program{Funcs: []*kir.Func{f}, Owners: []kir.Owner{{}}}
	m, err := interp.New(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"base/group.cuh", "base/setops.cuh", "base/graph.cuh"} {
		write(name, "")
	}
	write("base/device.cuh", "typedef unsigned u32; typedef unsigned long long u64; typedef unsigned __int128 u128;\n#define DEV inline\nstruct Adj { u64 x; };\n")
	var src, want bytes.Buffer
	src.WriteString("#include <cstdio>\n" + strings.ReplaceAll(cuda.Text(p), "#pragma once\n", ""))
	src.WriteString("static u128 w(u64 hi, u64 lo) { return u128(hi) << 64 | lo; }\nint main() { Graph g; u128 q;\n")
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func(bits uint) interp.Value {
		v := interp.Value{N: rnd.Uint64(), Hi: rnd.Uint64()}
		if bits <= 64 {
			return interp.Value{N: v.N>>(64-bits) | 1}
		}
		v.Hi >>= 128 - bits
		return v
	}
	for i := range uint(200) {
		x, y := number(1+i*37%128), number(1+i*53%128)
		fmt.Fprintf(&src, "q = quotient(g, w(%du, %du), w(%du, %du)); printf(\"%%llu %%llu\\n\", u64(q >> 64), u64(q));\n", x.Hi, x.N, y.Hi, y.N)
		q := m.Call(f, x, y)
		fmt.Fprintf(&want, "%d %d\n", q.Hi, q.N)
	}
	src.WriteString("}\n")
	write("main.cpp", src.String())
	program := filepath.Join(dir, "main")
	if out, err := exec.Command(cxx, "-std=c++17", "-w", "-fsanitize=undefined", "-I", dir, "-o", program, filepath.Join(dir, "main.cpp")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		g, w := strings.Split(string(got), "\n"), strings.Split(want.String(), "\n")
		for i := range w {
			if g[i] != w[i] {
				t.Errorf("quotient %d is %s, want %s", i, g[i], w[i])
			}
		}
	}
}
