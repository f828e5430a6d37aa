package parquet

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// packed encodes numbers as DELTA_BINARY_PACKED, in one part a block.
func packed(numbers []int64) []byte {
	const block = 128
	b := binary.AppendUvarint(nil, block)
	b = binary.AppendUvarint(b, 1)
	b = binary.AppendUvarint(b, uint64(len(numbers)))
	b = binary.AppendVarint(b, numbers[0])
	for at := 1; at < len(numbers); at += block {
		deltas := make([]int64, block)
		least, most := int64(0), int64(0)
		for i := range min(block, len(numbers)-at) {
			deltas[i] = numbers[at+i] - numbers[at+i-1]
			least, most = min(least, deltas[i]), max(most, deltas[i])
		}
		width := bitsFor(int(most - least))
		b = binary.AppendVarint(b, least)
		b = append(b, byte(width))
		bits := make([]byte, block*width/8)
		for i, d := range deltas {
			for k := range width {
				bit := uint(i)*width + k
				bits[bit/8] |= byte(uint64(d-least)>>k&1) << (bit % 8)
			}
		}
		b = append(b, bits...)
	}
	return b
}

// TestRepeatedText: a page that says a long text once and repeats it is read, up to an
// amount of memory.
func TestRepeatedText(t *testing.T) {
	const size = 64 << 10
	long := bytes.Repeat([]byte("x"), size)
	page := func(values int) []byte {
		common, ends := make([]int64, values), make([]int64, values)
		ends[0] = size
		for i := 1; i < values; i++ {
			common[i] = size - 1
			ends[i] = 1
		}
		b := append(packed(common), packed(ends)...)
		return append(append(b, long...), bytes.Repeat([]byte("y"), values-1)...)
	}
	for _, c := range []struct {
		values int
		err    string
	}{{100, ""}, {8192, "repeat more than 256 MiB"}} {
		in := page(c.values)
		d, err := newPrefixes(in)
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]byte, c.values)
		switch err := d.next(got); {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%d values from %d bytes: %v", c.values, len(in), err)
			}
		case err != nil:
			t.Error(err)
		case !bytes.Equal(got[0], long) || len(got[99]) != size || got[99][size-1] != 'y' || !bytes.Equal(got[99][:size-1], long[:size-1]):
			t.Errorf("another text: %d bytes, %q …", len(got[99]), got[99][:3])
		}
	}
}
