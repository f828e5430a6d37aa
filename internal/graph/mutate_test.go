package graph

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestMutatedFiles is a short FuzzOpen that runs with the other tests. A few bytes of a file
// change, and checksums are set right. Opening must end in an error or in a graph that can be
// used.
func TestMutatedFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	files := [][]byte{fileBytes(t, sample(t)), fileBytes(t, FromEdges(5, [][2]uint32{{0, 1}, {1, 2}, {3, 1}}, true))}
	for i := range 6000 {
		b := slices.Clone(files[i%len(files)])
		for range 1 + r.IntN(3) {
			at := r.IntN(len(b))
			switch r.IntN(3) {
			case 0:
				b[at] ^= 1 << r.IntN(8)
			case 1:
				b[at] = byte(r.Uint32())
			default:
				for j := at; j < min(at+4, len(b)); j++ {
					b[j] = 0xff * byte(r.IntN(2))
				}
			}
		}
		if IsFile(b) {
			repair(b)
		}
		start := time.Now()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		g, err := openBytes(b)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(100*len(b)) {
			t.Fatalf("file %d of %d bytes: opening it took %d bytes", i, len(b), n)
		}
		if err == nil {
			g.Any()
			g.Stats()
			if _, _, _, err := g.Components(context.Background(), 2); err != nil {
				t.Fatal(err)
			}
			fileBytes(t, g)
		}
		if d := time.Since(start); d > 3*time.Minute {
			t.Fatalf("file %d took %v", i, d)
		}
	}
}
