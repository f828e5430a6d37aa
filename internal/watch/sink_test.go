package watch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/vfs"
)

// board is a broker that outlives publishers.
type board struct {
	ids  []string
	text bytes.Buffer
	n    int64
}

func (b *board) Begin(_ context.Context, _ string, length int64) (string, error) {
	b.n = length
	if len(b.ids) == 0 {
		return "", nil
	}
	return b.ids[len(b.ids)-1], nil
}

func (b *board) Publish(id string, data []byte) error {
	b.ids = append(b.ids, id)
	b.text.Write(data)
	b.text.WriteByte('\n')
	b.n++
	return nil
}

func (b *board) Flush() error  { return nil }
func (b *board) Sync() error   { return nil }
func (b *board) Length() int64 { return b.n }
func (b *board) Close() error  { return nil }

// TestSinks: a file and a broker get all changes once, wherever a service ends, also without a checkpoint since its last changes.
func TestSinks(t *testing.T) {
	text := randomStream(7, 120)
	want, _ := follow(t, text, Options{Batch: 8, Present: true})
	lost := errors.New("the source is lost")
	dir := t.TempDir()
	b := &board{}
	state := filepath.Join(dir, "state")
	run := func(after int, o Options) error {
		o.Set, o.Source, o.Batch, o.Snapshot, o.Present = newTestSet(t, queries), &cut{open(t, text), after, lost}, 8, 30, true
		o.Sinks = append(toFile(filepath.Join(dir, "out")), NewMessages(b, "board"))
		o = withState(t, o, state)
		_, err := Run(t.Context(), o)
		return err
	}
	for _, after := range []int{0, 10, 30, 31, 77, 100} {
		if err := run(after, Options{}); !errors.Is(err, lost) {
			t.Fatal(err)
		}
		// As after a kill: the checkpoint before is the latest.
		before := filepath.Join(state, beforeName)
		if _, err := os.Stat(before); err == nil {
			if err := os.Rename(before, filepath.Join(state, latestName)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := run(1000, Options{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "out")); string(got) != want {
		t.Errorf("the file:\n%s\nwant\n%s", got, want)
	}
	if got := b.text.String(); got != want {
		t.Errorf("the broker:\n%s\nwant\n%s", got, want)
	}
	_ = b.Publish("another", []byte("x"))
	if err := run(1000, Options{}); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "the last message of board is not of this watch") {
		t.Error(err)
	}
}

// TestFileShared: two services cannot write one file.
func TestFileShared(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	first := NewFile(vfs.OS{}, name, "ndjson")
	if _, _, err := first.Begin(t.Context(), &Beginning{}); err != nil {
		t.Fatal(err)
	}
	o := Options{Set: newTestSet(t, queries), Source: open(t, "+ 1 2\n"), Sinks: toFile(name)}
	if _, err := Run(t.Context(), o); !errors.Is(err, disk.ErrLocked) {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	o.Sinks = toFile(name)
	if _, err := Run(t.Context(), o); err != nil {
		t.Error(err)
	}
}

// shelf is a log of messages with the numbers 1, 2, 3 …, of which those before low were trimmed.
type shelf struct {
	texts     []string
	next, low int64
	from      int64 // where the latest reader began
	end       int64 // the number of the message before which the log fails; 0: none
}

var errShelf = errors.New("the log is lost")

func (l *shelf) Begin(number, read int64) error {
	l.next, l.from = max(number, 1), number
	if l.next < l.low || read > int64(len(l.texts))+1 {
		return errors.New("trimmed")
	}
	return nil
}

func (l *shelf) Next() (int64, []byte, error) {
	if l.next == l.end || l.next > int64(len(l.texts)) {
		return 0, nil, errShelf
	}
	l.next++
	return l.next - 1, []byte(l.texts[l.next-2]), nil
}

func (l *shelf) Waiting() bool { return true }
func (l *shelf) Close() error  { return nil }

// trimmed is a source of messages that are deleted when they are not needed.
type trimmed struct {
	*stream.Messages
	l    *shelf
	room int64   // messages that are worth a file of the graph; 0: none are
	from []int64 // where the files of the graph were when one was worth it
}

func (s *trimmed) Trim(_, offset int64) error { s.l.low = offset; return nil }
func (s *trimmed) Crowded() bool              { return false }

func (s *trimmed) Worth(from, to int64) bool {
	worth := s.room > 0 && to-from >= s.room
	if worth && !slices.Contains(s.from, from) {
		s.from = append(s.from, from)
	}
	return worth
}

// TestResumeInMiddle: a service of a log begins at its file of the graph, with the window, the order of times and the mistakes as they were there,
// and the log may delete all before the older of the two checkpoints.
func TestResumeInMiddle(t *testing.T) {
	text := "wrong\n" + timedStream(3, 300)
	var texts []string
	for i, line := range strings.SplitAfter(text, "\n") {
		if i%3 == 0 {
			texts = append(texts, "")
		}
		texts[len(texts)-1] += line
	}
	const query = "CREATE WATCH x AS MATCH (a)-[e:X]-(b)-[f:X]-(c), NOT (a)-[:Y]-(c); CREATE WATCH tri AS MATCH (a)--(b)--(c)--(a)"
	dir := t.TempDir()
	l := &shelf{texts: texts}
	run := func(name, state string, end int64) *Status {
		l.end = end
		m := stream.NewMessages(l, "log", stream.Options{Lateness: 1})
		o := Options{Set: newTestSet(t, query), Source: &trimmed{Messages: m, l: l}, Sinks: toFile(filepath.Join(dir, name)), Policy: stream.Skip, Batch: 5, Snapshot: 20}
		if state != "" {
			var err error
			if o.State, err = OpenState(vfs.OS{}, filepath.Join(dir, state)); err != nil {
				t.Fatal(err)
			}
			if g, seq, _ := o.State.Graph(); g != nil {
				o.Set, o.From = testSetOf(t, g, query), seq
			}
		}
		if err := o.Set.Expire(5, nil); err != nil {
			t.Fatal(err)
		}
		s, err := Run(t.Context(), o)
		if !errors.Is(err, errShelf) {
			t.Fatal(err)
		}
		return s
	}
	want := run("whole", "", 0)
	if want.Mistakes[stream.Late] == 0 || want.Mistakes[stream.Malformed] < 2 {
		t.Fatalf("%+v", want)
	}
	var got *Status
	for _, end := range []int64{1, 9, 10, 40, 41, 41, 80, 0} {
		got = run("parts", "state", end)
	}
	if l.from < 20 || l.low < 20 {
		t.Errorf("the last one began at message %d, and those before %d were deleted", l.from, l.low)
	}
	// Another log of this name, which has fewer updates in its messages, is told by its first message after those that were read.
	l = &shelf{texts: slices.Repeat([]string{"# none\n", "+ 1 2 X 1\n"}, 300)}
	st, err := OpenState(vfs.OS{}, filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Set: newTestSet(t, query), Source: stream.NewMessages(l, "log", stream.Options{Lateness: 1}), Sinks: toFile(filepath.Join(dir, "parts")), State: st}
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "which end at message 102") || l.next > 110 {
		t.Errorf("%v; message %d comes next", err, l.next)
	}
	if got.Seq != want.Seq || got.Mistakes != want.Mistakes {
		t.Errorf("%d updates, mistakes %v; want %d, %v", got.Seq, got.Mistakes, want.Seq, want.Mistakes)
	}
	a, _ := os.ReadFile(filepath.Join(dir, "whole"))
	b, _ := os.ReadFile(filepath.Join(dir, "parts"))
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("%s\nwant\n%s", b, a)
	}
}

// TestWorth: the file of the graph is written as soon as the updates after it are worth it, and not before.
func TestWorth(t *testing.T) {
	texts := strings.SplitAfter(strings.TrimSuffix(randomStream(4, 200), "\n"), "\n")
	l := &shelf{texts: texts}
	dir := t.TempDir()
	st, err := OpenState(vfs.OS{}, filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	src := &trimmed{Messages: stream.NewMessages(l, "log", stream.Options{Lateness: -1}), l: l, room: 40}
	o := Options{Set: newTestSet(t, queries), Source: src, Sinks: toFile(filepath.Join(dir, "out")), State: st, Batch: 3}
	if _, err := Run(t.Context(), o); !errors.Is(err, errShelf) {
		t.Fatal(err)
	}
	if n := len(src.from); n < 4 || n > 5 || src.from[0] != 0 {
		t.Errorf("files of the graph after those at %v", src.from)
	}
	for i := range src.from[1:] {
		if d := src.from[i+1] - src.from[i]; d < 40 || d > 43 {
			t.Errorf("files of the graph at %v", src.from)
		}
	}
	if at := st.Checkpoint().GraphAt; at == nil || at.Offset < 160 || l.low < 120 {
		t.Errorf("%+v, trimmed up to %d", at, l.low)
	}
}
