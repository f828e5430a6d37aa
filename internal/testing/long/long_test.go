package long

import "testing"

// TestAsked: a list of folders asks for the packages in them alone, and any other value for all.
func TestAsked(t *testing.T) {
	const here = "./internal/testing/long"
	if got := folder(); got != here {
		t.Fatalf("this package is in %s, want %s", got, here)
	}
	t.Setenv("WEFT_REQUIRE_GPU", "")
	for value, want := range map[string]bool{
		"": false, "1": true, here: true, ". " + here: true, here + " ./cmd/weft": true,
		".": false, "./internal/testing": false, here + "er": false, "./...": true, "./internal/...": true, here + "/...": true, "./intern/...": false, "./cmd/...": false, "./cmd/weft ./internal/watch": false,
	} {
		t.Setenv("WEFT_LONG", value)
		t.Chdir(t.TempDir())
		if got := Asked(); got != (want && !testing.Short()) {
			t.Errorf("WEFT_LONG=%q: %t", value, got)
		}
	}
	if !names(".", ".") || !names("./...", ".") || names("./cmd/weft", ".") || names("./cmd/...", ".") {
		t.Error("the package at the root is not that of .")
	}
	t.Setenv("WEFT_LONG", "")
	t.Setenv("WEFT_REQUIRE_GPU", "1")
	if Asked() == testing.Short() {
		t.Error("a GPU does not ask for long tests")
	}
}

// TestRounds: a list of packages asks for a tenth of what an endurance test adds.
func TestRounds(t *testing.T) {
	t.Setenv("WEFT_REQUIRE_GPU", "")
	for value, want := range map[string]int{"": 3, "./cmd/weft": 3, "1": 103, "./internal/testing/long": 13} {
		t.Setenv("WEFT_LONG", value)
		if testing.Short() {
			want = 3
		}
		if got := Rounds(3, 103); got != want {
			t.Errorf("WEFT_LONG=%q: %d rounds, want %d", value, got, want)
		}
	}
}
