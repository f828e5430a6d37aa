package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/bench"
)

// TestBenchCounts: counts of JSON are numbers up to 2^53 and strings beyond, and what
// another program printed instead of one number is left as it is.
func TestBenchCounts(t *testing.T) {
	for answer, want := range map[string]string{
		"4": "4", "9007199254740992": "9007199254740992", "9007199254740993": `"9007199254740993"`,
		"": "null", "12 3": `"12 3"`, "007": `"007"`, "1e5": `"1e5"`,
	} {
		row := bench.Row{Name: "weft", Runs: 1, Answer: answer, Agrees: true}
		for what, write := range map[string]func(*output) error{
			"bench":        func(o *output) error { return writeBench(o, "ndjson", []benchRow{{Row: row}}) },
			"bench matcha": func(o *output) error { return writeBenchMatcha(o, "ndjson", []*benchMatchaRow{{Row: row}}, false) },
		} {
			var b bytes.Buffer
			if err := write(&output{w: &b}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), `"count":`+want+",") {
				t.Errorf("%s: no count %s in %s", what, want, b.String())
			}
		}
	}
}
