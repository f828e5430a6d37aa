package serve

import (
	"errors"
	"net"
	"net/netip"
	"sync"
)

// Connections bound the number of connections that several listeners have open together. A client's address has at most half of them, so that one
// client does not keep others out. A network of IPv6 is one address, and so are all programs of this machine at the loopback address. Safe for
// concurrent use.
//
// A connection beyond an address's half waits until another one of the address closes. If too many of the address wait, it is closed. A connection
// beyond the number of all waits for any other, and later ones wait in the system.
type Connections struct {
	each, wait int           // of an address: open connections, and those that wait
	places     chan struct{} // has an element for each open connection

	mu      sync.Mutex
	open    map[string]int
	waiting map[string][]*place // the oldest first
	waits   int                 // connections in waiting
}

// mostWaits is the number of connections of all addresses that wait for others of their address.
const mostWaits = 1024

// NewConnections makes a bound.
func NewConnections(most int) *Connections {
	return &Connections{each: max(1, most/2), wait: 64, places: make(chan struct{}, most), open: map[string]int{}, waiting: map[string][]*place{}}
}

// Counts are the numbers of open connections, and of those that wait for others of their address.
func (c *Connections) Counts() (open, waiting int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.places), c.waits
}

// Listener is l within the bound. Write deadlines of its connections are times without progress: a write fails when the client has taken nothing
// for the time from the call that has set its deadline to the deadline.
func (c *Connections) Listener(l net.Listener) net.Listener {
	return &bounded{Listener: l, of: c, ready: make(chan accepted), closed: make(chan struct{})}
}

// bounded is a listener within a bound.
type bounded struct {
	net.Listener
	of     *Connections
	ready  chan accepted
	begin  sync.Once
	once   sync.Once
	closed chan struct{}
}

// accepted is what Accept returns.
type accepted struct {
	net.Conn
	err error
}

// Accept returns the next connection that has a place.
func (b *bounded) Accept() (net.Conn, error) {
	b.begin.Do(func() { go b.accept() })
	select {
	case a := <-b.ready:
		return a.Conn, a.err
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

// accept takes connections of the system until the listener is closed.
func (b *bounded) accept() {
	for {
		n, err := b.Listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				b.end()
				return
			}
			if !b.hand(accepted{err: err}) {
				return
			}
			continue
		}
		p := &place{patient: newPatient(n), l: b, client: clientOf(n.RemoteAddr())}
		switch open, waits := b.of.take(p); {
		case open:
			select {
			case b.of.places <- struct{}{}:
				b.hand(accepted{Conn: p})
			case <-b.closed:
				p.closeWithout()
			}
		case !waits:
			_ = n.Close()
		}
	}
}

// hand gives a connection, or an error, to Accept. A connection that nobody takes is closed.
func (b *bounded) hand(a accepted) bool {
	select {
	case b.ready <- a:
		return true
	case <-b.closed:
		if a.Conn != nil {
			_ = a.Close()
		}
		return false
	}
}

// Close ends Accept, and closes connections that it has not returned.
func (b *bounded) Close() error {
	b.end()
	return b.Listener.Close()
}

func (b *bounded) end() {
	b.once.Do(func() {
		close(b.closed)
		b.of.forget(b)
	})
}

// take counts a connection of an address. It may be opened, or it waits, or neither.
func (c *Connections) take(p *place) (open, waits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[p.client] < c.each {
		c.open[p.client]++
		return true, false
	}
	if len(c.waiting[p.client]) >= c.wait || c.waits >= mostWaits || p.l.ended() {
		return false, false
	}
	c.waiting[p.client] = append(c.waiting[p.client], p)
	c.waits++
	return false, true
}

// leave gives the place of a connection to one of its address that waits, or to any other. held says that it has one of places.
func (c *Connections) leave(p *place, held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if next := c.waiting[p.client]; held && len(next) > 0 {
		if len(next) == 1 {
			delete(c.waiting, p.client)
		} else {
			c.waiting[p.client] = next[1:]
		}
		c.waits--
		go next[0].l.hand(accepted{Conn: next[0]})
		return
	}
	if c.open[p.client]--; c.open[p.client] <= 0 {
		delete(c.open, p.client)
	}
	if held {
		<-c.places
	}
}

// forget closes the connections of a listener that wait.
func (c *Connections) forget(l *bounded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for client, all := range c.waiting {
		var left []*place
		for _, p := range all {
			if p.l == l {
				_ = p.Conn.Close()
				c.waits--
			} else {
				left = append(left, p)
			}
		}
		if c.waiting[client] = left; left == nil {
			delete(c.waiting, client)
		}
	}
}

func (b *bounded) ended() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

// place is a connection that gives its place to another when it closes.
type place struct {
	*patient
	l      *bounded
	client string
	once   sync.Once
}

// NetConn returns the connection of the system.
func (p *place) NetConn() net.Conn { return p.Conn }

// Close closes the connection.
func (p *place) Close() error {
	err := p.Conn.Close()
	p.once.Do(func() { p.l.of.leave(p, true) })
	return err
}

// closeWithout closes a connection that got no place.
func (p *place) closeWithout() {
	_ = p.Conn.Close()
	p.once.Do(func() { p.l.of.leave(p, false) })
}

// clientOf is the address of a client, without its port.
func clientOf(a net.Addr) string {
	text := ""
	if a != nil {
		text = a.String()
	}
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		host = text
	}
	return network(host)
}

// network is an address, or the network of IPv6 of one, because a client has all of its addresses.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap().WithZone(""); ip.IsLoopback() {
		return "loopback"
	}
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}
