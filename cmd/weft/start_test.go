package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestStart checks that the packages of the program make little before main: tables and regular expressions are made when they are
// needed. This package is left out, because the test program has its tests' tables in it. The bytes that the start of a package takes are the same in each run, unlike its time.
func TestStart(t *testing.T) {
	const most = 64 << 10
	c := command(t, "version")
	c.Env = append(c.Environ(), "GODEBUG=inittrace=1")
	var errs strings.Builder
	c.Stderr = &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^init (github\.com/weftgraph/weft/internal/\S+) @.*, (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(errs.String(), -1) {
		found++
		if bytes, err := strconv.Atoi(m[2]); err != nil || bytes > most {
			t.Errorf("the start of %s takes %s bytes, more than %d", m[1], m[2], most)
		}
	}
	if found < 5 {
		t.Errorf("%d packages in\n%s", found, &errs)
	}
}
