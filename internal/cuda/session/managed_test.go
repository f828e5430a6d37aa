package session_test

import (
	"context"
	"errors"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/testing/device"
)

// managing counts the bytes of managed memory that are taken, and notes the memory of the device that is taken at once before
// any of them.
type managing struct {
	cuda.Backend
	sizes  map[unsafe.Pointer]int64
	now    int64 // bytes of managed memory
	ever   int64
	fence  int64 // bytes of the last allocation before the managed memory
	last   int64
	refuse bool // of large allocations
}

func (b *managing) Alloc(bytes int64) (uint64, error) {
	if b.refuse && bytes > 1<<20 {
		return 0, &cuda.Error{Op: "alloc", Name: "injected", Kind: cuda.ErrMemory}
	}
	b.last = bytes
	return b.Backend.Alloc(bytes)
}

func (b *managing) Manage(bytes int64) (unsafe.Pointer, uint64, error) {
	host, ptr, err := b.Backend.Manage(bytes)
	if err == nil {
		b.sizes[host] = bytes
		b.now += bytes
		b.ever += bytes
		b.fence = b.last
	}
	return host, ptr, err
}

func (b *managing) Unpin(host unsafe.Pointer) error {
	b.now -= b.sizes[host]
	delete(b.sizes, host)
	return b.Backend.Unpin(host)
}

// TestManaged: lists in managed memory give the same answers, go at the end of the run, and leave the device's memory that
// the session may not use to nobody. Runs in other places have page-locked lists of their own.
func TestManaged(t *testing.T) {
	w := newWorld(10000, 8)
	lists := int64(4 * len(w.adj))
	const total, limit = 64 << 20, 1 << 20
	for _, given := range []bool{true, false} {
		b := &managing{Backend: device.Backend(t, emu.Options{Memory: total}), sizes: map[unsafe.Pointer]int64{}}
		d, err := cuda.New(b, device.Objects().Images)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		o, want := session.Options{Ring: 1 << 12}, int64(total-limit-total/10) // a tenth is the driver's
		if given {
			o.Memory = limit
		}
		s, err := session.Open([]*cuda.Device{d}, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, place := range []session.Place{session.Managed, session.Host, session.Managed, session.Device, session.Managed} {
			w := *w
			w.place = place
			before := b.ever
			res := w.check(t, s, nil).Devices[0]
			if managed := b.ever - before; place != session.Managed && managed != 0 || place == session.Managed && (managed != 2*lists || res.Host != lists) {
				t.Errorf("run %d: %d bytes of managed memory in two runs, and %d in host memory; the lists have %d", i, managed, res.Host, lists)
			}
			if b.now != 0 {
				t.Errorf("run %d: %d bytes of managed memory are left", i, b.now)
			}
			if i == 0 && given && (b.fence > want || b.fence < want-64<<10) { // kept scratch memory is free for the session alone
				t.Errorf("%d bytes are kept from managed memory, want %d", b.fence, want)
			}
			if free, err := s.Free(context.Background()); err != nil || free < total/2 {
				t.Errorf("run %d: %d bytes are free, %v", i, free, err)
			}
		}
		if given {
			w := *w
			w.place, b.refuse = session.Managed, true
			if res, err := s.Run(context.Background(), w.job()); !errors.Is(err, cuda.ErrMemory) || res.Complete {
				t.Errorf("no memory for the fence: complete %v, %v", res.Complete, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if n := d.InUse(); n != 0 {
			t.Errorf("%d bytes are still in use", n)
		}
	}
}
