package format

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
)

// randomGraph draws a small graph with any features.
func randomGraph(t *rapid.T) *graph.Graph {
	n := rapid.IntRange(1, 8).Draw(t, "n")
	m := rapid.IntRange(0, 12).Draw(t, "m")
	// Half of the graphs are simple, so that the simple formats are tried too.
	simple := rapid.Bool().Draw(t, "simple")
	flag := func(name string) bool { return !simple && rapid.Bool().Draw(t, name) }
	text := flag("text ids")
	dense := rapid.Bool().Draw(t, "dense ids")
	base := rapid.Uint64Range(0, 1).Draw(t, "base")
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z#%" ,;]{1,4}[a-z]`), n, n, rapid.ID[string]).Draw(t, "names")
	ids := rapid.SliceOfNDistinct(rapid.Uint64Range(0, 1<<63-1), n, n, rapid.ID[uint64]).Draw(t, "ids")
	b := graph.NewBuilder(graph.BuildOptions{Directed: rapid.Bool().Draw(t, "directed")})
	vc := &graph.VertexChunk{}
	ec := &graph.EdgeChunk{}
	if text {
		for i := range n {
			putString(&vc.IDStr, []byte(names[i]))
		}
	} else {
		for i := range n {
			if dense {
				ids[i] = uint64(i) + base
			}
			vc.ID = append(vc.ID, ids[i])
		}
	}
	if one := rapid.Bool().Draw(t, "one label"); flag("vertex labels") || simple && one {
		for i := range n {
			_ = i
			l := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "7", "x y"}), 0, 2, rapid.ID[string]).Draw(t, "labels")
			if one {
				l = []string{rapid.SampledFrom([]string{"1", "2", "7"}).Draw(t, "label")}
			}
			vc.Labels = append(vc.Labels, l)
		}
	}
	if flag("vertex props") {
		vc.Props = drawProps(t, n, "p")
	}
	if err := b.AddVertices(vc); err != nil {
		t.Fatal(err)
	}
	for range m {
		u, v := rapid.IntRange(0, n-1).Draw(t, "u"), rapid.IntRange(0, n-1).Draw(t, "v")
		if text {
			putString(&ec.SrcStr, []byte(names[u]))
			putString(&ec.DstStr, []byte(names[v]))
		} else {
			ec.Src, ec.Dst = append(ec.Src, ids[u]), append(ec.Dst, ids[v])
		}
	}
	if m == 0 {
		g, err := b.Build(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	if flag("edge labels") {
		for range m {
			putString(&ec.Label, []byte(rapid.SampledFrom([]string{"", "1", "likes", "a b"}).Draw(t, "edge label")))
		}
	}
	if flag("times") {
		for range m {
			ec.Time = append(ec.Time, rapid.Int64Range(-1<<62, 1<<62).Draw(t, "time"))
		}
	}
	props := rapid.IntRange(0, 2).Draw(t, "edge props")
	if simple && props == 1 {
		props = 0
	}
	switch props {
	case 1:
		ec.Props = drawProps(t, m, "q")
	case 2:
		wb := array.NewInt64Builder(memory.DefaultAllocator)
		for range m {
			wb.Append(int64(rapid.Int32().Draw(t, "weight")))
		}
		ec.Props = array.NewRecordBatch(weightSchema, []arrow.Array{wb.NewArray()}, int64(m))
	}
	if err := b.AddEdges(ec); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func drawProps(t *rapid.T, n int, prefix string) arrow.RecordBatch {
	ib, fb := array.NewInt64Builder(memory.DefaultAllocator), array.NewFloat64Builder(memory.DefaultAllocator)
	sb, bb := array.NewStringBuilder(memory.DefaultAllocator), array.NewBooleanBuilder(memory.DefaultAllocator)
	for range n {
		if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			ib.AppendNull()
			fb.AppendNull()
			sb.AppendNull()
			bb.AppendNull()
			continue
		}
		ib.Append(rapid.Int64().Draw(t, "int"))
		fb.Append(rapid.Float64().Draw(t, "float"))
		sb.Append(rapid.StringMatching(`[a-z,"# ]{0,5}[a-z]`).Draw(t, "string"))
		bb.Append(rapid.Bool().Draw(t, "bool"))
	}
	sc := arrow.NewSchema([]arrow.Field{{Name: prefix + "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: prefix + "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: prefix + "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: prefix + "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}}, nil)
	return array.NewRecordBatch(sc, []arrow.Array{ib.NewArray(), fb.NewArray(), sb.NewArray(), bb.NewArray()}, int64(n))
}

// TestRoundTrip: what a format says it can hold comes back the same; what it
// cannot hold is refused.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	held := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		want := dump(g)
		for _, out := range []struct{ file, verts string }{
			{"g.tsv", ""}, {"g.txt.gz", ""}, {"g.txt.zst", ""}, {"g.tsv", "v.parquet"}, {"g.csv", ""}, {"g.csv", "v.csv"}, {"g.tsv", "v.tsv"}, {"g.el", ""}, {"g.wel", ""}, {"g.mtx", ""}, {"g.tve", ""},
			{"g.bin", ""}, {"g.sg", ""}, {"g.wsg", ""}, {"g.arrow", ""}, {"g.arrow", "v.arrow"}, {"g.parquet", ""}, {"g.parquet", "v.parquet"}, {"g.graphml", ""}, {"g.graphml.gz", ""}, {"g.weft", ""},
		} {
			path := filepath.Join(dir, out.file)
			o, r := WriteOptions{}, ReadOptions{}
			if out.verts != "" {
				o.Vertices = filepath.Join(dir, out.verts)
				r.Vertices = o.Vertices
			}
			if g.NumEdges() == 0 && (out.file == "g.el" || out.file == "g.wel") {
				continue // an empty file
			}
			err := Write(context.Background(), path, g, o)
			if errors.Is(err, ErrLoss) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", out.file, err)
			}
			if out.file == "g.bin" {
				r.Format = "gmatch"
			}
			back, err := Read(context.Background(), path, r, nil)
			if err != nil {
				b, _ := os.ReadFile(path)
				t.Fatalf("%s: %v\n%q\n%s", out.file, err, b[:min(len(b), 300)], want)
			}
			if got := dump(back); got != want && !unlabelledTVE(out.file, g) {
				b, _ := os.ReadFile(path)
				t.Fatalf("%s:\n%s\nwant\n%s\n%q", out.file, got, want, b[:min(len(b), 300)])
			}
			held[out.file+" "+out.verts]++
		}
	})
	t.Log(held)
}

