package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/host"
	"github.com/weftgraph/weft/internal/vfs"
)

// queries are standing queries with and without symmetries, edges, an EMIT, and unconnected parts.
const queries = `
CREATE WATCH triangle AS MATCH (a)--(b)--(c)--(a);
CREATE WATCH wedge AS MATCH (a)-[e]-(b)-[f]-(c), NOT (a)--(c) RETURN b, e, a, c, f;
CREATE WATCH gone AS MATCH (a)--(b)--(c)--(d)--(a) EMIT REMOVED;
CREATE WATCH apart AS MATCH (a)--(b), (c), NOT (a)--(c), NOT (b)--(c) WHERE EXISTS { (d)--(e)--(f)--(d) }`

// newTestSet is an empty graph with standing queries.
func newTestSet(t testing.TB, text string) *Set {
	t.Helper()
	return testSetOf(t, dynamic.New(false, false), text)
}

func testSetOf(t testing.TB, g *dynamic.Graph, text string) *Set {
	t.Helper()
	s := NewSet(g, host.New(g, host.Options{Workers: 2}), 0)
	addQueries(t, s, text)
	return s
}

// addQueries adds the queries of a text.
func addQueries(t testing.TB, s *Set, text string) {
	t.Helper()
	if err := tryQueries(t, s, text); err != nil {
		t.Fatal(err)
	}
}

