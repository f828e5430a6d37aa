package crew

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Goroutines that stand by: each waits in the kernel, on a thread of its own, for a
// word of memory to change. Who has work for it writes the word and has the kernel
// wake the thread, a matter of a microsecond; the threads wake beside each other,
// where the scheduler would have each wake the next. One that has waited for a while
// ends, and so does one whose work took long: to wake it quickly is then worth
// nothing, and a thread in the kernel keeps its processor from other goroutines for
// up to 10 ms.

//
// Each takes a thread, and no more than the processors have others to run on: where many
// searches run at once, as they may in a program that uses weft as a library, to stand by
// gains nothing and costs threads. So it is for a command, which says Alone.

const longWork = 5 * time.Millisecond // after which one stands by no more

var alone atomic.Bool

// Alone says that this process runs one search at a time: goroutines may stand by.
func Alone() { alone.Store(canStandBy) }

// A standby is one such goroutine.
type standby struct {
	word   atomic.Uint32 // 1: there is work
	work   func(*Memory)
	memory Memory
	others Memory // is to become idle.own
}

var idle = struct {
	mu     sync.Mutex
	list   []*standby    // of those that wait, or are about to
	coming int           // have been started for no work, and are not on the list yet
	own    *Memory       // for who gives work, and works as well
	linger time.Duration // how long one stands by for work
}{linger: 100 * time.Millisecond}

// Ready has n goroutines stand by, with those that do already. They are
// there when threads have been made for them, and Ready does not wait for that.
func Ready(n int) {
	if !alone.Load() {
		return
	}
	idle.mu.Lock()
	n -= len(idle.list) + idle.coming
	idle.coming += max(n, 0)
	idle.mu.Unlock()
	if n <= 0 {
		return
	}
	memory := make([]uint64, (n+1)*memoryWords)
	part := func(i int) Memory { return Memory{memory[i*memoryWords:][:memoryWords:memoryWords]} }
	for i := range n {
		s := &standby{memory: part(i)}
		if i == 0 {
			s.others = part(n)
		}
		go s.serve(nil)
	}
}

// Own is memory for who gives work to others, and works as well: the first that asks
// has it, and others nil.
func Own() *Memory {
	idle.mu.Lock()
	defer idle.mu.Unlock()
	m := idle.own
	idle.own = nil
	return m
}

// run runs work in a goroutine: one that stands by, if there is any.
func run(work func(*Memory)) {
	if !alone.Load() {
		go work(nil)
		return
	}
	idle.mu.Lock()
	n := len(idle.list)
	if n == 0 {
		idle.mu.Unlock()
		go new(standby).serve(work)
		return
	}
	s := idle.list[n-1]
	idle.list[n-1] = nil
	idle.list = idle.list[:n-1]
	idle.mu.Unlock()
	s.work = work
	s.word.Store(1)
	wake(&s.word)
}

// serve does work, if there is any, and what comes after it.
func (s *standby) serve(work func(*Memory)) {
	for comes := work == nil; ; comes = false {
		if work != nil {
			began := time.Now()
			work(&s.memory)
			if time.Since(began) > longWork {
				return
			}
		}
		if work = s.next(comes); work == nil {
			return
		}
	}
}

// next waits for work; nil: none came. comes says that Ready has counted s.
func (s *standby) next(comes bool) func(*Memory) {
	idle.mu.Lock()
	if comes {
		idle.coming--
	}
	if len(idle.list)+1 >= max(2, runtime.GOMAXPROCS(0)) { // one processor is the caller's
		idle.mu.Unlock()
		return nil
	}
	idle.list = append(idle.list, s)
	end := time.Now().Add(idle.linger)
	idle.mu.Unlock()
	if comes {
		s.prepare()
	}
	for s.word.Load() == 0 {
		left := time.Until(end)
		if left <= 0 && s.leave() {
			return nil
		}
		wait(&s.word, max(left, time.Millisecond))
	}
	work := s.work
	s.work = nil
	s.word.Store(0)
	return work
}

// prepare touches what s will work with, while there is no work.
func (s *standby) prepare() {
	growStack()
	s.memory.touch(&s.word)
	if s.others.free == nil {
		return
	}
	s.others.touch(&s.word)
	idle.mu.Lock()
	defer idle.mu.Unlock()
	if idle.own == nil {
		idle.own = &Memory{s.others.free}
	}
	s.others = Memory{}
}

// leave takes s off the list; false: somebody has, who is about to give it work.
func (s *standby) leave() bool {
	idle.mu.Lock()
	defer idle.mu.Unlock()
	for i, x := range idle.list {
		if x == s {
			last := len(idle.list) - 1
			idle.list[i] = idle.list[last]
			idle.list[last] = nil
			idle.list = idle.list[:last]
			return true
		}
	}
	return false
}
