package bolt

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// fake is a backend whose texts say what happens: "rows N", "forever", "block", "panic", "late", "fail".
type fake struct {
	begun, closed, rows atomic.Int64
	cuts                sync.Map // the functions that end results, by their texts "cut N"
	removed             atomic.Bool
	statement           time.Duration
}

func (f *fake) Login(_ context.Context, c Credentials) (User, error) {
	if c.Secret == "wrong" {
		return nil, &Error{Code: CodeUnauthorized, Message: "wrong"}
	}
	if c.Secret == "slow" {
		time.Sleep(100 * time.Millisecond)
	}
	return fakeUser{f}, nil
}

type fakeUser struct{ f *fake }

func (u fakeUser) Name() string                 { return "ann" }
func (u fakeUser) StatementTime() time.Duration { return u.f.statement }

func (u fakeUser) Current() (User, error) {
	if u.f.removed.Load() {
		return nil, &Error{Code: CodeUnauthorized, Message: "removed"}
	}
	return u, nil
}
func (u fakeUser) Graphs() []string { return []string{"one", "two"} }

func (u fakeUser) Statement(ctx context.Context, _, _ string) (context.Context, func(int64, error), error) {
	return ctx, func(int64, error) {}, nil
}

func (u fakeUser) Schema(context.Context, string) (*Schema, error) {
	return &Schema{Labels: []string{"L"}}, nil
}

func (u fakeUser) Run(ctx context.Context, q Query) (Result, error) {
	if q.Text == "fail" {
		return nil, &Error{Code: CodeSyntax, Message: "no"}
	}
	if q.Text == "unknown" {
		return nil, errors.New("open /secret: permission denied")
	}
	u.f.begun.Add(1)
	if strings.HasPrefix(q.Text, "cut ") {
		var cut context.CancelFunc
		ctx, cut = context.WithCancel(ctx)
		u.f.cuts.Store(q.Text, cut)
	}
	r := &fakeResult{f: u.f, ctx: ctx, text: q.Text}
	if n, _ := fmt.Sscanf(q.Text, "rows %d", &r.left); n == 0 {
		r.left = 1 << 62
	}
	return r, nil
}

type fakeResult struct {
	f      *fake
	ctx    context.Context
	text   string
	left   int64
	closed bool
}

func (r *fakeResult) Columns() []string { return []string{"x"} }

func (r *fakeResult) Next() (bool, error) {
	if r.ctx.Err() != nil {
		return false, r.ctx.Err()
	}
	switch r.text {
	case "block":
		<-r.ctx.Done()
		return false, r.ctx.Err()
	case "late":
		if r.left < 1<<62 {
			<-r.ctx.Done()
			return false, r.ctx.Err()
		}
	}
	if r.left == 0 {
		return false, nil
	}
	r.left--
	r.f.rows.Add(1)
	return true, nil
}

func (r *fakeResult) Encode(e *packstream.Encoder) {
	if r.text == "large" {
		e.String(strings.Repeat("x", 200_000))
		return
	}
	e.Int(r.left)
	if r.text == "panic" {
		panic(errors.New("oh"))
	}
}

func (r *fakeResult) Done() <-chan struct{} { return r.ctx.Done() }

func (r *fakeResult) Summary() Summary {
	return Summary{Notes: []Note{{Code: "N", Title: "t", Description: "d"}, {Code: "A", Title: "t", Description: "d", Always: true}}}
}

func (r *fakeResult) Close() {
	if !r.closed {
		r.closed = true
		r.f.closed.Add(1)
	}
}

// client is a connection that a test speaks on.
type client struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func start(t *testing.T, o Options) (*fake, *Server, string) {
	t.Helper()
	f := &fake{}
	s := New(f, o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s.Shutdown(ctx)
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if b, c := f.begun.Load(), f.closed.Load(); b != c {
			t.Errorf("%d results begun, %d closed", b, c)
		}
	})
	return f, s, l.Addr().String()
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	n, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = n.SetDeadline(time.Now().Add(time.Minute)) // against hanging
	t.Cleanup(func() { n.Close() })
	return &client{t, n, bufio.NewReader(n)}
}

