package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchWatch: each query has a line for each size of batch, with the embeddings that came and went, and the sums follow.
func TestBenchWatch(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	g, u := file("g.txt", "1 2\n2 3\n3 1\n3 4\n"), file("u.txt", "+ 1 4\n+ 2 4\n- 1 2\n+ 1 2\n+ 1 2\n- 9 9\n")
	measure := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"bench", "watch", "-g", g, "--source", u, "--pattern", "triangle", "--progress", "none"}, args...), nil, &out, &errs)
		return code, out.String(), errs.String()
	}
	code, out, errs := measure("--pattern", "wedge", "--batch", "1,4", "--threads", "1", "--runs", "2", "--to", "ndjson")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	type line struct {
		Query          string
		Batch, Updates int
		Added, Removed int
		P99            float64 `json:"p99_us"`
		Search         float64 `json:"search_ms"`
	}
	// Triangles: 134 comes, then 124 and 234; without 1-2 go 123 and 124, which come back.
	want := []line{{Query: "triangle", Added: 6 * 5, Removed: 6 * 2}, {Query: "wedge", Added: 2 * 11, Removed: 2 * 4}, {Query: "all", Added: 52, Removed: 20}}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2*len(want) {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	for i, text := range lines {
		var got line
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		w := want[i%len(want)]
		updates := 6
		if w.Query == "all" {
			updates *= 2
		}
		if got.Query != w.Query || got.Added != w.Added || got.Removed != w.Removed || got.Batch != []int{1, 4}[i/len(want)] || got.Updates != updates || got.P99 <= 0 || got.Search <= 0 {
			t.Errorf("%+v, want %+v: %s", got, w, text)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		why  string
	}{
		{[]string{"--batch", "0"}, exitUsage, "--batch"},
		{[]string{"--runs", "0"}, exitUsage, "--runs"},
		{[]string{"--updates", "yaml"}, exitUsage, "--updates"},
		{[]string{"--source", "-"}, exitUsage, "give files"},
		{[]string{"--source", filepath.Join(dir, "none.txt")}, exitInput, "none.txt"},
		{[]string{"--source", g}, exitInput, "g.txt:1"},
		{[]string{"MATCH (a)"}, 0, ""},
		{[]string{"MATCH (a)-[*2]->(b)"}, exitQuery, ""},
	} {
		if code, _, errs := measure(c.args...); code != c.code || !strings.Contains(errs, c.why) {
			t.Errorf("%v: exit %d, want %d: %s", c.args, code, c.code, errs)
		}
	}
}
