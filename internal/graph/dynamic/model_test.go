package dynamic

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
)

// A model of a changing graph over maps, slow and obvious.

type modelEdge struct{ u, v, label string }

type model struct {
	directed bool
	vertices map[string]string // labels, sorted and joined by a comma
	edges    map[modelEdge]bool
}

func (m *model) clone() *model {
	return &model{m.directed, maps.Clone(m.vertices), maps.Clone(m.edges)}
}

func (m *model) edge(u, v, label string) modelEdge {
	if !m.directed && u > v {
		u, v = v, u
	}
	return modelEdge{u, v, label}
}

type update struct {
	op, u, v, label string // label: of the edge, or the vertex's labels joined by commas
}

func (m *model) apply(x update) Result {
	_, is := m.vertices[x.u]
	e := m.edge(x.u, x.v, x.label)
	switch x.op {
	case "+v":
		if is {
			return Duplicate
		}
		m.vertices[x.u] = x.label
	case "-v":
		if !is {
			return Absent
		}
		delete(m.vertices, x.u)
		maps.DeleteFunc(m.edges, func(e modelEdge, _ bool) bool { return e.u == x.u || e.v == x.u })
	case "label":
		switch old, is := m.vertices[x.u]; {
		case !is:
			return Absent
		case old == x.label:
			return Duplicate
		}
		m.vertices[x.u] = x.label
	case "+e":
		switch {
		case x.u == x.v:
			return SelfLoop
		case m.edges[e]:
			return Duplicate
		}
		m.edges[e] = true
		for _, w := range []string{x.u, x.v} {
			if _, is := m.vertices[w]; !is {
				m.vertices[w] = ""
			}
		}
	case "-e":
		switch {
		case x.u == x.v:
			return SelfLoop
		case !m.edges[e]:
			return Absent
		}
		delete(m.edges, e)
	}
	return Applied
}

func idOf(g *Graph, s string) ID {
	if g.TextIDs() {
		return Text(s)
	}
	x, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return Num(x)
}

func classOf(g *Graph, labels string) Class {
	if labels == "" {
		return g.Class()
	}
	return g.Class(strings.Split(labels, ",")...)
}

func apply(g *Graph, x update) (Result, error) {
	switch x.op {
	case "+v":
		return g.AddVertex(idOf(g, x.u), classOf(g, x.label))
	case "-v":
		return g.RemoveVertex(idOf(g, x.u))
	case "label":
		return g.Relabel(idOf(g, x.u), classOf(g, x.label))
	case "+e":
		return g.AddEdge(idOf(g, x.u), idOf(g, x.v), g.EdgeLabel(x.label))
	}
	return g.RemoveEdge(idOf(g, x.u), idOf(g, x.v), g.EdgeLabel(x.label))
}

// labelNames are a class's labels as the model has them.
func labelNames(g *Graph, c Class) string {
	return strings.Join(slices.Sorted(slices.Values(g.Labels(c))), ",")
}

