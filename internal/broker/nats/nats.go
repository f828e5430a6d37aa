// Package nats reads updates from streams of NATS JetStream, and publishes changes to them, each once.
//
// The package knows messages and their numbers. It must not know the updates and changes in them. Nothing is made before it is used.
package nats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftgraph/weft/internal/broker/secure"
	"github.com/weftgraph/weft/internal/vfs"
)

// Form is the form of addresses.
const Form = "nats://HOST:PORT/STREAM-or-subject"

// address is a parsed address.
type address struct {
	servers string // for the client
	name    string // of errors, without a login
	path    string // the stream or the subject
	user    *url.Userinfo
	tls     secure.TLS
	creds   string // a file with a user's JWT and seed; ""
}

func parse(u *url.URL) (a address, err error) {
	a.path = strings.TrimPrefix(u.Path, "/")
	a.name = u.Scheme + "://" + u.Host + "/" + a.path
	a.user = u.User
	switch {
	case u.Host == "":
		return a, errors.New("the address has no host")
	case a.path == "" || strings.ContainsAny(a.path, "/ \t\r\n"):
		return a, errors.New("the address does not end with a stream or a subject")
	case u.Fragment != "":
		return a, errors.New("the address has more than a stream or a subject")
	}
	var servers []string
	for host := range strings.SplitSeq(u.Host, ",") {
		if host == "" || host[0] == ':' {
			return a, fmt.Errorf("%q is not a server", host)
		}
		servers = append(servers, "nats://"+host)
	}
	a.servers = strings.Join(servers, ",")
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return a, err
	}
	for name, all := range values {
		if len(all) > 1 {
			return a, fmt.Errorf("%s is given twice", name)
		}
		if err := a.set(name, all[0]); err != nil {
			return a, fmt.Errorf("%s=%s: %w", name, all[0], err)
		}
	}
	if a.creds != "" && a.user != nil {
		return a, errors.New("the address has two logins: a user, and creds")
	}
	return a, a.tls.Check()
}

// set sets a parameter.
func (a *address) set(name, value string) error {
	if own, err := a.tls.Set(name, value); own {
		return err
	}
	if name != "creds" {
		return fmt.Errorf("it is not a parameter; parameters are creds, %s", strings.Join(secure.Parameters(), ", "))
	}
	if a.creds = value; value == "" {
		return errors.New("want a file")
	}
	return nil
}

// Times of clients.
const (
	requestTime  = 5 * time.Second  // of a request to the broker
	retryTime    = 2 * time.Second  // the longest wait before a request is made again
	ackTime      = 20 * time.Second // of a message
	parting      = 3 * time.Second  // of messages under way, after the end of a context
	reconnecting = 250 * time.Millisecond
	lookTime     = 2 * time.Second // between looks at a stream that is read
)

// connect connects to the broker. note is told when the connection ends and begins anew, and back is called then. Files are those of ctx.
func connect(ctx context.Context, a address, note func(string), back func(), more ...nats.Option) (*nats.Conn, jetstream.JetStream, error) {
	options := append([]nats.Option{
		nats.Name("weft"), nats.MaxReconnects(-1), nats.ReconnectWait(reconnecting), nats.ReconnectBufSize(-1), nats.Timeout(requestTime),
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				note(fmt.Sprintf("%s: the broker is lost: %v; waiting for it", a.name, err))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			note(a.name + ": the broker is there again")
			if back != nil {
				back()
			}
		}),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // calls have errors of their own
	}, more...)
	login, err := a.login(vfs.From(ctx))
	if err != nil {
		return nil, nil, err
	}
	options = append(options, login...)
	nc, err := nats.Connect(a.servers, options...)
	// A server whose machine is busy closes a connection that is not ready in time.
	for wait := reconnecting; errors.Is(err, io.EOF) && wait < retryTime; wait *= 2 {
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-time.After(wait):
		}
		nc, err = nats.Connect(a.servers, options...)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("who listens there closed the connection: is it a server of NATS?")
	}
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(requestTime))
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return nc, js, nil
}

// find returns the stream with a name, or the one that takes a subject, which is the filter then.
func find(ctx context.Context, js jetstream.JetStream, path string) (s jetstream.Stream, filter string, err error) {
	if !strings.ContainsAny(path, ".*>") {
		s, err = js.Stream(ctx, path)
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			return s, "", err
		}
	}
	name, err := js.StreamNameBySubject(ctx, path)
	if err != nil {
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			err = fmt.Errorf("no stream is called %s, and none takes the subject %s", path, path)
		}
		return nil, "", err
	}
	s, err = js.Stream(ctx, name)
	return s, path, err
}

// pause waits before an attempt.
func pause(ctx context.Context, attempt int) error {
	d := min(retryTime, 50*time.Millisecond<<min(attempt, 10))
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
