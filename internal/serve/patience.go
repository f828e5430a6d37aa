package serve

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
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
	raw  syscall.RawConn // nil: the connection is not one of the system
	wait atomic.Int64    // nanoseconds without progress that are allowed; 0: any
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
	if t.IsZero() {
		p.wait.Store(0)
		return p.Conn.SetWriteDeadline(t)
	}
	p.wait.Store(int64(max(time.Until(t), 1)))
	return p.look()
}

// looks is the number of times within the allowed time at which a write that waits looks for progress.
const looks = 4

// look sets the time at which a write looks for progress.
func (p *patient) look() error {
	return p.Conn.SetWriteDeadline(time.Now().Add(time.Duration(p.wait.Load()) / looks))
}

// Write blocks until the system has taken all, or the client has taken nothing for too long.
func (p *patient) Write(b []byte) (n int, err error) {
	moved, left := time.Now(), p.unsent() // the last progress, and what was not sent then
	for {
		m, err := p.Conn.Write(b[n:])
		n += m
		wait := time.Duration(p.wait.Load())
		if err == nil || wait == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		now := p.unsent()
		if m > 0 || now < left {
			moved = time.Now()
		} else if time.Since(moved) >= wait {
			return n, err
		}
		left = now
		if err := p.look(); err != nil {
			return n, err
		}
	}
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
