package dynamic

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// A file of a graph is a magic text and blocks. A block is the length of its text, the text, and the CRC-32C of everything in the file up to
// there. Lengths and checksums are 32 bits, little-endian. A block of length 0 ends the file. The texts together are numbers
// (varints), and names with their lengths.

// ErrFile means that a file is not one that WriteTo wrote: it is damaged, cut off, or of another version.
var ErrFile = errors.New("bad file of a changing graph")

const (
	fileMagic = "weftdyn\x02" // the last byte is the version of the format
	fileBlock = 1 << 18
)

// What edges of a file have.
const (
	edgesPlain = iota // few of them have a row, or none
	edgesTimed        // each has a time
	edgesRowed        // each has a row without a time
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fileWriter writes the blocks of a file.
type fileWriter struct {
	w   io.Writer
	buf []byte // a block: its length, and its text
	crc uint32
	n   int64
	err error
}

func (w *fileWriter) write(b []byte) {
	if w.err != nil {
		return
	}
	k, err := w.w.Write(b)
	w.n, w.err = w.n+int64(k), err
	w.crc = crc32.Update(w.crc, castagnoli, b)
}

// flush writes the block, also an empty one.
func (w *fileWriter) flush() {
	binary.LittleEndian.PutUint32(w.buf, uint32(len(w.buf)-4))
	w.write(w.buf)
	w.write(binary.LittleEndian.AppendUint32(nil, w.crc))
	w.buf = append(w.buf[:0], 0, 0, 0, 0)
}

func (w *fileWriter) uint(x uint64) {
	if w.buf = binary.AppendUvarint(w.buf, x); len(w.buf) >= fileBlock {
		w.flush()
	}
}

func (w *fileWriter) int(x int64) { w.uint(uint64(x)<<1 ^ uint64(x>>63)) }

func (w *fileWriter) bool(x bool) {
	if x {
		w.uint(1)
	} else {
		w.uint(0)
	}
}

func (w *fileWriter) text(s string) {
	for w.uint(uint64(len(s))); len(s) > 0; {
		k := min(len(s), fileBlock+4-len(w.buf))
		w.buf = append(w.buf, s[:k]...)
		if s = s[k:]; len(w.buf) >= fileBlock {
			w.flush()
		}
	}
}

func (w *fileWriter) texts(l []string) {
	w.uint(uint64(len(l)))
	for _, s := range l {
		w.text(s)
	}
}

// ascending writes a list that ascends.
func (w *fileWriter) ascending(l []uint32) {
	w.uint(uint64(len(l)))
	last := uint32(0)
	for _, x := range l {
		w.uint(uint64(x - last))
		last = x
	}
}

// WriteTo writes the state of the graph, for Read. The graph must have no open window. Updates of the graph and of a graph that was
// read give equal internal ids and events.
func (g *Graph) WriteTo(to io.Writer) (n int64, err error) {
	if g.open || g.recording {
		return 0, errors.New("dynamic: a graph with an open window is not written")
	}
	w := &fileWriter{w: to, buf: make([]byte, 4, fileBlock+16)}
	w.write([]byte(fileMagic))
	w.bool(g.directed)
	w.bool(g.ids.text)
	switch {
	case g.timed:
		w.uint(edgesTimed)
	case g.rowed:
		w.uint(edgesRowed)
	default:
		w.uint(edgesPlain)
	}
	w.uint(g.version)
	w.int(g.Read.TimeUnit)
	w.int(int64(g.Read.TimeDigits))
	w.bool(g.Read.TimeEpoch)
	w.text(g.Read.TimeName)
	w.texts(g.edgeLabels)
	g.writeVertices(w)
	for i := range g.numSides() {
		g.writeLists(w, Direction(i))
	}
	g.rows.write(w)
	g.vertexProps.write(w)
	g.edgeProps.write(w)
	if len(w.buf) > 4 {
		w.flush()
	}
	w.flush()
	return w.n, w.err
}

func (g *Graph) writeVertices(w *fileWriter) {
	x := &g.ids
	w.texts(x.labels)
	w.uint(x.spare)
	w.uint(uint64(x.end))
	w.uint(uint64(len(x.classes)))
	for i := range x.classes {
		c := &x.classes[i]
		w.ascending(c.labels)
		w.uint(uint64(len(c.ranges)))
		for _, r := range c.ranges {
			w.uint(uint64(r.first))
			w.uint(uint64(r.next))
			w.uint(uint64(r.end))
			w.uint(uint64(r.idle))
			for ref := r.free; ref != 0; ref = *x.next(ref) {
				w.uint(uint64(ref - 1))
			}
		}
	}
	g.Now().Vertices(nil, func(v uint32) bool {
		if id := x.idOf(v); x.text {
			w.text(id.text)
		} else {
			w.uint(id.num)
		}
		return w.err == nil
	})
}

func (g *Graph) writeLists(w *fileWriter, d Direction) {
	var labels []Label
	g.Now().Vertices(nil, func(v uint32) bool {
		s := g.side(d, v)
		labels = s.labels(v, labels[:0])
		w.ascending(labels)
		for _, l := range labels {
			w.ascending(s.list(v, l))
		}
		return w.err == nil
	})
}

func (x *rows) write(w *fileWriter) {
	w.uint(uint64(x.end))
	w.uint(uint64(x.end - x.n))
	free := make([]uint64, (x.end+63)/64)
	for ref := x.free; ref != 0; ref = x.row(ref - 1).next {
		w.uint(uint64(ref - 1))
		free[(ref-1)/64] |= 1 << ((ref - 1) % 64)
	}
	last := int64(0)
	for r := range x.end {
		if free[r/64]>>(r%64)&1 != 0 {
			continue
		}
		row := x.row(r)
		w.uint(uint64(row.u))
		w.uint(uint64(row.v))
		w.uint(uint64(row.label))
		w.int(row.time - last)
		last = row.time
	}
}

func (x *columns) write(w *fileWriter) {
	w.uint(uint64(len(x.list)))
	for _, c := range x.list {
		w.text(c.Name)
		w.uint(uint64(c.Type.ID()))
		unit, zone := unitOf(c.Type)
		w.uint(uint64(unit))
		w.text(zone)
		w.bool(c.given)
		w.bool(c.large)
		last := uint32(0)
		for p := range c.pages.end() {
			for i := uint32(0); c.pages.page(p) != nil && i < pageSize; i++ {
				word, kind := c.get(p<<pageBits + i)
				if kind == Null {
					continue
				}
				w.uint(uint64(p<<pageBits+i-last) + 1)
				if last = p<<pageBits + i; kind == String {
					w.text(x.texts.text(uint32(word)))
					continue
				}
				if c.mixed {
					w.bool(kind == Float)
				}
				w.uint(bitsOf(kind, word))
			}
		}
		w.uint(0)
	}
}

// bitsOf returns a word with small integers as small numbers, and the other way round by wordOf.
func bitsOf(k Kind, word uint64) uint64 {
	if k == Int {
		return word<<1 ^ uint64(int64(word)>>63)
	}
	return word
}

func wordOf(k Kind, x uint64) uint64 {
	if k == Int {
		return x>>1 ^ -(x & 1)
	}
	return x
}

// unitOf returns the unit and the time zone of a type of times.
func unitOf(t arrow.DataType) (unit arrow.TimeUnit, zone string) {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return t.Unit, t.TimeZone
	case *arrow.DurationType:
		return t.Unit, ""
	case *arrow.Time32Type:
		return t.Unit, ""
	case *arrow.Time64Type:
		return t.Unit, ""
	}
	return 0, ""
}

