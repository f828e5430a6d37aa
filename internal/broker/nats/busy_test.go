package nats

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestClosedAtOnce: a listener that closes the first connections, as a busy server does, is asked again. One that closes all of them is not
// taken for a server of NATS.
func TestClosedAtOnce(t *testing.T) {
	b := newBroker(t)
	server := b.url("updates").Host
	for _, closes := range []int32{2, 1 << 20} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var n atomic.Int32
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				if n.Add(1) <= closes {
					c.Close()
					continue
				}
				to, err := net.DialTimeout("tcp", server, 5*time.Second)
				if err != nil {
					c.Close()
					continue
				}
				go func() { io.Copy(to, c); to.Close() }()
				go func() { io.Copy(c, to); c.Close() }()
			}
		}()
		u, err := url.Parse("nats://" + l.Addr().String() + "/updates")
		if err != nil {
			t.Fatal(err)
		}
		a, err := parse(u)
		if err != nil {
			t.Fatal(err)
		}
		nc, _, err := connect(t.Context(), a, func(string) {}, nil)
		switch {
		case closes == 2 && err != nil:
			t.Error(err)
		case closes > 2 && (err == nil || !strings.Contains(err.Error(), "is it a server of NATS?")):
			t.Errorf("error %v", err)
		}
		if nc != nil {
			nc.Close()
		}
	}
}
