package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeFiles writes files into a folder by their names.
func writeFiles(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// weftIn runs weft, where the arguments name files of a folder by @, and returns what it said.
func weftIn(t *testing.T, dir string, args ...string) (code int, said string) {
	t.Helper()
	var errs strings.Builder
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "@", dir+string(filepath.Separator))
	}
	code = run(t.Context(), args, nil, io.Discard, &errs)
	return code, errs.String()
}

// TestWatchIdentity: a checkpoint is of its graph's content and of all that changes the output, and of nothing else.
func TestWatchIdentity(t *testing.T) {
	const query = "CREATE WATCH w AS MATCH (a)-[e]-(b) RETURN a, b"
	usual := []string{"--state", "@state", "-o", "@out.ndjson", "--progress", "none", "--source", "@u.txt", "-g", "@g.csv"}
	for _, c := range []struct {
		name  string
		args  []string          // of the second run
		query string            // of the second run
		files map[string]string // before the second run
		code  int
	}{
		{name: "nothing"},
		{name: "threads and batches", args: []string{"--threads", "1", "--batch", "1"}},
		{name: "more updates", files: map[string]string{"u.txt": "+ 1 3\n+ 2 5\n"}},
		{name: "columns", query: "CREATE WATCH w AS MATCH (a)-[e]-(b) RETURN b", code: exitInput},
		{name: "emit", query: query + " EMIT ADDED", code: exitInput},
		{name: "direction", args: []string{"--directed=false"}, code: exitInput},
		{name: "an edge", files: map[string]string{"g.csv": "src,dst,label\n1,2,A\n2,3,B\n2,4,A\n"}, code: exitInput},
		{name: "a label", files: map[string]string{"g.csv": "src,dst,label\n1,2,A\n2,3,A\n3,4,A\n"}, code: exitInput},
		{name: "labels of vertices", args: []string{"--labels", "@labels.txt"}, code: exitInput},
		{name: "names of columns", args: []string{"--columns", "src,dst,_"}, code: exitInput},
		{name: "mistakes", args: []string{"--on-error", "skip"}, code: exitInput},
		{name: "format of updates", args: []string{"--updates", "text"}, code: exitInput},
	} {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"g.csv": "src,dst,label\n1,2,A\n2,3,B\n3,4,A\n", "u.txt": "+ 1 3\n", "labels.txt": "1 X\n"})
		if code, said := weftIn(t, dir, append([]string{"watch", query}, usual...)...); code != 0 {
			t.Fatalf("exit %d: %s", code, said)
		}
		writeFiles(t, dir, c.files)
		if c.query == "" {
			c.query = query
		}
		code, said := weftIn(t, dir, slices.Concat([]string{"watch", c.query}, c.args, usual)...)
		if code != c.code || c.code != 0 && !strings.Contains(said, "which is another now") {
			t.Errorf("%s: exit %d, want %d: %s", c.name, code, c.code, said)
		}
	}
}
