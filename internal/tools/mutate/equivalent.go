package main

import (
	"fmt"
	"strings"
)

// equivalent is an entry of equivalent.txt. An example is:
//
//	internal/plan/bind/bits.go bits.has
//		- if a < b {
//		+ if a <= b {
//		a and b are never equal here, since …
//
// Entries are apart by empty lines; lines that begin with # are comments.
type equivalent struct {
	file, function string
	before, after  string
	reason         string
	used           bool // the code has such a mutant
}

func (e *equivalent) String() string { return key(e.file, e.function, e.before, e.after) }

// key is how a mutant is named, in reports and in equivalent.txt.
func key(file, function, before, after string) string {
	return fmt.Sprintf("%s %s\n\t- %s\n\t+ %s\n", file, function, before, after)
}

func parseEquivalents(text string) ([]*equivalent, error) {
	var out []*equivalent
	var e *equivalent
	n := 0
	whole := func() error {
		if e != nil && (e.before == "" || e.reason == "") {
			return fmt.Errorf("the entry before line %d lacks its lines or its reason", n)
		}
		e = nil
		return nil
	}
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
			if err := whole(); err != nil {
				return nil, err
			}
		case line[0] != '\t':
			if err := whole(); err != nil {
				return nil, err
			}
			file, function, ok := strings.Cut(line, " ")
			if !ok {
				return nil, fmt.Errorf("line %d: want a file and a function", n)
			}
			e = &equivalent{file: file, function: function}
			out = append(out, e)
		case e == nil:
			return nil, fmt.Errorf("line %d: want a file and a function first", n)
		case e.before == "" && strings.HasPrefix(line, "\t- "):
			e.before = line[3:]
		case e.reason == "" && strings.HasPrefix(line, "\t+ "):
			e.after = line[3:]
		case e.before != "" && e.after != "":
			e.reason += strings.TrimSpace(line) + " "
		default:
			return nil, fmt.Errorf("line %d: want the line before, with -, and after, with +", n)
		}
	}
	n++
	return out, whole()
}
