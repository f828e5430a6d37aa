package syntax

import (
	"fmt"
	"unicode"
)

// kind is the kind of a token.
type kind uint8

const (
	endOfText kind = iota
	newline
	indent
	dedent
	name
	keyword
	integer
	decimal
	text
	symbol
)

// token is a word of the text. For names, keywords, numbers and symbols word is
// as written; for a quoted text, what is between the quotes.
type token struct {
	kind kind
	word string
	at   Pos
	end  Pos // the character after its last
}

// String is how an error names a token that it did not expect.
func (t token) String() string {
	switch t.kind {
	case endOfText:
		return "the end of the program"
	case newline:
		return "the end of the line"
	case indent:
		return "an indented line"
	case dedent:
		return "the end of an indented block"
	case text:
		return fmt.Sprintf("the text '%s'", t.word)
	}
	return "'" + t.word + "'"
}

// keywords cannot be names.
var keywords = map[string]bool{
	"input": true, "def": true, "let": true, "return": true, "lambda": true,
	"and": true, "or": true, "not": true, "in": true,
	"True": true, "False": true, "None": true,
	"int": true, "float": true, "bool": true, "Tuple": true, "List": true, "Graph": true,
}

// reserved are words of Python that a reader would take for more than a name.
var reserved = map[string]string{
	"for": "apply(func, cond, list) runs a function for each item of a list", "while": "apply(func, cond, list) runs a function for each item of a list",
	"if": "the cond of apply chooses items", "else": "the cond of apply chooses items", "elif": "the cond of apply chooses items",
	"import": "", "class": "", "global": "", "yield": "emit(tuple) lists a match", "pass": "",
}

// symbols, longest first.
var symbols = []string{
	"==", "!=", "<=", ">=", "..",
	"<", ">", "=", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ":",
}

// IsName reports whether s can be the name of a value or function.
func IsName(s string) bool {
	if s == "" || keywords[s] {
		return false
	}
	if _, ok := reserved[s]; ok {
		return false
	}
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return true
}
