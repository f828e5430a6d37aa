package dynamic

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
)

// A model of a changing graph over maps, slow and obvious.

type modelEdge struct {
	u, v, label string
	time        int64
}

// values are those of the keys 0 and 1.
type values [2]Value

type modelVertex struct {
	labels string // sorted and joined by a comma
	values values
}

type model struct {
	directed, timed bool
	vertices        map[string]modelVertex
	edges           map[modelEdge]values
	populations     map[population]string // those that compare saw; clones share them
}

// population is what says which vertices a version has.
type population struct {
	g  *Graph
	at uint64
}

func newModel(directed, timed bool) *model {
	return &model{directed, timed, map[string]modelVertex{}, map[modelEdge]values{}, map[population]string{}}
}

func (m *model) clone() *model {
	return &model{m.directed, m.timed, maps.Clone(m.vertices), maps.Clone(m.edges), m.populations}
}

func (m *model) edge(x update) modelEdge {
	if !m.directed && x.u > x.v {
		x.u, x.v = x.v, x.u
	}
	return modelEdge{x.u, x.v, x.label, x.time}
}

type update struct {
	op, u, v, label string // label: of the edge, or the vertex's labels joined by commas
	time            int64
	key             Key
	value           Value // of an edge or vertex that is new, if not Null, or that changes
}

// same returns the model's edges that x is about: of op "-e*" and "set e*", whatever their time.
func (m *model) same(x update) (es []modelEdge) {
	one := m.edge(x)
	for e := range m.edges {
		all := e
		if strings.HasSuffix(x.op, "*") {
			all.time = one.time
		}
		if all == one {
			es = append(es, e)
		}
	}
	return es
}

func (m *model) apply(x update) Result {
	vertex, is := m.vertices[x.u]
	edges := m.same(x)
	if strings.HasSuffix(strings.TrimSuffix(x.op, "*"), "e") {
		switch {
		case x.u == x.v:
			return SelfLoop
		case x.op == "+e" && len(edges) > 0:
			return Duplicate
		case x.op != "+e" && len(edges) == 0:
			return Absent
		}
	} else {
		switch {
		case x.op == "+v" && is:
			return Duplicate
		case x.op != "+v" && !is:
			return Absent
		}
	}
	switch x.op {
	case "+v":
		vertex.labels = x.label
		vertex.values[x.key] = x.value
		m.vertices[x.u] = vertex
	case "-v":
		delete(m.vertices, x.u)
		maps.DeleteFunc(m.edges, func(e modelEdge, _ values) bool { return e.u == x.u || e.v == x.u })
	case "label":
		if vertex.labels == x.label {
			return Duplicate
		}
		vertex.labels = x.label
		m.vertices[x.u] = vertex
	case "set v":
		if vertex.values[x.key] == x.value {
			return Duplicate
		}
		vertex.values[x.key] = x.value
		m.vertices[x.u] = vertex
	case "+e":
		var vs values
		vs[x.key] = x.value
		m.edges[m.edge(x)] = vs
		for _, w := range []string{x.u, x.v} {
			if _, is := m.vertices[w]; !is {
				m.vertices[w] = modelVertex{}
			}
		}
	case "-e", "-e*":
		for _, e := range edges {
			delete(m.edges, e)
		}
	case "set e", "set e*":
		res := Duplicate
		for _, e := range edges {
			vs := m.edges[e]
			if vs[x.key] != x.value {
				res = Applied
			}
			vs[x.key] = x.value
			m.edges[e] = vs
		}
		return res
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
	u, p := idOf(g, x.u), Property{x.key, x.value}
	var ps []Property
	if x.value.Kind() != Null {
		ps = []Property{p}
	}
	switch x.op {
	case "+v":
		return g.AddVertex(u, classOf(g, x.label), ps...)
	case "-v":
		return g.RemoveVertex(u)
	case "label":
		return g.Relabel(u, classOf(g, x.label))
	case "set v":
		return g.SetVertex(u, p)
	}
	v, l := idOf(g, x.v), g.EdgeLabel(x.label)
	at := x.time != 0
	switch {
	case x.op == "+e" && at:
		return g.AddEdgeAt(u, v, l, x.time, ps...)
	case x.op == "+e":
		return g.AddEdge(u, v, l, ps...)
	case x.op == "-e" && at:
		return g.RemoveEdgeAt(u, v, l, x.time)
	case x.op == "-e" || x.op == "-e*":
		return g.RemoveEdge(u, v, l)
	case x.op == "set e" && at:
		return g.SetEdgeAt(u, v, l, x.time, p)
	}
	return g.SetEdge(u, v, l, p)
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
		if x, is := m.vertices[id]; !is || x.labels != labelNames(g, g.ClassOf(v)) || !sameValues(x.values, func(k Key) Value { return w.VertexValue(v, k) }) {
			t.Fatalf("version +%d: vertex %s with labels %q, values %v, %v; want %v, %v", w.at, id, labelNames(g, g.ClassOf(v)), w.VertexValue(v, 0), w.VertexValue(v, 1), is, x)
		}
		return true
	})
	if len(at) != len(m.vertices) {
		t.Fatalf("version +%d has %d vertices, want %d", w.at, len(at), len(m.vertices))
	}
	of, ids := population{g, w.VertexVersion()}, fmt.Sprint(slices.Sorted(maps.Values(at)))
	if was, known := m.populations[of]; known && was != ids {
		t.Fatalf("version +%d has the vertices %s, and another one of vertex version %d has %s", w.at, ids, of.at, was)
	}
	m.populations[of] = ids
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
	m.compareEdges(t, w, at)
	m.compareNear(t, w, at)
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