// typeOf returns the type with an id, a unit and a zone, or nil if graphs have no such properties.
func typeOf(id arrow.Type, unit arrow.TimeUnit, zone string) arrow.DataType {
	switch id {
	case arrow.TIMESTAMP:
		return &arrow.TimestampType{Unit: unit, TimeZone: zone}
	case arrow.DURATION:
		return &arrow.DurationType{Unit: unit}
	case arrow.TIME32:
		return &arrow.Time32Type{Unit: unit}
	case arrow.TIME64:
		return &arrow.Time64Type{Unit: unit}
	case arrow.BOOL:
		return arrow.FixedWidthTypes.Boolean
	case arrow.STRING:
		return arrow.BinaryTypes.String
	case arrow.LARGE_STRING:
		return arrow.BinaryTypes.LargeString
	}
	for _, t := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Date32, arrow.PrimitiveTypes.Date64,
	} {
		if t.ID() == id {
			return t
		}
	}
	return nil
}

// fileReader reads the blocks of a file. Its methods panic with a fileError, which Read returns.
type fileReader struct {
	r     io.Reader
	block []byte // what is left of it
	room  []byte
	crc   uint32
	at    int64 // the offset of the block
	size  int   // of its text
	n     int64 // bytes that were read
}

type fileError struct{ err error }

