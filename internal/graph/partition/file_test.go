//go:build unix

package partition_test

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/graph/partition"
	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// stored writes a generated graph to a file, and opens it.
func stored(t *testing.T, path string, s gen.Spec) *graph.Graph {
	t.Helper()
	if err := generated(t, s).WriteFile(vfs.Or(nil), path); err != nil {
		t.Fatal(err)
	}
	g, err := graph.Open(t.Context(), path, graph.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

var four = partition.Options{Parts: 4, Slack: 0.03, Seed: 9}

// kept opens the partition of four parts.
func kept(t *testing.T, fsys vfs.FS, path string, g *graph.Graph, o partition.Options) (p *partition.Partition, warning string) {
	t.Helper()
	p, warning, err := partition.Open(t.Context(), fsys, path, g, o)
	if err != nil {
		t.Fatal(err)
	}
	return p, warning
}

// files are the contents of a folder's files.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

// TestKept: a partition is read from its file, and each choice that matters has a file of its own. A file that is
// not as it was written is made anew, with a warning.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.weft")
	g := stored(t, path, gen.Spec{Model: "er", N: 200, M: 600, Seed: 1})
	first, warning := kept(t, nil, path, g, four)
	if warning != "" {
		t.Fatal(warning)
	}
	name := filepath.Join(partition.Folder(path), "builtin.4.imbalance0.03.seed9")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	// Another partition in the file shows that it is read.
	le := binary.LittleEndian
	table := crc32.MakeTable(crc32.Castagnoli)
	signed := func(b []byte) []byte {
		le.PutUint32(b[52:], crc32.Checksum(b[60:], table))
		le.PutUint32(b[56:], crc32.Checksum(b[:56], table))
		return b
	}
	put := func(b []byte) {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := slices.Clone(whole)
	le.PutUint32(other[60:], 3-first.Of[0])
	put(signed(other))
	p, warning := kept(t, nil, path, g, four)
	if warning != "" || p.Of[0] != 3-first.Of[0] || !slices.Equal(p.Of[1:], first.Of[1:]) {
		t.Errorf("the file is not read: %v, %s", p.Of[:3], warning)
	}
	if want := measured(g, p.Of, 4); p.Cut != want.Cut {
		t.Errorf("cut %d of the file, want %d", p.Cut, want.Cut)
	}
	change := func(at int, sign bool) []byte {
		b := slices.Clone(whole)
		if b[at] ^= 0x40; sign {
			signed(b)
		}
		return b
	}
	for what, c := range map[string]struct {
		b       []byte
		warning string
	}{
		"empty":         {nil, "damaged: it has 0 bytes"},
		"cut":           {whole[:len(whole)-3], "and should have 860"},
		"longer":        {append(slices.Clone(whole), 0), "it has 861 bytes"},
		"another mark":  {change(1, false), "does not begin as one"},
		"another head":  {change(21, false), "wrong checksum of its head"},
		"another graph": {change(30, true), "is not of this graph"},
		"a bit":         {change(90, false), "wrong checksum"},
		"a part":        {change(60, true), "is damaged: part 6"},
	} {
		put(c.b)
		p, warning := kept(t, nil, path, g, four)
		if !strings.Contains(warning, name+": ") || !strings.Contains(warning, c.warning) || !strings.HasSuffix(warning, "; it is made anew") {
			t.Errorf("%s: warning %q", what, warning)
		}
		if !slices.Equal(p.Of, first.Of) {
			t.Errorf("%s: another partition", what)
		}
		if b, err := os.ReadFile(name); string(b) != string(whole) {
			t.Errorf("%s: the file is not made anew: %v", what, err)
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, warning = kept(t, nil, path, g, four); !strings.Contains(warning, "not a regular file") {
		t.Errorf("a pipe: warning %q", warning)
	}
	for _, o := range []partition.Options{{Parts: 5, Slack: 0.03, Seed: 9}, {Parts: 4, Slack: 0.05, Seed: 9}, {Parts: 4, Slack: 0.03}} {
		if _, warning := kept(t, nil, path, g, o); warning != "" {
			t.Error(warning)
		}
	}
	if n := len(files(t, partition.Folder(path))); n != 4 {
		t.Errorf("%d files", n)
	}
}

// TestNotKept: nothing is written for a graph that is not from a file.
func TestNotKept(t *testing.T) {
	dir := t.TempDir()
	g := generated(t, gen.Spec{Model: "er", N: 200, M: 600, Seed: 1})
	if _, warning := kept(t, nil, filepath.Join(dir, "g.weft"), g, four); warning != "" {
		t.Error(warning)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("there is %v", left)
	}
}

// TestOptionsFirst: options that make no sense are an error before a file is looked at, so that nothing is said of the file.
func TestOptionsFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.weft")
	g := stored(t, path, gen.Spec{Model: "er", N: 20, M: 60, Seed: 1})
	if err := os.WriteFile(partition.Folder(path), []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, warning := kept(t, nil, path, g, four); warning == "" {
		t.Error("no warning of a file in the folder's place")
	}
	if p, warning, err := partition.Open(t.Context(), nil, path, g, partition.Options{}); p != nil || warning != "" || err == nil {
		t.Errorf("no parts: %v, %q, %v", p, warning, err)
	}
}

// TestFaults lets each operation on the file of a partition fail. The partition is right, a warning says that the file
// was not kept or not used, and only a whole file is left.
func TestFaults(t *testing.T) {
	// The graph's own file, which is open, is in another folder than the one that is watched.
	g := stored(t, filepath.Join(t.TempDir(), "g.weft"), gen.Spec{Model: "er", N: 200, M: 600, Seed: 1})
	dir := t.TempDir()
	path := filepath.Join(dir, "g.weft")
	folder := partition.Folder(path)
	want, warning := kept(t, nil, path, g, four)
	if warning != "" {
		t.Fatal(warning)
	}
	whole := files(t, folder)
	for _, there := range []bool{false, true} {
		for _, fault := range []errorfs.Fault{
			{Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
			{Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half},
		} {
			errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
				_ = os.RemoveAll(folder)
				if there {
					kept(t, nil, path, g, four)
				}
				p, warning := kept(t, fsys, path, g, four)
				op, _ := fsys.Fired()
				if !slices.Equal(p.Of, want.Of) {
					t.Errorf("%v: another partition", op)
				}
				if !there && op.MustFail() && warning == "" {
					t.Errorf("%v: no warning", op)
				}
				if warning != "" && !strings.Contains(warning, "g.weft") {
					t.Errorf("%v: the warning names no file: %s", op, warning)
				}
				left := files(t, folder)
				for name, text := range left {
					if text != whole[name] {
						t.Errorf("%v: %s is left", op, name)
					}
				}
				if len(left) < len(whole) && warning == "" {
					t.Errorf("%v: no file, and no warning", op)
				}
			})
		}
	}
}
