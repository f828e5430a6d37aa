package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// TestTechniques holds techniques.md to the code. The files that it names are there, the switches are options or flags,
// the tests exist, figures are where it says, and no engine option is left out. Figures of switches that are no longer
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
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 6 || strings.TrimSpace(cells[0]) == "technique" {
			continue
		}
		rows++
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
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
