package asg

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/matcha/syntax"
)

// TestNegative: a size that is written out and below 0 is said to be that, also behind
// a byte order mark.
func TestNegative(t *testing.T) {
	for text, want := range map[string]string{
		"let c = Counter(-5)\nreturn 1":                                 "is -5: it cannot be negative",
		"return size(range(-1))":                                        "is -1: it cannot be negative",
		"return size(mk_list(-1, int))":                                 "is -1: it cannot be negative",
		"return size(mk_list(nitems=-2, val=range(3)))":                 "is -2: it cannot be negative",
		"input k: int\nreturn size(range(k))":                           "is unknown",
		"return size(range(0)) + size(mk_list(nitems=0, val=range(3)))": "",
	} {
		for _, mark := range []string{"", "\ufeff"} {
			f, err := syntax.Parse(mark + text + "\n")
			if err == nil {
				_, err = Build(f)
			}
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", mark+text, err, want)
			}
		}
	}
}
