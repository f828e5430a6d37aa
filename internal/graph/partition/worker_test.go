package partition

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// TestWorker: the worker refuses a graph that METIS's integers cannot count, and what is not a whole request.
func TestWorker(t *testing.T) {
	l, _, err := load()
	if err != nil {
		t.Skip(err)
	}
	triangle := &weighted{off: []uint64{0, 2, 4, 6}, adj: []uint32{1, 2, 0, 2, 0, 1}, vertex: []int64{math.MaxInt64/2 - 1, 1 << 62, 1 << 62}}
	var in bytes.Buffer
	if err := send(&in, triangle, request{3, 6, 2, 0.03}); err != nil {
		t.Fatal(err)
	}
	whole := in.Bytes()
	for _, n := range []int{0, 8, 40, len(whole) / 2} {
		if err := work(bytes.NewReader(whole[:n]), new(bytes.Buffer)); err == nil {
			t.Errorf("%d bytes of %d: no error", n, len(whole))
		}
	}
	err = work(&in, new(bytes.Buffer))
	if err == nil || !strings.Contains(err.Error(), "too large for a METIS with integers of") {
		t.Errorf("%d bits: %v", l.bits(), err)
	}
}

// TestBothReals: both readings of the bytes are close to the number.
func TestBothReals(t *testing.T) {
	for _, x := range []float64{1, 1.001, 1.03, 1.5, 11} {
		b := bothReals(x)
		if wide, narrow := math.Float64frombits(b), math.Float32frombits(uint32(b)); math.Abs(wide-x) > 1e-5 || math.Abs(float64(narrow)-x) > 1e-5 {
			t.Errorf("%v: %v and %v", x, wide, narrow)
		}
	}
}
