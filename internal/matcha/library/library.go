// Package library is the Matcha programs that come with weft: published
// algorithms for subgraph matching, each with its paper in its first lines. The
// programs count subgraphs, each once, unless they say otherwise.
package library

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/syntax"
)

//go:embed *.matcha
var files embed.FS

// Entry is a program of the library.
type Entry struct {
	Name string
	Doc  string // the first line of the program's comment
	Text string
}

// Entries are all programs, by name.
func Entries() []Entry {
	names, err := fs.Glob(files, "*.matcha")
	if err != nil {
		panic(err)
	}
	var out []Entry
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		out = append(out, Entry{strings.TrimSuffix(path.Base(name), ".matcha"), strings.TrimPrefix(first, "# "), string(text)})
	}
	return out
}

// Parse reads a program of the library.
func Parse(name string) (*syntax.File, error) {
	var known []string
	for _, e := range Entries() {
		if e.Name == name {
			return syntax.ParseNamed(name, e.Text)
		}
		known = append(known, e.Name)
	}
	return nil, fmt.Errorf("the library has no program %s; it has %s", name, strings.Join(known, ", "))
}
