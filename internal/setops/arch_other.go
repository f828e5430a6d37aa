//go:build !amd64 || purego

package setops

// Builds without assembly: every operation is its portable version.

func supported(l level) bool { return l == levelPortable }

func mergeCount(a, b []uint32) int                { return mergeCountGo(a, b) }
func mergeIntersect(dst, a, b []uint32) int       { return mergeIntersectGo(dst, a, b) }
func mergeDifference(dst, a, b []uint32) int      { return mergeDifferenceGo(dst, a, b) }
func gallopCount(small, large []uint32) int       { return gallopCountGo(small, large) }
func gallopIntersect(dst, small, l []uint32) int  { return gallopIntersectGo(dst, small, l) }
func gallopDifference(dst, small, l []uint32) int { return gallopDifferenceGo(dst, small, l) }

func andCountLong(a, b []uint64) int    { return andCountGo(a, b) }
func andLong(dst, a, b []uint64) int    { return andGo(dst, a, b) }
func andNotLong(dst, a, b []uint64) int { return andNotGo(dst, a, b) }

func countBits(list []uint32, bm []uint64) int { return countBitsGo(list, bm) }

func filterBits(dst, list []uint32, bm []uint64, flip uint64) int {
	return filterBitsGo(dst, list, bm, flip)
}
