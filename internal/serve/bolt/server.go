package bolt

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how a Server works. A value of 0 means the default.
type Options struct {
	TLS       *tls.Config // nil: connections are not encrypted
	Log       *slog.Logger
	Agent     string   // the server's name, as drivers show it
	Version   string   // of the program, for dbms.components()
	Origins   []string // of pages that may connect by a WebSocket, as http://localhost:7474; others are refused
	Advertise string   // the address in routing tables; "" means the one that the client has used

	MaxConnections int           // 1000
	MaxStrangers   int           // connections of an address that have not logged in; 100
	MaxHello       int           // bytes of a message before the client has logged in; 64 KiB
	MaxMessage     int           // bytes of a message; 16 MiB
	AuthTimeout    time.Duration // from the connection to the login; 10 s
	WriteTimeout   time.Duration // until a client that takes nothing of what is written is disconnected; 5 min
	IdleTimeout    time.Duration // until a result ends whose client asks for no rows, at most WriteTimeout after the first ones; 5 min
	AheadTimeout   time.Duration // until a client is disconnected that sends more than the server reads ahead; 5 s
	KeepAlive      time.Duration // between empty messages during a long search; 30 s
}

// Server answers Bolt clients. Safe for concurrent use.
type Server struct {
	backend Backend
	o       Options

	statements chan struct{} // has an element for each statement without a pattern that runs
	held       atomic.Int64  // bytes of their open results

	mu       sync.Mutex
	conns    map[*conn]bool
	last     uint64
	listen   map[net.Listener]bool
	draining chan struct{} // closed by Shutdown
	alive    sync.WaitGroup
}

// New returns a server of a backend.
func New(b Backend, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Version = cmp.Or(o.Version, "dev")
	o.Agent = cmp.Or(o.Agent, "Neo4j/5.26.0 compatible: weft/"+o.Version)
	o.MaxConnections = cmp.Or(o.MaxConnections, 1000)
	o.MaxStrangers = cmp.Or(o.MaxStrangers, 100)
	o.MaxHello = cmp.Or(o.MaxHello, 64<<10)
	o.MaxMessage = cmp.Or(o.MaxMessage, 16<<20)
	o.AuthTimeout = cmp.Or(o.AuthTimeout, 10*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 5*time.Minute)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 5*time.Minute)
	o.AheadTimeout = cmp.Or(o.AheadTimeout, 5*time.Second)
	o.KeepAlive = cmp.Or(o.KeepAlive, 30*time.Second)
	return &Server{backend: b, o: o, statements: make(chan struct{}, runtime.GOMAXPROCS(0)), conns: map[*conn]bool{}, listen: map[net.Listener]bool{}, draining: make(chan struct{})}
}

// ErrClosed is the error of Serve after Shutdown.
var ErrClosed = errors.New("the Bolt server is closed")

// Serve takes connections until Shutdown, or an error of the listener. It blocks.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.stops() {
		s.mu.Unlock()
		l.Close()
		return ErrClosed
	}
	s.listen[l] = true
	s.mu.Unlock()
	go s.keepAlive()
	for {
		n, err := l.Accept()
		if err != nil {
			if s.stops() {
				return ErrClosed
			}
			var later interface{ Temporary() bool }
			if errors.As(err, &later) && later.Temporary() { // too many open files: connections that end make room
				s.o.Log.Warn("a connection was not taken", "error", err)
				time.Sleep(50 * time.Millisecond)
				continue
			}
			return err
		}
		s.take(n)
	}
}

// take serves a connection, if there is room for it.
func (s *Server) take(n net.Conn) {
	inner := n
	for {
		of, ok := inner.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		inner = of.NetConn()
	}
	if t, ok := inner.(*net.TCPConn); ok {
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3})
		_ = t.SetWriteBuffer(256 << 10) // a client that stops reading keeps no more rows in the system
	}
	if s.o.TLS != nil {
		n = tls.Server(n, s.o.TLS)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stops() || len(s.conns) >= s.o.MaxConnections {
		s.o.Log.Warn("a connection was refused: there are too many", "client", n.RemoteAddr().String(), "connections", len(s.conns))
		go n.Close() // TLS may write
		return
	}
	if s.strangers(host(n.RemoteAddr())) >= s.o.MaxStrangers {
		s.o.Log.Warn("a connection was refused: too many of its address have not logged in", "client", n.RemoteAddr().String())
		go n.Close()
		return
	}
	s.last++
	c := newConn(s, n, s.last)
	s.conns[c] = true
	s.alive.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		}()
		c.serve()
	})
}

// strangers is the number of connections of an address, at any port, that have not logged in. The caller holds the lock.
func (s *Server) strangers(of string) (n int) {
	for c := range s.conns {
		if !c.authed.Load() && c.host == of {
			n++
		}
	}
	return n
}

// host is an address without its port.
func host(a net.Addr) string {
	if h, _, err := net.SplitHostPort(a.String()); err == nil {
		return h
	}
	return a.String()
}

// keepAlive sends empty messages to clients that wait for an answer.
func (s *Server) keepAlive() {
	t := time.NewTicker(s.o.KeepAlive)
	defer t.Stop()
	for {
		select {
		case <-s.draining:
			return
		case <-t.C:
		}
		s.mu.Lock()
		for c := range s.conns {
			if c.busy.Load() {
				go c.out.alive()
			}
		}
		s.mu.Unlock()
	}
}

func (s *Server) stops() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

// Connections is the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Shutdown takes no more connections, and closes those without an open result or transaction. It blocks until the others have ended. When
// ctx ends, it ends their searches and closes them.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	if !s.stops() {
		close(s.draining)
	}
	for l := range s.listen {
		l.Close()
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { s.alive.Wait(); close(ended) }()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.conns {
		c.gone(errShutdown)
		c.out.hurry.Store(true) // a second for the answers that say so
		_ = c.raw.SetDeadline(time.Now().Add(hurried))
		late := time.AfterFunc(2*hurried, func() { _ = c.raw.Close() }) // of a client that reads slowly, whose deadline moves on
		defer late.Stop()
	}
	s.mu.Unlock()
	<-ended
}
