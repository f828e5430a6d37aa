package join

import (
	"math/rand/v2"
	"testing"
)

// TestSpillSpace: parts of a file that are in use at once do not overlap, freed ones are used again before the file grows, and nothing is
// left when all are free.
func TestSpillSpace(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var s space
		var used []extent
		var bytes [1 << 12]bool
		for len(used) > 0 || rnd.IntN(8) > 0 {
			if len(used) < 40 && rnd.IntN(2) == 0 {
				e := extent{bytes: 1 + rnd.Int64N(60)}
				run := int64(0) // of free bytes, the first that is long enough
				for at := range bytes {
					if run++; bytes[at] {
						run = 0
					}
					if run == e.bytes {
						e.at = int64(at) + 1 - run
						break
					}
				}
				if at := s.take(e.bytes); at != e.at {
					t.Fatalf("%d bytes at %d, and %d is free", e.bytes, at, e.at)
				}
				for at := e.at; at < e.at+e.bytes; at++ {
					bytes[at] = true
				}
				used = append(used, e)
			} else if len(used) > 0 {
				k := rnd.IntN(len(used))
				e := used[k]
				used[k] = used[len(used)-1]
				used = used[:len(used)-1]
				s.give(e)
				for at := e.at; at < e.at+e.bytes; at++ {
					bytes[at] = false
				}
			}
		}
		if s.end != 0 || len(s.free) > 0 {
			t.Fatalf("%+v is left", s)
		}
	}
}
