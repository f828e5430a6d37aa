package session

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	devices "github.com/weftgraph/weft/internal/testing/device"
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
