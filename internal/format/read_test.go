package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/weftgraph/weft/internal/graph"
)

func zst(s string) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll([]byte(s), nil)
}

// le joins numbers as little-endian bytes.
func le(parts ...any) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		_ = binary.Write(&b, binary.LittleEndian, p)
	}
	return b.Bytes()
}

var gmatchSquare = le(uint32(4), uint32(4), []uint64{0, 2, 4, 6, 8}, []int32{0, 1, 0, 1}, []int32{1, 3, 0, 2, 1, 3, 0, 2})

// TestRead: each variant and what it is read as. want is the dump without the
// vertices, one line an edge; columns is ReadStats.Columns.
func TestRead(t *testing.T) {
	tri := "e \"1\" \"2\"\ne \"2\" \"3\"\n"
	for _, c := range []struct {
		name, in string
		o        ReadOptions
		columns  string
		want     string
	}{
		{"snap.txt", "# Nodes\n1\t2\n2\t3\n", ReadOptions{}, "src,dst", tri},
		{"blanks.txt", "  1   2  \n\n\t2 \t3\t\n \n", ReadOptions{}, "src,dst", tri},
		{"crlf.txt", "1 2\r\n2 3\r\n", ReadOptions{}, "src,dst", tri},
		{"bom.txt", "\ufeff1 2\n2 3", ReadOptions{}, "src,dst", tri},
		{"comma.csv", "1,2\n2, 3\n", ReadOptions{}, "src,dst", tri},
		{"bar.csv", "1|2\n2|3\n", ReadOptions{}, "src,dst", tri},
		{"semi.csv", "1;2\n2;3\n", ReadOptions{}, "src,dst", tri},
		{"trailing.csv", "1,2,\n2,3,\n", ReadOptions{}, "src,dst", tri},
		{"header.csv", "from,to\n1,2\n2,3\n", ReadOptions{}, "src,dst", tri},
		{"anyheader.csv", "a,b\n1,2\n2,3\n", ReadOptions{}, "src,dst", tri},
		{"swapped.csv", "target,source\n1,2\n2,3\n", ReadOptions{Direction: Directed}, "dst,src", "e \"2\" \"1\"\ne \"3\" \"2\"\n"},
		{"skip.txt", "garbage here now\nmore\n1 2\n2 3\n", ReadOptions{Skip: 2}, "src,dst", tri},
		{"loops.txt", "1 2\n1 1\n2 1\n2 3\n", ReadOptions{}, "src,dst", tri},
		{"gz.txt", string(gz("1 2\n", "2 3\n")), ReadOptions{}, "src,dst", tri},
		{"zst.txt", string(zst("1 2\n2 3\n")), ReadOptions{}, "src,dst", tri},
		{"sparse.txt", "9223372036854775807 1\n12345678 123456789\n", ReadOptions{}, "src,dst", "e \"1\" \"9223372036854775807\"\ne \"12345678\" \"123456789\"\n"},
		{"zeros.txt", "0000000000000000000000000001 2\n", ReadOptions{}, "src:string,dst", "e \"0000000000000000000000000001\" \"2\"\n"},
		{"zerosint.txt", "0000000000000000000000000001 2\n", ReadOptions{Columns: []string{"src:int", "dst:int"}}, "src,dst", "e \"1\" \"2\"\n"},
		{"weighted.txt", "1 2 0.5\n2 3 7\n", ReadOptions{}, "src,dst,weight:float", "e \"1\" \"2\" weight=\"0.5\"\ne \"2\" \"3\" weight=\"7\"\n"},
		{"g.wel", "1 2 5\n2 3 7\n", ReadOptions{}, "src,dst,weight:int", "e \"1\" \"2\" weight=\"5\"\ne \"2\" \"3\" weight=\"7\"\n"},
		{"temporal.txt", "1 2 1082008561\n2 3 1082008562\n", ReadOptions{}, "src,dst,time", "e \"1\" \"2\" @1082008561\ne \"2\" \"3\" @1082008562\n"},
		{"konect.txt", "% asym weighted\n% 2 3 3\n1 2 3 1289241911.72836\n2 3 1 1289241911\n", ReadOptions{}, "src,dst,weight:int,time", "e \"1\" \"2\" @1289241911728360 weight=\"3\"\ne \"2\" \"3\" @1289241911000000 weight=\"1\"\n"},
		{"sym.txt", "% sym unweighted\n1 2\n2 3\n", ReadOptions{}, "src,dst", tri},
		{"labels.txt", "1 2 likes\n2 3 hates\n", ReadOptions{}, "src,dst,label", "e \"1\" \"2\" :likes\ne \"2\" \"3\" :hates\n"},
		{"columns.txt", "1 x 2 5\n2 y 3 6\n", ReadOptions{Columns: []string{"src", "_", "dst", "label"}}, "src,_,dst,label", "e \"1\" \"2\" :5\ne \"2\" \"3\" :6\n"},
		{"train2id.txt", "2\n1 2 0\n2 3 1\n", ReadOptions{}, "src,dst,label", "e \"1\" \"2\" :0\ne \"2\" \"3\" :1\n"},
		{"names.txt", "ann bob\nbob cy\n", ReadOptions{}, "src:string,dst", "e \"ann\" \"bob\"\ne \"bob\" \"cy\"\n"},
		{"quoted.csv", "src,dst,note,ok\n\"a, \"\"x\"\"\",b,hi,true\nb,c,,false\n", ReadOptions{}, "src:string,dst,note:string,ok:bool", "e \"a, \\\"x\\\"\" \"b\" note=\"hi\" ok=\"true\"\ne \"b\" \"c\" note=\"\" ok=\"false\"\n"},
		{"tabs.tsv", "New York\tLos Angeles\nLos Angeles\tBoston\n", ReadOptions{}, "src:string,dst", "e \"Boston\" \"Los Angeles\"\ne \"Los Angeles\" \"New York\"\n"},
		{"iso.csv", "src,dst,time\n1,2,2024-01-01T00:00:00Z\n2,3,2024-01-01T00:00:01.5Z\n", ReadOptions{}, "src,dst,time", "e \"1\" \"2\" @1704067200000000\ne \"2\" \"3\" @1704067201500000\n"},
		{"typed.txt", "007 1\n1 08\n", ReadOptions{Columns: []string{"src:string", "dst"}}, "src:string,dst", "e \"007\" \"1\"\ne \"08\" \"1\"\n"},
		{"only comments.txt", "# nothing\n", ReadOptions{}, "src,dst", ""},
		{"general.mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 2\n1 2\n2 3\n", ReadOptions{}, "src,dst", tri},
		{"symmetric.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.5\n3 2 -2e3\n", ReadOptions{}, "src,dst,weight:float", "e \"1\" \"2\" weight=\"1.5\"\ne \"2\" \"3\" weight=\"-2000\"\n"},
		{"complex.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1 -2\n", ReadOptions{}, "src,dst,real:float,imag:float", "e \"1\" \"2\" real=\"1\" imag=\"-2\"\n"},
		{"both.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", ReadOptions{Direction: Directed}, "src,dst", "e \"1\" \"2\"\ne \"2\" \"1\"\n"},
		{"counts.graph", "t 3 2\nv 1 5 2\nv 0 5 1\nv 2 6 1\ne 0 1\ne 1 2\n", ReadOptions{}, "src,dst", "e \"0\" \"1\"\ne \"1\" \"2\"\n"},
		{"zeros.graph", "t 2 1\nv 0 5 1\nv 1 5 1\ne 0 1 0\n", ReadOptions{}, "src,dst", "e \"0\" \"1\"\n"},
		{"some.graph", "t 3 2\nv 0 5 1\nv 1 5 2\nv 2 5 1\ne 0 1 0\ne 1 2 1\n", ReadOptions{}, "src,dst,label", "e \"0\" \"1\" :0\ne \"1\" \"2\" :1\n"},
		{"gspan0.graph", "t # 0\nv 0 a\nv 1 b\ne 0 1 0\n", ReadOptions{}, "src,dst,label", "e \"0\" \"1\" :0\n"},
		{"gspan.graph", "t # 0\nv 0 a\nv 1 b\ne 0 1 x\nt # -1\n", ReadOptions{}, "src,dst,label", "e \"0\" \"1\" :x\n"},
		{"bare.graph", "v 10 a\nv 11 b\ne 10 11 3\n", ReadOptions{}, "src,dst,label", "e \"10\" \"11\" :3\n"},
		{"g.bin", string(gmatchSquare), ReadOptions{}, "src,dst", "e \"0\" \"1\"\ne \"0\" \"3\"\ne \"1\" \"2\"\ne \"2\" \"3\"\n"},
		{"arcs.bin", string(gmatchSquare), ReadOptions{Direction: Directed}, "src,dst", "e \"0\" \"1\"\ne \"0\" \"3\"\ne \"1\" \"0\"\ne \"1\" \"2\"\ne \"2\" \"1\"\ne \"2\" \"3\"\ne \"3\" \"0\"\ne \"3\" \"2\"\n"},
		{"g.sg", string(le(uint8(1), int64(2), int64(3), []int64{0, 1, 2, 2}, []int32{1, 2}, []int64{0, 0, 1, 2}, []int32{0, 1})), ReadOptions{}, "src,dst", "e \"0\" \"1\"\ne \"1\" \"2\"\n"},
		{"g.wsg", string(le(uint8(0), int64(2), int64(2), []int64{0, 1, 2}, []int32{1, 7, 0, 7})), ReadOptions{}, "src,dst,weight:int", "e \"0\" \"1\" weight=\"7\"\n"},
	} {
		path := put(t, c.name, []byte(c.in))
		for _, stdin := range []bool{false, true} {
			o, p := c.o, path
			if stdin {
				o.Stdin, p = strings.NewReader(c.in), "-"
				if f := map[string]string{"g.wel": "wel", "g.wsg": "wsg"}[c.name]; f != "" {
					o.Format = f
				}
			}
			g, err := Read(context.Background(), p, o, nil)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			var got strings.Builder
			for l := range strings.Lines(dump(g)) {
				if strings.HasPrefix(l, "e ") {
					got.WriteString(l)
				}
			}
			if got.String() != c.want {
				t.Errorf("%s (stdin %v):\n%swant\n%s", c.name, stdin, got.String(), c.want)
			}
			if g.Read.Columns != c.columns {
				t.Errorf("%s: columns %q, want %q", c.name, g.Read.Columns, c.columns)
			}
		}
	}
}

