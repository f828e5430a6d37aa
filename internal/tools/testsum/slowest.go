package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// shown is the number of packages, and of tests, that the summary lists as the slowest.
const shown = 10

// least is the time, in seconds, from which on a package or a test is worth a line.
const least = 1.0

// times collects how long packages and tests took, in seconds.
type times struct {
	packages map[string]float64
	tests    map[test]float64 // of a test and of each subtest
	subtests map[test][]test  // of a test: the subtests right below it
}

func newTimes() *times {
	return &times{packages: map[string]float64{}, tests: map[test]float64{}, subtests: map[test][]test{}}
}

func (t *times) add(at test, seconds float64) {
	if at.name == "" {
		t.packages[at.pkg] = seconds
		return
	}
	t.tests[at] = seconds
	if i := strings.LastIndexByte(at.name, '/'); i >= 0 {
		above := test{at.pkg, at.name[:i]}
		t.subtests[above] = append(t.subtests[above], at)
	}
}

// whole is the time of a test: its own, or that of its subtests together if that is more. The
// time of a test does not contain that of subtests that run in parallel.
func (t *times) whole(at test) float64 {
	below := 0.0
	for _, s := range t.subtests[at] {
		below += t.whole(s)
	}
	return max(t.tests[at], below)
}

// write writes the slowest packages, and the slowest tests with the slowest subtest of each.
func (t *times) write(out io.Writer) {
	tests := map[test]float64{}
	for at := range t.tests {
		if !strings.Contains(at.name, "/") {
			tests[at] = t.whole(at)
		}
	}
	for _, p := range slowest(t.packages, cmp.Compare[string]) {
		fmt.Fprintf(out, "slow package %7.1fs  %s\n", t.packages[p], p)
	}
	for _, at := range slowest(tests, func(a, b test) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name)) }) {
		fmt.Fprintf(out, "slow test    %7.1fs  %s %s", tests[at], at.pkg, at.name)
		if below := t.subtests[at]; len(below) > 0 {
			s := slices.MaxFunc(below, func(a, b test) int { return cmp.Compare(t.whole(a), t.whole(b)) })
			fmt.Fprintf(out, " (%d subtests; %.1fs in %s)", len(below), t.whole(s), s.name[len(at.name):])
		}
		fmt.Fprintln(out)
	}
}

// slowest are the keys with the largest times, the largest first. Times below least are left out.
func slowest[K comparable](seconds map[K]float64, order func(a, b K) int) []K {
	var keys []K
	for k, s := range seconds {
		if s >= least {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b K) int { return cmp.Or(cmp.Compare(seconds[b], seconds[a]), order(a, b)) })
	return keys[:min(shown, len(keys))]
}
