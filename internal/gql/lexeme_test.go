package gql

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLexemes checks the kinds of the parts of texts, whole and half typed.
func TestLexemes(t *testing.T) {
	letters := map[LexemeKind]string{
		LexemeKeyword: "K", LexemeName: "n", LexemeLabel: "L", LexemeProperty: "p", LexemeFunction: "f", LexemeNumber: "1", LexemeString: "s", LexemeParameter: "$",
		LexemeSymbol: ".", LexemeComment: "c", LexemeMistake: "!",
	}
	for text, want := range map[string]string{
		"":                                     "",
		"MATCH (a:Person)-[e:PAYS]->(b)":       "K.n.L...n.L....n.",
		"match (a:A|!B&(C|D)|3 where a.b)":     "K.n.L..L..L.L..LKn.p.",
		"(a:% )-[:`far away`]-(b:where)":       ".n......L...n.L.",
		"(a:(A) where b)":                      ".n..L.Kn.",
		"(a {age: 3, match: $x})":              ".n.p.1.p.$..",
		"WHERE a.match = 'x' AND deg(a) > 1e3": "Kn.p.sKf.n..1",
		"RETURN count(DISTINCT SUBGRAPHS)":     "Kf.KK.",
		"RETURN both, nodes, `a b` LIMIT 10":   "Kn.n.nK1",
		"DIFFERENT EDGES (edges)":              "KK.n.",
		"WITHIN 24h // why\n/* a */ ON e":      "K1ccKn",
		"MATCH (a) /* no end":                  "K.n.c",
		"a = 'no end":                          "n.s",
		"a = 'wrong \\q' + 1":                  "n.!.1",
		"`no end":                              "n",
		"a = $ + $x + $`y z":                   "n.$.$.$",
		"12abc #x ``":                          "!!n!",
		"clique(4)":                            "f.1.",
		"EXISTS { (a)-->(b:X) } ":              "K..n.....n.L..",
		"a\xffb":                               "n!n",
		"count(é:x)":                           "f.n.L.",
	} {
		var got strings.Builder
		end := 0
		for _, x := range Lexemes(text) {
			if x.Pos < end || x.End <= x.Pos || x.End > len(text) {
				t.Fatalf("%q: %v after %d", text, x, end)
			}
			end = x.End
			got.WriteString(letters[x.Kind])
		}
		if got.String() != want {
			t.Errorf("%q: %s, want %s", text, &got, want)
		}
	}
}

// FuzzLexemes checks that lexemes follow each other inside the text, leave out blanks alone, and are the tokens of a text that the
// lexer takes.
func FuzzLexemes(f *testing.F) {
	for _, x := range []string{"MATCH (a:A {b: 1})--(c) RETURN a", "'\\", "`", "/*", "$`", "1a", "(((:", "a\xff"} {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end, comments := 0, 0
		all := Lexemes(text)
		for _, x := range all {
			if x.Pos < end || x.End <= x.Pos || x.End > len(text) {
				t.Fatalf("%q: %v after %d", text, x, end)
			}
			if between := strings.TrimSpace(strings.ReplaceAll(text[end:x.Pos], "\ufeff", "")); between != "" {
				t.Fatalf("%q: %q is in no lexeme", text, between)
			}
			end = x.End
			if x.Kind == LexemeComment {
				comments++
			}
		}
		if tokens, err := lex(text); err == nil && len(tokens)-1 != len(all)-comments {
			t.Fatalf("%q: %d tokens, %d lexemes with %d comments", text, len(tokens)-1, len(all), comments)
		} else if err == nil && !utf8.ValidString(text) {
			t.Fatal("not UTF-8")
		}
	})
}
