package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftgraph/weft/internal/broker/nats"
	"github.com/weftgraph/weft/internal/testing/long"
)

// natsServer starts a server of JetStream, on any port if that is 0.
func natsServer(t *testing.T, dir string, port int) (s *server.Server, at string) {
	t.Helper()
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the broker does not start")
	}
	return s, s.Addr().String()
}

// lost are the ways in which a program says that it could not begin because its broker went.
var lost = regexp.MustCompile(`(?m)^weft: .*(no servers available|timeout|connection (refused|reset|closed)|broken pipe|stale connection|EOF|no responders|deadline exceeded|not enabled)`)

// TestWatchNoBroker: a watch of an address at which nobody speaks, or somebody who closes each connection, ends with an error.
func TestWatchNoBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	g, _ := watchFiles(t, t.TempDir(), 1)
	watch := func() (int, string) {
		return ended(t, "watch", "-g", g, "--pattern", "triangle", "--source", "nats://"+l.Addr().String()+"/updates", "--progress", "none")
	}
	if code, said := watch(); code != exitInput || !strings.Contains(said, "the updates cannot be read") {
		t.Errorf("exit code %d, %s", code, said)
	}
	_ = l.Close()
	if code, said := watch(); code != exitInput || !strings.Contains(said, "the updates cannot be read") {
		t.Errorf("nobody listens: exit code %d, %s", code, said)
	}
}

// TestWatchNATS: a watch of a stream of NATS, with changes to another one, is killed again and again, and the broker ends and begins again. Each
// change is there once, and in its order.
func TestWatchNATS(t *testing.T) {
	kills, n := long.Rounds(3, 100), long.Rounds(1500, 60000)
	dir := t.TempDir()
	g, u := watchFiles(t, dir, n)
	args := []string{"watch", "-g", g, "--on-error", "skip", "--pattern", "triangle", "--pattern", "cycle(4)", "--present", "--progress", "none", "--batch", "16"}
	if out, err := command(t, append(args, "--source", u, "-o", filepath.Join(dir, "whole.ndjson"))...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "whole.ndjson"))
	if err != nil || len(want) == 0 {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "store")
	s, at := natsServer(t, store, 0)
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	nc, err := client.Connect("nats://" + at)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"updates", "changes"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name}}); err != nil {
			t.Fatal(err)
		}
	}
	updates, err := os.ReadFile(u)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(updates), "\n")
	for len(lines) > 0 {
		k := min(1+rand.IntN(9), len(lines))
		if _, err := js.Publish(t.Context(), "updates", []byte(strings.Join(lines[:k], ""))); err != nil {
			t.Fatal(err)
		}
		lines = lines[k:]
	}
	args = append(args, "--source", "nats://"+at+"/updates", "--sink", "nats://"+at+"/changes", "-o", filepath.Join(dir, "parts.ndjson"),
		"--state", filepath.Join(dir, "state"), "--checkpoint", "20ms", "--snapshot", "700")
	// away says that the broker goes meanwhile: a busy machine may begin the program only then, which ends it with an error of the network
	run := func(away bool, until func()) {
		c := command(t, args...)
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		done := make(chan struct{})
		go func() { until(); close(done) }()
		select {
		case <-done:
			_ = c.Process.Kill()
			<-ended
		case err := <-ended:
			if away && lost.MatchString(said.String()) {
				<-done
				return
			}
			t.Fatalf("%v\n%s", err, said.String())
		}
	}
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	for i := range kills {
		run(i%3 == 1, func() {
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			if i%3 == 1 { // the broker is lost, and comes back
				s.Shutdown()
				s.WaitForShutdown()
				time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
				var number int
				_, _ = fmt.Sscan(port, &number)
				s, _ = natsServer(t, store, number)
				time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
			}
		})
	}
	var got bytes.Buffer
	run(false, func() {
		to, err := url.Parse("nats://" + at + "/changes")
		if err != nil {
			t.Error(err)
			return
		}
		l, err := nats.NewLog(t.Context(), to, func(string) {})
		if err == nil {
			defer l.Close()
			err = l.Begin(0, 0)
		}
		for err == nil && got.Len() < len(want) {
			var data []byte
			_, data, err = l.Next()
			got.Write(data)
			got.WriteByte('\n')
		}
		if err != nil {
			t.Error(err)
		}
	})
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the stream has %d lines, want %d", bytes.Count(got.Bytes(), []byte("\n")), bytes.Count(want, []byte("\n")))
	}
	changes, err := js.Stream(t.Context(), "changes")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := changes.Info(t.Context()); err != nil || info.State.Msgs != uint64(bytes.Count(want, []byte("\n"))) {
		t.Errorf("%+v, %v", info, err)
	}
	if file, _ := os.ReadFile(filepath.Join(dir, "parts.ndjson")); !bytes.HasPrefix(want, file) {
		t.Error("the file differs")
	}
}

// TestWatchLogKilled: a watch of standard input with a state is killed again and again. What the log has is not lost, the producer is told how
// far that is, and each change is in the output once.
func TestWatchLogKilled(t *testing.T) {
	kills, n := long.Rounds(3, 100), long.Rounds(3000, 60000)
	dir := t.TempDir()
	g, u := watchFiles(t, dir, n)
	args := []string{"watch", "-g", g, "--on-error", "skip", "--pattern", "triangle", "--pattern", "cycle(4)", "--progress", "none", "--batch", "16"}
	if out, err := command(t, append(args, "--source", u, "-o", filepath.Join(dir, "whole.ndjson"))...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "whole.ndjson"))
	if err != nil || len(want) == 0 {
		t.Fatal(err)
	}
	updates, err := os.ReadFile(u)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(updates), "\n")
	args = append(args, "--source", "-", "-o", filepath.Join(dir, "parts.ndjson"), "--state", filepath.Join(dir, "state"), "--checkpoint", "20ms", "--snapshot", "300")
	// begin starts a watch, and returns the number of lines that its log has.
	begin := func() (c *exec.Cmd, in io.WriteCloser, has int) {
		c = command(t, args...)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		said, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "state", "log")); err != nil {
			return c, in, 0
		}
		r := bufio.NewReader(said)
		for {
			line, err := r.ReadString('\n')
			if _, rest, ok := strings.Cut(line, "the log has "); ok {
				if _, err := fmt.Sscan(rest, &has); err != nil {
					t.Fatal(err)
				}
				go func() { _, _ = io.Copy(io.Discard, r) }()
				return c, in, has
			}
			if err != nil {
				t.Fatalf("%s, %v", line, err)
			}
		}
	}
	at := 0
	for range kills {
		c, in, has := begin()
		if has < at {
			t.Fatalf("the log has %d lines, and had %d", has, at)
		}
		at = has
		go func() {
			for i := has; i < len(lines); i += 7 {
				if _, err := io.WriteString(in, strings.Join(lines[i:min(i+7, len(lines))], "")); err != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
		for range 40 { // until it has some, and then a while
			if s, err := os.Stat(filepath.Join(dir, "parts.ndjson")); err == nil && s.Size() > 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	c, in, has := begin()
	if has == 0 || has < at {
		t.Errorf("the log has %d lines, and had %d", has, at)
	}
	if _, err := io.WriteString(in, strings.Join(lines[has:], "")); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "parts.ndjson"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d lines, %v; want %d", bytes.Count(got, []byte("\n")), err, bytes.Count(want, []byte("\n")))
	}
}
