package serve

import (
	"cmp"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// patient is a connection whose write deadlines are times without progress: a write fails when the client's system has taken nothing for the time
// from the call that has set the deadline to the deadline. So a client that reads slowly keeps its connection, and one that reads no more loses
// it. The caller makes one write at a time.
//
// Why: the system keeps megabytes for a client, and lets a program write again only when a third of them has gone. A client that reads 40 KB a
// second would leave one write waiting for 20 seconds.
type patient struct {
	net.Conn
	raw syscall.RawConn // nil: the connection is not one of the system

	mu    sync.Mutex // of allow, and of the deadline of Conn that follows from it
	allow allowance
}

// allowance is the time without progress that writes are allowed. wait 0 allows any.
type allowance struct {
	from time.Time // of the call that has allowed it: a write that waits longer already has the whole time from here
	wait time.Duration
}

func newPatient(n net.Conn) *patient {
	p := &patient{Conn: n}
	if t, ok := n.(*net.TCPConn); ok {
		p.raw, _ = t.SyscallConn()
	}
	return p
}

// SetDeadline sets the deadline of reads, and that of writes as SetWriteDeadline does.
func (p *patient) SetDeadline(t time.Time) error {
	return errors.Join(p.Conn.SetReadDeadline(t), p.SetWriteDeadline(t))
}

// SetWriteDeadline allows writes the time until t without progress. A zero t lets them wait without an end.
func (p *patient) SetWriteDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.IsZero() {
		p.allow = allowance{}
		return p.Conn.SetWriteDeadline(t)
	}
	now := time.Now()
	p.allow = allowance{now, max(t.Sub(now), 1)}
	return p.look()
}

// looks is the number of times within the allowed time at which a write that waits looks for progress.
const looks = 4

// look sets the next time at which a write looks for progress. The caller holds the lock.
func (p *patient) look() error {
	return p.Conn.SetWriteDeadline(time.Now().Add(p.allow.wait / looks))
}

// Write blocks until the system has taken all, or the client has taken nothing for too long. The time that is allowed may change meanwhile.
func (p *patient) Write(b []byte) (n int, err error) {
	moved, left := time.Now(), p.unsent() // the last progress, and what was not sent then
	for {
		m, err := p.Conn.Write(b[n:])
		n += m
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		now := p.unsent()
		if m > 0 || now < left {
			moved = time.Now()
		}
		left = now
		if on, failed := p.goesOn(moved); !on || failed != nil {
			return n, cmp.Or(failed, err)
		}
	}
}

// goesOn reports whether a write that moved at a time may wait on, and sets the next time at which it looks.
func (p *patient) goesOn(moved time.Time) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.allow.from.After(moved) {
		moved = p.allow.from
	}
	if p.allow.wait == 0 || time.Since(moved) >= p.allow.wait {
		return false, nil
	}
	return true, p.look()
}

// unsent is the number of bytes that the client's system has not taken; 0 if this system does not say.
func (p *patient) unsent() (bytes int) {
	if p.raw != nil {
		_ = p.raw.Control(func(fd uintptr) {
			if x, err := unsent(int(fd)); err == nil {
				bytes = x
			}
		})
	}
	return bytes
}
