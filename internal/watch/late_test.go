package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/host"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestLate runs a service whose queries look at few of the changes, which puts the others off, and one that makes all at once. The first
// is stopped again and again, and goes on from its state, also from a file of the graph. Outputs, and the numbers of updates that did something
// or nothing, are the same: after each checkpoint, and at the end.
func TestLate(t *testing.T) {
	text := randomStream(9, 400)
	lost := errors.New("the source is lost")
	dir := t.TempDir()
	run := func(name, state string, after int, atOnce bool) (string, *Status, error) {
		o := Options{Policy: stream.Skip, Batch: 16, Snapshot: 50}
		if state != "" {
			o = withState(t, o, state)
		}
		g, seq, note := (*dynamic.Graph)(nil), uint64(0), ""
		if state != "" {
			g, seq, note = o.State.Graph()
		}
		if note != "" {
			t.Fatal(note)
		}
		if g == nil {
			g = dynamic.New(false, false)
			for v := range uint64(7) {
				if _, err := g.AddVertex(dynamic.Num(v), g.Class(fmt.Sprint("L", v%4))); err != nil {
					t.Fatal(err)
				}
			}
		}
		o.From = seq
		o.Set = NewSet(g, host.New(g, host.Options{Workers: 1, AtOnce: atOnce}), 0)
		addQueries(t, o.Set, `CREATE WATCH path AS MATCH (a:L0)--(b:L1)--(c:L0); CREATE WATCH edge AS MATCH (a:L2)--(b:L3) EMIT REMOVED`)
		path := filepath.Join(dir, name)
		o.Sinks, o.Source = toFile(path), &cut{open(t, text), after, lost}
		s, err := Run(t.Context(), o)
		b, _ := os.ReadFile(path)
		return string(b), s, err
	}
	want, all, err := run("at once", "", 1000, true)
	if err != nil || want == "" || all.Outcomes.Duplicates == 0 || all.Outcomes.Absent == 0 {
		t.Fatal(want, all, err)
	}
	if got, s, err := run("whole", "", 1000, false); err != nil || got != want || s.Outcomes != all.Outcomes {
		t.Errorf("put off, without stops: %v, %+v, want %+v; the same output: %v", err, s.Outcomes, all.Outcomes, got == want)
	}
	state := filepath.Join(dir, "state")
	for i, after := range []int{0, 1, 2, 31, 31, 77, 121, 260, 399} {
		_, s, err := run("parts", state, after, false)
		if !errors.Is(err, lost) {
			t.Fatal(err)
		}
		_, part, err := run(fmt.Sprint("part ", i), "", after, true)
		if !errors.Is(err, lost) || s.Seq != part.Seq || s.Outcomes != part.Outcomes {
			t.Errorf("after %d updates: %d updates, %+v, want %d, %+v, %v", after, s.Seq, s.Outcomes, part.Seq, part.Outcomes, err)
		}
	}
	if files, err := filepath.Glob(filepath.Join(state, graphPrefix+"*")); err != nil || len(files) == 0 {
		t.Errorf("the files of the graph are %q, %v", files, err)
	}
	if got, s, err := run("parts", state, 1000, false); err != nil || got != want || s.Outcomes != all.Outcomes || s.Resumed == 0 {
		t.Errorf("put off, with stops: %v, %+v, want %+v; the same output: %v", err, s.Outcomes, all.Outcomes, got == want)
	}
	st, err := OpenState(vfs.OS{}, state)
	if err != nil {
		t.Fatal(err)
	}
	if c := st.Checkpoint(); c.Outcomes != all.Outcomes {
		t.Errorf("the last checkpoint has %+v, want %+v", c.Outcomes, all.Outcomes)
	}
}
