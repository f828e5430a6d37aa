//go:build unix

package stream

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// packed writes updates to files, plain and compressed.
func packed(t *testing.T, in []byte) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z} {
		if _, err := w.Write(in); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range map[string][]byte{"u.txt": in, "u.txt.gz": gz.Bytes(), "u.zst": zst.Bytes()} {
		names = append(names, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, names
}

// TestFaults: whichever operation on the file fails, the updates are those of the file, or they end with an error that names the
// file and gives the cause, and not with io.EOF. Nothing is left open.
func TestFaults(t *testing.T) {
	n := 12_000 // more than a reader takes at once
	if testing.Short() {
		t.Log("-short: a small file, which is read at once")
		n = 2_000
	}
	dir, names := packed(t, updates(Lines, n))
	for _, name := range names {
		for what, fault := range map[string]errorfs.Fault{
			"any":   {Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
			"files": {Kinds: errorfs.Open, Err: syscall.EMFILE, Stays: true},
			"short": {Kinds: errorfs.Read, Way: errorfs.Short, Stays: true},
			"ends":  {Kinds: errorfs.Read, Way: errorfs.Ends},
		} {
			t.Run(filepath.Base(name)+" "+what, func(t *testing.T) {
				errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
					k := 0
					f, err := Open(t.Context(), fsys, name, nil, Options{}, nil)
					if err == nil {
						var u Update
						for err = f.Next(&u); err == nil; err = f.Next(&u) {
							k++
						}
						if again := f.Next(&u); again == nil || again == io.EOF != (err == io.EOF) {
							t.Errorf("%v, and then %v", err, again)
						}
						f.Close()
					}
					op, fired := fsys.Fired()
					switch {
					case err == io.EOF && k != n:
						t.Errorf("%v: %d updates of %d, and the end", op, k, n)
					case err != io.EOF && !fired:
						t.Error(err)
					case err != io.EOF && (!strings.Contains(err.Error(), name) || fault.Err != nil && !errors.Is(err, fault.Err)):
						t.Errorf("%v: %v", op, err)
					}
				})
			})
		}
	}
}

// TestCut checks that compressed updates that are cut short or damaged end with an error, after the updates before it.
func TestCut(t *testing.T) {
	_, names := packed(t, updates(Lines, 12_000))
	for _, name := range names {
		if filepath.Ext(name) == ".txt" {
			continue
		}
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for what, b := range map[string][]byte{"cut": whole[:len(whole)-7], "damaged": append(append([]byte{}, whole[:len(whole)/2]...), bytes.Repeat([]byte{'x'}, 1000)...)} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Open(t.Context(), vfs.OS{}, name, nil, Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var u Update
			k := 0
			for err = f.Next(&u); err == nil; err = f.Next(&u) {
				k++
			}
			var bad *InputError
			if k == 0 || err == io.EOF || errors.As(err, &bad) && what == "cut" || !strings.HasPrefix(err.Error(), name+": ") && !strings.HasPrefix(err.Error(), fmt.Sprintf("%s:%d:", name, k+1)) {
				t.Errorf("%s %s: %d updates, %v", name, what, k, err)
			}
			f.Close()
		}
	}
}
