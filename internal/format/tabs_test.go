package format

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestTabs: tabs between ids are blanks like others; in a table with names, or with
// an empty field, each of them separates.
func TestTabs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var lines strings.Builder
	for range 3000 {
		lines.WriteString("n1\tn2\n")
	}
	lines.WriteString("n1 n7\n")
	g, err := Read(t.Context(), write("late.txt", lines.String()), ReadOptions{}, nil)
	if err != nil || g.NumVertices() != 3 {
		t.Errorf("a line with a blank behind lines with tabs: %v", err)
	}
	g, err = Read(t.Context(), write("quoted.txt", "\"n0\"\t\"n1\"\n\"n1\"\t\"n2\"\n"), ReadOptions{Labels: write("labels.txt", "\"n0\" A\n\"n1\" B\n\"n2\" B\n")}, nil)
	if err != nil || g.NumVertices() != 3 || len(g.Classes) == 1 {
		t.Errorf("quoted ids: %v", err)
	}
	g, err = Read(t.Context(), write("table.tsv", "src\tdst\tnote\na\tb\t\nb\tc\tx\n"), ReadOptions{}, nil)
	if err != nil || g.NumVertices() != 3 || g.Edges.Props == nil || g.Edges.Props.NumCols() != 1 {
		t.Errorf("an empty field: %v", err)
	}
}

// TestVertexTableLoss: a table of text next to a graph cannot say all types either.
func TestVertexTableLoss(t *testing.T) {
	g, err := Read(t.Context(), put(t, "g.txt", []byte("1 2\n")), ReadOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "d", Type: arrow.FixedWidthTypes.Timestamp_ns}}, nil))
	defer b.Release()
	b.Field(0).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{1, 2}, nil)
	g.VertexProps = b.NewRecordBatch()
	path := filepath.Join(t.TempDir(), "h.txt")
	err = Write(t.Context(), path, g, WriteOptions{Vertices: filepath.Join(t.TempDir(), "v.csv")})
	wantError(t, path, err, ": the format cannot hold the graph: edgelist would lose the types of vertex properties", ErrLoss)
	if err := Write(t.Context(), path, g, WriteOptions{Vertices: filepath.Join(t.TempDir(), "v.parquet")}); err != nil {
		t.Error(err)
	}
}

// TestLabelsHeader: the column next to the ids of a file of labels is that of the labels,
// whatever a header calls it.
func TestLabelsHeader(t *testing.T) {
	for _, text := range []string{"node,kind\n1,A\n2,B\n", "1 A\n2 B\n", "id,label\n1,A\n2,B\n", "node,kind\n1,7\n2,8\n"} {
		labels := filepath.Join(t.TempDir(), "labels.csv")
		if err := os.WriteFile(labels, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if g := readText(t, "g.txt", "1 2\n", ReadOptions{Labels: labels}); len(g.VertexLabels) != 2 {
			t.Errorf("%q gives the labels %q", text, g.VertexLabels)
		}
	}
}
