package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/vfs"
	"github.com/weftgraph/weft/internal/watch"
)

// TestBenchWatch: each query has a line for each size of batch, with the embeddings that came and went, and the sums follow.
func TestBenchWatch(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	g, u := file("g.txt", "1 2\n2 3\n3 1\n3 4\n"), file("u.txt", "+ 1 4\n+ 2 4\n- 1 2\n+ 1 2\n+ 1 2\n- 9 9\n")
	measure := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"bench", "watch", "-g", g, "--source", u, "--pattern", "triangle", "--progress", "none"}, args...), nil, &out, &errs)
		return code, out.String(), errs.String()
	}
	code, out, errs := measure("--pattern", "wedge", "--batch", "1,4", "--threads", "1", "--runs", "2", "--to", "ndjson")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	type line struct {
		Query          string
		Batch, Updates int
		Added, Removed int
		P99            float64 `json:"p99_us"`
		Search         float64 `json:"search_ms"`
	}
	// Triangles: 134 comes, then 124 and 234; without 1-2 go 123 and 124, which come back.
	want := []line{{Query: "triangle", Added: 6 * 5, Removed: 6 * 2}, {Query: "wedge", Added: 2 * 11, Removed: 2 * 4}, {Query: "all", Added: 52, Removed: 20}}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2*len(want) {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	for i, text := range lines {
		var got line
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		w := want[i%len(want)]
		updates := 6
		if w.Query == "all" {
			updates *= 2
		}
		if got.Query != w.Query || got.Added != w.Added || got.Removed != w.Removed || got.Batch != []int{1, 4}[i/len(want)] || got.Updates != updates || got.P99 <= 0 || got.Search <= 0 {
			t.Errorf("%+v, want %+v: %s", got, w, text)
		}
	}
	if code, _, errs = measure("MATCH (a)--(b), (c)"); code != 4 || !strings.Contains(errs, "--allow-product") {
		t.Errorf("a product without consent: exit %d: %s", code, errs)
	}
	if code, out, errs = measure("MATCH (a)--(b), (c)", "--allow-product", "--runs", "1", "--to", "ndjson", "--batch", "4"); code != 0 || !strings.Contains(out, `"added":12,"removed":4,`) {
		t.Errorf("a product: exit %d: %s\n%s", code, errs, out)
	}
	if code, out, errs = measure("--batch", "4", "--runs", "1", "--load", "50%", "--to", "ndjson"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, text := range strings.Split(strings.TrimSpace(out), "\n") {
		var got struct {
			Load float64 `json:"load_per_s"`
			Full float64 `json:"updates_per_s"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Load < 0.49*got.Full || got.Load > 0.51*got.Full {
			t.Errorf("load of %v with a full rate of %v (%v): %s", got.Load, got.Full, err, text)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		why  string
	}{
		{[]string{"--batch", "0"}, exitUsage, "--batch"},
		{[]string{"--runs", "0"}, exitUsage, "--runs"},
		{[]string{"--load", "50%", "--each"}, exitUsage, "--each"},
		{[]string{"--load", "half"}, exitUsage, "--load"},
		{[]string{"--load", "0%"}, exitUsage, "--load"},
		{[]string{"--updates", "yaml"}, exitUsage, "--updates"},
		{[]string{"--source", "-"}, exitUsage, "give files"},
		{[]string{"--source", filepath.Join(dir, "none.txt")}, exitInput, "none.txt"},
		{[]string{"--source", g}, exitInput, "g.txt:1"},
		{[]string{"MATCH (a)"}, 0, ""},
		{[]string{"MATCH (a)-[*2]->(b)"}, exitQuery, ""},
	} {
		if code, _, errs := measure(c.args...); code != c.code || !strings.Contains(errs, c.why) {
			t.Errorf("%v: exit %d, want %d: %s", c.args, code, c.code, errs)
		}
	}
}

// TestResponses: each update has its own response time, whether those of a batch are answered together or not.
func TestResponses(t *testing.T) {
	c := &slowClock{time.Unix(1000, 0)}
	var l watch.Latency
	x := &responses{at: &arrivals{clock: c}, to: &l}
	for _, base := range []uint64{0, 3} {
		x.batch(base, int(base))
		for i := range uint64(3) {
			x.begun = append(x.begun, c.now)
			c.now = c.now.Add(time.Millisecond)
			if i == 0 {
				x.Answered(base + 1) // after 1 ms
			}
		}
		x.Answered(base + 1)
		x.Answered(base + 3) // after 2 and 1 ms
		x.Answered(base + 3)
	}
	if l.Count() != 6 || l.Quantile(0.5) > 1100*time.Microsecond || l.Quantile(0.7) < 2*time.Millisecond || l.Quantile(0.99) > 2200*time.Microsecond {
		t.Errorf("%d response times, %v in the middle and at most %v", l.Count(), l.Quantile(0.5), l.Quantile(0.99))
	}
	x.at = &arrivals{clock: c, start: c.now, rate: 1000}
	l = watch.Latency{}
	x.batch(6, 2)
	c.now = c.now.Add(5 * time.Millisecond)
	x.Answered(8) // updates 2 and 3 arrived at 2 and 3 ms
	if l.Count() != 2 || l.Quantile(0.4) < 2*time.Millisecond || l.Quantile(0.4) > 2200*time.Microsecond || l.Quantile(0.9) < 3*time.Millisecond {
		t.Errorf("%d response times from %v on", l.Count(), l.Quantile(0))
	}
}

// TestEach: an engine answers the updates of a batch one by one, or some at a time, and each has a response time.
func TestEach(t *testing.T) {
	for _, threads := range []int{1, 2} {
		dir := t.TempDir()
		g, u := filepath.Join(dir, "g.txt"), filepath.Join(dir, "u.txt")
		var text strings.Builder
		for i := range 300 {
			fmt.Fprintf(&text, "+ %d %d\n", i%17, i%23)
		}
		for path, text := range map[string]string{g: "1 2\n2 3\n", u: text.String()} {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		data, err := format.Read(t.Context(), g, format.ReadOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		updates, err := allUpdates(t.Context(), vfs.OS{}, u, stream.Options{Format: stream.Auto, TextIDs: !data.IDs.Numeric(), Lateness: -1})
		if err != nil {
			t.Fatal(err)
		}
		q, err := gql.ParseText("MATCH triangle")
		if err != nil {
			t.Fatal(err)
		}
		for _, batch := range []int{1, 7, 1000} {
			r, err := replayed(t.Context(), data, q.Pattern, updates, batch, route.WatchRequest{Engine: "host", Workers: threads, Switches: map[string]string{}}, 0, true)
			if err != nil {
				t.Fatal(err)
			}
			if r.latency.Count() != uint64(r.updates) || r.updates != len(updates) {
				t.Errorf("%d threads, batches of %d: %d response times of %d updates", threads, batch, r.latency.Count(), r.updates)
			}
		}
	}
}

// slowClock is a clock that only Sleep and tests move.
type slowClock struct{ now time.Time }

func (c *slowClock) Now() time.Time { return c.now }

func (c *slowClock) Sleep(_ context.Context, until time.Time) error {
	c.now = until
	return nil
}

// TestArrivals makes updates that arrive one in a millisecond, where each batch takes some time: response times begin with the arrival.
func TestArrivals(t *testing.T) {
	c := &slowClock{time.Unix(1000, 0)}
	a := &arrivals{clock: c, start: c.now, rate: 1000}
	var sizes []int
	var l watch.Latency
	takes := []time.Duration{500 * time.Microsecond, 3500 * time.Microsecond, time.Microsecond, time.Microsecond, time.Microsecond, time.Microsecond}
	for i := 0; i < 8; {
		n, err := a.wait(t.Context(), i, 8, 3)
		if err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(takes[len(sizes)])
		a.answered(&l, c.now, i, n)
		i += n
		sizes = append(sizes, n)
	}
	// 0 at 0, 1 at 1 ms until 4.5 ms, then 2, 3 and 4, which wait for 2.5 ms and less, then 5, 6 and 7 in time.
	if want := []int{1, 1, 3, 1, 1, 1}; !slices.Equal(sizes, want[:len(sizes)]) || len(sizes) != 6 {
		t.Errorf("batches of %v, want %v", sizes, want)
	}
	if most := l.Quantile(0.999); l.Count() != 8 || most < 3500*time.Microsecond || most > 4*time.Millisecond {
		t.Errorf("%d response times, at most %v", l.Count(), most)
	}
	if half := l.Quantile(0.5); half < 500*time.Microsecond || half > 600*time.Microsecond {
		t.Errorf("a response time of %v in the middle", half)
	}
	a = &arrivals{clock: c}
	if n, err := a.wait(t.Context(), 2, 8, 100); n != 6 || err != nil {
		t.Errorf("%d updates, all of which are there: %v", n, err)
	}
}

// TestWriteUsage: lines have how a GPU was used if that is known, and other columns stay away otherwise. Samples are lines of their own.
func TestWriteUsage(t *testing.T) {
	u := &nest.Usage{Busy: 0.12345, Lists: 300, Most: 500, Room: 1000, Over: []nest.Sample{{Until: 10 * time.Millisecond, Lists: 400}, {Until: 25 * time.Millisecond, Busy: 0.5, Lists: 300}}}
	run := func(query string, u *nest.Usage) *watchRun {
		return &watchRun{query: query, batch: 64, added: new(big.Int), removed: new(big.Int), usage: u}
	}
	for _, c := range []struct {
		runs       []*watchRun
		rows, over string
	}{
		{[]*watchRun{run("a", nil)}, "", ""},
		{
			[]*watchRun{run("a", u), run("all", nil)}, `,"gpu_busy":0.1235,"gpu_lists_bytes":500}` + "\n" + `,"gpu_busy":null,"gpu_lists_bytes":null}`,
			`{"query":"a","batch":64,"until_ms":10,"busy":0,"lists_bytes":400}` + "\n" + `{"query":"a","batch":64,"until_ms":25,"busy":0.5,"lists_bytes":300}`,
		},
	} {
		var rows, over bytes.Buffer
		if err := errors.Join(writeWatchRuns(&rows, "ndjson", c.runs), writeUsage(&over, c.runs)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(rows.String()) {
			if _, end, ok := strings.Cut(line, `,"gpu_busy"`); ok {
				got = append(got, `,"gpu_busy"`+strings.TrimSpace(end))
			}
		}
		if text := strings.Join(got, "\n"); text != c.rows {
			t.Errorf("lines end with\n%s\nwant\n%s", text, c.rows)
		}
		if text := strings.TrimSpace(over.String()); text != c.over {
			t.Errorf("samples are\n%s\nwant\n%s", text, c.over)
		}
	}
}

// TestMetricsOfGPU: the metrics have how a GPU is used if that is known.
func TestMetricsOfGPU(t *testing.T) {
	if text := metricsText(&weft.FollowStatus{}); strings.Contains(text, "gpu") {
		t.Errorf("without a GPU:\n%s", text)
	}
	text := metricsText(&weft.FollowStatus{GPU: &weft.FollowedGPU{Busy: 0.25, Lists: 300, Most: 500, Room: 1000}})
	for _, line := range []string{"gpu_busy_ratio 0.25", "gpu_lists_bytes 300", "gpu_lists_most_bytes 500", "gpu_lists_room_bytes 1000"} {
		if !strings.Contains(text, "\nweft_watch_"+line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
}

// lateClock is a clock whose timers are late by a millisecond. A look at it takes a microsecond.
type lateClock struct{ now time.Time }

func (c *lateClock) Now() time.Time {
	c.now = c.now.Add(time.Microsecond)
	return c.now
}

func (c *lateClock) Sleep(ctx context.Context, until time.Time) error {
	if c.now.Before(until) {
		c.now = until.Add(time.Millisecond)
	}
	return context.Cause(ctx)
}

// TestExactClock: updates of a steady load arrive when they are due, though timers are late.
func TestExactClock(t *testing.T) {
	for _, span := range []time.Duration{0, 5 * time.Microsecond, time.Millisecond, 3 * time.Millisecond, time.Second} {
		c := &lateClock{now: time.Unix(1, 0)}
		until := c.now.Add(span)
		if err := (exactClock{c}).Sleep(t.Context(), until); err != nil || c.now.Before(until) || c.now.Sub(until) > 3*time.Microsecond {
			t.Errorf("%v: woken %v after the time, %v", span, c.now.Sub(until), err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		cancel(gone)
		if err := (exactClock{c}).Sleep(ctx, c.now.Add(time.Minute)); err != gone {
			t.Errorf("%v: %v", span, err)
		}
		if err := (exactClock{c}).Sleep(ctx, c.now.Add(time.Millisecond)); err != gone {
			t.Errorf("%v: %v", span, err)
		}
	}
}
