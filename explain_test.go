package weft

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// TestProfile: what is explained and run is what RETURN asks for.
func TestProfile(t *testing.T) {
	g := clique(t, 8) // 56 triangles, 336 embeddings
	for _, c := range []struct {
		text       string
		embeddings int64
		complete   bool
		shows      string
		options    []Option
	}{
		{"", 336, true, "count += ", nil},
		{"", 336, true, "a match: a, b, c", []Option{WithListing(true)}},
		{"RETURN count(*)", 336, true, "count += ", []Option{WithListing(true)}},
		{"RETURN a, id(b)", 336, true, "an embedding: a, b, c", nil},
		{"RETURN a, id(b)", 336, true, "count += ", []Option{WithListing(false)}},
		{"RETURN a LIMIT 7", 7, false, "an embedding: a, b, c", nil},
		{"RETURN exists()", 6, false, "a match: a, b, c", nil},
		{"RETURN participation(b)", 336, true, "at one place of b", nil},
	} {
		q, err := Parse("PROFILE MATCH (a)--(b)--(c)--(a) " + c.text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := g.Explain(t.Context(), q, append(c.options, WithLevels(), WithThreads(1))...)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := e.Write(&b); err != nil {
			t.Fatal(err)
		}
		if r := e.Result; r.Embeddings.Int64() != c.embeddings || r.Complete != c.complete || !strings.Contains(b.String(), c.shows) || !strings.Contains(b.String(), "actually") {
			t.Errorf("%s: %v embeddings, complete %v, want %d, %v, %q in\n%s", c.text, r.Embeddings, r.Complete, c.embeddings, c.complete, c.shows, b.String())
		}
	}
	// Counts of JSON are numbers up to 2^53 and strings beyond.
	for text, want := range map[string]string{
		"(a)--(b)--(c)--(a)": `"actual":56[,}]`, // seconds follow where the search was slow
		// 8·7^19 ways for a and its neighbours
		"REPEATABLE ELEMENTS (a)" + strings.Repeat(", (a)--()", 19): `"actual":"91191161482985144"`,
	} {
		q, err := Parse("PROFILE MATCH " + text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := g.Explain(t.Context(), q, WithLevels(), WithThreads(1))
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(want).Match(b) {
			t.Errorf("%s: no %s in\n%s", text, want, b)
		}
	}
	q, err := Parse("PROFILE MATCH (a)--(b) RETURN a LIMIT 0")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := g.Explain(t.Context(), q, WithLevels()); err != nil || e.Result != nil {
		t.Errorf("LIMIT 0 was run: %v, %v", e, err)
	}
}
