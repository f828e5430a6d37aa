package format

import (
	"encoding/binary"
)

// pairs is the buffer of one worker on the path for lines of two numbers.
type pairs struct {
	src, dst []uint64
	lines    uint64
	f        fields
}

// parse reads the lines of b, which are two numbers, blank, or comments. It
// allocates nothing once its buffers have grown.
func (p *pairs) parse(blk []byte, sp *textSpec) error {
	// The shortest line has four bytes; eight-byte loads reach past the end.
	most := len(blk)/4 + 1
	if cap(p.src) < most {
		p.src, p.dst = make([]uint64, most), make([]uint64, most)
	}
	src, dst := p.src[:most], p.dst[:most]
	end := len(blk)
	b := blk[:end+slack]
	for i := end; i < len(b); i++ {
		b[i] = 0
	}
	sep := sp.sep
	common := sep
	if sep == 0 {
		common = '\t'
		for i := 0; i < end && b[i] != '\n'; i++ {
			if b[i] == ' ' {
				common = ' '
				break
			}
		}
	}
	lo, span := sp.lo, sp.span
	n, i := 0, 0
	for i < end {
		// The usual line: digits, separator, digits, line end.
		v, k := digits8(binary.LittleEndian.Uint64(b[i : i+8]))
		j := i + int(k)
		if k == 8 {
			var ok bool
			if v, j, ok = parseLong(b, j, v); !ok {
				return p.slow(b, i, end, sp)
			}
		}
		if b[j] == common && k > 0 {
			w, m := digits8(binary.LittleEndian.Uint64(b[j+1 : j+9]))
			e := j + 1 + int(m)
			if m == 8 {
				var ok bool
				if w, e, ok = parseLong(b, e, w); !ok {
					return p.slow(b, i, end, sp)
				}
			}
			if b[e] == '\r' {
				e++
			}
			if b[e] == '\n' && m > 0 && v-lo < span && w-lo < span {
				src[n], dst[n] = v, w
				n++
				i = e + 1
				continue
			}
		}
		next, took, err := p.oddLine(b, i, end, sp)
		if err != nil {
			return err
		}
		if took != nil {
			src[n], dst[n] = took[0], took[1]
			n++
		}
		i = next
	}
	p.lines = uint64(n)
	p.src, p.dst = src[:n], dst[:n]
	return nil
}

// slow explains a number that is too long.
func (p *pairs) slow(b []byte, i, end int, sp *textSpec) error {
	_, _, err := p.oddLine(b, i, end, sp)
	return err
}

// oddLine reads a line that the quick path does not: comments, blanks, other
// spacing, and all errors.
func (p *pairs) oddLine(b []byte, i, end int, sp *textSpec) (next int, took *[2]uint64, err error) {
	stop := i
	for stop < end && b[stop] != '\n' {
		stop++
	}
	next = stop + 1
	if stop-i > maxLine {
		return next, nil, &spot{pos: i, field: b[i:stop], err: ErrLongLine}
	}
	f := &p.f
	if err := f.split(b[:stop], i, sp.sep); err != nil {
		return next, nil, err
	}
	if f.n == 0 {
		return next, nil, nil
	}
	if f.n != 2 {
		return next, nil, raggedError(b[i:stop], i, f.n, 2)
	}
	var r [2]uint64
	for k := range r {
		v := f.at[k]
		if r[k], err = parseID(v.b, v.pos, sp); err != nil {
			return next, nil, err
		}
	}
	return next, &r, nil
}
