package weft_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// TestWriteStream writes an initial graph and updates, and checks that errors are of kind ErrUsage and name the mistake.
func TestWriteStream(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	g, err := weft.Read(ctx, strings.NewReader("1 2\n2 3\n3 1\n3 4\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	file := filepath.Join(dir, "initial.weft")
	var out bytes.Buffer
	r, err := g.WriteStream(ctx, file, &out, weft.StreamOptions{Insert: 0.5, Delete: 0.25, Format: "rapidflow"})
	if err != nil || r != (weft.StreamReport{Added: 2, Removed: 1}) {
		t.Fatalf("%+v, %v", r, err)
	}
	first, err := weft.Open(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if first.NumEdges() != 2 || first.NumVertices() != 4 || strings.Count("\n"+out.String(), "\ne ") != 2 || strings.Count("\n"+out.String(), "\n-e ") != 1 {
		t.Errorf("%d edges, %d vertices, %q", first.NumEdges(), first.NumVertices(), out.String())
	}
	for _, c := range []struct {
		file string
		o    weft.StreamOptions
		want string
	}{
		{"a.weft", weft.StreamOptions{Insert: 2}, "2 and 0"},
		{"b.weft", weft.StreamOptions{Format: "csv"}, `the format "csv"; formats are text, rapidflow, ndjson`},
		{"c.weft", weft.StreamOptions{ByTime: true}, "no times"},
		{"d.csv", weft.StreamOptions{Insert: 1}, "would lose 4 vertices without edges"},
		{"e.weft", weft.StreamOptions{Insert: 1, Rate: 1, Format: "rapidflow"}, "rapidflow cannot hold times"},
		{"f.xyz", weft.StreamOptions{Insert: 1}, "says no format"},
	} {
		_, err := g.WriteStream(ctx, filepath.Join(dir, c.file), &out, c.o)
		if !errors.Is(err, weft.ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.file, err, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, c.file)); err == nil {
			t.Errorf("%s exists", c.file)
		}
	}
}
