package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
)

// told collects what a server says on standard error.
type told struct {
	mu  sync.Mutex
	all bytes.Buffer
	new chan struct{}
}

func (w *told) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.new <- struct{}{}:
	default:
	}
	return w.all.Write(b)
}

// find waits for a text, and returns its first group.
func (w *told) find(t *testing.T, pattern string, ended <-chan int) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for {
		w.mu.Lock()
		text := w.all.String()
		w.mu.Unlock()
		if m := re.FindStringSubmatch(text); m != nil {
			return m[1]
		}
		select {
		case <-w.new:
		case code := <-ended:
			t.Fatalf("weft serve ended with %d: %s", code, text)
		}
	}
}

// TestServeBolt runs weft serve --bolt with the Go driver, and ends it while the driver has a result open.
func TestServeBolt(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	says := &told{new: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "-g", "club=../../testdata/graphs/karate.txt", "--listen", "localhost:0", "--bolt", "localhost:0", "--grace", "0s"}, strings.NewReader(""), io.Discard, says)
	}()
	address := says.find(t, `answering at bolt://(\S+)`, ended)
	d, err := neo4j.NewDriverWithContext("neo4j://"+address, neo4j.NoAuth())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(context.Background())
	r, err := neo4j.ExecuteQuery(t.Context(), d, "MATCH (a)--(b)--(c)--(a) RETURN count(DISTINCT SUBGRAPHS) AS n", nil, neo4j.EagerResultTransformer)
	if err != nil || len(r.Records) != 1 || r.Records[0].Values[0] != int64(45) || r.Summary.Database().Name() != "club" {
		t.Fatal(r, err)
	}
	says.find(t, `(query over Bolt.*rows=)`, ended)
	session := d.NewSession(t.Context(), neo4j.SessionConfig{FetchSize: 1})
	defer session.Close(context.Background())
	open, err := session.Run(t.Context(), "MATCH (a)--(b)--(c) RETURN a, b, c", nil)
	if err != nil || !open.Next(t.Context()) {
		t.Fatal(err)
	}
	stop()
	<-ended // whether the open result was cut short depends on when its rows were read
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("the address still answers")
	}
}

// TestServeBoltRefused: addresses that are in use, that other machines reach, and texts that are not addresses.
func TestServeBoltRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for address, want := range map[string]string{
		l.Addr().String(): "address already in use", "0.0.0.0:7687": "other machines reach this address", "7687": "want HOST:PORT",
	} {
		var says bytes.Buffer
		code := run(t.Context(), []string{"serve", "-g", "../../testdata/graphs/karate.txt", "--listen", "localhost:0", "--bolt", address}, strings.NewReader(""), io.Discard, &says)
		if code != exitUsage || !strings.Contains(says.String(), "--bolt "+address) || !strings.Contains(says.String(), want) {
			t.Errorf("%s: %d, %s", address, code, &says)
		}
	}
	var says bytes.Buffer
	if code := run(t.Context(), []string{"serve", "-g", "x", "--bolt-origin", "http://a"}, strings.NewReader(""), io.Discard, &says); code != exitUsage || !strings.Contains(says.String(), "--bolt-origin is about --bolt") {
		t.Error(code, &says)
	}
}
