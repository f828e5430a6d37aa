package weft_test

import (
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/testing/device"
)

// BenchmarkCountedAgain counts one query on a small graph many times. It measures the search and the work of a
// call around it.
func BenchmarkCountedAgain(b *testing.B) {
	d, err := cuda.New(device.Backend(b, emu.Options{}), device.Objects().Images)
	if err != nil {
		b.Fatal(err)
	}
	rt, err := weft.RuntimeOver(weft.RuntimeOptions{}, d)
	if err != nil {
		b.Fatal(err)
	}
	defer rt.Close()
	g, err := rt.Open(b.Context(), filepath.Join("testdata", "graphs", "karate.txt"))
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	q, err := weft.PatternByName("gmatch:P2")
	if err != nil {
		b.Fatal(err)
	}
	for _, engine := range []string{"host", "stack", "fine", "codegen"} {
		o := []weft.Option{weft.WithEngine(engine), weft.WithDevice("gpu:0")}
		if engine == "host" {
			o = []weft.Option{weft.WithEngine(engine)}
		}
		b.Run(engine, func(b *testing.B) {
			if _, err := g.Count(b.Context(), q, o...); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := g.Count(b.Context(), q, o...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
