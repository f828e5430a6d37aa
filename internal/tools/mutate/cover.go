package main

import (
	"path"
	"strconv"
	"strings"
)

// block is code that runs as one, from a line and column to another.
type block struct{ line, col, endLine, endCol int }

// coverage has the blocks of files that tests run, by the file's path in the
// module.
type coverage map[string][]block

// add reads a profile of go test.
func (c coverage) add(profile string) {
	for line := range strings.Lines(profile) {
		// module/file.go:line.col,line.col statements count
		place, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		f := strings.FieldsFunc(rest, func(r rune) bool { return r == '.' || r == ',' || r == ' ' })
		if !ok || len(f) != 6 || f[5] == "0" {
			continue
		}
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(f[i])
		}
		file := strings.TrimPrefix(place, module+"/")
		c[path.Clean(file)] = append(c[path.Clean(file)], block{n[0], n[1], n[2], n[3]})
	}
}

const module = "github.com/weftgraph/weft"

func (c coverage) has(file string, line, col int) bool {
	for _, b := range c[file] {
		if (line > b.line || line == b.line && col >= b.col) && (line < b.endLine || line == b.endLine && col <= b.endCol) {
			return true
		}
	}
	return false
}
