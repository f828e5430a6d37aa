package watch

import (
	"math/bits"
	"time"
)

// Latency counts response times in buckets whose bounds are at most 1/16 apart. The zero value is empty.
type Latency struct {
	buckets [64 * perPower]uint64
	n       uint64
}

const perPower = 16 // buckets between a power of two and the next

// bucketOf returns the bucket of a time in nanoseconds.
func bucketOf(ns uint64) int {
	if ns < perPower {
		return int(ns)
	}
	shift := bits.Len64(ns) - 5
	return shift*perPower + int(ns>>shift)
}

// boundOf returns the largest time of a bucket.
func boundOf(bucket int) uint64 {
	if bucket < 2*perPower {
		return uint64(bucket)
	}
	shift := bucket/perPower - 1
	return (uint64(bucket%perPower+perPower)+1)<<shift - 1
}

// Add counts n updates that took d each.
func (l *Latency) Add(d time.Duration, n uint64) {
	l.buckets[bucketOf(uint64(max(d, 0)))] += n
	l.n += n
}

// Merge adds the times of x.
func (l *Latency) Merge(x *Latency) {
	for i, n := range x.buckets {
		l.buckets[i] += n
	}
	l.n += x.n
}

// Count returns the number of updates.
func (l *Latency) Count() uint64 { return l.n }

// Quantile returns a bound of the response times of a share q of the updates, at most 1/16 too large. It is 0 without updates.
func (l *Latency) Quantile(q float64) time.Duration {
	if l.n == 0 {
		return 0
	}
	left := uint64(q * float64(l.n))
	for i, n := range l.buckets {
		if n > left {
			return time.Duration(boundOf(i))
		}
		left -= n
	}
	return time.Duration(boundOf(len(l.buckets) - 1))
}

// Quantiles are response times in milliseconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// Quantiles returns the usual quantiles.
func (l *Latency) Quantiles() Quantiles {
	ms := func(q float64) float64 { return float64(l.Quantile(q)) / 1e6 }
	return Quantiles{ms(0.5), ms(0.95), ms(0.99)}
}
