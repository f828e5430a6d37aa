package session_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestApart: sessions of single devices run different jobs at the same time, find the arrays that are there, and leave theirs.
// Runs of the whole session wait for them. When that is closed, they begin no more runs.
func TestApart(t *testing.T) {
	devs := []*cuda.Device{device.Emulated(t, emu.Options{SMs: 1}), device.Emulated(t, emu.Options{SMs: 1})}
	s, err := session.Open(devs, session.Options{Memory: 1 << 20, Ring: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	worlds := []*world{newWorld(200, 6), newWorld(300, 4)}
	uploaded := func(res session.Result) (n int64) {
		for _, d := range res.Devices {
			n += d.Uploaded
		}
		return n
	}
	if _, err := s.Run(t.Context(), worlds[0].job()); err != nil {
		t.Fatal(err)
	}
	var waits, closed chan error
	err = s.Apart(t.Context(), func(each []*session.Session) error {
		if len(each) != 2 || each[0].Workers()+each[1].Workers() != s.Workers() || each[1].Memory() != s.Memory() {
			t.Errorf("%d sessions, of %d workers each", len(each), each[0].Workers())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Run(ctx, worlds[0].job()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a run of the whole session beside them: %v", err)
		}
		// Each run ends when the other has begun.
		var all sync.WaitGroup
		began := []chan struct{}{make(chan struct{}), make(chan struct{})}
		for i, one := range each {
			j := worlds[i].job()
			start := j.Start
			j.Start = func(x *session.Exec) (func() error, error) {
				close(began[i])
				<-began[1-i]
				return start(x)
			}
			all.Go(func() {
				res, err := one.Run(t.Context(), j)
				if err != nil || res.Matches.Lo != uint64(len(worlds[i].edges)) || len(res.Devices) != 1 {
					t.Errorf("%v, %v, want %d", res.Matches, err, len(worlds[i].edges))
				}
				if there := i == 0; there != (uploaded(res) == 0) {
					t.Errorf("device %d: %d bytes were uploaded", i, uploaded(res))
				}
			})
		}
		all.Wait()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := s.Run(t.Context(), worlds[1].job()); err != nil || res.Devices[1].Uploaded != 0 || res.Devices[0].Uploaded == 0 {
		t.Errorf("%+v, %v: not the arrays that the sessions left", res.Devices, err)
	}
	cause := errors.New("ended")
	if err := s.Apart(t.Context(), func([]*session.Session) error { return cause }); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}

	waits, closed = make(chan error, 1), make(chan error, 1)
	err = s.Apart(t.Context(), func(each []*session.Session) error {
		go func() {
			_, err := s.Run(context.Background(), worlds[0].job())
			waits <- err
		}()
		go func() { closed <- s.Close() }()
		if err := <-waits; !errors.Is(err, cuda.ErrClosed) {
			t.Errorf("a run that waits for a session that is being closed: %v", err)
		}
		_, err := each[0].Run(t.Context(), worlds[0].job())
		return err
	})
	if !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("a run in a session that is being closed: %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for _, d := range devs {
		if n := d.InUse(); n != 0 {
			t.Errorf("%d bytes are in use", n)
		}
	}
	if err := s.Apart(t.Context(), func([]*session.Session) error { return nil }); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("of a closed session: %v", err)
	}
}

// TestApartHost: arrays in page-locked host memory of sessions of single devices are freed when these end.
func TestApartHost(t *testing.T) {
	devs := []*cuda.Device{device.Emulated(t, emu.Options{SMs: 1}), device.Emulated(t, emu.Options{SMs: 1})}
	s, err := session.Open(devs, session.Options{Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Apart(t.Context(), func(each []*session.Session) error {
		for _, one := range each {
			other := newWorld(400, 6)
			other.place = session.Host
			res, err := one.Run(t.Context(), other.job())
			if err != nil || res.Matches.Lo != uint64(len(other.edges)) || res.Devices[0].Host == 0 {
				t.Errorf("%+v, %v", res, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, d := range devs {
		if n := d.InUse(); n != 0 {
			t.Errorf("%d bytes are in use", n)
		}
	}
}
