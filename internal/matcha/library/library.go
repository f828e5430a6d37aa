// Package library holds the Matcha programs that come with weft: published algorithms for
// subgraph matching. Each program names its paper in its first lines. A program counts each
// subgraph once, unless it says otherwise.
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
	// Counts are the patterns of the catalogue that the components of the result count, if a
	// Graph is the program's only input. "motifs(k)" means all of them, induced. nil means
	// something else.
	Counts []string
}

// counts are the Counts of Entries.
var counts = map[string][]string{
	"triangles":     {"triangle"},
	"wedges":        {"wedge", "cycle(4)"},
	"clique4":       {"clique(4)"},
	"clique5":       {"clique(5)"},
	"clique6":       {"clique(6)"},
	"house":         {"house"},
	"diamonds":      {"diamond"},
	"motifs3":       {"motifs(3)"},
	"motifs4":       {"motifs(4)"},
	"motifs4_parts": {"motifs(4)"},
	"motifs5":       {"motifs(5)"},
	"motifs5_parts": {"motifs(5)"},
	"q1":            {"diamond"},
	"q2":            {"clique(4)"},
	"q3":            {"house"},
	"q4":            {"cycle(5)"},
	"q5":            {"gem"},
	"q6":            {"lollipop(4,1)"},
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
		name := strings.TrimSuffix(path.Base(name), ".matcha")
		out = append(out, Entry{name, strings.TrimPrefix(first, "# "), string(text), counts[name]})
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
