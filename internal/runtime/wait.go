package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Waits is how long one query stood still until the driver had started, and until devices
// were open. A nil Waits takes nothing down.
type Waits struct{ Driver, Devices time.Duration }

func (w *Waits) driver(since time.Time) {
	if w != nil {
		w.Driver += time.Since(since)
	}
}

func (w *Waits) devices(since time.Time) {
	if w != nil {
		w.Devices += time.Since(since)
	}
}

// Count is the number of GPUs. When ctx ends before that is known, its cause is the error.
func (r *Runtime) Count(ctx context.Context) (n int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		n, err = r.o.Count()
	}()
	select {
	case <-done:
		return n, err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// CountFor is Count for a caller that will open the GPUs of a list.
func (r *Runtime) CountFor(ctx context.Context, list []int, w *Waits) (int, error) {
	r.narrow(list)
	defer w.driver(time.Now())
	return r.Count(ctx)
}

// CheckDevice says whether a device of that name, "" for auto, exists here. The driver may
// have to start for that: when ctx ends first, its cause is in the error.
func (r *Runtime) CheckDevice(ctx context.Context, device string, w *Waits) error {
	list, err := ordinals(device)
	if err != nil || len(list) == 0 {
		return err
	}
	n, err := r.CountFor(ctx, list, w)
	if err != nil {
		return fmt.Errorf("%w: %s was asked for: %w", ErrDevice, device, err)
	}
	if most := slices.Max(list); most >= n {
		return fmt.Errorf("%w: gpu:%d was asked for, and the GPUs here are 0 … %d", ErrDevice, most, n-1)
	}
	return nil
}

// Waited adds a wait for the driver that no query had: of a check of names before the first one.
func (r *Runtime) Waited(w Waits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.early += w.Driver
}

// Early is the wait for the driver that no query had, for the first query that asks.
func (r *Runtime) Early() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	early := r.early
	r.early = 0
	return early
}
