package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/testing/certificate"
)

var answering = regexp.MustCompile(`answering at (\S+)`)

// startServe runs weft serve in this process, and returns its address. stop sends it a signal and returns its exit code and messages.
func startServe(t *testing.T, args ...string) (url string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	var errs shared
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"serve", "--listen", "localhost:0"}, args...), strings.NewReader(""), io.Discard, &errs)
	}()
	stop = sync.OnceValues(func() (int, string) {
		cancel(errInterrupted)
		return <-code, errs.String()
	})
	t.Cleanup(func() { stop() })
	for range 2000 {
		if m := answering.FindStringSubmatch(errs.String()); m != nil {
			return m[1], stop
		}
		if len(code) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	_, text := stop()
	t.Fatalf("weft serve does not answer: %s", text)
	return "", nil
}

func post(client *http.Client, url, body string) (int, map[string]any, error) {
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	var out map[string]any
	err = json.NewDecoder(resp.Body).Decode(&out)
	return resp.StatusCode, out, err
}

func TestServe(t *testing.T) {
	url, stop := startServe(t, "-g", "club=../../testdata/graphs/karate.txt")
	status, out, err := post(http.DefaultClient, url+"/v1/count", `{"pattern":"triangle"}`)
	if err != nil || status != 200 || fmt.Sprint(out["result"].(map[string]any)["subgraphs"]) != "45" {
		t.Errorf("%d %v %v", status, out, err)
	}
	// Its port is in use.
	if text := runScript(t.TempDir(), "serve -g ../../testdata/graphs/karate.txt --listen "+strings.TrimPrefix(url, "http://")); !strings.Contains(text, "address already in use") || !strings.Contains(text, "exit 2") {
		t.Errorf("a port in use: %s", text)
	}
	if code, text := stop(); code != exitOK || !strings.Contains(text, "path=/v1/count status=200") {
		t.Errorf("exit code %d: %s", code, text)
	}
}

// TestServeDrains: after a signal the server waits for --grace, and then the results that are cut short say so.
func TestServeDrains(t *testing.T) {
	dir := t.TempDir()
	if text := runScript(dir, "gen er --n 3000 --p 0.1 -o $D/dense.weft"); strings.Contains(text, "exit") {
		t.Fatal(text)
	}
	url, stop := startServe(t, "-g", filepath.Join(dir, "dense.weft"), "--grace", "300ms")
	done := make(chan map[string]any, 1)
	go func() {
		_, out, err := post(http.DefaultClient, url+"/v1/count", `{"engine":"host","query":"MATCH (a)--(b)--(c)--(d)--(e)--(a), (a)--(c), (b)--(d), (c)--(e)"}`)
		if err != nil {
			out = map[string]any{"error": err.Error()}
		}
		done <- out
	}()
	for running := false; !running; {
		resp, err := http.Get(url + "/v1/running")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		running = strings.Contains(string(text), `"state":"running"`)
	}
	start := time.Now()
	code, text := stop()
	if code != exitFailure || !strings.Contains(text, "1 result cut short") || time.Since(start) < 300*time.Millisecond {
		t.Errorf("exit code %d after %v: %s", code, time.Since(start), text)
	}
	out := <-done
	if r, _ := out["run"].(map[string]any); r["cut"] != "drain" || r["complete"] != false {
		t.Errorf("the answer is %v", out)
	}
}

func TestServeTLS(t *testing.T) {
	dir := t.TempDir()
	users := filepath.Join(dir, "users.jsonl")
	add := func(input string, args ...string) (string, int) {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"user", "add", "--users", users}, args...), strings.NewReader(input), &out, &errs)
		return out.String() + errs.String(), code
	}
	if text, code := add("a long password\n", "ana", "--graphs", "karate"); code != 0 {
		t.Fatal(text)
	}
	token, code := add("", "ana", "--graphs", "karate", "--token")
	if code != 0 || !strings.HasPrefix(token, "weft_") {
		t.Fatal(token)
	}
	if text, code := add("short\n", "bob"); code != exitUsage || !strings.Contains(text, "fewer than 8") {
		t.Errorf("%d %s", code, text)
	}
	if text, code := add("", "bob"); code != exitUsage {
		t.Errorf("%d %s", code, text)
	}
	text, err := os.ReadFile(users)
	if err != nil || strings.Contains(string(text), "password") || strings.Count(string(text), "\n") != 2 {
		t.Errorf("%v %s", err, text)
	}
	if info, err := os.Stat(users); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	own := certificate.Valid(t)
	url, _ := startServe(t, "-g", "../../testdata/graphs/karate.txt", "--tls-cert", own.CertFile, "--tls-key", own.KeyFile, "--users", users, "--log", "json")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own.Pool}, ForceAttemptHTTP2: true}}
	for _, test := range []struct {
		name   string
		set    func(*http.Request)
		status int
	}{
		{"nobody", func(*http.Request) {}, 401},
		{"ana", func(r *http.Request) { r.SetBasicAuth("ana", "a long password") }, 200},
		{"wrong", func(r *http.Request) { r.SetBasicAuth("ana", "another password") }, 401},
		{"token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token)) }, 200},
	} {
		r, _ := http.NewRequest("GET", url+"/v1/graphs", nil)
		test.set(r)
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != test.status || resp.ProtoMajor != 2 || resp.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: %s %s", test.name, resp.Proto, resp.Status)
		}
	}
	expired := certificate.New(t, t.TempDir(), time.Now().Add(-time.Hour))
	if text := runScript(dir, "serve -g ../../testdata/graphs/karate.txt --listen localhost:0 --tls-cert "+expired.CertFile+" --tls-key "+expired.KeyFile); !strings.Contains(text, "the certificate expired on") || !strings.Contains(text, "exit 3") {
		t.Errorf("an expired certificate: %s", text)
	}
}
