package graph

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"
)

// A model of the builder over maps, slow and obvious.

type modelEdge struct {
	u, v  string // user ids
	label string
	time  int64
	prop  int64
}

type model struct {
	directed, strings, label, time, prop bool
	edges                                []modelEdge
	vertices                             []string
	vlabels                              map[string][]string
	known                                int
}

func drawModel(t *rapid.T) *model {
	m := &model{
		directed: rapid.Bool().Draw(t, "directed"),
		strings:  rapid.Bool().Draw(t, "strings"),
		label:    rapid.Bool().Draw(t, "label"),
		time:     rapid.Bool().Draw(t, "time"),
		prop:     rapid.Bool().Draw(t, "prop"),
		vlabels:  map[string][]string{},
	}
	n := rapid.IntRange(1, 12).Draw(t, "n")
	far := rapid.SampledFrom([]uint64{1, 7, 1 << 20, 1 << 40}).Draw(t, "far")
	id := func(i int) string {
		if m.strings {
			return fmt.Sprintf("v%d", i)
		}
		return strconv.FormatUint(uint64(i)*far, 10)
	}
	for range rapid.IntRange(0, 40).Draw(t, "m") {
		e := modelEdge{u: id(rapid.IntRange(0, n-1).Draw(t, "u")), v: id(rapid.IntRange(0, n-1).Draw(t, "v"))}
		if m.label {
			e.label = rapid.SampledFrom([]string{"", "a", "b", "10", "9"}).Draw(t, "l")
		}
		if m.time {
			e.time = rapid.Int64Range(-1, 1).Draw(t, "t")
		}
		if m.prop {
			e.prop = rapid.Int64Range(0, 1).Draw(t, "p")
		}
		m.edges = append(m.edges, e)
	}
	for range rapid.IntRange(0, 8).Draw(t, "rows") {
		v := id(rapid.IntRange(0, n+3).Draw(t, "row"))
		m.vertices = append(m.vertices, v)
		m.vlabels[v] = append(m.vlabels[v], rapid.SliceOfN(rapid.SampledFrom([]string{"X", "Y", "2"}), 0, 2).Draw(t, "vl")...)
	}
	if !m.strings {
		m.known = rapid.IntRange(0, 5).Draw(t, "known")
	}
	return m
}

func int64Record(name string, x []int64) arrow.RecordBatch {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(x, nil)
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64}}, nil), []arrow.Array{b.NewArray()}, int64(len(x)))
}

func stringColumn(x []string) *StringColumn {
	c := &StringColumn{Off: []uint32{0}}
	for _, s := range x {
		c.Bytes = append(c.Bytes, s...)
		c.Off = append(c.Off, uint32(len(c.Bytes)))
	}
	return c
}

func numbers(x []string) []uint64 {
	r := make([]uint64, len(x))
	for i, s := range x {
		r[i], _ = strconv.ParseUint(s, 10, 64)
	}
	return r
}