// tryQueries returns the error of the first query that the set does not take.
func tryQueries(t testing.TB, s *Set, text string) error {
	t.Helper()
	qs, err := gql.ParseFile("q.weft", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range qs {
		x, err := NewQuery(q, q.Pattern, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(x, false); err != nil {
			return err
		}
	}
	return nil
}

// randomStream is n updates of a small graph, with duplicates, absent edges and vertices that go.
func randomStream(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range n {
		u, v := r.IntN(7), r.IntN(7)
		switch x := r.IntN(20); {
		case x == 0:
			fmt.Fprintf(&b, "-v %d\n", u)
		case x < 9:
			fmt.Fprintf(&b, "- %d %d\n", u, v)
		default:
			fmt.Fprintf(&b, "+ %d %d\n", u, v)
		}
	}
	return b.String()
}

// toFile is a sink of lines.
func toFile(name string) []Sink { return []Sink{NewFile(vfs.OS{}, name, "ndjson")} }

// open opens a text of updates.
func open(t testing.TB, text string) *stream.File {
	t.Helper()
	f, err := stream.Open(t.Context(), vfs.OS{}, "-", strings.NewReader(text), stream.Options{Lateness: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// follow runs a service over a text of updates, and returns what it wrote.
func follow(t testing.TB, text string, o Options) (string, *Status) {
	t.Helper()
	var out bytes.Buffer
	o.Set, o.Source, o.Sinks = newTestSet(t, queries), open(t, text), []Sink{NewWriter(&out, "ndjson")}
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), s
}

// TestBatches: the output does not depend on the size of batches, and a match that goes is written as when it came.
func TestBatches(t *testing.T) {
	for seed := range uint64(5) {
		text := randomStream(seed, 150)
		want, s := follow(t, text, Options{Batch: 1})
		if s.Seq != 150 || strings.Count(want, "\n") == 0 {
			t.Fatalf("%d updates, %d changes", s.Seq, strings.Count(want, "\n"))
		}
		for _, batch := range []int{2, 3, 7, 64, 4096} {
			if got, _ := follow(t, text, Options{Batch: batch}); got != want {
				t.Fatalf("seed %d, batches of %d:\n%s\nwant\n%s", seed, batch, got, want)
			}
		}
		present := map[string]int{}
		for line := range strings.Lines(want) {
			_, rest, _ := strings.Cut(line, ",")
			if match := strings.Replace(rest, `"op":"-"`, `"op":"+"`, 1); strings.Contains(line, `"gone"`) {
				continue
			} else if match == rest {
				present[match]++
			} else {
				present[match]--
			}
			for match, n := range present {
				if n < 0 || n > 1 {
					t.Fatalf("seed %d: %d times present: %s", seed, n, match)
				}
			}
		}
	}
}

// withState is o with the state in a folder, and with the graph that is there.
func withState(t testing.TB, o Options, dir string) Options {
	t.Helper()
	var err error
	if o.State, err = OpenState(vfs.OS{}, dir); err != nil {
		t.Fatal(err)
	}
	g, seq, note := o.State.Graph()
	if note != "" {
		t.Fatal(note)
	}
	if g != nil {
		o.Set, o.From = testSetOf(t, g, queries), seq
	}
	return o
}

// cut is a Source that ends in its middle.
type cut struct {
	Source
	left int
	err  error
}

func (c *cut) Next(u *stream.Update) error {
	if c.left--; c.left < 0 {
		return c.err
	}
	return c.Source.Next(u)
}

// TestResume: a service that ends anywhere, and continues from its state, writes what one without an end writes, in each format.
func TestResume(t *testing.T) {
	text := "malformed\n" + randomStream(7, 120)
	lost := errors.New("the source is lost")
	for _, format := range Formats {
		dir := t.TempDir()
		o := Options{Policy: stream.Skip, Batch: 16, Snapshot: 30}
		run := func(name, state string, after int, junk string) (string, *Status, error) {
			o := o
			path := filepath.Join(dir, name)
			o.Sinks, o.Set, o.Source = []Sink{NewFile(vfs.OS{}, path, format)}, newTestSet(t, queries), &cut{open(t, text), after, lost}
			if state != "" {
				o = withState(t, o, state)
			}
			s, err := Run(t.Context(), o)
			if junk != "" { // half of a batch that came after the checkpoint
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = f.WriteString(junk)
				_ = f.Close()
			}
			b, _ := os.ReadFile(path)
			return string(b), s, err
		}
		want, _, err := run("whole", "", 1000, "")
		if err != nil {
			t.Fatal(err)
		}
		state := filepath.Join(dir, "state")
		for _, after := range []int{0, 1, 2, 31, 31, 77, 121} {
			if _, s, err := run("parts", state, after, `{"seq":99`); !errors.Is(err, lost) || s.Seq != uint64(max(after-1, 0)) {
				t.Fatalf("%s: %d updates, %v", format, s.Seq, err)
			}
		}
		got, s, err := run("parts", state, 1000, "")
		if err != nil {
			t.Fatal(err)
		}
		if s.Seq != 120 || s.Resumed != 120 || s.Mistakes[stream.Malformed] != 1 {
			t.Errorf("%s: %d updates, %d of them before, %d mistakes", format, s.Seq, s.Resumed, s.Mistakes[stream.Malformed])
		}
		files, err := filepath.Glob(filepath.Join(state, graphPrefix+"*"))
		if err != nil || len(files) == 0 || len(files) > 2 {
			t.Errorf("%s: the files of the graph are %q, %v", format, files, err)
		}
		if rowsOf(t, format, got) != rowsOf(t, format, want) {
			t.Errorf("%s:\n%s\nwant\n%s", format, rowsOf(t, format, got), rowsOf(t, format, want))
		}
	}
}

// rowsOf is an output without what depends on batches: the widths of a table, and the records of Arrow.
func rowsOf(t *testing.T, format, text string) string {
	t.Helper()
	switch format {
	case "table":
		var out []string
		for line := range strings.Lines(text) {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
		return strings.Join(out, "\n")
	case "arrow":
		r, err := ipc.NewReader(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		var out strings.Builder
		for r.Next() {
			rec := r.RecordBatch()
			for i := range int(rec.NumRows()) {
				for j := range int(rec.NumCols()) {
					fmt.Fprint(&out, rec.Column(j).ValueStr(i), " ")
				}
				out.WriteByte('\n')
			}
		}
		if err := r.Err(); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		return out.String()
	}
	return text
}

// TestDamage: of two checkpoints the whole one is used, and if neither is whole, the error says so. A service that is another is refused.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	text := randomStream(3, 40)
	run := func(options string) (note string, err error) {
		st, err := OpenState(vfs.OS{}, filepath.Join(dir, "state"))
		if err != nil {
			return "", err
		}
		_, err = Run(t.Context(), Options{
			Set: newTestSet(t, queries), Source: open(t, text), Sinks: toFile(filepath.Join(dir, "out")), Batch: 4,
			State: st, Of: Identity{Options: options}, Note: func(s string) { note = s },
		})
		return note, err
	}
	if _, err := run("x"); err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(filepath.Join(dir, "out"))
	if _, err := run("y"); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "the options x, which is another now") {
		t.Error(err)
	}
	for x, want := range map[string]string{
		"window , lateness 5, summary false": "no window, lateness 5", "window 7, lateness , summary true": "no lateness, summary true", "x": "x",
	} {
		if got := changed(x, "window 7, lateness 7, summary false"); got != want {
			t.Errorf("%q: %q, want %q", x, got, want)
		}
	}
	if _, err := LockState(vfs.OS{}, filepath.Join(dir, "out")); err == nil || !strings.Contains(err.Error(), "is a file; name a folder") {
		t.Error(err)
	}
	latest := filepath.Join(dir, "state", latestName)
	damage := func(path string, how func([]byte) []byte) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, how(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for what, how := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"empty":   func([]byte) []byte { return nil },
		"changed": func(b []byte) []byte { b[len(magic)+20] ^= 1; return b },
		"other":   func([]byte) []byte { return []byte("something else\n00000000\n") },
	} {
		damage(latest, how)
		note, err := run("x")
		if err != nil || !strings.Contains(note, "the checkpoint before it is used") {
			t.Fatalf("%s: %q, %v", what, note, err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "out")); !bytes.Equal(got, want) {
			t.Errorf("%s: the output differs", what)
		}
		before := filepath.Join(dir, "state", beforeName)
		damage(latest, func([]byte) []byte { return []byte("x") })
		damage(before, how)
		if _, err := run("x"); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%s twice: %v", what, err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "state")); err != nil {
			t.Fatal(err)
		}
		if _, err := run("x"); err != nil {
			t.Fatal(err)
		}
	}
	// The source and the output have changed.
	text = "+ 5 6\n" + text
	if _, err := run("x"); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "the source has changed") {
		t.Error(err)
	}
	text = text[6:]
	if err := os.Truncate(filepath.Join(dir, "out"), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := run("x"); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "is shorter than it was") {
		t.Error(err)
	}
}

// TestDamagedGraph: without the file of the graph all updates are made anew.
func TestDamagedGraph(t *testing.T) {
	dir := t.TempDir()
	text := randomStream(4, 60)
	want, _ := follow(t, text, Options{})
	lost := errors.New("the source is lost")
	run := func(set *Set, st *State, from uint64, after int) error {
		_, err := Run(t.Context(), Options{
			Set: set, Source: &cut{open(t, text), after, lost}, Sinks: toFile(filepath.Join(dir, "out")), Batch: 4, State: st, From: from, Snapshot: 5,
		})
		return err
	}
	st, err := OpenState(vfs.OS{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(newTestSet(t, queries), st, 0, 40); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	if st, err = OpenState(vfs.OS{}, dir); err != nil {
		t.Fatal(err)
	}
	if g, seq, note := st.Graph(); g == nil || seq == 0 || seq > 40 || note != "" {
		t.Errorf("the graph of update %d, %q", seq, note)
	}
	if err := os.WriteFile(filepath.Join(dir, st.latest.Graph), []byte("no graph"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, seq, note := st.Graph()
	if g != nil || seq != 0 || !strings.Contains(note, "all updates are made anew") {
		t.Errorf("of a damaged file: update %d, %q", seq, note)
	}
	if err := run(newTestSet(t, queries), st, 0, 1000); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "out")); string(got) != want {
		t.Errorf("%s, %v; want\n%s", got, err, want)
	}
}

// TestInterrupt: a service whose context ends stops after the batch under way, and its state is that of the updates it says.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	text := randomStream(11, 200)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	o := Options{
		Set: newTestSet(t, queries), Source: open(t, text), Sinks: toFile(filepath.Join(dir, "out")), Batch: 8,
		Report: func(s *Status) {
			if s.Seq > 50 {
				cancel(enough)
			}
		},
	}
	o = withState(t, o, filepath.Join(dir, "state"))
	s, err := Run(ctx, o)
	if !errors.Is(err, enough) || s.Seq <= 50 || s.Seq == 200 {
		t.Fatalf("%d updates, %v", s.Seq, err)
	}
	st, err := OpenState(vfs.OS{}, filepath.Join(dir, "state"))
	if err != nil || st.Checkpoint().Seq != s.Seq {
		t.Errorf("%+v, %v; want update %d", st.Checkpoint(), err, s.Seq)
	}
}

// TestBackpressure: the source is read at most two batches ahead of an output that does not go on.
func TestBackpressure(t *testing.T) {
	const batch = 4
	src := &counted{Source: open(t, strings.Repeat("+ 1 2\n- 1 2\n+ 2 3\n+ 1 3\n- 1 3\n", 100)), at: make(chan int, 1000)}
	hold := make(chan struct{})
	w := writeFunc(func(b []byte) (int, error) { <-hold; return len(b), nil })
	done := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), Options{Set: newTestSet(t, queries), Source: src, Sinks: []Sink{NewWriter(w, "ndjson")}, Batch: batch})
		done <- err
	}()
	// The ring has room for two batches. The service may have given back one batch, and no more, since its second write waits.
	most := 0
	for most < 2*batch {
		most = max(most, <-src.at)
	}
	select {
	case n := <-src.at:
		most = max(most, n)
	default:
	}
	if most > 4*batch {
		t.Errorf("%d updates were read", most)
	}
	close(hold)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

