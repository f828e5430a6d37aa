package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what is made now to testdata/after.md")

// TestTables makes a document's tables of stored results, twice. What one commit did in two files comes into one table.
func TestTables(t *testing.T) {
	text, err := os.ReadFile("testdata/before.md")
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for range 2 {
		if got, err = document(got, "testdata/results", "testdata/known.tsv"); err != nil {
			t.Fatal(err)
		}
	}
	if *rewrite {
		if err := os.WriteFile("testdata/after.md", []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/after.md")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDocuments: the project's documents have the tables of the results that are kept next to them.
func TestDocuments(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for _, name := range []string{"README.md", "docs/gpu.md", "docs/benchmarks.md", "docs/techniques.md", "docs/ablation.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		made, err := document(string(text), filepath.Join(root, "docs", "results"), filepath.Join(root, "bench", "gpu.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		if made != string(text) {
			t.Errorf("the tables of %s are not those of docs/results: run make figures", name)
		}
	}
}

func TestErrors(t *testing.T) {
	folder := func(name, text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	const doc = "<!-- figures: bench -->\n<!-- /figures: bench -->\n"
	for _, c := range []struct{ doc, folder, known, want string }{
		{"no marks\n", "testdata/results", "testdata/known.tsv", "there is no line"},
		{"<!-- figures: bench -->\n", "testdata/results", "testdata/known.tsv", "there are no lines"},
		{"<!-- figures: else -->\n", "testdata/results", "testdata/known.tsv", "no results for the table \"else\""},
		{doc, folder("a.json", `{"kind": "else"}`), "testdata/known.tsv", "neither bench nor tests"},
		{doc, folder("a.txt", ""), "testdata/known.tsv", "neither a .json"},
		{doc, folder("cpu-peers.jsonl", "{}\n{"), "testdata/known.tsv", "line 2"},
		{doc, "testdata/results", "testdata/before.md", "columns"},
		{doc, "testdata/nothing", "testdata/known.tsv", "no such file"},
	} {
		if _, err := document(c.doc, c.folder, c.known); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %s: error %v, want one with %q", c.doc, c.folder, err, c.want)
		}
	}
}

// The table of known answers in the repository can be read.
func TestKnown(t *testing.T) {
	text, err := os.ReadFile("../../../bench/gpu.tsv")
	if err != nil {
		t.Fatal(err)
	}
	known, err := readKnown(string(text))
	if err != nil || known["ego-facebook gmatch:P1"] != "1612010" {
		t.Errorf("%v: %v", known, err)
	}
}
