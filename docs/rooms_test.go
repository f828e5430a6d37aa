package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRooms holds the tables of packages in ARCHITECTURE.md to the code: each package has a row, each row a package, and
// the files to start at exist.
func TestRooms(t *testing.T) {
	text, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rooms, _ := strings.Cut(string(text), "\n## The rooms\n")
	rooms, _, _ = strings.Cut(rooms, "\n## ")
	named := map[string]bool{}
	for _, line := range strings.Split(rooms, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		packages := quotedIn(cells[0])
		if !strings.HasPrefix(line, "| `") || packages[0] == "weft" || packages[0] == "cmd/weft" {
			continue
		}
		for i, p := range packages {
			// After the first, a name may be that of a package in the same folder.
			if sibling := path.Join(path.Dir(packages[0]), p); i > 0 && isFolder(sibling) {
				p = sibling
			}
			packages[i] = p
			named[p] = true
			if !isFolder(strings.TrimSuffix(p, "/…")) {
				t.Errorf("there is no package %s", p)
			}
		}
		if len(cells) < 3 {
			continue
		}
		for _, file := range quotedIn(cells[2]) {
			if !slices.ContainsFunc(append(packages, "cuda"), func(p string) bool {
				_, err := os.Stat(filepath.Join("..", "internal", p, file))
				return err == nil
			}) {
				t.Errorf("%s: there is no file %s", packages[0], file)
			}
		}
	}
	found := 0
	err = filepath.WalkDir("../internal", func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			return err
		}
		found++
		p := strings.TrimPrefix(filepath.ToSlash(folder), "../internal/")
		top, _, _ := strings.Cut(p, "/")
		if !named[p] && !named[top+"/…"] {
			t.Errorf("package %s has no row", p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 50 {
		t.Errorf("only %d packages were found", found)
	}
}

var inQuotes = regexp.MustCompile("`([^`]+)`")

// quotedIn returns the texts of a cell that stand in back quotes.
func quotedIn(cell string) (texts []string) {
	for _, m := range inQuotes.FindAllStringSubmatch(cell, -1) {
		texts = append(texts, m[1])
	}
	return texts
}

// isFolder reports whether a package below internal has a folder.
func isFolder(p string) bool {
	info, err := os.Stat(filepath.Join("..", "internal", p))
	return err == nil && info.IsDir()
}
