package weft_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weftgraph/weft"
)

// model is a graph as a program would keep it, from which a static one can be made after each update.
type model struct {
	vertices map[int]weft.Vertex
	edges    map[[3]int]weft.Edge // by ends and time
}

func (m *model) graph(t *testing.T) *weft.Graph {
	t.Helper()
	vs := slices.Collect(maps.Values(m.vertices))
	es := slices.Collect(maps.Values(m.edges))
	// These give the properties their types, and are in no match.
	vs = append(vs, weft.Vertex{ID: 100, Properties: map[string]any{"age": 1, "name": "x", "rich": true, "size": 0.5}}, weft.Vertex{ID: 101})
	es = append(es, weft.Edge{Src: 100, Dst: 101, Time: 1, Properties: map[string]any{"w": 1}})
	g, err := weft.FromEdges(t.Context(), weft.Edges(es...), weft.WithDirected(true), weft.WithVertexRows(weft.Vertices(vs...)))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// rows are the matches of a query, by the names that begin its RETURN.
func (m *model) rows(t *testing.T, q *weft.Query, names int) map[string]string {
	t.Helper()
	g := m.graph(t)
	defer g.Close()
	out := map[string]string{}
	for x, err := range g.Match(t.Context(), q, weft.WithParam("more", 7)) {
		if err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprint(x.Values()[:names]...)] = fmt.Sprint(x.Values())
	}
	return out
}