type writeFunc func([]byte) (int, error)

func (w writeFunc) Write(b []byte) (int, error) { return w(b) }

// counted tells how many updates were read.
type counted struct {
	Source
	n  int
	at chan int
}

func (c *counted) Next(u *stream.Update) error {
	c.n++
	c.at <- c.n
	return c.Source.Next(u)
}

// TestWindow: edges leave the graph when an update is later than the window, and take their matches with them.
func TestWindow(t *testing.T) {
	text := "+ 1 2 _ 10\n+ 2 3 _ 11\n+ 1 3 _ 12\n+ 4 5 _ 15\n+ 4 6 _ 16\n+ 5 6 _ 22\n"
	for _, batch := range []int{1, 2, 100} {
		set := newTestSet(t, "CREATE WATCH t AS MATCH (a)--(b)--(c)--(a)")
		if err := set.Expire(5, nil); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := Run(t.Context(), Options{Set: set, Source: open(t, text), Sinks: []Sink{NewWriter(&out, "csv")}, Batch: batch}); err != nil {
			t.Fatal(err)
		}
		if want := "seq,query,op,a,b,c\n3,t,+,1,2,3\n5,t,-,1,2,3\n"; out.String() != want {
			t.Errorf("batches of %d:\n%s\nwant\n%s", batch, out.String(), want)
		}
	}
}

