package crew

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// standing is how many goroutines stand by.
func standing() int {
	idle.mu.Lock()
	defer idle.mu.Unlock()
	return len(idle.list)
}

// eventually waits until so many stand by.
func eventually(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); standing() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d stand by, want %d", standing(), n)
		}
	}
}

// TestStandBy: who stands by is given work once, at once and again; without work it
// leaves after a while.
func TestStandBy(t *testing.T) {
	if !canStandBy {
		t.Skip("not on " + runtime.GOOS)
	}
	eventually(t, 0)
	Ready(3)
	Ready(2)
	Ready(3)
	eventually(t, 3)
	time.Sleep(linger / 10)
	eventually(t, 3)
	before := runtime.NumGoroutine()
	var did atomic.Int32
	for round := range 50 {
		var all sync.WaitGroup
		all.Add(3)
		for range 3 {
			run(func() { did.Add(1); all.Done() })
		}
		all.Wait()
		if n := did.Load(); n != int32(3*(round+1)) {
			t.Fatalf("%d pieces of work done after round %d", n, round)
		}
	}
	if n := runtime.NumGoroutine(); n > before+3 { // one may be on its way back to the list
		t.Errorf("%d goroutines after the rounds, %d before", n, before)
	}
	eventually(t, 0)
}

// TestStandByLongWork: who worked for long does not stand by.
func TestStandByLongWork(t *testing.T) {
	if !canStandBy {
		t.Skip("not on " + runtime.GOOS)
	}
	eventually(t, 0)
	done := make(chan int)
	run(func() {
		time.Sleep(longWork + time.Millisecond)
		done <- standing()
	})
	if n := <-done; n != 0 {
		t.Fatalf("%d stand by", n)
	}
	time.Sleep(linger / 4)
	if n := standing(); n != 0 {
		t.Errorf("%d stand by after long work", n)
	}
}

// TestStandByLeaves: work given at the moment when the time of who stands by is over is
// done, once.
func TestStandByLeaves(t *testing.T) {
	if !canStandBy {
		t.Skip("not on " + runtime.GOOS)
	}
	eventually(t, 0)
	for round := range 20 {
		run(func() {})
		time.Sleep(linger - time.Millisecond + time.Duration(round)*100*time.Microsecond)
		var did atomic.Int32
		done := make(chan bool)
		run(func() { did.Add(1); close(done) })
		<-done
		if did.Load() != 1 {
			t.Fatal("done twice")
		}
	}
}
