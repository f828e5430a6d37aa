package session

import "math/bits"

// add adds b to a; false: the sum passes 128 bits.
func (a *Count) add(b Count) bool {
	lo, c := bits.Add64(a.Lo, b.Lo, 0)
	hi, c := bits.Add64(a.Hi, b.Hi, c)
	*a = Count{Hi: hi, Lo: lo}
	return c == 0
}
