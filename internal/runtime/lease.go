package runtime

import "sync"

// Leases counts the calls that use something. It goes when it is closed and the last of them
// has ended. The zero value is open, and has none. Safe for concurrent use.
type Leases struct {
	mu     sync.Mutex
	held   int
	closed bool
}

// Take takes a lease; false: it is closed.
func (l *Leases) Take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.held++
	}
	return !l.closed
}

// Share takes another lease. It succeeds on a closed object while another call holds a lease.
// It returns false if the object is gone.
func (l *Leases) Share() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	there := !l.closed || l.held > 0
	if there {
		l.held++
	}
	return there
}

// Give gives a lease back; true: it was the last of something closed, which the caller frees.
func (l *Leases) Give() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held--
	return l.closed && l.held == 0
}

// Close lets no call begin; true: none is there, and the caller frees it. A second Close is false.
func (l *Leases) Close() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := !l.closed && l.held == 0
	l.closed = true
	return free
}
