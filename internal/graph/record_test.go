//go:build unix

package graph

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/vfs"
)

// largeFile is a graph file that records are kept of: a long path.
func largeFile(t *testing.T, twist func(g *Graph)) string {
	t.Helper()
	n := 1 << 19
	pairs := make([][2]uint32, n-1)
	for i := range pairs {
		pairs[i] = [2]uint32{uint32(i), uint32(i + 1)}
	}
	g := FromEdges(n, pairs, false)
	g.Stats()
	if twist != nil {
		twist(g)
	}
	name := filepath.Join(t.TempDir(), "g.weft")
	if err := g.WriteFile(vfs.OS{}, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// flip changes a byte of the file in place, at a part of its length, and sets the file's
// time back.
func flip(t *testing.T, name string, part float64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	at := int64(part * float64(info.Size()))
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x20
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// reopen opens a file and closes it, and reports whether it was verified.
func reopen(t *testing.T, name string) (verified bool, err error) {
	t.Helper()
	g, err := Open(t.Context(), name, OpenOptions{})
	if err != nil {
		return true, err
	}
	return g.CheckTime() > 0, g.Close()
}

// TestHostileLargeFile: a large file with right checksums is not opened where its structure
// is wrong, and no record says that it is right.
func TestHostileLargeFile(t *testing.T) {
	settleTime = -time.Hour
	defer func() { settleTime = 2 * time.Second }()
	cache := t.TempDir()
	t.Setenv("WEFT_CACHE", cache)
	for what, twist := range map[string]func(g *Graph){
		"neighbour out of range": func(g *Graph) { g.Out.Adj[1<<18] = 1<<19 + 5 },
		"huge offset":            func(g *Graph) { g.Out.Off[1<<18] = 1 << 60 },
		"list not ascending":     func(g *Graph) { a := g.Out.List(1 << 18); a[0], a[1] = a[1], a[0] },
		"same id":                func(g *Graph) { g.IDs.Num[5] = g.IDs.Num[6] },
	} {
		name := largeFile(t, twist)
		for range 2 {
			var c *CorruptError
			if _, err := reopen(t, name); !errors.As(err, &c) || c.Path != name {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if l, _ := filepath.Glob(filepath.Join(cache, "verified", "*")); len(l) > 0 {
		t.Error(l)
	}
}

// TestRecord: a version of a file is verified once, and each other version again.
func TestRecord(t *testing.T) {
	settleTime = -time.Hour
	defer func() { settleTime = 2 * time.Second }()
	cache := t.TempDir()
	t.Setenv("WEFT_CACHE", cache)
	name := largeFile(t, nil)
	verified := func(want bool, when string) {
		t.Helper()
		if got, err := reopen(t, name); got != want || err != nil {
			t.Errorf("%s: verified %t, want %t; %v", when, got, want, err)
		}
	}
	verified(true, "first")
	verified(false, "again")
	records, _ := filepath.Glob(filepath.Join(cache, "verified", "*"+recordExt))
	if len(records) != 1 {
		t.Fatal(records)
	}
	record := records[0]
	right, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	verified(true, "after a change of the file's attributes")
	verified(false, "again after that")
	flip(t, name, 0.5)
	for range 2 {
		if _, err := reopen(t, name); !errors.Is(err, ErrCorrupt) {
			t.Errorf("damaged with the old time: %v", err)
		}
	}
	flip(t, name, 0.5)
	verified(true, "mended")

	// What others can write is not believed, nor what is not the record of this version.
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func() error{
		"a file of others":   func() error { return os.Chmod(record, 0o666) },
		"a folder of others": func() error { return os.Chmod(filepath.Dir(record), 0o777) },
		"another version":    func() error { return os.WriteFile(record, right, 0o600) },
		"a part":             func() error { return os.WriteFile(record, text[:len(text)-1], 0o600) },
		"nothing":            func() error { return os.Remove(record) },
		"a link": func() error {
			other := filepath.Join(cache, "other")
			return errors.Join(os.Rename(record, other), os.Symlink(other, record))
		},
	} {
		verified(false, "before "+what)
		if err := change(); err != nil {
			t.Fatal(err)
		}
		verified(true, what)
		if err := errors.Join(os.RemoveAll(filepath.Dir(record)), os.MkdirAll(filepath.Dir(record), 0o700)); err != nil {
			t.Fatal(err)
		}
		verified(true, "without a record")
	}

	settleTime = time.Hour // the file was written a moment ago
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	verified(true, "a new file")
	verified(true, "a new file, again")
	settleTime = -time.Hour
	for what, dir := range map[string]string{"off": "off", "no folder": filepath.Join(name, "no")} {
		t.Setenv("WEFT_CACHE", dir)
		for range 2 {
			verified(true, what)
		}
	}
}

// TestRecordsAreFew: the oldest records go.
func TestRecordsAreFew(t *testing.T) {
	settleTime, mostRecords = -time.Hour, 4
	defer func() { settleTime, mostRecords = 2*time.Second, 1000 }()
	cache := t.TempDir()
	t.Setenv("WEFT_CACHE", cache)
	dir := filepath.Join(cache, "verified")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, n := range []string{"a", "b", "c", "d", "e", "f"} {
		old := filepath.Join(dir, n+recordExt)
		when := time.Unix(int64(1000+i), 0)
		if err := errors.Join(os.WriteFile(old, nil, 0o600), os.Chtimes(old, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	name := largeFile(t, nil)
	if _, err := reopen(t, name); err != nil {
		t.Fatal(err)
	}
	if l, _ := os.ReadDir(dir); len(l) != 3 || l[0].Name() != "e"+recordExt || l[1].Name() != "f"+recordExt {
		t.Error(l)
	}
	if verified, err := reopen(t, name); verified || err != nil {
		t.Errorf("the newest record is gone: %v", err)
	}
}

// TestForeignRecords: nothing is written or removed behind a link that takes the folder's place.
func TestForeignRecords(t *testing.T) {
	settleTime, mostRecords = -time.Hour, 1
	defer func() { settleTime, mostRecords = 2*time.Second, 1000 }()
	cache, victim := t.TempDir(), t.TempDir()
	t.Setenv("WEFT_CACHE", cache)
	for _, n := range []string{"new-year.txt", "b" + recordExt} {
		if err := os.WriteFile(filepath.Join(victim, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(victim, filepath.Join(cache, "verified")); err != nil {
		t.Fatal(err)
	}
	name := largeFile(t, nil)
	for range 2 {
		if verified, err := reopen(t, name); !verified || err != nil {
			t.Errorf("verified %t, %v", verified, err)
		}
	}
	if l, _ := os.ReadDir(victim); len(l) != 2 || l[0].Name() != "b"+recordExt || l[1].Name() != "new-year.txt" {
		t.Error(l)
	}
}

// TestOwn: copies are kept, and are what the file has.
func TestOwn(t *testing.T) {
	name := largeFile(t, nil)
	g, err := Open(t.Context(), name, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := bigAsBytes(g.Out.Adj)
	c := g.Own(b)
	if &c[0] == &b[0] || string(c) != string(b) || &g.Own(b)[0] != &c[0] || &g.Own(c)[0] != &c[0] {
		t.Error("not a copy that is kept")
	}
	if d := g.Own(b[4:40]); string(d) != string(b[4:40]) || &d[0] == &b[4] {
		t.Error("a part of it is not copied")
	}
	if err := os.Truncate(name, 4096); err != nil {
		t.Fatal(err)
	}
	sum := 0
	add := func(b []byte) {
		for _, x := range b {
			sum += int(x)
		}
	}
	add(c) // no fault
	read := false
	var changed *ChangedError
	if err := g.Guard(func() error { add(b); read = true; return nil }); !errors.As(err, &changed) || changed.Path != name || read {
		t.Errorf("reading the file: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	h := FromEdges(3, [][2]uint32{{0, 1}}, false)
	if b := bigAsBytes(h.Out.Adj); &h.Own(b)[0] != &b[0] {
		t.Error("a copy of what is not a file's")
	}
}

// TestChanges tells changes of a file that is in use from those that leave it as it is.
func TestChanges(t *testing.T) {
	for what, c := range map[string]struct {
		change func(name string) error
		bad    bool
	}{
		"mode":    {func(name string) error { return os.Chmod(name, 0o600) }, false},
		"removed": {os.Remove, false},
		"replaced": {func(name string) error {
			return errors.Join(os.WriteFile(name+".new", nil, 0o600), os.Rename(name+".new", name))
		}, false},
		"moved":     {func(name string) error { return os.Rename(name, name+".old") }, false},
		"truncated": {func(name string) error { return os.Truncate(name, 5000) }, true},
		"longer":    {func(name string) error { return os.Truncate(name, 50<<20) }, true},
		"overwritten": {func(name string) error {
			return errors.Join(os.WriteFile(name, make([]byte, 10<<20), 0o600), os.Chtimes(name, time.Time{}, time.Unix(5, 0)))
		}, true},
		"overwritten, with its old time": {func(name string) error { flip(t, name, 0.7); return nil }, true},
	} {
		name := largeFile(t, nil)
		g, err := Open(t.Context(), name, OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Damage(nil); err != nil {
			t.Errorf("%s: before it: %v", what, err)
		}
		if err := c.change(name); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := g.Damage(nil); (err != nil) != c.bad || c.bad && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v", what, err)
			}
		}
		_ = g.Close()
	}
}
