package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what is made now to testdata/after.md")

func document(t *testing.T, from string) string {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gpu.md")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTables replaces the tables of a document by those of stored results, twice.
// What one commit did in two files comes into one table.
func TestTables(t *testing.T) {
	doc := document(t, "testdata/before.md")
	for range 2 {
		if err := run(doc, "testdata/known.tsv", []string{"testdata/more.json", "testdata/tests.json", "testdata/bench.json", "testdata/bench-small.json"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile("testdata/after.md", got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/after.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A kind without results keeps its table.
func TestKeeps(t *testing.T) {
	doc := document(t, "testdata/before.md")
	if err := run(doc, "testdata/known.tsv", []string{"testdata/tests.json"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got), "\nold\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestErrors(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"kind": "else"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(t.TempDir(), "bare.md")
	if err := os.WriteFile(bare, []byte("no marks\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		into, known, want string
		files             []string
	}{
		{"", "testdata/known.tsv", "no JSON files", nil},
		{"", "testdata/known.tsv", "neither bench nor tests", []string{other}},
		{"", "testdata/before.md", "columns", []string{"testdata/bench.json"}},
		{bare, "testdata/known.tsv", "there are no lines", []string{"testdata/bench.json"}},
		{"", "testdata/known.tsv", "no such file", []string{"testdata/nothing.json"}},
	} {
		if err := run(c.into, c.known, c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c, err, c.want)
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
