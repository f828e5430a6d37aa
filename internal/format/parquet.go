package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/parquet"
	"github.com/weftgraph/weft/internal/vfs"
)

// parquetMark begins and ends a Parquet file.
const parquetMark = "PAR1"

// parquetRows is how many rows are held at a time by one goroutine.
const parquetRows = 64 << 10

// readParquet reads an edge table.
func (r *reading) readParquet() error { return r.parquetTable(r.src, edgeRole) }

func (r *reading) parquetTable(src *source, ro role) (err error) {
	size := src.size
	defer func() { err = r.tableError(src, "Parquet", size, err) }()
	defer guard(&err)
	var in io.ReaderAt
	if src.plainFile() {
		f, err := vfs.Open(src.fsys, src.name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	} else { // the footer is at the end, so a stream is read whole
		raw, err := src.open()
		if err != nil {
			return err
		}
		defer raw.Close()
		data := make([]byte, len(parquetMark))
		n, err := readFill(raw, data)
		if n == len(data) && string(data) != parquetMark { // it may have no end
			return &Error{File: src.name, Offset: 0, Cause: wrapf(ErrHeader, "a Parquet file begins with PAR1")}
		}
		if data = data[:n]; err == nil {
			var rest []byte
			rest, err = io.ReadAll(raw)
			data = append(data, rest...)
		}
		if size = int64(len(data)); err == io.EOF {
			err = nil
		}
		if err != nil {
			return src.readError(err, size)
		}
		in = bytes.NewReader(data)
	}
	file, err := parquet.Open(in, size)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{File: src.name, Offset: size, Cause: wrapf(ErrTruncated, "a Parquet file ends with PAR1")}
	} else if err != nil {
		return err
	}
	for _, s := range file.Skipped() {
		r.note("%s", s)
	}
	sp, err := r.beginTable(src.name, file.Schema(), file.Value, ro)
	if err != nil {
		return err
	}
	groups := file.Groups()
	firsts := make([]int64, groups+1)
	for g := range groups {
		firsts[g+1] = firsts[g] + file.GroupRows(g)
	}
	var rows atomic.Int64
	one := func(g int) (err error) {
		defer guard(&err)
		group, err := file.Group(g, func(col int) bool { return sp.kinds[col] != colSkip })
		if err != nil {
			return fmt.Errorf("row group %d, %w", g+1, err)
		}
		for part := uint64(0); group.Left() > 0; part++ {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			first := firsts[g+1] - group.Left()
			rec, err := group.Next(parquetRows)
			if err != nil {
				return fmt.Errorf("row group %d, %w", g+1, err)
			}
			if err := r.addRecord(src.name, sp, rec, uint64(g)<<32|part, first); err != nil {
				return err
			}
			rows.Add(rec.NumRows())
			rec.Release()
		}
		if src.size > 0 {
			src.count(int(src.size / int64(groups)))
		}
		return nil
	}
	err = r.eachPart(groups, func(int) (func(int) error, func(), error) { return one, func() {}, nil })
	if err == nil && ro == edgeRole {
		r.stat.Lines = uint64(rows.Load())
	}
	return err
}
