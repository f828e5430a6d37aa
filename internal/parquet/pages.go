package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// pages reads the values and levels of one column of one row group.
type pages[T value] struct {
	l        *leaf
	c        chunk
	in       *bufio.Reader
	start    int64 // of the chunk in the file
	at       int64 // bytes of the chunk read so far
	left     int64 // values, nulls included, in pages not yet opened
	dict     []T
	open     func(enc int32, b []byte, n int) (decoder[T], error)
	page     int64 // values left in the page
	def, rep *runs // nil: all levels are at their most, or 0
	values   decoder[T]
}

func newPages[T value](f *File, l *leaf, c chunk, open func(enc int32, b []byte, n int) (decoder[T], error)) (*pages[T], error) {
	switch {
	case !c.seen || c.elsewhere:
		return nil, errors.New("the values are in another file")
	case c.encrypted:
		return nil, errors.New("the values are encrypted")
	}
	start := c.data
	if c.dict > 0 && c.dict < start {
		start = c.dict
	}
	if start < int64(len(magic)) || c.size < 0 || start > f.size || c.size > f.size-start || c.values < 0 {
		return nil, fmt.Errorf("%d bytes at byte %d of a file of %d", c.size, start, f.size)
	}
	p := &pages[T]{l: l, c: c, start: start, left: c.values, open: open}
	p.in = bufio.NewReaderSize(io.NewSectionReader(f.r, start, c.size), int(min(c.size+16, 64<<10)))
	return p, nil
}

// next reads at most n values and their levels; it returns the number of levels,
// and the values that are there. The slices it returns hold until the next call.
func (p *pages[T]) next(def, rep []uint32, v []T) (n, present int, err error) {
	for p.page == 0 {
		if p.left == 0 {
			return 0, 0, nil
		}
		if err := p.header(); err != nil {
			return 0, 0, err
		}
	}
	n = int(min(p.page, int64(len(def))))
	if p.rep != nil {
		if err := levels(p.rep, rep[:n], p.l.maxRep); err != nil {
			return 0, 0, p.fault(err)
		}
	} else {
		clear(rep[:min(n, len(rep))])
	}
	present = n
	if p.def != nil {
		if err := levels(p.def, def[:n], p.l.maxDef); err != nil {
			return 0, 0, p.fault(err)
		}
		present = 0
		for _, d := range def[:n] {
			if d == p.l.maxDef {
				present++
			}
		}
	} else {
		for i := range def[:n] {
			def[i] = p.l.maxDef
		}
	}
	if err := p.values.next(v[:present]); err != nil {
		return 0, 0, p.fault(err)
	}
	p.page -= int64(n)
	return n, present, nil
}

// levels reads levels, of which none is above the most that the schema has.
func levels(r *runs, dst []uint32, most uint32) error {
	if err := r.next(dst); err != nil {
		return err
	}
	for _, x := range dst {
		if x > most {
			return fmt.Errorf("a level of %d where the most is %d", x, most)
		}
	}
	return nil
}

func (p *pages[T]) fault(err error) error {
	return fmt.Errorf("the page that ends at byte %d: %w", p.start+p.at, err)
}

// header reads a page and opens it, if it holds data.
func (p *pages[T]) header() error {
	from := p.at
	if err := p.read(); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = errData // the chunk's pages have fewer values than the footer says
		}
		return fmt.Errorf("the page at byte %d: %w", p.start+from, err)
	}
	return nil
}

func (p *pages[T]) read() error {
	t := &thriftReader{r: p.in, left: p.c.size - p.at}
	h := readPageHeader(t)
	if t.err != nil {
		return t.err
	}
	p.at = p.c.size - t.left
	if h.size < 0 || h.raw < 0 || h.values < 0 || int64(h.size) > p.c.size-p.at {
		return fmt.Errorf("a header of %d values, %d bytes, %d compressed", h.values, h.raw, h.size)
	}
	p.at += int64(h.size)
	if h.kind != pageData && h.kind != pageDataV2 && h.kind != pageDict {
		_, err := p.in.Discard(int(h.size))
		return err
	}
	b := make([]byte, h.size)
	if _, err := io.ReadFull(p.in, b); err != nil {
		return err
	}
	if sum := crc32.ChecksumIEEE(b); h.checked && sum != h.crc {
		return fmt.Errorf("%w: its bytes give %08x, its header says %08x", ErrChecksum, sum, h.crc)
	}
	if h.kind == pageDataV2 {
		return p.version2(&h, b)
	}
	b, err := decompress(p.c.codec, b, int(h.raw))
	if err != nil {
		return err
	}
	if h.kind == pageDict {
		return p.dictionary(&h, b)
	}
	level := func(most uint32, enc int32) (*runs, error) {
		if most == 0 {
			return nil, nil
		}
		if enc != encRLE {
			return nil, fmt.Errorf("encoding %d of levels is not supported", enc)
		}
		if len(b) < 4 {
			return nil, errData
		}
		n := uint64(binary.LittleEndian.Uint32(b))
		if n > uint64(len(b)-4) {
			return nil, errData
		}
		r := &runs{b: b[4 : 4+n], width: bitsFor(int(most))}
		b = b[4+n:]
		return r, nil
	}
	if p.rep, err = level(p.l.maxRep, h.repLevels); err != nil {
		return err
	}
	if p.def, err = level(p.l.maxDef, h.levels); err != nil {
		return err
	}
	return p.begin(&h, b)
}

