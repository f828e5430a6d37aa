package setting

import (
	"math/bits"
	"testing"
)

// TestCallNames: every call has a name, and no name is of two calls.
func TestCallNames(t *testing.T) {
	if want := bits.TrailingZeros64(uint64(end)); len(Calls) != want {
		t.Fatalf("%d names of calls, want %d", len(Calls), want)
	}
	seen := map[string]bool{}
	for i, name := range Calls {
		if of := Call(1 << i); of.String() != name || seen[name] {
			t.Errorf("call %d is %s, want %s", i, of, name)
		}
		seen[name] = true
	}
}
