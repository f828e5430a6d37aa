package weft

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/matcha/library"
)

// TestOneProgram: a graph with a vertex of so many neighbours that its stars may
// not be numbers of 64 bits has each motif counted for itself.
func TestOneProgram(t *testing.T) {
	const leaves = 50000
	var b strings.Builder
	for v := range leaves {
		fmt.Fprintf(&b, "0 %d\n", v+1)
	}
	path := filepath.Join(t.TempDir(), "star.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if got, want := library.StarMaps(g.g, 3), float64(leaves)*leaves+leaves; got != want {
		t.Errorf("%g maps from a star of three vertices, want %g", got, want)
	}
	for k, want := range map[int]bool{3: true, 4: true, 5: false} {
		s, err := collect(callMotifs, []Option{WithEngine("codegen")})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := g.oneProgram(t.Context(), k, s); ok != want {
			t.Errorf("%d vertices: %v", k, ok)
		}
	}
	s, err := collect(callMotifs, []Option{WithEngine("codegen"), WithDevice("gpu:0,1")})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := g.oneProgram(t.Context(), 3, s); ok {
		t.Error("one program for two GPUs")
	}
}