func (c *client) bytes(b ...byte) {
	c.t.Helper()
	if _, err := c.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// send sends a message.
func (c *client) send(tag byte, fields ...any) {
	c.t.Helper()
	var e packstream.Encoder
	e.Value(packstream.Structure{Tag: tag, Fields: fields})
	if _, err := c.Write(appendChunks(nil, e.Bytes)); err != nil {
		c.t.Fatal(err)
	}
}

// receive reads a message; "EOF" at the end of the connection.
func (c *client) receive() (string, any) {
	c.t.Helper()
	raw, err := readMessage(c.in, func() int { return 1 << 24 }, nil)
	if err != nil {
		return "EOF", err
	}
	x, err := packstream.NewDecoder(raw, packstream.Limits{}).Value()
	if err != nil {
		c.t.Fatal(err)
	}
	m := x.(packstream.Structure)
	name := map[byte]string{msgSuccess: "SUCCESS", msgRecord: "RECORD", msgIgnored: "IGNORED", msgFailure: "FAILURE"}[m.Tag]
	if len(m.Fields) == 0 {
		return name, nil
	}
	return name, m.Fields[0]
}

// want reads messages and compares their names.
func (c *client) want(names ...string) (last any) {
	c.t.Helper()
	for i, want := range names {
		got, x := c.receive()
		if got != want {
			c.t.Fatalf("message %d is %s %v, want %s", i, got, x, want)
		}
		last = x
	}
	return last
}

func (c *client) version(proposal ...byte) {
	c.t.Helper()
	c.bytes(append([]byte{0x60, 0x60, 0xB0, 0x17}, append(proposal, make([]byte, 16-len(proposal))...)...)...)
}

// ready logs in with a minor version.
func ready(t *testing.T, address string, minor byte) *client {
	t.Helper()
	c := dial(t, address)
	c.version(0, 0, minor, 5)
	var got [4]byte
	if _, err := io.ReadFull(c.in, got[:]); err != nil || got != [4]byte{0, 0, minor, 5} {
		t.Fatal(got, err)
	}
	hello := map[string]any{"user_agent": "test/1", "scheme": "none"}
	if minor == 0 {
		c.send(msgHello, hello)
		c.want("SUCCESS")
		return c
	}
	c.send(msgHello, map[string]any{"user_agent": "test/1"})
	c.send(msgLogon, map[string]any{"scheme": "none"})
	c.want("SUCCESS", "SUCCESS")
	return c
}

var none = map[string]any{}

func n(x int64) map[string]any { return map[string]any{"n": x} }

// TestHandshake: versions that are agreed on, and those that are refused.
func TestHandshake(t *testing.T) {
	_, _, address := start(t, Options{})
	for _, c := range []struct {
		proposal string
		want     string
	}{
		{"\x00\x00\x08\x05", "\x00\x00\x08\x05"},
		{"\x00\x08\x08\x05", "\x00\x00\x08\x05"},
		{"\x00\x04\x0C\x05", "\x00\x00\x08\x05"},                                 // 5.8 to 5.12
		{"\x00\x00\x09\x05\x00\x02\x04\x04\x00\x00\x00\x05", "\x00\x00\x00\x05"}, // 5.9, then 4.4 to 4.2, then 5.0
		{"\x00\x00\x04\x04", "\x00\x00\x00\x00"},
		{"\x00\x00\x00\x06\x00\x00\x00\x03", "\x00\x00\x00\x00"},
		{"\x00\x00\x01\xFF", "\x00\x00\x01\xFF\x01\x00\x08\x08\x05\x00"},
	} {
		x := dial(t, address)
		x.version([]byte(c.proposal)...)
		got := make([]byte, len(c.want))
		if _, err := io.ReadFull(x.in, got); err != nil || string(got) != c.want {
			t.Errorf("% X: % X, %v; want % X", c.proposal, got, err, c.want)
		}
		if c.want == "\x00\x00\x00\x00" {
			x.want("EOF")
		}
	}
	// The manifest's choice, with capabilities of two bytes; and a choice that was not offered.
	for choice, want := range map[string]string{"\x00\x00\x03\x05\x80\x01": "SUCCESS", "\x00\x00\x00\x06\x00": "EOF", "\x00\x00\x03\x05\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF": "EOF"} {
		x := dial(t, address)
		x.version(0, 0, 1, 0xFF)
		if _, err := io.ReadFull(x.in, make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		x.bytes([]byte(choice)...)
		if want == "SUCCESS" {
			x.send(msgHello, none)
		}
		x.want(want)
	}
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03", strings.Repeat("\x00", 20)} {
		x := dial(t, address)
		x.bytes([]byte(text)...)
		x.want("EOF")
	}
}

// TestStates walks through the states of a connection, in each version.
func TestStates(t *testing.T) {
	_, _, address := start(t, Options{})
	for minor := range byte(newestMinor + 1) {
		c := ready(t, address, minor)
		c.send(msgRun, "rows 3", none, none)
		c.send(msgPull, n(2))
		c.want("SUCCESS", "RECORD", "RECORD")
		if d := cmp.Diff(map[string]any{"has_more": true}, c.want("SUCCESS")); d != "" {
			t.Error(d)
		}
		c.send(msgPull, n(-1))
		c.want("RECORD")
		m := c.want("SUCCESS").(map[string]any)
		_, statuses := m["statuses"]
		if m["type"] != "r" || m["db"] != "one" || statuses != (minor >= 5) || (m["notifications"] != nil) == statuses {
			t.Errorf("5.%d: %v", minor, m)
		}
		// A failure makes all be ignored until RESET.
		c.send(msgRun, "fail", none, none)
		c.send(msgPull, n(-1))
		c.send(msgRun, "rows 1", none, none)
		f := c.want("FAILURE").(map[string]any)
		if code := map[bool]string{false: "code", true: "neo4j_code"}[minor >= 7]; f[code] != CodeSyntax || f["message"] != "no" {
			t.Errorf("5.%d: %v", minor, f)
		}
		c.want("IGNORED", "IGNORED")
		c.send(msgReset)
		c.want("SUCCESS")
		// A transaction with two results, read in turns, and one that is dropped.
		c.send(msgBegin, map[string]any{"db": "two", "mode": "r"})
		c.send(msgRun, "rows 5", none, none)
		c.send(msgRun, "rows 2", none, none)
		c.want("SUCCESS")
		if q := c.want("SUCCESS").(map[string]any)["qid"]; q != int64(0) {
			t.Error(q)
		}
		if q := c.want("SUCCESS").(map[string]any)["qid"]; q != int64(1) {
			t.Error(q)
		}
		c.send(msgPull, map[string]any{"n": int64(1), "qid": int64(0)})
		c.send(msgPull, n(5))
		c.want("RECORD", "SUCCESS", "RECORD", "RECORD")
		if db := c.want("SUCCESS").(map[string]any)["db"]; db != "two" {
			t.Error(db)
		}
		c.send(msgDiscard, map[string]any{"n": int64(-1), "qid": int64(0)})
		c.send(msgCommit)
		c.want("SUCCESS", "SUCCESS")
		c.send(msgRun, "rows 3", none, none)
		c.send(msgDiscard, n(2))
		c.send(msgPull, n(1))
		c.send(msgPull, n(1))
		c.want("SUCCESS", "SUCCESS", "RECORD", "SUCCESS", "SUCCESS")
		c.send(msgRoute, map[string]any{"address": "a:1"}, []any{}, map[string]any{})
		rt := c.want("SUCCESS").(map[string]any)["rt"].(map[string]any)
		if rt["db"] != "one" || len(rt["servers"].([]any)) != 3 {
			t.Error(rt)
		}
		if minor >= 4 {
			c.send(msgTelemetry, int64(1))
			c.want("SUCCESS")
		}
		if minor >= 1 {
			c.send(msgLogoff)
			c.send(msgLogon, map[string]any{"scheme": "basic", "principal": "x", "credentials": "wrong"})
			c.want("SUCCESS", "FAILURE", "EOF")
		} else {
			c.send(msgGoodbye)
			c.want("EOF")
		}
	}
}

// TestQuiet: a client that wants no notifications gets only those that say that the result is not what it seems.
func TestQuiet(t *testing.T) {
	_, _, address := start(t, Options{})
	for _, minor := range []byte{4, 8} {
		for _, off := range []bool{false, true} {
			c := ready(t, address, minor)
			extra := map[string]any{}
			if off {
				extra["notifications_minimum_severity"] = "OFF"
			}
			c.send(msgRun, "rows 0", none, extra)
			c.send(msgPull, n(-1))
			c.want("SUCCESS")
			got := fmt.Sprint(c.want("SUCCESS"))
			if strings.Contains(got, "code:N") == off || !strings.Contains(got, "code:A") {
				t.Errorf("5.%d, off %t: %s", minor, off, got)
			}
		}
	}
}

// TestQuietDriver: HELLO turns notifications off for all queries of a connection, and a query may turn them on again.
func TestQuietDriver(t *testing.T) {
	_, _, address := start(t, Options{})
	for _, test := range []struct {
		hello, run string
		quiet      bool
	}{{"", "", false}, {"OFF", "", true}, {"WARNING", "", false}, {"OFF", "INFORMATION", false}, {"INFORMATION", "OFF", true}} {
		setting := func(severity string) map[string]any {
			if severity == "" {
				return map[string]any{}
			}
			return map[string]any{"notifications_minimum_severity": severity}
		}
		c := dial(t, address)
		c.version(0, 0, 8, 5)
		if _, err := io.ReadFull(c.in, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		c.send(msgHello, setting(test.hello))
		c.send(msgLogon, map[string]any{"scheme": "none"})
		c.send(msgRun, "rows 0", none, setting(test.run))
		c.send(msgPull, n(-1))
		c.send(msgBegin, setting(test.run))
		c.send(msgRun, "rows 0", none, none)
		c.send(msgPull, n(-1))
		c.want("SUCCESS", "SUCCESS", "SUCCESS")
		alone := fmt.Sprint(c.want("SUCCESS"))
		inside := fmt.Sprint(c.want("SUCCESS", "SUCCESS", "SUCCESS"))
		for _, got := range []string{alone, inside} {
			if strings.Contains(got, "code:N") == test.quiet || !strings.Contains(got, "code:A") {
				t.Errorf("%+v: %s", test, got)
			}
		}
	}
}

// TestWrongMessages ends connections that do not keep to the protocol, with an answer that says why.
func TestWrongMessages(t *testing.T) {
	_, _, address := start(t, Options{MaxMessage: 1 << 20})
	raw := func(text string) func(*client) { return func(c *client) { c.bytes([]byte(text)...) } }
	msg := func(tag byte, fields ...any) func(*client) { return func(c *client) { c.send(tag, fields...) } }
	for name, do := range map[string]func(*client){
		"not a structure": raw("\x00\x01\x01\x00\x00"), "no PackStream": raw("\x00\x02\xB1\x10\x00\x00"), "a claimed length": raw("\x00\x07\xB1\x10\xD6\xFF\xFF\xFF\xFF\x00\x00"),
		"bytes behind": raw("\x00\x03\xB0\x0F\x01\x00\x00"), "unknown message": msg(0x55), "PULL without a result": msg(msgPull, n(1)), "COMMIT without a transaction": msg(msgCommit),
		"HELLO again": msg(msgHello, none), "LOGON again": msg(msgLogon, none), "RUN with two fields": msg(msgRun, "x", none), "RUN of a number": msg(msgRun, int64(1), none, none),
	} {
		c := ready(t, address, 8)
		do(c)
		if f, ok := c.want("FAILURE").(map[string]any); !ok || f["neo4j_code"] != CodeInvalid {
			t.Errorf("%s: %v", name, f)
		}
		c.want("EOF")
	}
	for _, extra := range []map[string]any{{"db": "three"}, {"imp_user": "bob"}, {"tx_timeout": int64(-1)}} {
		c := ready(t, address, 8)
		c.send(msgRun, "rows 1", none, extra)
		c.want("FAILURE")
		c.send(msgReset)
		c.want("SUCCESS")
	}
	for _, x := range []map[string]any{{"n": int64(0)}, {"n": int64(-2)}, {"n": "all"}, {}} {
		c := ready(t, address, 8)
		c.send(msgRun, "rows 1", none, none)
		c.send(msgPull, x)
		c.want("SUCCESS", "FAILURE", "EOF")
	}
	// Messages before the login are short; those after it have a limit as well.
	c := dial(t, address)
	c.version(0, 0, 8, 5)
	c.send(msgHello, map[string]any{"user_agent": strings.Repeat("x", 100_000)})
	if _, err := io.ReadFull(c.in, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	c.want("EOF")
	c = ready(t, address, 8)
	go func() { _, _ = c.Write(bytes.Repeat([]byte("\xFF\xFF"+strings.Repeat("x", 0xFFFF)), 32)) }()
	c.want("EOF")
	c = ready(t, address, 8)
	c.send(msgRun, strings.Repeat("x", 1<<19), none, none) // several chunks
	c.want("SUCCESS")
	c.send(msgReset)
	c.want("SUCCESS")
}

// TestLogin: a client that does not log in in time, or only sends empty messages, is disconnected.
func TestLogin(t *testing.T) {
	_, s, address := start(t, Options{AuthTimeout: 50 * time.Millisecond, MaxConnections: 2})
	for _, text := range []string{"", "\x60\x60\xB0\x17", "\x60\x60\xB0\x17\x00\x00\x08\x05" + strings.Repeat("\x00", 12) + strings.Repeat("\x00\x00", 1000)} {
		c := dial(t, address)
		c.bytes([]byte(text)...)
		if _, err := io.Copy(io.Discard, c.in); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}
	for s.Connections() > 0 {
		time.Sleep(time.Millisecond)
	}
	_, s, address = start(t, Options{MaxConnections: 2})
	a, b := ready(t, address, 8), ready(t, address, 8)
	dial(t, address).want("EOF")
	a.send(msgGoodbye)
	a.want("EOF")
	for s.Connections() > 1 {
		time.Sleep(time.Millisecond)
	}
	ready(t, address, 8)
	b.send(msgReset)
	b.want("SUCCESS")
}

// TestStrangers: clients that have not logged in are few for each address, and little of them waits.
func TestStrangers(t *testing.T) {
	_, s, address := start(t, Options{MaxStrangers: 2})
	wait := func(n int) {
		t.Helper()
		for begin := time.Now(); s.Connections() != n; time.Sleep(time.Millisecond) {
			if time.Since(begin) > 10*time.Second {
				t.Fatalf("%d connections, want %d", s.Connections(), n)
			}
		}
	}
	ready(t, address, 8)
	ready(t, address, 8)
	a, b := dial(t, address), dial(t, address)
	wait(4)
	dial(t, address).want("EOF")
	a.Close()
	wait(3)
	c := ready(t, address, 8)
	c.send(msgLogoff)
	c.want("SUCCESS")
	dial(t, address).want("EOF")
	c.send(msgLogon, none)
	c.want("SUCCESS")
	ready(t, address, 8)
	b.Close()

	n, other := net.Pipe()
	defer n.Close()
	defer other.Close()
	x := newConn(New(&fake{}, Options{AheadTimeout: 10 * time.Millisecond}), n, 1)
	if !x.hand(make([]byte, 40_000)) || x.hand(make([]byte, 40_000)) || x.ahead > 80_000 {
		t.Errorf("%d bytes wait before the login", x.ahead)
	}
}

// TestDeadlines: a message that has begun must end in time, also if the login comes in the middle of it, and a client that has logged off must
// log in again.
func TestDeadlines(t *testing.T) {
	_, _, address := start(t, Options{WriteTimeout: 300 * time.Millisecond})
	c := dial(t, address)
	c.version(0, 0, 8, 5)
	if _, err := io.ReadFull(c.in, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	c.send(msgHello, none)
	c.want("SUCCESS")
	c.send(msgLogon, map[string]any{"credentials": "slow"})
	c.bytes(0, 1, 0xB3, 0, 1, msgRun) // two chunks of a message, and no end
	c.want("SUCCESS", "EOF")

	_, _, address = start(t, Options{AuthTimeout: 300 * time.Millisecond})
	c = ready(t, address, 8)
	c.send(msgLogoff)
	c.bytes(0, 1, 0xB1, 0, 2, msgLogon, 0xA0, 0, 0) // a LOGON of two chunks
	c.send(msgLogoff)
	c.want("SUCCESS", "SUCCESS", "SUCCESS", "EOF")
}

// TestReset stops a search that blocks, and one whose rows come, before its turn comes.
func TestReset(t *testing.T) {
	f, _, address := start(t, Options{})
	c := ready(t, address, 8)
	for _, text := range []string{"block", "forever", "late"} {
		c.send(msgRun, text, none, none)
		c.send(msgPull, n(-1))
		c.want("SUCCESS")
		if text != "block" {
			c.want("RECORD")
		}
		c.send(msgRun, "rows 1", none, none)
		begin := time.Now()
		c.send(msgReset)
		rows := 0
		for {
			name, _ := c.receive()
			if name == "RECORD" {
				rows++
				continue
			}
			if name != "IGNORED" {
				t.Fatal(name)
			}
			break
		}
		c.want("IGNORED", "SUCCESS")
		t.Logf("%s: RESET was answered after %v, and %d rows", text, time.Since(begin), rows)
	}
	if f.begun.Load() != 3 || f.closed.Load() != 3 {
		t.Errorf("%d begun, %d closed", f.begun.Load(), f.closed.Load())
	}
	// Two resets, of which the first is not the last.
	c.send(msgRun, "block", none, none)
	c.want("SUCCESS")
	c.send(msgPull, n(-1))
	var e packstream.Encoder
	e.Struct(msgReset, 0)
	two := appendChunks(appendChunks(nil, e.Bytes), e.Bytes)
	c.bytes(two...)
	c.want("IGNORED")
	if name, _ := c.receive(); name == "IGNORED" {
		c.want("SUCCESS")
	} else { // the first was answered before the second came
		c.want("SUCCESS")
	}
	c.send(msgRun, "rows 1", none, none)
	c.send(msgPull, n(-1))
	c.want("SUCCESS", "RECORD", "SUCCESS")
}

// TestVanish: a client that goes, by GOODBYE or without a word, ends its search.
func TestVanish(t *testing.T) {
	f, s, address := start(t, Options{})
	for _, goes := range []func(c *client){func(c *client) { c.Close() }, func(c *client) { c.send(msgGoodbye) }} {
		before := f.closed.Load()
		c := ready(t, address, 8)
		c.send(msgRun, "block", none, none)
		c.send(msgPull, n(-1))
		c.want("SUCCESS")
		begin := time.Now()
		goes(c)
		for f.closed.Load() == before || s.Connections() > 0 {
			time.Sleep(time.Millisecond)
		}
		t.Logf("the search ended after %v", time.Since(begin))
	}
}

// TestVanishAhead: a client that has sent more than the server reads ahead, and then goes or resets, does not leave its search running.
func TestVanishAhead(t *testing.T) {
	for name, o := range map[string]Options{"messages": {AheadTimeout: 50 * time.Millisecond}, "bytes": {AheadTimeout: 50 * time.Millisecond, MaxMessage: 1 << 16}} {
		f, s, address := start(t, o)
		for _, reset := range []bool{false, true} {
			before := f.closed.Load()
			c := ready(t, address, 8)
			c.send(msgRun, "block", none, none)
			c.send(msgPull, n(-1))
			c.want("SUCCESS")
			var e packstream.Encoder
			text, count := "rows 1", mostAhead+2
			if name == "bytes" {
				text, count = strings.Repeat(" ", 1<<15), 4
			}
			e.Value(packstream.Structure{Tag: msgRun, Fields: []any{text, none, none}})
			many := bytes.Repeat(appendChunks(nil, e.Bytes), count)
			c.bytes(append(many, "\x00\x02\xB0\x0F\x00\x00"...)...) // RESET at the end
			if !reset {
				c.Close()
			} else if got, x := c.receive(); got == "FAILURE" { // it is lost where the system drops what comes before unread bytes
				if f := x.(map[string]any); f["message"] != errAhead.Error() {
					t.Error(f)
				}
			} else if got != "EOF" {
				t.Errorf("%s: %s", name, got)
			}
			for begin := time.Now(); f.closed.Load() == before || s.Connections() > 0; time.Sleep(time.Millisecond) {
				if time.Since(begin) > 10*time.Second {
					t.Fatalf("%s: the search goes on", name)
				}
			}
		}
	}
}

// deaf is a connection whose writes fail, and whose reads block.
type deaf struct{ net.Conn }

func (deaf) Write([]byte) (int, error) { return 0, errors.New("the network is gone") }

// TestWriteFails: an empty message that cannot be sent ends the search.
func TestWriteFails(t *testing.T) {
	s := New(&fake{}, Options{KeepAlive: time.Millisecond})
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	c := newConn(s, deaf{a}, 1)
	c.out.alive()
	if !errors.Is(context.Cause(c.base), errGone) {
		t.Error(context.Cause(c.base))
	}
}

// TestSlowReader: a client that reads nothing stops the search, and holds no memory but its buffer. After the write timeout it is disconnected.
func TestSlowReader(t *testing.T) {
	f, s, address := start(t, Options{WriteTimeout: 500 * time.Millisecond})
	c := ready(t, address, 8)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c.send(msgRun, "forever", none, none)
	c.send(msgPull, n(-1))
	last := int64(-1)
	for now := f.rows.Load(); now != last || now == 0; now = f.rows.Load() { // until the server asks for none
		last = now
		time.Sleep(100 * time.Millisecond)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes after %d rows", grown, last)
	}
	for s.Connections() > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if f.rows.Load() != last {
		t.Error("rows were asked for while the client did not read")
	}
}

// TestBackPressure: without PULL no row is computed, and PULL n computes n.
func TestBackPressure(t *testing.T) {
	f, _, address := start(t, Options{})
	c := ready(t, address, 8)
	c.send(msgRun, "forever", none, none)
	c.want("SUCCESS")
	if f.rows.Load() != 0 {
		t.Error("rows before PULL")
	}
	c.send(msgPull, n(3))
	c.want("RECORD", "RECORD", "RECORD", "SUCCESS")
	if f.rows.Load() != 3 {
		t.Errorf("%d rows", f.rows.Load())
	}
	c.send(msgDiscard, n(-1))
	c.want("SUCCESS")
	if f.closed.Load() != 1 {
		t.Error("DISCARD did not end the search")
	}
}

// TestIdle: a result whose client asks for no rows ends, and the client learns why when it asks.
func TestIdle(t *testing.T) {
	f, _, address := start(t, Options{IdleTimeout: 20 * time.Millisecond})
	c := ready(t, address, 8)
	c.send(msgRun, "late", none, none)
	c.send(msgPull, n(1))
	c.want("SUCCESS", "RECORD", "SUCCESS")
	for f.closed.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	c.send(msgPull, n(1))
	if f := c.want("FAILURE").(map[string]any); f["neo4j_code"] != CodeTerminated || f["message"] != "the client has asked for no rows for 20ms" {
		t.Error(f)
	}
	c.send(msgReset)
	c.want("SUCCESS")
}

// TestIdleTransaction: each open result of a transaction is watched, and a result that keeps its turn ends after the patience with writes.
func TestIdleTransaction(t *testing.T) {
	f, _, address := start(t, Options{IdleTimeout: time.Hour})
	c := ready(t, address, 8)
	c.send(msgBegin, none)
	c.want("SUCCESS")
	const results = 8
	for i := range int64(results) {
		c.send(msgRun, fmt.Sprintf("cut %d", i), none, none)
		c.send(msgPull, n(1))
		c.want("SUCCESS", "RECORD", "SUCCESS")
	}
	for i := range int64(results) {
		end, _ := f.cuts.Load(fmt.Sprintf("cut %d", i))
		end.(context.CancelFunc)()
		for begin := time.Now(); f.closed.Load() < i+1; time.Sleep(time.Millisecond) {
			if time.Since(begin) > 10*time.Second {
				t.Fatalf("result %d has not ended", i)
			}
		}
	}
	f, _, address = start(t, Options{IdleTimeout: time.Hour, WriteTimeout: 50 * time.Millisecond})
	c = ready(t, address, 8)
	c.send(msgBegin, none)
	c.send(msgRun, "late", none, none)
	c.send(msgPull, n(1))
	c.send(msgRun, "late", none, none) // keeps nobody waiting
	c.want("SUCCESS", "SUCCESS", "RECORD", "SUCCESS", "SUCCESS")
	for begin := time.Now(); f.closed.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("the result has not ended")
		}
	}
	time.Sleep(60 * time.Millisecond)
	if f.closed.Load() != 1 {
		t.Error("a result ended that had not begun")
	}
	c.send(msgPull, map[string]any{"n": int64(1), "qid": int64(0)})
	if f := c.want("FAILURE").(map[string]any); f["message"] != "the client has asked for no rows for 50ms" {
		t.Error(f)
	}
}

// TestRows: long rows are cut into chunks, a row that panics fails its query, and a row does not wait for the next.
func TestRows(t *testing.T) {
	_, _, address := start(t, Options{KeepAlive: 10 * time.Millisecond})
	c := ready(t, address, 8)
	c.send(msgRun, "large", none, none)
	c.send(msgPull, n(2))
	c.want("SUCCESS")
	if x := c.want("RECORD").([]any)[0]; x != strings.Repeat("x", 200_000) {
		t.Error("another row")
	}
	c.want("RECORD", "SUCCESS")
	c.send(msgReset)
	c.want("SUCCESS")
	c.send(msgRun, "panic", none, none)
	c.send(msgPull, n(-1))
	c.want("SUCCESS")
	if f := c.want("FAILURE").(map[string]any); f["neo4j_code"] != CodeExecution || strings.Contains(fmt.Sprint(f), "oh") {
		t.Error(f)
	}
	c.send(msgReset)
	c.send(msgRun, "unknown", none, none)
	c.want("SUCCESS")
	if f := c.want("FAILURE").(map[string]any); f["neo4j_code"] != CodeUnknown || strings.Contains(fmt.Sprint(f), "secret") {
		t.Error(f)
	}
	c.send(msgReset)
	c.want("SUCCESS")
	c.send(msgRun, "late", none, none)
	c.send(msgPull, n(-1))
	c.want("SUCCESS", "RECORD") // while the search goes on
	// Empty chunks come while the client waits.
	var head [2]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil || binary.BigEndian.Uint16(head[:]) != 0 {
		t.Error(head, err)
	}
}

// TestShutdown lets open results end, closes the rest, and ends all when its context does.
func TestShutdown(t *testing.T) {
	_, s, address := start(t, Options{})
	idle, open, stuck := ready(t, address, 8), ready(t, address, 8), ready(t, address, 8)
	open.send(msgRun, "rows 2", none, none)
	open.want("SUCCESS")
	stuck.send(msgRun, "block", none, none)
	stuck.send(msgPull, n(-1))
	stuck.want("SUCCESS")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Shutdown(ctx); close(done) }()
	idle.want("EOF")
	open.send(msgPull, n(-1))
	open.want("RECORD", "RECORD", "SUCCESS", "EOF")
	cancel()
	if f := stuck.want("FAILURE").(map[string]any); f["neo4j_code"] != CodeUnavailable {
		t.Error(f)
	}
	stuck.want("EOF")
	<-done
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("a connection was taken")
	}
}

