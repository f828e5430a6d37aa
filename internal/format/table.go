package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/graph"
)

// Keys of the metadata that weft writes into Arrow and Parquet files.
const (
	metaDirected = "weft.directed"
	metaTimeNote = "weft.time"
	metaTimeName = "weft.time.name" // ReadStats.TimeName
	metaTimeUnit = "weft.time.unit" // ReadStats.TimeUnit, TimeDigits and TimeEpoch
)

// tableSpec maps the columns of an Arrow or Parquet table to their meaning.
type tableSpec struct {
	role    role
	names   []string
	kinds   []colKind
	columns string
	schema  *arrow.Schema // of the properties
	whole   *arrow.Schema // of all columns; nil where the input has one
	time    timeType      // of the column of times, as --columns says
	from    string        // the names of the ends, where they say a direction
	to      string
	textIDs bool
}

// chooseTable maps the columns of a schema by name, or by --columns in order. own says
// that weft wrote the table, whose properties may have any names.
func (r *reading) chooseTable(file string, sc *arrow.Schema, ro role, own bool) (*tableSpec, error) {
	sp := &tableSpec{role: ro}
	var props []arrow.Field
	var desc []string
	names := fieldNames(sc)
	may := func(i int) bool { return holdsIDs(sc.Field(i).Type) }
	kinds, e, err := tableKinds(names, ro, may)
	asked := ro == edgeRole && len(r.o.Columns) > 0
	switch {
	case asked:
		for i := range names {
			var t string
			name := "_"
			if i < len(r.o.Columns) {
				name, t, _ = strings.Cut(r.o.Columns[i], ":")
			}
			kinds, names[i] = append(kinds[:i], kindOf(name, ro)), name
			if unit, ok := parseTimeType(t); ok && kinds[i] == colTime {
				sp.time = unit
			}
			r.plainTimes = r.plainTimes || kinds[i] == colTime && t == propNames[propInt]
		}
	case own:
		kinds = kinds[:0]
		for _, n := range names {
			kinds = append(kinds, kindOf(n, ro))
		}
	case err != nil:
		return nil, &Error{File: file, Offset: -1, Cause: err}
	default:
		if i, _ := unfitEnd(names, ro, kinds, may); i >= 0 {
			return nil, &Error{File: file, Offset: -1, Cause: notIDs(sc.Field(i))}
		}
	}
	// Names that --columns leaves out say the direction, too.
	src, dst := slices.Index(kinds, colSrc), slices.Index(kinds, colDst)
	if asked || own {
		e = endsAt(fieldNames(sc), src, dst)
	}
	if e != nil && e.directed {
		sp.from, sp.to = sc.Field(src).Name, sc.Field(dst).Name
	}
	seen := map[colKind]bool{}
	for i, f := range sc.Fields() {
		k, name := kinds[i], names[i]
		if k == colTime && !asked && isTextType(f.Type) && !slices.Contains(graph.TimeNames, squash(name)) {
			k = colProp
		}
		if k == colSkip && !asked && name != "_" {
			r.note("column %d has no name and is not read", i+1)
		}
		if k != colSkip && k != colProp && seen[k] && !(ro == vertexRole && k == colLabel) {
			k = colProp
		}
		seen[k] = true
		d := name
		switch k {
		case colSrc:
			d = "src"
		case colDst:
			d = "dst"
		case colID:
			d = "id"
		case colTime:
			d = "time"
		case colLabel:
			d = "label"
		case colProp:
			t := propTypeOf(f.Type)
			if t == nil {
				r.note("column %s of type %s is not read", f.Name, f.Type)
				k, d = colSkip, "_"
				break
			}
			d += ":" + t.String()
			props = append(props, arrow.Field{Name: name, Type: t, Nullable: true})
		}
		if k == colSrc || k == colDst || k == colID {
			if !holdsIDs(f.Type) {
				return nil, &Error{File: file, Offset: -1, Cause: notIDs(f)}
			}
			sp.textIDs = sp.textIDs || isTextType(f.Type)
		}
		desc = append(desc, d)
		sp.kinds = append(sp.kinds, k)
		sp.names = append(sp.names, f.Name)
	}
	need := []colKind{colSrc, colDst}
	if ro == vertexRole {
		need = []colKind{colID}
	}
	for _, k := range need {
		if !seen[k] {
			return nil, &Error{File: file, Offset: -1, Cause: wrapf(ErrColumns, "no column %s; the columns are %s (name them in order with --columns)",
				[...]string{"", "src (or source, from)", "dst (or target, to)", "id"}[k], strings.Join(sp.names, ", "))}
		}
	}
	sp.columns = strings.Join(desc, ",")
	if props != nil {
		sp.schema = arrow.NewSchema(props, nil)
	}
	return sp, nil
}