// build feeds the model in chunks that arrive in the order given.
func (m *model) build(t *rapid.T, threads int, backwards bool) *Graph {
	b := NewBuilder(BuildOptions{Directed: m.directed, Threads: threads})
	if err := b.AddRange(uint64(m.known)); err != nil {
		t.Fatal(err)
	}
	var chunks []*EdgeChunk
	for i := 0; i < len(m.edges); i += 7 {
		part := m.edges[i:min(i+7, len(m.edges))]
		c := &EdgeChunk{Seq: uint64(i)}
		var us, vs, ls []string
		var ps []int64
		for _, e := range part {
			us, vs, ls = append(us, e.u), append(vs, e.v), append(ls, e.label)
			ps = append(ps, e.prop)
			if m.time {
				c.Time = append(c.Time, e.time)
			}
		}
		if m.strings {
			c.SrcStr, c.DstStr = stringColumn(us), stringColumn(vs)
		} else {
			c.Src, c.Dst = numbers(us), numbers(vs)
		}
		if m.label {
			c.Label = stringColumn(ls)
		}
		if m.prop {
			c.Props = int64Record("p", ps)
		}
		chunks = append(chunks, c)
	}
	if backwards {
		slices.Reverse(chunks)
	}
	for _, c := range chunks {
		if err := b.AddEdges(c); err != nil {
			t.Fatal(err)
		}
	}
	vc := &VertexChunk{}
	var w []int64
	for _, v := range m.vertices {
		vc.Labels = append(vc.Labels, m.vlabels[v])
		w = append(w, int64(len(v))+100)
	}
	if m.strings {
		vc.IDStr = stringColumn(m.vertices)
	} else {
		vc.ID = numbers(m.vertices)
	}
	if len(w) > 0 {
		vc.Props = int64Record("w", w)
	}
	if err := b.AddVertices(vc); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

type arc struct{ u, v string }

func (m *model) check(t *rapid.T, g *Graph) {
	exist := map[string]bool{}
	arcs := map[arc]bool{}
	any := map[arc]bool{}
	type key struct {
		arc
		label      string
		time, prop int64
	}
	type dirs struct{ fwd, back bool }
	rows := map[key]*dirs{}
	var want ReadStats
	less := func(a, b string) bool {
		if m.strings {
			return a < b
		}
		x, _ := strconv.ParseInt(a, 10, 64)
		y, _ := strconv.ParseInt(b, 10, 64)
		return x < y
	}
	for _, v := range m.vertices {
		exist[v] = true
	}
	for i := range m.known {
		exist[strconv.Itoa(i)] = true
	}
	for _, e := range m.edges {
		exist[e.u], exist[e.v] = true, true
		if e.u == e.v {
			want.SelfLoops++
			continue
		}
		any[arc{e.u, e.v}], any[arc{e.v, e.u}] = true, true
		arcs[arc{e.u, e.v}] = true
		if !m.directed {
			arcs[arc{e.v, e.u}] = true
		}
		k := key{arc{e.u, e.v}, e.label, e.time, e.prop}
		back := false
		if !m.directed && less(e.v, e.u) {
			k.u, k.v, back = e.v, e.u, true
		}
		d := rows[k]
		switch {
		case d == nil:
			d = &dirs{}
			rows[k] = d
			want.Kept++
		case back && d.back || !back && d.fwd:
			want.Duplicates++
		default:
			want.Reciprocal++
		}
		d.back, d.fwd = d.back || back, d.fwd || !back
	}
	got := g.Read
	if got.SelfLoops != want.SelfLoops || got.Kept != want.Kept || got.Duplicates != want.Duplicates || got.Reciprocal != want.Reciprocal {
		t.Fatalf("read %+v, want %+v", got, want)
	}
	n := g.NumVertices()
	if n != len(exist) || g.IDs.Len() != n {
		t.Fatalf("%d vertices, want %d", n, len(exist))
	}
	deg := map[string]int{}
	for a := range any {
		deg[a.u]++
	}
	at := uint32(0)
	for c := range g.Classes {
		cl := g.Classes[c]
		if cl.First != at || cl.End <= at && n > 0 {
			t.Fatalf("classes %v", g.Classes)
		}
		at = cl.End
		for v := cl.First; v < cl.End; v++ {
			var names []string
			for _, l := range cl.Labels {
				names = append(names, g.VertexLabels[l])
			}
			wantNames := slices.Clone(m.vlabels[g.IDs.String(v)])
			slices.Sort(names)
			slices.Sort(wantNames)
			if !slices.Equal(names, slices.Compact(wantNames)) {
				t.Fatalf("labels of %s: %v", g.IDs.String(v), names)
			}
			if g.ClassOf(v) != c {
				t.Fatal("ClassOf")
			}
			if v > cl.First {
				x, y := g.IDs.String(v-1), g.IDs.String(v)
				if deg[x] < deg[y] || deg[x] == deg[y] && !less(x, y) {
					t.Fatalf("order: %s before %s", x, y)
				}
			}
		}
	}
	if int(at) != n {
		t.Fatalf("classes end at %d of %d", at, n)
	}
	for u := range uint32(n) {
		su := g.IDs.String(u)
		if w, ok := g.Lookup(su); !ok || w != u {
			t.Fatalf("Lookup(%s) = %d, %v", su, w, ok)
		}
		if g.Degree(u) != deg[su] {
			t.Fatalf("degree of %s: %d, want %d", su, g.Degree(u), deg[su])
		}
		for v := range uint32(n) {
			a := arc{su, g.IDs.String(v)}
			_, in := slices.BinarySearch(g.In.List(v), u)
			if g.Has(u, v) != arcs[a] || in != arcs[a] || g.Any().Has(u, v) != any[a] {
				t.Fatalf("arc %v: out %v in %v any %v, want %v %v", a, g.Has(u, v), in, g.Any().Has(u, v), arcs[a], any[a])
			}
		}
	}
	named := slices.ContainsFunc(m.edges, func(e modelEdge) bool { return e.label != "" && e.u != e.v })
	if (g.Edges != nil) != (len(m.edges) > 0 && (named || m.time || m.prop)) {
		if !(m.label && g.Edges != nil) { // a label on a self-loop only
			t.Fatalf("edge table: %v", g.Edges != nil)
		}
	}
	if e := g.Edges; e != nil {
		seen := map[key]bool{}
		for i := range e.Dst {
			k := key{arc: arc{g.IDs.String(e.Src[i]), g.IDs.String(e.Dst[i])}}
			if !m.directed && less(k.v, k.u) {
				k.u, k.v = k.v, k.u
			}
			if e.Label != nil && e.Label[i] != NoLabel {
				k.label = g.EdgeLabels[e.Label[i]]
			}
			if e.Time != nil {
				k.time = e.Time[i]
			}
			if e.Props != nil {
				k.prop = e.Props.Column(0).(*array.Int64).Value(i)
			}
			if rows[k] == nil || seen[k] {
				t.Fatalf("row %d: %v", i, k)
			}
			seen[k] = true
			if !m.directed && e.Src[i] > e.Dst[i] {
				t.Fatal("row not from the smaller end")
			}
		}
		if len(seen) != len(rows) {
			t.Fatalf("%d rows, want %d", len(seen), len(rows))
		}
		for v := range uint32(n) {
			for i := e.Off[v]; i < e.Off[v+1]; i++ {
				if e.Src[i] != v || i > e.Off[v] && e.Dst[i-1] > e.Dst[i] {
					t.Fatal("row order")
				}
			}
		}
	}
	if len(m.vertices) > 0 {
		col := g.VertexProps.Column(0).(*array.Int64)
		for v := range uint32(n) {
			id := g.IDs.String(v)
			if slices.Contains(m.vertices, id) != col.IsValid(int(v)) || col.IsValid(int(v)) && col.Value(int(v)) != int64(len(id))+100 {
				t.Fatalf("property of %s", id)
			}
		}
	}
}

func TestBuilderAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		g := m.build(t, 1, false)
		m.check(t, g)
		h := m.build(t, 3, true)
		m.check(t, h)
		if !slices.Equal(g.Out.Adj, h.Out.Adj) || !slices.Equal(g.IDs.Num, h.IDs.Num) {
			t.Fatal("the result depends on the arrival of chunks")
		}
	})
}

