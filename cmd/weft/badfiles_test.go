//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHugeLine: a line that is not a line of an edge list is refused where it
// begins, by exit code 3, and convert leaves nothing.
func TestHugeLine(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "long.txt"), filepath.Join(dir, "long.weft")
	if err := os.WriteFile(in, []byte("1 2\n"+strings.Repeat("7", 3<<20)+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := command(t, "convert", in, out)
	var errs bytes.Buffer
	c.Stderr = &errs
	_ = c.Run()
	if code := c.ProcessState.ExitCode(); code != exitInput || !strings.Contains(errs.String(), "long.txt:2:1: a line is longer than 1 MiB") {
		t.Errorf("exit %d: %.300s", code, errs.String())
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
}

// TestFullDiskGraphs: a graph that does not fit the disk leaves no file, under
// its name or another.
func TestFullDiskGraphs(t *testing.T) {
	g := bigGraph(t)
	dir := t.TempDir()
	var runs [][]string
	for _, ext := range []string{"weft", "txt", "csv", "el", "mtx", "bin", "sg", "parquet", "arrow", "txt.gz"} {
		runs = append(runs, []string{"convert", "--lossy", g, filepath.Join(dir, "x."+ext)})
	}
	for _, ext := range []string{"weft", "txt"} {
		runs = append(runs, []string{"gen", "er", "--n", "20000", "--m", "60000", "-o", filepath.Join(dir, "x."+ext)})
	}
	for _, args := range runs {
		c := command(t, args...)
		c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `ulimit -f 4; trap '' XFSZ; exec "$0" "$@"`, c.Path}, c.Args[1:]...)
		var errs bytes.Buffer
		c.Stderr = &errs
		_ = c.Run()
		if code := c.ProcessState.ExitCode(); code != exitFailure || !strings.Contains(errs.String(), "file too large") || !strings.Contains(errs.String(), args[len(args)-1]) {
			t.Errorf("%s: exit %d: %s", args, code, errs.String())
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 0 {
			t.Errorf("%s: left: %v", args, entries)
			for _, e := range entries {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}
