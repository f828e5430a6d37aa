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

// TestSubcommands checks that a command line that begins with a sub-command makes that one alone, under the name that the table has for it.
func TestSubcommands(t *testing.T) {
	all := (&app{}).root()
	for _, c := range (&app{}).commands() {
		one := (&app{args: []string{c.name, "--help"}}).root()
		if made := one.Commands(); len(made) != 1 || made[0].Name() != c.name {
			t.Errorf("%s makes %d sub-commands", c.name, len(made))
		}
		if found, _, err := all.Find([]string{c.name}); err != nil || found.Name() != c.name {
			t.Errorf("%s among all: %v", c.name, err)
		}
	}
	for _, args := range [][]string{{}, {"--help"}, {"help", "count"}, {"completion", "bash"}, {"__complete", "c"}, {"cuont"}, {"--version"}} {
		if made := (&app{args: args}).root().Commands(); len(made) < len((&app{}).commands()) {
			t.Errorf("%q makes %d sub-commands", args, len(made))
		}
	}
}
