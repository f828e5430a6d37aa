package session

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	devices "github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestStagedUpload: what arrives is what was sent, for sizes around those of the
// slots, twice over one stage; a context that ends ends the copy.
func TestStagedUpload(t *testing.T) {
	r := rand.New(rand.NewPCG(devices.Seed(), 8))
	data := make([]uint64, (3*stageSlots*stageSlot+4096)/8)
	for i := range data {
		data[i] = r.Uint64()
	}
	devices.Each(t, func(t *testing.T, dev *cuda.Device) {
		err := dev.Do(func(c *cuda.Context) (err error) {
			s, err := newStage(c)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.close()) }()
			b, err := c.Alloc(int64(8 * len(data)))
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Free(b)) }()
			for _, n := range []int{1, stageSlot/8 - 1, stageSlot / 8, stageSlot/8 + 1, stageSlots * stageSlot / 8, len(data)} {
				if err := c.Clear(b, nil); err != nil {
					return err
				}
				if err := s.upload(context.Background(), c, b, bytes.NewReader(raw(data[:n]))); err != nil {
					return err
				}
				got := make([]uint64, n)
				if err := cuda.Download(c, got, b, 0); err != nil {
					return err
				}
				if !slices.Equal(got, data[:n]) {
					t.Errorf("%d words differ", n)
				}
			}
			why := errors.New("enough")
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(why)
			if err := s.upload(ctx, c, b, bytes.NewReader(raw(data))); !errors.Is(err, why) {
				t.Errorf("error %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestStagedUploadFaults: an upload in segments in which a call fails is an error, gives back all
// that it took, and the next one brings everything, if the device goes on.
func TestStagedUploadFaults(t *testing.T) {
	data := make([]byte, (stageSlots+3)*stageSlot+100)
	for i := range data {
		data[i] = byte(i / 4096)
	}
	upload := func(t *testing.T, f *cuda.Faults) error {
		t.Helper()
		f.Backend = devices.Backend(t, emu.Options{})
		dev, err := cuda.New(f, devices.Objects().Images)
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		var first error
		for range 2 {
			d := &device{dev: dev}
			got := make([]byte, len(data))
			err := dev.Do(func(c *cuda.Context) (err error) {
				b, err := c.Alloc(int64(len(data)))
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, c.Free(b)) }()
				err = d.fill(context.Background(), c, &array{buf: b}, bytes.NewReader(data))
				if d.stage != nil {
					defer func() { err = errors.Join(err, d.stage.close()) }()
				}
				if err != nil {
					return err
				}
				return cuda.Download(c, got, b, 0)
			})
			if err == nil && !bytes.Equal(got, data) {
				t.Error("no error, and other bytes arrived")
			}
			if first == nil {
				first = err
			}
		}
		if n := dev.InUse(); n != 0 && !dev.Lost() {
			t.Errorf("%d bytes are in use after error %v", n, first)
		}
		return first
	}
	sound := &cuda.Faults{}
	if err := upload(t, sound); err != nil {
		t.Fatal(err)
	}
	step := 1
	if !long.Asked() {
		step = 9
	}
	for _, k := range []struct {
		name string
		want error
		most int
		set  func(f *cuda.Faults, n int)
	}{
		{"alloc", cuda.ErrMemory, 4, func(f *cuda.Faults, n int) { f.FailAlloc = n }},
		{"copy", nil, 2 * (stageSlots + 4), func(f *cuda.Faults, n int) { f.FailCopy = n }},
		{"work", cuda.ErrLost, 2, func(f *cuda.Faults, n int) { f.FailWork = n }},
		{"lose", cuda.ErrLost, sound.Calls() - 8, func(f *cuda.Faults, n int) { f.LoseAfter = n }},
	} {
		for n := 1; n <= k.most; n += step {
			f := &cuda.Faults{}
			k.set(f, n)
			if err := upload(t, f); err == nil || k.want != nil && !errors.Is(err, k.want) {
				t.Errorf("%s %d: error %v, want %v", k.name, n, err, k.want)
			}
		}
	}
}
