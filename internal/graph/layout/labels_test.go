package layout_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/vfs"
)

// model is the neighbours of each vertex by label and side, as the edge table says.
func model(g *graph.Graph, label uint32, side layout.Side) map[uint32][]uint32 {
	set := map[uint32]map[uint32]bool{}
	add := func(u, v uint32) {
		if set[u] == nil {
			set[u] = map[uint32]bool{}
		}
		set[u][v] = true
	}
	edge := func(u, v uint32) {
		if side != layout.In || !g.Directed {
			add(u, v)
		}
		if side != layout.Out || !g.Directed {
			add(v, u)
		}
	}
	switch {
	case g.Edges != nil && g.Edges.Label != nil:
		for i, l := range g.Edges.Label {
			if l == label {
				edge(g.Edges.Src[i], g.Edges.Dst[i])
			}
		}
	case label == graph.NoLabel:
		for u := range uint32(g.NumVertices()) {
			for _, v := range g.Out.List(u) {
				edge(u, v)
			}
		}
	}
	lists := map[uint32][]uint32{}
	for u, s := range set {
		lists[u] = slices.Sorted(maps.Keys(s))
	}
	return lists
}

// one returns one partition. A warning is an error.
func one(ctx context.Context, l *layout.Labels, label uint32, side layout.Side) (layout.Partition, error) {
	parts, warning, err := l.Partitions(ctx, nil, 2, layout.Key{Label: label, Side: side})
	if err != nil {
		return nil, err
	}
	if warning != "" {
		return nil, errors.New(warning)
	}
	return parts[0], nil
}

// interval returns the interval-PCSR of lists of some of n vertices.
func interval(t *testing.T, l *layout.Lists, n int) *layout.Interval {
	t.Helper()
	x, err := layout.NewInterval(t.Context(), l, n, 0)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// all asks for all partitions of a graph, and returns the warning about their files.
func all(ctx context.Context, fsys vfs.FS, g *graph.Graph, l *layout.Labels) (warning string, err error) {
	var keys []layout.Key
	for label := range uint32(len(g.EdgeLabels) + 1) {
		for _, side := range layout.RowsByLabel(g).Sides() {
			keys = append(keys, layout.Key{Label: label - 1, Side: side})
		}
	}
	_, warning, err = l.Partitions(ctx, fsys, 2, keys...)
	return warning, err
}

// agree compares all partitions of a graph with the model.
func agree(g *graph.Graph, l *layout.Labels) error {
	ctx := context.Background()
	n := uint32(g.NumVertices())
	sides := []layout.Side{layout.Out, layout.In, layout.Both}
	for label := range uint32(len(g.EdgeLabels) + 1) {
		for _, side := range sides {
			p, err := one(ctx, l, label-1, side)
			if err != nil {
				return err
			}
			want := model(g, label-1, side)
			for v := range n {
				id := v
				if l.Renumbering != nil {
					id = l.New[v]
				}
				got := slices.Clone(p.List(id))
				if !slices.IsSorted(got) {
					return fmt.Errorf("label %d%v: the list of %d is not sorted: %v", int32(label-1), side, v, got)
				}
				if l.Renumbering != nil {
					for i, u := range got {
						got[i] = l.Old[u]
					}
					slices.Sort(got)
				}
				if !slices.Equal(got, want[v]) {
					return fmt.Errorf("label %d%v: vertex %d has %v, not %v", int32(label-1), side, v, got, want[v])
				}
			}
			if got := p.List(n + 5); len(got) > 0 {
				return fmt.Errorf("a vertex that is not there has %v", got)
			}
		}
	}
	return nil
}

// classes reports whether a renumbering is a permutation that keeps classes.
func classes(g *graph.Graph, r *layout.Renumbering) error {
	for v, id := range r.New {
		if r.Old[id] != uint32(v) || g.ClassOf(id) != g.ClassOf(uint32(v)) {
			return fmt.Errorf("vertex %d has the new id %d, which is of %d", v, id, r.Old[id])
		}
	}
	return nil
}

// TestPartitions: each kind of partition has the lists of the edge table, of random graphs,
// and is the same after it was written and read.
func TestPartitions(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		g := nodiff.Graphs(40).Draw(t, "graph").Build()
		path := filepath.Join(dir, "g.weft")
		file, err := stored(ctx, g, path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, kind := range []layout.Kind{layout.Hashes, layout.Intervals, layout.OwnIntervals} {
			load := rapid.SampledFrom([]int{1, 2, 40}).Draw(t, "load")
			threads := rapid.IntRange(1, 3).Draw(t, "threads")
			l, err := layout.Make(ctx, g, kind, load, threads)
			if err != nil {
				t.Fatal(err)
			}
			if kind == layout.Intervals {
				if err := classes(g, l.Renumbering); err != nil {
					t.Fatal(err)
				}
			}
			if err := agree(g, l); err != nil {
				t.Fatal(kind, err)
			}
			_ = os.RemoveAll(layout.Folder(path))
			var kept map[string]string
			for again := range 2 { // made and written, then read
				l, warning, err := layout.Open(ctx, nil, path, file, kind, load, threads)
				if err != nil || warning != "" {
					t.Fatal(warning, err)
				}
				if err := agree(file, l); err != nil {
					t.Fatal(kind, err)
				}
				now := files(t, layout.Folder(path))
				if again > 0 && !maps.Equal(now, kept) {
					t.Fatalf("%v: other files after they were read: %v, %v", kind, slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(kept)))
				}
				kept = now
			}
		}
	})
}

