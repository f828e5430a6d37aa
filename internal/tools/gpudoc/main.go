// Command gpudoc writes the tables of docs/gpu.md from the JSON files that the
// programs of make gpu-test and make gpu-bench leave on a machine with a GPU.
//
//	go run ./internal/tools/gpudoc -into docs/gpu.md results/*.json
//
// What stands between the lines <!-- gpu: KIND --> and <!-- /gpu: KIND --> is
// replaced, KIND being bench or tests; a kind of which there is no file is left as
// it is. Without -into the tables go to standard output.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// results is one JSON file of either kind.
type results struct {
	Kind, Commit, Date string
	Doctor             []struct{ What, Found string }

	Runs  int
	Most  int `json:"-"` // the most runs of those that were joined; Runs are the fewest
	Cells []cell

	Packages []tested
}

// tested is one test program under one tool.
type tested struct {
	Package, Tool string
	Exit          int
	Seconds       int
	Compared      string // with the oracle, by the no-diff test: "211 plans, 10534 runs"
	Tests         []struct {
		Name, Result string
		Seconds      float64
	}
}

// cell is one engine, graph and pattern; Line is what weft bench wrote, nil where
// it wrote nothing.
type cell struct {
	Engine, Name, Pattern, Said string
	Exit                        int
	Line                        *struct {
		Median  float64 `json:"median_ms"`
		Plan    float64 `json:"plan_ms"`
		Prepare float64 `json:"prepare_ms"`
		Count   count
	}
}

// count is in JSON a number, a string where it is beyond 2^53 or comes of an earlier
// version, or null.
type count string

func (c *count) UnmarshalJSON(text []byte) error {
	switch {
	case string(text) == "null":
		return nil
	case len(text) > 0 && text[0] == '"':
		return json.Unmarshal(text, (*string)(c))
	}
	var n json.Number
	err := json.Unmarshal(text, &n)
	*c = count(n)
	return err
}

func main() {
	into := flag.String("into", "", "document whose tables are replaced")
	table := flag.String("known", "bench/gpu.tsv", "known counts")
	flag.Parse()
	if err := run(*into, *table, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gpudoc:", err)
		os.Exit(1)
	}
}

func run(into, table string, files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("no JSON files were given")
	}
	text, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	known, err := readKnown(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	sections, err := tables(files, known)
	if err != nil {
		return err
	}
	if into == "" {
		for _, kind := range []string{"bench", "tests"} {
			fmt.Print(sections[kind])
		}
		return nil
	}
	old, err := os.ReadFile(into)
	if err != nil {
		return err
	}
	doc := string(old)
	for kind, text := range sections {
		if doc, err = replace(doc, kind, text); err != nil {
			return fmt.Errorf("%s: %w", into, err)
		}
	}
	return os.WriteFile(into, []byte(doc), 0o644)
}

// tables reads the files and makes the text of each kind, the oldest first.
func tables(files []string, known map[string]string) (map[string]string, error) {
	var all []results
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var r results
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if r.Kind != "bench" && r.Kind != "tests" {
			return nil, fmt.Errorf("%s: kind %q is neither bench nor tests", file, r.Kind)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b results) int { return cmp.Compare(a.Date, b.Date) })
	sections := map[string]string{}
	for _, r := range joined(all) {
		if r.Kind == "bench" {
			sections["bench"] += r.bench(known)
		} else {
			sections["tests"] += r.tests()
		}
	}
	return sections, nil
}

// joined makes one of results of one kind that were taken of one commit on one
// machine, as by a run for each package, or with more searches of small graphs.
func joined(all []results) []results {
	var out []results
	for _, r := range all {
		r.Most = r.Runs
		same := func(o results) bool { return o.Kind == r.Kind && o.where() == r.where() }
		if i := slices.IndexFunc(out, same); i >= 0 {
			o := &out[i]
			o.Runs, o.Most = min(o.Runs, r.Runs), max(o.Most, r.Most)
			o.Cells = append(o.Cells, r.Cells...)
			o.Packages = append(o.Packages, r.Packages...)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// replace puts text between the marks of a kind.
func replace(doc, kind, text string) (string, error) {
	begin, end := fmt.Sprintf("<!-- gpu: %s -->\n", kind), fmt.Sprintf("<!-- /gpu: %s -->\n", kind)
	before, rest, ok := strings.Cut(doc, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("there are no lines %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + text + end + after, nil
}

// aboutGPU are the lines of weft doctor that results depend on.
var aboutGPU = regexp.MustCompile(`^GPU (driver|compiler.*|[0-9]+)$`)

// library is a file that weft doctor names; what counts is its version.
var library = regexp.MustCompile(`/\S*\.so\.([0-9.]*[0-9])( \([^)]*\))?`)

// where says what a file's results were taken on.
func (r results) where() string {
	var parts []string
	for _, f := range r.Doctor {
		if aboutGPU.MatchString(f.What) {
			parts = append(parts, f.What+": "+library.ReplaceAllString(f.Found, "$1"))
		}
	}
	date := r.Date
	if day, _, ok := strings.Cut(date, "T"); ok && len(day) == 8 {
		date = day[:4] + "-" + day[4:6] + "-" + day[6:]
	}
	return strings.Join(append(parts, date, "commit "+r.Commit), "; ")
}
