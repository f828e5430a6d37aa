package kafka

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/broker/secure"
)

// Scheme is that of addresses.
const Scheme = "kafka"

// defaultPort is that of a broker without a port.
const defaultPort = "9092"

// address is a partition of a topic: kafka://HOST:PORT,HOST:PORT/TOPIC?partition=N.
type address struct {
	brokers   []string // host:port
	topic     string
	partition int32 // -1: the only one that the topic has
	// begin is the offset of the first record of a source. -1 means the first that the topic has.
	begin int64
	// now says that a source ends where the topic ends when it is opened. Otherwise it waits for more.
	now bool
	tls secure.TLS
	// sasl is the way to log in: "", plain, scram-sha-256 or scram-sha-512.
	sasl string
}

// The ways to log in.
const (
	plainLogin    = "plain"
	scram256Login = "scram-sha-256"
	scram512Login = "scram-sha-512"
)

// Form is the form of addresses.
const Form = "kafka://HOST:PORT/TOPIC"

// parse reads the address of a source or of a sink. The error is about a part of it.
func parse(u *url.URL, source bool) (*address, error) {
	if u.User != nil {
		return nil, fmt.Errorf("a name and a password do not belong into an address: set %s and %s", userVariable, passwordVariable)
	}
	topic := strings.TrimPrefix(u.Path, "/")
	a := &address{topic: topic, partition: -1, begin: -1}
	for host := range strings.SplitSeq(u.Host, ",") {
		name, port, err := net.SplitHostPort(host)
		if err != nil {
			name, port, err = net.SplitHostPort(host + ":" + defaultPort)
		}
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || name == "" {
			return nil, fmt.Errorf("%q is not a broker", host)
		}
		a.brokers = append(a.brokers, net.JoinHostPort(name, port))
	}
	if strings.ContainsFunc(topic, outsideNames) || topic == "" || topic == "." || topic == ".." || len(topic) > 249 {
		return nil, fmt.Errorf("%q is not a topic: a name has letters, digits, points, hyphens and underscores", topic)
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, err
	}
	for name, all := range values {
		if len(all) > 1 {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		if err := a.set(name, all[0], source); err != nil {
			return nil, fmt.Errorf("%s=%s: %v", name, all[0], err)
		}
	}
	return a, a.tls.Check()
}

// outsideNames reports whether a topic's name cannot have a letter.
func outsideNames(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		return false
	}
	return true
}

// set sets a parameter.
func (a *address) set(name, value string, source bool) error {
	if own, err := a.tls.Set(name, value); own {
		return err
	}
	known := append([]string{"partition", "sasl"}, secure.Parameters()...)
	if source {
		known = append(known, "offset", "end")
	}
	if !slices.Contains(known, name) {
		return fmt.Errorf("it is not a parameter; parameters are %s", strings.Join(known, ", "))
	}
	switch name {
	case "partition":
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return fmt.Errorf("want a number from 0")
		}
		a.partition = int32(n)
	case "offset":
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil {
			return fmt.Errorf("want a number from 0")
		}
		a.begin = int64(n)
	case "end":
		if value != "now" {
			return fmt.Errorf("want now")
		}
		a.now = true
	case "sasl":
		if a.sasl = value; !slices.Contains([]string{plainLogin, scram256Login, scram512Login}, value) {
			return fmt.Errorf("want %s, %s or %s", plainLogin, scram256Login, scram512Login)
		}
	}
	return nil
}

// String returns the brokers and the topic.
func (a *address) String() string {
	return Scheme + "://" + strings.Join(a.brokers, ",") + "/" + a.topic
}
