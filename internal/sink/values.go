package sink

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"
)

// Values writes rows of values of Go, all of the same length, as a table. The types of the first row are those of the columns: int64, float64,
// bool or string.
type Values struct {
	w      io.Writer
	format string
	names  []string // of the columns; more: the first with a number
	out    *Writer
	rows   [][]any // not yet written
	last   time.Time
	n      int64
	cut    bool // rows are missing
	err    error
}

// NewValues returns a writer of a format. Columns have these names, or v0, v1 and so on. If there are more columns than one name, they have that
// name with a number. The caller must call Close.
func NewValues(w io.Writer, format string, names ...string) *Values {
	return &Values{w: w, format: format, names: names}
}

// Add takes a row, and returns false after an error. The caller may use the memory of the row again.
func (w *Values) Add(row []any) bool {
	if w.err == nil && w.out == nil {
		var types []string
		for _, v := range row {
			types = append(types, typeName(v))
		}
		w.start(types)
	}
	w.rows = append(w.rows, slices.Clone(row))
	if w.n++; len(w.rows) == 1024 || time.Since(w.last) > 200*time.Millisecond {
		w.flush()
	}
	return w.err == nil
}

// Count is the number of rows.
func (w *Values) Count() int64 { return w.n }

// Err is the first error.
func (w *Values) Err() error { return w.err }

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
func (w *Values) start(columns []string) {
	w.last = time.Now()
	var cols []Column
	for i, c := range columns {
		t := Int
		value := func(at int) any { return w.rows[at][i] }
		switch c {
		case "int":
			if w.format == "json" || w.format == "ndjson" { // a string beyond 2^53
				value = func(at int) any { return big.NewInt(w.rows[at][i].(int64)) }
			}
		case "float":
			t = Float
		case "bool":
			t = Bool
		case "string":
			t = String
		}
		name := fmt.Sprintf("v%d", i)
		if len(w.names) > 0 {
			if name = w.names[0]; len(columns) > 1 {
				name = fmt.Sprintf("%s%d", w.names[0], i)
			}
		}
		cols = append(cols, Value(name, t, func(m []uint32, _ []uint64) any { return value(int(m[0])) }))
	}
	format := w.format
	if format == "" {
		format = "table"
	}
	w.out, w.err = New(w.w, Options{Format: format, Columns: cols})
}

func (w *Values) flush() {
	if w.err == nil && len(w.rows) > 0 {
		w.err = w.out.Emit(0, Rows(0, len(w.rows)))
	}
	w.rows, w.last = w.rows[:0], time.Now()
}

// Incomplete makes Close say that rows are missing, as that of Writer.
func (w *Values) Incomplete() { w.cut = true }

// Close writes the remaining rows. Without rows it writes an empty table of columns of these types: int, float, bool and string.
func (w *Values) Close(columns []string) error {
	if w.err == nil && w.out == nil {
		w.start(columns)
	}
	w.flush()
	if w.out == nil {
		return w.err
	}
	if w.cut {
		w.out.Incomplete()
	}
	return errors.Join(w.err, w.out.Close())
}