func sameValues(want values, get func(k Key) Value) bool {
	return get(0) == want[0] && get(1) == want[1]
}

// compareNear compares the neighbours in spans of time with the edges, which compareEdges has compared. From the first call on a graph keeps its
// edges by time.
func (m *model) compareNear(t fataler, w View, at map[string]uint32) {
	t.Helper()
	g := w.g
	g.KeepCalendar(true)
	if _, ok := w.Near(0, Out, AnyLabel, nil, Always, 1<<20, new([]uint32)); ok != g.timed {
		t.Fatalf("edges by time: %v", ok)
	}
	if !g.timed {
		return
	}
	var buf []uint32
	for _, v := range at {
		for _, during := range []Span{{2, 3}, {3, math.MaxInt64}} {
			for _, within := range [][]Range{nil, g.Ranges(g.ClassOf(v))} {
				for _, d := range []Direction{Out, In, Either} {
					for _, l := range []Label{Label(len(g.edgeLabels)), AnyLabel} {
						var want []uint32
						for _, x := range at {
							inside := within == nil || slices.ContainsFunc(within, func(r Range) bool { return r.First <= x && x < r.End })
							if inside && len(w.Edges(v, x, d, l, during, nil)) > 0 {
								want = append(want, x)
							}
						}
						slices.Sort(want)
						got, ok := w.Near(v, d, l, within, during, 1<<20, &buf)
						if !ok || !slices.Equal(got, want) {
							t.Fatalf("version +%d: neighbours of %d in direction %d along label %d in %v: %v, want %v", w.at, v, d, l, during, got, want)
						}
						if _, ok := w.Near(v, d, l, within, during, len(want)-1, &buf); ok {
							t.Fatalf("version +%d: more neighbours than asked for", w.at)
						}
					}
				}
			}
		}
	}
}

