package format

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestBadInput: the message and the position for every kind of bad input. The
// file's name is left out of the messages.
func TestBadInput(t *testing.T) {
	want, golden := badMessages(t), strings.Builder{}
	long := "1 2\n" + strings.Repeat("7", 3<<20) + "\n"
	for _, c := range []struct {
		name, in string
		o        ReadOptions
		kind     error
	}{
		{"empty.txt", "", ReadOptions{}, ErrEmpty},
		{"cut.gz", string(gz("1 2\n2 3\n")[:20]), ReadOptions{}, ErrTruncated},
		{"cut.zst", string(zst("1 2\n2 3\n")[:12]), ReadOptions{}, ErrTruncated},
		{"damaged.gz", "\x1f\x8b\x08\x00garbage garbage garbage", ReadOptions{}, nil},
		{"long.txt", long, ReadOptions{}, ErrLongLine},
		{"long.gz", string(gz(long)), ReadOptions{}, ErrLongLine},
		{"binary.txt", "1 2\n2 3\n4 \x00\x015\n", ReadOptions{}, ErrNotText},
		{"binary.bin", "\x7fELF\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x00\x00", ReadOptions{}, ErrUnknown},
		{"utf16.txt", "\xff\xfe1\x00 \x002\x00", ReadOptions{}, ErrUnknown},
		{"negative.txt", "1 2\n3 -4\n", ReadOptions{}, ErrNegative},
		{"overflow.txt", "1 2\n9223372036854775808 4\n", ReadOptions{}, ErrOverflow},
		{"overflow2.txt", "1 2\n99999999999999999999999 4\n", ReadOptions{}, ErrOverflow},
		{"ragged.txt", "1 2\n3\n", ReadOptions{}, ErrRagged},
		{"ragged.csv", "1,2,3\n3,4\n", ReadOptions{}, ErrRagged},
		{"ragged3.csv", "src,dst\n1,2\n3\n4,5\n", ReadOptions{}, ErrRagged},
		{"ragged4.csv", "1;2\n3;4\n5 6\n", ReadOptions{}, ErrRagged},
		{"extra.txt", "1 2\n3 4 5\n", ReadOptions{}, ErrRagged},
		{"late.txt", strings.Repeat("1 2\n", 70000) + "1 x\n", ReadOptions{}, ErrNumber},
		{"late.gz", string(gz(strings.Repeat("1 2\n", 70000) + "1 x\n")), ReadOptions{}, ErrNumber},
		{"utf8.txt", "a b\n\xffc d\n", ReadOptions{}, ErrUTF8},
		{"quote.csv", "src,dst\na,\"b\nc,d\n", ReadOptions{}, ErrColumns},
		{"columns.txt", "1 2\n", ReadOptions{Columns: []string{"src", "label"}}, ErrColumns},
		{"id.txt", "1 2\n", ReadOptions{Columns: []string{"src", "dst:float"}}, ErrColumns},
		{"int.txt", "ann bob\n", ReadOptions{Columns: []string{"src:int", "dst:int"}}, ErrNumber},
		{"type.txt", "1 2 3\n", ReadOptions{Columns: []string{"src", "dst", "w:complex"}}, ErrColumns},
		{"unit.txt", "1 2 3\n", ReadOptions{Columns: []string{"src", "dst", "time:h"}}, ErrColumns},
		{"fixed.txt", "1 2 x\n", ReadOptions{Columns: []string{"src", "dst", "w:int"}}, ErrNumber},
		{"time.txt", "1 2 1e99\n", ReadOptions{Columns: []string{"src", "dst", "time"}}, ErrOverflow},
		{"header.csv", "from,weight\n1,2\n", ReadOptions{}, ErrColumns},
		{"count.txt", "3\n1 2 0\n2 3 1\n", ReadOptions{}, ErrCount},
		{"bip.txt", "% bip unweighted\n1 1\n", ReadOptions{}, ErrHeader},
		{"g.wel", "1 2\n", ReadOptions{}, ErrColumns},
		{"format.txt", "1 2\n", ReadOptions{Format: "excel"}, ErrUnknown},
		{"header.mtx", "%%MatrixMarket matrix dense\n", ReadOptions{}, ErrHeader},
		{"array.mtx", "%%MatrixMarket matrix array real general\n2 2\n", ReadOptions{}, ErrHeader},
		{"sizes.mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n3 3\n", ReadOptions{}, ErrHeader},
		{"nosizes.mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n", ReadOptions{}, ErrTruncated},
		{"square.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 1\n", ReadOptions{}, ErrHeader},
		{"range.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 4\n", ReadOptions{}, ErrRange},
		{"zero.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n0 2\n2 3\n", ReadOptions{}, ErrRange},
		{"cut.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n", ReadOptions{}, ErrTruncated},
		{"more.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n2 3\n", ReadOptions{}, ErrCount},
		{"huge.mtx", "%%MatrixMarket matrix coordinate pattern general\n99999999999 99999999999 0\n", ReadOptions{}, ErrOverflow},
		{"cut.graph", "t 3 2\nv 0 0 1\nv 1 0 2\ne 0 1\n", ReadOptions{}, ErrTruncated},
		{"edges.graph", "t 2 2\nv 0 0 1\nv 1 0 1\ne 0 1\n", ReadOptions{}, ErrTruncated},
		{"range.graph", "t 2 1\nv 0 0 1\nv 1 0 1\ne 0 2\n", ReadOptions{}, ErrRange},
		{"undeclared.graph", "t # 0\nv 0 0\nv 1 0\ne 0 1\ne 1 2\n", ReadOptions{}, ErrRange},
		{"twice.graph", "t # 0\nv 0 0\nv 0 1\n", ReadOptions{}, ErrHeader},
		{"second.graph", "t # 0\nv 0 0\nv 1 0\ne 0 1 0\nt # 1\nv 0 0\n", ReadOptions{}, ErrManyGraphs},
		{"line.graph", "t # 0\nv 0 0\nx 1 2\n", ReadOptions{}, ErrRagged},
		{"fields.graph", "v 0 0\nv 1 2 3\n", ReadOptions{}, ErrRagged},
		{"none.graph", "1 2\n", ReadOptions{Format: "tve"}, ErrHeader},
		{"cut.bin", string(gmatchSquare[:80]), ReadOptions{Format: "gmatch"}, ErrTruncated},
		{"cutz.bin", string(gz(string(gmatchSquare[:80]))), ReadOptions{Format: "gmatch"}, ErrTruncated},
		{"more.bin", string(gmatchSquare) + "x", ReadOptions{Format: "gmatch"}, ErrCount},
		{"range.bin", string(le(uint32(2), uint32(1), []uint64{0, 1, 2}, []int32{0, 0}, []int32{1, 2})), ReadOptions{Format: "gmatch"}, ErrRange},
		{"offsets.bin", string(le(uint32(2), uint32(1), []uint64{0, 5, 2}, []int32{0, 0}, []int32{1, 0})), ReadOptions{Format: "gmatch"}, ErrHeader},
		{"oneway.bin", string(le(uint32(3), uint32(1), []uint64{0, 1, 2, 2}, []int32{0, 0, 0}, []int32{1, 2})), ReadOptions{Format: "gmatch"}, ErrSymmetry},
		{"label.bin", string(le(uint32(2), uint32(1), []uint64{0, 1, 2}, []int32{0, -3}, []int32{1, 0})), ReadOptions{Format: "gmatch"}, ErrNumber},
		{"cut.graphml", "<graphml><graph edgedefault=\"directed\">\n<node id=\"1\"/>", ReadOptions{}, ErrTruncated},
		{"tag.graphml", "<graphml><graph edgedefault=\"directed\">\n<node id=\"1\"></edge>", ReadOptions{}, nil},
		{"other.graphml", "<?xml version='1.0'?><html/>", ReadOptions{Format: "graphml"}, ErrStructure},
		{"other.xml", "<?xml version='1.0'?><html/>", ReadOptions{}, ErrUnknown},
		{"net.gexf", "<?xml version='1.0'?><gexf/>", ReadOptions{}, ErrUnknown},
		{"latin.graphml", "<?xml version='1.0' encoding='ISO-8859-1'?><graphml/>", ReadOptions{}, ErrUTF8},
		{"default.graphml", "<graphml><graph edgedefault=\"both\"/></graphml>", ReadOptions{}, ErrStructure},
		{"second.graphml", "<graphml><graph/>\n <graph/></graphml>", ReadOptions{}, ErrManyGraphs},
		{"inside.graphml", "<graphml><graph>\n<node id=\"1\"><graph/></node></graph></graphml>", ReadOptions{}, ErrStructure},
		{"hyper.graphml", "<graphml><graph>\n<hyperedge/></graph></graphml>", ReadOptions{}, ErrStructure},
		{"port.graphml", "<graphml><graph>\n<node id=\"1\"><port name=\"p\"/></node></graph></graphml>", ReadOptions{}, ErrStructure},
		{"port2.graphml", "<graphml><graph>\n<edge source=\"1\" target=\"1\" sourceport=\"p\"/></graph></graphml>", ReadOptions{}, ErrStructure},
		{"locator.graphml", "<graphml><graph><locator/></graph></graphml>", ReadOptions{}, ErrStructure},
		{"element.graphml", "<graphml><graph>\n<vertex/></graph></graphml>", ReadOptions{}, ErrStructure},
		{"noid.graphml", "<graphml><graph>\n<node/></graph></graphml>", ReadOptions{}, ErrStructure},
		{"twice.graphml", "<graphml><graph><node id=\"a\"/>\n<node id=\"a\"/></graph></graphml>", ReadOptions{}, ErrStructure},
		{"end.graphml", "<graphml><graph><node id=\"a\"/>\n<edge source=\"a\" target=\"b\"/></graph></graphml>", ReadOptions{}, ErrRange},
		{"direct.graphml", "<graphml><graph><edge source=\"a\" target=\"b\" directed=\"yes\"/></graph></graphml>", ReadOptions{}, ErrStructure},
		{"undeclared.graphml", "<graphml><graph>\n<node id=\"a\"><data key=\"k\">1</data></node></graph></graphml>", ReadOptions{}, ErrStructure},
		{"for.graphml", "<graphml><key id=\"k\" for=\"edge\"/><graph>\n<node id=\"a\"><data key=\"k\">1</data></node></graph></graphml>", ReadOptions{}, ErrStructure},
		{"type.graphml", "<graphml>\n<key id=\"k\" attr.type=\"list\"/></graphml>", ReadOptions{}, ErrStructure},
		{"value.graphml", "<graphml><key id=\"k\" attr.type=\"int\"/><graph>\n<node id=\"a\"><data key=\"k\">x</data></node></graph></graphml>", ReadOptions{}, ErrNumber},
		{"large.graphml", "<graphml><key id=\"k\" attr.type=\"int\"/><graph>\n<node id=\"a\"><data key=\"k\">9223372036854775808</data></node></graph></graphml>", ReadOptions{}, ErrOverflow},
		{"bool.graphml", "<graphml><key id=\"k\" attr.type=\"boolean\"/><graph>\n<node id=\"a\"><data key=\"k\">maybe</data></node></graph></graphml>", ReadOptions{}, nil},
		{"preset.graphml", "<graphml><key id=\"k\" attr.type=\"double\"><default>x</default></key></graphml>", ReadOptions{}, ErrNumber},
		{"repeat.graphml", "<graphml><key id=\"k\"/><graph><node id=\"a\"><data key=\"k\">1</data>\n<data key=\"k\">2</data></node></graph></graphml>", ReadOptions{}, ErrColumns},
		{"behind.graphml", "<graphml><graph/></graphml>\nx", ReadOptions{}, ErrStructure},
		{"columns.graphml", "<graphml><graph/></graphml>", ReadOptions{Columns: []string{"src", "dst"}}, ErrColumns},
		{"cut.gml", "graph [\n node [ id 1 ]\n", ReadOptions{}, ErrTruncated},
		{"cut2.gml", "graph [\n node [ id 1 label \"x", ReadOptions{}, ErrTruncated},
		{"none.gml", "Creator \"x\"\n", ReadOptions{}, ErrStructure},
		{"value.gml", "graph [ node [ id ] ]", ReadOptions{}, ErrStructure},
		{"key.gml", "graph [ node [ id 1 2 ] ]", ReadOptions{}, ErrStructure},
		{"close.gml", "graph [ ]\n]", ReadOptions{}, ErrStructure},
		{"number.gml", "graph [ node [ id 1 x 1.2.3 ] ]", ReadOptions{}, ErrNumber},
		{"large.gml", "graph [ node [ id 1 x 9223372036854775808 ] ]", ReadOptions{}, ErrOverflow},
		{"id.gml", "graph [ node [ id 1.5 ] ]", ReadOptions{}, ErrNumber},
		{"noid.gml", "graph [\n node [ label \"a\" ] ]", ReadOptions{}, ErrStructure},
		{"ids.gml", "graph [ node [ id 1 id 2 ] ]", ReadOptions{}, ErrStructure},
		{"end.gml", "graph [ node [ id 1 ]\n edge [ source 1 target 2 ] ]", ReadOptions{}, ErrRange},
		{"twice.gml", "graph [ node [ id 1 ]\n node [ id 1 ] ]", ReadOptions{}, ErrStructure},
		{"repeat.gml", "graph [ node [ id 1 x 1\n  x 2 ] ]", ReadOptions{}, ErrColumns},
		{"directed.gml", "graph [ directed 2 ]", ReadOptions{}, ErrStructure},
		{"second.gml", "graph [ ]\ngraph [ ]", ReadOptions{}, ErrManyGraphs},
		{"utf8.gml", "graph [ node [ id 1 x \"\xff\" ] ]", ReadOptions{}, ErrUTF8},
		{"deep.gml", "graph [ " + strings.Repeat("x [ ", 1000), ReadOptions{}, nil},
		{"fields.nx", "1 2 {}\n1 2 3 {}\n", ReadOptions{}, ErrRagged},
		{"nodict.nx", "1 2 {}\n1 2\n", ReadOptions{}, ErrRagged},
		{"blank.nx", "1 2 {}\n1\t2\t{}\n", ReadOptions{}, ErrRagged},
		{"list.nx", "1 2 {}\n1 2 {'x': [1, 2]}\n", ReadOptions{}, ErrColumns},
		{"text.nx", "1 2 {}\n1 2 {'x': 'a}\n", ReadOptions{}, ErrStructure},
		{"escape.nx", "1 2 {}\n1 2 {'x': '\\q'}\n", ReadOptions{}, ErrStructure},
		{"word.nx", "1 2 {}\n1 2 {'x': abc}\n", ReadOptions{}, ErrNumber},
		{"large.nx", "1 2 {}\n1 2 {'x': 9223372036854775808}\n", ReadOptions{}, ErrOverflow},
		{"colon.nx", "1 2 {}\n1 2 {'x' 1}\n", ReadOptions{}, ErrStructure},
		{"name.nx", "1 2 {}\n1 2 {1.5: 1}\n", ReadOptions{}, ErrStructure},
		{"open.nx", "1 2 {}\n1 2 {'x': 1\n", ReadOptions{}, ErrStructure},
		{"behind.nx", "1 2 {}\n1 2 {'x': 1} 5\n", ReadOptions{}, ErrStructure},
		{"twice.nx", "1 2 {}\n1 2 {'x': 1, 'x': 2}\n", ReadOptions{}, ErrColumns},
		{"near.adjlist", "#a.py\n# GMT Sun\n# name\n0 1 2\n", ReadOptions{}, ErrUnknown},
		{"control.txt", "1 2\n2 3\x01\n", ReadOptions{}, ErrNotText},
		{"delete.txt", "1 2\n2 \x7f3\n", ReadOptions{}, ErrNotText},
		{"bool.sg", string(le(uint8(2), int64(0), int64(0), int64(0))), ReadOptions{}, ErrHeader},
		{"cut.sg", string(le(uint8(0), int64(2), int64(2), []int64{0, 1, 2}, []int32{1})), ReadOptions{}, ErrTruncated},
		{"neg.sg", string(le(uint8(0), int64(2), int64(2), []int64{0, 1, 2}, []int32{1, -1})), ReadOptions{}, ErrRange},
		{"vertices.sg", string(le(uint8(0), int64(0), int64(1)<<31, int64(0))), ReadOptions{}, ErrOverflow},
		{"negative.sg", string(le(uint8(0), int64(0), int64(-1), int64(0))), ReadOptions{}, ErrOverflow},
		{"most.sg", string(le(uint8(0), int64(0), int64(1)<<31-1, int64(0))), ReadOptions{}, ErrTruncated},
		{"arcs.sg", string(le(uint8(0), int64(1)<<56+1, int64(1), int64(0), int64(0))), ReadOptions{}, ErrHeader},
		{"mostarcs.sg", string(le(uint8(0), int64(1)<<56, int64(1), int64(0), int64(0))), ReadOptions{}, ErrTruncated},
		{"oneway.wsg", string(le(uint8(0), int64(1), int64(2), []int64{0, 1, 1}, []int32{1, 7})), ReadOptions{}, ErrSymmetry},
		{"cut.parquet", "PAR1 and then nothing", ReadOptions{}, ErrTruncated},
		{"damaged.parquet", "PAR1\x00\x01\x02\x03garbage\x08\x00\x00\x00PAR1", ReadOptions{}, nil},
		{"cut.arrow", "ARROW1\x00\x00 and then nothing more", ReadOptions{}, ErrTruncated},
	} {
		path := put(t, c.name, []byte(c.in))
		_, err := Read(context.Background(), path, c.o, nil)
		if c.name == "format.txt" { // the command line's fault, not the file's
			if !errors.Is(err, ErrUnknown) {
				t.Error(err)
			}
			continue
		}
		if *rewrite {
			fmt.Fprintf(&golden, "%s%s\n", c.name, strings.TrimPrefix(fmt.Sprint(err), path))
		}
		wantError(t, path, err, want[c.name], c.kind)
	}
	if *rewrite {
		if err := os.WriteFile(badGolden, []byte(golden.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var rewrite = flag.Bool("rewrite", false, "rewrite the expected messages")

const badGolden = "testdata/bad.golden"

// badMessages reads the golden file: the name of a case, then the message.
func badMessages(t *testing.T) map[string]string {
	b, err := os.ReadFile(badGolden)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	m := map[string]string{}
	for l := range strings.Lines(string(b)) {
		name, msg, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ": ")
		if i := strings.IndexByte(name, ':'); i >= 0 {
			msg, name = name[i:]+": "+msg, name[:i]
		} else {
			msg = ": " + msg
		}
		m[name] = msg
	}
	return m
}

func TestMissing(t *testing.T) {
	if _, err := Read(context.Background(), filepath.Join(t.TempDir(), "none"), ReadOptions{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Read(context.Background(), t.TempDir(), ReadOptions{}, nil); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Error(err)
	}
}

// TestMissingSide: the file that is missing is named, not that of the edges.
func TestMissingSide(t *testing.T) {
	path, none := put(t, "g.txt", []byte("1 2\n")), filepath.Join(t.TempDir(), "none.csv")
	for _, o := range []ReadOptions{{Labels: none}, {Vertices: none}} {
		_, err := Read(context.Background(), path, o, nil)
		wantError(t, none, err, ": file does not exist", os.ErrNotExist)
	}
}

// TestWriteFails: nothing is left after an error.
func TestWriteFails(t *testing.T) {
	g, err := Read(context.Background(), put(t, "g.txt", []byte("1 2 x\n2 3 y\n")), ReadOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	err = Write(context.Background(), filepath.Join(dir, "g.mtx"), g, WriteOptions{})
	wantError(t, filepath.Join(dir, "g.mtx"), err, ": the format cannot hold the graph: mtx would lose the edge labels", ErrLoss)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Write(ctx, filepath.Join(dir, "g.tsv"), g, WriteOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := Write(context.Background(), filepath.Join(dir, "none", "g.tsv"), g, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "g.tsv: there is no folder "+dir) {
		t.Error(err)
	}
	if l, _ := os.ReadDir(dir); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
	if runtime.GOOS == "linux" {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		defer full.Close()
		err = Write(context.Background(), "-", g, WriteOptions{Stdout: full})
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk is full") {
			t.Error(err)
		}
	}
}

// TestCutTables: an Arrow or Parquet file that is cut short says at which byte,
// from a file and from a pipe.
func TestCutTables(t *testing.T) {
	g, err := Read(context.Background(), put(t, "g.txt", []byte("1 2 x\n2 3 y\n")), ReadOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"arrow", "parquet"} {
		var b bytes.Buffer
		if err := Write(context.Background(), "-", g, WriteOptions{Format: f, Stdout: &b}); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{b.Len() / 3, b.Len() / 2, b.Len() - 20} {
			cut := b.Bytes()[:n]
			_, err := Read(context.Background(), put(t, "cut."+f, cut), ReadOptions{}, nil)
			_, piped := Read(context.Background(), "-", ReadOptions{Stdin: bytes.NewReader(cut)}, nil)
			for _, err := range []error{err, piped} {
				var e *Error
				if !errors.Is(err, ErrTruncated) || !errors.As(err, &e) || e.Offset <= 0 || e.Offset > int64(n) {
					t.Errorf("%s cut at %d of %d: %v", f, n, b.Len(), err)
				}
			}
		}
	}
}
