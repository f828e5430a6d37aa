package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestManagedLeast: a run with too little memory names the least that works also where lists are in managed memory, though a fence keeps the
// rest of the device's memory from it. The lack shows when the fence stands.
func TestManagedLeast(t *testing.T) {
	w := newWorld(10000, 8)
	for _, place := range []session.Place{session.Host, session.Managed} {
		w.place = place
		with := func(limit int64) error {
			d, err := cuda.New(device.Backend(t, emu.Options{Memory: 64 << 20}), device.Objects().Images)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			s, err := session.Open([]*cuda.Device{d}, session.Options{Ring: 1 << 12, Memory: limit})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			j := w.job()
			start := j.Start
			j.Start = func(x *session.Exec) (func() error, error) {
				if _, err := x.Scratch("stacks", 1<<20); err != nil {
					return nil, err
				}
				return start(x)
			}
			_, err = s.Run(context.Background(), j)
			return err
		}
		err := with(8 << 10)
		least := session.LeastOf(err)
		if !errors.Is(err, session.ErrShort) || least <= 8<<10 || !strings.Contains(err.Error(), fmt.Sprint(least)) {
			t.Fatalf("%v: %v, least %d", place, err, least)
		}
		if err := with(least); err != nil {
			t.Errorf("%v: with the least memory: %v", place, err)
		}
		for memory := least - 4<<10; memory > 0; memory -= 64 << 10 {
			if err := with(memory); session.LeastOf(err) != least {
				t.Errorf("%v: with %d of %d bytes: %v", place, memory, least, err)
			}
		}
	}
}
