//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedFile: each command ends with exit code 3 and the file's name, if a graph file has
// one wrong byte in any section. The file has more than 8 MiB. The command leaves no answer, no
// file and no stack trace.
func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.weft")
	if out, err := command(t, "gen", "rmat", "--scale", "17", "--m", "1300000", "--directed", "-o", good).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(good)
	if err != nil || len(data) <= 8<<20 {
		t.Fatalf("%d bytes: %v", len(data), err)
	}
	for i := range int(binary.LittleEndian.Uint32(data[12:])) {
		entry := data[64+40*i:]
		at := binary.LittleEndian.Uint64(entry[8:]) + binary.LittleEndian.Uint64(entry[16:])*2/3
		bad := filepath.Join(t.TempDir(), "bad.weft")
		data[at] ^= 0x10
		err := os.WriteFile(bad, data, 0o600)
		data[at] ^= 0x10
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"count", "-g", bad, "--pattern", "triangle"},
			{"match", "-g", bad, "--pattern", "triangle", "--limit", "3"},
			{"exists", "-g", bad, "--pattern", "triangle"},
			{"motifs", bad, "-k", "3"},
			{"info", bad},
			{"verify", bad},
			{"verify", "-g", bad, "--pattern", "triangle"},
			{"convert", bad, filepath.Join(filepath.Dir(bad), "copy.weft")},
			{"convert", bad, filepath.Join(filepath.Dir(bad), "copy.csv")},
		} {
			c := command(t, args...)
			c.Env = append(c.Env, "WEFT_CACHE="+dir)
			var out, errs bytes.Buffer
			c.Stdout, c.Stderr = &out, &errs
			_ = c.Run()
			if code := c.ProcessState.ExitCode(); code != exitInput || !strings.Contains(errs.String(), bad) || strings.Contains(errs.String(), "goroutine") || out.Len() > 0 {
				t.Errorf("section %d, %s: exit %d: %.300s%.300s", i, args[0], code, errs.String(), out.String())
			}
		}
		if l, _ := os.ReadDir(filepath.Dir(bad)); len(l) != 1 {
			t.Errorf("section %d: left %v", i, l)
		}
	}
}
