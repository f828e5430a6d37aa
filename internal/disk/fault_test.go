//go:build unix

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/testing/errorfs"
)

// TestFaults: a File is there whole or not at all, whatever operation fails: an error names the file, leaves the
// file that was there before as it was, and no other.
func TestFaults(t *testing.T) {
	for _, before := range []string{"", "the file before"} {
		for what, fault := range map[string]errorfs.Fault{
			"any":    {Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
			"full":   {Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true},
			"sync":   {Kinds: errorfs.Sync, Err: syscall.EDQUOT},
			"files":  {Kinds: errorfs.Open | errorfs.Create, Err: syscall.EMFILE},
			"rename": {Kinds: errorfs.Rename, Err: syscall.EXDEV},
		} {
			t.Run(what, func(t *testing.T) {
				dir := t.TempDir()
				name := filepath.Join(dir, "out.txt")
				n := errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
					if err := os.RemoveAll(name); err != nil {
						t.Fatal(err)
					}
					var want []string
					if before != "" {
						if err := os.WriteFile(name, []byte(before), 0o640); err != nil {
							t.Fatal(err)
						}
						want = []string{"out.txt"}
					}
					err := func() error {
						f, err := Create(t.Context(), fsys, name)
						if err != nil {
							return err
						}
						for _, part := range []string{"all of ", "it"} {
							if _, err := f.Write([]byte(part)); err != nil {
								f.Abort()
								return err
							}
						}
						return f.Commit()
					}()
					text, _ := os.ReadFile(name)
					switch op, fired := fsys.Fired(); {
					case err == nil && op.MustFail():
						t.Errorf("%v: success", op)
					case err == nil:
						if want = []string{"out.txt"}; string(text) != "all of it" {
							t.Errorf("%v: success, and the file holds %q", op, text)
						}
					case !fired:
						t.Error(err)
					case !errors.As(err, new(*errorfs.Error)) || !errors.Is(err, fault.Err) || !strings.HasPrefix(err.Error(), name+": "):
						t.Errorf("%v: %v", op, err)
					case string(text) != before:
						t.Errorf("%v: the file holds %q", op, text)
					}
					if got := names(t, dir); !slices.Equal(got, want) {
						t.Errorf("%v: the folder holds %q", fsys, got)
					}
				})
				if n == 0 {
					t.Error("nothing failed")
				}
			})
		}
	}
}

// TestTempFaults: a temporary file or folder that cannot be made leaves nothing behind.
func TestTempFaults(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	fault := errorfs.Fault{Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO}
	errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
		err := func() error {
			f, err := NewTempFile(fsys, "file")
			if err != nil {
				return err
			}
			defer f.Remove()
			d, err := NewTempDir(fsys, "folder")
			if err != nil {
				return err
			}
			defer d.Remove()
			_, err = f.Write([]byte("x"))
			return err
		}()
		if err != nil && (!errors.As(err, new(*errorfs.Error)) || !errors.As(err, new(*TempError))) {
			t.Error(err)
		}
		if got := names(t, dir); len(got) > 0 {
			t.Errorf("after %v the folder holds %q", err, got)
		}
	})
}