// TestGAPBSVertices: vertices without edges are those whose numbers the file counts.
func TestGAPBSVertices(t *testing.T) {
	for name, arcs := range map[string][]int32{"g.sg": {1, 0}, "g.wsg": {1, 7, 0, 7}} {
		path := put(t, name, le(uint8(0), int64(2), int64(4), []int64{0, 1, 2, 2, 2}, arcs))
		for _, o := range []ReadOptions{{}, {KeepDuplicates: true}} {
			g, err := Read(t.Context(), path, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			var ids []int64
			for v := range uint32(g.NumVertices()) {
				ids = append(ids, g.IDs.Int(v))
			}
			if slices.Sort(ids); !slices.Equal(ids, []int64{0, 1, 2, 3}) {
				t.Errorf("%s, %+v: vertices %v", name, o, ids)
			}
		}
	}
}

// TestCounted: nothing is dropped without being counted.
func TestCounted(t *testing.T) {
	g, err := Read(context.Background(), put(t, "g.txt", []byte("1 2\n2 1\n1 1\n1 2\n2 3\n")), ReadOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := g.Read
	if s.Lines != 5 || s.SelfLoops != 1 || s.Duplicates != 1 || s.Reciprocal != 1 || s.Kept != 2 {
		t.Errorf("%+v", s)
	}
}

// TestLateTypes: a column that turns out wider after the sampled lines is read
// again as a whole.
func TestLateTypes(t *testing.T) {
	in := strings.Repeat("1 2 3 5.5\n", 60000) + "1 2 2.5 5.1234567\n7 8 x 1\n"
	g, err := Read(context.Background(), put(t, "g.txt", []byte(in)), ReadOptions{Columns: []string{"src", "dst", "w", "time"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := dump(g); !strings.Contains(d, `@5123456700 w="2.5"`) || !strings.Contains(d, `@1000000000 w="x"`) || g.NumEdges() != 3 {
		t.Errorf("%s", d)
	}
	_, err = Read(context.Background(), "-", ReadOptions{Columns: []string{"src", "dst", "w", "time"}, Stdin: strings.NewReader(in)}, nil)
	if !errors.Is(err, ErrNumber) {
		t.Errorf("from a pipe: %v", err)
	}
}

// TestBlocks: lines of all lengths over block borders, whatever the number of
// threads, plain or compressed.
func TestBlocks(t *testing.T) {
	var b strings.Builder
	x := uint64(7)
	for range 120000 {
		x = x*6364136223846793005 + 1442695040888963407
		b.WriteString(string(appendUint(nil, x>>(40+x>>60))))
		b.WriteByte(' ')
		b.WriteString(string(appendUint(nil, x>>50)))
		b.WriteByte('\n')
	}
	in := b.String()
	in = in[:len(in)-1] + "9" // no line end
	var want string
	for _, file := range []string{put(t, "a.txt", []byte(in)), put(t, "a.gz", gz(in[:100001], in[100001:]))} {
		for _, threads := range []int{1, 3} {
			var last, total int64
			g, err := Read(context.Background(), file, ReadOptions{Threads: threads}, func(d, n int64) { last, total = d, n })
			if err != nil {
				t.Fatal(err)
			}
			if last != total || total <= 0 {
				t.Errorf("progress ends at %d of %d", last, total)
			}
			if want == "" {
				want = dump(g)
				if g.Read.Lines != 120000 {
					t.Errorf("%d lines", g.Read.Lines)
				}
			} else if dump(g) != want {
				t.Errorf("%s with %d threads differs", file, threads)
			}
		}
	}
}

// TestLongLines: a line may be longer than a block, up to 1 MiB, however the
// file is read; what is longer is refused at its place.
func TestLongLines(t *testing.T) {
	good := strings.Repeat("1234 5678\n", 60000)
	each := func(in string, check func(name string, err error, g *graph.Graph)) {
		for _, path := range []string{put(t, "a.txt", []byte(in)), put(t, "a.gz", gz(in)), put(t, "a.zst", zst(in)), "-"} {
			g, err := Read(context.Background(), path, ReadOptions{Threads: 2, Stdin: strings.NewReader(in)}, nil)
			check(filepath.Base(path), err, g)
		}
	}
	each(good+"#"+strings.Repeat("x", 600<<10)+"\n7 8\n", func(name string, err error, g *graph.Graph) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if g.Read.Lines != 60001 || g.NumEdges() != 2 {
			t.Errorf("%s: %d lines, %d edges", name, g.Read.Lines, g.NumEdges())
		}
	})
	each(good+"#"+strings.Repeat("x", 3<<20)+"\n7 8\n", func(name string, err error, _ *graph.Graph) {
		var e *Error
		if !errors.Is(err, ErrLongLine) || !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		} else if e.Line != 60001 || e.Column != 1 || e.Offset != int64(len(good)) {
			t.Errorf("%s: line %d, column %d, byte %d", name, e.Line, e.Column, e.Offset)
		}
	})
}

// TestSides: labels and properties of vertices from other files.
func TestSides(t *testing.T) {
	edges := put(t, "e.txt", []byte("1 2\n2 3\n"))
	labels := put(t, "l.txt", []byte("1 A\n2 B\n9 A\n"))
	verts := put(t, "v.csv", []byte("id,labels,age\n1,P;Q,30\n2,,\n3,P,41\n"))
	g, err := Read(context.Background(), edges, ReadOptions{Labels: labels}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := dump(g); !strings.Contains(d, `v "1" ["A"]`) || !strings.Contains(d, `v "9" ["A"]`) || !strings.Contains(d, `v "3" []`) {
		t.Error(d)
	}
	g, err = Read(context.Background(), edges, ReadOptions{Vertices: verts}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := dump(g); !strings.Contains(d, `v "1" ["P" "Q"] age="30"`) || !strings.Contains(d, `v "2" [] age=""`) {
		t.Error(d)
	}
}

// TestCancel: a read that waits for input ends with the context.
func TestCancel(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = w.Write([]byte("1 2\n"))
		time.Sleep(20 * time.Millisecond)
		cancel()
	}()
	start := time.Now()
	_, err := Read(ctx, "-", ReadOptions{Stdin: r}, nil)
	if !errors.Is(err, context.Canceled) || time.Since(start) > 3*time.Minute {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}
