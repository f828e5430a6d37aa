package standby

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestGo runs everything exactly once, whether goroutines wait for it, have just
// gone, or were never there.
func TestGo(t *testing.T) {
	old := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(old)
	var ran atomic.Int32
	var wg sync.WaitGroup
	want := int32(0)
	for round := range 300 {
		switch round % 4 {
		case 0:
			Wake(3)
		case 1:
			Wake(1)
			until.Store(0) // they leave while work comes
		case 2:
			Wake(1000)
			runtime.Gosched()
		}
		for range 5 {
			wg.Add(1)
			want++
			Go(func() { ran.Add(1); wg.Done() })
		}
		if round%3 == 0 {
			wg.Wait()
		}
	}
	wg.Wait()
	if ran.Load() != want {
		t.Errorf("%d of %d ran", ran.Load(), want)
	}
	if n := len(queue); n != 0 {
		t.Errorf("%d left in the queue", n)
	}
}

// TestLeaves: nobody waits forever, and who waits leaves the caller a processor.
func TestLeaves(t *testing.T) {
	old := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(old)
	Wake(100)
	if n := waiting.Load(); n > 1 {
		t.Errorf("%d wait beside the caller on 2 processors", n)
	}
	for deadline := time.Now().Add(10 * time.Second); waiting.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d still wait", waiting.Load())
		}
	}
}
