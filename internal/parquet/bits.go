package parquet

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var errData = errors.New("a page ends before its last value")

// uvarint reads a number from the front of b and returns the rest.
func uvarint(b []byte) (uint64, []byte, error) {
	x, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errData
	}
	return x, b[n:], nil
}

// runs decodes the hybrid of repeated values and bit-packed ones.
type runs struct {
	b      []byte
	width  uint
	left   uint64 // values left of the current run
	packed []byte // of a bit-packed run; nil in a repeated one
	bit    uint64 // position in packed
	value  uint32
}

func (r *runs) next(dst []uint32) error {
	for len(dst) > 0 {
		if r.left == 0 {
			if err := r.header(); err != nil {
				return err
			}
			continue
		}
		n := int(min(r.left, uint64(len(dst))))
		if r.packed == nil {
			for i := range dst[:n] {
				dst[i] = r.value
			}
		} else {
			for i := range dst[:n] {
				x, err := unpack(r.packed, r.bit, r.width)
				if err != nil {
					return err
				}
				dst[i] = uint32(x)
				r.bit += uint64(r.width)
			}
		}
		r.left -= uint64(n)
		dst = dst[n:]
	}
	return nil
}

func (r *runs) header() (err error) {
	if len(r.b) == 0 && r.width == 0 { // values without bits need no run
		r.left, r.packed, r.value = 1<<62, nil, 0
		return nil
	}
	var h uint64
	if h, r.b, err = uvarint(r.b); err != nil {
		return err
	}
	if h&1 == 0 {
		n := (int(r.width) + 7) / 8
		if len(r.b) < n {
			return errData
		}
		r.left, r.packed, r.value = h>>1, nil, 0
		for i := range n {
			r.value |= uint32(r.b[i]) << (8 * i)
		}
		r.b = r.b[n:]
		return nil
	}
	groups := h >> 1
	if groups > 1<<32 {
		return errData
	}
	// Some writers leave out the end of the last run, which has no values.
	size := min(groups*uint64(r.width), uint64(len(r.b)))
	r.left, r.packed, r.bit = groups*8, r.b[:size:size], 0
	if r.packed == nil {
		r.packed = []byte{}
	}
	r.b = r.b[size:]
	return nil
}

// unpack returns the width bits of b from a bit on; width is at most 64.
func unpack(b []byte, bit uint64, width uint) (uint64, error) {
	if width == 0 {
		return 0, nil
	}
	at, shift := bit/8, uint(bit%8)
	if at+8 <= uint64(len(b)) && shift+width <= 64 {
		return binary.LittleEndian.Uint64(b[at:]) >> shift & (^uint64(0) >> (64 - width)), nil
	}
	if (bit+uint64(width)+7)/8 > uint64(len(b)) {
		return 0, errData
	}
	var x uint64
	for got := uint(0); got < width; at++ {
		x |= uint64(b[at]) >> shift << got
		got += 8 - shift
		shift = 0
	}
	return x & (^uint64(0) >> (64 - width)), nil
}

// appendRuns encodes values of at most width bits as the hybrid that runs reads.
func appendRuns(b []byte, v []uint32, width uint) []byte {
	same := func(i int) int {
		j := i + 1
		for j < len(v) && v[j] == v[i] {
			j++
		}
		return j - i
	}
	for i := 0; i < len(v); {
		if n := same(i); n >= 8 || i+n == len(v) {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			for k := uint(0); k < width; k += 8 {
				b = append(b, byte(v[i]>>k))
			}
			i += n
			continue
		}
		// Groups of eight, up to a repeated value or the end.
		end := i
		for end < len(v) {
			if end > i && same(end) >= 8 {
				break
			}
			end += 8
		}
		groups := (end - i) / 8
		b = binary.AppendUvarint(b, uint64(groups)<<1|1)
		var acc uint64
		var have uint
		for k := i; k < end; k++ {
			if k < len(v) {
				acc |= uint64(v[k]) << have
			}
			for have += width; have >= 8; have -= 8 {
				b = append(b, byte(acc))
				acc >>= 8
			}
		}
		i = min(end, len(v))
	}
	return b
}

// bitsFor is the number of bits of the numbers 0 … most.
func bitsFor(most int) uint { return uint(bits.Len(uint(most))) }