func (r *fileReader) fail(format string, args ...any) {
	panic(fileError{fmt.Errorf("%w: byte %d: %s", ErrFile, r.at+4+int64(r.size-len(r.block)), fmt.Sprintf(format, args...))})
}

// read fills b.
func (r *fileReader) read(b []byte) {
	k, err := io.ReadFull(r.r, b)
	r.n += int64(k)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		panic(fileError{fmt.Errorf("%w: it ends at byte %d: %w", ErrFile, r.n, io.ErrUnexpectedEOF)})
	case err != nil:
		panic(fileError{fmt.Errorf("byte %d: %w", r.n, err)})
	}
}

// next reads a block, and returns the length of its text.
func (r *fileReader) next() int {
	r.at = r.n
	var word [4]byte
	r.read(word[:])
	size := binary.LittleEndian.Uint32(word[:])
	if size > fileBlock+16 {
		panic(fileError{fmt.Errorf("%w: byte %d: a block of %d bytes, which is too long", ErrFile, r.at, size)})
	}
	r.crc = crc32.Update(r.crc, castagnoli, word[:])
	r.block = r.room[:size]
	r.size = int(size)
	r.read(r.block)
	r.crc = crc32.Update(r.crc, castagnoli, r.block)
	r.read(word[:])
	if binary.LittleEndian.Uint32(word[:]) != r.crc {
		panic(fileError{fmt.Errorf("%w: byte %d: the checksum of the block of %d bytes is wrong", ErrFile, r.at, size)})
	}
	r.crc = crc32.Update(r.crc, castagnoli, word[:])
	return r.size
}

func (r *fileReader) uint() (x uint64) {
	if x, k := binary.Uvarint(r.block); k > 0 {
		r.block = r.block[k:]
		return x
	}
	for shift := 0; ; shift += 7 { // over the end of a block
		if len(r.block) == 0 && r.next() == 0 {
			r.fail("the file ends too early")
		}
		b := r.block[0]
		if shift == 63 && b > 1 {
			r.fail("a number of more than 64 bits")
		}
		r.block = r.block[1:]
		if x |= uint64(b&0x7f) << shift; b < 0x80 {
			return x
		}
	}
}

// below reads a number that must be below end.
func (r *fileReader) below(end uint64, name string) uint32 {
	x := r.uint()
	if x >= end || x > math.MaxUint32 {
		r.fail("%s is %d, which is not below %d", name, x, end)
	}
	return uint32(x)
}

func (r *fileReader) int() int64 {
	x := r.uint()
	return int64(x>>1 ^ -(x & 1))
}

func (r *fileReader) bool() bool { return r.below(2, "a truth value") == 1 }

func (r *fileReader) text() string {
	n := r.uint()
	var b []byte
	for n > 0 {
		if len(r.block) == 0 && r.next() == 0 {
			r.fail("the file ends too early")
		}
		k := min(n, uint64(len(r.block)))
		b = append(b, r.block[:k]...)
		r.block = r.block[k:]
		n -= k
	}
	return string(b)
}

// ascending reads a list of distinct numbers below end, into to.
func (r *fileReader) ascending(end uint64, name string, to []uint32) []uint32 {
	to = to[:0]
	last := uint64(0)
	for n := r.uint(); n > 0; n-- {
		x := r.uint()
		if last += x; last < x || last >= end || x == 0 && len(to) > 0 {
			r.fail("%s is %d, which is not below %d or not above the one before", name, last, end)
		}
		to = append(to, uint32(last))
	}
	return to
}

