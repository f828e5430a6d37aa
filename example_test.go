package weft_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft"
)

// friends writes a small graph, a clique of four with a tail, to a file.
func friends() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "weft-example")
	if err != nil {
		panic(err)
	}
	path = filepath.Join(dir, "friends.csv")
	text := "ann,bob\nann,cyd\nann,dan\nbob,cyd\nbob,dan\ncyd,dan\ndan,eve\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		panic(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

func openFriends() (*weft.Graph, func()) {
	path, remove := friends()
	g, err := weft.Open(context.Background(), path, weft.WithColumns("src", "dst"))
	if err != nil {
		panic(err)
	}
	return g, remove
}

func ExampleOpen() {
	path, remove := friends()
	defer remove()
	g, err := weft.Open(context.Background(), path, weft.WithColumns("src", "dst"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.NumVertices(), "vertices,", g.NumEdges(), "edges")
	// Output: 5 vertices, 7 edges
}

func ExampleFromEdges() {
	type properties = map[string]any
	g, err := weft.FromEdges(context.Background(), weft.Edges(
		weft.Edge{Src: "ann", Dst: "bob", Label: "pays", Properties: properties{"amount": 25}},
		weft.Edge{Src: "bob", Dst: "cyd", Label: "pays", Properties: properties{"amount": 24}},
	), weft.WithDirected(true), weft.WithVertexRows(weft.Vertices(
		weft.Vertex{ID: "cyd", Labels: []string{"Bank"}},
	)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	q, err := weft.Parse("MATCH (a)-[e:pays]->(b)-[f:pays]->(c:Bank) WHERE e.amount > f.amount RETURN a, f.amount")
	if err != nil {
		fmt.Println(err)
		return
	}
	for m, err := range g.Match(context.Background(), q) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Values()...)
	}
	// Output: ann 24
}

func ExampleRead() {
	in := strings.NewReader("ann,bob\nbob,cyd\nann,cyd\n")
	g, err := weft.Read(context.Background(), in, weft.WithColumns("src", "dst"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	r, err := g.Cliques(context.Background(), 3)
	fmt.Println(r.Subgraphs, err)
	// Output: 1 <nil>
}

func ExampleFromRecords() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "src", Type: arrow.PrimitiveTypes.Int64}, {Name: "dst", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 1}, nil)
	b.Field(1).(*array.Int64Builder).AppendValues([]int64{2, 3, 3}, nil)
	records, err := array.NewRecordReader(schema, []arrow.RecordBatch{b.NewRecordBatch()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer records.Release()
	g, err := weft.FromRecords(context.Background(), records)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	r, err := g.Cliques(context.Background(), 3)
	fmt.Println(r.Subgraphs, err)
	// Output: 1 <nil>
}

func ExampleGraph_Count() {
	g, remove := openFriends()
	defer remove()
	q, err := weft.Parse("MATCH (a)--(b)--(c)--(a)")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := g.Count(context.Background(), q)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Subgraphs, "triangles,", r.Embeddings, "embeddings")
	// Output: 4 triangles, 24 embeddings
}

func ExampleGraph_Match() {
	g, remove := openFriends()
	defer remove()
	q, err := weft.Parse("MATCH (a)--(b) WHERE id(a) = 'dan' AND deg(b) = 1 RETURN a, b")
	if err != nil {
		fmt.Println(err)
		return
	}
	for m, err := range g.Match(context.Background(), q) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.ID("a"), m.ID("b"))
	}
	// Output: dan eve
}

func ExampleMatch_Values() {
	path, remove := friends()
	defer remove()
	text := "src,dst,label,time:s,amount\nann,bob,pays,1700000000,25\nbob,cyd,pays,1700000060,24\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	g, err := weft.Open(context.Background(), path, weft.WithDirected(true))
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := weft.Parse("MATCH (a)-[e:pays]->(b)-[f:pays]->(c) RETURN a, c, e.amount - f.amount AS fee, f.time")
	if err != nil {
		fmt.Println(err)
		return
	}
	for m, err := range g.Match(context.Background(), q) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Columns(), m.Value("a"), m.Value("fee").(int64), m.At(3).(time.Time))
		e, _ := m.Edge("e")
		fmt.Println(e.Src, e.Dst, e.Label, e.Properties["amount"])
	}
	// Output:
	// [a c fee f.time] ann 1 2023-11-14 22:14:20 +0000 UTC
	// ann bob pays 25
}