// compare compares a view with the model at its version.
func (m *model) compare(t fataler, w View) {
	t.Helper()
	g := w.g
	at := map[string]uint32{}
	w.Vertices(nil, func(v uint32) bool {
		id := g.IDOf(v).String()
		if _, twice := at[id]; twice {
			t.Fatalf("version +%d has vertex %s twice", w.at, id)
		}
		at[id] = v
		if labels, is := m.vertices[id]; !is || labels != labelNames(g, g.ClassOf(v)) {
			t.Fatalf("version +%d: vertex %s with labels %q, want %v %q", w.at, id, labelNames(g, g.ClassOf(v)), is, labels)
		}
		return true
	})
	if len(at) != len(m.vertices) {
		t.Fatalf("version +%d has %d vertices, want %d", w.at, len(at), len(m.vertices))
	}
	type key struct {
		v     uint32
		d     Direction
		label Label
	}
	want := map[key]map[uint32]bool{}
	put := func(v, x uint32, d Direction, label Label) {
		for _, k := range []key{{v, d, label}, {v, d, AnyLabel}, {v, Either, label}, {v, Either, AnyLabel}} {
			if want[k] == nil {
				want[k] = map[uint32]bool{}
			}
			want[k][x] = true
		}
	}
	for e := range m.edges {
		u, v, l := at[e.u], at[e.v], g.EdgeLabel(e.label)
		put(u, v, Out, l)
		put(v, u, In, l)
		if !m.directed {
			put(v, u, Out, l)
			put(u, v, In, l)
		}
	}
	within := [][]Range{nil, {}, {{0, 1 << 7}}}
	for c := range Class(g.NumClasses()) {
		within = append(within, g.Ranges(c))
		for _, l := range g.Labels(c) {
			within = append(within, g.Ranges(g.ClassesWith(l)...))
		}
	}
	var buf []uint32
	inside := func(v uint32, rs []Range) bool {
		return rs == nil || slices.ContainsFunc(rs, func(r Range) bool { return r.First <= v && v < r.End })
	}
	for _, rs := range within {
		var got, all []uint32
		w.Vertices(rs, func(v uint32) bool { got = append(got, v); return true })
		for _, v := range at {
			if inside(v, rs) {
				all = append(all, v)
			}
		}
		if slices.Sort(all); !slices.Equal(got, all) {
			t.Fatalf("version +%d: vertices of %v: %v, want %v", w.at, rs, got, all)
		}
	}
	for v := range g.ids.end {
		is := slices.Contains(slices.Collect(maps.Values(at)), v)
		if w.Exists(v) != is {
			t.Fatalf("version +%d: existence of %d is %v", w.at, v, !is)
		}
		for _, d := range []Direction{Out, In, Either} {
			for l := range Label(len(g.edgeLabels) + 1) {
				k := key{v, d, l}
				if l == 0 {
					compareLists(t, w, v, d, AnyLabel, within, want[key{v, d, AnyLabel}], inside, &buf)
				}
				compareLists(t, w, v, d, l, within, want[k], inside, &buf)
			}
		}
	}
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func compareLists(t fataler, w View, v uint32, d Direction, l Label, within [][]Range, want map[uint32]bool, inside func(uint32, []Range) bool, buf *[]uint32) {
	t.Helper()
	for x := range want {
		if !w.Has(v, x, d, l) {
			t.Fatalf("version +%d: no edge %d to %d, direction %d, label %d", w.at, v, x, d, l)
		}
	}
	labels := w.Labels(v, d, nil)
	if len(want) > 0 && l != AnyLabel && !slices.Contains(labels, l) {
		t.Fatalf("version +%d: labels of %d are %v, want %d among them", w.at, v, labels, l)
	}
	for _, rs := range within {
		all := []uint32{}
		for x := range want {
			if inside(x, rs) {
				all = append(all, x)
			}
		}
		slices.Sort(all)
		if n := w.Len(v, d, l, rs, buf); n != len(all) {
			t.Fatalf("version +%d: length %d of %v", w.at, n, all)
		}
		got := w.List(v, d, l, rs, buf)
		if !slices.Equal(got, all) {
			t.Fatalf("version +%d: list of %d, direction %d, label %d, within %v: %v, want %v", w.at, v, d, l, rs, got, all)
		}
		for _, x := range got {
			if !want[x] || !w.Has(v, x, d, l) {
				t.Fatalf("version +%d: %d is in the list of %d, but not by Has", w.at, x, v)
			}
		}
	}
}

// compareStatic compares a snapshot with the model.
func (m *model) compareStatic(t fataler, s *graph.Graph) {
	t.Helper()
	if s.NumVertices() != len(m.vertices) || s.NumEdges() != uint64(len(m.edges)) || s.Directed != m.directed {
		t.Fatalf("snapshot of %d vertices, %d edges, directed %v; want %d, %d", s.NumVertices(), s.NumEdges(), s.Directed, len(m.vertices), len(m.edges))
	}
	for id, labels := range m.vertices {
		v, ok := s.Lookup(id)
		if !ok {
			t.Fatalf("the snapshot has no vertex %s", id)
		}
		var names []string
		for _, l := range s.Classes[s.ClassOf(v)].Labels {
			names = append(names, s.VertexLabels[l])
		}
		if got := strings.Join(slices.Sorted(slices.Values(names)), ","); got != labels {
			t.Fatalf("the snapshot's vertex %s has labels %q, want %q", id, got, labels)
		}
	}
	for e := range m.edges {
		u, _ := s.Lookup(e.u)
		v, _ := s.Lookup(e.v)
		l := graph.NoLabel
		if e.label != "" {
			l, _ = s.EdgeLabel(e.label)
		}
		if !s.RelationByLabel(l).Out.Has(u, v) {
			t.Fatalf("the snapshot has no edge %v", e)
		}
	}
}

// replay checks that the events of one version turn the lists of the version before into those of this one.
func replay(t fataler, before, after View, events []Event) {
	t.Helper()
	edges := func(w View) map[edge]bool {
		m := map[edge]bool{}
		var buf []uint32
		w.Vertices(nil, func(v uint32) bool {
			for _, l := range w.Labels(v, Out, nil) {
				for _, x := range w.List(v, Out, l, nil, &buf) {
					m[edge{v, x, l}] = true
				}
			}
			return true
		})
		return m
	}
	have := edges(before)
	turn := func(e edge, is bool) {
		if have[e] == is {
			t.Fatalf("event of edge %v, which is %v before", e, is)
		}
		if is {
			have[e] = true
		} else {
			delete(have, e)
		}
	}
	for _, e := range events {
		if e.Kind == EdgeAdded || e.Kind == EdgeRemoved {
			turn(edge{e.U, e.V, e.Label}, e.Kind == EdgeAdded)
			if !before.g.directed {
				turn(edge{e.V, e.U, e.Label}, e.Kind == EdgeAdded)
			}
		}
	}
	if want := edges(after); !maps.Equal(have, want) {
		t.Fatalf("after the events: %v, want %v", have, want)
	}
}

// checkArena checks that blocks in use and free ones share no memory, that their sums are right, and that ids without a vertex are free.
func checkArena(t fataler, g *Graph) {
	t.Helper()
	ids := 0
	for _, c := range g.ids.classes {
		for _, r := range c.ranges {
			ids += int(r.next-r.first) - len(r.free)
		}
	}
	if ids != g.NumVertices() || ids != g.ids.taken {
		t.Fatalf("%d ids and %d names in use for %d vertices", ids, g.ids.taken, g.NumVertices())
	}
	owner := map[uint64]string{}
	live := make([]uint32, len(g.lists.chunks))
	used := uint64(0)
	claim := func(off uint64, size uint32, name string) {
		for i := range uint64(size) {
			if o, is := owner[off+i]; is {
				t.Fatalf("%s has an element of %s", name, o)
			}
			owner[off+i] = name
		}
		_ = g.lists.block(off, size)
	}
	use := func(r run, name string) {
		if r.n == 0 {
			return
		}
		size := blockSize(r.n)
		claim(r.off, size, name)
		live[r.off>>placeBits] += size
		used += uint64(size)
	}
	for k, s := range g.sides {
		dirs := 0
		for p, heads := range s.pages {
			for i := 0; heads != nil && i < pageSize; i++ {
				h, name := &heads[i], fmt.Sprintf("side %d, vertex %d", k, p<<pageBits+i)
				use(h.run(), name)
				if h.marks() >= 0 && !g.open {
					t.Fatalf("%s has marks", name)
				}
				if h.n == 0 || h.label&several == 0 {
					continue
				}
				dirs++
				use(s.dirs[h.label&^several], name+", directory")
				d := s.entries(h)
				if len(d) <= entrySize {
					t.Fatalf("%s has a directory of %d", name, len(d))
				}
				for ; len(d) > 0; d = d[entrySize:] {
					if d[1] == 0 {
						t.Fatalf("%s has an empty entry", name)
					}
					if d[1] > 2 {
						use(entryRun(d), name+", entry")
					}
				}
			}
		}
		if dirs+len(s.idle) != len(s.dirs) {
			t.Fatalf("%d directories in use, %d idle, of %d", dirs, len(s.idle), len(s.dirs))
		}
	}
	if used != g.lists.used || !slices.Equal(live, g.lists.live) {
		t.Fatalf("%d elements in use, want %d; by chunk %v, want %v", g.lists.used, used, g.lists.live, live)
	}
	for i, off := range g.lists.free {
		for off != noBlock {
			size := uint32(i)
			if shift := (i - 5) / 4; i > 8 {
				size = uint32(i-4*shift) << shift
			}
			if sizeIndex(size) != i {
				t.Fatalf("size %d has number %d, not %d", size, sizeIndex(size), i)
			}
			claim(off, size, "a free block")
			b := g.lists.block(off, 2)
			off = uint64(b[0]) | uint64(b[1])<<32
		}
	}
	room := uint64(0)
	for _, c := range g.lists.chunks {
		room += uint64(len(c))
	}
	if room != g.lists.room {
		t.Fatalf("room for %d, want %d", g.lists.room, room)
	}
}

func drawUpdate(t *rapid.T, vertices int, edgeLabels, classes []string) update {
	v := func(name string) string { return strconv.Itoa(rapid.IntRange(0, vertices-1).Draw(t, name)) }
	x := update{op: rapid.SampledFrom([]string{"+e", "+e", "+e", "+e", "-e", "-e", "+v", "-v", "label"}).Draw(t, "op")}
	x.u = v("u")
	switch x.op {
	case "+e", "-e":
		x.v = v("v")
		x.label = rapid.SampledFrom(edgeLabels).Draw(t, "label")
	case "+v", "label":
		x.label = rapid.SampledFrom(classes).Draw(t, "labels")
	}
	return x
}

func TestModel(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		directed, text := rapid.Bool().Draw(t, "directed"), rapid.Bool().Draw(t, "text")
		edgeLabels := rapid.SampledFrom([][]string{{""}, {"a"}, {"", "a", "b"}, {"a", "b", "c", "d"}}).Draw(t, "edge labels")
		classes := rapid.SampledFrom([][]string{{""}, {"", "X"}, {"", "X", "Y", "X,Y", "Z"}}).Draw(t, "classes")
		n := rapid.SampledFrom([]int{3, 6, 12}).Draw(t, "vertices")
		g := New(directed, text)
		m := &model{directed, map[string]string{}, map[modelEdge]bool{}}
		for range rapid.IntRange(1, 6).Draw(t, "windows") {
			open := rapid.Bool().Draw(t, "open")
			if open {
				g.Begin()
			}
			first := g.Version()
			versions := []*model{m.clone()}
			for range rapid.IntRange(0, 12).Draw(t, "updates") {
				x := drawUpdate(t, n, edgeLabels, classes)
				want := m.apply(x)
				if got, err := apply(g, x); got != want || err != nil {
					t.Fatalf("%v: %v, %v; want %v", x, got, err, want)
				}
				versions = append(versions, m.clone())
				if open {
					continue
				}
				m.compare(t, g.Now())
				for _, e := range g.Events() {
					if e.Version != g.Version() {
						t.Fatalf("event %v at version %d", e, g.Version())
					}
				}
			}
			if g.NumEdges() != uint64(len(m.edges)) || g.NumVertices() != len(m.vertices) {
				t.Fatalf("%d vertices, %d edges; want %d, %d", g.NumVertices(), g.NumEdges(), len(m.vertices), len(m.edges))
			}
			if g.Version() != first+uint64(len(versions))-1 {
				t.Fatalf("version %d after %d updates of %d", g.Version(), len(versions)-1, first)
			}
			if open {
				for i, x := range versions {
					k := first + uint64(i)
					x.compare(t, g.At(k))
					if i > 0 {
						var events []Event
						for _, e := range g.Events() {
							if e.Version == k {
								events = append(events, e)
							}
						}
						replay(t, g.At(k-1), g.At(k), events)
					}
				}
				k := rapid.IntRange(0, len(versions)-1).Draw(t, "snapshot")
				s, err := g.At(first + uint64(k)).Snapshot(ctx)
				if err != nil {
					t.Fatal(err)
				}
				versions[k].compareStatic(t, s)
				_ = s.Close()
				g.Settle()
			}
			m.compare(t, g.Now())
			checkArena(t, g)
		}
		s, err := g.Now().Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		m.compareStatic(t, s)
		from, err := From(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		m.compare(t, from.Now())
		checkArena(t, from)
		if from.NumEdges() != uint64(len(m.edges)) || from.NumVertices() != len(m.vertices) {
			t.Fatalf("%d vertices, %d edges; want %d, %d", from.NumVertices(), from.NumEdges(), len(m.vertices), len(m.edges))
		}
	})
}
