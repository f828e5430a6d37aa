package main

import (
	"context"
	"crypto/tls"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/rest"
	"github.com/weftgraph/weft/internal/vfs"
)

// access is who may ask a server, and the certificate that it shows. Both are read again while it runs.
type access struct {
	f    *serveFlags
	cert atomic.Pointer[tls.Certificate]
	mu   sync.Mutex // one reading at a time
}

// read reads both files, without using them. What has no file is nil.
func (c *access) read(ctx context.Context) (cert *tls.Certificate, users *serve.Users, err error) {
	if c.f.cert != "" {
		if cert, err = c.f.certificate(ctx); err != nil {
			return nil, nil, err
		}
	}
	if c.f.users != "" {
		if users, err = serve.ReadUsers(ctx, c.f.users); err != nil {
			return nil, nil, kindf(weft.ErrInput, "--users: %w", err)
		}
	}
	return cert, users, nil
}

// tls is the configuration of listeners; nil: what is sent is not encrypted.
func (c *access) tls() *tls.Config {
	if c.f.cert == "" {
		return nil
	}
	return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.cert.Load(), nil }, MinVersion: tls.VersionTLS12}
}

// hosts are the names of the server: those of --host and of a certificate.
func (c *access) hosts(cert *tls.Certificate) (out []string) {
	out = slices.Clone(c.f.hosts)
	if cert != nil {
		for _, name := range cert.Leaf.DNSNames {
			if !strings.HasPrefix(name, "*.") {
				out = append(out, name)
			}
		}
	}
	for i := range out {
		out[i] = strings.ToLower(out[i])
	}
	return out
}

// again reads both files again, and uses them. If one of them is wrong, both stay as they were, and the log says so.
func (c *access) again(ctx context.Context, server *serve.Server, handler *rest.Handler) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	cert, users, err := c.read(ctx)
	if err != nil {
		server.Log.Error("the users and the certificate stay as they were", "error", err)
		return err
	}
	said := []any{}
	if cert != nil {
		c.cert.Store(cert)
		handler.SetHosts(c.hosts(cert))
		said = append(said, "certificate_until", cert.Leaf.NotAfter.Format(time.DateTime))
	}
	if users != nil {
		server.SetUsers(users)
		said = append(said, "accounts", users.Len())
	}
	server.Log.Info("the users and the certificate were read again", said...)
	return nil
}

// reload returns a function that reads the files of users and of the certificate again, or nil if the server has no such files.
func (c *access) reload(server *serve.Server, handler *rest.Handler) func(context.Context) error {
	if c.f.cert == "" && c.f.users == "" {
		return nil
	}
	return func(ctx context.Context) error { return c.again(ctx, server, handler) }
}

// certificate reads the certificate, and refuses one that is not valid now.
func (f *serveFlags) certificate(ctx context.Context) (*tls.Certificate, error) {
	files := vfs.From(ctx)
	cert, err := vfs.ReadFile(files, f.cert)
	if err != nil {
		return nil, kindf(weft.ErrInput, "--tls-cert: %w", err)
	}
	key, err := vfs.ReadFile(files, f.key)
	if err != nil {
		return nil, kindf(weft.ErrInput, "--tls-key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, kindf(weft.ErrInput, "--tls-cert %s: %w", f.cert, err)
	}
	switch now := time.Now(); {
	case now.After(pair.Leaf.NotAfter):
		return nil, kindf(weft.ErrInput, "--tls-cert %s: the certificate expired on %s", f.cert, pair.Leaf.NotAfter.Format(time.DateTime))
	case now.Before(pair.Leaf.NotBefore):
		return nil, kindf(weft.ErrInput, "--tls-cert %s: the certificate is not valid before %s", f.cert, pair.Leaf.NotBefore.Format(time.DateTime))
	}
	return &pair, nil
}
