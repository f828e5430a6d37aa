package format

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestTableNames: the names of a table's columns say the ends and the direction, as
// those of a text's header do.
func TestTableNames(t *testing.T) {
	for _, c := range []struct {
		names             string
		o                 ReadOptions
		directed, guessed bool
		columns           string
		note, err         string
	}{
		{names: "source,target,weight", directed: true, columns: "src,dst,weight:int64", note: `directed, from column "source" to column "target"`},
		{names: "tx_id,from_account,to_account", directed: true, columns: "tx_id:int64,src,dst", note: `directed, from column "from_account" to column "to_account"`},
		{names: "tx_id,from_account,to_account", o: ReadOptions{Direction: Undirected}, columns: "tx_id:int64,src,dst"},
		{names: "node1,node2,weight", guessed: true, columns: "src,dst,weight:int64"},
		{names: "node1,node2,weight", o: ReadOptions{KeepDuplicates: true}, guessed: true, columns: "src,dst,weight:int64"},
		{names: "nameDest,nameOrig,date", directed: true, columns: "dst,src,time"},
		{names: "payer,payee,x", o: ReadOptions{Columns: []string{"src", "dst", "time"}}, directed: true, columns: "src,dst,time"},
		{names: "Account,From Bank,To Bank", directed: true, columns: "Account:int64,src,dst", note: `directed, from column "From Bank" to column "To Bank"`},
		{names: "from_id,to_id,x,from_account,to_account", directed: true, columns: "src,dst,x:int64,from_account:int64,to_account:int64"},
		{names: "x,from_id,to_id,from_account,to_account", err: "the ends of an edge could be from_id and to_id, or from_account and to_account"},
		{names: "source,to", directed: true, columns: "src,dst", note: `directed, from column "source" to column "to"`},
		{names: "x,target,from", directed: true, columns: "x:int64,dst,src"},
		{names: "source,to", o: ReadOptions{Columns: []string{"src", "dst"}}, directed: true, columns: "src,dst"},
		{names: "u,to", guessed: true, columns: "src,dst"},
		{names: "a,weight,z", err: "no column src"},
	} {
		var fields []arrow.Field
		for name := range strings.SplitSeq(c.names, ",") {
			fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64})
		}
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
		for i := range fields {
			b.Field(i).(*array.Int64Builder).AppendValues([]int64{int64(i), int64(i + 1), 7}, nil)
		}
		rec := b.NewRecordBatch()
		in, err := array.NewRecordReader(rec.Schema(), []arrow.RecordBatch{rec})
		if err != nil {
			t.Fatal(err)
		}
		g, err := FromTable(t.Context(), in, c.o)
		if c.err != "" || err != nil {
			if c.err == "" || err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.names, err, c.err)
			}
			continue
		}
		r := g.Read
		if g.Directed != c.directed || r.DirectionGuessed != c.guessed || r.Columns != c.columns || !strings.Contains(strings.Join(r.Notes, "\n"), c.note) {
			t.Errorf("%s: directed: %v, guessed: %v, columns %s, %q", c.names, g.Directed, r.DirectionGuessed, r.Columns, r.Notes)
		}
	}
}

// TestTableIDTypes: vertex ids are whole numbers or texts, at both ends of an edge.
func TestTableIDTypes(t *testing.T) {
	for _, names := range []string{"src,dst", "dst,src"} {
		fields := make([]arrow.Field, 2)
		for i, name := range strings.Split(names, ",") {
			fields[i] = arrow.Field{Name: name, Type: []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64}[i]}
		}
		schema := arrow.NewSchema(fields, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		b.Field(0).(*array.Float64Builder).Append(1)
		b.Field(1).(*array.Int64Builder).Append(2)
		in, err := array.NewRecordReader(schema, []arrow.RecordBatch{b.NewRecordBatch()})
		if err != nil {
			t.Fatal(err)
		}
		for _, columns := range [][]string{strings.Split(names, ","), nil} {
			in.Retain()
			_, err = FromTable(t.Context(), in, ReadOptions{Columns: columns})
			if want := "column " + fields[0].Name + " has type float64; vertex ids are integers or strings"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", names, err, want)
			}
		}
	}
}

// TestLastWord: a capital letter at the end of a word in small letters is a word.
func TestLastWord(t *testing.T) {
	for name, want := range map[string]string{
		"": "", " - ": "", "Interactor A": "a", "nodeB": "b", "nB": "b", "B": "b", "AB": "ab", "Ab": "ab", "node_12": "12", "from-Id": "id",
	} {
		if got := lastWord(name); got != want {
			t.Errorf("the last word of %q is %q, want %q", name, got, want)
		}
	}
}

// TestOddID: the first id that makes ids texts is found behind rows that lack one.
func TestOddID(t *testing.T) {
	sp := &textSpec{cols: []column{{kind: colSrc}, {kind: colProp}, {kind: colDst}}}
	row := func(cells ...string) (out [][]byte) {
		for _, c := range cells {
			out = append(out, []byte(c))
		}
		return out
	}
	for _, c := range []struct {
		rows [][][]byte
		n    int
		id   string
	}{
		{[][][]byte{row("", "x", "1"), row("7.5", "x", "2")}, 1, "7.5"},
		{[][][]byte{row("1"), row("2", "x", "b"), row("3", "x", "5")}, 1, "b"},
		{[][][]byte{row("a", "x", "1"), row("a", "x", "b"), row("5", "x", "5")}, 0, "a"},
		{[][][]byte{row("a", "007", "b"), row("c", "x", "07")}, 1, "07"},
		{[][][]byte{row("a", "1", "b"), row("c", "x", "d")}, 0, ""},
	} {
		if n, id := sp.oddID(c.rows); n != c.n || string(id) != c.id {
			t.Errorf("%s: row %d, %q; want row %d, %q", c.rows, n, id, c.n, c.id)
		}
	}
}
