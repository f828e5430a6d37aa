// Command figures writes the tables of README.md and of documents in docs from the results in docs/results.
//
//	go run ./internal/tools/figures [DOCUMENT...]
//
// It replaces the text between the lines <!-- figures: NAME --> and <!-- /figures: NAME -->. NAME is one of:
//
//   - bench, tests: the searches and tests that the programs of make gpu-bench and make gpu-test ran on a
//     GPU, from their JSON files;
//   - gpu-peers, cpu-peers: weft and other programs, from the lines of bench/gpu.py and of bench/cpu.py
//     heldout in files of these names; with -short, only the ratios;
//   - techniques: what each switch changes, from the lines of bench/techniques.py in files
//     techniques-NAME.jsonl;
//   - ablation: the gain of each technique of engine join, from the lines of bench/ablation.py in
//     files ablation-NAME.jsonl;
//   - papers: the experiments of papers, from the lines of bench/papers.py in files papers-NAME.jsonl;
//   - joins: sets of queries by weft and other programs, from the lines of weft bench join in files
//     joins-NAME.jsonl;
//   - sets: sets of queries by engines join and host and by auto, from the lines of bench/joins.py in files
//     sets-NAME.jsonl.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
	table := flag.String("known", "bench/gpu.tsv", "known counts")
	folder := flag.String("results", "docs/results", "folder of results")
	flag.Parse()
	documents := flag.Args()
	if len(documents) == 0 {
		documents = []string{"README.md", "docs/gpu.md", "docs/benchmarks.md", "docs/techniques.md", "docs/ablation.md"}
	}
	if err := run(*folder, *table, documents); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// run writes the tables of a folder's results into documents.
func run(folder, known string, documents []string) error {
	for _, name := range documents {
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		made, err := document(string(old), folder, known)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if made == string(old) {
			continue
		}
		if err := os.WriteFile(name, []byte(made), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// document returns a document with the tables of a folder's results in the places that it has for them.
func document(doc, folder, known string) (string, error) {
	text, err := os.ReadFile(known)
	if err != nil {
		return "", err
	}
	counts, err := readKnown(string(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", known, err)
	}
	sections, err := tables(folder, counts)
	if err != nil {
		return "", err
	}
	marks := begins.FindAllStringSubmatch(doc, -1)
	if marks == nil {
		return "", fmt.Errorf("there is no line <!-- figures: NAME -->")
	}
	for _, m := range marks {
		section, ok := sections[m[1]]
		if !ok {
			return "", fmt.Errorf("%s has no results for the table %q", folder, m[1])
		}
		if doc, err = replace(doc, m[1], section); err != nil {
			return "", err
		}
	}
	return doc, nil
}

var begins = regexp.MustCompile(`(?m)^<!-- figures: (\S+) -->$`)

// tables reads a folder's files and makes the text of each table; of tests and searches the oldest first.
func tables(folder string, known map[string]string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []results
	sections := map[string]string{}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name, kind := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), filepath.Ext(e.Name())
		var c *comparison
		switch {
		case kind == ".jsonl" && name == "gpu-peers":
			c, err = readGPUPeers(data)
		case kind == ".jsonl" && name == "cpu-peers":
			c, err = readCPUPeers(data)
		case kind == ".jsonl" && strings.HasPrefix(name, "techniques-"):
			var made string
			made, err = techniques(data)
			sections["techniques"] += made
		case kind == ".jsonl" && strings.HasPrefix(name, "ablation-"):
			var made string
			made, err = ablation(data)
			sections["ablation"] += made
		case kind == ".jsonl" && strings.HasPrefix(name, "papers-"):
			var made string
			made, err = papers(data)
			sections["papers"] += made
		case kind == ".jsonl" && strings.HasPrefix(name, "joins-"):
			var made string
			made, err = joins(data)
			sections["joins"] += made
		case kind == ".jsonl" && strings.HasPrefix(name, "sets-"):
			var made string
			made, err = sets(data)
			sections["sets"] += made
		case kind == ".json":
			var r results
			if err = json.Unmarshal(data, &r); err == nil && r.Kind != "bench" && r.Kind != "tests" {
				err = fmt.Errorf("kind %q is neither bench nor tests", r.Kind)
			}
			all = append(all, r)
		default:
			err = fmt.Errorf("neither a .json file nor gpu-peers.jsonl, cpu-peers.jsonl, techniques-….jsonl, ablation-….jsonl, papers-….jsonl, joins-….jsonl or sets-….jsonl")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if c != nil {
			maps.Copy(sections, c.sections(name))
		}
	}
	slices.SortStableFunc(all, func(a, b results) int { return cmp.Compare(a.Date, b.Date) })
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
	begin, end := fmt.Sprintf("<!-- figures: %s -->\n", kind), fmt.Sprintf("<!-- /figures: %s -->\n", kind)
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

// where names the machine and the commit of a file's results.
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
