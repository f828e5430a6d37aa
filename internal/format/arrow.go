package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weftgraph/weft/internal/vfs"
)

// readArrow reads an edge table in an Arrow IPC file or stream.
func (r *reading) readArrow() error { return r.arrowTable(r.src, edgeRole) }

// guard turns a panic of a decoder over hostile bytes into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged file: %v", p)
	}
}

// tableError explains a decoder's error; end is where the bytes end, if they end
// too early.
func tableError(src *source, what string, end int64, err error) error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case src.ctx.Err() != nil:
		return src.ctx.Err()
	case errors.As(err, &e):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return &Error{File: src.name, Offset: end, Cause: wrapf(ErrTruncated, "%s: %v", what, err)}
	default:
		err = fmt.Errorf("damaged %s file: %w", what, err)
	}
	return &Error{File: src.name, Offset: -1, Cause: err}
}

// offsetReader knows how many bytes were read.
type offsetReader struct {
	r  io.Reader
	at int64
}

func (o *offsetReader) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	o.at += int64(n)
	return n, err
}

func schemaMeta(sc *arrow.Schema) func(string) (string, bool) {
	return func(k string) (string, bool) { return sc.Metadata().GetValue(k) }
}

func (r *reading) arrowTable(src *source, ro role) (err error) {
	head := r.head
	if ro == vertexRole {
		for _, s := range r.sides {
			if s.src == src {
				head = s.head
			}
		}
	}
	file := bytes.HasPrefix(head, []byte("ARROW1"))
	if file && src.plainFile() {
		return r.arrowFile(src, ro)
	}
	in := new(arrowStream)
	defer func() { err = tableError(src, "Arrow", in.in.at, err) }()
	defer guard(&err)
	raw, err := src.open()
	if err != nil {
		return err
	}
	defer raw.Close()
	if in, err = newArrowStream(raw); err != nil {
		return err
	}
	defer in.rd.Release()
	sc := in.rd.Schema()
	sp, err := r.beginTable(src.name, sc, schemaMeta(sc), ro)
	if err != nil {
		return err
	}
	var rows int64
	for seq := uint64(0); ; seq++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		rec, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		err = r.addRecord(src.name, sp, rec, seq, rows)
		rows += rec.NumRows()
		rec.Release()
		if err != nil {
			return err
		}
	}
	if ro == edgeRole {
		r.stat.Lines = uint64(rows)
	}
	return nil
}

// arrowFile reads the record batches of a file in parallel.
func (r *reading) arrowFile(src *source, ro role) error {
	var sp *tableSpec
	checked := sync.OnceValue(func() error { return arrowFileError(src) })
	open := func() (f vfs.File, rd *ipc.FileReader, err error) {
		defer guard(&err)
		if f, err = vfs.Open(src.fsys, src.name); err != nil {
			return nil, nil, err
		}
		if err = checked(); err == nil {
			rd, err = ipc.NewFileReader(f)
		}
		if err != nil {
			f.Close()
			return nil, nil, err
		}
		return f, rd, nil
	}
	f, rd, err := open()
	if err != nil {
		if src.size < 24 || !endsWith(src, "ARROW1") {
			return &Error{File: src.name, Offset: src.size, Cause: wrapf(ErrTruncated, "an Arrow file ends with ARROW1")}
		}
		return tableError(src, "Arrow", src.size, err)
	}
	sc, n := rd.Schema(), rd.NumRecords()
	if sp, err = r.beginTable(src.name, sc, schemaMeta(sc), ro); err != nil {
		f.Close()
		return err
	}
	var rows atomic.Int64
	one := func(rd *ipc.FileReader, i int) (err error) {
		defer guard(&err)
		rec, err := rd.RecordBatchAt(i)
		if err != nil {
			return err
		}
		defer rec.Release()
		rows.Add(rec.NumRows())
		src.count(int(src.size / int64(n)))
		return r.addRecord(fmt.Sprintf("%s: batch %d", src.name, i+1), sp, rec, uint64(i), 0)
	}
	err = r.eachPart(n, func(worker int) (func(int) error, func(), error) {
		if worker == 0 {
			return func(i int) error { return one(rd, i) }, func() { f.Close() }, nil
		}
		f, rd, err := open()
		if err != nil {
			return nil, nil, err
		}
		return func(i int) error { return one(rd, i) }, func() { f.Close() }, nil
	})
	if err != nil {
		return tableError(src, "Arrow", src.size, err)
	}
	if ro == edgeRole {
		r.stat.Lines = uint64(rows.Load())
	}
	return nil
}

// arrowFileError returns the mistake in a file that arrow-go would not report well, or nil. It
// runs before arrow-go reads the file.
func arrowFileError(src *source) error {
	f, err := vfs.Open(src.fsys, src.name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := checkFooter(f, src.size); err != nil {
		return err
	}
	return checkFrames(f, src.size)
}

func endsWith(src *source, mark string) bool {
	f, err := vfs.Open(src.fsys, src.name)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(mark))
	_, err = f.ReadAt(b, src.size-int64(len(b)))
	return err == nil && string(b) == mark
}

// eachPart runs the parts 0 … n-1 of a file on several goroutines and returns
// the error of the earliest part that failed.
func (r *reading) eachPart(n int, open func(worker int) (run func(part int) error, done func(), err error)) error {
	var next atomic.Int64
	var mu sync.Mutex
	var failed error
	at := n
	var wg sync.WaitGroup
	for w := range max(1, min(r.o.threads(), n)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			run, done, err := open(w)
			if err != nil {
				mu.Lock()
				failed, at = err, -1
				mu.Unlock()
				return
			}
			defer done()
			for r.ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				mu.Lock()
				stop := i >= n || i > at
				mu.Unlock()
				if stop {
					return
				}
				if err := run(i); err != nil {
					mu.Lock()
					if i < at {
						failed, at = err, i
					}
					mu.Unlock()
				}
			}
		}()
	}
	wg.Wait()
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return failed
}
