package dynamic

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

func written(t fataler, g *Graph) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := g.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("%d bytes of %d, %v", n, b.Len(), err)
	}
	return b.Bytes()
}

// TestFile writes a graph between windows, reads it, and goes on with both: they must agree in all that can be seen, also in internal
// ids and in the order of events.
func TestFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		directed, text := rapid.Bool().Draw(t, "directed"), rapid.Bool().Draw(t, "text")
		s := shape{
			edgeLabels: rapid.SampledFrom([][]string{{""}, {"", "a", "b"}}).Draw(t, "edge labels"),
			classes:    rapid.SampledFrom([][]string{{""}, {"", "X", "X,Y"}}).Draw(t, "classes"),
			vertices:   rapid.SampledFrom([]int{3, 8, 40}).Draw(t, "vertices"),
			times:      rapid.SampledFrom([]int{0, 3}).Draw(t, "times"),
			values:     rapid.Bool().Draw(t, "values"),
		}
		g := newGraph(t, directed, text, s.values)
		g.Read.TimeUnit, g.Read.TimeDigits, g.Read.TimeEpoch, g.Read.TimeName = 1e9, 3, true, "when"
		m := newModel(directed, s.times > 0)
		for range rapid.IntRange(0, 60).Draw(t, "updates") {
			m.step(t, g, drawUpdate(t, s))
		}
		file := written(t, g)
		read, err := Read(io.MultiReader(bytes.NewReader(file), strings.NewReader("more")))
		if err != nil {
			t.Fatal(err)
		}
		m.compare(t, read.Now())
		checkArena(t, read)
		if again := written(t, read); !bytes.Equal(again, file) {
			t.Fatalf("written again, the file of %d bytes has %d or others", len(file), len(again))
		}
		if read.Version() != g.Version() || read.Layout() != g.Layout() || read.NumEdges() != g.NumEdges() || read.Read.TimeName != "when" || read.Timed() != g.Timed() || read.Rowed() != g.Rowed() {
			t.Fatalf("version %d, layout %d, %d edges; want %d, %d, %d", read.Version(), read.Layout(), read.NumEdges(), g.Version(), g.Layout(), g.NumEdges())
		}
		g.Begin()
		read.Begin()
		other := m.clone()
		for range rapid.IntRange(0, 20).Draw(t, "later updates") {
			x := drawUpdate(t, s)
			m.step(t, g, x)
			other.step(t, read, x)
		}
		if !slices.Equal(g.Events(), read.Events()) {
			t.Fatalf("events %v, want %v", read.Events(), g.Events())
		}
		g.Settle()
		read.Settle()
		m.compare(t, read.Now())
		if !bytes.Equal(written(t, read), written(t, g)) {
			t.Fatalf("later, the graphs have other files")
		}
	})
}

// TestFileTypes writes a property of each type.
func TestFileTypes(t *testing.T) {
	g := New(false, false)
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
		arrow.PrimitiveTypes.Date32, arrow.PrimitiveTypes.Date64, &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"},
		arrow.FixedWidthTypes.Duration_us, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns,
	}
	var ps []Property
	for _, x := range types {
		k, err := g.VertexKey(x.String(), x)
		if err != nil {
			t.Fatal(err)
		}
		v := OfInt(1)
		switch kindOf(x) {
		case Bool:
			v = OfBool(true)
		case String:
			v = OfString(strings.Repeat("a long text ", fileBlock/4))
		}
		ps = append(ps, Property{k, v})
	}
	if res, err := g.AddVertex(Num(7), 0, ps...); res != Applied || err != nil {
		t.Fatal(res, err)
	}
	read, err := Read(bytes.NewReader(written(t, g)))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range read.VertexColumns() {
		if !arrow.TypeEqual(c.Type, types[i]) || read.Now().VertexValue(0, Key(i)) != g.Now().VertexValue(0, Key(i)) {
			t.Errorf("%v: type %v, value %v", types[i], c.Type, read.Now().VertexValue(0, Key(i)))
		}
	}
}

