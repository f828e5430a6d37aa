package gql

import (
	"errors"
	"path"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// ParseText reads a query given as text: a GraphFrames motif where it begins
// with "(" or "!", and the pattern language otherwise. The error is an *Error.
func ParseText(text string) (*Query, error) {
	if isMotif(text) {
		return ParseGraphFrames(text)
	}
	return Parse(text)
}

// isMotif reports whether a text begins as a GraphFrames motif.
func isMotif(text string) bool {
	t := strings.TrimSpace(text)
	return strings.HasPrefix(t, "(") || strings.HasPrefix(t, "!")
}

// ByName returns a query for each pattern of a catalogue name.
func ByName(name string) ([]*Query, error) {
	ps, err := pattern.ByName(name)
	if err != nil {
		return nil, err
	}
	var out []*Query
	for _, p := range ps {
		out = append(out, fileQuery(p, p.Name, p.Name))
	}
	return out, nil
}

// notation is a way to write patterns in a file.
type notation uint8

const (
	notationGQL notation = iota
	notationGraphFrames
	notationTVE
	notationEdgeList
	notationDotmotif
	notationName
)

// ParseFile reads a file of patterns. The extension gives the notation: .gql, .cypher, .weft;
// .dotmotif; .tve. With another extension the beginning of the text does:
//
//   - a keyword: the pattern language;
//   - "(" or "!": GraphFrames;
//   - a "t" or "v" line: the lines of ParseTVE;
//   - an edge "0-1" or "0 1" or "name: 0-1 …": an edge list;
//   - the name of a catalogue pattern;
//   - an arrow: DotMotif.
//
// Errors in the text are of type *Error and name the file.
func ParseFile(file string, data []byte) ([]*Query, error) {
	text := strings.TrimPrefix(string(data), "\ufeff")
	base := path.Base(strings.ReplaceAll(file, "\\", "/"))
	ext := path.Ext(base)
	name := strings.TrimSuffix(base, ext)
	qs, err := parseNotation(sniff(strings.ToLower(ext), text), name, text)
	var e *Error
	if errors.As(err, &e) {
		e.File = base
		e.Offset += len(data) - len(text)
	}
	return qs, err
}

func parseNotation(n notation, name, text string) ([]*Query, error) {
	var q *Query
	var err error
	switch n {
	case notationTVE:
		return ParseTVE(name, text)
	case notationEdgeList:
		return ParseEdgeList(name, text)
	case notationName:
		return ByName(text)
	case notationDotmotif:
		q, err = ParseDotmotif(name, text)
	case notationGraphFrames:
		q, err = ParseGraphFrames(text)
	default:
		return parseGQLFile(name, text)
	}
	if err != nil {
		return nil, err
	}
	if q.Name == "" {
		q.Name = name
	}
	return []*Query{q}, nil
}

// sniff decides the notation of a file.
func sniff(ext, text string) notation {
	switch ext {
	case ".gql", ".cypher", ".cql", ".weft":
		return notationGQL
	case ".dotmotif":
		return notationDotmotif
	case ".tve":
		return notationTVE
	}
	r := &lineReader{text: text}
	if !r.line("#%") {
		return notationGQL
	}
	first := r.fields[0].text
	switch strings.ToUpper(first) {
	case "MATCH", "EXPLAIN", "PROFILE", "DEFINE", "CREATE":
		return notationGQL
	}
	switch {
	case strings.HasPrefix(first, "//"), strings.HasPrefix(first, "/*"):
		return notationGQL
	case first[0] == '(' || first[0] == '!':
		return notationGraphFrames
	case first == "t" || first == "v":
		return notationTVE
	case isDigit(first[0]) || strings.HasSuffix(first, ":"):
		return notationEdgeList
	}
	if n, _, _ := strings.Cut(strings.TrimSpace(text), "("); !strings.Contains(text, "{") {
		if _, err := pattern.Lookup(n); err == nil {
			return notationName
		}
	}
	if strings.ContainsAny(text, ">{.") {
		return notationDotmotif
	}
	return notationEdgeList
}
