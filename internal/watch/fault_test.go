package watch

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestFaults: whichever operation on a file fails, also as on a full disk, a service ends with an error or does its work. One that then
// continues from its state writes what one without a fault writes.
func TestFaults(t *testing.T) {
	text := randomStream(2, 24)
	want, _ := follow(t, text, Options{Batch: 8})
	for what, fault := range map[string]errorfs.Fault{
		"any":  {Kinds: errorfs.All, Err: syscall.EIO},
		"full": {Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true},
	} {
		t.Run(what, func(t *testing.T) {
			failed := 0
			n := errorfs.Each(t, fault, nil, func(fsys *errorfs.FS) {
				dir := t.TempDir()
				run := func(files vfs.FS) error {
					st, err := OpenState(files, filepath.Join(dir, "state"))
					if err != nil {
						return err
					}
					o := Options{
						Set: newTestSet(t, queries), Source: open(t, text), Policy: stream.Skip, Batch: 8,
						Sinks: []Sink{NewFile(files, filepath.Join(dir, "out"), "ndjson")}, State: st, Snapshot: 10,
					}
					if g, seq, _ := st.Graph(); g != nil {
						o.Set, o.From = testSetOf(t, g, queries), seq
					}
					_, err = Run(t.Context(), o)
					return err
				}
				err := run(fsys)
				if err != nil {
					failed++
					if !errors.Is(err, fault.Err) {
						t.Errorf("the error is %v", err)
					}
					if err := run(vfs.OS{}); err != nil {
						t.Errorf("after %v: %v", err, err)
					}
				}
				if got, _ := os.ReadFile(filepath.Join(dir, "out")); string(got) != want {
					op, _ := fsys.Fired()
					t.Errorf("after %s of %s, %v: %d bytes, want %d", op.Kind, op.Path, err, len(got), len(want))
				}
			})
			if n < 5 || failed < n/2 {
				t.Errorf("%d faults, of which %d were errors", n, failed)
			}
		})
	}
}