func fieldNames(sc *arrow.Schema) []string {
	names := make([]string, sc.NumFields())
	for i, f := range sc.Fields() {
		names[i] = f.Name
	}
	return names
}

func valueType(t arrow.DataType) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return d.ValueType
	}
	return t
}

// holdsIDs reports whether a column of a type can hold the ids of vertices.
func holdsIDs(t arrow.DataType) bool { return isTextType(t) || arrow.IsInteger(valueType(t).ID()) }

func notIDs(f arrow.Field) error {
	return wrapf(ErrColumns, "column %s has type %s; vertex ids are integers or strings", f.Name, f.Type)
}

func isTextType(t arrow.DataType) bool {
	switch valueType(t).ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		return true
	}
	return false
}

// propTypeOf gives the type that a property column gets in the graph; nil when
// it cannot be held.
func propTypeOf(t arrow.DataType) arrow.DataType {
	t = valueType(t)
	switch {
	case arrow.IsInteger(t.ID()):
		return arrow.PrimitiveTypes.Int64
	case arrow.IsFloating(t.ID()):
		return arrow.PrimitiveTypes.Float64
	case t.ID() == arrow.BOOL:
		return arrow.FixedWidthTypes.Boolean
	case t.ID() == arrow.TIMESTAMP, t.ID() == arrow.DURATION:
		return t
	case t.ID() == arrow.DATE32:
		return arrow.FixedWidthTypes.Timestamp_s
	case t.ID() == arrow.DATE64:
		return arrow.FixedWidthTypes.Timestamp_ms
	case t.ID() == arrow.TIME32:
		return &arrow.DurationType{Unit: t.(*arrow.Time32Type).Unit}
	case t.ID() == arrow.TIME64:
		return &arrow.DurationType{Unit: t.(*arrow.Time64Type).Unit}
	case isTextType(t):
		return arrow.BinaryTypes.String
	}
	return nil
}

var errNull = errors.New("an empty (null) value")

// cells reads one column by row, through a dictionary where there is one.
type cells struct {
	arr  arrow.Array
	dict *array.Dictionary
}

func cellsOf(a arrow.Array) cells {
	if d, ok := a.(*array.Dictionary); ok {
		return cells{d.Dictionary(), d}
	}
	return cells{a, nil}
}

func (c cells) null(i int) bool {
	if c.dict != nil {
		return c.dict.IsNull(i) || c.arr.IsNull(c.dict.GetValueIndex(i))
	}
	return c.arr.IsNull(i)
}

func (c cells) row(i int) int {
	if c.dict != nil {
		return c.dict.GetValueIndex(i)
	}
	return i
}

