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
			"bench":        func(o *output) error { return writeRows(o, "ndjson", 1, benchColumns(&[]benchRow{{Row: row}})) },
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

// writes keeps what each call of Write got.
type writes []string

func (w *writes) Write(b []byte) (int, error) {
	*w = append(*w, string(b))
	return len(b), nil
}

// TestBenchRowsComeSoon: the rows of a pattern are written before the next pattern is measured.
func TestBenchRowsComeSoon(t *testing.T) {
	var out writes
	var errs strings.Builder
	args := []string{"bench", "../../testdata/graphs/karate.txt", "--pattern", "triangle", "--pattern", "wedge", "--pattern", "house", "--runs", "1", "--to", "ndjson"}
	if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	rows := 0
	for _, text := range out {
		if n := strings.Count(text, "\n"); n == 1 && strings.Contains(text, `"median_ms"`) {
			rows++
		}
	}
	if rows != 3 {
		t.Errorf("%d of 3 rows were written one by one: %q", rows, out)
	}
}
