package dynamic

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestTableBytes: a table's memory is that of its parts, also of those that have few pages.
func TestTableBytes(t *testing.T) {
	var x table[[64]uint32]
	if n := x.bytes(); n != 0 {
		t.Errorf("an empty table has %d bytes", n)
	}
	x.need(0)
	one := x.bytes()
	x.need(1)
	if n := x.bytes() - one; n != 256 {
		t.Errorf("another page of a part takes %d bytes, want 256", n)
	}
	two, room := x.bytes(), cap(x.top)
	x.need(tablePart)
	if n, want := x.bytes()-two, uint64(256+8*tablePart+8*(cap(x.top)-room)); n != want {
		t.Errorf("the first page of another part takes %d bytes, want %d", n, want)
	}
}

// TestShortText: a file whose last text is longer than the file is damaged, also where all checksums are right.
func TestShortText(t *testing.T) {
	for _, length := range []uint64{3, fileBlock, 1 << 40} {
		var file bytes.Buffer
		w := fileWriter{w: &file, buf: make([]byte, 4)}
		w.uint(length)
		w.buf = append(w.buf, "ab"...)
		w.flush()
		w.flush() // the end
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = p.(fileError).err
				}
			}()
			r := fileReader{r: &file, room: make([]byte, fileBlock+16)}
			t.Errorf("a text of %d bytes is read as %q", length, r.text())
			return nil
		}()
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "ends too early") {
			t.Errorf("a text of %d bytes: error %v", length, err)
		}
	}
}