// TestBuilderLarge crosses many segments and ranges.
func TestBuilderLarge(t *testing.T) {
	const n, m = 3000, 640_000
	for _, directed := range []bool{false, true} {
		var gs []*Graph
		for _, threads := range []int{1, 4} {
			b := NewBuilder(BuildOptions{Directed: directed, Threads: threads})
			done := make(chan error, 8)
			for c := range 8 {
				go func() {
					e := &EdgeChunk{Seq: uint64(c)}
					for i := range uint64(m / 8) {
						h := mix64(uint64(c)<<32 | i)
						e.Src, e.Dst = append(e.Src, h%n%(h>>60*300+1)*3), append(e.Dst, h>>32%n*3)
					}
					done <- b.AddEdges(e)
				}()
			}
			for range 8 {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			g, err := b.Build(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			gs = append(gs, g)
		}
		a, b := gs[0], gs[1]
		if !slices.Equal(a.Out.Adj, b.Out.Adj) || !slices.Equal(a.In.Adj, b.In.Adj) || !slices.Equal(a.IDs.Num, b.IDs.Num) {
			t.Fatal("threads change the result")
		}
		arcs := map[[2]uint32]bool{}
		loops := uint64(0)
		for c := range uint64(8) {
			for i := range uint64(m / 8) {
				h := mix64(c<<32 | i)
				u, v := uint32(h%n%(h>>60*300+1)*3), uint32(h>>32%n*3)
				if u == v {
					loops++
					continue
				}
				arcs[[2]uint32{u, v}] = true
			}
		}
		r := a.Read
		if directed && (r.Kept != uint64(len(arcs)) || a.NumEdges() != r.Kept) || r.SelfLoops != loops || r.Kept+r.Duplicates+r.Reciprocal+loops != m {
			t.Fatalf("%+v %d", r, len(arcs))
		}
		for p := range arcs {
			u, _ := a.LookupInt(int64(p[0]))
			v, _ := a.LookupInt(int64(p[1]))
			if !a.Has(u, v) {
				t.Fatal(p)
			}
		}
		for _, g := range gs {
			g.Close()
		}
	}
}