func (p *pages[T]) version2(h *pageHeader, b []byte) error {
	if h.defSize < 0 || h.repSize < 0 || int64(h.defSize)+int64(h.repSize) > int64(min(h.size, h.raw)) {
		return fmt.Errorf("levels of %d and %d bytes in a page of %d", h.repSize, h.defSize, h.size)
	}
	p.rep, p.def = nil, nil
	if p.l.maxRep > 0 {
		p.rep = &runs{b: b[:h.repSize], width: bitsFor(int(p.l.maxRep))}
	}
	if p.l.maxDef > 0 {
		p.def = &runs{b: b[h.repSize : h.repSize+h.defSize], width: bitsFor(int(p.l.maxDef))}
	}
	levels := h.repSize + h.defSize
	b = b[levels:]
	if !h.plain && len(b) > 0 {
		var err error
		if b, err = decompress(p.c.codec, b, int(h.raw-levels)); err != nil {
			return err
		}
	}
	return p.begin(h, b)
}

// begin opens the values of a page.
func (p *pages[T]) begin(h *pageHeader, b []byte) (err error) {
	if int64(h.values) > p.left {
		return fmt.Errorf("%d values where the column has %d left", h.values, p.left)
	}
	p.page, p.left = int64(h.values), p.left-int64(h.values)
	if h.encoding != encPlainDict && h.encoding != encRLEDict {
		p.values, err = p.open(h.encoding, b, int(h.values))
		return err
	}
	if p.dict == nil {
		return errors.New("values of a dictionary that is not there")
	}
	if len(b) == 0 { // a page of nulls only
		b = []byte{0}
	}
	if b[0] > 32 {
		return fmt.Errorf("numbers of %d bits", b[0])
	}
	p.values = &indices[T]{r: runs{b: b[1:], width: uint(b[0])}, dict: p.dict}
	return nil
}

func (p *pages[T]) dictionary(h *pageHeader, b []byte) error {
	if p.dict != nil {
		return errors.New("a second dictionary")
	}
	if h.encoding != encPlain && h.encoding != encPlainDict {
		return fmt.Errorf("a dictionary of encoding %d", h.encoding)
	}
	if int64(h.values) > int64(len(b)) { // each takes a byte at least
		return errData
	}
	d, err := p.open(encPlain, b, int(h.values))
	if err != nil {
		return err
	}
	p.dict = make([]T, h.values)
	return d.next(p.dict)
}

func badEncoding(enc int32) error { return fmt.Errorf("encoding %d is not supported", enc) }

// openBools, openNumbers and openBytes open the values of a page by its encoding.
func openBools(enc int32, b []byte, _ int) (decoder[bool], error) {
	switch enc {
	case encPlain:
		return &plainBools{b: b}, nil
	case encRLE:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errData
		}
		return &runBools{r: runs{b: b[4 : 4+binary.LittleEndian.Uint32(b)], width: 1}}, nil
	}
	return nil, badEncoding(enc)
}

func openBytes(enc int32, b []byte, _ int) (decoder[[]byte], error) {
	switch enc {
	case encPlain:
		return &plainBytes{b}, nil
	case encDeltaLength:
		return newLengths(b)
	case encDeltaBytes:
		return newPrefixes(b)
	}
	return nil, badEncoding(enc)
}

func openFloats(width int, get func([]byte) float64) func(int32, []byte, int) (decoder[float64], error) {
	return func(enc int32, b []byte, _ int) (decoder[float64], error) {
		switch enc {
		case encPlain:
			return &plain[float64]{b, width, get}, nil
		case encByteStream:
			return &streams[float64]{b: b, n: len(b) / width, width: width, get: get}, nil
		}
		return nil, badEncoding(enc)
	}
}

func openInts(width int, get func([]byte) int64) func(int32, []byte, int) (decoder[int64], error) {
	return func(enc int32, b []byte, _ int) (decoder[int64], error) {
		switch {
		case enc == encPlain:
			return &plain[int64]{b, width, get}, nil
		case enc == encByteStream && width <= 8:
			return &streams[int64]{b: b, n: len(b) / width, width: width, get: get}, nil
		case enc == encDelta && width <= 8:
			d, err := newDeltas(b, width == 4)
			return &regain{d, get, width}, err
		}
		return nil, badEncoding(enc)
	}
}

// regain gives differences of 32 bits the sign of their column.
type regain struct {
	d     *deltas
	get   func([]byte) int64
	width int
}

func (r *regain) next(dst []int64) error {
	if err := r.d.next(dst); err != nil {
		return err
	}
	if r.width == 4 {
		var b [4]byte
		for i, x := range dst {
			binary.LittleEndian.PutUint32(b[:], uint32(x))
			dst[i] = r.get(b[:])
		}
	}
	return nil
}
