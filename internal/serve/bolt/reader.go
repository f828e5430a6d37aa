package bolt

import (
	"errors"
	"io"
	"net"
	"time"
)

// read hands messages to answer until the client goes. A RESET ends the search before its turn comes.
func (c *conn) read() {
	defer close(c.queue)
	for {
		m, err := readMessage(c.in, c.longest, func() {
			c.readBy(func() { c.wholeBy = time.Now().Add(c.s.o.WriteTimeout) })
		})
		if err == nil {
			c.readBy(func() { c.wholeBy = time.Time{} })
		}
		if err != nil {
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
			case errors.Is(err, errTooLong):
				c.log.Warn("message too long", "limit", c.longest())
			default:
				c.log.Debug("reading", "error", err)
			}
			c.gone(errGone)
			return
		}
		c.mu.Lock()
		switch tagOf(m) {
		case msgReset:
			c.resets++
			c.stop(errReset)
		case msgGoodbye:
			c.stop(errGone)
		}
		c.mu.Unlock()
		if !c.hand(m) {
			return
		}
	}
}

// hand puts a message into the queue. It blocks while the queue is full. Nobody sees a RESET or the client's end in the meantime, so the
// connection ends if that takes long.
func (c *conn) hand(m []byte) bool {
	var late *time.Timer
	blocks := func() {
		if late == nil {
			late = time.AfterFunc(c.s.o.AheadTimeout, func() {
				c.log.Warn("the connection is closed", "error", errAhead)
				c.end(errAhead)
			})
		}
	}
	defer func() {
		if late != nil {
			late.Stop()
		}
	}()
	c.mu.Lock()
	for c.ahead > 0 && c.ahead+len(m) > c.longest() && c.base.Err() == nil {
		blocks()
		c.room.Wait()
	}
	c.ahead += len(m)
	c.mu.Unlock()
	if c.base.Err() != nil {
		return false
	}
	select {
	case c.queue <- m:
		return true
	default:
	}
	blocks()
	select {
	case c.queue <- m:
		return true
	case <-c.base.Done():
		return false
	}
}

// readBy changes the times by which something must have been read.
func (c *conn) readBy(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	auth, whole := c.authBy, c.wholeBy
	change()
	if auth == c.authBy && whole == c.wholeBy {
		return
	}
	by := c.authBy
	if by.IsZero() || !c.wholeBy.IsZero() && c.wholeBy.Before(by) {
		by = c.wholeBy
	}
	_ = c.raw.SetReadDeadline(by)
}

// longest is the number of bytes that a message may have, and those that wait.
func (c *conn) longest() int {
	if !c.authed.Load() {
		return min(c.s.o.MaxMessage, c.s.o.MaxHello)
	}
	return c.s.o.MaxMessage
}

// drop lets the reader go on to its end, without a place for what it reads.
func (c *conn) drop() {
	c.gone(errGone)
	c.mu.Lock()
	c.ahead = 0
	c.room.Broadcast()
	c.mu.Unlock()
	for range c.queue {
	}
}
