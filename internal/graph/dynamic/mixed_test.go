package dynamic

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// TestMixed: a property that updates brought has integers and fractions, each as it came, at every version; a type that a file gave stays.
func TestMixed(t *testing.T) {
	g := New(false, false)
	add := func(id uint64, v Value) error {
		k, err := g.VertexKey("x", arrow.PrimitiveTypes.Int64)
		if err != nil {
			k, _ = g.LookupVertexKey("x")
		}
		_, err = g.AddVertex(Num(id), g.Class(), Property{k, v})
		return err
	}
	set := func(id uint64, v Value) (Result, error) {
		k, _ := g.LookupVertexKey("x")
		return g.SetVertex(Num(id), Property{k, v})
	}
	g.Begin()
	for i, v := range []Value{OfInt(3), OfFloat(2.5), OfInt(7)} {
		if err := add(uint64(i), v); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := set(0, OfFloat(0.5)); r != Applied || err != nil {
		t.Fatal(r, err)
	}
	if r, err := set(2, OfFloat(7)); r != Duplicate || err != nil {
		t.Error("the same number as a fraction:", r, err)
	}
	if _, err := set(1, OfInt(1<<53+1)); !errors.Is(err, ErrValue) {
		t.Error("an integer that is not a float64, after fractions:", err)
	}
	v := func(id uint64) uint32 { x, _ := g.Vertex(Num(id)); return x }
	if a, b := g.At(3).VertexValue(v(0), 0), g.Now().VertexValue(v(0), 0); a != OfInt(3) || b != OfFloat(0.5) {
		t.Error("versions:", a, b)
	}
	g.Settle()
	var b bytes.Buffer
	if _, err := g.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	read, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*Graph{g, read} {
		for id, want := range []Value{OfFloat(0.5), OfFloat(2.5), OfInt(7)} {
			x, _ := g.Vertex(Num(uint64(id)))
			if got := g.Now().VertexValue(x, 0); got != want {
				t.Errorf("vertex %d has %v, want %v", id, got, want)
			}
		}
	}
	s, err := read.Now().Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := s.VertexProps.Column(0).(*array.Float64); !ok || c.Value(2) != 7 {
		t.Error("snapshot:", s.VertexProps)
	}
	again, err := From(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if f := again.Frame(); f.VertexProps.NumCols() != 1 || read.Frame().VertexProps != nil {
		t.Error("the frame has other properties than those of the beginning")
	}
	g = New(false, false)
	if err := add(1, OfInt(-1<<53-1)); err != nil {
		t.Fatal(err)
	}
	if err := add(2, OfFloat(1.5)); !errors.Is(err, ErrValue) {
		t.Error("a fraction after an integer that is not a float64:", err)
	}
}
