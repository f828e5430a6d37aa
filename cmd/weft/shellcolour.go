package main

import (
	"os"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/gql"
)

// colours are the SGR codes of a text's parts: the terminal's own colours, so that they suit light and dark ones.
var colours = map[gql.LexemeKind]string{
	gql.LexemeKeyword:   "1;34",
	gql.LexemeLabel:     "36",
	gql.LexemeFunction:  "34",
	gql.LexemeNumber:    "35",
	gql.LexemeString:    "32",
	gql.LexemeParameter: "33",
	gql.LexemeComment:   "90",
	gql.LexemeMistake:   "4;31",
}

// commandColour is that of a command of the shell.
const commandColour = "1;34"

// commentBegin is what a key of readline writes before a line to make it a comment.
const commentBegin = "//"

// coloured reports whether the user wants colours.
func coloured() bool { return os.Getenv("NO_COLOR") == "" }

// colour returns a text that is being typed, with its parts coloured.
func colour(text string) string {
	var b strings.Builder
	query := queryIn(text)
	if at := len(text) - len(query); at > 0 {
		name, rest, _ := strings.Cut(text[:at], " ")
		if slices.Contains(shellNames, name) {
			paint(&b, commandColour, name)
			b.WriteString(text[len(name) : at-len(rest)])
			b.WriteString(rest)
		} else {
			b.WriteString(text[:at])
		}
	}
	end := 0
	for _, x := range gql.Lexemes(query) {
		b.WriteString(query[end:x.Pos])
		if code := colours[x.Kind]; code != "" {
			paint(&b, code, query[x.Pos:x.End])
		} else {
			b.WriteString(query[x.Pos:x.End])
		}
		end = x.End
	}
	b.WriteString(query[end:])
	return b.String()
}

// plain returns a text as the line editor shows it without colours.
func plain(text string) string {
	var b strings.Builder
	writeUnmarked(&b, "0", text)
	return b.String()
}

// paint writes a part in a colour.
func paint(b *strings.Builder, code, part string) {
	b.WriteString("\x1b[" + code + "m")
	writeUnmarked(b, code, part)
	b.WriteString("\x1b[0m")
}

// writeUnmarked writes a part with its colour again before each // after a blank. The line editor takes it for the beginning of a
// comment, also in a string, and would colour the rest of the line.
func writeUnmarked(b *strings.Builder, code, part string) {
	for i := range len(part) {
		if strings.HasPrefix(part[i:], commentBegin) && (i == 0 || part[i-1] <= ' ') {
			b.WriteString("\x1b[" + code + "m")
		}
		b.WriteByte(part[i])
	}
}

// queryIn returns the part of a text from which on it is a query: all of it, or what follows a command that takes one.
func queryIn(text string) string {
	if !strings.HasPrefix(text, ":") {
		return text
	}
	name, rest, more := strings.Cut(text, " ")
	if more && slices.Contains(shellQueries, name) {
		return rest
	}
	return ""
}
