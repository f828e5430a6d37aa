package cuda

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/memory"
)

func TestUploadDownload(t *testing.T) {
	d := open(t, newFake())
	type pair struct{ A, B uint32 }
	do(t, d, func(c *Context) error {
		b, err := c.Alloc(64)
		if err != nil {
			return err
		}
		err = errors.Join(c.Fill(b, 0xff, nil), Upload(c, b, 8, []pair{{1, 2}, {3, 4}}))
		words := make([]uint32, 8)
		if err := errors.Join(err, Download(c, words, b, 0)); err != nil {
			return err
		}
		if want := []uint32{math.MaxUint32, math.MaxUint32, 1, 2, 3, 4, math.MaxUint32, math.MaxUint32}; !slices.Equal(words, want) {
			t.Errorf("downloaded %x, not %x", words, want)
		}
		err = errors.Join(c.Copy(b, 32, b, 8, 16, nil), Download(c, words[:4], b, 32))
		if want := []uint32{1, 2, 3, 4}; !slices.Equal(words[:4], want) {
			t.Errorf("copied %x, not %x", words[:4], want)
		}
		return errors.Join(err, c.Clear(b, c.Main()), c.Free(b))
	})
	if d.InUse() != 0 {
		t.Errorf("%d bytes in use", d.InUse())
	}
}

func TestBounds(t *testing.T) {
	d := open(t, newFake())
	do(t, d, func(c *Context) error {
		b, err := c.Alloc(16)
		if err != nil {
			return err
		}
		for name, got := range map[string]error{
			"past the end":     Upload(c, b, 8, make([]uint64, 2)),
			"negative":         Upload(c, b, -1, make([]byte, 1)),
			"far":              Download(c, make([]byte, 1), b, math.MaxInt64),
			"too long":         Download(c, make([]uint32, 5), b, 0),
			"into the empty":   Upload(c, Buffer{}, 0, []byte{1}),
			"copy":             c.Copy(b, 0, b, 8, 9, nil),
			"copy before":      c.Copy(b, -1, b, 8, 1, nil),
			"negative alloc":   second(c.Alloc(-1)),
			"no pinned":        second(c.Pinned(0)),
			"free of a part":   c.Free(Buffer{b.Ptr + 8, 8}),
			"free of nothing":  c.Free(Buffer{12345, 8}),
			"free of less":     c.Free(Buffer{b.Ptr, 8}),
			"pointers":         Upload(c, b, 0, []*int{nil}),
			"strings":          Upload(c, b, 0, []string{"x"}),
			"slices in arrays": Upload(c, b, 0, [][1][]int{{nil}}),
			"pointer in field": Download(c, []struct {
				N uint32
				P unsafe.Pointer
			}{{}}, b, 0),
		} {
			if got == nil {
				t.Errorf("%s: no error", name)
			}
		}
		for name, got := range map[string]error{
			"all":            Upload(c, b, 0, make([]uint64, 2)),
			"nothing at end": Upload(c, b, 16, []byte{}),
			"empty":          Upload(c, Buffer{}, 0, []uint32(nil)),
			"no size":        Upload(c, b, 0, make([]struct{}, 3)),
			"free of empty":  c.Free(Buffer{}),
			"clear of empty": c.Clear(Buffer{}, nil),
		} {
			if got != nil {
				t.Errorf("%s: %v", name, got)
			}
		}
		return c.Free(b)
	})
}

func second[T any](_ T, err error) error { return err }

func TestPlainSaysWhere(t *testing.T) {
	d := open(t, newFake())
	do(t, d, func(c *Context) error {
		err := Upload(c, Buffer{Ptr: 1, Size: 100}, 0, []struct{ A struct{ Name string } }{{}})
		if err == nil || !strings.Contains(err.Error(), "string in field Name in field A") {
			t.Errorf("error %v", err)
		}
		return nil
	})
}

// real is a fake device that is not an emulated one.
type real struct{ *fake }

func (r real) Open() (Info, error) {
	info, err := r.fake.Open()
	info.Emulated = false
	return info, err
}

// TestLockedMemory: a driver's pinned memory counts as memory of the process until it is freed,
// or the device closed.
func TestLockedMemory(t *testing.T) {
	const size = 1 << 20
	before := memory.LockedBytes()
	counted := func(when string, pieces int64) {
		if got := memory.LockedBytes() - before; got != pieces*size {
			t.Errorf("%s: %d bytes are counted, want %d", when, got, pieces*size)
		}
	}
	d := open(t, real{newFake()})
	do(t, d, func(c *Context) error {
		p, err := c.PinnedRaw(size)
		if err != nil {
			return err
		}
		if _, err := c.PinnedRaw(size); err != nil {
			return err
		}
		counted("pinned", 2)
		if err := errors.Join(p.Free(), p.Free()); err != nil {
			return err
		}
		counted("freed", 1)
		return nil
	})
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	counted("closed", 0)
}

func TestPinned(t *testing.T) {
	d := open(t, newFake())
	do(t, d, func(c *Context) error {
		p, err := c.Pinned(64)
		if err != nil {
			return err
		}
		words, err := View[uint64](p, 8, 7)
		if err != nil {
			return err
		}
		words[0] = 258
		if b := p.Bytes(); len(b) != 64 || b[8] != 2 || b[9] != 1 {
			t.Errorf("bytes %v", b)
		}
		for name, err := range map[string]error{
			"too long":  second(View[uint64](p, 8, 8)),
			"unaligned": second(View[uint32](p, 2, 1)),
			"negative":  second(View[uint32](p, -4, 1)),
			"pointers":  second(View[*int](p, 0, 1)),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if err := errors.Join(p.Free(), p.Free()); err != nil {
			t.Error(err)
		}
		if p.Bytes() != nil || d.InUse() != 0 {
			t.Errorf("after Free: %v, %d bytes in use", p.Bytes(), d.InUse())
		}
		return nil
	})
}

func TestStreamsOfOthers(t *testing.T) {
	d, other := open(t, newFake()), open(t, newFake())
	var foreign *Stream
	var event *Event
	do(t, other, func(c *Context) (err error) {
		foreign, err = c.Stream()
		if err == nil {
			event, err = c.Event()
		}
		return err
	})
	do(t, d, func(c *Context) error {
		s, err := c.Stream()
		if err != nil {
			return err
		}
		e, err := c.Event()
		if err != nil {
			return err
		}
		b, err := c.Alloc(8)
		if err != nil {
			return err
		}
		if err := errors.Join(c.Clear(b, s), e.Record(s), e.Record(nil), s.Follow(e), e.Synchronize(), s.Synchronize(), c.Synchronize()); err != nil {
			t.Error(err)
		}
		if done, err := s.Done(); !done || err != nil {
			t.Errorf("done %v, %v", done, err)
		}
		for name, err := range map[string]error{
			"foreign stream": c.Clear(b, foreign),
			"foreign event":  s.Follow(event),
			"foreign start":  second(e.Since(event)),
			"record":         e.Record(foreign),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if err := errors.Join(s.Close(), s.Close(), e.Close(), e.Close(), c.Main().Close()); err != nil {
			t.Error(err)
		}
		if c.Clear(b, s) == nil || e.Record(nil) == nil || e.Synchronize() == nil {
			t.Error("a closed stream or event was used without error")
		}
		return c.Clear(b, c.Main())
	})
}
