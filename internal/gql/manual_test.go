package gql

import (
	"os"
	"strings"
	"testing"
)

// TestManual reads each fenced block of the manual in the notation it names.
func TestManual(t *testing.T) {
	data, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	notations := map[string]func(string) ([]*Query, error){
		"weft":        func(s string) ([]*Query, error) { return ParseFile("manual.weft", []byte(s)) },
		"graphframes": func(s string) ([]*Query, error) { return ParseFile("manual.motif", []byte(s)) },
		"tve":         func(s string) ([]*Query, error) { return ParseFile("manual.tve", []byte(s)) },
		"dotmotif":    func(s string) ([]*Query, error) { return ParseFile("manual.dotmotif", []byte(s)) },
	}
	parts := strings.Split(string(data), "\n```")
	blocks := 0
	for i := 1; i < len(parts); i += 2 {
		notation, text, _ := strings.Cut(parts[i], "\n")
		notation, later := strings.CutSuffix(notation, " not yet")
		if notation == "console" {
			continue // the tests of docs run it
		}
		parse := notations[notation]
		if parse == nil {
			t.Errorf("block %q is in no known notation", notation)
			continue
		}
		qs, err := parse(text)
		if err != nil {
			t.Errorf("%s\n%v", text, err)
			continue
		}
		blocks++
		for _, q := range qs {
			checkRoundTrip(t, q)
			if err := NotYet(q); later != (err != nil) {
				t.Errorf("%s\nmarked as not yet: %v, and the program says %v", text, later, err)
			}
			if err := q.CheckConnected(); err != nil {
				t.Errorf("%s\n%v", text, err)
			}
		}
	}
	if blocks < 20 {
		t.Errorf("the manual has only %d blocks", blocks)
	}
}

// TestManualShowsRealErrors compares the error that the manual shows.
func TestManualShowsRealErrors(t *testing.T) {
	data, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse("MATCH (a)--(b) RETRUN a")
	want := "    " + strings.ReplaceAll(err.Error(), "\n", "\n    ")
	if !strings.Contains(string(data), want) {
		t.Errorf("the manual lacks\n%s", want)
	}
}
