package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
	"github.com/weftgraph/weft/internal/serve/boltserver"
)

// boltService answers Bolt clients of a server. Methods of nil do nothing.
type boltService struct {
	l      net.Listener
	s      *bolt.Server
	failed chan error // gets the error of the listener
}

// listenBolt takes the address for Bolt; nil: there is none.
func (a *app) listenBolt(f *serveFlags) (*boltService, error) {
	if f.bolt == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", f.bolt)
	if err != nil {
		return nil, usagef("--bolt %s: %v", f.bolt, err)
	}
	return &boltService{l: l}, nil
}

// start answers clients, and says where.
func (b *boltService) start(a *app, f *serveFlags, secure *tls.Config, server *serve.Server, connections *serve.Connections) {
	if b == nil {
		return
	}
	b.s = bolt.New(boltserver.New(server), bolt.Options{TLS: secure, Log: server.Log, Version: weft.Version(), Origins: f.boltOrigins, WriteTimeout: f.patience, IdleTimeout: 10 * f.patience, MaxConnections: mostConnections})
	scheme := "bolt"
	if secure != nil {
		scheme = "bolt+s"
	}
	fmt.Fprintf(a.stderr, "weft: answering at %s://%s\n", scheme, b.l.Addr())
	b.failed = make(chan error, 1)
	l := connections.Listener(b.l)
	go func() { b.failed <- b.s.Serve(l) }()
}

// ended gets the error of a listener that fails.
func (b *boltService) ended() <-chan error {
	if b == nil {
		return nil
	}
	return b.failed
}

// drain takes no more clients, and closes those that ask for nothing. The function that it returns closes the others, after a second for their
// last answers.
func (b *boltService) drain() (end func()) {
	if b == nil || b.s == nil {
		return b.close
	}
	hurry, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { b.s.Shutdown(hurry); close(done) }()
	return func() {
		select {
		case <-done:
		case <-time.After(time.Second):
		}
		cancel()
		<-done
	}
}

// close closes the listener of a server that has not started.
func (b *boltService) close() {
	if b != nil {
		b.l.Close()
	}
}

// boltFailed is the error of a listener, unless it was closed on purpose.
func boltFailed(err error) error {
	if errors.Is(err, bolt.ErrClosed) {
		return nil
	}
	return fmt.Errorf("answering Bolt clients: %w", err)
}
