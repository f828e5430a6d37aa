package format

import (
	"math/bits"
	"strconv"
)

// pow10 are the powers of ten that fit in 64 bits.
var pow10 = [20]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// digits8 reads the decimal digits at the start of eight bytes: how many there
// are, and their value. It has no branches (D. Lemire's fast_float uses the
// same three multiplications for eight digits).
func digits8(w uint64) (v uint64, n uint) {
	w ^= 0x3030303030303030
	// A byte above 9 sets its high bit; a carry out of it only touches bytes
	// after it, and the first one is all that matters.
	over := ((w + 0x7676767676767676) | w) & 0x8080808080808080
	n = uint(bits.TrailingZeros64(over)) >> 3 // 8 when all are digits
	w <<= (8 - n) * 8                         // leading zeros; a shift by 64 gives 0
	w = (w*10 + w>>8) & 0x00ff00ff00ff00ff
	w = (w*100 + w>>16) & 0x0000ffff0000ffff
	w = (w*10000 + w>>32) & 0xffffffff
	return w, n
}

// parseLong goes on after eight digits.
func parseLong(b []byte, i int, v uint64) (uint64, int, bool) {
	d := 8
	if v == 0 {
		d = 0
	}
	ok := true
	for {
		c := b[i] - '0'
		if c > 9 {
			return v, i, ok && v < 1<<63
		}
		if v > 0 || c > 0 {
			d++
		}
		if d > 19 {
			ok = false
		} else {
			v = v*10 + uint64(c)
		}
		i++
	}
}

// isInt reports whether b is -?[0-9]+.
func isInt(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	if len(b) == 0 {
		return false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// parseFixed reads a decimal number as an integer of units 10^-scale. digits
// is how many digits after the point it would need: more than scale means that
// the value does not fit exactly (fits is false then).
func parseFixed(b []byte, scale int) (v int64, digits int, err error) {
	i, neg := 0, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		i++
	}
	var u uint64
	seen, frac, point := 0, 0, false
	zeros := 0 // zeros after the point that may be trailing
	add := func(c uint64) bool {
		if u > (1<<63-1)/10 {
			return false
		}
		u = u*10 + c
		return u < 1<<63
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen++
		if point {
			if c == '0' {
				zeros++
				continue
			}
			for ; zeros > 0; zeros-- {
				frac++
				if !add(0) {
					return 0, 0, ErrOverflow
				}
			}
			frac++
		}
		if !add(uint64(c - '0')) {
			return 0, 0, ErrOverflow
		}
	}
	exp := 0
	if seen > 0 && i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		j, eneg := i+1, false
		if j < len(b) && (b[j] == '-' || b[j] == '+') {
			eneg = b[j] == '-'
			j++
		}
		if j == len(b) {
			return 0, 0, ErrNumber
		}
		for ; j < len(b); j++ {
			c := b[j] - '0'
			if c > 9 {
				return 0, 0, ErrNumber
			}
			if exp = exp*10 + int(c); exp > 1000 {
				return 0, 0, ErrOverflow
			}
		}
		if eneg {
			exp = -exp
		}
		i = len(b)
	}
	if seen == 0 || i < len(b) {
		return 0, 0, ErrNumber
	}
	frac -= exp
	for frac > 0 && u%10 == 0 && u > 0 { // 1500e-3
		u /= 10
		frac--
	}
	if u == 0 {
		return 0, 0, nil
	}
	digits = max(frac, 0)
	if digits > scale {
		return 0, digits, nil
	}
	if shift := scale - frac; shift > 0 {
		if shift >= len(pow10) {
			return 0, 0, ErrOverflow
		}
		hi, lo := bits.Mul64(u, pow10[shift])
		if hi != 0 || lo >= 1<<63 {
			return 0, 0, ErrOverflow
		}
		u = lo
	}
	if neg {
		return -int64(u), digits, nil
	}
	return int64(u), digits, nil
}

func appendUint(b []byte, x uint64) []byte { return strconv.AppendUint(b, x, 10) }
