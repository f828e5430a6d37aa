package kir_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/testing/kirgen"
	"github.com/weftgraph/weft/internal/testing/long"
)

// passes are sets of passes, in the order in which they run: each alone, all, and some in
// another order.
func passSets() (out [][]kir.Pass) {
	for _, p := range kir.Passes {
		out = append(out, []kir.Pass{p})
	}
	back := slices.Clone(kir.Passes)
	slices.Reverse(back)
	return append(out, kir.Passes, back, slices.Concat(kir.Passes, back))
}

// check runs a program before and after passes; changed notes the names of those that
// change something.
func check(program func() *kirgen.Program, changed map[string]int) error {
	p := program()
	if err := kir.Verify(p.Program); err != nil {
		return fmt.Errorf("%w\n%s", err, kir.Format(p.Program))
	}
	text := kir.Format(p.Program)
	want, err := p.Run()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	for _, passes := range passSets() {
		var names []string
		p := program()
		before := text
		for _, pass := range passes {
			pass.Run(p.Program)
			names = append(names, pass.Name)
			if err := kir.Verify(p.Program); err != nil {
				return fmt.Errorf("after %v: %w\n%s\nbecame\n%s", names, err, text, kir.Format(p.Program))
			}
			if len(passes) == 1 {
				if after := kir.Format(p.Program); after != before {
					changed[pass.Name]++
				}
			}
		}
		got, err := p.Run()
		if err != nil || got != want {
			return fmt.Errorf("after %v the program gives\n%s, %v; before it gave\n%s\n%s\nbecame\n%s", names, got, err, want, text, kir.Format(p.Program))
		}
	}
	return nil
}

// TestRandomPrograms runs random programs before and after passes.
func TestRandomPrograms(t *testing.T) {
	programs := 250
	if long.Asked() {
		programs = 1500
	}
	changed, failed, outputs := map[string]int{}, 0, map[string]bool{}
	for seed := range programs {
		program := func() *kirgen.Program {
			return kirgen.New(kirgen.Seeded(uint64(seed)), kirgen.Options{Flat: seed%3 == 0})
		}
		if err := check(program, changed); err != nil {
			t.Fatalf("program %d: %v", seed, err)
		}
		out, _ := program().Run()
		if strings.Contains(out, "failed") {
			failed++
		}
		outputs[out] = true
	}
	t.Logf("%d programs, of which %d fail, with %d different outputs; changed by passes: %v", programs, failed, len(outputs), changed)
	for _, p := range kir.Passes {
		if changed[p.Name] < programs/10 {
			t.Errorf("%s changes %d of %d programs", p.Name, changed[p.Name], programs)
		}
	}
	if len(outputs) < programs/2 {
		t.Errorf("%d programs have %d outputs", programs, len(outputs))
	}
}

// FuzzPasses runs programs made of bytes before and after passes.
func FuzzPasses(f *testing.F) {
	for seed := range uint64(8) {
		c := kirgen.Seeded(seed)
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(c.IntN(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := check(func() *kirgen.Program { return kirgen.New(&kirgen.Bytes{Data: data}, kirgen.Options{}) }, map[string]int{}); err != nil {
			t.Fatal(err)
		}
	})
}
