package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench"
)

func benchMatcha(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"bench", "matcha"}, args...), strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), code
}

// TestBenchMatcha: programs of one question, and an engine, give one answer.
func TestBenchMatcha(t *testing.T) {
	file := filepath.Join(t.TempDir(), "k4.txt")
	if err := os.WriteFile(file, []byte("1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n4 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := benchMatcha(t, "-g", file, "--program", "motifs4", "--program", "motifs4_parts", "--program", "wedges",
		"--engine", "host", "--runs", "2", "--to", "ndjson")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var rows []map[string]any
	for line := range strings.Lines(out) {
		row := map[string]any{}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	want := []struct{ counts, who, count string }{
		{"motifs(4)", "motifs4 interp", "0 0 0 3 0 1"},
		{"motifs(4)", "motifs4_parts interp", "0 0 0 3 0 1"},
		{"motifs(4)", "engine host", "0 0 0 3 0 1"},
		{"wedge cycle(4)", "wedges interp", "15 3"},
		{"wedge cycle(4)", "engine host", "15 3"},
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows: %s", len(rows), out)
	}
	for i, w := range want {
		r := rows[i]
		if r["counts"] != w.counts || r["who"] != w.who || r["count"] != w.count || r["graph"] != file {
			t.Errorf("%v, want %v", r, w)
		}
		program := !strings.HasPrefix(w.who, "engine")
		if (r["frontend_ms"] != nil) != program || (r["parts_gain"] != nil) != (w.who == "motifs4_parts interp") {
			t.Errorf("%v", r)
		}
	}
}

// TestBenchMatchaInputs: programs with more inputs than a graph are given them.
func TestBenchMatchaInputs(t *testing.T) {
	dir := t.TempDir()
	graph, list := filepath.Join(dir, "g.txt"), filepath.Join(dir, "list.txt")
	for file, text := range map[string]string{graph: "1 2\n", list: "1 2 1 10\n2 3 1 11\n3 1 1 12\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-g", graph, "--program", "temporal", "-i", "gap1=5", "-i", "gap2=5", "-i", "total=9", "--engine", "host", "--runs", "1", "--to", "ndjson"}
	out, errs, code := benchMatcha(t, append(args, "-i", "E="+list+":1,2,4")...)
	if code != 0 || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"count":1,`) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	for _, more := range []string{"", "E=" + list, "k=1", "E"} {
		all := args
		if more != "" {
			all = append(args[:len(args):len(args)], "-i", more)
		}
		if out, errs, code := benchMatcha(t, all...); code == 0 || errs == "" {
			t.Errorf("%s: exit %d: %s", more, code, out)
		}
	}
}

func TestBenchMatchaMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"":                                        "no graph",
		"-g x --program nothing":                  "no such program",
		"-g x --program join":                     "more inputs than a graph",
		"-g x --schedule threads=2":               "want TARGET:KNOBS",
		"-g x --target fast":                      "no target \"fast\"",
		"-g x --schedule fast:g=1":                "no target \"fast\"",
		"-g x --lanes --target c":                 "only the target cuda",
		"-g x --schedule cuda:group=8/5,steal=on": "--schedule cuda:group=5,steal=on: schedule: group=5: want",
		"-g x --engine fast":                      "fast",
		"-g x --runs 0":                           "--runs must be",
	} {
		if _, errs, code := benchMatcha(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
}

// TestCombinations: a knob with several values is as many schedules, and every choice is
// there once.
func TestCombinations(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"threads=2":              "threads=2",
		"group=1/32":             "group=1 group=32",
		"group=1/32,steal=on":    "group=1,steal=on group=32,steal=on",
		"shared=a+b,steal=on/x,": "shared=a+b,steal=on, shared=a+b,steal=x,", // Parse refuses it
		"steal=on/off,loop=static/dynamic": "steal=on,loop=static steal=on,loop=dynamic " +
			"steal=off,loop=static steal=off,loop=dynamic",
	} {
		if got := strings.Join(combinations(text), " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestBenchMatchaUse: rows of a GPU say how it was used, and others nothing of it.
func TestBenchMatchaUse(t *testing.T) {
	rows := []*benchMatchaRow{
		{program: "p", on: onTarget{name: "cuda"}, Row: bench.Row{Agrees: true, Runs: 1},
			use: weft.MatchaUse{Blocks: 2, WarpsFit: 0.75, Thefts: 3}, lanes: weft.MatchaUse{Occupancy: 0.25, Utilisation: 0.5}},
		{program: "p", on: onTarget{name: "cuda"}, Row: bench.Row{Agrees: true, Runs: 1},
			use: weft.MatchaUse{Blocks: 2, WarpsFit: 0.5}, lanesErr: errors.New("late")},
		{program: "p", on: onTarget{name: "c"}, Row: bench.Row{Agrees: true, Runs: 1}},
	}
	var b bytes.Buffer
	if err := writeBenchMatcha(&output{w: &b}, "ndjson", rows, true); err != nil {
		t.Fatal(err)
	}
	want := []string{`"warps_fit":0.75,"thefts":3,"occupancy":0.25,"utilisation":0.5,"count":null,"note":""`,
		`"warps_fit":0.5,"thefts":0,"occupancy":null,"utilisation":null,"count":null,"note":"lanes not counted: late"`,
		`"warps_fit":null,"thefts":null,"occupancy":null,"utilisation":null,"count":null,"note":""`}
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if !strings.Contains(line, want[i]) {
			t.Errorf("%s, want %s", line, want[i])
		}
	}
	b.Reset()
	if err := writeBenchMatcha(&output{w: &b}, "ndjson", rows[2:], false); err != nil || strings.Contains(b.String(), "warps_fit") {
		t.Errorf("%v: %s", err, b.String())
	}
}
