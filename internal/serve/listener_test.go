package serve

import (
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

// pipes is a listener whose clients have any addresses.
type pipes struct {
	next   chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.next:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return addr("server") }

type addr string

func (a addr) Network() string { return "pipe" }
func (a addr) String() string  { return string(a) }

type from struct {
	net.Conn
	addr
}

func (f from) RemoteAddr() net.Addr { return f.addr }

// dial connects from an address, and returns the client's end.
func (p *pipes) dial(t *testing.T, address string) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	select {
	case p.next <- from{server, addr(address)}:
	case <-time.After(5 * time.Second):
		t.Fatal("the listener takes no connection")
	}
	return client
}

// accepting returns the connections that a listener accepts.
func accepting(l net.Listener) (<-chan net.Conn, <-chan error) {
	out, ended := make(chan net.Conn, 100), make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			out <- c
		}
	}()
	return out, ended
}

func next(t *testing.T, l <-chan net.Conn, want string) net.Conn {
	t.Helper()
	select {
	case c := <-l:
		if c.RemoteAddr().String() != want {
			t.Fatalf("a connection of %s, want one of %s", c.RemoteAddr(), want)
		}
		return c
	case <-time.After(5 * time.Second):
		t.Fatalf("no connection of %s", want)
		return nil
	}
}

func nothing(t *testing.T, l <-chan net.Conn) {
	t.Helper()
	select {
	case c := <-l:
		t.Fatalf("a connection of %s is open", c.RemoteAddr())
	case <-time.After(30 * time.Millisecond):
	}
}

// TestConnections: an address has at most half of the connections, of two listeners together, and all have at most all.
func TestConnections(t *testing.T) {
	c := NewConnections(4)
	web, bolt := newPipes(), newPipes()
	l, m := c.Listener(web), c.Listener(bolt)
	webs, ended := accepting(l)
	bolts, _ := accepting(m)
	defer m.Close()
	web.dial(t, "1.1.1.1:1")
	first := next(t, webs, "1.1.1.1:1")
	bolt.dial(t, "1.1.1.1:2")
	second := next(t, bolts, "1.1.1.1:2")
	web.dial(t, "1.1.1.1:3") // beyond the half
	for _, waiting := c.Counts(); waiting != 1; _, waiting = c.Counts() {
		time.Sleep(time.Millisecond)
	}
	bolt.dial(t, "1.1.1.1:4")
	nothing(t, webs)
	nothing(t, bolts)
	if open, waiting := c.Counts(); open != 2 || waiting != 2 {
		t.Errorf("%d open, %d wait", open, waiting)
	}
	web.dial(t, "2.2.2.2:1") // another client is not kept out
	other := next(t, webs, "2.2.2.2:1")
	first.Close()
	first.Close() // gives one place, and not two
	third := next(t, webs, "1.1.1.1:3")
	nothing(t, bolts)
	second.Close()
	fourth := next(t, bolts, "1.1.1.1:4")
	web.dial(t, "3.3.3.3:1")
	last := next(t, webs, "3.3.3.3:1")
	web.dial(t, "4.4.4.4:1") // beyond all
	nothing(t, webs)
	other.Close()
	next(t, webs, "4.4.4.4:1").Close()
	for _, x := range []net.Conn{third, fourth, last} {
		x.Close()
	}
	if open, waiting := c.Counts(); open != 0 || waiting != 0 || len(c.open) != 0 || len(c.waiting) != 0 {
		t.Errorf("%d open, %d wait, %v, %v", open, waiting, c.open, c.waiting)
	}
	l.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// TestConnectionsWait: few connections of an address wait, and those that wait are closed with their listener.
func TestConnectionsWait(t *testing.T) {
	c := NewConnections(2)
	c.wait = 3
	web := newPipes()
	l := c.Listener(web)
	webs, ended := accepting(l)
	open := web.dial(t, "[2001:db8::1]:1")
	held := next(t, webs, "[2001:db8::1]:1")
	var clients []net.Conn
	for _, a := range []string{"[2001:db8::2]:1", "[2001:db8::3]:1", "[2001:db8::2]:2"} { // of the same network
		clients = append(clients, web.dial(t, a))
	}
	beyond := web.dial(t, "[2001:db8::2]:3")
	_ = beyond.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := beyond.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a connection beyond those that wait: %v", err)
	}
	l.Close()
	<-ended
	for _, x := range clients {
		_ = x.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := x.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection that waited: %v", err)
		}
	}
	go func() { _, _ = held.Write([]byte("x")) }()
	if _, err := open.Read(make([]byte, 1)); err != nil {
		t.Errorf("an open connection: %v", err)
	}
	held.Close()
	if n, waiting := c.Counts(); n != 0 || waiting != 0 {
		t.Errorf("%d open, %d wait", n, waiting)
	}
}

// TestConnectionsOfSystem: real connections have what package net gives them, and errors of the system reach the caller.
func TestConnectionsOfSystem(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewConnections(2).Listener(inner)
	webs, ended := accepting(l)
	for range 2 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	first := <-webs
	if _, ok := first.(interface{ NetConn() net.Conn }).NetConn().(*net.TCPConn); !ok {
		t.Errorf("%T", first)
	}
	nothing(t, webs)
	first.Close()
	(<-webs).Close()
	inner.Close() // by others
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestNetwork(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"1.2.3.4", "1.2.3.4"}, {"::ffff:1.2.3.4", "1.2.3.4"}, {"127.0.0.1", "loopback"}, {"127.9.9.9", "loopback"}, {"::1", "loopback"},
		{"2001:db8::1", "2001:db8::/64"}, {"fe80::1%eth0", "fe80::/64"}, {"pipe", "pipe"}, {"", ""},
	} {
		if got := network(test.address); got != test.want {
			t.Errorf("%q: %q, want %q", test.address, got, test.want)
		}
	}
	var all []string
	for _, k := range keysOf("2001:db8::5", "ana") {
		all = append(all, k.address+" "+k.account)
	}
	if want := []string{"2001:db8::/64 ana", "2001:db8::/64 ", " ana"}; !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
}