func ExampleGraph_List() {
	g, remove := openFriends()
	defer remove()
	q, err := weft.PatternByName("clique(4)")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := g.List(context.Background(), q, os.Stdout, "csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Complete)
	// Output:
	// v0,v1,v2,v3
	// cyd,bob,ann,dan
	// true
}

func ExampleGraph_Exists() {
	g, remove := openFriends()
	defer remove()
	for _, name := range []string{"clique(4)", "clique(5)"} {
		q, err := weft.PatternByName(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		found, _, err := g.Exists(context.Background(), q)
		fmt.Println(name, found, err)
	}
	// Output:
	// clique(4) true <nil>
	// clique(5) false <nil>
}

func ExampleGraph_Motifs() {
	g, remove := openFriends()
	defer remove()
	rs, err := g.Motifs(context.Background(), 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rs {
		fmt.Println(r.Query, r.Subgraphs)
	}
	// Output:
	// wedge 3
	// triangle 4
}

func ExampleGraph_Participation() {
	g, remove := openFriends()
	defer remove()
	q, err := weft.Parse("MATCH (a)--(b)--(c)--(a)")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := g.Participation(context.Background(), q, "a")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("dan is in", p.Count("dan"), "triangles, eve in", p.Count("eve"))
	// Output: dan is in 3 triangles, eve in 0
}

func ExampleGraph_Verify() {
	g, remove := openFriends()
	defer remove()
	q, err := weft.PatternByName("diamond")
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := g.Verify(context.Background(), q, time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.OK)
	// Output: true
}

func ExampleParse_error() {
	_, err := weft.Parse("MATCH (a)--(b")
	fmt.Println(errors.Is(err, weft.ErrQuery))
	fmt.Println(err)
	// Output:
	// true
	// line 1, column 14: unexpected end of the text
	//   MATCH (a)--(b
	//                ^
	// expected :, properties in {}, WHERE or )
}

func ExampleQueryError() {
	const text = "MATCH (a)--(b) WHERE foo bar"
	_, err := weft.Parse(text)
	var mistake *weft.QueryError
	if errors.As(err, &mistake) {
		fmt.Printf("line %d, column %d: %s\n", mistake.Line, mistake.Column, mistake.Message)
		fmt.Println("at:", text[mistake.Offset:mistake.Offset+mistake.Length])
	}
	// Output:
	// line 1, column 26: unexpected bar
	// at: bar
}

func ExampleInputError() {
	path, remove := friends()
	defer remove()
	if err := os.WriteFile(path, []byte("1 2\n2 3\n3 -1\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	_, err := weft.Open(context.Background(), path)
	var mistake *weft.InputError
	if errors.As(err, &mistake) {
		fmt.Printf("line %d, column %d: %s\n", mistake.Line, mistake.Column, mistake.Field)
	}
	_, err = weft.Open(context.Background(), "missing.txt")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// line 3, column 3: "-1"
	// true
}

func ExampleGenerate() {
	g, err := weft.Generate(context.Background(), weft.Spec{Model: "grid", Dims: []uint64{10, 10}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := g.Cliques(context.Background(), 3)
	fmt.Println(r.Subgraphs, err)
	// Output: 0 <nil>
}

func ExampleMatcha_Run() {
	g, remove := openFriends()
	defer remove()
	m, err := weft.ParseMatcha("", `input G: Graph
apply(lambda v: emit(v), lambda v: size(neighbor(G, v)) > 3, vertices(G))
return size(vertices(G))
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := m.Run(context.Background(), map[string]any{"G": g}, func(row []any) bool {
		fmt.Println(row[0], "has more than three friends")
		return true
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Values[0], "vertices")
	// Output:
	// dan has more than three friends
	// 5 vertices
}

func ExampleGraph_Watch() {
	ctx := context.Background()
	g, remove := openFriends()
	defer remove()
	q, err := weft.Parse("CREATE WATCH triangle AS MATCH (a)--(b)--(c)--(a)")
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := g.Watch(ctx, []*weft.Query{q})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	g.Close() // the watch has a copy
	for c, err := range w.Apply(ctx,
		weft.Update{Op: weft.AddEdge, Edge: weft.Edge{Src: "cyd", Dst: "eve"}},
		weft.Update{Op: weft.RemoveEdge, Edge: weft.Edge{Src: "ann", Dst: "bob"}},
	) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(c.Seq, c.Query, c.Added, c.Values())
	}
	// Output:
	// 1 triangle true [cyd dan eve]
	// 2 triangle false [ann bob cyd]
	// 2 triangle false [ann bob dan]
}

func ExampleGraph_Follow() {
	g, remove := openFriends()
	defer remove()
	q, err := weft.PatternByName("clique(4)")
	if err != nil {
		fmt.Println(err)
		return
	}
	updates := "- ann bob\n+ cyd eve\n+ bob eve\n"
	st, err := g.Follow(context.Background(), []*weft.Query{q}, weft.FollowOptions{
		Source: "-", Stdin: strings.NewReader(updates), Stdout: os.Stdout, Sinks: []weft.FollowSink{{Target: "-", Format: "csv"}},
	})
	fmt.Println(st.Updates, "updates,", err)
	// Output:
	// seq,query,op,v0,v1,v2,v3
	// 1,clique(4),-,ann,bob,cyd,dan
	// 3,clique(4),+,bob,cyd,dan,eve
	// 3 updates, <nil>
}
