package format

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/graph"
)

// readText reads a text as a file of that name.
func readText(t *testing.T, name, in string, o ReadOptions) *graph.Graph {
	t.Helper()
	g, err := Read(context.Background(), put(t, name, []byte(in)), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// values are the types and values of the edges' properties, sorted.
func values(g *graph.Graph) string {
	var out []string
	for i := range int(g.Edges.Props.NumCols()) {
		c := g.Edges.Props.Column(i)
		var cells []string
		for row := range c.Len() {
			cells = append(cells, c.ValueStr(row))
		}
		slices.Sort(cells)
		out = append(out, c.DataType().String()+" "+strings.Join(cells, " "))
	}
	return strings.Join(out, "; ")
}

// TestMissingWords: a word for a missing value leaves its column a column of
// numbers or truth values, and is reported; in a column of texts it is a text.
func TestMissingWords(t *testing.T) {
	for _, c := range []struct{ in, want, note string }{
		{"src,dst,x\n1,2,NA\n2,3,5\n3,4,-\n4,5,null\n", "int64 (null) (null) (null) 5", "column x: 1 \"-\", 1 \"NA\", 1 \"null\" read as missing (x:string in --columns keeps them as text)"},
		{"src,dst,x\n1,2,None\n2,3,0.5\n3,4,nan\n4,5,\n", "float64 (null) (null) (null) 0.5", "column x: 1 \"None\", 1 \"nan\" read as missing (x:string in --columns keeps them as text)"},
		{"src,dst,x\n1,2,True\n2,3,False\n3,4,NULL\n", "bool (null) false true", "column x: 1 \"NULL\" read as missing (x:string in --columns keeps them as text)"},
		{"src,dst,x\n1,2,TRUE\n2,3,false\n", "bool false true", ""},
		{"src,dst,x\n1,2,NA\n2,3,abc\n3,4,-\n", "utf8 - NA abc", "column x: 1 \"-\", 1 \"NA\" kept as text (--null makes such words missing, x:string in --columns says that they are text)"},
		{"src,dst,x:string\n1,2,NA\n2,3,abc\n", "utf8 NA abc", ""},
		{"src,dst,x:int\n1,2,NA\n2,3,7\n", "int64 (null) 7", "column x: 1 \"NA\" read as missing (x:string in --columns keeps them as text)"},
		{"src,dst,x:float\n1,2,NaN\n2,3,7\n", "float64 7 NaN", ""},
		{"1 2 2.5\n2 3 NA\n", "float64 (null) 2.5", "column weight: 1 \"NA\" read as missing (weight:string in --columns keeps them as text)"},
	} {
		g := readText(t, "g.csv", c.in, ReadOptions{})
		if got := values(g); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
		if c.note != "" && !slices.Contains(g.Read.Notes, c.note) || c.note == "" && strings.Contains(strings.Join(g.Read.Notes, ""), "missing") {
			t.Errorf("%q: notes %q, want %q", c.in, g.Read.Notes, c.note)
		}
	}
	g := readText(t, "g.csv", "src,dst,x,s\n1,2,?,?\n2,3,5,abc\n", ReadOptions{Null: []string{"?"}})
	if got, want := values(g), "int64 (null) 5; utf8 (null) abc"; got != want {
		t.Errorf("--null ?: %s, want %s", got, want)
	}
}

// TestMissingWordsOnly: a column of which the first lines have no value takes the
// type of the values that come.
func TestMissingWordsOnly(t *testing.T) {
	head := "src,dst,x\n" + strings.Repeat("1,2,NA\n", 5000)
	for tail, want := range map[string]string{"3,4,True\n": "bool (null) true", "3,4,2.5\n": "float64 (null) 2.5", "3,4,abc\n": "utf8 NA abc", "3,4,8\n": "int64 (null) 8"} {
		if got := values(readText(t, "g.csv", head+tail, ReadOptions{})); got != want {
			t.Errorf("%s: %s, want %s", tail, got, want)
		}
	}
}

// TestWholeNumbersAreNotRounded: a column with fractions and whole numbers that a
// float64 does not hold is text, so that no two of its values become one.
func TestWholeNumbersAreNotRounded(t *testing.T) {
	big := "1,2,9007199254740993\n1,2,9007199254740992\n"
	late := strings.Repeat("3,4,5\n", 5000)
	for _, in := range []string{big + "2,3,0.5\n", "2,3,0.5\n" + big, big + late + "2,3,0.5\n", "2,3,0.5\n" + late + big} {
		g := readText(t, "g.csv", "src,dst,x\n"+in, ReadOptions{})
		got := values(g)
		for _, want := range []string{"utf8", "9007199254740992", "9007199254740993", "0.5"} {
			if !strings.Contains(got, want) {
				t.Errorf("%.40q: %s, without %s", in, got, want)
			}
		}
		if note := "column x is text: as a floating-point number 9007199254740993 would be rounded"; !slices.Contains(g.Read.Notes, note) {
			t.Errorf("%.40q: notes %q, want %q", in, g.Read.Notes, note)
		}
	}
	exact := readText(t, "g.csv", "src,dst,x\n1,2,9007199254740992\n1,2,18014398509481984\n2,3,0.5\n", ReadOptions{})
	if got, want := values(exact), "float64 0.5 1.8014398509481984e+16 9.007199254740992e+15"; got != want {
		t.Errorf("numbers that fit: %s, want %s", got, want)
	}
	path := put(t, "g.csv", []byte("src,dst,x:float\n"+big))
	_, err := Read(context.Background(), path, ReadOptions{}, nil)
	wantError(t, path, err, `:2:5: not a number: column x is float, which would round this whole number (x:string keeps it): "9007199254740993"`, ErrNumber)
	_, err = Read(context.Background(), "-", ReadOptions{Stdin: io.MultiReader(strings.NewReader("src,dst,x\n2,3,0.5\n" + strings.Repeat("3,4,5\n", 60000) + big))}, nil)
	if err == nil || !strings.Contains(err.Error(), "would round this whole number") {
		t.Errorf("from a pipe: %v", err)
	}
}

// TestZerosAreKept: values such as postal codes keep the zero they begin with, also when
// the first comes late in the file.
func TestZerosAreKept(t *testing.T) {
	late := strings.Repeat("3,4,5\n", 5000)
	for _, in := range []string{"1,2,02139\n1,3,10001\n", "1,3,10001\n" + late + "1,2,02139\n", "1,3,0.5\n" + late + "1,2,02139\n"} {
		g := readText(t, "g.csv", "src,dst,zip\n"+in, ReadOptions{})
		if got := values(g); !strings.Contains(got, "utf8") || !strings.Contains(got, "02139") {
			t.Errorf("%.40q: %s", in, got)
		}
		if note := "column zip is text: as a number 02139 would lose its zero (zip:int in --columns reads numbers)"; !slices.Contains(g.Read.Notes, note) {
			t.Errorf("%.40q: notes %q, want %q", in, g.Read.Notes, note)
		}
	}
	for _, in := range []string{"src,dst,x:int\n1,2,007\n", "src,dst,x\n1,2,0\n1,2,7\n"} {
		if got := values(readText(t, "g.csv", in, ReadOptions{})); !strings.Contains(got, "int64") || !strings.Contains(got, "7") {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// TestUnixTimes: the unit of times follows from their magnitude where all of them
// look like Unix times, and is reported with what settles it.
func TestUnixTimes(t *testing.T) {
	for _, c := range []struct {
		in    string
		unit  int64
		epoch bool
		note  string
	}{
		{"src,dst,time\n1,2,1700000000\n2,3,1700086400\n", 1e9, true, "times are taken as Unix times in seconds, from 2023-11-14 to 2023-11-15: all look like it (time:unix_s says so, time:int keeps plain numbers)"},
		{"1 2 1700000000000\n2 3 1700086400000\n", 1e6, true, "times are taken as Unix times in milliseconds, from 2023-11-14 to 2023-11-15: all look like it (time:unix_ms says so, time:int keeps plain numbers)"},
		{"1 2 1700000000000000\n2 3 1700086400000000\n", 1e3, true, "times are taken as Unix times in microseconds, from 2023-11-14 to 2023-11-15: all look like it (time:unix_us says so, time:int keeps plain numbers)"},
		{"1 2 1700000000000000000\n2 3 1700086400000000001\n", 1, true, "times are taken as Unix times in nanoseconds, from 2023-11-14 to 2023-11-15: all look like it (time:unix_ns says so, time:int keeps plain numbers)"},
		{"src,dst,time\n1,2,1700000000.25\n2,3,1700086400\n", 1e6, true, ""},
		{"src,dst,time\n1,2,17\n2,3,18\n", 0, false, ""},
		{"src,dst,time\n1,2,0\n2,3,1700000000000\n", 0, false, "times up to 1700000000000 look like Unix times in milliseconds, but not all do: they are plain numbers, and a duration counts as seconds (time:ms says otherwise)"},
		{"src,dst,time:int\n1,2,1700000000\n", 0, false, ""},
		{"src,dst,time:ms\n1,2,1700000000\n", 1e6, false, ""},
		{"src,dst,time:ms\n1,2,1700000000000\n", 1e6, true, ""},
		{"src,dst,time:unix_d\n1,2,300\n", 24 * 3600e9, true, ""},
		{"src,dst,time\n1,2,1970-01-02\n", 1e3, true, "times are microseconds since 1970 (UTC)"},
		{"src,dst,time\n1,2,20240310\n", 0, false, ""},
		{"src,dst,time\n1,2,20240310120000\n", 0, false, ""},
	} {
		g := readText(t, "g.csv", c.in, ReadOptions{})
		check := func(g *graph.Graph, where string) {
			num, den, _ := g.TimeUnit()
			if c.unit > 0 && num != c.unit*den || (c.unit == 0) != (g.Read.TimeUnit == 0) || g.Read.TimeEpoch != c.epoch {
				t.Errorf("%q%s: unit %d, since 1970: %v; want %d, %v", c.in, where, g.Read.TimeUnit, g.Read.TimeEpoch, c.unit, c.epoch)
			}
		}
		check(g, "")
		if c.note != "" && !slices.Contains(g.Read.Notes, c.note) {
			t.Errorf("%q: notes %q, want %q", c.in, g.Read.Notes, c.note)
		}
		for _, to := range []string{"weft", "arrow", "parquet", "csv", "tsv"} {
			path := filepath.Join(t.TempDir(), "again."+to)
			if err := Write(context.Background(), path, g, WriteOptions{AllowLoss: true}); err != nil {
				t.Fatal(err)
			}
			again, err := Read(context.Background(), path, ReadOptions{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			check(again, " as "+to)
		}
	}
}

// TestTimestampColumns: a column of the type timestamp has times, and keeps them
// through every format.
func TestTimestampColumns(t *testing.T) {
	g := readText(t, "g.csv", "src,dst,at:timestamp\n1,2,2024-03-10\n2,3,2024-03-10T12:00:00.5+01:00\n3,4,NA\n", ReadOptions{})
	want := values(g)
	if want != "timestamp[us, tz=UTC] (null) 2024-03-10T00:00:00Z 2024-03-10T11:00:00.5Z" {
		t.Error(want)
	}
	for _, to := range []string{"weft", "arrow", "parquet", "csv", "tsv"} {
		path := filepath.Join(t.TempDir(), "again."+to)
		if err := Write(context.Background(), path, g, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		again, err := Read(context.Background(), path, ReadOptions{}, nil)
		if err != nil || values(again) != want {
			t.Errorf("%s: %s, %v; want %s", to, values(again), err, want)
		}
	}
	path := put(t, "g.csv", []byte("src,dst,at:timestamp\n1,2,soon\n"))
	_, err := Read(context.Background(), path, ReadOptions{}, nil)
	wantError(t, path, err, `:2:5: column at: not a time such as 2024-01-31T12:00:00Z: "soon"`, nil)
}

// TestArrowTimes: dates become timestamps, and times of day durations.
func TestArrowTimes(t *testing.T) {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Timestamp_ns,
	}
	names := []string{"src", "dst", "day", "morning", "noon", "tick", "gap", "at"}
	var fields []arrow.Field
	for i := range types {
		fields = append(fields, arrow.Field{Name: names[i], Type: types[i], Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int64Builder).Append(1)
	b.Field(1).(*array.Int64Builder).Append(2)
	b.Field(2).(*array.Date32Builder).Append(19792)
	b.Field(3).(*array.Date64Builder).Append(86400_000)
	b.Field(4).(*array.Time32Builder).Append(1500)
	b.Field(5).(*array.Time64Builder).Append(7)
	b.Field(6).(*array.DurationBuilder).Append(60)
	b.Field(7).(*array.TimestampBuilder).Append(1)
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(schema))
	if err := w.Write(b.NewRecordBatch()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	g := readText(t, "g.arrow", file.String(), ReadOptions{})
	want := "timestamp[s, tz=UTC] 2024-03-10T00:00:00Z; timestamp[ms, tz=UTC] 1970-01-02T00:00:00Z; duration[ms] 1500ms; duration[ns] 7ns; duration[s] 60s; timestamp[ns, tz=UTC] 1970-01-01T00:00:00.000000001Z"
	if got := values(g); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for i, name := range []string{"day", "morning", "noon", "tick", "gap"} {
		columns := []string{"src", "dst", "_", "_", "_", "_", "_", "_"}
		columns[2+i] = "time"
		g := readText(t, "g.arrow", file.String(), ReadOptions{Columns: columns})
		unit := []int64{24 * 3600e9, 1e6, 1e6, 1, 1e9}[i]
		if g.Read.TimeUnit != unit || g.Read.TimeEpoch != (i < 2) || g.Edges.Time[0] != []int64{19792, 86400_000, 1500, 7, 60}[i] {
			t.Errorf("%s as the edges' times: %d of %d ns, since 1970: %v", name, g.Edges.Time[0], g.Read.TimeUnit, g.Read.TimeEpoch)
		}
	}
}

// TestWriteMTX: edges of a directed graph go from row to column, and an undirected graph is
// written as the lower triangle of its matrix.
func TestWriteMTX(t *testing.T) {
	for direction, want := range map[Direction]string{
		Directed:   "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n1 3\n3 2\n",
		Undirected: "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 1\n3 2\n",
	} {
		g := readText(t, "g.txt", "1 2\n1 3\n3 2\n", ReadOptions{Direction: direction})
		var b bytes.Buffer
		if err := Write(t.Context(), "-", g, WriteOptions{Format: "mtx", Stdout: &b}); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%v: %q, want %q", direction, b.String(), want)
		}
	}
}