// Read reads a graph that WriteTo wrote, up to its end, and no byte behind it. A file that is not such a one is ErrFile, with the position.
func Read(from io.Reader) (g *Graph, err error) {
	r := &fileReader{r: from, room: make([]byte, fileBlock+16)}
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(fileError)
			if !ok {
				panic(p)
			}
			g, err = nil, e.err
		}
	}()
	magic := make([]byte, len(fileMagic))
	r.read(magic)
	switch last := len(fileMagic) - 1; {
	case !bytes.Equal(magic[:last], []byte(fileMagic)[:last]):
		return nil, fmt.Errorf("%w: it does not begin as one", ErrFile)
	case magic[last] != fileMagic[last]:
		return nil, fmt.Errorf("%w: byte %d: version %d of the format, which this program does not read", ErrFile, last, magic[last])
	}
	r.crc = crc32.Update(0, castagnoli, magic)
	directed := r.bool()
	g = New(directed, r.bool())
	kind := r.below(edgesRowed+1, "a kind of edges")
	g.timed, g.rowed = kind == edgesTimed, kind != edgesPlain
	g.version = r.uint()
	g.base = g.version
	g.Read.TimeUnit = r.int()
	g.Read.TimeDigits = int(r.int())
	g.Read.TimeEpoch = r.bool()
	g.Read.TimeName = r.text()
	for n := r.uint(); n > 0; n-- {
		if name := r.text(); g.EdgeLabel(name) != Label(len(g.edgeLabels)) || name == "" {
			r.fail("the edge label %q again", name)
		}
	}
	g.readVertices(r)
	g.split(g.ids.live)
	for i := range g.numSides() {
		g.readLists(r, Direction(i))
	}
	g.readRows(r)
	g.vertexProps.read(r, func(v uint32) bool { return g.ids.alive(v) })
	g.edgeProps.read(r, g.rows.inUse)
	if len(r.block) > 0 || r.next() != 0 {
		r.fail("more than a graph")
	}
	return g, nil
}

func (g *Graph) readVertices(r *fileReader) {
	x := &g.ids
	for n := r.uint(); n > 0; n-- {
		if name := r.text(); x.label(name) != uint32(len(x.labels))-1 {
			r.fail("the vertex label %q again", name)
		}
	}
	x.spare = r.uint()
	x.end = r.below(maxID+1, "the end of ids")
	var ranges []idRange
	for n, c := r.uint(), uint32(0); uint64(c) < n; c++ {
		if x.classOf(r.ascending(uint64(len(x.labels)), "a label of a class", nil)) != c {
			r.fail("class %d is an earlier one", c)
		}
		for k := r.uint(); k > 0; k-- {
			i := idRange{}
			i.first = r.below(uint64(x.end), "the beginning of a range")
			i.next = r.below(uint64(x.end)+1, "a range's next id")
			i.end = r.below(uint64(x.end)+1, "the end of a range")
			i.idle = r.below(uint64(x.end)+1, "the number of free ids")
			if i.first > i.next || i.next > i.end || (i.first|i.end)&pageMask != 0 || i.idle > i.next-i.first {
				r.fail("the range of ids %d, %d, %d with %d free ones", i.first, i.next, i.end, i.idle)
			}
			for v := i.first; v < i.next; v++ {
				if v == i.first || v&pageMask == 0 {
					if x.page(v>>pageBits) != nil {
						r.fail("two ranges of ids with %d", v)
					}
					x.need(v >> pageBits).class = c + 1
					if x.text {
						x.texts.need(v >> pageBits)
					} else {
						x.nums.need(v >> pageBits)
					}
				}
				x.setAlive(v, true)
			}
			at := &i.free
			for range i.idle {
				v := r.below(uint64(i.next), "a free id")
				if v < i.first || !x.alive(v) {
					r.fail("the free id %d", v)
				}
				x.setAlive(v, false)
				*at = v + 1
				at = x.next(v + 1)
			}
			x.classes[c].ranges = append(x.classes[c].ranges, i)
			ranges = append(ranges, i)
			x.expected += i.next - i.first - i.idle
		}
	}
	slices.SortFunc(ranges, func(x, y idRange) int { return int(int64(x.first) - int64(y.first)) })
	for i := 1; i < len(ranges); i++ {
		if ranges[i-1].end > ranges[i].first {
			r.fail("ranges of ids with a common part at %d", ranges[i].first)
		}
	}
	g.Now().Vertices(nil, func(v uint32) bool {
		var id ID
		if x.text {
			id = Text(r.text())
			x.texts.page(v >> pageBits)[v&pageMask] = id.text
			x.strings += textBytes(id.text)
		} else {
			id = Num(r.uint())
			x.nums.page(v >> pageBits)[v&pageMask] = id.num
		}
		if err := g.check(id); err != nil || x.find(id) != noVertex {
			r.fail("the vertex id %v, which is out of range or there already", id)
		}
		x.name(id, v)
		x.live++
		return true
	})
}