// unlabelledTVE: a `t v e` file gives every vertex a label, 0 where the graph
// has none.
func unlabelledTVE(file string, g *graph.Graph) bool {
	return file == "g.tve" && len(g.VertexLabels) == 0
}

// TestFirstEdgeNoSizes: the first edge of a written .el file is not read back as the numbers of
// vertices and edges.
func TestFirstEdgeNoSizes(t *testing.T) {
	for _, edges := range []string{"2 1\n2 3\n", "3 2\n1 3\n1 2\n", "2 0\n"} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.el"), filepath.Join(dir, "out.el")
		if err := os.WriteFile(in, []byte(edges), 0o666); err != nil {
			t.Fatal(err)
		}
		g, err := Read(context.Background(), in, ReadOptions{Header: NoHeader}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(context.Background(), out, g, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		back, err := Read(context.Background(), out, ReadOptions{}, nil)
		if err != nil || dump(back) != dump(g) {
			t.Errorf("%q: %v\n%s", edges, err, dump(back))
		}
	}
}

// TestDirectionLost: a directed graph is refused by the formats that cannot say
// that it is.
func TestDirectionLost(t *testing.T) {
	g := graph.FromEdges(3, [][2]uint32{{0, 1}, {1, 2}}, true)
	for _, ext := range []string{"el"} {
		path := filepath.Join(t.TempDir(), "g."+ext)
		if err := Write(context.Background(), path, g, WriteOptions{}); !errors.Is(err, ErrLoss) || !strings.Contains(err.Error(), "the directions of the edges") {
			t.Errorf("%s: %v", ext, err)
		}
		if err := Write(context.Background(), path, g, WriteOptions{AllowLoss: true}); err != nil {
			t.Error(err)
		}
		back, err := Read(context.Background(), path, ReadOptions{Direction: Directed}, nil)
		if err != nil || dump(back) != dump(g) {
			t.Errorf("%s: %v\n%s", ext, err, dump(back))
		}
	}
}

// TestTypesKept: text that looks like numbers stays text, and a first edge that
// looks like names of columns stays an edge.
func TestTypesKept(t *testing.T) {
	for _, c := range []struct {
		in string
		o  ReadOptions
	}{
		{"007,7\n7,8\n007,8\n", ReadOptions{Columns: []string{"src:string", "dst"}}},
		{"src,dst,zip:string,at:x\n1,2,0123,5\n2,3,9,6\n", ReadOptions{}},
		{"src,dst,w:float,b:bool\n1,2,5,1\n2,3,,0\n", ReadOptions{}},
		{"from,to\n1,2\nfrom,2\n", ReadOptions{Columns: []string{"src:string", "dst"}, Skip: 0}},
		{"src,dst,time,ts\n1,2,5,6\n2,3,6,7\n", ReadOptions{}},
	} {
		c.o.Vertices = put(t, "v.csv", []byte("id:string,label,zip:string\n7,a,007\n9,b,8\n"))
		if c.o.Columns == nil {
			c.o.Vertices = put(t, "v.csv", []byte("id,label,zip:string\n7,a,007\n9,b,8\n"))
		}
		g, err := Read(context.Background(), put(t, "g.csv", []byte(c.in)), c.o, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{"csv", "tsv"} {
			dir := t.TempDir()
			path, v := filepath.Join(dir, "g."+ext), filepath.Join(dir, "v."+ext)
			if err := Write(context.Background(), path, g, WriteOptions{Vertices: v}); err != nil {
				t.Fatal(err)
			}
			back, err := Read(context.Background(), path, ReadOptions{Vertices: v}, nil)
			if err != nil {
				t.Fatalf("%q as %s: %v", c.in, ext, err)
			}
			if dump(back) != dump(g) {
				t.Errorf("%q as %s:\n%s\nwant\n%s", c.in, ext, dump(back), dump(g))
			}
			if g.Edges != nil && g.Edges.Props != nil && !back.Edges.Props.Schema().Equal(g.Edges.Props.Schema()) {
				t.Errorf("%q as %s: %v, want %v", c.in, ext, back.Edges.Props.Schema(), g.Edges.Props.Schema())
			}
			if !back.VertexProps.Schema().Equal(g.VertexProps.Schema()) {
				t.Errorf("%q as %s: %v, want %v", c.in, ext, back.VertexProps.Schema(), g.VertexProps.Schema())
			}
		}
	}
}

// TestCommasInWords: blanks separate where each line has as many words, though most
// lines have a comma.
func TestCommasInWords(t *testing.T) {
	g, err := Read(context.Background(), put(t, "g.txt", []byte("x,1 y\nz w\nq,1 r\n")), ReadOptions{}, nil)
	if err != nil || g.NumEdges() != 3 || g.NumVertices() != 6 {
		t.Fatalf("%v: %s", err, dump(g))
	}
}

// TestWriteCSV: a CSV that other programs read, and the vertices next to it.
func TestWriteCSV(t *testing.T) {
	g, err := Read(context.Background(), put(t, "e.csv", []byte("src,dst,type,time,w\nann,\"b,c\",likes,5,1.5\nann,cy,,7,\n")), ReadOptions{Direction: Directed,
		Vertices: put(t, "v.csv", []byte("id,labels,age\nann,P;Q,3\n"))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	v := filepath.Join(t.TempDir(), "v.csv")
	if err := Write(context.Background(), "-", g, WriteOptions{Format: "csv", Stdout: &b, Vertices: v, AllowLoss: true}); err != nil {
		t.Fatal(err)
	}
	if want := "src:string,dst:string,label,time,w:float\nann,\"b,c\",likes,5,1.5\nann,cy,,7,\n"; b.String() != want {
		t.Errorf("%s", b.String())
	}
	back, err := Read(context.Background(), "-", ReadOptions{Direction: Directed, Stdin: &b, Vertices: v}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if dump(back) != dump(g) {
		t.Errorf("%s\nwant\n%s", dump(back), dump(g))
	}
}
