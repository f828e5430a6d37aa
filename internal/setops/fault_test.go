//go:build linux

package setops

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// TestFaults: where a list or a row is a mapped file that became shorter, every operation
// is a panic that can be recovered, with the address, and the goroutine goes on.
func TestFaults(t *testing.T) {
	page := os.Getpagesize()
	name := filepath.Join(t.TempDir(), "list")
	n := 2 * page / 4
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(2 * i)
	}
	if err := os.WriteFile(name, unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), 2*page), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := syscall.Mmap(int(f.Fd()), 0, 2*page, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(mem)
	list := unsafe.Slice((*uint32)(unsafe.Pointer(&mem[0])), n)
	row := unsafe.Slice((*uint64)(unsafe.Pointer(&mem[0])), n/2)
	if IntersectCount(list, all) != n {
		t.Fatal("the list is not what was written")
	}
	if err := os.Truncate(name, int64(page)); err != nil {
		t.Fatal(err)
	}
	few := []uint32{4, 8, uint32(2*n - 4)} // so that lists are searched and not merged
	gone := list[n/2+3:]
	dst, bits := make([]uint32, n), NewBitmap(2*n)
	words := make([]uint64, n/2)
	for what, op := range map[string]func(){
		"IntersectCount":        func() { IntersectCount(list, all) },
		"IntersectCount turned": func() { IntersectCount(all, list) },
		"IntersectCount of few": func() { IntersectCount(few, list) },
		"Intersect":             func() { Intersect(dst, list, all) },
		"Intersect turned":      func() { Intersect(dst, all, list) },
		"Intersect of few":      func() { Intersect(dst, few, list) },
		"Difference":            func() { Difference(dst, list, all) },
		"Difference turned":     func() { Difference(dst, all, list) },
		"Difference of few":     func() { Difference(dst, few, list) },
		"Difference from few":   func() { Difference(dst, list, few) },
		"LowerBound":            func() { LowerBound(gone, uint32(2*n-4)) },
		"Contains":              func() { Contains(gone, uint32(2*n-4)) },
		"CountBits of the list": func() { CountBits(list, bits) },
		"CountBits of the row":  func() { CountBits([]uint32{1, uint32(32*n - 64)}, row) },
		"FilterBits":            func() { FilterBits(dst, list, bits) },
		"FilterNotBits":         func() { FilterNotBits(dst, list, bits) },
		"SetAll":                func() { SetAll(bits, list) },
		"ClearAll":              func() { ClearAll(bits, list) },
		"AndCount":              func() { AndCount(row, words) },
		"AndCount turned":       func() { AndCount(words, row) },
		"And":                   func() { And(words, row, words) },
		"AndNot":                func() { AndNot(words, words, row) },
	} {
		eachLevel(t, func(t *testing.T) {
			for range 20 {
				x := recovered(op)
				fault, ok := x.(interface {
					runtime.Error
					Addr() uintptr
				})
				if !ok {
					t.Fatalf("%s: recovered %v", what, x)
				}
				if at := fault.Addr() - uintptr(unsafe.Pointer(&mem[0])); at < uintptr(page) || at >= uintptr(2*page) {
					t.Errorf("%s: a fault at byte %d of %d", what, int(at), 2*page)
				}
				if got := IntersectCount(all, all[:n/2]); got != n/2 {
					t.Fatalf("%s: %d common values after it, want %d", what, got, n/2)
				}
			}
			runtime.GC()
		})
	}
}

// recovered calls f and returns what it panics with.
func recovered(f func()) (x any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { x = recover() }()
	f()
	return nil
}