// TestWatchValues: a change has the values that a search of the graph has, before the update for a match that goes, and after it for one that
// comes.
func TestWatchValues(t *testing.T) {
	texts := []string{
		"CREATE WATCH path AS MATCH (a)-[e]->(b)-[f]->(c) WHERE id(a) < 100 RETURN a, b, c, e.time, f.time - e.time AS gap, e.w, f.w + $more, a.age, b.name, c.size, a.age + c.age, deg(b), a.rich, a.age / 2 AS half",
		"CREATE WATCH tri AS MATCH (a)-->(b)-->(c)-->(a) RETURN a, b, c, a.age, b.age, c.age, a.name + b.name, a.age > b.age, id(c) * 2",
		"CREATE WATCH fan AS MATCH (a)-[e]->(b), (a)-[f]->(c) RETURN a, b, c, e.time, f.time, e.w, f.w, b.age, c.age, b.age - c.age",
		"CREATE WATCH poor AS MATCH (a)-->(b) WHERE a.rich = false AND NOT EXISTS { MATCH (b)-->(x) } RETURN a, b, a.rich, b.name, a.size",
	}
	identity := []int{5, 3, 5, 2}
	var qs []*weft.Query
	for _, text := range texts {
		q, err := weft.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		qs = append(qs, q)
	}
	plain := make([]*weft.Query, len(qs))
	for i, text := range texts {
		var err error
		if plain[i], err = weft.Parse(text[strings.Index(text, "MATCH"):]); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := &model{map[int]weft.Vertex{}, map[[3]int]weft.Edge{}}
		for v := range 6 {
			m.vertices[v] = weft.Vertex{ID: v}
		}
		g := m.graph(t)
		w, err := g.Watch(t.Context(), qs, weft.WithParam("more", 7), weft.WithThreads(2))
		if err != nil {
			t.Fatal(err)
		}
		seq, batch := uint64(0), 1+int(seed)*3
		before := make([]map[string]string, len(qs))
		for i := range qs {
			before[i] = m.rows(t, plain[i], identity[i])
		}
		for seq < 45 {
			var us []weft.Update
			var want []string
			for range batch {
				seq++
				us = append(us, m.update(r))
				for i := range qs {
					after := m.rows(t, plain[i], identity[i])
					var changed []string
					for k, row := range before[i] {
						if _, ok := after[k]; !ok {
							changed = append(changed, fmt.Sprint(seq, " ", i, " false ", row))
						}
					}
					for k, row := range after {
						if _, ok := before[i][k]; !ok {
							changed = append(changed, fmt.Sprint(seq, " ", i, " true ", row))
						}
					}
					slices.Sort(changed)
					want = append(want, changed...)
					before[i] = after
				}
			}
			var got []string
			for c, err := range w.Apply(t.Context(), us...) {
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(texts, func(s string) bool { return strings.HasPrefix(s, "CREATE WATCH "+c.Query+" ") })
				got = append(got, fmt.Sprint(c.Seq, " ", i, " ", c.Added, " ", c.Values()))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, batch %d, updates to %d:\ngot\n%s\nwant\n%s", seed, batch, seq, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		g.Close()
	}
}

// update makes a random update of the model.
func (m *model) update(r *rand.Rand) weft.Update {
	u, v := r.IntN(6), r.IntN(6)
	for v == u {
		v = r.IntN(6)
	}
	k := [3]int{u, v, r.IntN(3)}
	e := weft.Edge{Src: u, Dst: v, Time: k[2]}
	x := r.IntN(13)
	if _, ok := m.vertices[u]; !ok {
		x = 0
	}
	switch {
	case x == 12:
		delete(m.vertices, u)
		maps.DeleteFunc(m.edges, func(k [3]int, _ weft.Edge) bool { return k[0] == u || k[1] == u })
		return weft.Update{Op: weft.RemoveVertex, Vertex: weft.Vertex{ID: u}}
	case x < 5:
		for _, v := range k[:2] {
			if _, ok := m.vertices[v]; !ok {
				m.vertices[v] = weft.Vertex{ID: v}
			}
		}
		if r.IntN(2) > 0 {
			e.Properties = map[string]any{"w": r.IntN(9)}
		}
		if _, ok := m.edges[k]; !ok {
			m.edges[k] = e
		}
		return weft.Update{Op: weft.AddEdge, Edge: e}
	case x < 8:
		delete(m.edges, k)
		return weft.Update{Op: weft.RemoveEdge, Edge: e}
	case x < 9:
		e.Properties = map[string]any{"w": r.IntN(9)}
		if _, ok := m.edges[k]; ok {
			m.edges[k] = e
		}
		return weft.Update{Op: weft.SetEdge, Edge: e}
	}
	name := []string{"age", "name", "rich", "size"}[r.IntN(4)]
	var value any
	switch name {
	case "age":
		value = r.IntN(50)
	case "name":
		value = string(rune('a' + r.IntN(26)))
	case "rich":
		value = r.IntN(2) > 0
	case "size":
		value = float64(r.IntN(9)) / 4
	}
	changed := m.vertices[u]
	changed.Properties = maps.Clone(changed.Properties)
	if changed.Properties == nil {
		changed.Properties = map[string]any{}
	}
	changed.Properties[name] = value
	m.vertices[u] = changed
	return weft.Update{Op: weft.SetVertex, Vertex: weft.Vertex{ID: u, Properties: map[string]any{name: value}}}
}

// TestWatchColumns: the columns of a table of changes have the types of the table of matches, and the matches of the beginning are the same rows.
func TestWatchColumns(t *testing.T) {
	const text = "src,dst,label,time,amount,day\n1,2,A,2024-01-01T00:00:00Z,5,2024-02-01T00:00:00Z\n2,3,,2024-01-02T00:00:00Z,7,\n3,4,A,2024-01-03T00:00:00Z,,2024-02-03T00:00:00Z\n"
	g, err := weft.Read(t.Context(), strings.NewReader(text), weft.WithDirected(true), weft.WithColumns("src:int", "dst:int", "label", "time", "amount:int", "day:timestamp"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	const matches = "MATCH (a)-[e]->(b)-[f]->(c) RETURN a, id(b) AS b, e.amount, f.amount * 1.5 AS more, e.amount > 6 AS much, f.time - e.time AS gap, e.time, e.day, deg(b), a.unknown"
	q, err := weft.Parse(matches)
	if err != nil {
		t.Fatal(err)
	}
	standing, err := weft.Parse("CREATE WATCH q AS " + matches)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"arrow", "csv", "ndjson"} {
		var list, changes bytes.Buffer
		if _, err := g.List(t.Context(), q, &list, format); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Follow(t.Context(), []*weft.Query{standing}, weft.FollowOptions{
			Source: "-", Stdin: strings.NewReader(""), Updates: "text", Stdout: &changes, Sinks: []weft.FollowSink{{Target: "-", Format: format}}, Present: true,
		}); err != nil {
			t.Fatal(err)
		}
		rows := func(b *bytes.Buffer) (out []string) {
			if format != "arrow" {
				return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			}
			r, err := ipc.NewReader(b)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Release()
			var head []string
			for _, f := range r.Schema().Fields() {
				head = append(head, f.Name+" "+f.Type.String())
			}
			out = append(out, strings.Join(head, ","))
			for r.Next() {
				for i := range int(r.RecordBatch().NumRows()) {
					var row []string
					for _, c := range r.RecordBatch().Columns() {
						row = append(row, c.ValueStr(i))
					}
					out = append(out, strings.Join(row, ","))
				}
			}
			return out
		}
		want, got := rows(&list), rows(&changes)
		for i := range got { // without the number, the query and the sign
			if format == "ndjson" {
				_, got[i], _ = strings.Cut(strings.TrimSuffix(got[i], "}"), `"match":`)
			} else {
				got[i] = strings.SplitN(got[i], ",", 4)[3]
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if len(want) < 2 || !slices.Equal(got, want) {
			t.Errorf("%s: changes %q, matches %q", format, got, want)
		}
	}
}
