package graph

import (
	"context"
	"hash/crc32"
)

// castagnoli is the polynomial that processors compute.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crcPiece is how many bytes one goroutine sums at a time.
const crcPiece = 4 << 20

// checksums returns the CRC-32C of each of the parts. Large parts are summed in pieces, on
// several threads.
func checksums(ctx context.Context, threads int, parts [][]byte) ([]uint32, error) {
	type piece struct{ part, at int }
	var pieces []piece
	for i, p := range parts {
		for at := 0; at < len(p); at += crcPiece {
			pieces = append(pieces, piece{i, at})
		}
	}
	sums := make([]uint32, len(pieces))
	of := func(p piece) []byte { return parts[p.part][p.at:min(p.at+crcPiece, len(parts[p.part]))] }
	err := parallel(ctx, threads, uint64(len(pieces)), 1, func(_ int, i, _ uint64) {
		sums[i] = crc32.Checksum(of(pieces[i]), castagnoli)
	})
	if err != nil {
		return nil, err
	}
	whole := make([]uint32, len(parts))
	for i, p := range pieces {
		whole[p.part] = joinCRC(whole[p.part], sums[i], uint64(len(of(p))))
	}
	return whole, nil
}

// joinCRC returns the checksum of a text whose last n bytes have the checksum last, and the
// bytes before them the checksum first. These are remainders of polynomials over GF(2): n
// more bytes multiply the first by x^(8n).
func joinCRC(first, last uint32, n uint64) uint32 {
	if first == 0 {
		return last
	}
	const one = 1 << 31 // coefficients are in reverse, that of x^0 first
	shift, power := uint32(one), uint32(one>>8)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			shift = timesCRC(shift, power)
		}
		power = timesCRC(power, power)
	}
	return timesCRC(first, shift) ^ last
}

// timesCRC returns the product of two polynomials modulo the polynomial of CRC-32C.
func timesCRC(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			product ^= b
		}
		b = b>>1 ^ crc32.Castagnoli*(b&1)
	}
	return product
}
