// Package broker opens sources and sinks of weft watch that are addresses of brokers.
//
// The package knows which scheme of an address is which broker. It must not know queries or graphs. A new broker is a package below and a row
// of the table here. Nothing of a broker is made before it is used.
package broker

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/broker/kafka"
	"github.com/weftgraph/weft/internal/broker/nats"
	"github.com/weftgraph/weft/internal/broker/secure"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/watch"
)

// scheme is a kind of broker.
type scheme struct {
	name string
	form string // of addresses, for errors and help
	// log and publisher make what later connects to a broker. Their errors are about the address. note gets remarks, such as that the broker
	// was lost; it may be called by any goroutine.
	log       func(ctx context.Context, u *url.URL, note func(string)) (stream.Log, error)
	publisher func(u *url.URL, note func(string)) (watch.Publisher, error)
}

// schemes returns the table of brokers.
func schemes() []scheme {
	return []scheme{
		{kafka.Scheme, kafka.Form, kafka.Log, kafka.Publisher},
		{"nats", nats.Form, nats.NewLog, nats.NewPublisher},
	}
}

// Is reports whether the name of a source or a sink is an address, and not a file.
func Is(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && scheme != "" && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

// parse reads an address, which may have several hosts with commas between them. The error does not have the login.
func parse(name string) (*url.URL, error) {
	scheme, rest, _ := strings.Cut(name, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	user, hosts, tail := "", rest[:end], rest[end:]
	if i := strings.LastIndexByte(hosts, '@'); i >= 0 {
		user, hosts = hosts[:i+1], hosts[i+1:]
	}
	if strings.Count(user, "@") > 1 {
		return nil, errors.New("an address: the login stands once, before the first of several hosts; @ in a password is %40")
	}
	first := hosts
	for i, host := range strings.Split(hosts, ",") {
		if i == 0 {
			first = host
		}
		if _, err := url.Parse(scheme + "://" + host); err != nil {
			return nil, fmt.Errorf("an address: %q is not a host: %w", host, cause(err))
		}
	}
	u, err := url.Parse(scheme + "://" + user + first + tail)
	if err != nil {
		return nil, fmt.Errorf("an address: %w", cause(err))
	}
	u.Host = hosts
	return u, nil
}

// cause is an error about an address without the address, which may have a password.
func cause(err error) error {
	var part *url.Error
	if errors.As(err, &part) {
		return part.Err
	}
	return err
}

// find returns the row of an address.
func find(name string) (scheme, *url.URL, error) {
	u, err := parse(name)
	if err != nil {
		return scheme{}, nil, err
	}
	all := schemes()
	if i := slices.IndexFunc(all, func(s scheme) bool { return s.name == u.Scheme }); i >= 0 {
		return all[i], u, nil
	}
	var forms []string
	for _, s := range all {
		forms = append(forms, s.form)
	}
	return scheme{}, nil, fmt.Errorf("%s: no broker has addresses of %s://; want a file or %s", Name(name), u.Scheme, strings.Join(forms, " or "))
}

// Log returns the log of an address, which connects when it begins. The error is about the address.
func Log(ctx context.Context, name string, note func(string)) (stream.Log, error) {
	s, u, err := find(name)
	if err != nil {
		return nil, err
	}
	l, err := s.log(ctx, u, note)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; want %s", Name(name), err, s.form)
	}
	return l, nil
}

// Publisher returns the publisher of an address, which connects when it is asked for the last message. The error is about the address.
func Publisher(name string, note func(string)) (watch.Publisher, error) {
	s, u, err := find(name)
	if err != nil {
		return nil, err
	}
	p, err := s.publisher(u, note)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; want %s", Name(name), err, s.form)
	}
	return p, nil
}

// Name returns an address for messages and checkpoints: without where a source ends, and without the login and the files that lead to the broker,
// which may change while it stays the same.
func Name(name string) string {
	if !Is(name) {
		return name
	}
	u, err := parse(name)
	if err != nil {
		scheme, _, _ := strings.Cut(name, "://")
		return scheme + "://"
	}
	u.User = nil
	q := u.Query()
	for _, way := range append([]string{"end", "creds", "sasl"}, secure.Parameters()...) {
		if q.Has(way) {
			q.Del(way)
			u.RawQuery = q.Encode()
		}
	}
	text := u.String()
	if u.Host == "" && u.Path == "" { // the slashes are left out then
		text = u.Scheme + "://" + strings.TrimPrefix(text, u.Scheme+":")
	}
	return text
}
