package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// TestOutputByName: the content of an output file is what its name says.
func TestOutputByName(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "k3.txt")
	if err := os.WriteFile(graph, []byte("1 2\n2 3\n3 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, begin string }{
		{"m.csv", "a,b,c\n"}, {"m.csv.gz", "a,b,c\n"}, {"m.ndjson.zst", `{"a":`}, {"m.parquet", "PAR1"}, {"m.arrow", "\xff\xff\xff\xff"}, {"m.txt", "a  b  c\n"}, {"m.txt.gz", "a  b  c\n"},
	} {
		path := filepath.Join(dir, c.name)
		var errs strings.Builder
		if code := run(t.Context(), []string{"match", graph, "MATCH (a)--(b)--(c)--(a) RETURN a, b, c", "-o", path}, nil, io.Discard, &errs); code != 0 {
			t.Errorf("%s: exit %d: %s", c.name, code, errs.String())
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var in io.Reader = f
		switch filepath.Ext(c.name) {
		case ".gz":
			in, err = gzip.NewReader(f)
		case ".zst":
			in, err = zstd.NewReader(f)
		}
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(in); err != nil || !strings.HasPrefix(string(b), c.begin) {
			t.Errorf("%s begins with %q, %v; want %q", c.name, b[:min(len(b), 20)], err, c.begin)
		}
		f.Close()
	}
}

// TestToHelp: a command's help names the output formats that it writes, and no
// others.
func TestToHelp(t *testing.T) {
	for _, c := range []struct{ command, formats string }{
		{"match", "output format: table, json, ndjson, csv, arrow, parquet;"},
		{"info", "output format: table, json, ndjson, and with --catalogue or --layouts also csv, arrow, parquet;"},
		{"explain", "output format: table, json, ndjson;"},
	} {
		var out strings.Builder
		if code := run(t.Context(), []string{c.command, "--help"}, nil, &out, io.Discard); code != 0 || !strings.Contains(out.String(), c.formats) {
			t.Errorf("%s: exit %d, no %q in\n%s", c.command, code, c.formats, out.String())
		}
	}
}
