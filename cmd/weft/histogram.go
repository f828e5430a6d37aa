package main

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// histogram counts times in buckets, so that its size does not depend on their number. The relative error of a quantile is at most 1/256.
// The zero value is ready. Safe for concurrent use.
type histogram struct {
	counts [(64 - histogramBits) << histogramBits]atomic.Uint64
}

// histogramBits is the number of bits below its highest one that a bucket keeps of a time.
const histogramBits = 7

// bucket is the bucket of a time, which must not be negative. Times of few nanoseconds have one each.
func bucket(d time.Duration) int {
	n := uint64(d)
	shift := max(bits.Len64(n)-histogramBits-1, 0)
	return shift<<histogramBits + int(n>>shift)
}

// middle is the time in the middle of a bucket.
func middle(bucket int) time.Duration {
	shift := max(bucket>>histogramBits-1, 0)
	return time.Duration(uint64(bucket-shift<<histogramBits)<<shift + (1<<shift)/2)
}

// add counts a time.
func (h *histogram) add(d time.Duration) { h.counts[bucket(max(d, 0))].Add(1) }

// total is the number of times.
func (h *histogram) total() (n uint64) {
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

// quantile is the time below which a share of all times lies; 0 without any.
func (h *histogram) quantile(share float64) time.Duration {
	n := h.total()
	rank, below := min(uint64(share*float64(n)), max(n, 1)-1), uint64(0)
	for i := range h.counts {
		if below += h.counts[i].Load(); below > rank {
			return middle(i)
		}
	}
	return 0
}
