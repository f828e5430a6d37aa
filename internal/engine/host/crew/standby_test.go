package crew

import (
	"bytes"
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
	for end := time.Now().Add(3 * time.Minute); standing() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d stand by, want %d", standing(), n)
		}
	}
}

// serving is how many goroutines of crews there are, those included that have not
// begun, or will stand by when they have.
func serving() int {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	return bytes.Count(text, []byte("host/crew.run in goroutine")) + bytes.Count(text, []byte("host/crew.Ready in goroutine"))
}

// dismiss has all that stand by end, and waits until they and those that work have: one
// of another test's that came to stand by later would be counted in this one.
func dismiss(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); serving() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("%d goroutines of crews are left", serving())
			return
		}
		for alone.Load() && standing() > 0 {
			run(func(*Memory) { runtime.Goexit() })
		}
	}
	idle.mu.Lock()
	defer idle.mu.Unlock()
	idle.own = nil
}

// standBy lets goroutines of this test stand by, for so long.
func standBy(t *testing.T, most time.Duration) {
	t.Helper()
	if !canStandBy {
		t.Skip("not on " + runtime.GOOS)
	}
	dismiss(t)
	procs := runtime.GOMAXPROCS(5)
	set := func(d time.Duration) (before time.Duration) {
		idle.mu.Lock()
		defer idle.mu.Unlock()
		before, idle.linger = idle.linger, d
		return before
	}
	before := set(most)
	Alone()
	t.Cleanup(func() {
		dismiss(t)
		alone.Store(false)
		set(before)
		runtime.GOMAXPROCS(procs)
	})
}

// TestStandBy: who stands by is given work once, at once and again, and no more stand by
// than were asked for.
func TestStandBy(t *testing.T) {
	standBy(t, time.Minute)
	Ready(3)
	Ready(2)
	Ready(3)
	eventually(t, 3)
	var did atomic.Int32
	for round := range 50 {
		var all sync.WaitGroup
		all.Add(3)
		for range 3 {
			run(func(*Memory) { did.Add(1); all.Done() })
		}
		all.Wait()
		if n := did.Load(); n != int32(3*(round+1)) {
			t.Fatalf("%d pieces of work done after round %d", n, round)
		}
	}
	if n := standing(); n > 4 {
		t.Errorf("%d stand by, on 5 processors", n)
	}
}

// TestStandByMost: however many goroutines have worked, few stand by.
func TestStandByMost(t *testing.T) {
	standBy(t, time.Minute)
	var all sync.WaitGroup
	for range 200 {
		all.Add(1)
		run(func(*Memory) { all.Done() })
	}
	all.Wait()
	for range 20 {
		if n := standing(); n > 4 {
			t.Fatalf("%d stand by, on 5 processors", n)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestStandByLongWork: who worked for long does not stand by.
func TestStandByLongWork(t *testing.T) {
	standBy(t, time.Minute)
	done := make(chan bool)
	run(func(*Memory) {
		time.Sleep(longWork + time.Millisecond)
		close(done)
	})
	<-done
	time.Sleep(20 * time.Millisecond)
	if n := standing(); n != 0 {
		t.Errorf("%d stand by after long work", n)
	}
}

// TestStandByLeaves: who has waited for long leaves; one that was taken off the list by
// somebody with work does not, and does it.
func TestStandByLeaves(t *testing.T) {
	standBy(t, time.Millisecond)
	run(func(*Memory) {})
	eventually(t, 0)
	s := new(standby)
	if s.leave() {
		t.Error("left a list on which it was not")
	}
	idle.mu.Lock()
	idle.list = append(idle.list, s)
	idle.mu.Unlock()
	did := false
	run(func(*Memory) { did = true }) // given to s, which nobody serves yet
	if s.leave() {
		t.Fatal("left although it has work")
	}
	if s.word.Load() != 1 {
		t.Fatal("no word of the work")
	}
	s.work(nil)
	if !did {
		t.Error("other work")
	}
}
