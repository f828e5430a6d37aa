package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestBenchServe: the figures are there, and those that must hold on any machine do. A test has no program of weft to start.
func TestBenchServe(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"bench", "serve", "-g", "../../testdata/graphs/karate.txt", "--measure", "latency,again,clients,rows", "--requests", "20", "--clients", "8", "--during", "200ms", "--runs", "2", "--to", "json"}
	if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var all []figure
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range all {
		got[f.Part+" "+f.Name] = f.Value
	}
	if got["rows rows"] != 45 || got["clients errors"] != 0 || got["clients clients"] != 8 {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"latency library_p50", "latency http_p50", "latency bolt_p50", "latency bolt_p99", "again first", "again search_p50", "again besides_p50", "clients requests", "clients p99", "clients memory_0%", "clients heap_25%", "clients heap_100%", "rows http_to_pipe", "rows bolt_rows_per_s"} {
		if got[name] <= 0 {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	for line, want := range map[string]string{
		"--measure latency --requests 5 'MATCH (a)--(b)--(c)'": "bolt_adds", "--measure latency --requests 5 --engine host": "http_adds",
		"--measure latency 'MATCH (a)--(b) RETURN a'": "latency: over Bolt a count ends with RETURN count(*)",
	} {
		text := runScript(t.TempDir(), "bench serve -g ../../testdata/graphs/karate.txt "+line)
		if !strings.Contains(text, want) || strings.Contains(line, "host") && strings.Contains(text, "bolt") {
			t.Errorf("%s: %s", line, text)
		}
	}
	if text := runScript(t.TempDir(), "bench serve -g ../../testdata/graphs/karate.txt --measure speed"); !strings.Contains(text, "exit 2") {
		t.Error(text)
	}
}

// TestBenchServeGone: the searches of clients that go end, and a query that is too short for it is refused.
func TestBenchServeGone(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{"gen er --n 3000 --p 0.1 --seed 1 -o $D/dense.weft", "gen star --n 3 -o $D/star.weft"} {
		if text := runScript(dir, line); strings.Contains(text, "exit") {
			t.Fatal(text)
		}
	}
	text := runScript(dir, "bench serve -g $D/dense.weft --measure gone --runs 2 --to csv")
	for _, name := range []string{"gone,http_count_p50,", "gone,http_rows_max,", "gone,bolt_rows_p50,"} {
		if !strings.Contains(text, name) {
			t.Errorf("no %s in\n%s", name, text)
		}
	}
	text = runScript(dir, "bench serve -g $D/star.weft --measure gone")
	if !strings.Contains(text, "name a longer one by --long") || !strings.Contains(text, "exit 2") {
		t.Error(text)
	}
}
