package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// TestPatience: a client that reads 80 KiB a second keeps its connection although it takes far longer than --patience to read what one write
// hands to it. One that stops reading loses it after --patience.
func TestPatience(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system keeps megabytes for a client before the server can write again")
	}
	graph := denseGraph(t)
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, bolt, _ := startServeBolt(t, "-g", graph, "--patience", "2s", "--threads", "1")
			c := slowClient(t, url, bolt, ask)
			running := func() bool {
				resp, err := http.Get(url + "/v1/running")
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				text, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				return strings.Contains(string(text), `"state":"running"`)
			}
			c.read(t, 5*time.Second)
			if !running() {
				t.Fatal("the search of a client that reads slowly has ended")
			}
			stopped := time.Now()
			for running() {
				if time.Since(stopped) > 20*time.Second {
					t.Fatal("the search of a client that reads no more goes on")
				}
				time.Sleep(20 * time.Millisecond)
			}
			if took := time.Since(stopped); took < time.Second {
				t.Errorf("the search of a client that reads no more ends after %v already", took)
			}
		})
	}
}

// TestSlowReaderDrain: a client that reads slowly does not hold up the end of the server.
func TestSlowReaderDrain(t *testing.T) {
	graph := denseGraph(t)
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, bolt, stop := startServeBolt(t, "-g", graph, "--threads", "1", "--grace", "0s")
			c := slowClient(t, url, bolt, ask)
			c.read(t, 500*time.Millisecond)
			over := make(chan bool)
			go func() {
				for {
					select {
					case <-over:
						return
					default:
						_, _ = io.ReadFull(c, make([]byte, 4<<10))
						time.Sleep(50 * time.Millisecond)
					}
				}
			}()
			start := time.Now()
			stop()
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("the server ended after %v", took)
			}
			close(over)
		})
	}
}

// denseGraph is a file of a graph in which listings are long.
func denseGraph(t *testing.T) string {
	t.Helper()
	graph := filepath.Join(t.TempDir(), "g.weft")
	if text := runScript(t.TempDir(), "gen er --n 3000 --p 0.1 --seed 1 -o "+graph); strings.Contains(text, "exit") {
		t.Fatal(text)
	}
	return graph
}

// asks send a query with many rows, by the protocol or the form of its rows.
var asks = map[string]func(net.Conn){
	"csv":   func(c net.Conn) { askRows(c, "text/csv") },
	"arrow": func(c net.Conn) { askRows(c, "application/vnd.apache.arrow.stream") },
	"bolt": func(c net.Conn) {
		var m packstream.Encoder
		send := func(tag byte, fields ...any) {
			m.Bytes = m.Bytes[:0]
			m.Value(packstream.Structure{Tag: tag, Fields: fields})
			c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(m.Bytes))), append(m.Bytes, 0, 0)...))
		}
		c.Write([]byte{0x60, 0x60, 0xB0, 0x17, 0, 0, 8, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
		send(0x01, map[string]any{"user_agent": "test/1", "bolt_agent": map[string]any{"product": "test"}})
		send(0x6A, map[string]any{"scheme": "none"})
		send(0x10, "MATCH (a)--(b)--(c) RETURN id(a), id(b), id(c)", map[string]any{}, map[string]any{})
		send(0x3F, map[string]any{"n": int64(-1)})
	},
}

func askRows(c net.Conn, accept string) {
	const body = `{"graph":"g","query":"MATCH (a)--(b)--(c)"}`
	fmt.Fprintf(c, "POST /v1/match HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", accept, len(body), body)
}

// slowReader is a client that reads 80 KiB a second.
type slowReader struct{ net.Conn }

// slowClient asks a server that answers at both addresses.
func slowClient(t *testing.T, url, bolt string, ask func(net.Conn)) slowReader {
	t.Helper()
	address := strings.TrimPrefix(url, "http://")
	if t.Name()[strings.LastIndexByte(t.Name(), '/')+1:] == "bolt" {
		address = strings.TrimPrefix(bolt, "bolt://")
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil { // so that the system tells the server of each few reads
		t.Fatal(err)
	}
	ask(c)
	return slowReader{c}
}

// read reads for a while.
func (c slowReader) read(t *testing.T, during time.Duration) {
	t.Helper()
	buffer := make([]byte, 4<<10)
	for start := time.Now(); time.Since(start) < during; time.Sleep(50 * time.Millisecond) {
		if _, err := io.ReadFull(c, buffer); err != nil {
			t.Fatalf("after %v: %v", time.Since(start), err)
		}
	}
}

// startServeBolt is startServe with Bolt, and returns both addresses.
func startServeBolt(t *testing.T, args ...string) (url, bolt string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	says := &told{new: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	over := make(chan struct{})
	go func() {
		ended <- run(ctx, append([]string{"serve", "--listen", "localhost:0", "--bolt", "localhost:0"}, args...), strings.NewReader(""), io.Discard, says)
		close(over)
	}()
	stop = func() { cancel(); <-over }
	t.Cleanup(stop)
	return says.find(t, `answering at (http://\S+)`, ended), says.find(t, `answering at (bolt://\S+)`, ended), stop
}
