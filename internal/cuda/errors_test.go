package cuda

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{Op: "alloc", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Text: "out of memory", Hint: "free some"}, "alloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; free some"},
		{Error{Op: "launch of k", Text: "0 blocks"}, "launch of k: 0 blocks"},
		{Error{Op: "load", Name: "injected"}, "load: injected"},
		{Error{Op: "compile of a.cu", Log: "a.cu(1): error\n"}, "compile of a.cu\na.cu(1): error"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
	long := (&Error{Op: "x", Log: strings.Repeat("line\n", 100)}).Error()
	if n := strings.Count(long, "\n"); n != 41 || !strings.HasSuffix(long, "60 lines more") {
		t.Errorf("%d lines, the end %q", n, long[len(long)-20:])
	}
}

func TestErrorKinds(t *testing.T) {
	kinds := []error{ErrNoDriver, ErrNoCompiler, ErrNoDevice, ErrArch, ErrMemory, ErrCompile, ErrLaunch, ErrLost, ErrClosed}
	for _, c := range []struct {
		code int
		is   []error
	}{
		{1, nil},
		{2, []error{ErrMemory}},
		{100, []error{ErrNoDevice}},
		{101, []error{ErrNoDevice}},
		{200, []error{ErrArch}},
		{209, []error{ErrArch}},
		{214, []error{ErrLost}},
		{222, []error{ErrArch}},
		{700, []error{ErrLaunch, ErrLost}},
		{701, []error{ErrLaunch}},
		{702, []error{ErrLaunch, ErrLost}},
		{719, []error{ErrLaunch, ErrLost}},
		{803, []error{ErrNoDriver}},
		{12345, nil},
	} {
		err := fmt.Errorf("around: %w", errorOf("op", c.code, "", ""))
		for _, k := range kinds {
			want := false
			for _, is := range c.is {
				want = want || is == k
			}
			if errors.Is(err, k) != want {
				t.Errorf("%d is %q: %v", c.code, k, !want)
			}
		}
	}
}

func TestCodes(t *testing.T) {
	for n, c := range codes {
		if !strings.HasPrefix(c.name, "CUDA_ERROR_") || c.hint == "" {
			t.Errorf("%d: name %q, hint %q", n, c.name, c.hint)
		}
		if strings.HasSuffix(c.hint, ".") || strings.Contains(c.hint, ". ") {
			t.Errorf("%d: the hint is not one clause: %q", n, c.hint)
		}
		if c.lost && c.kind == nil {
			t.Errorf("%d loses the device and has no kind", n)
		}
	}
	if e := errorOf("op", 31415, "", ""); e.Name == "" || e.Code != 31415 {
		t.Errorf("unknown code: %+v", e)
	}
	if e := errorOf("op", 2, "CUDA_ERROR_X", "text"); e.Name != "CUDA_ERROR_X" || e.Text != "text" {
		t.Errorf("the driver's words: %+v", e)
	}
}
