package setops

import "testing"

// setLevel runs the rest of the test at level l and skips the test, saying so,
// where the CPU (or the build) does not offer l.
func setLevel(t testing.TB, l level) {
	t.Helper()
	if !supported(l) {
		t.Skipf("this CPU or build has no %v code path", l)
	}
	old := active
	active = l
	t.Cleanup(func() { active = old })
}

// eachLevel runs f once for every level, as subtests.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	for l := levelPortable; l < numLevels; l++ {
		t.Run(l.String(), func(t *testing.T) {
			setLevel(t, l)
			f(t)
		})
	}
}

func TestBestLevelIsSupported(t *testing.T) {
	t.Logf("best level here: %v", bestLevel(supported))
	if !supported(bestLevel(supported)) || !supported(levelPortable) {
		t.Fatal("the chosen level is not supported")
	}
	for _, c := range []struct {
		most level
		name string
	}{{levelPortable, "portable"}, {levelAVX2, "avx2"}, {levelAVX512, "avx512"}} {
		if l := bestLevel(func(l level) bool { return l <= c.most }); l != c.most || l.String() != c.name {
			t.Errorf("a machine that has %s gets %v", c.name, l)
		}
	}
}
