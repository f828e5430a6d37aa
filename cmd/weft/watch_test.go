package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/testing/long"
)

// watchFiles writes a graph and a stream of n updates, and returns their names.
func watchFiles(t *testing.T, dir string, n int) (graph, updates string) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 8))
	var g, u strings.Builder
	for range 300 {
		fmt.Fprintln(&g, r.IntN(60), 60+r.IntN(60))
	}
	for range n {
		a, b := r.IntN(120), r.IntN(120)
		switch x := r.IntN(40); {
		case x == 0:
			fmt.Fprintf(&u, "-v %d\n", a)
		case x == 1:
			fmt.Fprintln(&u, "a mistake")
		case x < 18:
			fmt.Fprintf(&u, "- %d %d\n", a, b)
		default:
			fmt.Fprintf(&u, "+ %d %d\n", a, b)
		}
	}
	graph, updates = filepath.Join(dir, "g.txt"), filepath.Join(dir, "updates.txt")
	for name, text := range map[string]string{graph: g.String(), updates: u.String()} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return graph, updates
}

// TestWatchKilled: a process that is killed again and again, at any moment, loses no update and repeats no change. Its output is that of
// one that is not killed, byte by byte.
func TestWatchKilled(t *testing.T) {
	kills, n := long.Rounds(5, 100), long.Rounds(4000, 60000)
	dir := t.TempDir()
	g, u := watchFiles(t, dir, n)
	killedWatch(t, kills, dir, g, u, "ndjson", os.ReadFile)
}

// killedWatch compares the output of a process that is killed with that of one that is not. ext is the extension of outputs, and read reads one.
func killedWatch(t *testing.T, kills int, dir, g, u, ext string, read func(name string) ([]byte, error)) {
	t.Helper()
	args := func(name string) []string {
		return []string{
			"watch", "-g", g, "--source", u, "--on-error", "skip", "--pattern", "triangle", "--pattern", "cycle(4)", "--present", "--progress", "none",
			"--batch", "16", "-o", filepath.Join(dir, name+"."+ext),
			"--allow-product", "CREATE WATCH apart AS MATCH (a)--(b)--(c)--(a), (d) WHERE EXISTS { (e)--(f) WHERE deg(e) > 9 } AND id(d) < 5",
		}
	}
	if out, err := command(t, args("whole")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := read(filepath.Join(dir, "whole."+ext))
	if err != nil || len(want) == 0 {
		t.Fatal(err)
	}
	killed := 0
	for done := false; !done; {
		c := command(t, append(args("parts"), "--state", filepath.Join(dir, "state"), "--checkpoint", "0s", "--snapshot", "700")...)
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		var kill <-chan time.Time
		if killed < kills {
			kill = time.After(time.Duration(rand.IntN(400)) * time.Millisecond)
		}
		select {
		case <-kill:
			_ = c.Process.Kill()
			if <-ended != nil {
				killed++
			}
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			done = true
		}
	}
	got, err := read(filepath.Join(dir, "parts."+ext))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("after %d kills the output has %d lines, and %d without", killed, bytes.Count(got, []byte("\n")), bytes.Count(want, []byte("\n")))
	}
	t.Logf("killed %d times", killed)
}

// TestWatchInterrupted: an interrupted watch says how far it came, and the same command continues there.
func TestWatchInterrupted(t *testing.T) {
	dir := t.TempDir()
	g, _ := watchFiles(t, dir, 0)
	in, feed := io.Pipe()
	defer feed.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	var said bytes.Buffer
	out, lines := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"watch", "-g", g, "--source", "-", "--pattern", "wedge", "--progress", "none"}, in, lines, &said)
		lines.Close()
	}()
	go fmt.Fprint(feed, "+ 1 500\n+ 1 501\n")
	first := make([]byte, 1)
	if _, err := out.Read(first); err != nil {
		t.Fatal(err)
	}
	rest := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(out)
		rest <- b
	}()
	cancel(errInterrupted)
	if got := <-code; got != exitInterrupted || !regexp.MustCompile(`weft: interrupted after update [12]\n$`).MatchString(said.String()) {
		t.Errorf("exit %d: %s", got, said.String())
	}
	for line := range bytes.Lines(append(first, <-rest...)) {
		if !json.Valid(line) {
			t.Errorf("half a line: %s", line)
		}
	}
}

