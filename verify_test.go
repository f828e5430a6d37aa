package weft

import (
	"context"
	"testing"
	"time"
)

// TestVerifyCompares: Verify does not claim to have compared a count that it compared with no other.
func TestVerifyCompares(t *testing.T) {
	g := clique(t, 6)
	for budget, compared := range map[time.Duration]int{time.Nanosecond: 0, time.Hour: 5} {
		v, err := g.Verify(context.Background(), named(t, "diamond"), budget)
		if err != nil {
			t.Fatal(err)
		}
		if v.Compared != compared || !v.OK || !v.Steps[0].Reference {
			t.Errorf("%s: %d compared, want %d: %+v", budget, v.Compared, compared, v.Steps)
		}
	}
}
