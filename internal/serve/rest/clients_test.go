package rest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/servetest"
)

// TestClientGoes: the search of a client that disconnects ends within 100 ms, and more under a loaded machine.
func TestClientGoes(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	for _, path := range []string{"/v1/count", "/v1/match"} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", s.url+path, strings.NewReader(`{"graph":"dense","query":"`+servetest.Long+`","engine":"host"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		done := make(chan struct{})
		go func() {
			defer close(done)
			if resp, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}()
		running := func() bool {
			all := s.server.Running(serve.Anyone())
			return len(all) > 0 && all[0].State == "running"
		}
		for !running() {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		start := time.Now()
		cancel()
		for len(s.server.Running(serve.Anyone())) > 0 {
			time.Sleep(time.Millisecond)
		}
		took := time.Since(start)
		t.Logf("%s: the search ended after %v", path, took)
		if took > 2*time.Second {
			t.Errorf("%s: the search ended after %v", path, took)
		}
		<-done
	}
}

// TestSlowReader: a client that stops reading loses its connection after a while, and its search ends.
func TestSlowReader(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{Patient: 300 * time.Millisecond})
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"graph":"dense","query":"MATCH (a)--(b)--(c)"}`
	fmt.Fprintf(c, "POST /v1/match HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	time.Sleep(100 * time.Millisecond)
	for start := time.Now(); len(s.server.Running(serve.Anyone())) > 0; {
		if time.Since(start) > 20*time.Second {
			t.Fatal("the search of a client that does not read goes on")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestStuckClients: clients that send no body, or read no answer, lose their connections.
func TestStuckClients(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{Patient: 300 * time.Millisecond}, serve.Account{User: "ana", Hash: serve.HashSecret("secret")})
	s.h.body = 300 * time.Millisecond
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		return c
	}
	for _, path := range []string{"/v1/count", "/healthz", "/nowhere"} {
		for _, headers := range []string{"", "Authorization: Basic YW5hOnNlY3JldA==\r\n", "Expect: 100-continue\r\n"} {
			c := dial()
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", path, headers)
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("%s %q: the connection stays open: %v", path, headers, err)
			}
		}
	}
	c := dial()
	failed := make(chan bool, 1)
	go func() { // the server reads as long as its answers are taken
		for range 100000 {
			if _, err := io.WriteString(c, "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				failed <- !strings.Contains(err.Error(), "timeout")
				return
			}
		}
		failed <- false
	}()
	if !<-failed {
		t.Error("a client that does not read keeps its connection")
	}
}

// TestPatientWaits: a query may take longer than its client may take to read.
func TestPatientWaits(t *testing.T) {
	s := newSite(t, serve.Limits{Running: 1}, Options{Patient: 200 * time.Millisecond})
	s.h.body = 200 * time.Millisecond
	for _, secure := range []bool{false, true} {
		web := httptest.NewUnstartedServer(s.h)
		web.EnableHTTP2 = secure
		if secure {
			web.StartTLS()
		} else {
			web.Start()
		}
		t.Cleanup(web.Close)
		resp, err := web.Client().Post(web.URL+"/v1/count", "application/json", strings.NewReader(`{"graph":"dense","seconds":0.7,"query":"`+servetest.Long+`","engine":"host"}`))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(text), `"cut":"time"`) || secure && resp.ProtoMajor != 2 {
			t.Errorf("HTTP/%d: %d %v %s", resp.ProtoMajor, resp.StatusCode, err, text)
		}
		// Nothing changes while a job waits for its turn.
		first := s.do("POST", "/v1/jobs", `{"kind":"count","graph":"dense","seconds":1,"query":"`+servetest.Long+`","engine":"host"}`)
		second := s.do("POST", "/v1/jobs", `{"kind":"count","graph":"karate","pattern":"triangle"}`)
		if resp, err = web.Client().Get(fmt.Sprintf("%s/v1/jobs/%v/events", web.URL, second.at("id"))); err != nil {
			t.Fatal(err)
		}
		text, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(text), "event: done") {
			t.Errorf("HTTP/%d: the events of a job after %v: %v %s", resp.ProtoMajor, first.at("id"), err, text)
		}
	}
}
