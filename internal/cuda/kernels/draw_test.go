package kernels_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/testing/onelane"
)

// TestLot: with the same random number more weight is never a smaller lot. This holds also
// where weights have as many bits as numbers. Of two with weights 1 : 3 the second wins three
// times of four.
func TestLot(t *testing.T) {
	onelane.Skip(t)
	got := strings.Fields(onelane.Run(t, `#include <cstdio>
#include <initializer_list>
#include "base/draw.cuh"
int main() {
  u32 fewer = 0, lost = 0, won = 0;
  const u32 draws = 40000;
  for (u32 i = 0; i < draws; i++) {
    u32 x = i ? i == 1 ? ~0u : mix(i) : ~0u - 1, before = 0;
    for (u32 b = 0; b < 64; b++) {
      u32 l = lot((u64)1 << b, x);
      fewer += l < before;
      before = l;
    }
    for (u64 n : {(u64)65535 * 65535 * 4096, (u64)65536 * 65536 * 4096, ~(u64)0})
      lost += lot(n, x) <= lot(1000, x);
    won += lot(3000, mix(2 * i + 1)) > lot(1000, mix(2 * i));
  }
  printf("%u %u %d\n", fewer, lost, won > draws * 73 / 100 && won < draws * 77 / 100);
}
`))
	if strings.Join(got, " ") != "0 0 1" {
		t.Errorf("lots that fell with the weight, that lost to small weights, and whether chances are right: %v, want 0 0 1", got)
	}
}