// TestRefused: changes of updates before one that cannot be made are written, whether it ends the service or is passed over, in batches of
// any size.
func TestRefused(t *testing.T) {
	text := `{"op":"+","u":1,"v":2,"properties":{"w":1}}

{"op":"+","u":2,"v":3}
{"op":"+","u":1,"v":3}
{"op":"+","u":3,"v":4,"properties":{"w":"text"}}
{"op":"+","u":2,"v":4}
{"op":"+","u":3,"v":4}
`
	for _, policy := range []stream.Policy{stream.Skip, stream.Fatal} {
		want := "seq,query,op,a,b,c\n3,t,+,1,2,3\n"
		if policy == stream.Skip {
			want += "6,t,+,2,3,4\n"
		}
		for _, batch := range []int{1, 2, 3, 100} {
			var out bytes.Buffer
			s, err := Run(t.Context(), Options{
				Set: newTestSet(t, "CREATE WATCH t AS MATCH (a)--(b)--(c)--(a)"), Source: open(t, text), Sinks: []Sink{NewWriter(&out, "csv")}, Batch: batch, Policy: policy,
			})
			var bad *stream.InputError
			if policy == stream.Skip && (err != nil || s.Seq != 6) || policy == stream.Fatal && (!errors.As(err, &bad) || s.Seq != 3 || !strings.HasPrefix(err.Error(), "standard input:5:1: update 4: ")) {
				t.Errorf("batches of %d: %d updates, %v", batch, s.Seq, err)
			}
			if out.String() != want || s.Mistakes[stream.Malformed] != 1 {
				t.Errorf("batches of %d, %d mistakes:\n%s\nwant\n%s", batch, s.Mistakes[stream.Malformed], out.String(), want)
			}
		}
	}
}