// FuzzFrames reads any bytes as chunks: they make the messages that the chunks hold, and no memory that they do not justify.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x02\xB0\x0F\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x01a\x00\x02bc\x00\x00\x00\x01d\x00\x00"))
	f.Add([]byte("\xFF\xFFx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		var all, again []byte
		for {
			m, err := readMessage(r, func() int { return 1000 }, nil)
			if err != nil {
				break
			}
			if len(m) == 0 || len(m) > 1000 || cap(m) > len(data)+8192 {
				t.Fatalf("a message of %d bytes, in %d", len(m), cap(m))
			}
			all = append(all, m...)
			again = appendChunks(again, m)
		}
		var back []byte
		for r := bufio.NewReader(bytes.NewReader(again)); ; {
			m, err := readMessage(r, func() int { return 1000 }, nil)
			if err != nil {
				break
			}
			back = append(back, m...)
		}
		if !bytes.Equal(all, back) {
			t.Fatalf("% X became % X", all, back)
		}
	})
}

// FuzzStatement reads any text as a statement: it gives rows or an error with a code.
func FuzzStatement(f *testing.F) {
	for _, s := range []string{"RETURN 1 AS x", "CALL db.labels() YIELD label AS l WHERE l <> 'Q' RETURN collect(l)[..10] AS a ORDER BY a SKIP 0 LIMIT 1", "SHOW DATABASES YIELD *",
		"MATCH () RETURN {name: 'n', data: count(*)} AS r UNION ALL MATCH ()-->() RETURN {name: 'e', data: count(*)} AS r", "UNWIND [1, 2.5, null, $p] AS x RETURN DISTINCT x.y, size('a')"} {
		f.Add(s)
	}
	s := New(&fake{}, Options{})
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) { // a message with such a text is refused
			return
		}
		r, ok, err := s.procedure(t.Context(), fakeUser{&fake{statement: 5 * time.Second}}, Query{Graph: "one", Text: text, Params: map[string]any{"p": int64(1)}})
		var known *Error
		if err != nil && (!ok || !errors.As(err, &known)) {
			t.Fatal(ok, err)
		}
		if r == nil {
			return
		}
		defer r.Close()
		for {
			more, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			var e packstream.Encoder
			e.List(len(r.Columns()))
			r.Encode(&e)
			d := packstream.NewDecoder(e.Bytes, packstream.Limits{Depth: 1000})
			if _, err := d.Value(); err != nil || d.End() != nil {
				t.Fatal(err, d.End())
			}
		}
	})
}

// TestRemoved: a user who may ask no more gets an error for the next message, whatever it is, and the connection is closed.
func TestRemoved(t *testing.T) {
	f, s, address := start(t, Options{})
	rows, begun, idle := ready(t, address, 8), ready(t, address, 8), ready(t, address, 8)
	rows.send(msgRun, "rows 10", none, none)
	rows.send(msgPull, n(1))
	rows.want("SUCCESS", "RECORD", "SUCCESS")
	begun.send(msgBegin, none)
	begun.want("SUCCESS")
	f.removed.Store(true)
	rows.send(msgPull, n(1))
	begun.send(msgRun, "rows 10", none, none)
	idle.send(msgBegin, none)
	for _, c := range []*client{rows, begun, idle} {
		if m := c.want("FAILURE"); !strings.Contains(fmt.Sprint(m), CodeUnauthorized) {
			t.Error(m)
		}
		c.want("EOF")
	}
	for s.Connections() > 0 {
		time.Sleep(time.Millisecond)
	}
}
