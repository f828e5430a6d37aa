package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weftgraph/weft/internal/parquet"
	"github.com/weftgraph/weft/internal/vfs"
)

// tableOf returns the format of a table that begins with some bytes, Arrow or Parquet, or "" for a text.
func tableOf(first []byte) Format {
	switch {
	case len(first) < 4:
	case string(first) == parquetMark:
		return Parquet
	case string(first) == "ARRO", binary.LittleEndian.Uint32(first) == 0xffffffff:
		return Arrow
	}
	return ""
}

// OpenLinesOrRows opens a text as OpenLines does or, if it begins as an Arrow or Parquet file does, a table. One of the results is nil.
func OpenLinesOrRows(ctx context.Context, fsys vfs.FS, path string, stdin io.Reader, progress Progress) (*Lines, *Rows, error) {
	l, err := OpenLines(ctx, fsys, path, stdin, progress)
	if err != nil {
		return nil, nil, err
	}
	l.buf = l.buf[:4]
	n, err := readFill(l.r, l.buf)
	l.buf = l.buf[:n]
	switch {
	case err == io.EOF:
		l.err = err
	case err != nil:
		l.err = l.src.readError(err, int64(n))
	}
	kind := tableOf(l.buf)
	if kind == "" {
		return l, nil, nil
	}
	r := &Rows{src: l.src, raw: l.r, kind: kind}
	if err := r.begin(io.MultiReader(bytes.NewReader(l.buf), l.r)); err != nil {
		r.Close()
		return nil, nil, err
	}
	return nil, r, nil
}

// Rows reads the rows of a table in their order: of an Arrow stream as its batches come, and of a Parquet file by its row groups. It is not safe
// for concurrent use.
type Rows struct {
	src   *source
	raw   io.ReadCloser
	kind  Format
	sc    *arrow.Schema
	notes []string

	stream *arrowStream
	file   *parquetFile
	group  *parquet.Group
	groups int // that were begun

	rec  arrow.RecordBatch // nil at the beginning and at the end
	cols []cells
	at   int   // the row of rec
	n    int64 // rows so far
}

// begin reads the schema. in is the whole input.
func (r *Rows) begin(in io.Reader) (err error) {
	defer func() { err = r.explain(err) }()
	defer guard(&err)
	if r.kind == Parquet {
		if r.file, err = openParquet(r.src, in); err != nil {
			return err
		}
		r.sc, r.notes = r.file.Schema(), r.file.Skipped()
		return nil
	}
	if r.src.plainFile() && endsWith(r.src, "ARROW1") {
		if err := arrowFileError(r.src); err != nil {
			return err
		}
	}
	if r.stream, err = newArrowStream(in); err != nil {
		return err
	}
	r.sc = r.stream.rd.Schema()
	return nil
}

// explain adds the file to an error.
func (r *Rows) explain(err error) error {
	if r.kind == Parquet {
		end := int64(-1)
		if r.file != nil {
			end = r.file.size
		}
		return tableError(r.src, "Parquet", end, err)
	}
	end := int64(0)
	if r.stream != nil {
		end = r.stream.in.at
	}
	return tableError(r.src, "Arrow", end, err)
}

// Format returns Arrow or Parquet.
func (r *Rows) Format() Format { return r.kind }

// Schema returns the columns.
func (r *Rows) Schema() *arrow.Schema { return r.sc }

// Notes describe columns that cannot be read.
func (r *Rows) Notes() []string { return r.notes }

// Name returns the file, as the user named it.
func (r *Rows) Name() string { return r.src.name }

// Next goes to the next row. It blocks until the row is there. The error is io.EOF at the end, an *Error about a damaged file, an error of the
// file system, or the context's cause.
func (r *Rows) Next() error {
	for r.at++; r.rec == nil || r.at >= int(r.rec.NumRows()); r.at = 0 {
		if err := context.Cause(r.src.ctx); err != nil {
			return err
		}
		if err := r.fetch(); err != nil {
			return err
		}
	}
	r.n++
	return nil
}

