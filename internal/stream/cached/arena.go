package cached

import (
	"errors"
	"math/bits"

	"github.com/weftgraph/weft/internal/cuda"
)

// arena gives arrays of page-locked host memory, which kernels read over the bus. An array has a power of two words. The room of one that
// is given back is used again for others of its size.
type arena struct {
	d      *cuda.Device
	chunks []chunk
	left   []uint32 // of the last chunk
	free   [32][]array
	bytes  int64
	used   int64 // words of arrays
}

type chunk struct {
	pinned *cuda.Pinned
	words  []uint32
}

// array is a place in a chunk. Words are of 32 bits.
type array struct {
	chunk uint32
	at    uint32
	class uint8 // it has 1<<class words; 0: there is no array
}

// Sizes in words.
const (
	leastClass  = 2
	firstChunk  = 1 << 12
	largestOpen = 1 << 24 // 64 MiB
)

// class is the size of an array of n words.
func class(n int) uint8 { return uint8(max(bits.Len(uint(max(n, 1)-1)), leastClass)) }

// take returns an array that has room for n words.
func (a *arena) take(n int) (array, error) {
	c := class(n)
	if l := len(a.free[c]); l > 0 {
		x := a.free[c][l-1]
		a.free[c] = a.free[c][:l-1]
		a.used += 1 << c
		return x, nil
	}
	if len(a.left) < 1<<c {
		if err := a.grow(1 << c); err != nil {
			return array{}, err
		}
	}
	last := len(a.chunks) - 1
	x := array{uint32(last), uint32(len(a.chunks[last].words) - len(a.left)), c}
	a.left = a.left[1<<c:]
	a.used += 1 << c
	return x, nil
}

// grow opens a chunk that has room for n words. What is left of the last one becomes small arrays.
func (a *arena) grow(n int) error {
	for len(a.left) >= 1<<leastClass {
		c := uint8(bits.Len(uint(len(a.left))) - 1)
		last := len(a.chunks) - 1
		a.free[c] = append(a.free[c], array{uint32(last), uint32(len(a.chunks[last].words) - len(a.left)), c})
		a.left = a.left[1<<c:]
	}
	size := max(n, min(firstChunk<<min(len(a.chunks), 16), largestOpen))
	p, words, err := pin[uint32](a.d, size)
	if err != nil {
		return err
	}
	a.chunks = append(a.chunks, chunk{p, words})
	a.left = words
	a.bytes += int64(size) * 4
	return nil
}

// give takes an array back.
func (a *arena) give(x array) {
	if x.class != 0 {
		a.free[x.class] = append(a.free[x.class], x)
		a.used -= 1 << x.class
	}
}

// words is the memory of an array, and ptr its address on the device.
func (a *arena) words(x array) []uint32 {
	if x.class == 0 {
		return nil
	}
	return a.chunks[x.chunk].words[x.at : x.at+1<<x.class]
}

func (a *arena) ptr(x array) uint64 {
	if x.class == 0 {
		return 0
	}
	return a.chunks[x.chunk].pinned.Ptr() + 4*uint64(x.at)
}

func (a *arena) close() error {
	var errs []error
	for _, c := range a.chunks {
		errs = append(errs, unpin(a.d, c.pinned))
	}
	*a = arena{d: a.d}
	return errors.Join(errs...)
}

// pin takes page-locked memory for n values.
func pin[T any](d *cuda.Device, n int) (p *cuda.Pinned, values []T, err error) {
	var zero T
	err = d.Do(func(c *cuda.Context) error {
		if p, err = c.Pinned(int64(n) * size(zero)); err != nil {
			return err
		}
		values, err = cuda.View[T](p, 0, n)
		return err
	})
	return p, values, err
}

// unpin gives page-locked memory back.
func unpin(d *cuda.Device, p *cuda.Pinned) error {
	return d.Do(func(*cuda.Context) error { return p.Free() })
}
