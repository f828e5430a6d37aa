package weft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// largeFile is a graph file of more than 8 MiB with all kinds of sections that a graph can
// have at once.
func largeFile(t testing.TB, directed bool) string {
	t.Helper()
	dir := t.TempDir()
	var edges, vertices strings.Builder
	edges.WriteString("src,dst,label,time,weight\n")
	vertices.WriteString("id,label,age\n")
	const n, m = 20_000, 220_000
	for v := range n {
		fmt.Fprintf(&vertices, "v%d,%s,%d\n", v, []string{"A", "B"}[v%2], v%90)
	}
	for i := range m {
		fmt.Fprintf(&edges, "v%d,v%d,%s,%d,%d.5\n", i%n, (i*7919+i/n+1)%n, []string{"x", "y", "z"}[i%3], 1_600_000_000+i, i%1000)
	}
	text, side, name := filepath.Join(dir, "e.csv"), filepath.Join(dir, "v.csv"), filepath.Join(dir, "large.weft")
	if err := errors.Join(os.WriteFile(text, []byte(edges.String()), 0o600), os.WriteFile(side, []byte(vertices.String()), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(t.Context(), text, name, WriteOptions{}, WithVertices(side), WithDirected(directed)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Size() <= 8<<20 {
		t.Fatalf("%v: %v", info, err)
	}
	return name
}

// sections returns the first byte and the end of each section of a graph file.
func sections(data []byte) (out [][2]int) {
	const header, entry = 64, 40
	for i := range int(binary.LittleEndian.Uint32(data[12:])) {
		at := data[header+entry*i:]
		begin := int(binary.LittleEndian.Uint64(at[8:]))
		out = append(out, [2]int{begin, begin + int(binary.LittleEndian.Uint64(at[16:]))})
	}
	return out
}

// TestDamaged: a wrong byte anywhere in a large file is an input error that names the file. There is never a
// count or a copy.
func TestDamaged(t *testing.T) {
	t.Setenv("WEFT_CACHE", t.TempDir())
	for _, directed := range []bool{false, true} {
		name := largeFile(t, directed)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all := sections(data)
		if want := map[bool]int{false: 13, true: 15}[directed]; len(all) != want {
			t.Fatalf("%d sections", len(all))
		}
		for i, s := range all {
			for part := range 4 {
				at := s[0] + (s[1]-1-s[0])*part/3
				bad := slices.Clone(data)
				bad[at] ^= 1 << (i % 8)
				if err := os.WriteFile(name, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					g, err := Open(t.Context(), name)
					if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), name) {
						t.Errorf("byte %d, in section %d: %v", at, i, err)
					}
					if err == nil {
						g.Close()
					}
				}
			}
			to := filepath.Join(t.TempDir(), "copy.weft")
			if _, err := Convert(t.Context(), name, to, WriteOptions{}); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), name) {
				t.Errorf("convert with section %d damaged: %v", i, err)
			}
			if l, _ := os.ReadDir(filepath.Dir(to)); len(l) > 0 {
				t.Errorf("convert with section %d damaged leaves %v", i, l)
			}
		}
	}
}
