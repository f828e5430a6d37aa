package broker

import (
	"context"
	"strings"
	"testing"
)

// TestName: the name of an address has nothing of the login, and is the same whatever leads to the broker.
func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"updates.ndjson":                     "updates.ndjson",
		"nats://one:1/s":                     "nats://one:1/s",
		"nats://secret@one:1/s":              "nats://one:1/s",
		"nats://ann:secret@one:1,two/s":      "nats://one:1,two/s",
		"nats://[::1]:1,[::2]:2/s?creds=f":   "nats://[::1]:1,[::2]:2/s",
		"nats://one/s?tls=1&ca=a&cert=b":     "nats://one/s",
		"kafka://a:1,b/t?partition=2&sasl=x": "kafka://a:1,b/t?partition=2",
		"kafka://a/t?offset=7&end=now&key=k": "kafka://a/t?offset=7",
		"nats://a:secret@one,b:secret@two/s": "nats://",
		"nats://secret@one:x/s":              "nats://",
		"nats://":                            "nats://",
		"kafka://?partition=2":               "kafka://?partition=2",
		"kafka:///t":                         "kafka:///t",
	} {
		if got := Name(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestHosts: addresses have several hosts, with and without ports, and a login once.
func TestHosts(t *testing.T) {
	for text, says := range map[string]string{
		"nats://one:1,two/s":                     "",
		"nats://secret@one,two:2,[::1]:3/s":      "",
		"nats://[::1]:1,[::2]:2/s":               "",
		"kafka://[::1]:1,b:2,c/t":                "",
		"nats://one:x,two/s":                     `"one:x" is not a host`,
		"nats://one,[::1/s":                      `"[::1" is not a host`,
		"nats://a:secret@one:1,b:secret@two:2/s": "the login stands once",
		"nats:///s":                              "no host",
		"nats://one,,two/s":                      "is not a server",
		"nats://secret@one":                      "does not end with",
		"amqp://secret@one/s":                    "no broker has addresses of amqp",
	} {
		_, err := Log(context.Background(), text, func(string) {})
		if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
