package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// gcPercent is what the collector goes by.
func gcPercent() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestCollectLater: the first collection is put off, and those after it are not; a user
// who sets one of Go's variables is obeyed.
func TestCollectLater(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOGC", "50")
	collectLater()
	if p := gcPercent(); p != 100 {
		t.Fatalf("GOGC=50: collection by %d %%", p)
	}
	t.Setenv("GOGC", "")
	collectLater()
	if p := gcPercent(); p != 400 {
		t.Fatalf("first collection by %d %%, want 400", p)
	}
	for end := time.Now().Add(3 * time.Minute); gcPercent() != 100; time.Sleep(time.Millisecond) {
		runtime.GC()
		if time.Now().After(end) {
			t.Fatalf("collection by %d %% after the first, want 100", gcPercent())
		}
	}
}
