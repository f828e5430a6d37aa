package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// value is one of the types that columns are read as.
type value interface {
	bool | int64 | float64 | []byte
}

// decoder reads the next values of a page.
type decoder[T value] interface{ next(dst []T) error }

// plain reads values of a fixed width.
type plain[T value] struct {
	b     []byte
	width int
	get   func([]byte) T
}

func (p *plain[T]) next(dst []T) error {
	if len(p.b)/p.width < len(dst) {
		return errData
	}
	for i := range dst {
		dst[i] = p.get(p.b[i*p.width:])
	}
	p.b = p.b[len(dst)*p.width:]
	return nil
}

// streams reads values whose first bytes stand together, then their second ones,
// and so on.
type streams[T value] struct {
	b        []byte
	at, n    int
	width    int
	get      func([]byte) T
	together [8]byte
}

func (s *streams[T]) next(dst []T) error {
	if s.n-s.at < len(dst) {
		return errData
	}
	for i := range dst {
		for k := range s.width {
			s.together[k] = s.b[k*s.n+s.at]
		}
		dst[i] = s.get(s.together[:])
		s.at++
	}
	return nil
}

// plainBytes reads texts, each after its length.
type plainBytes struct{ b []byte }

func (p *plainBytes) next(dst [][]byte) error {
	for i := range dst {
		if len(p.b) < 4 {
			return errData
		}
		n := uint64(binary.LittleEndian.Uint32(p.b))
		if n > uint64(len(p.b)-4) {
			return errData
		}
		dst[i] = p.b[4 : 4+n : 4+n]
		p.b = p.b[4+n:]
	}
	return nil
}

// plainBools reads bits.
type plainBools struct {
	b   []byte
	bit uint64
}

func (p *plainBools) next(dst []bool) error {
	for i := range dst {
		x, err := unpack(p.b, p.bit, 1)
		if err != nil {
			return err
		}
		dst[i] = x != 0
		p.bit++
	}
	return nil
}

// runBools reads truth values in runs.
type runBools struct {
	r   runs
	buf []uint32
}

func (p *runBools) next(dst []bool) error {
	p.buf = grow(p.buf, len(dst))
	if err := p.r.next(p.buf); err != nil {
		return err
	}
	for i, x := range p.buf {
		dst[i] = x != 0
	}
	return nil
}

// indices reads values by their numbers in a dictionary.
type indices[T value] struct {
	r    runs
	dict []T
	buf  []uint32
}

func (d *indices[T]) next(dst []T) error {
	d.buf = grow(d.buf, len(dst))
	if err := d.r.next(d.buf); err != nil {
		return err
	}
	for i, x := range d.buf {
		if int64(x) >= int64(len(d.dict)) {
			return fmt.Errorf("value %d of a dictionary of %d", x, len(d.dict))
		}
		dst[i] = d.dict[x]
	}
	return nil
}

var errDelta = errors.New("a page of differences has a damaged header")

// deltas reads integers as differences in blocks.
type deltas struct {
	b       []byte
	block   uint64 // values in a block
	minis   uint64 // parts of a block, which have widths of their own
	left    uint64 // values not yet returned
	last    int64
	started bool   // whether the first value was returned
	widths  []byte // of the parts of the block that are left
	part    []byte // the current part
	bit     uint64
	inPart  uint64 // values left in it
	least   int64  // the least difference in the block
	narrow  bool   // values have 32 bits, and differences wrap around there
}

func newDeltas(b []byte, narrow bool) (*deltas, error) {
	d := &deltas{b: b, narrow: narrow}
	var first uint64
	for _, p := range []*uint64{&d.block, &d.minis, &d.left, &first} {
		var err error
		if *p, d.b, err = uvarint(d.b); err != nil {
			return nil, err
		}
	}
	d.last = int64(first>>1) ^ -int64(first&1)
	if d.block == 0 || d.block > 1<<20 || d.minis == 0 || d.minis > d.block || d.block%d.minis != 0 || d.block/d.minis%8 != 0 {
		return nil, errDelta
	}
	return d, nil
}

// open starts the next part, which holds differences of one width.
func (d *deltas) open() (err error) {
	if len(d.widths) == 0 {
		var x uint64
		if x, d.b, err = uvarint(d.b); err != nil {
			return err
		}
		d.least = int64(x>>1) ^ -int64(x&1)
		if uint64(len(d.b)) < d.minis {
			return errData
		}
		d.widths, d.b = d.b[:d.minis], d.b[d.minis:]
	}
	w := uint64(d.widths[0])
	if w > 64 {
		return errDelta
	}
	d.inPart = d.block / d.minis
	size := min(d.inPart*w/8, uint64(len(d.b)))
	d.part, d.bit, d.b = d.b[:size], 0, d.b[size:]
	return nil
}

