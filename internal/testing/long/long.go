// Package long says whether long tests are asked for. Without them `go test ./...` takes
// minutes on two cores, most of it in compilers.
//
//	WEFT_LONG=1                        long tests of all packages
//	WEFT_LONG=". ./internal/watch"     long tests of these packages, whose endurance tests take a tenth; ./internal/... has
//	                                   all below it
//
// With the second, one `go test ./...` runs the long tests of some packages and the usual ones of all others.
package long

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Asked reports whether WEFT_LONG asks for the long tests of this package, or whether WEFT_REQUIRE_GPU is set, since a
// GPU is fast; and -short is not given.
func Asked() bool {
	return !testing.Short() && (names(os.Getenv("WEFT_LONG"), folder()) || os.Getenv("WEFT_REQUIRE_GPU") != "")
}

// Only skips the test unless long tests are asked for; why says what takes long.
func Only(t testing.TB, why string) {
	t.Helper()
	if !Asked() {
		t.Skipf("set WEFT_LONG: %s", why)
	}
}

// Rounds is how often an endurance test repeats what it does: usual where long tests are not asked for, and most where
// they are. It is a tenth of the way between them where WEFT_LONG lists packages, as such a run tests all else besides,
// and has to end. These tests draw anew in each run, or do the same for longer.
func Rounds(usual, most int) int {
	switch {
	case !Asked():
		return usual
	case strings.HasPrefix(os.Getenv("WEFT_LONG"), "."):
		return usual + (most-usual)/10
	}
	return most
}

// names reports whether the value of WEFT_LONG asks for the tests of the package in a folder.
func names(value, folder string) bool {
	if !strings.HasPrefix(value, ".") {
		return value != ""
	}
	return slices.ContainsFunc(strings.Fields(value), func(item string) bool {
		above, all := strings.CutSuffix(item, "/...")
		return item == folder || all && strings.HasPrefix(folder+"/", above+"/")
	})
}

// folder is the folder of the package that is tested, as go test is given it: "." or "./internal/watch". The program
// itself has its name. The working directory is none to go by, as tests change it.
func folder() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return "." + strings.TrimPrefix(strings.TrimSuffix(info.Path, ".test"), info.Main.Path)
}
