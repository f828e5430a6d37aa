//go:build unix

package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
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

// TestCacheOfShorterFile: lists of a mapped file that became shorter are an error where a cache is made of them, and
// wherever the device's goroutine reads them later.
func TestCacheOfShorterFile(t *testing.T) {
	const size = 1 << 16
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
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	g := &kir.GlobalDef{Kind: kir.Adj, Off: []uint64{0, size / 4}, Adj: unsafe.Slice((*uint32)(unsafe.Pointer(&data[0])), size/4)}
	x := &Exec{job: &Job{}}
	x.tables = map[arrayKey]*table{x.job.keyOf(g, emit.Neighbours): {laid: laid{g}}}
	reads := &Reads{Each: func(yield func(Read) bool) { yield(Read{Lists: g, Below: true}) }}
	dev := devices.Emulated(t, emu.Options{})
	for what, do := range map[string]func() error{
		"cache": func() error { x.pack(reads, 1<<20); return nil },
		"read": func() error {
			x.pack(&Reads{Each: func(func(Read) bool) {}}, 1<<20)
			return fmt.Errorf("the file has %d", g.Adj[0])
		},
	} {
		err := dev.Do(func(*cuda.Context) error { return do() })
		if err == nil || !strings.Contains(err.Error(), "memory address") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
