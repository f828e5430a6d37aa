package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// matchaValue reads an input of a Matcha program: a number, True or False, or the
// file of a List, a line an item, with blanks or commas between the components of
// a Tuple.
func matchaValue(t, text string) (any, error) {
	switch {
	case t == "int":
		return matchaInt(text)
	case t == "float":
		return matchaFloat(text)
	case t == "bool":
		return matchaBool(text)
	case strings.Contains(t, "float"):
		return matchaItems(t, text, matchaFloat)
	case strings.Contains(t, "bool"):
		return matchaItems(t, text, matchaBool)
	}
	return matchaItems(t, text, matchaInt)
}

func matchaInt(s string) (int64, error) {
	x, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: want a whole number of 64 bits", s)
	}
	return x, nil
}

func matchaFloat(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: want a number", s)
	}
	return x, nil
}

func matchaBool(s string) (bool, error) {
	switch s {
	case "True":
		return true, nil
	case "False":
		return false, nil
	}
	return false, fmt.Errorf("%q: want True or False", s)
}

// matchaItems reads a list's file. Empty lines and lines that begin with # are
// skipped.
func matchaItems[T any](t, path string, parse func(string) (T, error)) (out []T, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	width := 1
	if _, size, ok := strings.Cut(t, ", "); ok { // List[Tuple[int, 2]]
		width, _ = strconv.Atoi(strings.TrimRight(size, "]"))
	}
	for n, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' })
		if len(words) == 0 {
			continue
		}
		if len(words) != width {
			return nil, fmt.Errorf("%s:%d: %d values, want %d", path, n+1, len(words), width)
		}
		for _, w := range words {
			x, err := parse(w)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
			}
			out = append(out, x)
		}
	}
	return out, nil
}
