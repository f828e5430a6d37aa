package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftgraph/weft/internal/broker/nats"
	"github.com/weftgraph/weft/internal/testing/long"
)

// stood is a query of a watch: from one update to another.
type stood struct {
	shape       int
	begin, end  uint64
	ended, seen bool
}

// turned are the notes about queries.
var turned = regexp.MustCompile(`(?m)^weft: (q\d+_(\d)) is (new|dropped) after update (\d+)$`)

// TestWatchReloadKilled: the file of the queries changes again and again, and the watch is killed again and again. The stream of NATS has each change
// of each query once: its matches when it began, and what updates changed until it ended.
func TestWatchReloadKilled(t *testing.T) {
	rounds, n := long.Rounds(5, 100), long.Rounds(1000, 15000)
	shapes := []string{"MATCH (a)--(b)--(c)--(a)", "MATCH (a)--(b)--(c)--(d)--(a)", "MATCH (a)--(b)--(c)--(a) WHERE deg(a) > 4 RETURN b, a, c", "MATCH (a)--(b) WHERE deg(a) > 6 RETURN b, a"}
	dir := t.TempDir()
	g, u := watchFiles(t, dir, n)
	all, err := os.ReadFile(u)
	if err != nil {
		t.Fatal(err)
	}
	file := func(names ...string) string {
		var b strings.Builder
		for _, name := range names {
			fmt.Fprintf(&b, "CREATE WATCH %s AS %s;\n", name, shapes[name[len(name)-1]-'0'])
		}
		return strings.TrimSuffix(b.String(), ";\n")
	}
	// What a watch of all shapes writes that is not killed, by shape and with q_ as its name.
	names := []string{}
	for i := range shapes {
		names = append(names, fmt.Sprint("q_", i))
	}
	writeFiles(t, dir, map[string]string{"all.weft": file(names...)})
	args := []string{"watch", "-g", g, "--on-error", "skip", "--present", "--progress", "none", "--batch", "16"}
	out, err := command(t, append(args, "--source", u, "-f", filepath.Join(dir, "all.weft"))...).Output()
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		seq  uint64
		text string // from its sign on
	}
	whole := make([][]line, len(shapes))
	split := func(text string) (name string, l line) {
		var x struct {
			Seq   uint64
			Query string
		}
		if err := json.Unmarshal([]byte(text), &x); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(text, `,"op":`)
		return x.Query, line{x.Seq, rest}
	}
	for text := range strings.Lines(string(out)) {
		name, l := split(strings.TrimSuffix(text, "\n"))
		i := name[len(name)-1] - '0'
		whole[i] = append(whole[i], l)
	}

	s, at := natsServer(t, filepath.Join(dir, "store"), 0)
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
	changes, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "changes", Subjects: []string{"changes"}})
	if err != nil {
		t.Fatal(err)
	}

	r := rand.New(rand.NewPCG(1, rand.Uint64()))
	version := 0
	now := []string{} // the queries of the file
	edit := func() {
		version++
		var next []string
		for _, name := range now {
			if r.IntN(3) == 0 {
				next = append(next, name)
			}
		}
		for len(next) < 2 {
			next = append(next, fmt.Sprintf("q%d_%d", version*10+len(next), r.IntN(len(shapes))))
		}
		now = next
		writeFiles(t, dir, map[string]string{"new.weft": file(now...)})
		if err := os.Rename(filepath.Join(dir, "new.weft"), filepath.Join(dir, "q.weft")); err != nil {
			t.Fatal(err)
		}
	}
	edit()
	queries := map[string]*stood{}
	for _, name := range now {
		queries[name] = &stood{shape: int(name[len(name)-1] - '0'), seen: true}
	}
	args = append(args, "--source", filepath.Join(dir, "part.txt"), "--sink", "nats://"+at+"/changes", "-f", filepath.Join(dir, "q.weft"), "--reload", "1ms",
		"--state", filepath.Join(dir, "state"), "--checkpoint", "40ms", "--snapshot", "700")
	lines := strings.SplitAfter(string(all), "\n")
	killed, turns := 0, 0
	for i := range rounds + 2 {
		part := strings.Join(lines[:len(lines)*i/(rounds+1)], "")
		writeFiles(t, dir, map[string]string{"part.txt": part})
		c := command(t, args...)
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		var kill <-chan time.Time
		if i > 0 && i <= rounds { // the first one has the queries of the beginning
			kill = time.After(time.Duration(r.IntN(500)) * time.Millisecond)
			if r.IntN(2) == 0 {
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
				edit()
			}
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
		}
		for _, m := range turned.FindAllStringSubmatch(said.String(), -1) {
			var after uint64
			_, _ = fmt.Sscan(m[4], &after)
			q := queries[m[1]]
			if q == nil {
				q = &stood{shape: int(m[2][0] - '0')}
				queries[m[1]] = q
			}
			// A change that was killed is made again, after the same update.
			again := q.seen && m[3] == "new" && q.begin == after || q.ended && m[3] == "dropped" && q.end == after
			switch {
			case again:
			case m[3] == "new" && !q.seen:
				q.begin, q.seen = after, true
				turns++
			case m[3] == "dropped" && q.seen && !q.ended:
				q.end, q.ended = after, true
			default:
				t.Fatalf("%s, and it was %+v", m[0], q)
			}
		}
		if i <= rounds && r.IntN(2) == 0 {
			edit()
		}
	}

	got := map[string][]line{}
	info, err := changes.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse("nats://" + at + "/changes")
	if err != nil {
		t.Fatal(err)
	}
	log, err := nats.NewLog(t.Context(), to, func(string) {})
	if err == nil {
		defer log.Close()
		err = log.Begin(0, 0)
	}
	for i := uint64(0); err == nil && i < info.State.Msgs; i++ {
		var data []byte
		if _, data, err = log.Next(); err == nil {
			name, l := split(string(data))
			got[name] = append(got[name], l)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range queries {
		var want []line
		present := map[string]bool{}
		begun := false
		begin := func() {
			begun = true
			for text := range present {
				want = append(want, line{q.begin, text})
			}
		}
		for _, l := range whole[q.shape] {
			if l.seq > q.begin && !begun {
				begin()
			}
			if begun && (!q.ended || l.seq <= q.end) {
				want = append(want, l)
			}
			if rest, ok := strings.CutPrefix(l.text, `"-"`); ok {
				delete(present, `"+"`+rest)
			} else {
				present[l.text] = true
			}
		}
		if !begun {
			begin()
		}
		inOrder := func(x, y line) int {
			return strings.Compare(fmt.Sprintf("%09d%s", x.seq, x.text), fmt.Sprintf("%09d%s", y.seq, y.text))
		}
		slices.SortFunc(want, inOrder)
		slices.SortFunc(got[name], inOrder)
		if !slices.Equal(got[name], want) {
			i := 0
			for i < min(len(want), len(got[name])) && want[i] == got[name][i] {
				i++
			}
			t.Errorf("%s, %+v: %d changes, want %d; the first that differs is %d", name, *q, len(got[name]), len(want), i)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("there are changes of %s, which is not said to be new", name)
	}
	t.Logf("killed %d times, %d queries, %d of them new while it ran, %d changes", killed, len(queries), turns, info.State.LastSeq)
}

// TestWatchReloadAfterMistakes: the message about a new query is shown even after so many mistakes that further mistakes are not.
func TestWatchReloadAfterMistakes(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.txt": "1 2\n2 3\n", "q.weft": "CREATE WATCH one AS MATCH (a)--(b)--(c)--(a)"})
	c := command(t, "watch", "-g", filepath.Join(dir, "g.txt"), "--source", "-", "--on-error", "skip", "--progress", "none",
		"-f", filepath.Join(dir, "q.weft"), "--reload", "1ms")
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
	defer func() { _ = in.Close(); _ = c.Wait() }()
	timer := time.AfterFunc(3*time.Minute, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	notes := bufio.NewScanner(said)
	until := func(text string) (n int) {
		for notes.Scan() {
			if strings.Contains(notes.Text(), text) {
				return n
			}
			n++
		}
		t.Fatalf("nothing says %q", text)
		return 0
	}
	if _, err := in.Write([]byte(strings.Repeat("a mistake\n", 2*mostMistakes))); err != nil {
		t.Fatal(err)
	}
	if n := until("further mistakes"); n != mostMistakes {
		t.Errorf("%d mistakes are shown, want %d", n, mostMistakes)
	}
	writeFiles(t, dir, map[string]string{"new.weft": "CREATE WATCH two AS MATCH (a)--(b)--(c)"})
	if err := os.Rename(filepath.Join(dir, "new.weft"), filepath.Join(dir, "q.weft")); err != nil {
		t.Fatal(err)
	}
	until("one is dropped after update 0")
	until("two is new after update 0")
}
