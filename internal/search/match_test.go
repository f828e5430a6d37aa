package search

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/format"
)

// TestEdgeTimes: a time is as far from 1970 as the graph's unit says, and a number where the
// graph does not say it or the time is too far.
func TestEdgeTimes(t *testing.T) {
	for _, c := range []struct {
		unit   int64
		digits int
		t      int64
		want   any
	}{
		{0, 0, 5, int64(5)},
		{0, 3, 5, int64(5)},
		{1e9, 0, 5, time.Unix(5, 0)},
		{1e6, 0, -1, time.Unix(-1, 999e6)},
		{1, 0, math.MinInt64, time.Unix(0, math.MinInt64)},
		{24 * 3600e9, 0, 2, time.Unix(2*24*3600, 0)},
		{1e9, 3, 1500, time.Unix(1, 5e8)},
		{1e9, 9, -1500000000, time.Unix(-2, 5e8)},
		{1e9, 18, 5, int64(5)},
		{24 * 3600e9, 0, math.MaxInt64, int64(math.MaxInt64)},
		{24 * 3600e9, 0, math.MinInt64, int64(math.MinInt64)},
	} {
		g, err := format.ReadFrom(t.Context(), strings.NewReader("src,dst,time\n1,2,0\n"), "g.csv", format.ReadOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		g.Read.TimeUnit, g.Read.TimeDigits, g.Read.TimeEpoch = c.unit, c.digits, c.unit > 0
		g.Edges.Time[0] = c.t
		got := newEdgeReader(g).read(0).Time
		want, isTime := c.want.(time.Time)
		if x, ok := got.(time.Time); ok != isTime || ok && !x.Equal(want) || !ok && got != c.want {
			t.Errorf("%d in units of %d ns / 10^%d: %v, want %v", c.t, c.unit, c.digits, got, c.want)
		}
	}
}