func (c cells) int(i int) (int64, error) {
	i = c.row(i)
	switch a := c.arr.(type) {
	case *array.Int64:
		return a.Value(i), nil
	case *array.Int32:
		return int64(a.Value(i)), nil
	case *array.Uint32:
		return int64(a.Value(i)), nil
	case *array.Uint64:
		if a.Value(i) >= 1<<63 {
			return 0, wrapf(ErrOverflow, "%d", a.Value(i))
		}
		return int64(a.Value(i)), nil
	case *array.Int16:
		return int64(a.Value(i)), nil
	case *array.Uint16:
		return int64(a.Value(i)), nil
	case *array.Int8:
		return int64(a.Value(i)), nil
	case *array.Uint8:
		return int64(a.Value(i)), nil
	case *array.Timestamp:
		return int64(a.Value(i)), nil
	case *array.Date32:
		return int64(a.Value(i)), nil
	case *array.Date64:
		return int64(a.Value(i)), nil
	case *array.Time32:
		return int64(a.Value(i)), nil
	case *array.Time64:
		return int64(a.Value(i)), nil
	case *array.Duration:
		return int64(a.Value(i)), nil
	case *array.Float64:
		return fixedOf(a.Value(i))
	case *array.Float32:
		return fixedOf(float64(a.Value(i)))
	}
	return 0, wrapf(ErrNumber, "a column of type %s", c.arr.DataType())
}

// fixedOf turns a time in a floating-point column into millionths, exactly.
func fixedOf(x float64) (int64, error) {
	v, digits, err := parseFixed(strconv.AppendFloat(nil, x, 'g', -1, 64), 6)
	if err == nil && digits > 6 {
		err = wrapf(ErrNumber, "a time with %d digits after the point; at most 6 are kept", digits)
	}
	return v, err
}

func (c cells) text(i int) []byte {
	i = c.row(i)
	switch a := c.arr.(type) {
	case *array.String:
		return []byte(a.Value(i))
	case *array.LargeString:
		return []byte(a.Value(i))
	case *array.StringView:
		return []byte(a.Value(i))
	case *array.Binary:
		return a.Value(i)
	case *array.LargeBinary:
		return a.Value(i)
	case *array.BinaryView:
		return a.Value(i)
	}
	return []byte(c.arr.ValueStr(i))
}

func (c cells) float(i int) float64 {
	i = c.row(i)
	switch a := c.arr.(type) {
	case *array.Float64:
		return a.Value(i)
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float16:
		return float64(a.Value(i).Float32())
	}
	return 0
}

// tableChunk turns a record into a chunk for the builder. first is the number
// of rows before it.
func (sp *tableSpec) convert(file string, rec arrow.RecordBatch, seq uint64, first int64) (*graph.EdgeChunk, *graph.VertexChunk, error) {
	n := int(rec.NumRows())
	fail := func(row, col int, err error) error {
		return &Error{File: file, Offset: -1, Cause: fmt.Errorf("row %d, column %s: %w", first+int64(row)+1, sp.names[col], err)}
	}
	e, v := &graph.EdgeChunk{Seq: seq}, &graph.VertexChunk{Seq: seq}
	var props []arrow.Array
	for col, k := range sp.kinds {
		if k == colSkip {
			continue
		}
		c := cellsOf(rec.Column(col))
		switch k {
		case colSrc, colDst, colID:
			var ids []uint64
			var strs *graph.StringColumn
			if sp.textIDs {
				strs = &graph.StringColumn{Off: make([]uint32, 1, n+1)}
			} else {
				ids = make([]uint64, n)
			}
			for i := range n {
				if c.null(i) {
					return nil, nil, fail(i, col, errNull)
				}
				if sp.textIDs {
					var s []byte
					if isTextType(c.arr.DataType()) {
						s = c.text(i)
					} else {
						x, err := c.int(i)
						if err != nil {
							return nil, nil, fail(i, col, err)
						}
						s = strconv.AppendInt(nil, x, 10)
					}
					if !utf8.Valid(s) {
						return nil, nil, fail(i, col, fmt.Errorf("%w: %s", ErrUTF8, excerpt(s)))
					}
					if len(s) == 0 {
						return nil, nil, fail(i, col, errNull)
					}
					putString(&strs, s)
					continue
				}
				x, err := c.int(i)
				if err == nil && x < 0 {
					err = wrapf(ErrNegative, "%d", x)
				}
				if err != nil {
					return nil, nil, fail(i, col, err)
				}
				ids[i] = uint64(x)
			}
			switch k {
			case colSrc:
				e.Src, e.SrcStr = ids, strs
			case colDst:
				e.Dst, e.DstStr = ids, strs
			default:
				v.ID, v.IDStr = ids, strs
			}
		case colTime:
			e.Time = make([]int64, n)
			for i := range n {
				if c.null(i) {
					return nil, nil, fail(i, col, errNull)
				}
				var err error
				if isTextType(c.arr.DataType()) {
					e.Time[i], err = parseISO(c.text(i))
				} else {
					e.Time[i], err = c.int(i)
				}
				if err != nil {
					return nil, nil, fail(i, col, err)
				}
			}
		case colLabel:
			if sp.role == vertexRole {
				v.Labels = make([][]string, n)
				for i := range n {
					v.Labels[i] = labelsOf(rec.Column(col), c, i)
				}
				continue
			}
			e.Label = &graph.StringColumn{Off: make([]uint32, 1, n+1)}
			for i := range n {
				var s []byte
				if !c.null(i) {
					s = c.text(i)
				}
				if !utf8.Valid(s) {
					return nil, nil, fail(i, col, fmt.Errorf("%w: %s", ErrUTF8, excerpt(s)))
				}
				putString(&e.Label, s)
			}
		case colProp:
			a, row, err := plainColumn(rec.Column(col), c, sp.schema.Field(len(props)).Type, n)
			if err != nil {
				return nil, nil, fail(row, col, err)
			}
			props = append(props, a)
		}
	}
	if sp.schema != nil {
		p := array.NewRecordBatch(sp.schema, props, int64(n))
		e.Props, v.Props = p, p
	}
	return e, v, nil
}

