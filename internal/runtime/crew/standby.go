package crew

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Goroutines that stand by each wait in the kernel, on a thread of their own, for a word of
// memory to change. A caller with work writes the word and has the kernel wake the thread,
// which takes about a microsecond. The threads wake in parallel, while the scheduler would have
// each wake the next. A goroutine ends after a while without work, or after a long task: waking
// it quickly has no value then, and a thread in the kernel keeps its processor from other
// goroutines for up to 10 ms.
//
// Each takes a thread, and there are no more of them than processors. If many searches run at
// once, as in a program that uses weft as a library, a thread that stands by gains nothing and
// costs memory. So they are for a command, which runs one search at a time.

const longWork = 5 * time.Millisecond // after which one stands by no more

// linger is how long one stands by for work.
const linger = 100 * time.Millisecond

// A standby is one such goroutine.
type standby struct {
	pool   *Pool
	word   atomic.Uint32 // 1: there is work
	work   func(*Memory)
	memory Memory
	others Memory // is to become pool.own
}

// A Pool is goroutines that stand by. A nil Pool has none: each worker is a new goroutine.
// Safe for concurrent use.
type Pool struct {
	linger time.Duration // 0: nobody stands by

	mu     sync.Mutex
	closed bool
	list   []*standby // of those that wait, or are about to
	coming int        // have been started for no work, and are not on the list yet
	own    *Memory    // for the caller, which works as well
}

// NewPool makes a pool for a process that runs one search at a time. It returns nil if the
// system does not let a thread wait for a word of memory.
func NewPool() *Pool {
	if !canStandBy {
		return nil
	}
	return &Pool{linger: linger}
}

// standsBy reports whether goroutines of p stand by.
func (p *Pool) standsBy() bool { return p != nil && p.linger > 0 }

// Close ends the goroutines that stand by. Those at work end after it.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	idle := p.list
	p.list, p.closed, p.own = nil, true, nil
	p.mu.Unlock()
	for _, s := range idle {
		s.give(nil)
	}
}

// Ready has n goroutines stand by, with those that do already. They are
// there when threads have been made for them, and Ready does not wait for that.
func (p *Pool) Ready(n int) {
	if !p.standsBy() {
		return
	}
	p.mu.Lock()
	if p.closed {
		n = 0
	}
	n -= len(p.list) + p.coming
	p.coming += max(n, 0)
	p.mu.Unlock()
	if n <= 0 {
		return
	}
	memory := make([]uint64, (n+1)*memoryWords)
	part := func(i int) Memory { return Memory{memory[i*memoryWords:][:memoryWords:memoryWords]} }
	for i := range n {
		s := &standby{pool: p, memory: part(i)}
		if i == 0 {
			s.others = part(n)
		}
		go s.serve(nil)
	}
}

// Own is memory for a caller that gives work to others and works as well. The first caller has
// it; others get nil.
func (p *Pool) Own() *Memory {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.own
	p.own = nil
	return m
}

// run runs work in a goroutine: one that stands by, if there is any.
func (p *Pool) run(work func(*Memory)) {
	if !p.standsBy() {
		go work(nil)
		return
	}
	p.mu.Lock()
	n := len(p.list)
	if n == 0 {
		p.mu.Unlock()
		go (&standby{pool: p}).serve(work)
		return
	}
	s := p.list[n-1]
	p.list[n-1] = nil
	p.list = p.list[:n-1]
	p.mu.Unlock()
	s.give(work)
}

// give hands work to one that was taken off the list; nil: to end.
func (s *standby) give(work func(*Memory)) {
	s.work = work
	s.word.Store(1)
	wake(&s.word)
}

// serve does work, if there is any, and the work that follows it.
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
	p := s.pool
	p.mu.Lock()
	if comes {
		p.coming--
	}
	if p.closed || len(p.list)+1 >= max(2, runtime.GOMAXPROCS(0)) { // one processor is the caller's
		p.mu.Unlock()
		return nil
	}
	p.list = append(p.list, s)
	end := time.Now().Add(p.linger)
	p.mu.Unlock()
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

// prepare touches the memory that s will use, while there is no work.
func (s *standby) prepare() {
	growStack()
	s.memory.touch(&s.word)
	p := s.pool
	if s.others.free == nil {
		return
	}
	s.others.touch(&s.word)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own == nil && !p.closed {
		p.own = &Memory{s.others.free}
	}
	s.others = Memory{}
}

// leave takes s off the list. It returns false if a caller has already taken it, and is about
// to give it work.
func (s *standby) leave() bool {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, x := range p.list {
		if x == s {
			last := len(p.list) - 1
			p.list[i] = p.list[last]
			p.list[last] = nil
			p.list = p.list[:last]
			return true
		}
	}
	return false
}
