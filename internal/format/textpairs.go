package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// pairs is one worker's state on the path for lines of two numbers.
type pairs struct {
	wide []uint64 // room for pairs of numbers of which one has more than 32 bits
	f    fields
}

// errWide means that a number of a block does not fit 32 bits.
var errWide = errors.New("a number has more than 32 bits")

// mostPairs is the most lines of two numbers that n bytes can have.
func mostPairs(n int) int { return n/4 + 1 }

// narrow reads the lines of blk, which are two numbers, blank, or comments, to
// room for mostPairs as first<<32 | second. It returns how many there are and the
// largest number, or errWide.
func (p *pairs) narrow(blk []byte, sp *textSpec, room []uint64) (n int, most uint32, err error) {
	before := p.f.comments
	n, m, err := p.parse(blk, sp, room, nil)
	if err == nil && m>>32 != 0 {
		p.f.comments = before // the block is read again
		return 0, 0, errWide
	}
	return n, uint32(m), err
}

// read is narrow for all numbers. Its results are valid until the next call.
func (p *pairs) read(blk []byte, sp *textSpec) (src, dst []uint64, err error) {
	most := mostPairs(len(blk))
	if len(p.wide) < 2*most {
		p.wide = make([]uint64, 2*most)
	}
	src, dst = p.wide[:most], p.wide[most:][:most]
	n, _, err := p.parse(blk, sp, src, dst)
	return src[:n], dst[:n], err
}

// parse reads lines to src and dst, or, if that is nil, both numbers of a line to
// a word of src. It returns how many lines have numbers, and the largest of these.
// Each line end of blk belongs to a line that has numbers, is empty, or is an error.
func (p *pairs) parse(blk []byte, sp *textSpec, src, dst []uint64) (n int, most uint64, err error) {
	// Eight-byte loads reach past the end.
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
	lo, span, empty := sp.lo, sp.span, 0
	// A line's place is known only when the line before has been read. So that the processor need not wait for
	// it, lines are read at two places in turn.
	from := [2]int{0, end / 2}
	for from[1] < end && from[1] > 0 && b[from[1]-1] != '\n' {
		from[1]++
	}
	to := [2]int{from[1], end}
	if dst == nil {
		n, most = twoLines(b, &from, to, common, sp, src)
	}
	for part, i := range from {
		for i < to[part] {
			// The usual line: digits, separator, digits, line end.
			v, k := digits8(binary.LittleEndian.Uint64(b[i : i+8]))
			j, fits := i+int(k), true
			if k == 8 {
				v, j, fits = parseLong(b, j, v)
			}
			if fits && b[j] == common && k > 0 && (b[i] != '0' || k == 1 || sp.padded) {
				w, m := digits8(binary.LittleEndian.Uint64(b[j+1 : j+9]))
				e := j + 1 + int(m)
				if m == 8 {
					w, e, fits = parseLong(b, e, w)
				}
				if b[e] == '\r' {
					e++
				}
				if fits && b[e] == '\n' && m > 0 && (b[j+1] != '0' || m == 1 || sp.padded) && v-lo < span && w-lo < span {
					store(src, dst, n, v, w)
					most = max(most, v, w)
					n++
					i = e + 1
					continue
				}
			}
			next, took, err := p.oddLine(b, i, end, sp)
			if err != nil {
				return 0, 0, err
			}
			if took != nil {
				store(src, dst, n, took[0], took[1])
				most = max(most, took[0], took[1])
				n++
			} else {
				empty++
			}
			i = next
		}
	}
	return n, most, allLines(b[:end], n+empty)
}

// twoLines reads usual lines of two numbers, a line at from[0] and one at from[1] in turn, until one of them is
// not usual or a part ends. It moves from to the lines that it has not read, and returns how many it has.
func twoLines(b []byte, from *[2]int, to [2]int, common byte, sp *textSpec, room []uint64) (n int, most uint64) {
	lo, span, padded := sp.lo, sp.span, sp.padded
	i, k := from[0], from[1]
	for i < to[0] && k < to[1] && n+1 < len(room) {
		v, vn := digits8(binary.LittleEndian.Uint64(b[i : i+8]))
		x, xn := digits8(binary.LittleEndian.Uint64(b[k : k+8]))
		j, l := i+int(vn), k+int(xn)
		w, wn := digits8(binary.LittleEndian.Uint64(b[j+1 : j+9]))
		y, yn := digits8(binary.LittleEndian.Uint64(b[l+1 : l+9]))
		e, f := j+1+int(wn), l+1+int(yn)
		if b[j] != common || b[l] != common || b[e] != '\n' || b[f] != '\n' || vn == 0 || wn == 0 || xn == 0 || yn == 0 {
			break
		}
		if !padded && (b[i] == '0' && vn > 1 || b[j+1] == '0' && wn > 1 || b[k] == '0' && xn > 1 || b[l+1] == '0' && yn > 1) {
			break
		}
		if v-lo >= span || w-lo >= span || x-lo >= span || y-lo >= span {
			break
		}
		room[n], room[n+1] = v<<32|w, x<<32|y
		n += 2
		most = max(most, v, w, x, y)
		i, k = e+1, f+1
	}
	from[0], from[1] = i, k
	return n, most
}

// allLines fails unless blk has exactly `read` lines. A difference is a mistake of the reader,
// and never of the file.
func allLines(blk []byte, read int) error {
	lines := bytes.Count(blk, newline)
	if len(blk) > 0 && blk[len(blk)-1] != '\n' {
		lines++
	}
	if read != lines {
		return fmt.Errorf("internal error: %d of %d lines were read; please report it with the file", read, lines)
	}
	return nil
}

func store(src, dst []uint64, n int, v, w uint64) {
	if dst != nil {
		src[n], dst[n] = v, w
	} else {
		src[n] = v<<32 | w
	}
}

// oddLine reads a line that the quick path does not: comments, blanks, other
// spacing, long numbers, and all errors. took is nil where the line has no numbers.
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
