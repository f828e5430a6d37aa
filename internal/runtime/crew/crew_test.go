package crew

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestCrew: what has begun has ended when Wait returns, and nothing begins later.
func TestCrew(t *testing.T) {
	begun := 0
	for range 200 {
		var c Crew
		var in, out atomic.Int32
		for range 8 {
			c.Go(func(*Memory) {
				in.Add(1)
				runtime.Gosched()
				out.Add(1)
			})
		}
		runtime.Gosched()
		c.Wait()
		n := in.Load()
		if out.Load() != n {
			t.Fatalf("%d began, %d ended", n, out.Load())
		}
		runtime.Gosched()
		if in.Load() != n {
			t.Fatalf("%d began after Wait", in.Load()-n)
		}
		begun += int(n)
	}
	if begun == 0 {
		t.Error("none ever began")
	}
}

// TestCrewDoesNotWait: with one processor, which is the caller's, none of them begins
// before Wait, and it returns at once.
func TestCrewDoesNotWait(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for try := 0; ; try++ {
		var c Crew
		var ran atomic.Bool
		c.Go(func(*Memory) { ran.Store(true) })
		c.Wait()
		if !ran.Load() {
			return
		}
		if try == 100 { // the caller may lose its processor now and then
			t.Fatal("Wait waited for a goroutine that had not begun")
		}
	}
}

// TestCrewAlone: the same where goroutines stand by, and Wait waits for long.
func TestCrewAlone(t *testing.T) {
	p := standBy(t, time.Minute)
	p.Ready(4)
	eventually(t, p, 4)
	for round := range 100 {
		c := Crew{Pool: p}
		var in, out atomic.Int32
		for range 4 {
			c.Go(func(*Memory) {
				in.Add(1)
				if round%10 == 0 {
					time.Sleep(time.Millisecond)
				}
				out.Add(1)
			})
		}
		for round%10 == 0 && in.Load() == 0 {
			runtime.Gosched()
		}
		c.Wait()
		if n := in.Load(); out.Load() != n {
			t.Fatalf("%d began, %d ended", n, out.Load())
		}
	}
}

// TestSpread: each worker runs once if the caller works on, and none begins in a search that is over soon.
func TestSpread(t *testing.T) {
	p := standBy(t, time.Minute)
	p.Ready(4)
	eventually(t, p, 4)
	for _, pool := range []*Pool{nil, p} {
		for _, alone := range []time.Duration{0, Short} {
			for _, n := range []int{0, 1, 2, 7, 15} {
				c := Crew{Pool: pool}
				ran := make([]atomic.Int32, n+1)
				var in atomic.Int32
				c.Spread(n, alone, func(i int, _ *Memory) {
					ran[i].Add(1)
					in.Add(1)
				})
				for end := time.Now().Add(time.Minute); int(in.Load()) < n && time.Now().Before(end); {
					runtime.Gosched()
				}
				c.Wait()
				for i := 1; i <= n; i++ {
					if k := ran[i].Load(); k != 1 {
						t.Errorf("of %d, worker %d ran %d times", n, i, k)
					}
				}
			}
		}
		c := Crew{Pool: pool}
		c.Spread(4, time.Hour, func(int, *Memory) { t.Error("a worker began in a search that was over before the time") })
		c.Wait()
		c.Spread(4, 0, func(int, *Memory) { t.Error("a worker began after Wait") })
	}
}
