package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/pierrec/lz4/v4"
)

// zstdTable is an edge table in an Arrow file or stream that is compressed by zstd, whose
// frames have checksums.
func zstdTable(t *testing.T, file bool) []byte {
	t.Helper()
	src, dst := array.NewInt64Builder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	label := array.NewDictionaryBuilder(memory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	for i := range 3000 {
		src.Append(int64(i * i % 997))
		dst.Append(int64(1000 + i%991))
		if err := label.AppendString(fmt.Sprint("label ", i%37)); err != nil {
			t.Fatal(err)
		}
	}
	columns := []arrow.Array{src.NewArray(), dst.NewArray(), label.NewArray()}
	schema := arrow.NewSchema([]arrow.Field{{Name: "src", Type: arrow.PrimitiveTypes.Int64}, {Name: "dst", Type: arrow.PrimitiveTypes.Int64}, {Name: "label", Type: columns[2].DataType()}}, nil)
	record := array.NewRecordBatch(schema, columns, 3000)
	var b bytes.Buffer
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(&b, ipc.WithSchema(schema), ipc.WithZstd())
	if file {
		var err error
		if w, err = ipc.NewFileWriter(&b, ipc.WithSchema(schema), ipc.WithZstd()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestArrowFrames: a bit that is another in a compressed buffer is an error, or changes
// nothing that was read.
func TestArrowFrames(t *testing.T) {
	for _, file := range []bool{true, false} {
		table := zstdTable(t, file)
		name := map[bool]string{true: "t.arrow", false: "t.arrows"}[file]
		open := func(data []byte) (string, error) {
			g, err := Read(context.Background(), put(t, name, data), ReadOptions{Format: "arrow"}, nil)
			if err != nil {
				return "", err
			}
			defer g.Close()
			var b strings.Builder
			path := put(t, "out.csv", nil)
			if err := Write(context.Background(), path, g, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			out, err := os.ReadFile(path)
			b.Write(out)
			return b.String(), err
		}
		want, err := open(table)
		if err != nil {
			t.Fatal(err)
		}
		wrong, refused := 0, 0
		for at := 0; at < len(table); at += 1 + len(table)/150 {
			damaged := bytes.Clone(table)
			damaged[at] ^= 1 << (at % 8)
			switch got, err := open(damaged); {
			case err != nil:
				refused++
			case got != want:
				wrong++
			}
		}
		// Bytes that no checksum covers are few: names in the schema, the footer.
		if wrong > 3 || refused < 80 {
			t.Errorf("file %v, %d bytes: %d refused, %d read as something else", file, len(table), refused, wrong)
		}
	}
}

// TestLZ4Frames: frames with checksums are checked, and frames without are left alone.
func TestLZ4Frames(t *testing.T) {
	for _, checksum := range []bool{true, false} {
		var b bytes.Buffer
		w := lz4.NewWriter(&b)
		if err := w.Apply(lz4.ChecksumOption(checksum)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat([]byte("abcdefg, and so on. "), 100)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		frame := b.Bytes()
		if err := checkFrame(codecLZ4, frame, 2000); err != nil {
			t.Error(err)
		}
		if err := checkFrame(codecLZ4, frame, 1<<40); err == nil {
			t.Error("2000 bytes are taken for 2^40")
		}
		frame[20] ^= 1
		if err := checkFrame(codecLZ4, frame, 2000); (err != nil) != checksum {
			t.Errorf("checksum %v: %v", checksum, err)
		}
	}
}

// TestBuffersOutside: a buffer that ends behind its batch is an error, whether it begins
// in the batch or not.
func TestBuffersOutside(t *testing.T) {
	table := zstdTable(t, false)
	read := func(data []byte) error {
		_, err := Read(t.Context(), put(t, "t.arrows", data), ReadOptions{Format: "arrow"}, nil)
		return err
	}
	if err := read(table); err != nil {
		t.Fatal(err)
	}
	// Each message is four bytes, its length, and the metadata, whose buffers are pairs
	// of numbers.
	changed := 0
	for at := 0; at+8 <= len(table) && binary.LittleEndian.Uint32(table[at:]) == 0xffffffff; {
		n := int(binary.LittleEndian.Uint32(table[at+4:]))
		meta := table[at+8 : at+8+n]
		body, _, buffers := batchBuffers(meta)
		for i, b := range buffers {
			place := bytes.LastIndex(meta, le(b[0], b[1]))
			if b[1] == 0 || place < 0 {
				continue
			}
			for _, bad := range [][2]int64{{body - b[1] + 1, b[1]}, {0, body + 1}, {-1, b[1]}, {b[0], -1}, {1 << 62, b[1]}} {
				damaged := bytes.Clone(table)
				copy(damaged[at+8+place:], le(bad[0], bad[1]))
				want := fmt.Sprintf("buffer %d of a batch stands outside it", i+1)
				if err := read(damaged); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("buffer %d at %v of %d bytes: %v", i+1, bad, body, err)
				}
				changed++
			}
		}
		at += 8 + n + int(max(body, 0))
	}
	if changed < 10 {
		t.Errorf("%d buffers were changed", changed)
	}
}

// TestFlatSlots: a slot is empty if it lies behind the table of slots, or is 0 in it.
func TestFlatSlots(t *testing.T) {
	f := &flat{b: le(uint32(12), uint16(8), uint16(8), uint16(0), uint16(4), int32(8), uint32(4), uint32(99)), left: 1}
	for slot, want := range []int64{0, 16, 0} {
		if got := f.inline(12, int64(slot)); got != want {
			t.Errorf("slot %d is at %d, want %d", slot, got, want)
		}
	}
	if got := f.slot(12, 1); got != 20 {
		t.Errorf("slot 1 points to %d, want 20", got)
	}
	if got := f.slot(12, 0); got != 0 {
		t.Errorf("slot 0 points to %d", got)
	}
}
