package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/parquet"
)

// tableFile writes the lines of a text of updates as rows of a table, whose format the name says. A line that is not an update is a row that is none.
func tableFile(t *testing.T, text, name string) {
	t.Helper()
	var fields []arrow.Field
	for _, f := range []string{"operation", "id", "source", "target"} {
		fields = append(fields, arrow.Field{Name: f, Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	}
	fields[0].Type = arrow.BinaryTypes.String
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	words := map[string]string{"+": "INSERT", "-": "delete", "-v": "delete"}
	rows := int64(0)
	for line := range strings.Lines(text) {
		x := strings.Fields(line)
		op, known := words[x[0]]
		if !known {
			op, x = x[0], []string{"-v"}
		}
		b.Field(0).(*array.StringBuilder).Append(op)
		if x[0] != "-v" { // no id
			x = append([]string{x[0], ""}, x[1:]...)
		}
		for i := 1; i < len(fields); i++ {
			to := b.Field(i).(*array.Int64Builder)
			if i >= len(x) || x[i] == "" {
				to.AppendNull()
				continue
			}
			n, err := strconv.ParseInt(x[i], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			to.Append(n)
		}
		rows++
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	var out bytes.Buffer
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	var err error
	switch filepath.Ext(name) {
	case ".parquet":
		w, err = parquet.NewWriter(&out, schema, 500)
	case ".arrow":
		w, err = ipc.NewFileWriter(&out, ipc.WithSchema(schema))
	default:
		w = ipc.NewWriter(&out, ipc.WithSchema(schema))
	}
	for at := int64(0); err == nil && at < rows; at += 100 {
		err = w.Write(rec.NewSlice(at, min(rows, at+100)))
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(name, out.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestWatchTables: a table of updates gives the changes of the same lines, from a file and from a pipe, and replay writes its updates as objects.
func TestWatchTables(t *testing.T) {
	dir := t.TempDir()
	g, u := watchFiles(t, dir, 600)
	text, err := os.ReadFile(u)
	if err != nil {
		t.Fatal(err)
	}
	watched := func(in []byte, source string) (changes, said string) {
		var out, errs strings.Builder
		code := run(t.Context(), []string{"watch", "-g", g, "--source", source, "--on-error", "skip", "--pattern", "triangle", "--progress", "none"}, bytes.NewReader(in), &out, &errs)
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", source, code, errs.String())
		}
		said = errs.String()
		return out.String(), said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:]
	}
	want, wantSaid := watched(nil, u)
	if len(want) == 0 || !strings.Contains(wantSaid, "malformed") {
		t.Fatalf("%s, %s", want, wantSaid)
	}
	for _, ext := range []string{"parquet", "arrow", "arrows"} {
		name := filepath.Join(dir, "updates."+ext)
		tableFile(t, string(text), name)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range []string{name, "-"} {
			if got, said := watched(data, source); got != want || said != wantSaid {
				t.Errorf("%s, %s: %d bytes of changes, want %d; %s, want %s", ext, source, len(got), len(want), said, wantSaid)
			}
		}
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"replay", name, "--speed", "max", "--on-error", "skip"}, nil, &out, &errs); code != 0 {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
		if got, _ := watched([]byte(out.String()), "-"); got != want || !strings.HasPrefix(out.String(), `{"op":"`) {
			t.Errorf("%s, replayed: %d bytes of changes, want %d", ext, len(got), len(want))
		}
		code, said := weftIn(t, dir, "watch", "-g", g, "--source", name, "--pattern", "triangle")
		if code != exitInput || !strings.Contains(said, name+": row ") || !strings.Contains(said, `, column operation: what happens is +`) {
			t.Errorf("exit %d: %s", code, said)
		}
		tableFile(t, strings.ReplaceAll(string(text), "a mistake\n", ""), name)
		if code, said := weftIn(t, dir, "bench", "watch", "-g", g, "--source", name, "--pattern", "triangle", "--runs", "1", "--batch", "64"); code != 0 {
			t.Errorf("exit %d: %s", code, said)
		}
	}
	for _, c := range [][]string{
		{"--source", "nats://localhost/x", "--updates", "parquet"},
		{"--source", "-", "--updates", "arrow", "--state", "@state"},
	} {
		if code, said := weftIn(t, dir, append([]string{"watch", "-g", g, "--pattern", "triangle"}, c...)...); code != exitUsage || !strings.Contains(said, "lines") {
			t.Errorf("%v: exit %d: %s", c, code, said)
		}
	}
}

// TestWatchTableKilled: a process that reads a table and is killed again and again loses no update and repeats no change.
func TestWatchTableKilled(t *testing.T) {
	dir := t.TempDir()
	g, u := watchFiles(t, dir, 2000)
	text, err := os.ReadFile(u)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "updates.parquet")
	tableFile(t, string(text), name)
	killedWatch(t, 3, dir, g, name, "ndjson", os.ReadFile)
}
