package cuda_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/kir/emit/interp"
	"github.com/weftgraph/weft/internal/testing/onelane"
)

// TestOperators compares operators with the interpreter: by 0 and by -1, shifts by all bits and more, and quotients of
// 128-bit numbers by divisors of all lengths.
func TestOperators(t *testing.T) {
	onelane.Skip(t)
	p := &kir.Program{Owners: []kir.Owner{{}}}
	var calls, want bytes.Buffer
	cases := map[*kir.Func][][2]interp.Value{}
	add := func(op kir.Op, k kir.Kind, operands ...[2]interp.Value) {
		count := k
		if op == kir.Shl || op == kir.Shr {
			count = kir.U32
		}
		a, b := &kir.Var{Name: "a", T: kir.T(k)}, &kir.Var{Name: "b", T: kir.T(count)}
		f := &kir.Func{
			Name: fmt.Sprintf("op%d", len(p.Funcs)), Params: []*kir.Var{a, b}, Result: kir.T(k), Body: []kir.Stmt{&kir.Return{X: kir.Op2(op, kir.R(a), kir.R(b))}},
		}
		p.Funcs = append(p.Funcs, f)
		cases[f] = operands
	}
	edges := map[kir.Kind][]interp.Value{
		kir.U32:  {{}, {N: 1}, {N: 7}, {N: math.MaxUint32}},
		kir.U64:  {{}, {N: 1}, {N: 7}, {N: math.MaxUint32}, {N: math.MaxUint64}},
		kir.I64:  {{}, {N: 1}, {N: 7}, {N: math.MaxUint64}, {N: 1 << 63}, {N: math.MaxInt64}},
		kir.U128: {{}, {N: 1}, {N: 7}, {N: math.MaxUint64}, {Hi: 1}, {N: math.MaxUint64, Hi: math.MaxUint64}},
	}
	shifts := []interp.Value{{}, {N: 1}, {N: 31}, {N: 32}, {N: 63}, {N: 64}, {N: 127}, {N: 128}, {N: math.MaxUint32}}
	for k, numbers := range edges {
		for _, op := range []kir.Op{kir.Div, kir.Mod, kir.Shl, kir.Shr} {
			right := numbers
			if op == kir.Shl || op == kir.Shr {
				right = shifts
			}
			var operands [][2]interp.Value
			for _, x := range numbers {
				for _, y := range right {
					operands = append(operands, [2]interp.Value{x, y})
				}
			}
			add(op, k, operands...)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func(bits uint) interp.Value {
		v := interp.Value{N: rnd.Uint64(), Hi: rnd.Uint64()}
		if bits <= 64 {
			return interp.Value{N: v.N>>(64-bits) | 1}
		}
		v.Hi >>= 128 - bits
		return v
	}
	var wide [][2]interp.Value
	for i := range uint(200) {
		wide = append(wide, [2]interp.Value{number(1 + i*37%128), number(1 + i*53%128)})
	}
	add(kir.Div, kir.U128, wide...)
	add(kir.Mod, kir.U128, wide...)

	run, err := interp.New(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range p.Funcs {
		for _, o := range cases[f] {
			text := func(i int) string {
				if f.Params[i].T.Kind == kir.U128 {
					return fmt.Sprintf("(u128(%dull) << 64 | %dull)", o[i].Hi, o[i].N)
				}
				return fmt.Sprintf("(%s)%dull", f.Params[i].T, o[i].N)
			}
			fmt.Fprintf(&calls, "r = %s(g, %s, %s); printf(\"%%llu %%llu\\n\", (u64)(r >> 64), (u64)r);\n", f.Name, text(0), text(1))
			z := run.Call(f, o[0], o[1])
			if f.Result.Kind == kir.I64 {
				z.Hi = uint64(int64(z.N) >> 63)
			}
			fmt.Fprintf(&want, "%d %d\n", z.Hi, z.N)
			names = append(names, f.Params[0].T.String()+" "+f.Body[0].(*kir.Return).X.(kir.Binary).Op.String()+" of "+text(0)+" and "+text(1))
		}
	}
	got := strings.Split(onelane.Run(t, "#include <cstdio>\n"+strings.ReplaceAll(cuda.Text(p), "#pragma once\n", "")+
		"int main() { Graph g; u128 r;\n"+calls.String()+"}\n"), "\n")
	for i, w := range strings.Split(strings.TrimSpace(want.String()), "\n") {
		if got[i] != w {
			t.Errorf("%s: %s, want %s", names[i], got[i], w)
		}
	}
}