// fetch reads the next record.
func (r *Rows) fetch() (err error) {
	r.release()
	end := false
	defer func() {
		if !end {
			err = r.explain(err)
		}
	}()
	defer guard(&err)
	var rec arrow.RecordBatch
	if r.stream != nil {
		rec, err = r.stream.next()
	} else {
		rec, err = r.part()
	}
	if end = err == io.EOF; err != nil {
		return err
	}
	r.rec = rec
	for _, c := range rec.Columns() {
		r.cols = append(r.cols, cellsOf(c))
	}
	return nil
}

// part reads the next rows of a Parquet file.
func (r *Rows) part() (arrow.RecordBatch, error) {
	for r.group == nil || r.group.Left() == 0 {
		if r.groups == r.file.Groups() {
			return nil, io.EOF
		}
		group, err := r.file.Group(r.groups, func(int) bool { return true })
		if r.groups++; err != nil {
			return nil, fmt.Errorf("row group %d, %w", r.groups, noEnd(err))
		}
		r.group = group
	}
	rec, err := r.group.Next(4096)
	if err != nil {
		return nil, fmt.Errorf("row group %d, %w", r.groups, noEnd(err))
	}
	return rec, nil
}

// noEnd is an error that is not the end of the rows.
func noEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *Rows) release() {
	if r.rec != nil {
		r.rec.Release()
	}
	r.rec, r.cols = nil, r.cols[:0]
}

// Waiting reports whether Next returns at once.
func (r *Rows) Waiting() bool {
	return r.kind == Parquet || r.src.plainFile() || r.rec != nil && r.at+1 < int(r.rec.NumRows())
}

// Row returns the number of the row, from 1.
func (r *Rows) Row() int64 { return r.n }

// Close closes the file.
func (r *Rows) Close() error {
	r.release()
	if r.stream != nil && r.stream.rd != nil {
		r.stream.rd.Release()
	}
	if r.file != nil {
		r.file.close()
	}
	err := r.raw.Close()
	r.src.close()
	return err
}

// CellKind is a kind of value in a row.
type CellKind uint8

// Kinds of values.
const (
	NullCell    CellKind = iota
	IntCell              // Int
	FloatCell            // Float
	BoolCell             // Int is 1 for true
	TextCell             // Text
	TextsCell            // Texts
	InstantCell          // Time
	SpanCell             // Int units of Unit nanoseconds
)

// Cell is a value in a row. Its texts are valid until Next.
type Cell struct {
	Kind  CellKind
	Int   int64
	Float float64
	Text  []byte
	Texts []string
	Time  time.Time
	Unit  int64
}

// Guard turns a panic over a damaged record into an error about the file. It is deferred around calls of Null and Cell.
func (r *Rows) Guard(err *error) {
	if p := recover(); p != nil {
		*err = r.explain(fmt.Errorf("a record that ends before row %d: %v", r.n, p))
	}
}

// Null reports whether the row has no value in a column.
func (r *Rows) Null(col int) bool { return r.cols[col].null(r.at) }

// Cell returns the value of a column. The error says that it cannot be held.
func (r *Rows) Cell(col int) (Cell, error) {
	c := r.cols[col]
	if c.null(r.at) {
		return Cell{}, nil
	}
	if _, ok := c.arr.(array.ListLike); ok {
		return Cell{Kind: TextsCell, Texts: labelsOf(r.rec.Column(col), c, r.at)}, nil
	}
	t := c.arr.DataType()
	if isTextType(t) {
		b := c.text(r.at)
		if !utf8.Valid(b) {
			return Cell{}, fmt.Errorf("%w: %s", ErrUTF8, excerpt(b))
		}
		return Cell{Kind: TextCell, Text: b}, nil
	}
	switch t := t.(type) {
	case *arrow.BooleanType:
		x := Cell{Kind: BoolCell}
		if c.arr.(*array.Boolean).Value(c.row(r.at)) {
			x.Int = 1
		}
		return x, nil
	case *arrow.Float64Type, *arrow.Float32Type, *arrow.Float16Type:
		return Cell{Kind: FloatCell, Float: c.float(r.at)}, nil
	case *arrow.TimestampType:
		x, err := c.int(r.at)
		return instant(x, int64(t.Unit.Multiplier()), err)
	case *arrow.Date32Type:
		x, err := c.int(r.at)
		return instant(x, int64(24*time.Hour), err)
	case *arrow.Date64Type:
		x, err := c.int(r.at)
		return instant(x, int64(time.Millisecond), err)
	case *arrow.DurationType:
		x, err := c.int(r.at)
		return Cell{Kind: SpanCell, Int: x, Unit: int64(t.Unit.Multiplier())}, err
	case *arrow.Time32Type:
		x, err := c.int(r.at)
		return Cell{Kind: SpanCell, Int: x, Unit: int64(t.Unit.Multiplier())}, err
	case *arrow.Time64Type:
		x, err := c.int(r.at)
		return Cell{Kind: SpanCell, Int: x, Unit: int64(t.Unit.Multiplier())}, err
	}
	x, err := c.int(r.at)
	return Cell{Kind: IntCell, Int: x}, err
}