// TestWatchMetrics: the metrics are those of the updates.
func TestWatchMetrics(t *testing.T) {
	dir := t.TempDir()
	g, _ := watchFiles(t, dir, 0)
	in, feed := io.Pipe()
	said := &shared{}
	code := make(chan int, 1)
	go func() {
		code <- run(t.Context(), []string{"watch", "-g", g, "--source", "-", "--pattern", "wedge", "--metrics", "localhost:0", "--on-error", "skip"}, in, io.Discard, said)
	}()
	fmt.Fprint(feed, "+ 900 901\n+ 901 902\nx\n- 7 7\n+ 900 901\n")
	address := ""
	for address == "" {
		if m := regexp.MustCompile(`http://\S+`).FindString(said.String()); strings.HasSuffix(m, "/metrics") {
			address = m
		}
		time.Sleep(time.Millisecond)
	}
	text := ""
	for !strings.Contains(text, "\nweft_watch_updates_total 4\n") {
		r, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
		time.Sleep(time.Millisecond)
	}
	for _, line := range []string{
		"weft_watch_duplicate_updates_total 1", "weft_watch_self_loop_updates_total 1", `weft_watch_mistakes_total{kind="malformed"} 1`,
		`weft_watch_matches_total{query="wedge",op="added"} 1`, `weft_watch_matches_total{query="wedge",op="removed"} 0`,
		"# TYPE weft_watch_response_seconds summary",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	for path, want := range map[string]int{"/": 404, "/metrics/x": 404} {
		r, err := http.Get(strings.TrimSuffix(address, "/metrics") + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := http.DefaultClient.Do(ask); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: %v, %v", r, err)
	} else {
		r.Body.Close()
	}
	feed.Close()
	if got := <-code; got != 0 {
		t.Errorf("exit %d: %s", got, said.String())
	}
}

// shared is a text that is written and read at the same time.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestWatchEngine: an engine that is named matches, weft says which one auto chose and why, and an unknown name is a usage error.
func TestWatchEngine(t *testing.T) {
	g, u := watchFiles(t, t.TempDir(), 200)
	args := []string{"watch", "-g", g, "--source", u, "--on-error", "skip", "--pattern", "triangle", "--progress", "none"}
	want, err := command(t, args...).Output()
	if err != nil || len(want) == 0 {
		t.Fatal(err)
	}
	for name, says := range map[string]string{"host": "weft: engine host\n", "auto": "weft: engine host: "} {
		c := command(t, append(args, "--engine", name)...)
		var said bytes.Buffer
		c.Stderr = &said
		got, err := c.Output()
		if err != nil || !bytes.Equal(got, want) || !strings.Contains(said.String(), says) {
			t.Errorf("--engine %s: %v, %d bytes instead of %d, and it says\n%s", name, err, len(got), len(want), said.String())
		}
	}
	out, err := command(t, append(args, "--engine", "hots")...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "did you mean host?") {
		t.Errorf("an unknown engine: %v\n%s", err, out)
	}
}

// TestWatchSummaryTable: without --to, a summary is a table with a line for each query.
func TestWatchSummaryTable(t *testing.T) {
	dir := t.TempDir()
	g, u := watchFiles(t, dir, 100)
	out, err := command(t, "watch", "-g", g, "--source", u, "--on-error", "skip", "--pattern", "triangle", "--pattern", "edge", "--summary", "--progress", "none").Output()
	if err != nil {
		t.Fatal(err)
	}
	var first []string
	for line := range strings.Lines(string(out)) {
		first = append(first, strings.Fields(line)[0])
	}
	if want := []string{"query", "triangle", "edge"}; !slices.Equal(first, want) {
		t.Errorf("lines of %q, want %q:\n%s", first, want, out)
	}
}
