package format

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
)

// fuzzRead reads the bytes in a format, from a file and from a pipe. Both must
// agree, errors must be typed, and nothing may panic or hang.
func fuzzRead(f *testing.F, format Format, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, in []byte) {
		ctx := t.Context()
		path := filepath.Join(dir, "in")
		if err := os.WriteFile(path, in, 0o666); err != nil {
			t.Fatal(err)
		}
		o := ReadOptions{Format: string(format), MaxVertices: 1 << 16, Threads: 2}
		g, err := Read(ctx, path, o, nil)
		fuzzCheck(t, g, err)
		o.Stdin = bytes.NewReader(in)
		h, err2 := Read(ctx, "-", o, nil)
		fuzzCheck(t, h, err2)
		if err == nil && err2 == nil {
			if a, b := dump(g), dump(h); a != b {
				t.Errorf("from a file\n%s\nfrom a pipe\n%s", a, b)
			}
		}
	})
}

func fuzzCheck(t *testing.T, g *graph.Graph, err error) {
	var e *Error
	switch {
	case err == nil:
		if s := g.Read; s.Kept > s.Lines && g.Read.Format != "" && !g.Directed {
			t.Errorf("kept %d of %d lines", s.Kept, s.Lines)
		}
	case errors.As(err, &e), errors.Is(err, fs.ErrNotExist):
	default:
		t.Errorf("an error without a place: %T %v", err, err)
	}
}

func FuzzEdgeList(f *testing.F) {
	fuzzRead(f, EdgeList, []byte("# c\n1\t2\n2\t3\n"), []byte("a,b,w\n1,2,0.5\n3,4,x\n"), []byte("% asym positive\n1 2 3 1289241911.72836\n"),
		[]byte("2\n1 2 0\n2 3 1\n"), []byte("src,dst,type\n\"a\"\"b\",c,\n"), []byte("\ufeff1;2\r\n"), []byte("1 18446744073709551616\n"), gz("1 2\n", "3 4"),
		[]byte("src,dst,time\nx,y,2024-01-01\n"), []byte("# weft edge list: directed, columns src:string,dst:string,w:bool\na\tb\ttrue\n"), zst("1|2|\n"))
}

func FuzzMTX(f *testing.F) {
	fuzzRead(f, MTX, []byte("%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 2\n1 2\n2 3\n"), []byte("%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1 -2\n"),
		[]byte("%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 1\n3 3 -9\n"))
}

func FuzzTVE(f *testing.F) {
	fuzzRead(f, TVE, []byte("t 3 2\nv 0 5 1\nv 1 5 2\nv 2 6 1\ne 0 1\ne 1 2 4\n"), []byte("t # 0\nv 0 a\nv 1 b\ne 0 1 x\nt # -1\n"), []byte("v 10 a\nv 11 b\ne 10 11 3\n"))
}

func FuzzGMatch(f *testing.F) { fuzzRead(f, GMatch, gmatchSquare, gmatchSquare[:60]) }

func FuzzSG(f *testing.F) {
	fuzzRead(f, SG, le(uint8(1), int64(2), int64(3), []int64{0, 1, 2, 2}, []int32{1, 2}, []int64{0, 0, 1, 2}, []int32{0, 1}),
		le(uint8(0), int64(2), int64(2), []int64{0, 1, 2}, []int32{1, 0}))
}

func FuzzWSG(f *testing.F) {
	fuzzRead(f, WSG, le(uint8(0), int64(2), int64(2), []int64{0, 1, 2}, []int32{1, 7, 0, 7}))
}

// tableSeed is a small attributed graph as a table.
func tableSeed(f *testing.F, format string) []byte {
	g, err := Read(context.Background(), put(f, "e.csv", []byte("src,dst,type,time,w,b\nann,bob,likes,5,1.5,true\nann,cy,,7,,false\n")), ReadOptions{}, nil)
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(context.Background(), "-", g, WriteOptions{Format: format, Stdout: &b}); err != nil {
		f.Fatal(err)
	}
	return b.Bytes()
}