// compareEdges compares the edges between vertices, with their times and properties.
func (m *model) compareEdges(t fataler, w View, at map[string]uint32) {
	t.Helper()
	g := w.g
	type key struct {
		u, v  uint32
		label Label
	}
	want := map[key][]modelEdge{}
	for e := range m.edges {
		u, v, l := at[e.u], at[e.v], g.EdgeLabel(e.label)
		want[key{u, v, l}] = append(want[key{u, v, l}], e)
		if !m.directed {
			want[key{v, u, l}] = append(want[key{v, u, l}], e)
		}
	}
	check := func(got []Edge, u, v uint32, label Label, during Span) []Edge {
		es := slices.DeleteFunc(slices.Clone(want[key{u, v, label}]), func(e modelEdge) bool {
			return m.timed && (e.time < during.First || e.time > during.Last)
		})
		slices.SortFunc(es, func(x, y modelEdge) int { return cmp.Compare(x.time, y.time) })
		if len(got) < len(es) {
			t.Fatalf("version +%d: %d edges %d to %d of label %d, want %v", w.at, len(got), u, v, label, es)
		}
		for i, e := range es {
			x := got[i]
			if x.U != u || x.V != v || x.Label != label || x.Time != e.time || m.timed && x.ID == NoEdge {
				t.Fatalf("version +%d: edge %v, want %v", w.at, x, e)
			}
			if !sameValues(m.edges[e], func(k Key) Value { return w.EdgeValue(x.ID, k) }) {
				t.Fatalf("version +%d: edge %v has values %v, %v; want %v", w.at, e, w.EdgeValue(x.ID, 0), w.EdgeValue(x.ID, 1), m.edges[e])
			}
			if x.ID != NoEdge {
				if y := w.Edge(x.ID); y != x && (m.directed || y.U != x.V || y.V != x.U || y.Time != x.Time || y.Label != x.Label) {
					t.Fatalf("version +%d: edge %d is %v, want %v", w.at, x.ID, y, x)
				}
			}
		}
		return got[len(es):]
	}
	for _, u := range at {
		for _, v := range at {
			for _, during := range []Span{Always, {2, 3}} {
				var of [3][]Edge
				for d := range of {
					of[d] = w.Edges(u, v, Direction(d), AnyLabel, during, nil)
				}
				for l := range Label(len(g.edgeLabels) + 1) {
					of[Out] = check(of[Out], u, v, l, during)
					of[In] = check(of[In], v, u, l, during)
					of[Either] = check(of[Either], u, v, l, during)
					rest := check(w.Edges(u, v, Out, l, during, nil), u, v, l, during)
					rest = append(rest, check(w.Edges(u, v, In, l, during, nil), v, u, l, during)...)
					either := check(w.Edges(u, v, Either, l, during, nil), u, v, l, during)
					if m.directed {
						either = check(either, v, u, l, during)
					}
					if len(rest)+len(either) > 0 {
						t.Fatalf("version +%d: edges %v, %v between %d and %d too many", w.at, rest, either, u, v)
					}
				}
				if m.directed {
					for l := range Label(len(g.edgeLabels) + 1) {
						of[Either] = check(of[Either], v, u, l, during)
					}
				}
				if len(of[Out])+len(of[In])+len(of[Either]) > 0 {
					t.Fatalf("version +%d: edges %v between %d and %d too many", w.at, of, u, v)
				}
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
	of := func(rec arrow.RecordBatch, row int) (vs values) {
		for k := range vs {
			if rec != nil && int64(k) < rec.NumCols() {
				vs[k] = valuesOf(rec.Column(k))(row)
			}
		}
		return vs
	}
	for id, x := range m.vertices {
		v, ok := s.Lookup(id)
		if !ok {
			t.Fatalf("the snapshot has no vertex %s", id)
		}
		var names []string
		for _, l := range s.Classes[s.ClassOf(v)].Labels {
			names = append(names, s.VertexLabels[l])
		}
		if got := strings.Join(slices.Sorted(slices.Values(names)), ","); got != x.labels {
			t.Fatalf("the snapshot's vertex %s has labels %q, want %q", id, got, x.labels)
		}
		if got := of(s.VertexProps, int(v)); got != x.values {
			t.Fatalf("the snapshot's vertex %s has values %v, want %v", id, got, x.values)
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
	if s.Edges == nil {
		return
	}
	for row := range s.Edges.Dst {
		x := update{u: s.IDs.String(s.Edges.Src[row]), v: s.IDs.String(s.Edges.Dst[row])}
		if s.Edges.Label != nil && s.Edges.Label[row] != graph.NoLabel {
			x.label = s.EdgeLabels[s.Edges.Label[row]]
		}
		if s.Edges.Time != nil {
			x.time = s.Edges.Time[row]
		}
		if vs, is := m.edges[m.edge(x)]; !is || vs != of(s.Edges.Props, row) {
			t.Fatalf("the snapshot's edge %v has values %v, want %v, %v", x, of(s.Edges.Props, row), is, vs)
		}
	}
}

// replay checks that the events of one version turn the lists of the version before into those of this one.
func replay(t fataler, before, after View, events []Event) {
	t.Helper()
	edges := func(w View) map[edge]bool {
		m := map[edge]bool{}
		var es []Edge
		var buf []uint32
		w.Vertices(nil, func(v uint32) bool {
			for _, l := range w.Labels(v, Out, nil) {
				for _, x := range w.List(v, Out, l, nil, &buf) {
					es = w.Edges(v, x, Out, l, Always, es[:0])
					for _, e := range es {
						m[edge{u: v, v: x, label: l, time: e.Time}] = true
					}
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
			turn(edge{u: e.U, v: e.V, label: e.Label, time: e.Time}, e.Kind == EdgeAdded)
			if !before.g.directed {
				turn(edge{u: e.V, v: e.U, label: e.Label, time: e.Time}, e.Kind == EdgeAdded)
			}
		}
	}
	if want := edges(after); !maps.Equal(have, want) {
		t.Fatalf("after the events: %v, want %v", have, want)
	}
}

// checkArena checks that the structures of a graph between windows agree: blocks fill their chunks, each block in use has the owner it
// names and no other, sums are right, ids without a vertex and rows without an edge are free, and the queue is in order.
func checkArena(t fataler, g *Graph) {
	t.Helper()
	ids, chained := 0, 0
	for _, c := range g.ids.classes {
		for _, r := range c.ranges {
			ids += int(r.next-r.first) - int(r.idle)
			n := uint32(0)
			for ref := r.free; ref != 0; ref = *g.ids.next(ref) {
				n++
			}
			if n != r.idle {
				t.Fatalf("%d free ids of %d", n, r.idle)
			}
		}
	}
	for i := range g.ids.index.n {
		for ref := g.ids.index.heads.page(i / bucketPage)[i%bucketPage]; ref != 0; ref = *g.ids.next(ref) {
			if chained++; g.ids.find(g.ids.idOf(ref-1)) != ref-1 {
				t.Fatalf("vertex %d is not found", ref-1)
			}
		}
	}
	near := 0
	for p := range g.ids.near.end() {
		n := 0
		if refs := g.ids.near.page(p); refs != nil {
			for i, ref := range refs {
				if ref == 0 {
					continue
				}
				if id := Num(uint64(p)*nearPage + uint64(i)); g.ids.find(id) != ref-1 || g.ids.idOf(ref-1) != id {
					t.Fatalf("vertex %d is not found", ref-1)
				}
				n++
			}
			if n == 0 || n != int(g.ids.filled.page(p / nearPage)[p%nearPage]) {
				t.Fatalf("%d references in page %d", n, p)
			}
		}
		near += n
	}
	if near != int(g.ids.nearby) {
		t.Fatalf("%d references, and %d were counted", near, g.ids.nearby)
	}
	chained += near
	if ids != g.NumVertices() || ids != chained || ids != int(g.ids.nearby+g.ids.index.count) {
		t.Fatalf("%d ids and %d names in use for %d vertices", ids, chained, g.NumVertices())
	}
	lists := make([]map[uint64]run, len(g.shards)+1) // by shard, and at last those of rows
	use := func(shard int, r run) {
		if r.n > 0 {
			lists[shard][r.off&^wide] = r
		}
	}
	for i := range lists {
		lists[i] = map[uint64]run{}
	}
	sides := 0
	g.eachSide(func(k Direction, s *side) {
		shard := sides / g.numSides()
		sides++
		dirs := uint32(0)
		for p := range s.pages.end() {
			heads := s.pages.page(p)
			for i := 0; heads != nil && i < pageSize; i++ {
				h, name := &heads[i], fmt.Sprintf("side %d, vertex %d", k, (p*uint32(len(g.shards))+uint32(shard))<<pageBits+uint32(i))
				if h[headLen] > inHead {
					use(shard, slotRun(h[:2], h[headLen]))
				}
				if h.marks() >= 0 && !g.open {
					t.Fatalf("%s has marks", name)
				}
				if !h.several() {
					continue
				}
				dirs++
				use(shard, *s.dir(h))
				d := s.entries(h)
				if len(d) <= entrySize {
					t.Fatalf("%s has a directory of %d", name, len(d))
				}
				for ; len(d) > 0; d = d[entrySize:] {
					if d[1] == 0 {
						t.Fatalf("%s has an empty entry", name)
					}
					if d[1] > inEntry {
						use(shard, slotRun(d[2:4], d[1]))
					}
				}
			}
		}
		for ref := s.idle; ref != 0; ref = s.dirs.page((ref - 1) >> pageBits)[(ref-1)&pageMask].n {
			dirs++
		}
		if dirs != s.end {
			t.Fatalf("%d directories, in use or idle, of %d", dirs, s.end)
		}
	})
	for i := range g.shards {
		checkBlocks(t, &g.shards[i].lists, lists[i])
	}

	x := &g.rows
	var order, found []uint32
	elements := uint32(0)
	for i := range x.index.n {
		ref := x.index.heads.page(i / bucketPage)[i%bucketPage]
		for ref != 0 {
			elements++
			of, next := x.element(ref)
			if *x.link(of.u, of.v, of.edgeLabel()) != ref {
				t.Fatalf("rows of %v are not found", *of)
			}
			if ref&isGroup != 0 {
				gr := x.group(ref)
				if gr.n > inGroup {
					use(len(g.shards), slotRun(gr.slot[:], gr.n))
				}
				if gr.n < 2 || gr.live != gr.n {
					t.Fatalf("group %v", *gr)
				}
			}
			for _, r := range x.between(ref, nil) {
				row := x.row(r)
				if row.u != of.u || row.v != of.v || row.label != of.label || !g.has(row.u, row.v, row.label) {
					t.Fatalf("row %v in a chain of %v", *row, *of)
				}
				found = append(found, r)
			}
			ref = *next
		}
	}
	checkBlocks(t, &x.lists, lists[len(g.shards)])
	free := uint32(0)
	for ref := x.free; ref != 0; ref = x.row(ref - 1).next {
		free++
	}
	if uint32(len(found)) != x.n || x.n+free != x.end || elements != x.index.count || g.timed && uint64(x.n) != g.edges {
		t.Fatalf("%d rows found, %d in use, %d free of %d; %d elements, %d counted; %d edges", len(found), x.n, free, x.end, elements, x.index.count, g.edges)
	}
	for _, nd := range g.queue.nodes {
		for k, l := range nd.leaves {
			if l.n == 0 || nd.firsts[k] != g.queue.stamp(l.rows[0]) {
				t.Fatalf("leaf of %d that begins with %v", l.n, nd.firsts[k])
			}
			order = append(order, l.list()...)
		}
	}
	if !slices.IsSortedFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(x.row(a).time, x.row(b).time), cmp.Compare(a, b))
	}) {
		t.Fatalf("queue %v", order)
	}
	slices.Sort(order)
	slices.Sort(found)
	if g.timed && !slices.Equal(order, found) {
		t.Fatalf("queue of rows %v, want %v", order, found)
	}
	uses := map[uint32]uint32{}
	for _, cs := range []columns{g.vertexProps, g.edgeProps} {
		for _, c := range cs.list {
			for p := range c.pages.end() {
				for i := 0; c.kind == String && c.pages.page(p) != nil && i < pageSize; i++ {
					if word, set := c.get(p<<pageBits + uint32(i)); set != Null {
						uses[uint32(word)]++
					}
				}
			}
		}
	}
	if len(uses) != int(g.texts.index.count) {
		t.Fatalf("%d texts, want %d", g.texts.index.count, len(uses))
	}
	for i, n := range uses {
		if e := g.texts.entry(i); e.uses != n {
			t.Fatalf("text %q has %d uses, want %d", e.text, e.uses, n)
		}
	}
}

// checkBlocks checks the chunks of an arena, whose blocks in use are those of lists.
func checkBlocks(t fataler, a *arena, lists map[uint64]run) {
	t.Helper()
	used, room := uint64(0), uint64(0)
	for c, l := range a.chunks {
		live := uint32(0)
		end := len(l)
		if c == a.fill {
			end = a.place
		}
		p := 0
		if c == a.victim {
			p = a.cursor
		}
		for p < end {
			r, is := lists[uint64(c)<<placeBits|uint64(p)]
			switch {
			case is:
				delete(lists, uint64(c)<<placeBits|uint64(p))
				live += r.size()
				p += int(r.size())
			case l[p] == pad:
				p++
			case l[p] == dead:
				p += int(l[p+1])
			default:
				t.Fatalf("block of %d at %d of chunk %d is not its list", l[p], p, c)
			}
		}
		if p != end || live != a.live[c] {
			t.Fatalf("chunk %d of %d words: blocks end at %d, %d words in use, want %d", c, len(l), p, live, a.live[c])
		}
		used += uint64(live)
		room += uint64(len(l))
	}
	if len(lists) > 0 || used != a.used || room != a.room {
		t.Fatalf("%d words in use, want %d; of %d, want %d; lists without block: %v", a.used, used, a.room, room, lists)
	}
}

// shape is what updates of a test can have.
type shape struct {
	vertices            int
	apart               int // how far their numbers are apart; 0: 1
	edgeLabels, classes []string
	times               int // 0: edges have no times
	values              bool
}

func drawUpdate(t *rapid.T, s shape) update {
	v := func(name string) string {
		return strconv.Itoa(rapid.IntRange(0, s.vertices-1).Draw(t, name) * max(s.apart, 1))
	}
	ops := []string{"+e", "+e", "+e", "+e", "-e", "-e", "-e*", "+v", "-v", "label"}
	if s.times > 0 {
		ops = append(ops, "oldest")
	}
	if s.values {
		ops = append(ops, "set v", "set v", "set e", "set e", "set e*")
	}
	x := update{op: rapid.SampledFrom(ops).Draw(t, "op")}
	if x.op == "oldest" {
		return x
	}
	x.u = v("u")
	switch x.op {
	case "+e", "-e", "-e*", "set e", "set e*":
		x.v = v("v")
		x.label = rapid.SampledFrom(s.edgeLabels).Draw(t, "label")
		if s.times > 0 && !strings.HasSuffix(x.op, "*") {
			x.time = int64(rapid.IntRange(1, s.times).Draw(t, "time"))
		}
	case "+v", "label":
		x.label = rapid.SampledFrom(s.classes).Draw(t, "labels")
	}
	if s.values && strings.ContainsAny(x.op, "+s") {
		switch x.key = Key(rapid.IntRange(0, 1).Draw(t, "key")); {
		case rapid.IntRange(0, 4).Draw(t, "null") == 0:
		case x.key == 1:
			x.value = OfString(rapid.SampledFrom([]string{"", "a", "b", "long text"}).Draw(t, "text"))
		case strings.HasSuffix(x.op, "v"):
			x.value = OfInt(int64(rapid.IntRange(-2, 2).Draw(t, "integer")))
		default:
			x.value = OfFloat(float64(rapid.IntRange(0, 3).Draw(t, "number")) / 2)
		}
	}
	return x
}

// step makes one update of a graph and of its model.
func (m *model) step(t fataler, g *Graph, x update) {
	t.Helper()
	want := Applied
	if x.op == "oldest" {
		if len(m.edges) == 0 {
			want = Absent
		}
		es := g.Before(math.MaxInt64, nil)
		if len(es) != len(m.edges) {
			t.Fatalf("%d edges have times, and not %d", len(es), len(m.edges))
		}
		if want == Absent {
			if got, err := apply(g, update{op: "-e*", u: "0", v: "1"}); got != want || err != nil {
				t.Fatalf("%v, %v; want %v", got, err, want)
			}
			return
		}
		for i, e := range es {
			x := update{u: e.U.String(), v: e.V.String(), label: g.EdgeLabelName(e.Label), time: e.Time}
			if _, is := m.edges[m.edge(x)]; !is {
				t.Fatalf("edge %v is missing", x)
			}
			if i > 0 && es[i-1].Time > e.Time {
				t.Fatalf("edge %v comes before %v", es[i-1], e)
			}
			if middle := g.Before(e.Time, nil); len(middle) > i || !slices.Equal(middle, es[:len(middle)]) || es[len(middle)].Time != e.Time {
				t.Fatalf("before %d: %v", e.Time, middle)
			}
		}
		e := es[0]
		if got, err := g.RemoveEdgeAt(e.U, e.V, e.Label, e.Time); got != want || err != nil {
			t.Fatalf("%v: %v, %v; want %v", x, got, err, want)
		}
		x = update{u: e.U.String(), v: e.V.String(), label: g.EdgeLabelName(e.Label), time: e.Time}
		delete(m.edges, m.edge(x))
		return
	}
	want = m.apply(x)
	if got, err := apply(g, x); got != want || err != nil {
		t.Fatalf("%v: %v, %v; want %v", x, got, err, want)
	}
}

// newGraph returns a graph with the keys of models.
func newGraph(t fataler, directed, text, keys bool) *Graph {
	t.Helper()
	g := New(directed, text)
	if keys {
		for _, f := range []func() (Key, error){
			func() (Key, error) { return g.VertexKey("age", arrow.PrimitiveTypes.Int64) },
			func() (Key, error) { return g.VertexKey("name", arrow.BinaryTypes.String) },
			func() (Key, error) { return g.EdgeKey("amount", arrow.PrimitiveTypes.Float64) },
			func() (Key, error) { return g.EdgeKey("note", arrow.BinaryTypes.String) },
		} {
			if _, err := f(); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
	return g
}

// seer is a Follower that compares the graph that it sees with models.
type seer struct {
	t             *rapid.T
	g             *Graph
	before, after *model
	sight         Sight
	edges         int
}

func (x *seer) Sight(u, v uint32, label Label) Sight {
	x.sight = rapid.SampledFrom([]Sight{None, Present, Both}).Draw(x.t, "sight")
	return x.sight
}

func (x *seer) Edge(e *Event) {
	x.edges++
	if e.Version != x.g.Version() || x.sight != Present || len(x.g.Events()) != 1 {
		x.t.Fatalf("event %v of %v at version %d, with sight %d", e, x.g.Events(), x.g.Version(), x.sight)
	}
	m := x.before
	if e.Kind == EdgeAdded {
		m = x.after
	}
	m.compare(x.t, x.g.At(e.Version))
	m.compare(x.t, x.g.At(e.Version-1))
}

// followed makes an update while a Follower sees it.
func followed(t *rapid.T, g *Graph, m *model, x update) {
	f := &seer{t: t, g: g, before: m.clone(), after: m, sight: Both}
	g.Follow(f)
	defer g.Follow(nil)
	first := g.Version()
	m.step(t, g, x)
	if g.Open() != (f.sight == Both) || g.Version() != first+1 {
		t.Fatalf("%v: open %v at version %d after %d, with sight %d", x, g.Open(), g.Version(), first, f.sight)
	}
	if changed := len(g.Events()) > 0; f.edges > 1 || (f.edges == 1) != (changed && f.sight == Present) {
		t.Fatalf("%v: %d edges seen, events %v, sight %d", x, f.edges, g.Events(), f.sight)
	}
	if g.Open() {
		f.before.compare(t, g.At(first))
		replay(t, g.At(first), g.At(first+1), g.Events())
	}
	m.compare(t, g.Now())
	g.Settle()
}

func TestModel(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		directed, text := rapid.Bool().Draw(t, "directed"), rapid.Bool().Draw(t, "text")
		s := shape{
			edgeLabels: rapid.SampledFrom([][]string{{""}, {"a"}, {"", "a", "b"}, {"a", "b", "c", "d"}}).Draw(t, "edge labels"),
			classes:    rapid.SampledFrom([][]string{{""}, {"", "X"}, {"", "X", "Y", "X,Y", "Z"}}).Draw(t, "classes"),
			vertices:   rapid.SampledFrom([]int{3, 6, 12}).Draw(t, "vertices"),
			apart:      rapid.SampledFrom([]int{1, 40, min(1<<40, math.MaxInt)}).Draw(t, "apart"),
			times:      rapid.SampledFrom([]int{0, 0, 2, 5}).Draw(t, "times"),
			values:     rapid.Bool().Draw(t, "values"),
		}
		g := newGraph(t, directed, text, s.values)
		m := newModel(directed, s.times > 0)
		for range rapid.IntRange(1, 6).Draw(t, "windows") {
			open := rapid.Bool().Draw(t, "open")
			if open {
				g.Begin()
			} else if rapid.Bool().Draw(t, "follow") {
				for range rapid.IntRange(0, 12).Draw(t, "updates") {
					followed(t, g, m, drawUpdate(t, s))
				}
				checkArena(t, g)
			}
			first := g.Version()
			versions := []*model{m.clone()}
			for range rapid.IntRange(0, 12).Draw(t, "updates") {
				m.step(t, g, drawUpdate(t, s))
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
		static, err := g.Now().Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		m.compareStatic(t, static)
		from, err := From(ctx, static)
		if err != nil {
			t.Fatal(err)
		}
		_ = static.Close()
		m.compare(t, from.Now())
		checkArena(t, from)
		if from.NumEdges() != uint64(len(m.edges)) || from.NumVertices() != len(m.vertices) {
			t.Fatalf("%d vertices, %d edges; want %d, %d", from.NumVertices(), from.NumEdges(), len(m.vertices), len(m.edges))
		}
	})
}
