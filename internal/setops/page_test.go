//go:build linux

package setops

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// fencedPage returns one page of memory between two that may not be touched:
// any read or write outside a slice at its start or end kills the test.
func fencedPage(t *testing.T) []byte {
	t.Helper()
	size := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 3*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(mem) })
	for _, fence := range [][]byte{mem[:size], mem[2*size:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return mem[size : 2*size : 2*size]
}

// atEnd copies s to the very end of the page, atStart to its start.
func atEnd[T uint32 | uint64](page []byte, s []T) []T {
	var z T
	return place(page, len(page)-len(s)*int(unsafe.Sizeof(z)), s)
}

func atStart[T uint32 | uint64](page []byte, s []T) []T { return place(page, 0, s) }

func place[T uint32 | uint64](page []byte, off int, s []T) []T {
	if len(s) == 0 {
		return nil
	}
	out := unsafe.Slice((*T)(unsafe.Pointer(&page[off])), len(s))
	copy(out, s)
	return out
}

func TestNoAccessOutsideLists(t *testing.T) {
	pa, pb, pd := fencedPage(t), fencedPage(t), fencedPage(t)
	eachLevel(t, func(t *testing.T) {
		seed := uint64(5)
		for la := range 70 {
			for _, lb := range []int{0, 1, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 70, 300, 1000} {
				for _, base := range []uint64{0, 1<<32 - 2000} {
					a, b := pick(&seed, la, base, uint64(2*max(la, lb))), pick(&seed, lb, base, uint64(2*max(la, lb)))
					for _, put := range []func([]byte, []uint32) []uint32{atEnd[uint32], atStart[uint32]} {
						fresh := func() ([]uint32, []uint32) { return put(pa, a), put(pb, b) }
						ma, mb := fresh()
						n := IntersectCount(ma, mb)
						if m := IntersectCount(mb, ma); m != n {
							t.Fatalf("%d and %d common values", n, m)
						}
						if m := Intersect(put(pd, make([]uint32, min(la, lb))), ma, mb); m != n {
							t.Fatalf("Intersect %d, want %d", m, n)
						}
						if m := Intersect(put(pd, make([]uint32, min(la, lb))), mb, ma); m != n {
							t.Fatalf("Intersect %d, want %d", m, n)
						}
						if m := Difference(put(pd, make([]uint32, la)), ma, mb); m != la-n {
							t.Fatalf("Difference %d, want %d", m, la-n)
						}
						if m := Difference(put(pd, make([]uint32, lb)), mb, ma); m != lb-n {
							t.Fatalf("Difference %d, want %d", m, lb-n)
						}
						for _, op := range []struct {
							f    func(dst, a, b []uint32) int
							over int
							want int
						}{{Intersect, 0, n}, {Intersect, 1, n}, {Difference, 0, la - n}} {
							ma, mb := fresh()
							dst := ma
							if op.over == 1 {
								dst = mb
							}
							if m := op.f(dst, ma, mb); m != op.want {
								t.Fatalf("in place %d, want %d", m, op.want)
							}
						}
					}
				}
			}
		}
	})
}

// TestNoAccessOutsideUnsorted gives lists that break the rules: the answers mean
// nothing then, but memory outside must still be left alone.
func TestNoAccessOutsideUnsorted(t *testing.T) {
	pa, pb, pd := fencedPage(t), fencedPage(t), fencedPage(t)
	eachLevel(t, func(t *testing.T) {
		seed := uint64(11)
		noise := func(n int) []uint32 {
			s := make([]uint32, n)
			for i := range s {
				seed = seed*6364136223846793005 + 1442695040888963407
				s[i] = uint32(seed>>60) * 0x11111111
			}
			return s
		}
		for range 3000 {
			seed = seed*6364136223846793005 + 1442695040888963407
			la, lb := int(seed>>40%80), int(seed>>20%1000)
			if seed>>62 != 0 {
				lb %= 80
			}
			for _, put := range []func([]byte, []uint32) []uint32{atEnd[uint32], atStart[uint32]} {
				a, b := put(pa, noise(la)), put(pb, noise(lb))
				func() {
					defer func() { _ = recover() }() // a panic is allowed
					IntersectCount(a, b)
					Intersect(put(pd, make([]uint32, min(la, lb))), a, b)
					Difference(put(pd, make([]uint32, la)), a, b)
					Difference(put(pd, make([]uint32, lb)), b, a)
					Difference(a, a, b)
				}()
			}
		}
	})
}

func TestNoAccessOutsideRows(t *testing.T) {
	pa, pb, pd := fencedPage(t), fencedPage(t), fencedPage(t)
	eachLevel(t, func(t *testing.T) {
		for n := 1; n <= 200; n++ {
			row := make([]uint64, n)
			for i := range row {
				row[i] = 0x0123456789ABCDEF
			}
			for _, put := range []func([]byte, []uint64) []uint64{atEnd[uint64], atStart[uint64]} {
				a, b, d := put(pa, row), put(pb, row), put(pd, row)
				if AndCount(a, b) != 32*n || And(d, a, b) != 32*n || AndNot(d, a, b) != 0 {
					t.Fatalf("%d words", n)
				}
			}
		}
	})
}

func TestNoAccessOutsideBitmap(t *testing.T) {
	pl, pm, pd := fencedPage(t), fencedPage(t), fencedPage(t)
	eachLevel(t, func(t *testing.T) {
		bm := atEnd(pm, make([]uint64, 3))
		for i := range bm {
			bm[i] = 0xAAAAAAAAAAAAAAAA
		}
		for n := 1; n <= 192; n++ {
			list := make([]uint32, n)
			for i := range list {
				list[i] = uint32(192 - n + i)
			}
			l := atEnd(pl, list)
			dst := atEnd(pd, list)
			c := CountBits(l, bm)
			if FilterBits(dst, l, bm) != c || FilterNotBits(dst, l, bm) != n-c {
				t.Fatalf("%d values", n)
			}
		}
	})
}
