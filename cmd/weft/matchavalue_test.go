package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/matcha/interp"
)

// TestMatchaMemory: without --memory a program's lists have 8 GiB, as the page of the command and its --help say.
func TestMatchaMemory(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "large.matcha")
	text := fmt.Sprintf("return sum(range(%d))\n", interp.DefaultMemory/8+1)
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runScript(dir, "matcha run $D/large.matcha --passes none"); !strings.Contains(got, "exit 5") {
		t.Errorf("a list of more than 8 GiB: %s", got)
	}
	if help := runScript(dir, "matcha run --help"); !strings.Contains(help, "default: 8G for the program's lists") {
		t.Errorf("--help says\n%s", help)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "matcha.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "by default 8 GiB") {
		t.Error("docs/matcha.md does not give the limit")
	}
}

// TestMatchaLists: lists are read from files as they come: compressed, with headers,
// and with more columns than an item has.
func TestMatchaLists(t *testing.T) {
	const text = "% asym positive\n% 2 3 3\n1 2 1 100\n\n# later\n2\t3 1 200\r\n"
	dir := t.TempDir()
	plain, packed := filepath.Join(dir, "out"), filepath.Join(dir, "out.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{plain: []byte(text), packed: b.Bytes(), plain + ":1,2,4": []byte("7 8 9"), filepath.Join(dir, "cut"): b.Bytes()[:15]} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ file, typ, want, err string }{
		{"out", "List[Tuple[int, 4]]", "[1 2 1 100 2 3 1 200]", ""},
		{"out.gz", "List[Tuple[int, 4]]", "[1 2 1 100 2 3 1 200]", ""},
		{"out.gz:1,2,4", "List[Tuple[int, 3]]", "[1 2 100 2 3 200]", ""},
		{"out.gz:4", "List[int]", "[100 200]", ""},
		{"out.gz:2,1", "List[Tuple[float, 2]]", "[2 1 3 2]", ""},
		{"out:1,2,4", "List[Tuple[int, 3]]", "[7 8 9]", ""}, // a file of that name
		{"out", "List[Tuple[int, 3]]", "", "out:3: 4 values, want 3"},
		{"out:1,2", "List[Tuple[int, 3]]", "", "2 columns chosen, want 3"},
		{"out:0", "List[int]", "", "columns count from 1"},
		{"out:5", "List[int]", "", "out:3: 4 values, and column 5"},
		{"cut", "List[int]", "", "cut: "},
		{"none:1", "List[int]", "", "no such file"},
	} {
		got, err := matchaValue(t.Context(), c.typ, filepath.Join(dir, c.file))
		switch {
		case c.err == "" && (err != nil || fmt.Sprint(got) != c.want):
			t.Errorf("%s: %v, %v, want %s", c.file, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v, want %s", c.file, err, c.err)
		}
	}
}
