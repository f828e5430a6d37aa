// Package sink writes matches and tables of results. The formats are a table for people, JSON, NDJSON,
// CSV, an Arrow IPC stream and Parquet.
//
// Each worker formats its own matches in a buffer of its own, and hands over only full buffers.
// Memory does not grow with the number of rows.
//
// It knows graphs (for the user's ids and properties) and batches of matches. It must not know
// plans or how matches are found.
package sink

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
)

// Formats are the names that --to takes.
var Formats = []string{"table", "json", "ndjson", "csv", "arrow", "parquet"}

// ErrFormat is wrapped by the error of New for a format that does not exist.
var ErrFormat = errors.New("unknown output format")

// CheckFormat returns an error unless name is one of Formats.
func CheckFormat(name string) error {
	if slices.Contains(Formats, name) {
		return nil
	}
	return fmt.Errorf("%w %q: want %s", ErrFormat, name, strings.Join(Formats, ", "))
}

// Options say which columns and format to write.
type Options struct {
	Format  string
	Columns []Column // of equal names all but the first get _2, _3, …
	Graph   *graph.Graph
	Workers int // the engine's threads; at least 1
	// Interval is how long a match may wait in a buffer; 0: 200 ms.
	Interval time.Duration
}

// Counter is a writer that wants to know how many rows it has. New's writer may be one.
type Counter interface {
	// Wrote says how many rows a write, which has ended without an error, has added. It is called by one goroutine at a time.
	Wrote(rows int)
}

// Writer is an engine.Sink that formats matches. The caller must call Close, also after an
// error.
type Writer struct {
	workers []worker
	out     target
	wrote   func(rows int) // nil: nobody wants to know
	mu      sync.Mutex     // guards out and err
	err     error
	cut     bool // rows are missing
	stop    chan struct{}
	done    sync.WaitGroup
}

// worker is one worker's formatter. Its lock is taken by the worker, once a
// batch, and by the ticker that keeps matches from waiting for ever.
type worker struct {
	mu   sync.Mutex
	enc  encoder // nil: the worker has had no rows
	rows int     // that enc has formatted and not passed on
}

// encoder turns matches into bytes or columns; one a worker.
type encoder interface {
	// add formats the rows of b and reports whether flush is due.
	add(b *engine.Batch) (full bool, err error)
	// flush passes the formatted rows to the target, which the caller has locked.
	flush() error
}

// target is where encoders flush their rows.
type target interface {
	encoder() encoder
	// close writes the format's closing text.
	close() error
}

// New returns a Writer on w.
func New(w io.Writer, o Options) (*Writer, error) {
	var t target
	var err error
	o.Columns = distinct(o.Columns)
	switch o.Format {
	case "csv":
		t, err = newText(w, o.Columns, csvStyle(o.Columns))
	case "ndjson":
		t, err = newText(w, o.Columns, ndjsonStyle(o.Columns))
	case "json":
		t, err = newText(w, o.Columns, jsonStyle(o.Columns))
	case "table":
		t = newTable(w, o.Columns)
	case "arrow":
		t, err = newArrow(w, o.Columns)
	case "parquet":
		t, err = newParquet(w, o.Columns)
	default:
		return nil, CheckFormat(o.Format)
	}
	if err != nil {
		return nil, err
	}
	s := &Writer{out: t, stop: make(chan struct{})}
	if c, ok := w.(Counter); ok {
		s.wrote = c.Wrote
	}
	s.workers = make([]worker, max(o.Workers, 1))
	interval := o.Interval
	if interval == 0 {
		interval = 200 * time.Millisecond
	}
	s.done.Go(func() { s.tick(interval) })
	return s, nil
}

// Emit formats a batch.
func (s *Writer) Emit(n int, b *engine.Batch) error {
	w := &s.workers[n]
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.enc == nil {
		w.enc = s.out.encoder()
	}
	whole := false
	defer func() {
		if !whole {
			_ = s.flush(w, errPanic) // of a row in parts nothing is written
		}
	}()
	full, err := w.enc.add(b)
	whole = true
	w.rows += b.Rows
	if err != nil || full {
		return s.flush(w, err)
	}
	return nil
}

// errPanic is the error of a writer after a panic over a row.
var errPanic = errors.New("sink: a row could not be read")

// flush hands over w's rows; the caller holds w.mu.
func (s *Writer) flush(w *worker, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		if s.err = err; err == nil && w.enc != nil {
			s.err = w.enc.flush()
		}
		if s.err == nil && w.rows > 0 && s.wrote != nil {
			s.wrote(w.rows)
		}
		w.rows = 0
	}
	return s.err
}

// tick flushes all workers now and then.
func (s *Writer) tick(interval time.Duration) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-t.C:
			s.flushAll()
		}
	}
}

func (s *Writer) flushAll() {
	for i := range s.workers {
		w := &s.workers[i]
		w.mu.Lock()
		_ = s.flush(w, nil) // kept in s.err
		w.mu.Unlock()
	}
}

// Flush writes the rows of all batches so far, and blocks until they are written. A table gets the widths of its columns from the rows
// before the first Flush.
func (s *Writer) Flush() error {
	s.flushAll()
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.out.(*table); ok && s.err == nil {
		s.err = t.writeHead()
	}
	return s.err
}

// Incomplete makes Close say that rows are missing, in formats that have a place for that after the rows: an Arrow stream then ends with a batch
// without rows, whose metadata has IncompleteKey with the value false.
func (s *Writer) Incomplete() { s.cut = true }

// IncompleteKey is the key of the metadata of the last batch of an Arrow stream that is not complete.
const IncompleteKey = "weft.complete"

// Close writes the remaining rows and the end of the format. It does not close the underlying
// writer.
func (s *Writer) Close() error {
	close(s.stop)
	s.done.Wait()
	s.flushAll()
	if s.err != nil {
		return s.err
	}
	if t, ok := s.out.(*columnar); ok && s.cut && t.note != nil {
		if err := t.note(); err != nil {
			return err
		}
	}
	return s.out.close()
}