// labelsOf reads a cell of a label column: a list, or text with semicolons.
func labelsOf(a arrow.Array, c cells, i int) []string {
	var out []string
	if l, ok := a.(array.ListLike); ok {
		if a.IsNull(i) {
			return nil
		}
		lo, hi := l.ValueOffsets(i)
		vals := cellsOf(l.ListValues())
		for j := lo; j < hi; j++ {
			if !vals.null(int(j)) {
				out = append(out, strings.ToValidUTF8(string(vals.text(int(j))), "\ufffd"))
			}
		}
		return out
	}
	if c.null(i) {
		return nil
	}
	for part := range bytes.SplitSeq(c.text(i), []byte{';'}) {
		if s := strings.TrimSpace(string(part)); s != "" {
			out = append(out, strings.ToValidUTF8(s, "\ufffd"))
		}
	}
	return out
}

// plainColumn gives a property column one of the few types of propTypeOf.
func plainColumn(a arrow.Array, c cells, t arrow.DataType, n int) (arrow.Array, int, error) {
	if arrow.TypeEqual(a.DataType(), t) && a.DataType().ID() != arrow.STRING {
		a.Retain()
		return a, 0, nil
	}
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	b.Reserve(n)
	for i := range n {
		if c.null(i) {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Int64Builder:
			x, err := c.int(i)
			if err != nil {
				return nil, i, err
			}
			b.Append(x)
		case *array.Float64Builder:
			b.Append(c.float(i))
		case *array.BooleanBuilder:
			b.Append(c.arr.(*array.Boolean).Value(c.row(i)))
		case *array.TimestampBuilder:
			x, err := c.int(i)
			if err != nil {
				return nil, i, err
			}
			if c.arr.DataType().ID() == arrow.DATE32 {
				x *= 24 * 3600
			}
			b.Append(arrow.Timestamp(x))
		case *array.DurationBuilder:
			x, err := c.int(i)
			if err != nil {
				return nil, i, err
			}
			b.Append(arrow.Duration(x))
		case *array.StringBuilder:
			s := c.text(i)
			if !utf8.Valid(s) {
				return nil, i, fmt.Errorf("%w: %s", ErrUTF8, excerpt(s))
			}
			b.BinaryBuilder.Append(s)
		}
	}
	return b.NewArray(), 0, nil
}

