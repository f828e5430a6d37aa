package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestDrive: the benchmark's own memory does not grow with requests, of which some hundred thousand take no time.
func TestDrive(t *testing.T) {
	const least = 200_000
	for during := 200 * time.Millisecond; ; during *= 2 {
		l := drive(t.Context(), 4, during, func(context.Context) error { return nil })
		if l.times.total() < least && during < time.Minute {
			continue
		}
		if len(l.memory) != quarters+1 || l.times.total() < least || l.failed != 0 {
			t.Fatalf("%d times, %d failures, memory %v", l.times.total(), l.failed, l.memory)
		}
		// A list of times would have 8 bytes for each.
		if before, after := l.memory[0].heap, l.memory[quarters].heap; after > before+l.times.total() {
			t.Errorf("after %d requests the heap has %d bytes, and had %d", l.times.total(), after, before)
		}
		break
	}
	wrong := errors.New("no answer")
	l := drive(t.Context(), 2, 10*time.Millisecond, func(context.Context) error { time.Sleep(time.Millisecond); return wrong })
	if l.failed == 0 || !errors.Is(l.first, wrong) {
		t.Errorf("%d failures, the first %v", l.failed, l.first)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	drive(ctx, 2, time.Hour, func(context.Context) error { return nil })
}
