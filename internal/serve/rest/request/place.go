package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// path is a place inside a body: names of fields, and numbers of items of lists.
type path []any

// String is the path as people write it, as params.ids[2]. It is "" for the whole body.
func (p path) String() string {
	var b []byte
	for _, step := range p {
		switch step := step.(type) {
		case int:
			b = fmt.Appendf(b, "[%d]", step)
		case string:
			if len(b) > 0 {
				b = append(b, '.')
			}
			if len(step) > mostName {
				step = step[:mostName] + "…"
			}
			b = append(b, bytes.ToValidUTF8([]byte(step), []byte("�"))...)
		}
	}
	return string(b)
}

// mostName is the number of bytes of a field's name that an error shows.
const mostName = 60

// scan goes through the values of a text, which must be JSON without mistakes.
type scan struct {
	text []byte
	at   int
	path path
}

// twice finds the second field of the same name in an object, at any depth: its path and its place. It returns a nil path if there is none.
func twice(text []byte) (path, int) {
	s := scan{text: text}
	return s.twice()
}

func (s *scan) twice() (path, int) {
	switch s.blank() {
	case '{':
		seen := map[string]bool{}
		for s.each('}') {
			at := s.at
			name := s.name()
			s.path = append(s.path, name)
			if seen[name] {
				return slices.Clone(s.path), at
			}
			seen[name] = true
			if p, at := s.twice(); p != nil {
				return p, at
			}
			s.path = s.path[:len(s.path)-1]
		}
	case '[':
		s.path = append(s.path, 0)
		for i := 0; s.each(']'); i++ {
			s.path[len(s.path)-1] = i
			if p, at := s.twice(); p != nil {
				return p, at
			}
		}
		s.path = s.path[:len(s.path)-1]
	default:
		s.skip()
	}
	return nil, 0
}

// find returns the place of the value at a path, and that of the name of its field, which is the value's own in a list. Where the path leads to
// nothing, these are of the last value on the way.
func find(text []byte, to path) (value, name int) {
	s := scan{text: text}
	s.blank()
	value, name = s.at, s.at
	for _, step := range to {
		found := false
		switch open := s.blank(); {
		case open == '{':
			for !found && s.each('}') {
				at := s.at
				if found = s.name() == step; found {
					name = at
				} else {
					s.skip()
				}
			}
		case open == '[':
			for i := 0; !found && s.each(']'); i++ {
				if found = i == step; !found {
					s.skip()
				}
			}
			name = s.at
		}
		if !found {
			break
		}
		s.blank()
		value = s.at
	}
	return value, name
}

// holding is the path of the innermost value that has a byte.
func holding(text []byte, offset int) (out path) {
	s := scan{text: text}
	for in := true; in; {
		in = false
		open := s.blank()
		for i := 0; !in && (open == '{' && s.each('}') || open == '[' && s.each(']')); i++ {
			step := any(i)
			if open == '{' {
				step = s.name()
			}
			s.blank()
			from := s.at
			if s.skip(); from <= offset && offset < s.at {
				out, s.at, in = append(out, step), from, true
			}
		}
	}
	return out
}

// blank skips blanks, and returns the character after them, which it does not skip.
func (s *scan) blank() byte {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\n' || s.text[s.at] == '\r') {
		s.at++
	}
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// each goes to the next part of an object or a list, behind its bracket or a comma. It skips the closing bracket, and returns false, after the last part.
func (s *scan) each(closing byte) bool {
	switch s.blank() {
	case closing:
		s.at++
		return false
	case '{', '[', ',':
		s.at++
	}
	if s.blank() != closing {
		return true
	}
	s.at++ // nothing is in it
	return false
}

// name reads the name of a field, and skips the colon.
func (s *scan) name() string {
	from := s.at
	s.skip()
	var name string
	_ = json.Unmarshal(s.text[from:s.at], &name)
	s.blank()
	s.at++
	return name
}

// skip skips a value.
func (s *scan) skip() {
	s.blank()
	for depth := 0; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '"':
			for s.at++; s.text[s.at] != '"'; s.at++ {
				if s.text[s.at] == '\\' {
					s.at++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				s.at++
				continue
			}
			for s.at < len(s.text) && bytes.IndexByte([]byte(",]} \t\r\n"), s.text[s.at]) < 0 { // a number or a word
				s.at++
			}
			return
		}
		if s.at++; depth == 0 {
			return
		}
	}
}

// Place is a place in a body. Line and Column, in characters, count from 1, and Offset, in bytes, from 0.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

// placeAt is the place of a byte of a text.
func placeAt(text []byte, offset int) Place {
	offset = min(max(offset, 0), len(text))
	before := text[:offset]
	line := bytes.LastIndexByte(before, '\n') + 1
	return Place{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[line:]) + 1, offset}
}
