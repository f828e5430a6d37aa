package main

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/reeflective/readline"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/vfs"
)

// completer knows what may stand at a place of a statement.
type completer struct {
	files                                       vfs.FS
	vertexLabels, edgeLabels, properties, words []string
	params                                      map[string]string // of the shell
}

// shellWords are the words of the language that begin with a letter.
var shellWords = []string{
	"MATCH", "WHERE", "RETURN", "DISTINCT", "GROUP BY", "LIMIT", "AS", "AND", "OR", "NOT", "IN", "IS NULL", "IS NOT NULL", "EXISTS", "INDUCED", "DIFFERENT EDGES",
	"ORDERED", "WITHIN", "EXPLAIN", "PROFILE", "count(*)", "exists(*)", "participation(", "deg(", "id(",
}

func newCompleter(files vfs.FS, g *weft.Graph, params map[string]string) *completer {
	names := g.Schema()
	c := &completer{files: files, params: params, vertexLabels: asWritten(names.VertexLabels), edgeLabels: asWritten(names.EdgeLabels), words: slices.Clone(shellWords)}
	for _, p := range slices.Concat(names.VertexProps, names.EdgeProps) {
		c.properties = append(c.properties, p.Name)
	}
	c.properties = asWritten(c.properties)
	if names.Times {
		c.properties = append(c.properties, "time")
	}
	slices.Sort(c.properties)
	c.properties = slices.Compact(c.properties)
	for _, e := range weft.Catalogue() {
		name, _, _ := strings.Cut(e.Usage, "(")
		if name != e.Usage {
			name += "("
		}
		c.words = append(c.words, name)
	}
	return c
}

// complete offers what may stand between two texts.
func (c *completer) complete(text, after string) readline.Completions {
	word, found, space := c.candidates(text, after)
	for i := range found {
		// What is in the text already stays: readline replaces the part between blanks.
		found[i] = text[strings.LastIndexAny(text, " \t\n")+1:len(text)-len(word)] + found[i]
	}
	out := readline.CompleteValues(found...)
	if !space {
		out = out.NoSpace()
	}
	return out
}

// candidates returns the word that a text ends with, the words that may stand in its place before the text after it, and whether a
// blank follows them.
func (c *completer) candidates(text, after string) (word string, found []string, space bool) {
	if strings.HasPrefix(text, ":") {
		name, rest, more := strings.Cut(text, " ")
		switch {
		case !more:
			return text, with(text, shellNames), true
		case name == ":set" && !strings.Contains(rest, " "):
			return rest, with(rest, shellSettings), true
		case name == ":to":
			if _, file, more := strings.Cut(rest, " "); more {
				return file, c.paths(file), false
			}
			return rest, with(rest, sink.Formats), true
		case name == ":graph" || name == ":read":
			return rest, c.paths(rest), false
		case name == ":param" && !strings.Contains(rest, " "):
			return rest, with(rest, slices.Sorted(maps.Keys(c.params))), true
		}
	}
	at := strings.LastIndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) + 1
	word = text[at:]
	before := strings.TrimRight(text[:at], " \t\n")
	switch {
	case strings.HasSuffix(before, "."):
		return word, with(word, c.properties), false
	case strings.HasSuffix(before, "$"):
		return word, with(word, c.parameters(text[:at], after)), false
	case strings.HasSuffix(before, ":") || strings.HasSuffix(before, "|") || strings.HasSuffix(before, "&"):
		if strings.LastIndexByte(before, '[') > strings.LastIndexByte(before, '(') {
			return word, with(word, c.edgeLabels), false
		}
		return word, with(word, c.vertexLabels), false
	case word == "":
		if wantsName(before) {
			return word, namesIn(text, after), false
		}
		return word, nil, false
	}
	names := with(word, namesIn(text[:at], after))
	return word, append(names, with(word, c.words)...), len(names) == 0
}

// wantsName reports whether a name of the query is the likeliest word after a text.
func wantsName(before string) bool {
	all := gql.Lexemes(queryIn(before))
	if len(all) == 0 {
		return false
	}
	switch last := all[len(all)-1]; last.Kind {
	case gql.LexemeKeyword:
		return slices.Contains([]string{"WHERE", "RETURN", "AND", "OR", "NOT", "BY", "DISTINCT", "ORDERED", "ON"}, strings.ToUpper(last.Text))
	case gql.LexemeSymbol:
		return last.Text == "(" && len(all) > 1 && all[len(all)-2].Kind == gql.LexemeFunction
	}
	return false
}

// namesIn returns the names of the query's vertices and edges, as they are written, in their order. Between the two texts another
// word stands.
func namesIn(before, after string) (names []string) {
	before = queryIn(before)
	after = strings.TrimLeftFunc(after, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) })
	for _, text := range []string{before, after} {
		all := gql.Lexemes(text)
		for i, x := range all {
			// A vertex or an edge is named where its bracket opens. Elsewhere the name is one of these, of a column or of the catalogue.
			if x.Kind == gql.LexemeName && i > 0 && (all[i-1].Text == "(" || all[i-1].Text == "[") && (i < 2 || all[i-2].Kind != gql.LexemeFunction) {
				names = append(names, text[x.Pos:x.End])
			}
		}
	}
	return unique(names)
}

// parameters returns the names of the shell's parameters, and those of the query.
func (c *completer) parameters(before, after string) []string {
	names := slices.Sorted(maps.Keys(c.params))
	for _, text := range []string{queryIn(before), after} {
		for _, x := range gql.Lexemes(text) {
			if x.Kind == gql.LexemeParameter && x.Text != "" {
				names = append(names, text[x.Pos+1:x.End])
			}
		}
	}
	return unique(names)
}

// unique leaves the first of equal words.
func unique(words []string) (out []string) {
	for _, x := range words {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// asWritten are names as queries have them: between backticks if they have other characters than letters and digits.
func asWritten(names []string) (out []string) {
	for _, x := range names {
		if strings.ContainsFunc(x, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			x = "`" + strings.ReplaceAll(x, "`", "``") + "`"
		}
		out = append(out, x)
	}
	return out
}

// with are the candidates that begin with a word, in capitals or not.
func with(word string, candidates []string) (out []string) {
	for _, x := range candidates {
		if len(x) >= len(word) && strings.EqualFold(x[:len(word)], word) {
			out = append(out, x)
		}
	}
	return out
}

// paths are the files whose names begin with a path. Those of a folder that cannot be read are none.
func (c *completer) paths(path string) (out []string) {
	folder, name := filepath.Split(path)
	found, _ := c.files.ReadDir(cmp.Or(folder, "."))
	for _, f := range found {
		if strings.HasPrefix(f.Name(), name) {
			out = append(out, folder+f.Name())
		}
	}
	return out
}