// instant is the time x units after 1970. A unit is a number of nanoseconds.
func instant(x, unit int64, err error) (Cell, error) {
	if unit < int64(time.Second) {
		per := int64(time.Second) / unit
		return Cell{Kind: InstantCell, Time: time.Unix(x/per, x%per*unit).UTC()}, err
	}
	sec, ok := Units(x, unit, int64(time.Second))
	if !ok && err == nil {
		err = wrapf(ErrOverflow, "%d", x)
	}
	return Cell{Kind: InstantCell, Time: time.Unix(sec, 0).UTC()}, err
}

// Units returns x in another unit of nanoseconds. ok is false if it is not a whole number of them.
func Units(x, unit, to int64) (y int64, ok bool) {
	if unit%to == 0 {
		per := unit / to
		return x * per, x <= math.MaxInt64/per && x >= math.MinInt64/per
	}
	per := to / unit
	return x / per, to%unit == 0 && x%per == 0
}

// ColumnKind is the meaning of a column of updates.
type ColumnKind uint8

// Meanings of columns.
const (
	SkipColumn ColumnKind = iota
	OpColumn              // what happens
	SrcColumn
	DstColumn
	IDColumn // of vertices
	LabelColumn
	LabelsColumn // of vertices
	TimeColumn
	PropertyColumn
)

// opNames are names of the column that says what happens. Earlier ones come first.
var opNames = []string{"op", "operation", "optype", "operationtype", "changetype", "rowkind", "updatetype", "action", "change", "sign"}

// UpdateColumns returns the meanings of the columns of a table of updates by their names, with the names that edge tables have. notes say which
// columns are not read. The error is an *Error of ErrColumns.
func (r *Rows) UpdateColumns() (kinds []ColumnKind, notes []string, err error) {
	names := fieldNames(r.sc)
	kinds = make([]ColumnKind, len(names))
	wrong := func(err error) ([]ColumnKind, []string, error) {
		return nil, nil, &Error{File: r.src.name, Offset: -1, Cause: err}
	}
	op := -1
	for _, name := range opNames {
		if op = slices.IndexFunc(names, func(n string) bool { return squash(n) == name }); op >= 0 {
			break
		}
	}
	var rest []int // the columns that an edge table has
	for i, f := range r.sc.Fields() {
		_, list := f.Type.(arrow.ListLikeType)
		switch {
		case i == op:
			if t := valueType(f.Type); !isTextType(t) && !arrow.IsInteger(t.ID()) {
				return wrong(wrapf(ErrColumns, "column %s has type %s; what happens is a text such as insert or delete, or 1 or -1", f.Name, f.Type))
			}
			kinds[i] = OpColumn
		case squash(f.Name) == "labels":
			kinds[i] = LabelsColumn
		case list || propTypeOf(f.Type) == nil:
			notes = append(notes, fmt.Sprintf("column %s of type %s is not read", f.Name, f.Type))
		default:
			rest = append(rest, i)
		}
	}
	edge := make([]string, len(rest))
	for k, i := range rest {
		edge[k] = names[i]
	}
	of, _, err := tableKinds(edge, edgeRole, func(k int) bool {
		t := r.sc.Field(rest[k]).Type
		return holdsIDs(t) || arrow.IsFloating(t.ID())
	})
	if err != nil {
		return wrong(err)
	}
	seen := map[ColumnKind]bool{}
	for k, i := range rest {
		f := r.sc.Field(i)
		kinds[i] = [...]ColumnKind{colSkip: SkipColumn, colSrc: SrcColumn, colDst: DstColumn, colLabel: LabelColumn, colTime: TimeColumn, colProp: PropertyColumn}[of[k]]
		if kinds[i] == PropertyColumn && !seen[IDColumn] && slices.Contains(idNames[:5], squash(f.Name)) {
			kinds[i] = IDColumn
		}
		switch t := valueType(f.Type); {
		case kinds[i] != TimeColumn:
		case t.ID() == arrow.DURATION, t.ID() == arrow.TIME32, t.ID() == arrow.TIME64, t.ID() == arrow.BOOL:
			return wrong(wrapf(ErrColumns, "column %s has type %s; times are timestamps, dates or numbers", f.Name, f.Type))
		}
		if kinds[i] == SkipColumn && f.Name != "_" {
			notes = append(notes, fmt.Sprintf("column %d has no name and is not read", i+1))
		}
		seen[kinds[i]] = true
	}
	if seen[SrcColumn] != seen[DstColumn] || !seen[SrcColumn] && !seen[IDColumn] {
		return wrong(wrapf(ErrColumns, "a table of updates has columns src and dst (or source and target, from and to) or, of vertices alone, id; the columns are %s", strings.Join(names, ", ")))
	}
	return kinds, notes, nil
}

