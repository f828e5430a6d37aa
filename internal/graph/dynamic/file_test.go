package dynamic

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"
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
		if read.Version() != g.Version() || read.Layout() != g.Layout() || read.NumEdges() != g.NumEdges() || read.Read.TimeName != "when" || read.Timed() != g.Timed() {
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
	cause := errors.New("broken disk")
	if _, err := Read(io.MultiReader(bytes.NewReader(file[:20]), failing{cause})); !errors.Is(err, cause) || errors.Is(err, ErrFile) {
		t.Fatal(err)
	}
	if _, err := g.WriteTo(failing{cause}); !errors.Is(err, cause) {
		t.Fatal(err)
	}
	g.Begin()
	if _, err := g.WriteTo(io.Discard); err == nil {
		t.Fatal("a graph with a window was written")
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }
