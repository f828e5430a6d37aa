package dynamic

import (
	"cmp"
	"strings"
)

// Compare returns -1, 0 or 1 as id comes before other, is other, or comes after it. Numbers come before texts.
func (id ID) Compare(other ID) int {
	if c := cmp.Compare(id.kind, other.kind); c != 0 {
		return c
	}
	if id.kind == textID {
		return strings.Compare(id.text, other.text)
	}
	return cmp.Compare(id.num, other.num)
}
