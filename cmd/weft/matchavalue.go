package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/regex"
	"github.com/weftgraph/weft/internal/vfs"
)

// matchaValue reads an input of a Matcha program: a number, True or False, or the file of a
// List. The file has one item on each line, with blanks or commas between the components of a
// Tuple.
func matchaValue(ctx context.Context, t, text string) (any, error) {
	switch {
	case t == "int":
		return matchaInt(text)
	case t == "float":
		return matchaFloat(text)
	case t == "bool":
		return matchaBool(text)
	case strings.Contains(t, "float"):
		return matchaItems(ctx, t, text, matchaFloat)
	case strings.Contains(t, "bool"):
		return matchaItems(ctx, t, text, matchaBool)
	}
	return matchaItems(ctx, t, text, matchaInt)
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

// matchaItems reads a list's file, compressed by gzip perhaps. Empty lines and lines
// that begin with # or % are skipped. path may end in the numbers of the columns that
// make an item, "FILE:1,2,4"; without, a line has an item and nothing else.
func matchaItems[T any](ctx context.Context, t, path string, parse func(string) (T, error)) (out []T, err error) {
	width := 1
	if _, size, ok := strings.Cut(t, ", "); ok { // List[Tuple[int, 2]]
		width, _ = strconv.Atoi(strings.TrimRight(size, "]"))
	}
	path, columns, err := matchaColumns(ctx, path, width)
	if err != nil {
		return nil, err
	}
	data, err := readAll(ctx, path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.SplitSeq(string(data), "\n") {
		n++
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "%") {
			continue
		}
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' })
		if len(words) == 0 {
			continue
		}
		if columns == nil && len(words) != width {
			return nil, fmt.Errorf("%s:%d: %d values, want %d; FILE:1,2,… chooses columns", path, n, len(words), width)
		}
		for i := range width {
			at := i
			if columns != nil {
				at = columns[i]
			}
			if at >= len(words) {
				return nil, fmt.Errorf("%s:%d: %d values, and column %d is asked for", path, n, len(words), at+1)
			}
			x, err := parse(words[at])
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// columnNumbers are the numbers of columns behind a file's name.
var columnNumbers = regex.Once(`^(.+):([0-9]+(?:,[0-9]+)*)$`)

// matchaColumns takes numbers of columns off a file's name, unless there is a file of
// the whole name. The columns count from 0; nil: none are chosen.
func matchaColumns(ctx context.Context, path string, width int) (string, []int, error) {
	parts := columnNumbers().FindStringSubmatch(path)
	if parts == nil {
		return path, nil, nil
	}
	if _, err := vfs.From(ctx).Stat(path); err == nil {
		return path, nil, nil
	}
	var columns []int
	for word := range strings.SplitSeq(parts[2], ",") {
		c, err := strconv.Atoi(word)
		if err != nil || c < 1 {
			return "", nil, fmt.Errorf("column %s: columns count from 1", word)
		}
		columns = append(columns, c-1)
	}
	if len(columns) != width {
		return "", nil, fmt.Errorf("%d columns chosen, want %d", len(columns), width)
	}
	return parts[1], columns, nil
}

// readAll reads a file, and takes gzip off.
func readAll(ctx context.Context, path string) ([]byte, error) {
	data, err := ctxio.ReadFile(ctx, vfs.From(ctx), path, mostText)
	if err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = ctxio.ReadAll(ctx, z, mostText)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}
