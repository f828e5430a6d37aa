//go:build unix

package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	devices "github.com/weftgraph/weft/internal/testing/device"
)

// TestUploadOfShorterFile: an upload from a mapped file that became shorter is an error,
// and the device goes on.
func TestUploadOfShorterFile(t *testing.T) {
	const size = stageLeast + stageSlot
	name := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(data) }()
	if err := os.Truncate(name, 4096); err != nil {
		t.Fatal(err)
	}
	devices.Each(t, func(t *testing.T, dev *cuda.Device) {
		for what, part := range map[string][]byte{"staged": data, "plain": data[stageSlot : 2*stageSlot], "host": data} {
			d := &device{dev: dev}
			err := dev.Do(func(c *cuda.Context) (err error) {
				b, err := c.Alloc(size)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, c.Free(b)) }()
				defer func() {
					if d.stage != nil {
						err = errors.Join(err, d.stage.close())
					}
				}()
				if what == "host" {
					mem, err := c.PinnedRaw(size)
					if err != nil {
						return err
					}
					_, err = (&hostArray{mem: mem}).fill(context.Background(), bytes.NewReader(part))
					return errors.Join(err, mem.Free())
				}
				return d.fill(context.Background(), c, &array{buf: b}, bytes.NewReader(part))
			})
			if err == nil {
				t.Errorf("%s: no error", what)
			}
			if err := dev.Do(func(*cuda.Context) error { return nil }); err != nil {
				t.Errorf("%s: the device is lost: %v", what, err)
			}
		}
	})
}
