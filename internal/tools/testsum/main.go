// Command testsum summarises the output of `go test -json`. It prints a line for each package
// and the output of each failure. At the end it prints the packages and tests that took longest,
// and how many tests passed, failed and were skipped, and why.
//
//	go test -json ./... | go run ./internal/tools/testsum [-allow FILE] [PACKAGE…]
//
// It exits with 1 in any of these cases:
//
//   - a test or a package failed;
//   - no test ran;
//   - no test passed of a PACKAGE (as ./internal/graph, or ./internal/cuda/... for at least one
//     below it);
//   - a test was skipped for a reason that FILE does not allow. FILE has a regular expression
//     on each line, and comments after #.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	allow := flag.String("allow", "", "`FILE` with the reasons for which tests may be skipped")
	flag.Parse()
	var allowed []*regexp.Regexp
	if *allow != "" {
		text, err := os.ReadFile(*allow)
		if err == nil {
			allowed, err = patterns(string(text))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "testsum:", err)
			os.Exit(2)
		}
	} else {
		allowed = []*regexp.Regexp{regexp.MustCompile("")}
	}
	if err := sum(os.Stdin, os.Stdout, allowed, flag.Args()...); err != nil {
		fmt.Println("testsum:", err)
		os.Exit(1)
	}
}

func patterns(text string) (out []*regexp.Regexp, err error) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		re, err := regexp.Compile(line)
		if err != nil {
			return nil, err
		}
		out = append(out, re)
	}
	return out, nil
}

// event is one line of go test -json.
type event struct {
	Action, Package, Test, ImportPath, Output string
	Elapsed                                   float64
	FailedBuild                               string
}

// count is the number of tests that ended in each way.
type count struct{ passed, failed, skipped int }

func (c count) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

type test struct{ pkg, name string }

// place stands before what a test says.
var place = regexp.MustCompile(`^\s+\S+\.go:\d+: `)

// sum reads events and writes the summary. The error says why the tests count as
// failed.
func sum(in io.Reader, out io.Writer, allowed []*regexp.Regexp, required ...string) error {
	var total count
	packages := map[string]*count{}
	output := map[test][]string{} // of tests that have not ended
	reasons := map[string]int{}
	refused := map[string]string{} // reason to a test
	failed := 0
	slow := newTimes()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line == "" && err != nil {
			break
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(out, line) // go's own messages
			continue
		}
		at := test{e.Package, e.Test}
		c := packages[e.Package]
		if c == nil {
			c = &count{}
			packages[e.Package] = c
		}
		switch e.Action {
		case "build-output":
			fmt.Fprint(out, e.Output)
		case "output":
			output[at] = append(output[at], e.Output)
		case "pass", "fail", "skip":
			slow.add(at, e.Elapsed)
			if e.Test == "" {
				if e.Action == "fail" {
					failed++
					for _, o := range output[at] {
						fmt.Fprint(out, o)
					}
					// The tests that a crash or the time limit left without an end.
					for other, text := range output {
						if other.pkg == e.Package && other.name != "" {
							fmt.Fprintf(out, "=== not ended: %s\n%s", other.name, strings.Join(tail(text, 200), ""))
						}
					}
				}
				word := map[string]string{"pass": "ok  ", "fail": "FAIL", "skip": "?   "}[e.Action]
				fmt.Fprintf(out, "%s %s  %s  %.1fs\n", word, e.Package, c, e.Elapsed)
				delete(output, at)
				continue
			}
			switch e.Action {
			case "pass":
				c.passed++
				total.passed++
			case "fail":
				c.failed++
				total.failed++
				fmt.Fprint(out, strings.Join(output[at], ""))
			case "skip":
				c.skipped++
				total.skipped++
				why := reason(output[at])
				reasons[why]++
				if !slices.ContainsFunc(allowed, func(re *regexp.Regexp) bool { return re.MatchString(why) }) {
					refused[why] = e.Package + " " + e.Test
				}
			}
			delete(output, at)
		}
	}
	why := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int { return reasons[b] - reasons[a] })
	for _, r := range why {
		fmt.Fprintf(out, "skipped %5d: %s\n", reasons[r], r)
	}
	for _, r := range slices.Sorted(maps.Keys(refused)) {
		fmt.Fprintf(out, "not allowed to be skipped: %s: %s\n", refused[r], r)
	}
	hollow := 0
	for _, r := range required {
		ran := func(p string) bool { return packages[p].passed > 0 && isOf(p, r) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(packages)), ran) {
			hollow++
			fmt.Fprintf(out, "no test passed: %s\n", r)
		}
	}
	slow.write(out)
	fmt.Fprintf(out, "packages: %d\n%s\n", len(packages), total)
	switch {
	case failed > 0 || total.failed > 0:
		return fmt.Errorf("%d packages failed", failed)
	case total.passed == 0:
		return fmt.Errorf("no test ran")
	case hollow > 0:
		return fmt.Errorf("no test passed of packages that must run here")
	case len(refused) > 0:
		return fmt.Errorf("tests were skipped that must run here")
	}
	return nil
}

// isOf reports whether the package with an import path is one of a pattern of the go
// command, as ./internal/graph or ./internal/cuda/...
func isOf(path, pattern string) bool {
	name := strings.TrimPrefix(pattern, "./")
	if below, ok := strings.CutSuffix(name, "..."); ok {
		return strings.Contains("/"+path+"/", "/"+below)
	}
	return path == pattern || strings.HasSuffix(path, "/"+name)
}

// reason is what a skipped test says, without the place in the source.
func reason(output []string) string {
	said := ""
	for _, o := range output {
		if p := place.FindString(o); p != "" {
			said = strings.TrimSpace(o[len(p):])
		}
	}
	if said == "" {
		return "no reason given"
	}
	return said
}

func tail(s []string, n int) []string { return s[max(0, len(s)-n):] }
