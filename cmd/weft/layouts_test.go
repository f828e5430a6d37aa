package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedLayouts: files of label partitions that are damaged, or of another graph, are all named in warnings, and made anew. The
// count is right, and the next one has no warning.
func TestDamagedLayouts(t *testing.T) {
	dir := t.TempDir()
	weft := func(args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%q: exit %d: %s", args, code, errs.String())
		}
		return out.String(), errs.String()
	}
	file, other := filepath.Join(dir, "g.weft"), filepath.Join(dir, "h.weft")
	weft("convert", joinGraph(t), file, "--directed", "--progress", "none")
	weft("gen", "er", "--n", "40", "--m", "90", "--directed", "--edge-labels", "4", "--seed", "1", "-o", other)
	for _, kind := range []string{"interval", "hashed"} {
		count := func(file string) (stdout, stderr string) {
			return weft("count", "-g", file, "MATCH (a)-[:1]->(b)-[:2]->(c)-[:1]->(d)", "--engine", "join", "--device", "cpu", "--order", "a,b,c,d",
				"--engine-opt", "join.lists="+kind, "--to", "csv", "--count", "embeddings")
		}
		first := func(out string) string { // the numbers, without the time
			_, row, _ := strings.Cut(out, "\n")
			return strings.Join(strings.Split(row, ",")[:3], ",")
		}
		plain, _ := weft("count", "-g", file, "MATCH (a)-[:1]->(b)-[:2]->(c)-[:1]->(d)", "--engine", "host", "--device", "cpu", "--to", "csv", "--count", "embeddings")
		want, said := count(file)
		if first(want) != first(plain) || strings.HasPrefix(first(want), "0,") || strings.Contains(said, "anew") {
			t.Fatalf("%s: %s, want %s; %s", kind, want, plain, said)
		}
		count(other)
		files, err := filepath.Glob(filepath.Join(file+".lists", kind+".*"))
		if err != nil || len(files) < 2 {
			t.Fatal(files, err)
		}
		for i, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if foreign, err := os.ReadFile(filepath.Join(other+".lists", filepath.Base(name))); i == 0 && err == nil {
				b = foreign
			} else {
				b[len(b)-1] ^= 1
			}
			if err := os.WriteFile(name, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, said := count(file)
		if first(got) != first(want) {
			t.Errorf("%s: %s with damaged files, want %s", kind, got, want)
		}
		for _, name := range files {
			if !strings.Contains(said, name+": ") {
				t.Errorf("%s: no warning about %s: %s", kind, name, said)
			}
		}
		if !strings.Contains(said, "is damaged") || !strings.Contains(said, "it is made anew") {
			t.Errorf("%s: warnings %s", kind, said)
		}
		if got, said := count(file); first(got) != first(want) || strings.Contains(said, "anew") {
			t.Errorf("%s: the next time %s, want %s; %s", kind, got, want, said)
		}
	}
}
