package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/dsnet/compress/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

var errSize = errors.New("a page has another size than its header says")

var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(1<<31), zstd.WithDecodeAllCapLimit(true))
})

// decompress returns the raw bytes of a page, whose number its header gives.
func decompress(codec int32, b []byte, raw int) ([]byte, error) {
	var out []byte
	var err error
	switch codec {
	case codecUncompressed:
		out = b
	case codecSnappy:
		var n int
		// Snappy makes less than 32 bytes of one.
		if n, err = snappy.DecodedLen(b); err == nil && (n != raw || raw/32 > len(b)) {
			err = errSize
		}
		if err == nil {
			out, err = snappy.Decode(nil, b)
		}
	case codecGzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			out, err = readSome(r, raw)
		}
	case codecBrotli:
		var r *brotli.Reader
		if r, err = brotli.NewReader(bytes.NewReader(b), nil); err == nil {
			out, err = readSome(r, raw)
		}
	case codecZstd:
		// A block of four bytes makes at most 128 KiB.
		if raw>>15 > len(b) {
			return nil, errSize
		}
		var d *zstd.Decoder
		if d, err = zstdDecoder(); err == nil {
			out, err = d.DecodeAll(b, make([]byte, 0, raw)) // and no more than fits
		}
	case codecLZ4Raw:
		// LZ4 makes at most 255 bytes of one.
		if raw/255 > len(b) {
			return nil, errSize
		}
		out = make([]byte, raw)
		var n int
		n, err = lz4.UncompressBlock(b, out)
		out = out[:max(n, 0)]
	default:
		names := map[int32]string{3: "LZO", 5: "LZ4 with Hadoop's frames"}
		name := names[codec]
		if name == "" {
			name = fmt.Sprintf("number %d", codec)
		}
		return nil, fmt.Errorf("compression by %s is not supported; snappy, gzip, brotli, zstd and LZ4_RAW are", name)
	}
	if err != nil {
		return nil, fmt.Errorf("decompression: %v", err)
	}
	if len(out) != raw {
		return nil, errSize
	}
	return out, nil
}

// readSome reads r to its end, but at most n+1 bytes.
func readSome(r io.Reader, n int) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, int64(n)+1))
}
