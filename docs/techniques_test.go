package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// TestTechniques holds techniques.md to the code. The files that it names are there, the switches are options or flags,
// the tests exist, figures are where it says, and no engine option is left out. Each heading names its paper, and the sections that rows give are in that paper. Figures of switches that are no longer
// options say so.
func TestTechniques(t *testing.T) {
	text, err := os.ReadFile("techniques.md")
	if err != nil {
		t.Fatal(err)
	}
	table, measured, _ := strings.Cut(string(text), "<!-- figures: techniques -->")
	command := source(t, "../cmd/weft/*.go")
	options := map[string]bool{}
	for _, o := range weft.EngineOptions() {
		options[o.Name] = false
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	rows := 0
	var at heading
	for _, line := range strings.Split(table, "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			at = heading{name: name}
		}
		if !strings.HasPrefix(line, "|") {
			at.text += line + " "
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 6 || strings.TrimSpace(cells[0]) == "technique" {
			continue
		}
		rows++
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if wrong := at.wrong(cells[1]); wrong != "" {
			t.Errorf("%s, %s: %q: %s", at.name, cells[0], cells[1], wrong)
		}
		name, file, switches, test, figure := cells[0], strings.Trim(cells[2], "`"), quoted.FindAllStringSubmatch(cells[3], -1), cells[4], cells[5]
		if _, err := os.Stat(filepath.Join("..", file)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		folder, function, ok := strings.Cut(strings.TrimPrefix(test, "`"), "` ")
		if !ok || !strings.Contains(source(t, filepath.Join("..", folder, "*_test.go")), "func "+function+"(t *testing.T)") {
			t.Errorf("%s: there is no test %s", name, test)
		}
		shown := false
		for _, s := range switches {
			option, _, _ := strings.Cut(s[1], "=")
			flag, isFlag := strings.CutPrefix(strings.Fields(option)[0], "--")
			_, known := options[option]
			switch {
			case known:
				options[option] = true
				shown = shown || strings.Contains(measured, "`"+option+"=")
			case isFlag && !strings.Contains(command, `"`+flag+`"`), !isFlag && !strings.HasPrefix(option, "weft "):
				t.Errorf("%s: there is no switch %s", name, s[1])
			case option == "--engine fine":
				shown = strings.Contains(measured, "| fine |")
			}
		}
		if switches == nil && cells[3] != "–" {
			t.Errorf("%s: no switch in %q", name, cells[3])
		}
		switch link := regexp.MustCompile(`^\[[^]]+\]\(([^)]+)\)$`).FindStringSubmatch(figure); {
		case link != nil:
			if _, err := os.Stat(link[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case figure == "below" && !shown:
			t.Errorf("%s: no figure below is of %s", name, cells[3])
		case figure != "below" && figure != "–":
			t.Errorf("%s: figure %q", name, figure)
		}
	}
	if rows < 40 {
		t.Errorf("%d techniques", rows)
	}
	figures := 0
	for _, line := range strings.Split(measured, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 7 || strings.TrimSpace(cells[0]) == "engine" {
			continue
		}
		figures++
		for _, cell := range cells[1:3] {
			for _, s := range quoted.FindAllStringSubmatch(cell, -1) {
				option, _, _ := strings.Cut(s[1], "=")
				if _, known := options[option]; !known {
					t.Errorf("the program has no option %s, of which there are figures: %q", s[1], line)
				}
			}
		}
	}
	if figures < 80 {
		t.Errorf("%d figures", figures)
	}
	for option, named := range options {
		if !named {
			t.Errorf("no technique has the switch %s", option)
		}
	}
}

// papers has, for each paper that weft implements, how its heading must name it, and the numbers of its sections.
var papers = map[string]struct{ named, sections string }{
	"STMatch": {`STMatch \(Wei and Jiang, SC 2022\).*chapter 1 of Yihua Wei's thesis \(University of Iowa, 2026\)`,
		"1.1 1.2 1.2.1 1.2.2 1.2.3 1.3 1.4 1.5 1.5.1 1.5.2 1.6 1.7 1.8 1.8.1 1.8.2 1.8.3 1.9"},
	"GCSM": {`GCSM \(Wei and Jiang, IPDPS 2024\), chapter 2 of Wei's thesis`,
		"2.1 2.2 2.2.1 2.2.2 2.2.3 2.3 2.4 2.4.1 2.4.2 2.5 2.5.1 2.5.2 2.5.3 2.6 2.6.1 2.6.2 2.6.3 2.6.4 2.6.5 2.7"},
	"Matcha": {`Matcha is .* chapter 3 of Wei's thesis \(University of Iowa, 2026\)`,
		"3.1 3.2 3.2.1 3.2.2 3.3 3.4 3.4.1 3.5 3.5.1 3.5.2 3.6 3.6.1 3.6.2 3.6.3 3.7 3.7.1 3.7.2 3.7.3 3.7.4 3.7.5"},
	"DCSM": {`DCSM, chapter 4 of Wei's thesis \(University of Iowa, 2026\)`,
		"4.1 4.2 4.2.1 4.2.2 4.3 4.4 4.4.1 4.4.2 4.4.3 4.5 4.5.1 4.5.2 4.6 4.6.1 4.6.2 4.6.3 4.7 4.7.1 4.7.2 4.7.3 4.7.4 4.7.5 4.8"},
	"GENEVA": {`GENEVA \(Lu, Hao, Zhang, He, Sun and Wang, TPDS 2023\)`,
		"1 2 2.1 2.2 3 4 4.1 4.2 5 5.1 5.2 5.3 5.4 5.5 5.6 6 7 7.1 7.2 8 8.1 8.2 8.3 9"},
	"gMatch": {`gMatch \(.*Shixuan Sun, Minyi Guo and others, PVLDB 19\(8\), 2026\)`,
		"1 2 2.1 2.2 2.3 3 4 4.1 4.2 4.3 5 5.1 5.2 6 6.1 6.2 6.3 6.4 7"},
	"PBE": {`\(Guo, Li, Sha, He, Xiao and Tan, SIGMOD 2020\)`,
		"1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 4 4.1 4.2 4.3 4.4 5 6 6.1 6.2 6.3 6.4 6.5"},
	"GSI": {`GSI \(Zeng, Zou, Özsu, Hu and Zhang, ICDE 2020; its later version is SGSI\)`,
		"1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 4 5 6 6.1 6.2 7 8 8.1 8.2 8.2.1 8.2.2 8.3 8.4"},
}

// heading is a part of techniques.md: its name, and its text besides tables.
type heading struct{ name, text string }

var (
	section = regexp.MustCompile(`^(?:(\w+) )?([0-9](?:\.[0-9])*)(?: of (\w+))?(?:,? .*)?$`)
	dated   = regexp.MustCompile(`\b(19|20)[0-9]{2}\b`)
)

// wrong returns what is wrong with a cell of the column of papers, or "". A cell names sections of the heading's papers, or papers with their
// years, or says that there is none.
func (h heading) wrong(cell string) string {
	cell = strings.TrimSpace(cell)
	var own []string
	for name, p := range papers {
		if !strings.Contains(h.name, name) {
			continue
		}
		if own = append(own, name); !regexp.MustCompile(p.named).MatchString(h.text) {
			return "the heading's text does not name " + name + " with authors, venue and year"
		}
	}
	if cell == "–" {
		return ""
	}
	if len(own) == 0 && (cell == "ours" || cell == "an LRU cache" || dated.MatchString(cell)) {
		return ""
	}
	found := false
	for _, part := range strings.Split(strings.ReplaceAll(cell, ", and ", ", "), ", ") {
		m := section.FindStringSubmatch(part)
		if m == nil {
			continue // a word about the section
		}
		name := m[1] + m[3]
		if name == "SGSI" {
			name = "GSI"
		}
		if name == "" && len(own) == 1 {
			name = own[0]
		}
		p, known := papers[name]
		if !known {
			return "the section of which paper?"
		}
		if found = true; !slices.Contains(strings.Fields(p.sections), m[2]) {
			return name + " has no section " + m[2]
		}
	}
	if !found {
		return "the cell names no section"
	}
	return ""
}

// TestTechniquesPapers: a cell without a section, with one that the paper does not have, or below a heading that does not name its paper, is a mistake.
func TestTechniquesPapers(t *testing.T) {
	named := "PBE searches (Guo, Li, Sha, He, Xiao and Tan, SIGMOD 2020)."
	for _, c := range []struct {
		heading
		cell string
		ok   bool
	}{
		{heading{"PBE", named}, "3.2, 5", true},
		{heading{"PBE", named}, "–", true},
		{heading{"PBE", "PBE searches."}, "3.2", false},
		{heading{"PBE", "PBE searches."}, "–", false},
		{heading{"PBE", named}, "3.7", false},
		{heading{"PBE", named}, "shared execution", false},
		{heading{"PBE", named}, "", false},
		{heading{"PBE", named}, "4, and 1.5.2 of STMatch", true},
		{heading{"PBE", named}, "4, and 1.5.3 of STMatch", false},
		{heading{"Plans", ""}, "Knuth 1975", true},
		{heading{"Plans", ""}, "GSI 5", true},
		{heading{"Plans", ""}, "GSI 9", false},
		{heading{"Plans", ""}, "Knuth", false},
		{heading{"Plans", ""}, "5", false},
	} {
		if wrong := c.wrong(c.cell); (wrong == "") != c.ok {
			t.Errorf("%s %q: %q", c.name, c.cell, wrong)
		}
	}
}

// source is the text of files.
func source(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