func FuzzArrow(f *testing.F) { fuzzRead(f, Arrow, tableSeed(f, "arrow"), []byte("ARROW1\x00\x00")) }

// attributedSeeds are files of testdata/attributed.
func attributedSeeds(f *testing.F, names ...string) (out [][]byte) {
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join("testdata", "attributed", name))
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func FuzzGraphML(f *testing.F) {
	fuzzRead(f, GraphML, append(attributedSeeds(f, "multi.graphml", "tree.graphml"),
		[]byte(`<graphml><key id="a" for="all" attr.name="x" attr.type="int"><default>7</default></key><graph edgedefault="undirected"><edge source="1" target="b" directed="true"/><node id="1"><data key="a">3</data></node><node id="b"/></graph></graphml>`),
		[]byte(`<!DOCTYPE g [<!ENTITY a "b">]><graphml><graph><node id="&a;"/></graph></graphml>`))...)
}

func FuzzGML(f *testing.F) {
	fuzzRead(f, GML, append(attributedSeeds(f, "multi.gml", "tree.gml"), []byte("# c\nVersion 1 graph [ directed 1 node [ id 1 label \"&quot;\" g [ x 1 ] ] edge [ source 1 target \"b\" w -1.5e3 v NAN ] node [ id \"b\" ] ]"))...)
}

func FuzzNetworkX(f *testing.F) {
	fuzzRead(f, NetworkX, append(attributedSeeds(f, "multi.edgelist"), []byte("1 2 {}\n# c\n2 3 {'w': 2, \"k\": 'a\\'b\\x41\\n', 'f': -1e3, 'b': True, 'n': None, 5: nan}\n"))...)
}

// FuzzVertices reads the bytes as --labels and as --vertices, together with edges with
// numbers and with text for ids.
func FuzzVertices(f *testing.F) {
	for _, s := range []string{"1 A\n2 B\n", "id,labels,age\n1,P;Q,3\n2,,x\n", "id:string\tlabels\tzip:string\nann\t\t007\n", "7\n8\n", "\ufeffid;w:float\r\n1;0.5\r\n1;2\r\n", "x\ty\nann\tA B\n", "PAR1", "ARROW1\x00\x00"} {
		f.Add([]byte(s))
	}
	for _, format := range []string{"arrow", "parquet"} {
		f.Add(vertexSeed(f, format))
	}
	dir := f.TempDir()
	var edges []string
	for i, s := range []string{"1 2\n2 3\n", "ann bob\nbob 1\n"} {
		edges = append(edges, filepath.Join(dir, string(rune('a'+i))))
		if err := os.WriteFile(edges[i], []byte(s), 0o666); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		ctx := t.Context()
		path := filepath.Join(dir, "in")
		if err := os.WriteFile(path, in, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, e := range edges {
			for _, o := range []ReadOptions{{Labels: path, Threads: 2}, {Vertices: path, Threads: 2}} {
				g, err := Read(ctx, e, o, nil)
				fuzzCheck(t, g, err)
				if err == nil && g.NumEdges() != 2 {
					t.Errorf("%d edges", g.NumEdges())
				}
			}
		}
	})
}

// vertexSeed is a table of two vertices.
func vertexSeed(f *testing.F, format string) []byte {
	g, err := Read(context.Background(), put(f, "e.txt", []byte("1 2\n2 3\n")), ReadOptions{Vertices: put(f, "v.csv", []byte("id,labels,age\n1,P;Q,3\n2,,4\n"))}, nil)
	if err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "v."+format)
	if err := Write(context.Background(), filepath.Join(dir, "e.txt"), g, WriteOptions{Vertices: path}); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

func FuzzParquet(f *testing.F) {
	fuzzRead(f, Parquet, tableSeed(f, "parquet"), []byte("PAR1\x00\x00\x00\x00PAR1"))
}
