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

// find returns the row of an address.
func find(name string) (scheme, *url.URL, error) {
	u, err := url.Parse(name)
	if err != nil {
		var part *url.Error
		if errors.As(err, &part) {
			err = part.Err // without the address, which may have a password
		}
		return scheme{}, nil, fmt.Errorf("an address: %w", err)
	}
	all := schemes()
	if i := slices.IndexFunc(all, func(s scheme) bool { return s.name == u.Scheme }); i >= 0 {
		return all[i], u, nil
	}
	var forms []string
	for _, s := range all {
		forms = append(forms, s.form)
	}
	return scheme{}, nil, fmt.Errorf("%s: no broker has addresses of %s://; want a file or %s", name, u.Scheme, strings.Join(forms, " or "))
}

// Log returns the log of an address, which connects when it begins. The error is about the address.
func Log(ctx context.Context, name string, note func(string)) (stream.Log, error) {
	s, u, err := find(name)
	if err != nil {
		return nil, err
	}
	l, err := s.log(ctx, u, note)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; want %s", u.Redacted(), err, s.form)
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
		return nil, fmt.Errorf("%s: %w; want %s", u.Redacted(), err, s.form)
	}
	return p, nil
}

// Name returns an address without its password and without where a source ends, for messages and checkpoints.
func Name(name string) string {
	u, err := url.Parse(name)
	if err != nil || !Is(name) {
		return name
	}
	if q := u.Query(); q.Has("end") {
		q.Del("end")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}
