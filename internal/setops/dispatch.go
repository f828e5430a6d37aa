package setops

// level names a family of code paths, each needing more of the CPU than the
// one before.
type level uint8

const (
	levelPortable level = iota // Go only
	levelAVX2                  // 256-bit vectors; also needs BMI2 and POPCNT
	levelAVX512                // 512-bit vectors: AVX-512 F and VPOPCNTDQ
	numLevels
)

func (l level) String() string {
	switch l {
	case levelPortable:
		return "portable"
	case levelAVX2:
		return "avx2"
	case levelAVX512:
		return "avx512"
	}
	return "unknown"
}

// active is the level in use. It is set once, at start; only tests change it, to run every
// path. Why a variable and a switch instead of function pointers: with a pointer the compiler
// could not see which function is called, and would have to assume that the slices escape to
// the heap.
var active = bestLevel(supported)

// bestLevel returns the highest level that a machine supports.
func bestLevel(supported func(level) bool) level {
	for l := numLevels - 1; l > levelPortable; l-- {
		if supported(l) {
			return l
		}
	}
	return levelPortable
}
