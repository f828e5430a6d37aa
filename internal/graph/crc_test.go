package graph

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// TestChecksums: a checksum in pieces is the checksum.
func TestChecksums(t *testing.T) {
	b := make([]byte, 3*crcPiece+4711)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	parts := [][]byte{b, nil, b[:1], b[:crcPiece], b[7 : crcPiece+8], make([]byte, 2*crcPiece+1)}
	for _, threads := range []int{1, 3} {
		sums, err := checksums(context.Background(), threads, parts)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range parts {
			if want := crc32.Checksum(p, castagnoli); sums[i] != want {
				t.Errorf("%d bytes: %#x, want %#x", len(p), sums[i], want)
			}
		}
	}
	for range 1000 {
		p := b[:r.IntN(200)]
		cut := r.IntN(len(p) + 1)
		whole := crc32.Checksum(p, castagnoli)
		if got := joinCRC(crc32.Checksum(p[:cut], castagnoli), crc32.Checksum(p[cut:], castagnoli), uint64(len(p)-cut)); got != whole {
			t.Fatalf("%d and %d bytes: %#x, want %#x", cut, len(p)-cut, got, whole)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := checksums(ctx, 2, parts); err == nil {
		t.Error("no error of a context that has ended")
	}
}
