package host

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// reader is a sink that writes deltas down and, if it reads lists, the degrees of their vertices at their versions.
type reader struct {
	g     *dynamic.Graph
	base  uint64 // the version before the first update
	reads bool
	sets  bool // the vertices and edges of a match are written as sets
	buf   []uint32
	lines []string
}

func (x *reader) ReadsLists() bool { return x.reads }

func (x *reader) Emit(ds []nest.Delta) error {
	for _, d := range ds {
		var parts []string
		for _, e := range d.Edges { // without numbers of rows, which are others in windows
			u, v := x.g.IDOf(e.From).String(), x.g.IDOf(e.To).String()
			if !x.g.Directed() && u > v {
				u, v = v, u
			}
			parts = append(parts, fmt.Sprintf("%s-%d-%s@%d", u, e.Label, v, e.Time))
		}
		for _, v := range d.Vertices {
			part := x.g.IDOf(v).String()
			if x.reads {
				version := x.base + d.Seq
				if d.Sign < 0 {
					version--
				}
				part += fmt.Sprint("/", x.g.At(version).Len(v, dynamic.Either, dynamic.AnyLabel, nil, &x.buf))
			}
			parts = append(parts, part)
		}
		if x.sets {
			slices.Sort(parts)
		}
		x.lines = append(x.lines, fmt.Sprint(d.Seq, " ", d.Watch, " ", d.Sign, " ", parts))
	}
	return nil
}

// fileOf is the graph as a file has it.
func fileOf(t *rapid.T, g *dynamic.Graph) []byte {
	var b bytes.Buffer
	if _, err := g.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLate replays random streams of all kinds of updates, by a matcher that makes all changes at once and by one that puts off those that no
// watch looks at, with other batches, workers and logs. Between batches watches come and go, and the graph is read. Deltas, counts, results and
// graphs are the same.
func TestLate(t *testing.T) {
	streams, updates, late, deltas := 0, 0, 0, 0
	property := func(t *rapid.T) {
		s := nodiff.Graphs(8).Draw(t, "graph")
		var ps []*pattern.Pattern
		for range rapid.IntRange(1, 3).Draw(t, "watches") {
			if p := drawPattern(t, s); compiles(p, s.Directed) {
				ps = append(ps, p)
			}
		}
		if len(ps) == 0 {
			return
		}
		var us []stream.Update
		for _, o := range drawUpdates(t, s, s.N+1, 60) {
			us = append(us, o.update)
		}
		workers := rapid.SampledFrom([]int{1, 1, 2, manyWorkers}).Draw(t, "workers")
		var gs [2]*dynamic.Graph
		var ms [2]*Matcher
		var sinks [2]*reader
		for i := range gs {
			g := startGraph(t, s)
			for _, key := range []struct {
				has  bool
				make func(string, arrow.DataType) (dynamic.Key, error)
				name string
			}{{s.X != nil, g.VertexKey, "x"}, {s.Weights, g.EdgeKey, "w"}} {
				if _, err := key.make(key.name, arrow.PrimitiveTypes.Int64); key.has && err != nil {
					t.Fatal(err)
				}
			}
			if s.Times {
				if err := g.KeepTimes(); err != nil {
					t.Fatal(err)
				}
			}
			gs[i], ms[i], sinks[i] = g, New(g, Options{Workers: []int{1, workers}[i], AtOnce: i == 0}), &reader{g: g, base: g.Version()}
			// In windows vertices have other numbers, by which the matches of an update are sorted, and one of those that symmetries make alike is chosen.
			sinks[i].sets = workers > 1
			ms[i].SetSeq(0)
		}
		ms[1].grain.late = rapid.SampledFrom([]int{1, 2, 7, 0}).Draw(t, "log")
		if rapid.Bool().Draw(t, "short runs") {
			ms[1].grain.run = 2
		}
		add := func(k int) {
			for _, m := range ms {
				if _, err := m.Add(fmt.Sprint(k), ps[k], nest.WatchOptions{CountsOnly: k == 2}); err != nil {
					t.Fatal(err)
				}
			}
		}
		add(0)
		added := 1
		var outcomes [2]stream.Outcomes
		for rest := us; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "batch")
			reads := rapid.IntRange(0, 3).Draw(t, "reads") == 0
			var counts [2][]nest.Count
			for i, m := range ms {
				sinks[i].reads = reads
				for part := rest[:n]; len(part) > 0; {
					k := len(part)
					if i == 0 {
						k = 1
					}
					r, err := m.Apply(t.Context(), part[:k], sinks[i])
					if err != nil || r.Updates != k {
						t.Fatal(r, err)
					}
					outcomes[i].Join(r.Outcomes)
					counts[i] = sumCounts(counts[i], r.Counts)
					part = part[k:]
				}
			}
			if workers > 1 {
				for _, sink := range sinks {
					slices.Sort(sink.lines)
				}
			}
			if fmt.Sprint(counts[0]) != fmt.Sprint(counts[1]) || !slices.Equal(sinks[0].lines, sinks[1].lines) {
				t.Fatalf("%v in %v, %v: counts %v and %v\n%q\n%q", ps, s, us, counts[0], counts[1], sinks[0].lines, sinks[1].lines)
			}
			rest = rest[n:]
			switch rapid.IntRange(0, 9).Draw(t, "between") {
			case 0:
				if added < len(ps) {
					add(added)
					added++
				}
			case 1:
				if gs[0].NumEdges() != gs[1].NumEdges() {
					t.Fatalf("%d edges, want %d", gs[1].NumEdges(), gs[0].NumEdges())
				}
			case 2:
				for i, m := range ms {
					sinks[i].reads = true
					if _, err := m.Present(t.Context(), "0", sinks[i]); err != nil {
						t.Fatal(err)
					}
				}
			case 3:
				if workers == 1 && !bytes.Equal(fileOf(t, gs[0]), fileOf(t, gs[1])) { // in windows rows have other numbers
					t.Fatalf("%v, %v: the graphs differ", s, us)
				}
			case 4:
				before := outcomes[1]
				outcomes[1].Join(ms[1].Late())
				if outcomes[1] != outcomes[0] {
					t.Fatalf("outcomes %v, %v of them late, want %v", outcomes[1], before, outcomes[0])
				}
				if before != outcomes[1] {
					late++
				}
			}
		}
		outcomes[1].Join(ms[1].Late())
		if outcomes[0] != outcomes[1] || gs[0].Version() != gs[1].Version() {
			t.Fatalf("outcomes %v, version %d; want %v, %d", outcomes[1], gs[1].Version(), outcomes[0], gs[0].Version())
		}
		if workers == 1 && !bytes.Equal(fileOf(t, gs[0]), fileOf(t, gs[1])) {
			t.Fatalf("%v, %v: the graphs differ", s, us)
		}
		for _, p := range ps {
			if a, b := snapshotMatches(t, gs[0], p), snapshotMatches(t, gs[1], p); !slices.Equal(keys(a), keys(b)) {
				t.Fatalf("%v, %v: other matches", s, us)
			}
		}
		streams, updates, deltas = streams+1, updates+len(us), deltas+len(sinks[0].lines)
	}
	rounds := 20
	if long.Asked() {
		rounds *= 10
	}
	for range rounds {
		if rapid.Check(t, property); t.Failed() {
			return
		}
	}
	t.Logf("%d streams, %d updates, %d deltas, %d times late results", streams, updates, deltas, late)
	if late == 0 || deltas == 0 {
		t.Error("nothing was put off, or nothing changed")
	}
}

