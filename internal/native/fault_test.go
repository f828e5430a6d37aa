//go:build (linux || darwin) && (amd64 || arm64) && !nogpu

package native

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/testing/errorfs"
)

// TestFaults: a text is compiled and loaded, or the error wraps the operation that failed and names the folder of
// temporary files; nothing is left there.
func TestFaults(t *testing.T) {
	found, err := C()
	if err != nil {
		t.Skip(err)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	build := func(c *Compiler) ([]byte, error) {
		return c.Build(t.Context(), "", map[string]string{"x.c": "#include \"h/y.h\"\nint x(void) { return Y; }\n", "h/y.h": "#define Y 7\n"},
			"x.so", "-shared", "-fPIC", "x.c")
	}
	image, err := build(found)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range []errorfs.Fault{
		{Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
		{Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half},
	} {
		check := func(fsys *errorfs.FS, right bool, err error) {
			t.Helper()
			op, _ := fsys.Fired()
			switch {
			case err == nil && !right:
				t.Errorf("%v: success with another result", op)
			case err != nil && (!errors.As(err, new(*errorfs.Error)) || !strings.Contains(err.Error(), temp) || !errors.Is(err, ErrNoCompiler)):
				t.Errorf("%v: %v", op, err)
			}
			if left, _ := os.ReadDir(temp); len(left) > 0 {
				t.Fatalf("%v: %s is left", op, left[0].Name())
			}
		}
		errorfs.Each(t, fault, []string{temp}, func(fsys *errorfs.FS) {
			c := *found
			c.files = fsys
			got, err := build(&c)
			check(fsys, bytes.Equal(got, image), err)
		})
		errorfs.Each(t, fault, []string{temp}, func(fsys *errorfs.FS) {
			l, err := open(fsys, image)
			right := false
			if err == nil {
				_, e := l.Symbol("x")
				right = e == nil
			}
			check(fsys, right, err)
		})
	}
}