func (d *deltas) next(dst []int64) error {
	if uint64(len(dst)) > d.left {
		return errData
	}
	d.left -= uint64(len(dst))
	for i := range dst {
		if d.started {
			if d.inPart == 0 {
				if err := d.open(); err != nil {
					return err
				}
			}
			w := uint(d.widths[0])
			x, err := unpack(d.part, d.bit, w)
			if err != nil {
				return err
			}
			d.bit += uint64(w)
			if d.inPart--; d.inPart == 0 {
				d.widths = d.widths[1:]
			}
			d.last += d.least + int64(x)
			if d.narrow {
				d.last = int64(int32(d.last))
			}
		}
		d.started = true
		dst[i] = d.last
	}
	return nil
}

// rest returns the bytes after the encoded integers; nothing was read from d.
func (d *deltas) rest() ([]byte, error) {
	e := *d
	for left := int64(e.left) - 1; left > 0; left -= int64(e.block) {
		e.widths = nil
		for k := range int64(e.minis) {
			if k*int64(e.block/e.minis) >= left && k > 0 {
				break // parts without values are not there
			}
			if err := e.open(); err != nil {
				return nil, err
			}
			e.widths = e.widths[1:]
		}
	}
	return e.b, nil
}

// lengths reads texts whose lengths stand before all of them.
type lengths struct {
	sizes *deltas
	b     []byte
	buf   []int64
}

func newLengths(b []byte) (*lengths, error) {
	d, err := newDeltas(b, true)
	if err != nil {
		return nil, err
	}
	rest, err := d.rest()
	return &lengths{sizes: d, b: rest}, err
}

func (l *lengths) next(dst [][]byte) error {
	l.buf = grow(l.buf, len(dst))
	if err := l.sizes.next(l.buf); err != nil {
		return err
	}
	for i, n := range l.buf {
		if n < 0 || n > int64(len(l.b)) {
			return errData
		}
		dst[i], l.b = l.b[:n:n], l.b[n:]
	}
	return nil
}

// prefixes reads texts that begin as the text before them does.
type prefixes struct {
	common *deltas
	ends   *lengths
	last   []byte
	buf    []int64
}

func newPrefixes(b []byte) (*prefixes, error) {
	d, err := newDeltas(b, true)
	if err != nil {
		return nil, err
	}
	rest, err := d.rest()
	if err != nil {
		return nil, err
	}
	l, err := newLengths(rest)
	return &prefixes{common: d, ends: l}, err
}

func (p *prefixes) next(dst [][]byte) error {
	p.buf = grow(p.buf, len(dst))
	if err := p.common.next(p.buf); err != nil {
		return err
	}
	if err := p.ends.next(dst); err != nil {
		return err
	}
	var size int64
	for i, n := range p.buf {
		if n < 0 || n > int64(len(p.last)) {
			return errData
		}
		if size += n; size > mostRepeated {
			return fmt.Errorf("%d texts repeat more than %d MiB of the texts before them", len(dst), mostRepeated>>20)
		}
		switch {
		case n == int64(len(p.last)) && len(dst[i]) == 0:
			dst[i] = p.last
		case n > 0:
			dst[i] = append(p.last[:n:n], dst[i]...)
		}
		p.last = dst[i]
	}
	return nil
}

// mostRepeated bounds the bytes of repeated prefixes of texts that are read at a time. Without
// it, a few bytes of a file could ask for any amount of memory.
const mostRepeated = 256 << 20

func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}

func getInt32(b []byte) int64  { return int64(int32(binary.LittleEndian.Uint32(b))) }
func getUint32(b []byte) int64 { return int64(binary.LittleEndian.Uint32(b)) }
func getInt64(b []byte) int64  { return int64(binary.LittleEndian.Uint64(b)) }

// getInt96 reads a time, nanoseconds of a Julian day, as nanoseconds since 1970.
func getInt96(b []byte) int64 {
	day := int64(binary.LittleEndian.Uint32(b[8:])) - 2440588
	return day*86400e9 + getInt64(b)
}

func getFloat(b []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}
func getDouble(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
