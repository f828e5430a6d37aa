package bolt

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// masked is a frame of a client.
func masked(head byte, b []byte) []byte {
	out := []byte{head}
	switch n := len(b); {
	case n < 126:
		out = append(out, 0x80|byte(n))
	case n <= 0xFFFF:
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 0x80|127), uint64(n))
	}
	mask := [4]byte{1, 2, 3, 4}
	out = append(out, mask[:]...)
	for i, x := range b {
		out = append(out, x^mask[i&3])
	}
	return out
}

// page is a connection of a browser: what is written is in frames, and so is what is read.
type page struct {
	net.Conn
	in    *bufio.Reader
	left  int
	pongs int
}

func (p *page) Write(b []byte) (int, error) {
	_, err := p.Conn.Write(masked(0x82, b))
	return len(b), err
}

func (p *page) Read(b []byte) (int, error) {
	for p.left == 0 {
		var head [2]byte
		if _, err := io.ReadFull(p.in, head[:]); err != nil {
			return 0, err
		}
		size := int(head[1])
		if size == 126 {
			var long [2]byte
			_, _ = io.ReadFull(p.in, long[:])
			size = int(binary.BigEndian.Uint16(long[:]))
		} else if size == 127 {
			var long [8]byte
			_, _ = io.ReadFull(p.in, long[:])
			size = int(binary.BigEndian.Uint64(long[:]))
		}
		switch head[0] {
		case 0x82:
			p.left = size
		case 0x8A:
			p.pongs++
			_, _ = p.in.Discard(size)
		default:
			return 0, io.EOF
		}
	}
	n, err := p.in.Read(b[:min(len(b), p.left)])
	p.left -= n
	return n, err
}

const socketHead = "Host: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

// TestWebSocket speaks Bolt as a page does, with pings and long messages between, and as pages that may not.
func TestWebSocket(t *testing.T) {
	_, _, address := start(t, Options{Origins: []string{"http://localhost:7474"}, WriteTimeout: 200 * time.Millisecond})
	ask := func(head string) (*client, *http.Response) {
		c := dial(t, address)
		c.bytes([]byte("GET / HTTP/1.1\r\n" + head + "\r\n")...)
		r, err := http.ReadResponse(c.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c, r
	}
	for head, want := range map[string]int{
		"Host: localhost\r\n": http.StatusUpgradeRequired, socketHead: http.StatusForbidden, socketHead + "Origin: http://evil.example\r\n": http.StatusForbidden,
		strings.Replace(socketHead, "13", "8", 1) + "Origin: http://localhost:7474\r\n": http.StatusBadRequest,
	} {
		c, r := ask(head)
		if r.StatusCode != want {
			t.Errorf("%q: %d, want %d", head, r.StatusCode, want)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		c.want("EOF")
	}
	c, r := ask(socketHead + "Origin: http://localhost:7474\r\n")
	if r.StatusCode != http.StatusSwitchingProtocols || r.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Fatal(r)
	}
	p := &page{Conn: c.Conn, in: c.in}
	c.Conn, c.in = p, bufio.NewReader(p)
	c.version(0, 0, 8, 5)
	if _, err := io.ReadFull(c.in, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	c.send(msgHello, map[string]any{"user_agent": "page"})
	c.send(msgLogon, map[string]any{"scheme": "none"})
	c.want("SUCCESS", "SUCCESS")
	time.Sleep(250 * time.Millisecond) // the deadline of the last write is over
	if _, err := p.Conn.Write(masked(0x89, []byte("ping"))); err != nil {
		t.Fatal(err)
	}
	c.send(msgRun, "large", map[string]any{"x": strings.Repeat("y", 100_000)}, none)
	c.send(msgPull, n(1))
	c.want("SUCCESS", "RECORD", "SUCCESS")
	if p.pongs != 1 {
		t.Errorf("%d pongs", p.pongs)
	}
	if _, err := p.Conn.Write(masked(0x88, []byte{3, 0xE8})); err != nil {
		t.Fatal(err)
	}
	c.want("EOF")
}

// FuzzWebSocket reads any bytes as frames: they give no more bytes than they have.
func FuzzWebSocket(f *testing.F) {
	f.Add(append(masked(0x82, []byte("abc")), masked(0x89, []byte("ping"))...))
	f.Add(masked(0x02, bytes.Repeat([]byte("x"), 70000)))
	f.Add([]byte("\x82\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x00\x00\x00\x00x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, b := net.Pipe()
		defer a.Close()
		go func() { _, _ = io.Copy(io.Discard, b) }()
		got, _ := io.ReadAll(&webConn{Conn: a, in: bufio.NewReader(bytes.NewReader(data))})
		if len(got) > len(data) {
			t.Fatalf("%d bytes of %d", len(got), len(data))
		}
	})
}
