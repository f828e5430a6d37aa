package kernels_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda/kernels"
)

// BenchmarkIncludes: what a search pays before it knows that its kernels are loaded.
func BenchmarkIncludes(b *testing.B) {
	text := "#include \"stack/stack.cuh\"\n" + strings.Repeat("  u32 x = candidates(g, s, level);\n", 5000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(kernels.Includes(text)) < 10 {
			b.Fatal("too few files")
		}
	}
}
