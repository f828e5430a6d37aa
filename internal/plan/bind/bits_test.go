package bind

import (
	"github.com/weftgraph/weft/internal/plan"
	"testing"
)

// TestFillBitsEnds: a bitmap that is not wanted any more is left after a few of its ids.
func TestFillBitsEnds(t *testing.T) {
	over, looks := false, 0
	fillBits(bitsChunk, []plan.Range{{First: 0, End: bitsChunk}}, func() bool { return over }, func() func(uint32) bool {
		return func(uint32) bool {
			looks++
			over = true
			return true
		}
	})
	if looks > endedEvery {
		t.Errorf("%d of %d ids were looked at after the end", looks, bitsChunk)
	}
}
