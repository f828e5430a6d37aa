package main

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/weftgraph/weft/internal/sink"
)

// rowWriter writes rows of equal length as a table.
type rowWriter struct {
	w     io.Writer
	to    string
	names []string // of the columns; more: the first with a number
	out   *sink.Writer
	rows  [][]any // not yet written
	n     int64
	err   error
}

// add takes a row, and returns false after an error.
func (w *rowWriter) add(row []any) bool {
	if w.err == nil && w.out == nil {
		var types []string
		for _, v := range row {
			types = append(types, typeName(v))
		}
		w.start(types)
	}
	w.rows = append(w.rows, slices.Clone(row))
	if w.n++; len(w.rows) == 1024 {
		w.flush()
	}
	return w.err == nil
}

func typeName(v any) string {
	switch v.(type) {
	case float64:
		return "float"
	case bool:
		return "bool"
	case string:
		return "string"
	}
	return "int"
}

// start makes columns of these types, and writes the text before the first row.
func (w *rowWriter) start(columns []string) {
	var cols []sink.Column
	for i, c := range columns {
		t := sink.Int
		value := func(at int) any { return w.rows[at][i] }
		switch c {
		case "int":
			if w.to == "json" || w.to == "ndjson" { // a string beyond 2^53
				value = func(at int) any { return big.NewInt(w.rows[at][i].(int64)) }
			}
		case "float":
			t = sink.Float
		case "bool":
			t = sink.Bool
		case "string":
			t = sink.String
		}
		name := fmt.Sprintf("v%d", i)
		if len(w.names) > 0 {
			if name = w.names[0]; len(columns) > 1 {
				name = fmt.Sprintf("%s%d", w.names[0], i)
			}
		}
		cols = append(cols, column(name, t, value))
	}
	to := w.to
	if to == "" {
		to = "table"
	}
	w.out, w.err = sink.New(w.w, sink.Options{Format: to, Columns: cols})
}

func (w *rowWriter) flush() {
	if w.err == nil && len(w.rows) > 0 {
		w.err = w.out.Emit(0, sink.Rows(0, len(w.rows)))
	}
	w.rows = w.rows[:0]
}

// close writes the remaining rows. Without rows it writes an empty table of these columns.
func (w *rowWriter) close(columns []string) error {
	if w.err == nil && w.out == nil {
		w.start(columns)
	}
	w.flush()
	if w.out == nil {
		return w.err
	}
	return errors.Join(w.err, w.out.Close())
}
