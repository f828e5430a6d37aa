package bolt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// Tags of messages.
const (
	msgHello     = 0x01
	msgGoodbye   = 0x02
	msgReset     = 0x0F
	msgRun       = 0x10
	msgBegin     = 0x11
	msgCommit    = 0x12
	msgRollback  = 0x13
	msgDiscard   = 0x2F
	msgPull      = 0x3F
	msgTelemetry = 0x54
	msgRoute     = 0x66
	msgLogon     = 0x6A
	msgLogoff    = 0x6B
	msgSuccess   = 0x70
	msgRecord    = 0x71
	msgIgnored   = 0x7E
	msgFailure   = 0x7F
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
	tx      *transaction
	results map[int64]*open
	last    int64 // number of the newest result in the transaction
}

// transaction is what BEGIN has said.
type transaction struct {
	graph string
	time  time.Duration
	quiet bool
	begun time.Time
}

// open is a result that the client has not read to its end.
type open struct {
	Result
	graph string
	first time.Time
	rows  int64
	quiet bool // the client wants no notifications
	stop  context.CancelFunc

	begun bool      // rows were asked for
	asked time.Time // when the client last asked for rows

	over    bool // it ended before the client asked for the rest
	err     error
	summary Summary
}

func (o *open) close() {
	o.Result.Close()
	o.stop()
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

// end ends the searches of the connection, and then the connection.
func (c *conn) end(why error) {
	c.gone(why)
	c.mu.Lock()
	c.room.Broadcast()
	c.mu.Unlock()
}

// tagOf is the tag of a message, or 0.
func tagOf(m []byte) byte {
	if len(m) >= 2 && m[0]>>4 == 0xB {
		return m[1]
	}
	return 0
}

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

// wait blocks until there is a message; false: the connection ends. Results that the server cuts short, or that the client leaves alone, end
// in the meantime, so that others get their turn.
func (c *conn) wait() (m []byte, ok bool) {
	draining := c.s.draining
	for {
		var watched []*open // that have not ended
		var next *open      // whose time is over first
		for _, r := range c.results {
			if r.over {
				continue
			}
			if watched = append(watched, r); next == nil || c.patience(r).Before(c.patience(next)) {
				next = r
			}
		}
		var late <-chan time.Time
		if next != nil {
			t := time.NewTimer(time.Until(c.patience(next)))
			defer t.Stop()
			late = t.C
		}
		const first = 4
		cases := make([]reflect.SelectCase, first, first+len(watched))
		for i, of := range []any{c.queue, c.base.Done(), late, draining} {
			cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(of)}
		}
		for _, r := range watched {
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(r.Done())})
		}
		switch i, x, more := reflect.Select(cases); i {
		case 0:
			if !more {
				return nil, false
			}
			return x.Bytes(), true
		case 1:
			return nil, false
		case 2:
			next.settle(&Error{Code: CodeTerminated, Message: fmt.Sprintf("the client has asked for no rows for %v", c.patience(next).Sub(next.asked))})
		case 3:
			if c.idle() {
				return nil, false
			}
			draining = nil
		default:
			watched[i-first].settle(nil)
		}
	}
}

// patience is the time at which a result ends whose client asks for no more rows. One that has begun keeps others waiting for their turn.
func (c *conn) patience(r *open) time.Time {
	if r.begun {
		return r.asked.Add(min(c.s.o.IdleTimeout, c.s.o.WriteTimeout))
	}
	return r.asked.Add(c.s.o.IdleTimeout)
}

