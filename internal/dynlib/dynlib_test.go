//go:build linux

package dynlib

import (
	"errors"
	"strings"
	"testing"
	"unsafe"
)

// TestCall calls functions of the C library, one of them with a function of Go.
func TestCall(t *testing.T) {
	c, err := Open("libc.so.6")
	if !Available {
		if !errors.Is(err, ErrUnavailable) {
			t.Fatalf("%v, want %v", err, ErrUnavailable)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	strlen, err := c.Symbol("strlen")
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("embedding\x00")
	if n := Call(strlen, uintptr(unsafe.Pointer(&text[0]))); n != 9 {
		t.Fatalf("strlen is %d, want 9", n)
	}
	qsort, err := c.Symbol("qsort")
	if err != nil {
		t.Fatal(err)
	}
	numbers := []int32{3, 1, 2}
	descending := Callback(func(a, b *int32) uintptr { return uintptr(int(*b) - int(*a)) })
	Call(qsort, uintptr(unsafe.Pointer(&numbers[0])), 3, 4, descending)
	if [3]int32(numbers) != [3]int32{3, 2, 1} {
		t.Fatalf("sorted %v, want 3 2 1", numbers)
	}
}

// TestMissing: errors name what is not there.
func TestMissing(t *testing.T) {
	if !Available {
		t.Skip("the build tag nogpu leaves out shared libraries")
	}
	if _, err := Open("libweft-that-is-not.so"); err == nil || !strings.Contains(err.Error(), "libweft-that-is-not.so") {
		t.Fatalf("the error is %v, want one that names the library", err)
	}
	c, err := Open("libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Symbol("weft_that_is_not"); err == nil || !strings.Contains(err.Error(), "weft_that_is_not") {
		t.Fatalf("the error is %v, want one that names the function", err)
	}
}