// compiles reports whether a pattern can be watched.
func compiles(p *pattern.Pattern, directed bool) bool {
	_, err := delta.Compile(p, directed)
	return err == nil
}

// sumCounts adds the counts of a batch.
func sumCounts(to, more []nest.Count) []nest.Count {
	for _, c := range more {
		i, found := slices.BinarySearchFunc(to, c.Watch, func(x nest.Count, id int) int { return x.Watch - id })
		if !found {
			to = slices.Insert(to, i, nest.Count{Watch: c.Watch})
		}
		to[i].Added, to[i].Removed = to[i].Added.Add(c.Added), to[i].Removed.Add(c.Removed)
	}
	return to
}

// TestLateRoom: a matcher that puts nothing off has no room for it.
func TestLateRoom(t *testing.T) {
	for _, timed := range []bool{false, true} {
		for _, atOnce := range []bool{false, true} {
			g := dynamic.New(false, false)
			if timed {
				if err := g.KeepTimes(); err != nil {
					t.Fatal(err)
				}
			}
			m, before := New(g, Options{Workers: 1, AtOnce: atOnce}), g.Bytes()
			if _, err := m.Add("q", parse(t, "MATCH (a:A)--(b:A)"), nest.WatchOptions{}); err != nil {
				t.Fatal(err)
			}
			m.Late()
			if is, want := g.Bytes() > before+1<<10, !atOnce; is != want {
				t.Errorf("times %v, at once %v: %d bytes, before the watch %d", timed, atOnce, g.Bytes(), before)
			}
		}
	}
}
