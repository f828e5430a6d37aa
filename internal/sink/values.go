package sink

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/engine"
)

// Batch is rows of values of Go, all of the same length.
type Batch interface {
	Len() int
	// Width is the number of values of a row.
	Width() int
	// Ints stores value j of each row i at to[i*step], if it is a whole number from -2^53 to 2^53, and otherwise NoInt.
	Ints(j int, to []int64, step int)
	// Value is value j of row i: int64, float64, bool or string.
	Value(i, j int) any
}

// rowList is rows as a Batch.
type rowList [][]any

func (r rowList) Len() int           { return len(r) }
func (r rowList) Width() int         { return len(r[0]) }
func (r rowList) Value(i, j int) any { return r[i][j] }
func (r rowList) Ints(j int, to []int64, step int) {
	for i, row := range r {
		x, ok := row[j].(int64)
		if !ok || x < -1<<53 || x > 1<<53 {
			x = NoInt
		}
		to[i*step] = x
	}
}

// NoInt stands for a value that is not a whole number from -2^53 to 2^53, which all formats write as one.
const NoInt = math.MinInt64

// Values writes rows of values of Go, all of the same length, as a table. The types of the first row are those of the columns: int64, float64,
// bool or string.
type Values struct {
	// Limit is the most rows that are written; 0 means any number. Set it before the first row.
	Limit int64

	w      io.Writer
	format string
	names  []string // of the columns; more: the first with a number
	rows   rowList  // of Add, not yet written
	last   time.Time
	cut    bool // rows are missing

	begun   sync.Once // guards out
	out     *Writer
	workers [mostWorkers]adder
	n       atomic.Int64
	err     atomic.Pointer[error]
}

// adder is a worker of Values: the rows that it writes, and a batch with their numbers and with those of their values that are Ints.
type adder struct {
	rows  Batch
	batch engine.Batch
	ints  []int64
}

// mostWorkers is the largest number of workers of AddBatch, which is that of package native.
const mostWorkers = 4096

// NewValues returns a writer of a format. Columns have these names, or v0, v1 and so on. If there are more columns than one name, they have that
// name with a number. The caller must call Close.
func NewValues(w io.Writer, format string, names ...string) *Values {
	return &Values{w: w, format: format, names: names}
}

// Add takes a row. It returns false after an error, and when the limit is reached. The caller may use the memory of the row again. It must not
// be called while another Add or AddBatch runs.
func (w *Values) Add(row []any) (more bool) {
	n := w.n.Add(1)
	if w.Limit > 0 && n > w.Limit {
		w.n.Add(-1)
		return false
	}
	w.rows = append(w.rows, slices.Clone(row))
	if n == 1 || len(w.rows) == 1024 || time.Since(w.last) > 200*time.Millisecond {
		w.flush()
	}
	return w.Err() == nil && (w.Limit == 0 || n < w.Limit)
}

// AddBatch takes rows of a worker, of which there are at most 4096. It returns how many it took, and false after an error and when the limit is
// reached. Different workers may call it concurrently.
func (w *Values) AddBatch(worker int, rows Batch) (taken int, more bool) {
	n := rows.Len()
	if n == 0 {
		return 0, true
	}
	more = true
	if end := w.n.Add(int64(n)); w.Limit > 0 && end >= w.Limit {
		less := int(min(end-w.Limit, int64(n)))
		w.n.Add(-int64(less))
		n, more = n-less, false
	}
	if n > 0 {
		w.write(worker, rows, n)
	}
	return n, more && w.Err() == nil
}

// write writes the first n rows of a batch.
func (w *Values) write(worker int, rows Batch, n int) {
	w.begun.Do(func() {
		var types []string
		for j := range rows.Width() {
			types = append(types, typeName(rows.Value(0, j)))
		}
		w.start(types)
	})
	if w.Err() != nil {
		return
	}
	a, width := &w.workers[worker], rows.Width()
	a.rows = rows
	if len(a.ints) < rows.Len()*width {
		a.ints = make([]int64, rows.Len()*width)
		a.batch = engine.Batch{Width: 2, EdgeWidth: width, Edges: unsafe.Slice((*uint64)(unsafe.Pointer(&a.ints[0])), len(a.ints))}
		for i := range uint32(rows.Len()) {
			a.batch.Vertices = append(a.batch.Vertices, i, uint32(worker))
		}
	}
	for j := range width {
		rows.Ints(j, a.ints[j:], width)
	}
	a.batch.Rows = n
	w.fail(w.out.Emit(worker, &a.batch))
}

// fail keeps the first error.
func (w *Values) fail(err error) {
	if err != nil {
		w.err.CompareAndSwap(nil, &err)
	}
}

// Count is the number of rows.
func (w *Values) Count() int64 { return w.n.Load() }

// Err is the first error.
func (w *Values) Err() error {
	if err := w.err.Load(); err != nil {
		return *err
	}
	return nil
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
func (w *Values) start(columns []string) {
	var cols []Column
	for j, c := range columns {
		name := fmt.Sprintf("v%d", j)
		if len(w.names) > 0 {
			if name = w.names[0]; len(columns) > 1 {
				name = fmt.Sprintf("%s%d", w.names[0], j)
			}
		}
		at := func(m []uint32, _ []uint64) any { return w.workers[m[1]].rows.Value(int(m[0]), j) }
		t := map[string]Type{"int": Int, "float": Float, "bool": Bool, "string": String}[c]
		col := Value(name, t, at)
		if t == Int {
			col.ints, col.index = true, j
			if w.format == "json" || w.format == "ndjson" { // a string beyond 2^53
				col.value = func(m []uint32, e []uint64) any { return big.NewInt(at(m, e).(int64)) }
			}
		}
		cols = append(cols, col)
	}
	format := w.format
	if format == "" {
		format = "table"
	}
	out, err := New(w.w, Options{Format: format, Columns: cols, Workers: mostWorkers})
	w.out = out
	w.fail(err)
}

func (w *Values) flush() {
	if w.Err() == nil && len(w.rows) > 0 {
		w.write(0, w.rows, len(w.rows))
	}
	w.rows, w.last = w.rows[:0], time.Now()
}

// Incomplete makes Close say that rows are missing, as that of Writer.
func (w *Values) Incomplete() { w.cut = true }

// Close writes the remaining rows. Without rows it writes an empty table of columns of these types: int, float, bool and string.
func (w *Values) Close(columns []string) error {
	w.flush()
	w.begun.Do(func() { w.start(columns) })
	if w.out == nil {
		return w.Err()
	}
	if w.cut {
		w.out.Incomplete()
	}
	return errors.Join(w.Err(), w.out.Close())
}
