package gen

// rmat is the recursive matrix model of Chakrabarti, Zhan and Faloutsos (SDM 2004) with a =
// .45, b = c = .22, d = .11. A bijection scrambles the ids, so that the hubs are spread.
var rmat = model{
	uses: "Scale M",
	check: func(s *Spec) error {
		if s.Scale < 1 || s.Scale > 31 {
			return bad("rmat: scale %d: want 1 … 31", s.Scale)
		}
		if s.M == 0 || s.M >= 1<<60 {
			return bad("rmat: %d draws: want 1 … 2^60", s.M)
		}
		return nil
	},
	size:  func(s *Spec) (uint64, uint64) { return 1 << s.Scale, s.M },
	edges: func(s *Spec) uint64 { return s.M },
	grain: 1 << 16,
	make: func(s *Spec, lo, hi uint64, emit func(u, v uint64)) {
		const a, b, c = 29491, 43909, 58327 // .45, .67, .89 of 65536
		seed := mix(s.Seed)
		for e := lo; e < hi; e++ {
			var x, y uint32
			var bits uint64
			for l := range s.Scale {
				if l%4 == 0 {
					bits = mix(seed ^ (e*8 + uint64(l/4)))
				}
				q := uint32(bits & 0xffff)
				bits >>= 16
				// The quadrant without branches: they would be mispredicted.
				ga, gb, gc := (a-1-q)>>31, (b-1-q)>>31, (c-1-q)>>31
				x = x<<1 | gb
				y = y<<1 | (ga ^ gb | gc)
			}
			emit(uint64(scramble(x, s.Scale)), uint64(scramble(y, s.Scale)))
		}
	},
}

// scramble is a bijection on 0 … 2^scale-1.
func scramble(v uint32, scale int) uint32 {
	mask := uint32(1)<<scale - 1
	v = (v*0x9E3779B1 + 0x7F4A7C15) & mask
	v ^= v >> (scale / 2)
	v = v * 0x85EBCA6B & mask
	v ^= v >> (scale/2 + 1)
	return v * 0xC2B2AE35 & mask
}