// noteTime records the unit of a time column.
func (r *reading) noteTime(sc *arrow.Schema, sp *tableSpec) {
	i := slices.Index(sp.kinds, colTime)
	if i < 0 {
		return
	}
	r.timeNamed(sc.Field(i).Name)
	unit := func(n int64, name string) {
		r.stat.TimeUnit, r.stat.TimeEpoch = n, true
		r.note("times are %s", name)
	}
	switch t := valueType(sc.Field(i).Type).(type) {
	case *arrow.TimestampType:
		unit(int64(t.Unit.Multiplier()), map[arrow.TimeUnit]string{
			arrow.Second: "seconds", arrow.Millisecond: "milliseconds", arrow.Microsecond: "microseconds", arrow.Nanosecond: "nanoseconds",
		}[t.Unit]+" since 1970")
	case *arrow.Date32Type:
		unit(24*3600e9, "days since 1970")
	case *arrow.Date64Type:
		unit(1e6, "milliseconds since 1970")
	case *arrow.DurationType:
		r.stat.TimeUnit = int64(t.Unit.Multiplier())
	case *arrow.Time32Type:
		r.stat.TimeUnit = int64(t.Unit.Multiplier())
	case *arrow.Time64Type:
		r.stat.TimeUnit = int64(t.Unit.Multiplier())
	case *arrow.Float64Type, *arrow.Float32Type:
		r.stat.TimeDigits = 6
		r.note("times are integers of 10^-6 of the file's unit, so that no digit is lost")
	default:
		if isTextType(t) {
			unit(1e3, "microseconds since 1970 (UTC)")
		} else {
			r.stat.TimeUnit, r.stat.TimeDigits, r.stat.TimeEpoch = sp.time.unit, sp.time.digits, sp.time.epoch
		}
	}
}

// timeNamed keeps the input's name of the column of times, for queries.
func (r *reading) timeNamed(name string) {
	if r.stat.TimeName = name; slices.Contains(graph.TimeNames, name) {
		r.stat.TimeName = ""
	}
}

// add hands a record to the builder.
func (r *reading) addRecord(file string, sp *tableSpec, rec arrow.RecordBatch, seq uint64, first int64) error {
	e, v, err := sp.convert(file, rec, seq, first)
	if err != nil || rec.NumRows() == 0 {
		return err
	}
	if sp.role == vertexRole {
		return r.build.AddVertices(v)
	}
	return r.addEdges(e)
}

// beginTable starts the builder for an edge table, and records its properties.
func (r *reading) beginTable(file string, sc *arrow.Schema, meta func(string) (string, bool), ro role) (*tableSpec, error) {
	written, own := meta(metaDirected)
	sp, err := r.chooseTable(file, sc, ro, own)
	if err != nil {
		return nil, err
	}
	if ro == vertexRole {
		r.note("vertices from %s: columns %s", file, sp.columns)
		sp.textIDs = sp.textIDs || r.stringIDs
		return sp, nil
	}
	sp.textIDs = sp.textIDs || r.sidesText()
	r.stringIDs = sp.textIDs
	r.stat.Columns = sp.columns
	r.noteTime(sc, sp)
	d := FileDirection
	switch {
	case own && written == "true":
		d = Directed
	case own:
		d = Undirected
	case sp.from != "":
		d = Directed
		r.directedByName(sp.from, sp.to)
	}
	if n, ok := meta(metaTimeNote); ok {
		r.note("%s", n)
	}
	if n, ok := meta(metaTimeName); ok {
		r.timeNamed(n)
	}
	if u, ok := meta(metaTimeUnit); ok {
		// A text without two numbers states no unit. Newer files have a third number.
		_, _ = fmt.Sscan(u, &r.stat.TimeUnit, &r.stat.TimeDigits, &r.stat.TimeEpoch)
		r.plainTimes = r.plainTimes || r.stat.TimeUnit == 0 && r.stat.TimeDigits == 0
	}
	r.begin(d)
	return sp, nil
}