// settle ends a result before the client asks for the rest. why is nil if the search has ended already, which knows the reason.
func (o *open) settle(why error) {
	if o.over {
		return
	}
	o.over, o.err = true, why
	if why != nil {
		o.stop()
	}
	for {
		more, err := o.Next()
		if more && err == nil {
			continue
		}
		if o.err == nil {
			o.err = err
		}
		break
	}
	if o.err == nil {
		o.summary = o.Summary()
	}
	o.close()
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

func (c *conn) closeResults() {
	for id, r := range c.results {
		r.close()
		delete(c.results, id)
	}
}

// hello reads what the client says of itself and, in Bolt 5.0, its credentials.
func (c *conn) hello(x any) error {
	m, ok := x.(map[string]any)
	if !ok {
		return c.broken("HELLO has no map")
	}
	if agent := text(m, "user_agent"); agent != "" {
		c.log = c.log.With("agent", cut(agent, 100))
	}
	if routing, ok := m["routing"].(map[string]any); ok {
		c.route = text(routing, "address")
	}
	c.state = stateLogon
	if c.minor == 0 {
		if err := c.login(m); err != nil {
			return c.fail(err)
		}
	}
	// There is no hint of connection.recv_timeout_seconds: drivers would start a timer for each row, and read a fifth of the rows in a second.
	return c.success(entry{"server", c.s.o.Agent}, entry{"connection_id", c.id}, entry{"hints", map[string]any{"telemetry.enabled": false}})
}

func (c *conn) logon(x any) error {
	m, ok := x.(map[string]any)
	if !ok {
		return c.broken("LOGON has no map")
	}
	if err := c.login(m); err != nil {
		return c.fail(err)
	}
	return c.success()
}

func (c *conn) login(m map[string]any) error {
	scheme := text(m, "scheme")
	if scheme == "" {
		scheme = "none"
	}
	u, err := c.s.backend.Login(c.context(), Credentials{scheme, text(m, "principal"), text(m, "credentials"), c.net.RemoteAddr()})
	if err != nil {
		c.log.Warn("login refused", "user", cut(text(m, "principal"), 100), "error", err)
		return err
	}
	c.user, c.state = u, stateReady
	c.authed.Store(true)
	c.readBy(func() { c.authBy = time.Time{} })
	return nil
}

// extra reads the map of RUN and BEGIN.
func (c *conn) extra(x any) (graph string, limit time.Duration, quiet bool, err error) {
	m, ok := x.(map[string]any)
	if !ok {
		return "", 0, false, &Error{Code: CodeInvalid, Message: "RUN or BEGIN has no map"}
	}
	if who := text(m, "imp_user"); who != "" && who != c.user.Name() {
		return "", 0, false, &Error{Code: CodeForbidden, Message: "no user may act as another"}
	}
	if t, ok := m["tx_timeout"].(int64); ok {
		if t < 0 || t > int64(1<<62)/int64(time.Millisecond) {
			return "", 0, false, &Error{Code: CodeArgument, Message: "the time limit of the transaction is not a number of milliseconds from 0"}
		}
		limit = time.Duration(t) * time.Millisecond
	}
	graph, err = c.graph(text(m, "db"))
	return graph, limit, text(m, "notifications_minimum_severity") == "OFF", err
}

// graph is the graph of a database's name; "" is the home database.
func (c *conn) graph(db string) (string, error) {
	all := c.user.Graphs()
	switch {
	case db == "" && len(all) > 0:
		return all[0], nil
	case db == "":
		return "", &Error{Code: CodeNoDatabase, Message: "the server has no graph that the user may read"}
	case db == systemDB, slices.Contains(all, db):
		return db, nil
	}
	return "", &Error{Code: CodeNoDatabase, Message: fmt.Sprintf("there is no database %q, or the user may not read it", cut(db, 100))}
}

func (c *conn) begin(x any) error {
	graph, limit, quiet, err := c.extra(x)
	if err != nil {
		return c.fail(err)
	}
	c.tx, c.last = &transaction{graph, limit, quiet, time.Now()}, -1
	if c.minor >= 8 {
		return c.success(entry{"db", graph})
	}
	return c.success()
}

// run begins a query.
func (c *conn) run(f []any) error {
	start := time.Now()
	query, ok := f[0].(string)
	params, is := f[1].(map[string]any)
	if !ok || !is {
		return c.broken("RUN has no text and no map of parameters")
	}
	var graph string
	var limit time.Duration
	var quiet bool
	if tx := c.tx; tx != nil {
		graph, quiet = tx.graph, tx.quiet
		if tx.time > 0 {
			limit = max(tx.time-time.Since(tx.begun), time.Nanosecond)
		}
		if len(c.results) >= mostResults {
			return c.fail(&Error{Code: CodeArgument, Message: fmt.Sprintf("the transaction has %d open results, and no more are taken", mostResults)})
		}
	} else {
		var err error
		if graph, limit, quiet, err = c.extra(f[2]); err != nil {
			return c.fail(err)
		}
	}
	if err := checkParams(params); err != nil {
		return c.fail(err)
	}
	ctx, stop := context.WithCancel(c.context())
	r, err := c.query(ctx, Query{graph, query, params, limit})
	if err != nil {
		stop()
		if c.interrupted() {
			return c.ignored()
		}
		return c.fail(err)
	}
	c.last++
	if c.tx == nil {
		c.last = 0
	}
	o := &open{Result: r, graph: graph, first: time.Now(), quiet: quiet, stop: stop, asked: time.Now()}
	c.results[c.last] = o
	meta := []entry{{"fields", r.Columns()}, {"t_first", o.first.Sub(start).Milliseconds()}}
	if c.tx != nil {
		meta = append(meta, entry{"qid", c.last})
	}
	if c.minor >= 8 {
		meta = append(meta, entry{"db", graph})
	}
	return c.success(meta...)
}

// mostResults is the number of results that may be open in a transaction.
const mostResults = 64

// query begins a query of the backend, or one of the procedures.
func (c *conn) query(ctx context.Context, q Query) (Result, error) {
	if r, ok, err := c.s.procedure(ctx, c.user, q); ok || err != nil {
		return r, err
	}
	if q.Graph == systemDB {
		return nil, &Error{Code: CodeNoDatabase, Message: "the database system has no graph: it answers SHOW and CALL"}
	}
	return c.user.Run(ctx, q)
}

// pull sends rows, or drops them.
func (c *conn) pull(x any, discard bool) error {
	m, ok := x.(map[string]any)
	if !ok {
		return c.broken("PULL or DISCARD has no map")
	}
	n, ok := m["n"].(int64)
	if !ok || n < -1 || n == 0 {
		return c.broken("n of PULL or DISCARD is neither -1 nor a number above 0")
	}
	qid := int64(-1)
	if id, ok := m["qid"].(int64); ok {
		qid = id
	}
	if qid < 0 {
		qid = c.last
	}
	r := c.results[qid]
	if r == nil {
		return c.fail(&Error{Code: CodeInvalid, Message: fmt.Sprintf("there is no open result %d", qid)})
	}
	start := time.Now()
	if r.over {
		if r.err != nil {
			return c.fail(r.err)
		}
		delete(c.results, qid)
		return c.success(summary(r.summary, r, 0, c.minor)...)
	}
	ended := false
	if !discard || n > 0 {
		r.begun = true
		defer func() { r.asked = time.Now() }()
		columns := len(r.Columns())
		for i := int64(0); i != n; i++ {
			more, err := r.Next()
			if err != nil {
				if c.interrupted() {
					return c.ignored()
				}
				return c.fail(err)
			}
			if !more {
				ended = true
				break
			}
			r.rows++
			if discard {
				continue
			}
			if err := c.record(r, columns); err != nil {
				return err
			}
			if i&15 == 15 && c.context().Err() != nil { // rows that the search has already found
				if c.interrupted() {
					return c.ignored()
				}
				return c.fail(c.context().Err())
			}
		}
		if !ended {
			return c.success(entry{"has_more", true})
		}
	}
	var s Summary
	if ended {
		s = r.Summary()
	}
	r.close()
	delete(c.results, qid)
	return c.success(summary(s, r, time.Since(start), c.minor)...)
}

// record sends the current row. The columns of a row that panics are not sent.
func (c *conn) record(r *open, columns int) error {
	e := c.out.begin()
	whole := false
	defer func() {
		if !whole {
			c.out.abort()
		}
	}()
	e.Struct(msgRecord, 1)
	e.List(columns)
	r.Encode(e)
	whole = true
	return c.out.end()
}

// routes answers ROUTE: the server is the only one, for readers and writers. A session that says nothing is a writer.
func (c *conn) routes(f []any) error {
	address := c.s.o.Advertise
	if address == "" {
		address = c.route
	}
	if context, ok := f[0].(map[string]any); ok && address == "" {
		address = text(context, "address")
	}
	if address == "" {
		address = c.net.LocalAddr().String()
	}
	m, _ := f[2].(map[string]any)
	graph, err := c.graph(text(m, "db"))
	if err != nil {
		return c.fail(err)
	}
	role := func(name string) map[string]any {
		return map[string]any{"role": name, "addresses": []string{address}}
	}
	return c.success(entry{"rt", map[string]any{"ttl": int64(300), "db": graph, "servers": []any{role("ROUTE"), role("READ"), role("WRITE")}}})
}

// text is a text in a map, or "".
func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// cut is s with at most n bytes.
func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// checkParams makes moments and durations of structures, in place. It returns an error for a value that no query takes.
func checkParams(params map[string]any) error {
	for name, x := range params {
		y, what := plain(x)
		if what != "" {
			return &Error{Code: CodeType, Message: fmt.Sprintf("the parameter $%s has %s: a parameter is a number, a text, a truth value, a time, a duration, NULL, or a list of these", cut(name, 100), what)}
		}
		params[name] = y
	}
	return nil
}

// plain is a parameter without structures. what names one that it may not have.
func plain(x any) (y any, what string) {
	switch x := x.(type) {
	case packstream.Structure:
		if y, ok := moment(x); ok {
			return y, ""
		}
		if x.Tag == packstream.TagDuration {
			return nil, "a Duration with months, or one that is too long"
		}
		return nil, packstream.Name(x.Tag)
	case []byte:
		return nil, "bytes"
	case []any:
		for i := range x {
			if x[i], what = plain(x[i]); what != "" {
				return nil, what
			}
		}
	case map[string]any:
		for k := range x {
			if x[k], what = plain(x[k]); what != "" {
				return nil, what
			}
		}
	}
	return x, ""
}

// moment is the time or duration of a structure. One without a zone is in UTC, as in the pattern language.
func moment(x packstream.Structure) (any, bool) {
	n := make([]int64, len(x.Fields))
	for i, f := range x.Fields {
		v, ok := f.(int64)
		if !ok && !(x.Tag == packstream.TagDateTimeZone && i == 2) {
			return nil, false
		}
		n[i] = v
	}
	const year = 366 * 24 * 3600
	switch {
	case (x.Tag == packstream.TagDateTime || x.Tag == packstream.TagDateTimeZone) && len(n) == 3, x.Tag == packstream.TagLocalDateTime && len(n) == 2:
		return time.Unix(n[0], n[1]).UTC(), n[1] >= 0 && n[1] < 1e9
	case x.Tag == packstream.TagDate && len(n) == 1:
		return time.Unix(n[0]*24*3600, 0).UTC(), n[0] > -366*10000 && n[0] < 366*10000
	case x.Tag == packstream.TagDuration && len(n) == 4 && n[0] == 0 && n[1] > -366*250 && n[1] < 366*250 && n[2] > -year*40 && n[2] < year*40 && n[3] > -1e9 && n[3] < 1e9:
		return time.Duration(n[1])*24*time.Hour + time.Duration(n[2])*time.Second + time.Duration(n[3]), true
	}
	return nil, false
}
