package format

import (
	"fmt"
	"io"
	"sync/atomic"
)

// parquetMark begins and ends a Parquet file.
const parquetMark = "PAR1"

// parquetRows is how many rows are held at a time by one goroutine.
const parquetRows = 64 << 10

// readParquet reads an edge table.
func (r *reading) readParquet() error { return r.parquetTable(r.src, edgeRole) }

func (r *reading) parquetTable(src *source, ro role) (err error) {
	size := src.size
	defer func() { err = tableError(src, "Parquet", size, err) }()
	defer guard(&err)
	var raw io.ReadCloser
	if !src.plainFile() {
		if raw, err = src.open(); err != nil {
			return err
		}
		defer raw.Close()
	}
	file, err := openParquet(src, raw)
	if err != nil {
		return err
	}
	defer file.close()
	size = file.size
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
