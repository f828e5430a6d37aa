package watch

import (
	"testing"
	"time"
)

// TestBuckets: each time is in a bucket whose bound is at most a sixteenth above it, and buckets follow each other.
func TestBuckets(t *testing.T) {
	last := -1
	for _, ns := range []uint64{0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000, 1 << 20, 1<<20 + 1, 1<<40 - 1, 1 << 62} {
		b := bucketOf(ns)
		if b < last || boundOf(b) < ns || boundOf(b)-ns > ns/16 || b > 0 && boundOf(b-1) >= ns {
			t.Errorf("%d ns: bucket %d up to %d, before it up to %d", ns, b, boundOf(b), boundOf(b-1))
		}
		last = b
	}
}

func TestQuantiles(t *testing.T) {
	var l Latency
	if l.Quantile(0.5) != 0 {
		t.Error("no updates, and a response time")
	}
	for i := range 100 {
		l.Add(time.Duration(i)*time.Millisecond, 10)
	}
	if l.Count() != 1000 {
		t.Error(l.Count())
	}
	q := l.Quantiles()
	for _, x := range []struct{ got, want float64 }{{q.P50, 50}, {q.P95, 95}, {q.P99, 99}} {
		if x.got < x.want || x.got > x.want*17/16+1e-3 {
			t.Errorf("%v ms, want about %v", x.got, x.want)
		}
	}
}

// TestPace: the rate follows the updates, and does not jump to 0 in a short pause.
func TestPace(t *testing.T) {
	start := time.Unix(1000, 0)
	p := pace{at: start}
	p.measure(start.Add(time.Second), 100)
	if p.rate != 100 {
		t.Error(p.rate)
	}
	p.measure(start.Add(1100*time.Millisecond), 100)
	if p.rate < 90 || p.rate >= 100 {
		t.Error(p.rate)
	}
	p.measure(start.Add(20*time.Second), 100)
	if p.rate > 0.01 {
		t.Error(p.rate)
	}
}
