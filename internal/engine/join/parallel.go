package join

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"unsafe"
)

// parallelLeast is the least number of items that a goroutine is worth.
const parallelLeast = 1 << 14

// parallel calls f for parts lo … hi-1 of n items, on several goroutines if n is large, and waits for them. k is the
// number of the part. A fault in a mapped file that became shorter is an error.
func parallel(ctx context.Context, n int, f func(k, lo, hi int) error) error {
	if err := inParts(n, partsOf(n), f); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// inParts is parallel with a number of parts.
func inParts(n, parts int, f func(k, lo, hi int) error) error {
	if parts <= 1 {
		return faultless(func() error { return f(0, 0, n) })
	}
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for k := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[k] = faultless(func() error { return f(k, n*k/parts, n*(k+1)/parts) })
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// partsOf is in how many parts parallel calls its function for n items.
func partsOf(n int) int { return max(1, min(runtime.GOMAXPROCS(0), n/parallelLeast)) }

// faultless calls f. A fault in memory is an error.
func faultless(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("join: %v\n%s", x, debug.Stack())
		}
	}()
	return f()
}

// view is the beginning of memory as n values of T.
func view[T any](b []byte, n int) []T {
	if n == 0 {
		return nil
	}
	_ = b[n*int(unsafe.Sizeof(*new(T)))-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