// stored writes a graph and opens the file.
func stored(ctx context.Context, g *graph.Graph, path string) (*graph.Graph, error) {
	_ = os.Remove(path)
	if err := g.WriteFile(vfs.OS{}, path); err != nil {
		return nil, err
	}
	return graph.Open(ctx, path, graph.OpenOptions{})
}

// TestRuns: in each class, the vertices of the partition that has most of them are one run
// of ids, and all partitions have fewer runs than under the graph's own ids.
func TestRuns(t *testing.T) {
	ctx := t.Context()
	g := labelled(t, 3000, 9000, 30)
	l, err := layout.Make(ctx, g, layout.Intervals, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	rows := layout.RowsByLabel(g)
	before, after := 0, 0
	largest, runs := make([]int, len(g.Classes)), make([]int, len(g.Classes))
	for label := range uint32(len(g.EdgeLabels) + 1) {
		lists, err := rows.Lists(t.Context(), label-1, layout.Both, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		before += interval(t, lists, g.NumVertices()).Runs()
		if lists, err = rows.Lists(t.Context(), label-1, layout.Both, l.New, 0); err != nil {
			t.Fatal(err)
		}
		after += interval(t, lists, g.NumVertices()).Runs()
		for c, class := range g.Classes {
			n, r, last := 0, 0, layout.None
			for _, v := range lists.Vertices {
				if v >= class.First && v < class.End {
					if n == 0 || v != last+1 {
						r++
					}
					n, last = n+1, v
				}
			}
			if n > largest[c] {
				largest[c], runs[c] = n, r
			}
		}
	}
	for c, r := range runs {
		if r != 1 {
			t.Errorf("the largest partition of class %d has %d runs of ids", c, r)
		}
	}
	if after*3 > before*2 {
		t.Errorf("%d runs of ids, %d without renumbering", after, before)
	}
}

// files returns the content of the files of a folder; none if there is no folder.
func files(t fataler, dir string) map[string]string {
	content := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		content[e.Name()] = string(b)
	}
	return content
}

type fataler interface{ Fatal(...any) }

// TestSizes: the interval-PCSR of an edge label has at most 1.2 times the bytes of CSR, and at most a fifth of
// those of hashed PCSR, in a graph with many edge labels.
func TestSizes(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 12, M: 40_000, Directed: true, EdgeLabels: 50, Skew: 1, Seed: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := layout.Sizes(t.Context(), g, 0, 2)
	if err != nil || len(sizes) != 50 {
		t.Fatalf("sizes of %d labels, %v", len(sizes), err)
	}
	l, err := layout.Make(t.Context(), g, layout.Intervals, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	own, err := layout.Make(t.Context(), g, layout.OwnIntervals, 0, 2)
	if err != nil || own.Renumbering != nil {
		t.Fatal(own, err)
	}
	var runs, ownRuns uint64
	for _, s := range sizes {
		ownRuns, runs = ownRuns+s.OwnRuns, runs+s.Runs
		if 5*s.Interval > s.Hashed || 5*s.Interval > 6*s.CSR {
			t.Errorf("label %d: interval-PCSR has %d bytes, hashed PCSR %d, CSR %d", s.Label, s.Interval, s.Hashed, s.CSR)
		}
		var bytes, r [2]uint64
		for i, l := range []*layout.Labels{l, own} {
			for _, side := range []layout.Side{layout.Out, layout.In} {
				p, err := one(t.Context(), l, s.Label, side)
				if err != nil {
					t.Fatal(err)
				}
				bytes[i] += p.Bytes()
				r[i] += uint64(p.(*layout.Interval).Runs())
			}
		}
		if want := [2]uint64{s.Interval, s.Own}; bytes != want || r != [2]uint64{s.Runs, s.OwnRuns} {
			t.Errorf("label %d: partitions have %d bytes in %d runs, and their sizes say %d in %d and %d", s.Label, bytes, r, want, s.Runs, s.OwnRuns)
		}
	}
	if 3*runs > 2*ownRuns {
		t.Errorf("share sets leave %d runs of %d", runs, ownRuns)
	}
}

// TestRelation: the lists of any relation are laid out under the ids of the partitions. Those of a relation that
// lasts as long as the graph are made once.
func TestRelation(t *testing.T) {
	g := labelled(t, 200, 900, 4)
	every := g.Handle(g.Any().Lists())
	some, err := graph.EdgeRelation(t.Context(), g, 2, func(row int) bool { return row%3 == 0 })
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []layout.Kind{layout.Hashes, layout.Intervals} {
		l, err := layout.Make(t.Context(), g, kind, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []*graph.Handle{every, graph.NewHandle(some.Out)} {
			p, err := l.Relation(t.Context(), h, 2)
			if err != nil {
				t.Fatal(err)
			}
			for v := range uint32(g.NumVertices()) {
				var s graph.Scratch
				id, want := v, slices.Clone(h.List(v, &s))
				if l.Renumbering != nil {
					id = l.New[v]
					for i, u := range want {
						want[i] = l.New[u]
					}
					slices.Sort(want)
				}
				if !slices.Equal(p.List(id), want) {
					t.Fatalf("%v: vertex %d has %v, want %v", kind, v, p.List(id), want)
				}
			}
			again, err := l.Relation(t.Context(), h, 2)
			if err != nil || (again == p) != h.Kept || p.ID() == 0 {
				t.Errorf("%v: a second time the same lists %v, of a relation that lasts %v; %d, %v", kind, again == p, h.Kept, p.ID(), err)
			}
		}
	}
}

// TestCloseRuns: vertices of runs that lie close together, far away from others, are found, and no vertices
// between and behind them.
func TestCloseRuns(t *testing.T) {
	l := &layout.Lists{Off: []uint32{0}}
	for _, v := range []uint32{3, 5, 7, 9, 10, 12, 14, 100_000, 1_000_000, 1_000_002, 1_000_004, 1_000_006, 1_000_007} {
		l.Vertices = append(l.Vertices, v)
		l.Adj = append(l.Adj, v+1)
		l.Off = append(l.Off, uint32(len(l.Adj)))
	}
	x := interval(t, l, 1_000_008)
	for _, at := range []uint32{0, 99_990, 999_990, 1 << 31, layout.None - 20} {
		for v := at; v < at+20; v++ {
			want := []uint32(nil)
			if slices.Contains(l.Vertices, v) {
				want = []uint32{v + 1}
			}
			if got := x.List(v); !slices.Equal(got, want) {
				t.Errorf("vertex %d has %v, want %v", v, got, want)
			}
		}
	}
}

// TestNamedPartitions: only partitions that were asked for are made and kept, and others are
// added to them later.
func TestNamedPartitions(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "g.weft")
	g, err := stored(ctx, labelled(t, 30, 60, 3), path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, c := range []struct {
		kind   layout.Kind
		labels []uint32
		want   []string
	}{
		{layout.Hashes, nil, nil},
		{layout.Hashes, []uint32{1, 1}, []string{"hashed.1"}},
		{layout.Intervals, nil, []string{"hashed.1", "interval.ids"}},
		{layout.Intervals, []uint32{2, graph.NoLabel}, []string{"hashed.1", "interval.2", "interval.ids", "interval.none"}},
		{layout.Intervals, []uint32{0, 2}, []string{"hashed.1", "interval.0", "interval.2", "interval.ids", "interval.none"}},
	} {
		l, warning, err := layout.Open(ctx, nil, path, g, c.kind, 1, 1)
		if err != nil || warning != "" {
			t.Fatal(warning, err)
		}
		var keys []layout.Key
		for _, label := range c.labels {
			keys = append(keys, layout.Key{Label: label, Side: layout.Both})
		}
		parts, warning, err := l.Partitions(ctx, nil, 2, keys...)
		if err != nil || warning != "" || len(parts) != len(keys) {
			t.Fatal(len(parts), warning, err)
		}
		if got := slices.Sorted(maps.Keys(files(t, layout.Folder(path)))); !slices.Equal(got, c.want) {
			t.Errorf("%v of %d: files %v, want %v", c.kind, c.labels, got, c.want)
		}
	}
}

// TestNoFolder: a file where the folder of partitions should be is left as it is, and a warning says
// that partitions are not kept.
func TestNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.weft")
	g, err := stored(t.Context(), labelled(t, 30, 60, 3), path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := os.WriteFile(layout.Folder(path), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []layout.Kind{layout.Hashes, layout.Intervals} {
		l, warning, err := layout.Open(t.Context(), nil, path, g, kind, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if kind == layout.Hashes {
			if _, warning, err = l.Partitions(t.Context(), nil, 2, layout.Key{Label: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(warning, "label partitions are not kept: ") {
			t.Errorf("%v: warning %q", kind, warning)
		}
	}
	if b, err := os.ReadFile(layout.Folder(path)); string(b) != "mine" || err != nil {
		t.Errorf("the file has %q, %v", b, err)
	}
}

// ending is a context that ends when it is looked at for the n-th time.
type ending struct {
	context.Context
	end  context.CancelFunc
	n    int64
	seen atomic.Int64
}

func (e *ending) Err() error {
	if e.seen.Add(1) == e.n {
		e.end()
	}
	return e.Context.Err()
}

// TestEnd: a context that ends while a partition is made ends the call, and a later call makes the
// partition.
func TestEnd(t *testing.T) {
	g := labelled(t, 300, 4000, 3)
	for _, kind := range []layout.Kind{layout.Hashes, layout.Intervals} {
		l, err := layout.Make(t.Context(), g, kind, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		looks := int64(0)
		for n := int64(1); ; n++ {
			if n > 100 {
				t.Fatal("the call never ends by itself")
			}
			ctx, end := context.WithCancel(t.Context())
			_, _, err := l.Partitions(&ending{Context: ctx, end: end, n: n}, nil, 2, layout.Key{Label: 1})
			end()
			if err == nil {
				looks = n
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%v, ended at look %d: %v", kind, n, err)
			}
		}
		if looks < 5 {
			t.Errorf("%v: the context is looked at %d times", kind, looks)
		}
		if _, err := all(t.Context(), nil, g, l); err != nil {
			t.Fatal(err)
		}
		if err := agree(g, l); err != nil {
			t.Error(err)
		}
	}
}

// TestDamagedPartitions: a file that was changed anywhere, cut, or made of another graph gives
// the right lists and a warning, and the next time it is whole.
func TestDamagedPartitions(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	path := filepath.Join(dir, "g.weft")
	g, err := stored(ctx, labelled(t, 30, 60, 3), path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	// warned opens all partitions, compares them, and returns the warning.
	warned := func(what string, kind layout.Kind) string {
		l, warning, err := layout.Open(ctx, nil, path, g, kind, 1, 1)
		if err != nil {
			t.Fatalf("%v, %s: %v", kind, what, err)
		}
		w, err := all(ctx, nil, g, l)
		if err == nil {
			err = agree(g, l)
		}
		if err != nil {
			t.Fatalf("%v, %s: %v", kind, what, err)
		}
		return warning + w
	}
	for _, kind := range []layout.Kind{layout.Hashes, layout.Intervals} {
		if w := warned("new", kind); w != "" {
			t.Fatal(w)
		}
		for base, text := range files(t, layout.Folder(path)) {
			name := filepath.Join(layout.Folder(path), base)
			if !strings.HasPrefix(base, kind.String()) {
				continue
			}
			whole := []byte(text)
			try := func(what string, b []byte) {
				if err := os.WriteFile(name, b, 0o600); err != nil {
					t.Fatal(err)
				}
				if w := warned(base+" "+what, kind); !strings.Contains(w, name) || !strings.HasSuffix(w, "; it is made anew") {
					t.Errorf("%s, %s: warning %q", base, what, w)
				}
				if b, err := os.ReadFile(name); err != nil || string(b) != text {
					t.Fatalf("%s, %s: it was not made anew: %v", base, what, err)
				}
			}
			for i := 0; i < len(whole); i += 1 + i/64 {
				b := slices.Clone(whole)
				b[i] ^= 0x41
				try(fmt.Sprintf("with byte %d of %d changed", i, len(b)), b)
			}
			for _, n := range []int{0, 1, 7, 8, 40, 75, 76, len(whole) / 2, len(whole) - 1} {
				try(fmt.Sprintf("cut at %d", n), whole[:min(n, len(whole)-1)])
			}
			try("longer", append(slices.Clone(whole), 0))
		}
	}
	// The files of another graph with as many vertices and labels, and of another order of ids.
	other, err := stored(ctx, labelled(t, 30, 61, 3), filepath.Join(dir, "h.weft"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	l, _, err := layout.Open(ctx, nil, filepath.Join(dir, "h.weft"), other, layout.Intervals, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all(ctx, nil, other, l); err != nil {
		t.Fatal(err)
	}
	mine := files(t, layout.Folder(path))
	for base, text := range files(t, layout.Folder(filepath.Join(dir, "h.weft"))) {
		name := filepath.Join(layout.Folder(path), base)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if w := warned(base+" of another graph", layout.Intervals); !strings.Contains(w, "not of this graph") {
			t.Errorf("%s of another graph: warning %q", base, w)
		}
		if b, _ := os.ReadFile(name); string(b) != mine[base] {
			t.Errorf("%s of another graph stays", base)
		}
	}
}

// TestOtherIDs: partitions that were kept under other ids than those of the graph's file of ids are
// made anew.
func TestOtherIDs(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "g.weft")
	g, err := stored(ctx, labelled(t, 30, 60, 3), path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	open := func() (*layout.Labels, string) {
		l, warning, err := layout.Open(ctx, nil, path, g, layout.Intervals, 1, 1)
		if err != nil || warning != "" {
			t.Fatal(warning, err)
		}
		w, err := all(ctx, nil, g, l)
		if err != nil {
			t.Fatal(err)
		}
		return l, w
	}
	l, _ := open()
	// Two vertices of a class change places, in a file that is valid by itself.
	name := filepath.Join(layout.Folder(path), "interval.ids")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := g.Classes[0]
	at := len(b) - 4*g.NumVertices() + 4*int(c.First)
	for i := range 4 {
		b[at+i], b[at+4+i] = b[at+4+i], b[at+i]
	}
	sum := func(b []byte) []byte {
		return binary.LittleEndian.AppendUint32(nil, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	}
	copy(b[64:], sum(b[76:]))
	copy(b[72:], sum(b[:72]))
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	m, w := open()
	if m.Old[c.First] != l.Old[c.First+1] {
		t.Fatal("the changed ids were not read")
	}
	if !strings.Contains(w, "not of this graph") {
		t.Errorf("warning %q", w)
	}
	if err := agree(g, m); err != nil {
		t.Error(err)
	}
}

// labelled is a random graph whose edges have labels, of which some are frequent.
func labelled(t *testing.T, n, m, labels int) *graph.Graph {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), uint64(m)))
	s := nodiff.Spec{N: n, EdgeLabels: true}
	for v := range n {
		s.Labels = append(s.Labels, []string{[]string{"A", "B"}[v%2]})
	}
	for range m {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: r.IntN(n), V: r.IntN(n), Label: fmt.Sprint(r.IntN(1 + r.IntN(labels)))})
	}
	return s.Build()
}

// TestSignatures: a vertex that has the pairs of a query stays, for random queries, in graphs of
// both kinds; and most that lack one go.
func TestSignatures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := nodiff.Graphs(60).Draw(t, "graph").Build()
		s, err := layout.NewSignatures(context.Background(), g, rapid.SampledFrom([]int{32, 64, 256}).Draw(t, "size"), rapid.IntRange(1, 3).Draw(t, "threads"))
		if err != nil {
			t.Fatal(err)
		}
		n := uint32(g.NumVertices())
		var pairs []layout.Pair
		for range rapid.IntRange(1, 4).Draw(t, "pairs") {
			p := layout.Pair{Label: uint32(rapid.IntRange(-1, len(g.EdgeLabels)-1).Draw(t, "label")), Class: rapid.IntRange(layout.AnyClass, len(g.Classes)-1).Draw(t, "class")}
			p.In = g.Directed && rapid.Bool().Draw(t, "in")
			pairs = append(pairs, p)
		}
		bits := make([]uint64, (n+63)/64)
		for v := range n {
			bits[v/64] |= 1 << (v % 64)
		}
		s.Filter(s.NewQuery(pairs), bits, 0, n)
		for v := range n {
			// The pairs of v that each pair of the query may stand for, a neighbour at most once.
			has := true
			asked := map[layout.Pair]int{}
			for _, p := range pairs {
				asked[p]++
			}
			for p, count := range asked {
				side := layout.Out
				if p.In {
					side = layout.In
				}
				found := 0
				for _, u := range model(g, p.Label, side)[v] {
					if p.Class == layout.AnyClass || g.ClassOf(u) == p.Class {
						found++
					}
				}
				has = has && found >= count
			}
			if has && bits[v/64]>>(v%64)&1 == 0 {
				t.Fatalf("vertex %d has %v and was left out", v, pairs)
			}
		}
	})
	g := labelled(t, 2000, 6000, 30)
	s, err := layout.NewSignatures(t.Context(), g, 512, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := uint64(64 * g.NumVertices()); s.Bytes() != want {
		t.Errorf("%d bytes, want %d", s.Bytes(), want)
	}
	pair := layout.Pair{Label: uint32(len(g.EdgeLabels) - 1), Class: layout.AnyClass}
	bits := make([]uint64, (g.NumVertices()+63)/64)
	for v := range g.NumVertices() {
		bits[v/64] |= 1 << (v % 64)
	}
	s.Filter(s.NewQuery([]layout.Pair{pair, pair}), bits, 0, uint32(g.NumVertices()))
	two := 0
	for _, l := range model(g, pair.Label, layout.Both) {
		if len(l) > 1 {
			two++
		}
	}
	if n := (plan.Range{First: 0, End: uint32(g.NumVertices())}).Count(bits); n < two || n > g.NumVertices()/4 {
		t.Errorf("%d of %d vertices are left, and %d have two neighbours by the rarest label", n, g.NumVertices(), two)
	}
	if _, err := layout.NewSignatures(t.Context(), g, 48, 1); err == nil {
		t.Error("signatures of 48 bits")
	}
}
