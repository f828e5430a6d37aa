package crew

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// standing is the number of goroutines that stand by.
func (p *Pool) standing() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.list)
}

// eventually waits until n goroutines stand by.
func eventually(t *testing.T, p *Pool, n int) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); p.standing() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d stand by, want %d", p.standing(), n)
		}
	}
}

// standBy returns a pool whose goroutines stand by for so long.
func standBy(t *testing.T, most time.Duration) *Pool {
	t.Helper()
	if !canStandBy {
		t.Skip("not on " + runtime.GOOS)
	}
	procs := runtime.GOMAXPROCS(5)
	p := NewPool()
	p.linger = most
	t.Cleanup(func() {
		p.Close()
		runtime.GOMAXPROCS(procs)
	})
	return p
}

// TestPoolsApart: what stands by in one pool does no work of another, and Close ends it.
func TestPoolsApart(t *testing.T) {
	p, other := standBy(t, time.Minute), standBy(t, time.Minute)
	p.Ready(2)
	eventually(t, p, 2)
	done := make(chan bool)
	other.run(func(*Memory) { close(done) })
	<-done
	if n := p.standing(); n != 2 {
		t.Errorf("%d of 2 stand by after work of another pool", n)
	}
	p.Close()
	p.Ready(2)
	eventually(t, p, 0)
	did := make(chan bool)
	p.run(func(*Memory) { close(did) })
	<-did // a pool that is closed still does what it is given
	time.Sleep(10 * time.Millisecond)
	if n := p.standing(); n != 0 {
		t.Errorf("%d stand by after Close", n)
	}
}

// TestStandBy: who stands by is given work once, at once and again, and no more stand by
// than were asked for.
func TestStandBy(t *testing.T) {
	p := standBy(t, time.Minute)
	p.Ready(3)
	p.Ready(2)
	p.Ready(3)
	eventually(t, p, 3)
	var did atomic.Int32
	for round := range 50 {
		var all sync.WaitGroup
		all.Add(3)
		for range 3 {
			p.run(func(*Memory) { did.Add(1); all.Done() })
		}
		all.Wait()
		if n := did.Load(); n != int32(3*(round+1)) {
			t.Fatalf("%d pieces of work done after round %d", n, round)
		}
	}
	if n := p.standing(); n > 4 {
		t.Errorf("%d stand by, on 5 processors", n)
	}
}

// TestStandByMost: however many goroutines have worked, few stand by.
func TestStandByMost(t *testing.T) {
	p := standBy(t, time.Minute)
	var all sync.WaitGroup
	for range 200 {
		all.Add(1)
		p.run(func(*Memory) { all.Done() })
	}
	all.Wait()
	for range 20 {
		if n := p.standing(); n > 4 {
			t.Fatalf("%d stand by, on 5 processors", n)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestStandByLongWork: who worked for long does not stand by.
func TestStandByLongWork(t *testing.T) {
	p := standBy(t, time.Minute)
	done := make(chan bool)
	p.run(func(*Memory) {
		time.Sleep(longWork + time.Millisecond)
		close(done)
	})
	<-done
	time.Sleep(20 * time.Millisecond)
	if n := p.standing(); n != 0 {
		t.Errorf("%d stand by after long work", n)
	}
}

// TestStandByLeaves: who has waited for long leaves; one that was taken off the list by
// somebody with work does not, and does it.
func TestStandByLeaves(t *testing.T) {
	p := standBy(t, time.Millisecond)
	p.run(func(*Memory) {})
	eventually(t, p, 0)
	s := &standby{pool: p}
	if s.leave() {
		t.Error("left a list on which it was not")
	}
	p.mu.Lock()
	p.list = append(p.list, s)
	p.mu.Unlock()
	did := false
	p.run(func(*Memory) { did = true }) // given to s, which nobody serves yet
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
