// Package kernels embeds the source of all device code in the program. A compiler gets only the files that a
// program includes. A file's name has its folder, as in #include "base/device.cuh":
//
//   - base: the parts of the machine that a kernel may use (device.cuh has the rules for writing one), thread
//     groups, set operations, tasks, rings of rows, and the kernels that prepare a search;
//   - stack: STMatch's search, with one stack for each warp;
//   - fine: gMatch's search, with one candidate for each lane, its pools and its candidate graph;
//   - neighbourhood: the neighbourhood of one vertex as a bit matrix;
//   - census: the sums of which all motifs follow;
//   - membership: a test of adjacency by one load;
//   - codegen: the loop nest of a plan as one kernel;
//   - join: the phases of GSI's and GENEVA's joins, of plans that are data, over neighbour lists in several layouts;
//   - partition: PBE's search of matches that lie in several parts of a graph;
//   - nest: GCSM's search of the nests of changed edges, over lists in host memory with a cache;
//   - matcha: the phases of generated programs;
//   - pipeline: DCSM's multi-version graph, and the kernel that updates and searches it at the same time.
//
// The package must not know how kernels are compiled or launched.
package kernels

import (
	"embed"
	"fmt"
	"io/fs"
	"iter"
	"strings"
)

//go:embed base stack fine neighbourhood census membership codegen join partition nest matcha pipeline
var files embed.FS

// Source is the text of a file, "base/device.cuh" say. It panics where there is no such file: names are constants of
// the program.
func Source(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("kernels: no file %q", name))
	}
	return string(text)
}

// Names are the names of all files, sorted.
func Names() []string {
	var names []string
	for _, folder := range must(files.ReadDir(".")) {
		for _, f := range must(fs.ReadDir(files, folder.Name())) {
			names = append(names, folder.Name()+"/"+f.Name())
		}
	}
	return names
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err) // the files are embedded
	}
	return x
}

// Includes gives the files that texts include, and those that these include in turn, by name, for cuda.Source.Includes.
// Names that are not files of this package are left to the caller. The map is the caller's to extend.
func Includes(texts ...string) map[string]string {
	found := map[string]string{}
	for _, text := range texts {
		reach(text, found)
	}
	return found
}

func reach(text string, found map[string]string) {
	for name := range included(text) {
		if _, ok := found[name]; ok {
			continue
		}
		if next, err := files.ReadFile(name); err == nil {
			found[name] = string(next)
			reach(found[name], found)
		}
	}
}

// included are the names in a text's lines #include "NAME". A search for the word alone is what is fast enough here: it
// runs over generated texts of a megabyte whenever a search begins.
func included(text string) iter.Seq[string] {
	const word = "#include \""
	return func(yield func(string) bool) {
		for {
			i := strings.Index(text, word)
			if i < 0 {
				return
			}
			atLine := i == 0 || text[i-1] == '\n'
			text = text[i+len(word):]
			name, _, ok := strings.Cut(text[:min(len(text), longestName)], "\"")
			if atLine && ok && !yield(name) {
				return
			}
		}
	}
}

// longestName is more bytes than a file's name has.
const longestName = 100