// parquetFile is a Parquet file that is open.
type parquetFile struct {
	*parquet.File
	size  int64
	close func()
}

// openParquet opens a Parquet file. in gives its bytes if they cannot be read at any place.
func openParquet(src *source, in io.Reader) (_ *parquetFile, err error) {
	p := &parquetFile{size: src.size, close: func() {}}
	var at io.ReaderAt
	if src.plainFile() {
		f, err := vfs.Open(src.fsys, src.name)
		if err != nil {
			return nil, err
		}
		at, p.close = f, func() { f.Close() }
	} else { // the footer is at the end, so a stream is read whole
		data := make([]byte, len(parquetMark))
		n, err := readFill(in, data)
		if n == len(data) && string(data) != parquetMark { // it may have no end
			return nil, &Error{File: src.name, Offset: 0, Cause: wrapf(ErrHeader, "a Parquet file begins with PAR1")}
		}
		if data = data[:n]; err == nil {
			var rest []byte
			rest, err = io.ReadAll(in)
			data = append(data, rest...)
		}
		if p.size = int64(len(data)); err == io.EOF {
			err = nil
		}
		if err != nil {
			return nil, src.readError(err, p.size)
		}
		at = bytes.NewReader(data)
	}
	if p.File, err = parquet.Open(at, p.size); err != nil {
		p.close()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = &Error{File: src.name, Offset: p.size, Cause: wrapf(ErrTruncated, "a Parquet file ends with PAR1")}
		}
		return nil, err
	}
	return p, nil
}

// arrowStream reads the records of an Arrow stream, or of a file from its beginning, in their order.
type arrowStream struct {
	in   offsetReader
	rd   *ipc.Reader
	file bool
}

// newArrowStream reads the schema of a stream. A file is a stream between a mark and a footer.
func newArrowStream(in io.Reader) (*arrowStream, error) {
	a := &arrowStream{in: offsetReader{r: in}}
	var head [8]byte
	n, err := readFill(&a.in, head[:])
	if n < len(head) {
		return a, noEnd(err)
	}
	rest := io.Reader(&a.in)
	if a.file = bytes.HasPrefix(head[:], []byte("ARROW1")); !a.file {
		rest = io.MultiReader(bytes.NewReader(head[:]), rest)
	}
	checked, err := checkedStream(rest)
	if err != nil {
		return a, err
	}
	a.rd, err = ipc.NewReader(&arrowFrames{r: checked})
	return a, err
}

// next returns the next record, which is the caller's. The error is io.EOF at the end alone.
func (a *arrowStream) next() (arrow.RecordBatch, error) {
	if a.rd.Next() {
		rec := a.rd.RecordBatch()
		rec.Retain()
		return rec, nil
	}
	if err := a.rd.Err(); err != nil {
		return nil, noEnd(err)
	}
	if a.file { // a footer must follow: without it the file is cut short
		rest, err := io.ReadAll(io.LimitReader(&a.in, 1<<30))
		if err != nil {
			return nil, noEnd(err)
		}
		if !bytes.HasSuffix(rest, []byte("ARROW1")) {
			return nil, io.ErrUnexpectedEOF
		}
	}
	return nil, io.EOF
}
