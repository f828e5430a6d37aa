package bolt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Causes of the end of a search.
var (
	errReset    = errors.New("the client has reset the connection")
	errGone     = errors.New("the client has gone")
	errShutdown = errors.New("the server stops")
	errAhead    = errors.New("the client has sent more messages than the server reads ahead, and then waited for long")
)

// mostAhead is the number of messages that are read before they are answered.
const mostAhead = 64

// conn is a connection.
type conn struct {
	s     *Server
	raw   net.Conn // as it was taken
	host  string   // of the client
	net   net.Conn // the WebSocket in it, if there is one; belongs to serve, and to read once that has begun
	in    *bufio.Reader
	out   writer
	log   *slog.Logger
	id    string
	minor int

	authed atomic.Bool
	busy   atomic.Bool

	base    context.Context // ends with the connection
	gone    context.CancelCauseFunc
	mu      sync.Mutex // guards the next six
	op      context.Context
	stop    context.CancelCauseFunc
	resets  int
	ahead   int       // bytes of messages that wait
	authBy  time.Time // by when the client must have logged in; 0: it has
	wholeBy time.Time // by when the message must end that is being read; 0: none has begun
	room    *sync.Cond
	queue   chan []byte

	// The rest belongs to the goroutine that answers.
	state   state
	user    User
	route   string // the address by which the client knows the server
	quiet   bool   // the client wants no notifications, unless a query says otherwise
	tx      *transaction
	results map[int64]*open
	last    int64 // number of the newest result in the transaction
}

func newConn(s *Server, n net.Conn, id uint64) *conn {
	c := &conn{s: s, raw: n, host: host(n.RemoteAddr()), net: n, in: bufio.NewReaderSize(n, 8<<10), id: fmt.Sprintf("bolt-%d", id), queue: make(chan []byte, mostAhead), results: map[int64]*open{}, last: -1}
	c.out = writer{conn: n, timeout: s.o.WriteTimeout, failed: func() { c.end(errGone) }}
	c.room = sync.NewCond(&c.mu)
	c.log = s.o.Log.With("connection", c.id, "client", n.RemoteAddr().String())
	c.base, c.gone = context.WithCancelCause(context.Background())
	c.op, c.stop = context.WithCancelCause(c.base)
	return c
}

// serve blocks until the connection is closed.
func (c *conn) serve() {
	defer c.net.Close()
	defer c.gone(errGone)
	defer c.out.stop()
	by := time.Now().Add(c.s.o.AuthTimeout)
	c.readBy(func() { c.authBy = by })
	_ = c.raw.SetWriteDeadline(by)
	if wantsWeb(c.in) {
		web, err := upgrade(c.net, c.in, c.s.o.Origins, c.s.o.WriteTimeout)
		if err != nil {
			c.log.Debug("no WebSocket", "error", err)
			return
		}
		c.net, c.in, c.out.conn = web, bufio.NewReaderSize(web, 8<<10), web
	}
	minor, err := handshake(c.in, c.net)
	if err != nil {
		c.log.Debug("no handshake", "error", err)
		return
	}
	c.minor = minor
	var reading sync.WaitGroup
	reading.Go(c.read)
	c.answer()
	_ = c.out.Flush()
	c.closeResults()
	c.net.Close() // ends read
	c.drop()
	reading.Wait()
}

// end ends the searches of the connection, and then the connection.
func (c *conn) end(why error) {
	c.gone(why)
	c.mu.Lock()
	c.room.Broadcast()
	c.mu.Unlock()
}

// idle reports whether nothing of the client is open.
func (c *conn) idle() bool { return c.tx == nil && len(c.results) == 0 }

// interrupted reports whether a RESET waits.
func (c *conn) interrupted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resets > 0
}

// context is that of the current work.
func (c *conn) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.op
}