func (g *Graph) readLists(r *fileReader, d Direction) {
	entries, pairs := uint64(0), uint64(0)
	var labels, list, all []uint32
	g.Now().Vertices(nil, func(v uint32) bool {
		labels = r.ascending(uint64(len(g.edgeLabels))+1, "an edge label", labels)
		if len(labels) == 0 {
			return true
		}
		s := g.side(d, v)
		h := s.need(v)
		h[headLabel] = labels[0]
		if len(labels) > 1 {
			s.splitInto(h)
		}
		all = all[:0]
		for k, l := range labels {
			list = r.ascending(uint64(g.ids.end), "a neighbour", list)
			if len(list) == 0 {
				r.fail("an empty list")
			}
			for _, w := range list {
				if w == v || !g.ids.alive(w) {
					r.fail("the neighbour %d of %d, which is not a vertex or the same", w, v)
				}
			}
			entries += uint64(len(list))
			all = append(all, list...)
			if len(labels) > 1 {
				s.insertEntry(v, h, k*entrySize, l)
				s.setEntry(v, h, k*entrySize, list)
			}
		}
		if len(labels) > 1 {
			slices.Sort(all)
			all = slices.Compact(all)
		}
		pairs += uint64(len(all))
		s.setList(v, h[:2], inHead, all)
		h[headLen] = uint32(len(all))
		return true
	})
	g.clean()
	if !g.directed {
		entries /= 2
	}
	if d > 0 && entries != g.edges {
		r.fail("%d edges in one direction, %d in the other", g.edges, entries)
	}
	g.edges = entries
}

func (g *Graph) readRows(r *fileReader) {
	x := &g.rows
	end := r.below(uint64(maxRows)+1, "the number of rows")
	free := map[uint32]bool{}
	var order []uint32
	for n := r.uint(); n > 0; n-- {
		i := r.below(uint64(end), "a free row")
		if free[i] {
			r.fail("the free row %d again", i)
		}
		free[i] = true
		order = append(order, i)
	}
	last := int64(0)
	var timed []uint32
	for i := range end {
		if x.pages.need(i / rowPage); free[i] {
			x.end++
			continue
		}
		e := edge{u: r.below(uint64(g.ids.end), "an end of an edge"), v: r.below(uint64(g.ids.end), "an end of an edge")}
		e.label = r.below(uint64(len(g.edgeLabels))+1, "an edge label")
		last += r.int()
		e.time = last
		if !g.ids.alive(e.u) || !g.ids.alive(e.v) || !g.has(e.u, e.v, e.label) {
			r.fail("the edge %d to %d, which the lists do not have", e.u, e.v)
		}
		if _, twice := x.find(e.u, e.v, e.label, e.time); twice {
			r.fail("the edge %d to %d again", e.u, e.v)
		}
		x.add(e.u, e.v, e.label, e.time, 0)
		timed = append(timed, i)
	}
	slices.Reverse(order)
	for _, i := range order {
		x.row(i).next = x.free
		x.free = i + 1
	}
	if !g.rowed {
		return
	}
	if x.index.count != uint32(g.edges) {
		r.fail("%d edges with rows, and %d in lists", x.index.count, g.edges)
	}
	if !g.timed {
		return
	}
	slices.SortFunc(timed, func(i, j uint32) int {
		if x.before(i, x.row(j).time, j) {
			return -1
		}
		return 1
	})
	for _, i := range timed {
		g.queue.add(i)
	}
	g.edges = uint64(x.n)
}

func (x *columns) read(r *fileReader, is func(i uint32) bool) {
	for n := r.uint(); n > 0; n-- {
		name := r.text()
		t := typeOf(arrow.Type(r.below(1<<7, "a type")), arrow.TimeUnit(r.below(4, "a unit of time")), r.text())
		if t == nil {
			r.fail("a property of an unknown type")
		}
		k, err := x.key(name, t)
		if err != nil || int(k) != len(x.list)-1 {
			r.fail("the property %q again", name)
		}
		c := x.list[k]
		if r.bool() {
			c.give()
		}
		if c.large = r.bool(); c.large && !c.mixed {
			r.fail("a mark of integers at the property %q", name)
		}
		i := uint64(0)
		for gap := r.uint(); gap > 0; gap = r.uint() {
			if i += gap - 1; i > math.MaxUint32 || !is(uint32(i)) {
				r.fail("a value of %d, which is not there", i)
			}
			v := Value{kind: c.kind}
			if c.mixed && r.bool() {
				v.kind = Float
			}
			if c.kind == String {
				v.text = r.text()
			} else {
				v.word = wordOf(v.kind, r.uint())
			}
			if _, err := c.fits(v); err != nil || c.mixed && v.kind == Float && t.ID() != arrow.FLOAT64 {
				r.fail("a value that the property %q cannot have", name)
			}
			x.set(k, uint32(i), v, 0)
		}
	}
}
