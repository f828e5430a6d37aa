package crew

import (
	"sync"
	"testing"
	"time"
	"unsafe"
)

// TestTake: what is taken is zero, lines apart, and allocated when there is no more.
func TestTake(t *testing.T) {
	m := &Memory{free: make([]uint64, 1000)}
	seen := map[uintptr]bool{}
	for _, n := range []int{1, 0, 33, 100, 31, 1000, 3, 5000} {
		x := Take[uint32](m, n)
		if len(x) != n {
			t.Fatalf("%d of %d", len(x), n)
		}
		for i := range x {
			if x[i] != 0 {
				t.Fatalf("%d at %d of %d", x[i], i, n)
			}
			x[i] = 7
		}
		x = x[:cap(x)]
		for i := range x {
			at := uintptr(unsafe.Pointer(&x[i]))
			if n > 0 && seen[at] {
				t.Fatalf("%d of %d was taken before", i, n)
			}
			seen[at] = true
		}
		if n > 0 && (cap(x)*4)%128 != 0 {
			t.Errorf("room for %d after %d", cap(x), n)
		}
	}
	if len(m.free) > 1000-2*lineWords {
		t.Errorf("%d words left", len(m.free))
	}
	if x := Take[uint64](nil, 5); len(x) != 5 {
		t.Errorf("%d of 5 without memory", len(x))
	}
}

// TestMemoryAtHand: who stands by works with memory of its own, and so does who gives work.
func TestMemoryAtHand(t *testing.T) {
	p := standBy(t, time.Minute)
	p.Ready(3)
	eventually(t, p, 3)
	own := p.Own()
	for end := time.Now().Add(3 * time.Minute); own == nil; own = p.Own() {
		if time.Now().After(end) {
			t.Fatal("no memory for who gives work")
		}
		time.Sleep(time.Millisecond)
	}
	if p.Own() != nil {
		t.Error("the same memory twice")
	}
	var mu sync.Mutex
	of := map[*uint64]bool{&own.free[0]: true}
	var all sync.WaitGroup
	all.Add(3)
	for range 3 {
		p.run(func(m *Memory) {
			defer all.Done()
			mu.Lock()
			defer mu.Unlock()
			if x := Take[uint64](m, memoryWords); !of[&x[0]] {
				of[&x[0]] = true
			} else {
				t.Error("the same memory twice")
			}
			if len(m.free) != 0 {
				t.Errorf("%d words left", len(m.free))
			}
		})
	}
	all.Wait()
}

// TestSoon: it asks again for a while in a process that runs one search at a time.
func TestSoon(t *testing.T) {
	asked := 0
	third := func() bool { asked++; return asked >= 3 }
	if new(Crew).soon(third) || asked != 1 {
		t.Errorf("asked %d times where searches run at the same time", asked)
	}
	c := &Crew{Pool: standBy(t, time.Minute)}
	if !c.soon(third) || c.soon(func() bool { return false }) {
		t.Error("gave up too early, or never")
	}
}