// TestFileDamage cuts a file off at each byte, and changes each byte. No graph is read then.
func TestFileDamage(t *testing.T) {
	g := newGraph(t, true, true, true)
	m := newModel(true, true)
	for _, x := range []update{
		{op: "+v", u: "1", label: "X", value: OfInt(3)}, {op: "+e", u: "1", v: "2", time: 5, label: "a"}, {op: "+e", u: "1", v: "2", time: 6, label: "a"},
		{op: "+e", u: "3", v: "1", time: 4, key: 1, value: OfString("note")}, {op: "-v", u: "2"}, {op: "+e", u: "3", v: "4", time: 9},
	} {
		m.step(t, g, x)
	}
	file := written(t, g)
	for n := range file {
		if _, err := Read(bytes.NewReader(file[:n])); !errors.Is(err, ErrFile) || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "byte") {
			t.Fatalf("cut off after %d bytes: %v", n, err)
		}
		for bit := range 8 {
			bad := slices.Clone(file)
			bad[n] ^= 1 << bit
			if _, err := Read(bytes.NewReader(bad)); !errors.Is(err, ErrFile) {
				t.Fatalf("with another bit %d of byte %d: %v", bit, n, err)
			}
		}
	}
	g.Begin()
	if _, err := g.WriteTo(io.Discard); err == nil {
		t.Fatal("a graph with a window was written")
	}
}

// TestFileFaults: whichever read or write fails, or does half of its work, a graph is read or written as without the failure, or there is an
// error that gives the cause. A file that ends in the middle is a bad file.
func TestFileFaults(t *testing.T) {
	g := New(false, true)
	k, err := g.VertexKey("note", arrow.BinaryTypes.String)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 { // several blocks
		text := OfString(strings.Repeat(string(rune('a'+i)), fileBlock*3/4))
		if res, err := g.AddVertex(Text(strings.Repeat("v", i+1)), 0, Property{k, text}); res != Applied || err != nil {
			t.Fatal(res, err)
		}
	}
	want := written(t, g)
	dir := t.TempDir()
	path := filepath.Join(dir, "graph")
	each := func(fault errorfs.Fault, least int, run func(files vfs.FS) error) {
		t.Helper()
		n := errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
			err := run(fsys)
			op, fired := fsys.Fired()
			switch {
			case fault.Way == errorfs.Ends:
				if err != nil && !(fired && errors.Is(err, ErrFile) && errors.Is(err, io.ErrUnexpectedEOF)) {
					t.Errorf("%v ends: %v", op, err)
				}
			case fired != (err != nil) && fault.Way != errorfs.Short, err != nil && (!errors.Is(err, fault.Err) || errors.Is(err, ErrFile)):
				t.Errorf("%v: %v", op, err)
			}
		})
		if n < least {
			t.Errorf("%+v: %d faults, want %d", fault, n, least)
		}
	}
	write := func(files vfs.FS) error {
		f, err := files.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		n, err := g.WriteTo(f)
		f.Close()
		if b, other := os.ReadFile(path); other != nil || n != int64(len(b)) || !bytes.HasPrefix(want, b) || err == nil && len(b) != len(want) {
			t.Errorf("%d bytes, said to be %d, of %d: %v, %v", len(b), n, len(want), err, other)
		}
		return err
	}
	least := len(want) / fileBlock
	for _, way := range []errorfs.Way{errorfs.Fails, errorfs.Half} {
		each(errorfs.Fault{Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: way}, least, write)
	}
	if err := write(vfs.OS{}); err != nil {
		t.Fatal(err)
	}
	for _, way := range []errorfs.Way{errorfs.Fails, errorfs.Half, errorfs.Short, errorfs.Ends} {
		fault := errorfs.Fault{Kinds: errorfs.Read, Err: syscall.EIO, Way: way}
		if way == errorfs.Short {
			fault.Err = nil
		}
		each(fault, least, func(files vfs.FS) error {
			f, err := vfs.Open(files, path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			read, err := Read(f)
			if err == nil && !bytes.Equal(written(t, read), want) {
				t.Error("another graph was read")
			}
			return err
		})
	}
}
