//go:build unix

package main

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"

	"github.com/weftgraph/weft/internal/testing/certificate"
)

// TestServeHangup sends SIGHUP to weft serve as a process: it reads the users and the certificate again, and keeps those that it has if a file is wrong.
func TestServeHangup(t *testing.T) {
	hearHangup(t)
	dir := t.TempDir()
	users := filepath.Join(dir, "users.jsonl")
	change := func(input string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		if code := run(t.Context(), append([]string{"user"}, args...), strings.NewReader(input), &out, &out); code != 0 {
			t.Fatal(out.String())
		}
	}
	change("a long password\n", "add", "--users", users, "ana", "--graphs", "karate")
	change("a long password\n", "add", "--users", users, "bob", "--graphs", "karate")
	own := certificate.New(t, dir, time.Now().Add(24*time.Hour))
	says := &told{new: make(chan struct{}, 1)}
	c := command(t, "serve", "-g", "../../testdata/graphs/karate.txt", "--listen", "localhost:0", "--bolt", "localhost:0", "--tls-cert", own.CertFile, "--tls-key", own.KeyFile, "--users", users)
	c.Stderr = says
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() {
		_ = c.Wait()
		ended <- c.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { _ = c.Process.Kill() })
	url := says.find(t, `answering at (https://\S+)`, ended)
	bolt := says.find(t, `answering at bolt\+s://(\S+)`, ended)
	hangup := func(pattern string) {
		t.Helper()
		says.mu.Lock()
		says.all.Reset()
		says.mu.Unlock()
		if err := c.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		says.find(t, pattern, ended)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own.Pool}}}
	get := func(client *http.Client, user string) (int, error) {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", url+"/v1/graphs", nil)
		r.SetBasicAuth(user, "a long password")
		resp, err := client.Do(r)
		if err != nil {
			return 0, err
		}
		resp.Body.Close()
		return resp.StatusCode, nil
	}
	for _, user := range []string{"ana", "bob"} {
		if status, err := get(client, user); status != 200 {
			t.Fatal(user, status, err)
		}
	}
	d, err := neo4j.NewDriverWithContext("bolt+s://"+bolt, neo4j.BasicAuth("bob", "a long password", ""), func(c *config.Config) { c.TlsConfig = &tls.Config{RootCAs: own.Pool} })
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(t.Context())
	session := d.NewSession(t.Context(), neo4j.SessionConfig{})
	defer session.Close(t.Context())
	asks := func() error {
		r, err := session.Run(t.Context(), "MATCH (a)--(b) RETURN count(*)", nil)
		if err == nil {
			_, err = r.Collect(t.Context())
		}
		return err
	}
	if err := asks(); err != nil {
		t.Fatal(err)
	}
	// A file that is wrong changes nothing.
	good, err := os.ReadFile(users)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(users, []byte("{oops"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangup(`(stay as they were.*line 1)`)
	if status, err := get(client, "bob"); status != 200 {
		t.Error(status, err)
	}
	// The users stay also if the certificate is wrong, and the other way round.
	certificate.New(t, dir, time.Now().Add(-time.Hour))
	if err := os.WriteFile(users, good[:bytes.IndexByte(good, '\n')+1], 0o600); err != nil { // ana's
		t.Fatal(err)
	}
	hangup(`(stay as they were.*expired)`)
	if status, err := get(client, "bob"); status != 200 {
		t.Error(status, err)
	}
	newer := certificate.New(t, dir, time.Now().Add(36*time.Hour)).Pool
	hangup(`(were read again.*accounts=1)`)
	fresh := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: newer}}}
	for user, want := range map[string]int{"ana": 200, "bob": 401} { // who was removed
		if status, err := get(fresh, user); status != want {
			t.Error(user, status, err)
		}
	}
	if err := asks(); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
		t.Error("a session of a user that was removed:", err)
	}
	old := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own.Pool}}}
	if _, err := get(old, "ana"); err == nil {
		t.Error("the old certificate is still shown")
	}
	_ = c.Process.Signal(os.Interrupt)
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestServeHangupEnds: a server without files of users and a certificate ends with SIGHUP.
func TestServeHangupEnds(t *testing.T) {
	hearHangup(t)
	says := &told{new: make(chan struct{}, 1)}
	c := command(t, "serve", "-g", "../../testdata/graphs/karate.txt", "--listen", "localhost:0")
	c.Stderr = says
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	says.find(t, `answering at (\S+)`, nil)
	_ = c.Process.Signal(syscall.SIGHUP)
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %s", err, says.all.String())
	}
}