// timedStream is n updates of a small graph with times, of which many are equal. Some cannot be made.
func timedStream(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 2))
	var b strings.Builder
	now := 100
	for range n {
		now += r.IntN(3) / 2 * r.IntN(6)
		u, v, label := r.IntN(6), r.IntN(6), "XY"[r.IntN(2)]
		switch x := r.IntN(20); {
		case x == 0:
			fmt.Fprintf(&b, "{\"op\":\"-v\",\"id\":%d}\n", u)
		case x < 5:
			fmt.Fprintf(&b, "{\"op\":\"-\",\"u\":%d,\"v\":%d,\"label\":\"%c\"}\n", u, v, label)
		case x == 5:
			fmt.Fprintf(&b, "{\"op\":\"+\",\"u\":%d,\"v\":%d,\"time\":%d,\"properties\":{\"w\":\"text\"}}\n", u, v, now+r.IntN(5))
		default:
			fmt.Fprintf(&b, "{\"op\":\"+\",\"u\":%d,\"v\":%d,\"label\":\"%c\",\"time\":%d,\"properties\":{\"w\":1}}\n", u, v, label, now-r.IntN(3))
		}
	}
	return b.String()
}

// TestWindowBatches: also with refused updates and with many edges that leave together, neither the size of batches nor an end with a
// continuation from a file of the graph changes the output. It is that of removing the edges one by one.
func TestWindowBatches(t *testing.T) {
	const text = "CREATE WATCH x AS MATCH (a)-[e:X]-(b)-[f:X]-(c), NOT (a)-[:Y]-(c); CREATE WATCH tri AS MATCH (a)--(b)--(c)--(a)"
	lost := errors.New("the source is lost")
	for seed := range uint64(4) {
		updates := `{"op":"+","u":8,"v":9,"label":"X","time":99,"properties":{"w":2}}` + "\n" + timedStream(seed, 200)
		run := func(o Options, src Source) (*Status, error) {
			if o.Set == nil {
				o.Set = newTestSet(t, text)
			}
			if err := o.Set.Expire(5, nil); err != nil {
				t.Fatal(err)
			}
			o.Source, o.Policy = src, stream.Skip
			return Run(t.Context(), o)
		}
		var want string
		for _, batch := range []int{1, 2, 7, 4096} {
			var out bytes.Buffer
			s, err := run(Options{Batch: batch, Sinks: []Sink{NewWriter(&out, "ndjson")}}, open(t, updates))
			if err != nil || s.Mistakes[stream.Malformed] == 0 || s.Seq != 201 {
				t.Fatalf("%d updates, %d mistakes, %v", s.Seq, s.Mistakes[stream.Malformed], err)
			}
			if want == "" {
				want = out.String()
			}
			if out.String() != want {
				t.Errorf("seed %d, batches of %d:\n%s\nwant\n%s", seed, batch, out.String(), want)
			}
		}
		dir := t.TempDir()
		for _, after := range []int{0, 31, 77, 121, 1000} {
			o := Options{Batch: 16, Sinks: toFile(filepath.Join(dir, "out")), Snapshot: 30}
			var err error
			if o.State, err = OpenState(vfs.OS{}, filepath.Join(dir, "state")); err != nil {
				t.Fatal(err)
			}
			g, seq, note := o.State.Graph()
			if note != "" || after > 31 && g == nil {
				t.Fatal("no graph: ", note)
			}
			if g != nil {
				o.Set, o.From = testSetOf(t, g, text), seq
			}
			if _, err := run(o, &cut{open(t, updates), after, lost}); after < 1000 && !errors.Is(err, lost) || after == 1000 && err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(filepath.Join(dir, "out")); string(got) != want {
			t.Errorf("seed %d, continued: %v\n%s\nwant\n%s", seed, err, got, want)
		}
	}
}

// TestWindowRemoved: an edge that is removed, and added anew, leaves by its new time. A removed edge does not leave again.
func TestWindowRemoved(t *testing.T) {
	set := newTestSet(t, "CREATE WATCH e AS MATCH (a)--(b)")
	if err := set.Expire(20, nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s, err := Run(t.Context(), Options{
		Set: set, Source: open(t, "+v 1\n+ 1 2 _ 5\n- 1 2\n+ 1 2 _ 20\n+ 3 4 _ 30\n+ 3 4 _ 41\n- 3 4 _ 30\n"), Sinks: []Sink{NewWriter(&out, "csv")},
	})
	if err != nil || s.Outcomes.Absent > 0 || s.Outcomes.Applied != 7 {
		t.Errorf("%+v, %v", s.Outcomes, err)
	}
	if want := "seq,query,op,a,b\n2,e,+,1,2\n3,e,-,1,2\n4,e,+,1,2\n5,e,+,3,4\n6,e,-,1,2\n"; out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// TestWindowTimes: a window is refused for edges without times, and edges of the beginning grow old too.
func TestWindowTimes(t *testing.T) {
	g := dynamic.New(false, false)
	if _, err := g.AddEdge(dynamic.Num(1), dynamic.Num(2), dynamic.NoLabel); err != nil {
		t.Fatal(err)
	}
	if err := testSetOf(t, g, queries).Expire(5, nil); !errors.Is(err, dynamic.ErrTime) {
		t.Error(err)
	}
	g = dynamic.New(false, false)
	for i, at := range []int64{7, 9, 30} {
		if _, err := g.AddEdgeAt(dynamic.Num(1), dynamic.Num(uint64(2+i)), dynamic.NoLabel, at); err != nil {
			t.Fatal(err)
		}
	}
	set := testSetOf(t, g, "CREATE WATCH e AS MATCH (a)--(b)")
	if err := set.Expire(22, []int64{7, 9, 30}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := Run(t.Context(), Options{Set: set, Source: open(t, "- 8 9\n+ 8 9 _ 32\n"), Sinks: []Sink{NewWriter(&out, "csv")}}); err != nil {
		t.Fatal(err)
	}
	if want := "seq,query,op,a,b\n1,e,-,1,2\n2,e,-,1,3\n2,e,+,8,9\n"; out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// TestLostSource: an error that wraps io.EOF, as that of a connection which ended, is no end of the updates.
func TestLostSource(t *testing.T) {
	ended := fmt.Errorf("a connection: %w", io.EOF)
	var out bytes.Buffer
	_, err := Run(t.Context(), Options{
		Set: newTestSet(t, "CREATE WATCH t AS MATCH (a)--(b)"), Source: &cut{open(t, "+ 1 2\n+ 2 3\n"), 1, ended}, Sinks: []Sink{NewWriter(&out, "csv")},
	})
	if err != ended {
		t.Errorf("%v, want %v", err, ended)
	}
}
