// Package servetest has the graphs that tests of servers search.
//
// It knows the root package alone, so that tests inside package serve may use it.
package servetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/weftgraph/weft"
)

// Long is a pattern that is searched for minutes in the graph of Dense.
const Long = "MATCH (a)--(b)--(c)--(d)--(e)--(a), (a)--(c), (b)--(d), (c)--(e)"

// Karate returns the file of Zachary's karate club: 34 vertices, 78 edges, 45 triangles.
func Karate() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../../testdata/graphs/karate.txt")
}

// Chain writes a directed path of a number of edges, whose property w is 1 except for that in the middle, and returns its path. "RETURN e.w + e.w" of
// all edges as Arrow fails after many rows, because twice the middle is not an integer of Arrow.
func Chain(t testing.TB, edges int) string {
	t.Helper()
	text := []byte("src,dst,w\n")
	for i := range edges {
		w := int64(1)
		if i == edges/2 {
			w = 1 << 62
		}
		text = fmt.Appendf(text, "%d,%d,%d\n", i, i+1, w)
	}
	path := filepath.Join(t.TempDir(), "chain.csv")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Dense writes the file of a random graph with 3,000 vertices and about 450,000 edges, and returns its path.
func Dense(t testing.TB, rt *weft.Runtime) string {
	t.Helper()
	ctx := context.Background() // also in clean-ups, when the test's own has ended
	g, err := rt.Generate(ctx, weft.Spec{Model: "er", N: 3000, P: 0.1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	path := filepath.Join(t.TempDir(), "dense.weft")
	if err := g.Write(ctx, path, weft.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return path
}
