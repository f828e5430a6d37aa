package bolt

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// state is where a connection stands.
type state uint8

const (
	stateHello state = iota
	stateLogon
	stateReady // also with open results, and in a transaction
	stateFailed
	stateDefunct // the connection is closed after the answer
)

// answer answers messages until the connection ends.
func (c *conn) answer() {
	for {
		var m []byte
		var ok bool
		select {
		case m, ok = <-c.queue:
		default:
			if c.out.Flush() != nil {
				return
			}
			c.busy.Store(false)
			m, ok = c.wait()
		}
		if !ok {
			return
		}
		c.busy.Store(true)
		c.mu.Lock()
		c.ahead -= len(m)
		c.room.Signal()
		c.mu.Unlock()
		if err := c.handle(m); err != nil || c.state == stateDefunct {
			return
		}
	}
}

// handle answers a message. An error is that of the connection.
func (c *conn) handle(raw []byte) (err error) {
	d := packstream.NewDecoder(raw, packstream.Limits{})
	x, err := d.Value()
	if err == nil {
		err = d.End()
	}
	m, ok := x.(packstream.Structure)
	if err != nil || !ok {
		if err == nil {
			err = errors.New("it is not a structure")
		}
		return c.broken("the message cannot be read: " + err.Error())
	}
	if m.Tag == msgGoodbye {
		c.state = stateDefunct
		return nil
	}
	if m.Tag == msgReset {
		return c.reset()
	}
	if c.interrupted() {
		return c.ignored()
	}
	if c.state == stateFailed {
		switch m.Tag {
		case msgRun, msgPull, msgDiscard, msgBegin, msgCommit, msgRollback, msgRoute, msgTelemetry, msgLogon, msgLogoff:
			return c.ignored()
		}
	}
	return c.guarded(m)
}

// guarded is do. A panic fails the message, and not the server.
func (c *conn) guarded(m packstream.Structure) (err error) {
	defer func() {
		if x := recover(); x != nil {
			if e, ok := x.(error); ok {
				c.log.Error("a query failed", "error", e)
			} else {
				c.log.Error("a query failed", "panic", x, "stack", string(debug.Stack()))
			}
			err = c.fail(&Error{Code: CodeExecution, Message: "the query failed: the log of the server says why"})
		}
	}()
	return c.do(m)
}

func (c *conn) do(m packstream.Structure) error {
	if c.state == stateReady && m.Tag != msgLogoff {
		u, err := c.user.Current()
		if err != nil {
			c.log.Warn("the user may ask no more", "user", c.user.Name(), "error", err)
			err = c.fail(err)
			c.state = stateDefunct
			return err
		}
		c.user = u
	}
	need := func(s state, fields int) bool { return c.state == s && len(m.Fields) == fields }
	switch m.Tag {
	case msgHello:
		if need(stateHello, 1) {
			return c.hello(m.Fields[0])
		}
	case msgLogon:
		if need(stateLogon, 1) && c.minor >= 1 {
			return c.logon(m.Fields[0])
		}
	case msgLogoff:
		if need(stateReady, 0) && c.minor >= 1 && c.idle() {
			c.user, c.state = nil, stateLogon
			c.authed.Store(false)
			c.readBy(func() { c.authBy = time.Now().Add(c.s.o.AuthTimeout) })
			return c.success()
		}
	case msgRun:
		if need(stateReady, 3) && (c.tx != nil || c.idle()) {
			return c.run(m.Fields)
		}
	case msgPull, msgDiscard:
		if need(stateReady, 1) && len(c.results) > 0 {
			return c.pull(m.Fields[0], m.Tag == msgDiscard)
		}
	case msgBegin:
		if need(stateReady, 1) && c.idle() {
			return c.begin(m.Fields[0])
		}
	case msgCommit, msgRollback:
		if need(stateReady, 0) && c.tx != nil {
			c.closeResults()
			c.tx = nil
			return c.success()
		}
	case msgRoute:
		if need(stateReady, 3) && c.idle() {
			return c.routes(m.Fields)
		}
	case msgTelemetry:
		if need(stateReady, 1) && c.minor >= 4 {
			return c.success()
		}
	}
	return c.broken(fmt.Sprintf("the message 0x%02X with %d fields does not fit here", m.Tag, len(m.Fields)))
}

// broken fails a message that no driver sends, and ends the connection.
func (c *conn) broken(message string) error {
	c.log.Warn("protocol error", "error", message)
	err := c.fail(&Error{Code: CodeInvalid, Message: message})
	c.state = stateDefunct
	return err
}

// success answers with metadata.
func (c *conn) success(entries ...entry) error {
	e := c.out.begin()
	e.Struct(msgSuccess, 1)
	encodeEntries(e, entries)
	return c.out.end()
}

func (c *conn) ignored() error {
	e := c.out.begin()
	e.Struct(msgIgnored, 0)
	return c.out.end()
}

// fail answers with an error. The client must reset the connection then, or it is closed if it has not logged in.
func (c *conn) fail(err error) error {
	var known *Error
	if errors.Is(err, context.Canceled) && c.context().Err() != nil {
		known = &Error{Code: CodeTerminated, Message: context.Cause(c.context()).Error()}
		if errors.Is(context.Cause(c.context()), errShutdown) {
			known.Code = CodeUnavailable
		}
	} else if !errors.As(err, &known) {
		c.log.Error("an error without a status code", "error", err)
		known = &Error{Code: CodeUnknown, Message: "the server failed: its log says why"} // the error may name files
	}
	if c.state < stateReady {
		c.state = stateDefunct
	} else {
		c.state = stateFailed
	}
	c.closeResults()
	c.tx = nil
	e := c.out.begin()
	e.Struct(msgFailure, 1)
	encodeEntries(e, failure(known, c.minor))
	return c.out.end()
}

// reset makes the connection ready again, if this was the last RESET that has come.
func (c *conn) reset() error {
	if c.state < stateReady {
		return c.broken("RESET comes before the client has logged in")
	}
	c.closeResults()
	c.tx = nil
	c.mu.Lock()
	c.resets--
	more := c.resets > 0
	if !more {
		c.stop(errReset)
		c.op, c.stop = context.WithCancelCause(c.base)
	}
	c.mu.Unlock()
	if more {
		return c.ignored()
	}
	c.state = stateReady
	return c.success()
}
