// Package long says whether long tests are asked for. Without them `go test ./...` takes
// minutes on two cores, most of it in compilers.
package long

import (
	"os"
	"testing"
)

// Asked reports whether WEFT_LONG is set, or WEFT_REQUIRE_GPU, since a GPU is fast;
// and -short is not given.
func Asked() bool {
	return !testing.Short() && (os.Getenv("WEFT_LONG") != "" || os.Getenv("WEFT_REQUIRE_GPU") != "")
}

// Only skips the test unless long tests are asked for; why says what takes long.
func Only(t testing.TB, why string) {
	t.Helper()
	if !Asked() {
		t.Skipf("set WEFT_LONG: %s", why)
	}
}
