package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/bench"
)

// joinGraph is a file of a graph with edge labels.
func joinGraph(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("120\n")
	for u := range 40 {
		for i, step := range []int{1, 3, 7} {
			fmt.Fprintf(&b, "%d %d %d\n", u, (u*step+step+i)%40, (u+i)%4)
		}
	}
	file := filepath.Join(t.TempDir(), "g.train2id.txt")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func benchJoin(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"bench", "join"}, args...), strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), code
}

// lines reads lines of JSON.
func lines(t *testing.T, text string) (rows []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		row := map[string]any{}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestBenchJoin: all contestants finish all queries, every query has a match, and sets that were
// saved give the same matches as drawn ones.
func TestBenchJoin(t *testing.T) {
	file := joinGraph(t)
	detail, saved := filepath.Join(t.TempDir(), "detail"), t.TempDir()
	common := []string{"-g", file, "--runs", "1", "--warmup", "0", "--timeout", "10m", "--to", "ndjson"}
	sets := []string{"--set", "walk6", "--set", "Tr2", "--each", "2"}
	out, errs, code := benchJoin(t, append(append(common[:len(common):len(common)], sets...), "--detail", detail, "--listing", "1000000")...)
	if code != 0 || strings.Contains(errs, "differ") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	rows := lines(t, out)
	if len(rows) != 3*len(joinVariants) {
		t.Fatalf("%d rows: %s", len(rows), out)
	}
	for i, r := range rows {
		who, _, _ := strings.Cut(joinVariants[i%len(joinVariants)], ":")
		queries := []float64{2, 2, 4}[i/len(joinVariants)]
		if r["set"] != []string{"walk6", "Tr2", "all"}[i/len(joinVariants)] || r["who"] != who || r["queries"] != queries || r["finished"] != queries || r["listed"] != queries || r["note"] != "" {
			t.Errorf("%v", r)
		}
		if tables := r["tables"].(float64); who == "join single" && tables == 0 || who == "host" && tables > 0 {
			t.Errorf("%s: tables of %v bytes", who, tables)
		}
	}
	text, err := os.ReadFile(detail)
	if err != nil {
		t.Fatal(err)
	}
	each := lines(t, string(text))
	if len(each) != 4*len(joinVariants) {
		t.Fatalf("%d rows: %s", len(each), text)
	}
	hashes := map[any]map[any]bool{}
	for _, r := range each {
		if hashes[r["query"]] == nil {
			hashes[r["query"]] = map[any]bool{}
		}
		if hashes[r["query"]][r["listing"]] = true; r["listed"] != r["count"] || len(hashes[r["query"]]) != 1 || r["listing"] == "" {
			t.Errorf("listings %v: %v", hashes[r["query"]], r)
		}
		if n, ok := r["count"].(float64); !ok || n < 1 || r["agrees"] != true {
			t.Errorf("%v", r)
		}
		phases, _ := r["phases"].(string)
		if single := r["who"] == "join single"; single && (!strings.HasPrefix(phases, "pattern 0, ") || r["peak"].(float64) > r["tables"].(float64)) {
			t.Errorf("%v", r)
		}
	}
	if _, errs, code := benchJoin(t, append([]string{"-g", file, "--save", saved}, sets...)...); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	again, errs, code := benchJoin(t, append(common, "-f", filepath.Join(saved, "g", "walk6.gql"), "--variant", "nest:engine=host,plan.method=nest")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if r := lines(t, again); len(r) != 1 || r[0]["set"] != "walk6" || r[0]["who"] != "nest" || r[0]["matches"] != rows[0]["matches"] {
		t.Errorf("%s", again)
	}
}

// TestBenchJoinUnfinished: a query that does not end in time, or that an engine refuses, is left
// out and is not a failure.
func TestBenchJoinUnfinished(t *testing.T) {
	file := joinGraph(t)
	out, _, code := benchJoin(t, "-g", file, "--set", "walk4", "--each", "1", "--variant", "late:engine=host", "--timeout", "1ns", "--to", "ndjson")
	if r := lines(t, out); code != 0 || len(r) != 1 || r[0]["finished"] != 0.0 || r[0]["ratio"] != nil || r[0]["note"] != "timeout" {
		t.Errorf("exit %d: %s", code, out)
	}
	queries := filepath.Join(t.TempDir(), "any.gql")
	if err := os.WriteFile(queries, []byte("MATCH (a)-->(b)-[:1]->(c)"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := benchJoin(t, "-g", file, "-f", queries, "--variant", "host:engine=host", "--variant", "compiled:engine=codegen,plan.method=large", "--timeout", "10m", "--to", "ndjson")
	r := lines(t, out)
	if code != 0 || len(r) != 2 || r[0]["finished"] != 1.0 || r[1]["finished"] != 0.0 || !strings.Contains(r[1]["note"].(string), "codegen runs the loop nest only") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// TestBenchJoinListings: listings with the same rows in another order agree. One with another row, or with fewer rows than the count,
// is marked, and the exit code is 1. A query with more rows than asked for is not listed.
func TestBenchJoinListings(t *testing.T) {
	of := func(rows ...[]string) (l listing) {
		for _, ids := range rows {
			l.rows, l.sum = l.rows+1, l.sum+rowHash(ids)
		}
		l.done = true
		return l
	}
	count := func(n string) bench.Row { return bench.Row{Name: n, Runs: 1, Answer: "2", Agrees: true} }
	m := measured{graph: "g", set: "P2", query: "P2#0"}
	for _, name := range []string{"first", "turned", "other", "swapped", "short", "late"} {
		m.rows = append(m.rows, count(name))
	}
	one, two := []string{"1", "23"}, []string{"4", "5"}
	m.listings = []listing{of(one, two), of(two, one), of(one, []string{"4", "6"}), of([]string{"12", "3"}, two), of(one), {err: errTimeout}}
	compareListings(m.rows, m.listings)
	for i, want := range []bool{true, true, false, false, false, false} {
		if m.listings[i].agrees != want {
			t.Errorf("%s agrees: %v, want %v", m.rows[i].Name, !want, want)
		}
	}
	all := []measured{m}
	for i, total := range joinTotals(all) {
		if listed, wrong := []int{1, 1, 1, 1, 1, 0}[i], []int{0, 0, 1, 1, 1, 0}[i]; total.listed != listed || total.wrong != wrong {
			t.Errorf("%s: %d listed, %d of them wrong", total.Name, total.listed, total.wrong)
		}
	}
	var b, errs bytes.Buffer
	if err := writeJoinTotals(&output{w: &b}, "ndjson", true, joinTotals(all)); err != nil || strings.Count(b.String(), "1 LISTINGS DIFFER") != 3 {
		t.Error(b.String(), err)
	}
	a := &app{ctx: t.Context(), stderr: newMessages(t.Context(), &errs), answers: true}
	if err := a.benchJoinEnd(all); err != exitError(exitFailure) || !strings.Contains(errs.String(), "P2#0, other: the listing differs: 2 rows") || strings.Contains(errs.String(), "counts differ") {
		t.Error(err, errs.String())
	}
	m.listings = m.listings[:2]
	if err := a.benchJoinEnd([]measured{m}); err != nil {
		t.Error(err)
	}
	out, _, code := benchJoin(t, "-g", joinGraph(t), "--set", "walk4", "--each", "1", "--variant", "host:engine=host", "--runs", "1", "--warmup", "0", "--timeout", "10m", "--listing", "1", "--to", "ndjson")
	if r := lines(t, out); code != 0 || len(r) != 1 || r[0]["finished"] != 1.0 || r[0]["listed"] != 0.0 {
		t.Errorf("exit %d: %s", code, out)
	}
}

// TestBenchJoinTotals: sets and graphs are summed up apart, and a count that differs is marked.
func TestBenchJoinTotals(t *testing.T) {
	row := func(answer string, agrees bool) []bench.Row {
		return []bench.Row{{Name: "a", Runs: 1, Answer: "7", Agrees: true}, {Name: "b", Runs: 1, Answer: answer, Agrees: agrees}}
	}
	failed := []bench.Row{{Name: "a", Runs: 1, Answer: "7", Agrees: true}, {Name: "b", Err: errors.New("no room")}}
	all := []measured{
		{graph: "g", set: "P2", rows: row("7", true)}, {graph: "g", set: "P2", rows: row("8", false)},
		{graph: "g", set: "P3", rows: failed}, {graph: "h", set: "P3", rows: row("18446744073709551616", true)},
	}
	want := []struct{ graph, set, who, matches string }{
		{"g", "P2", "a", "14"}, {"g", "P2", "b", "15"}, {"g", "P3", "a", "7"}, {"g", "P3", "b", "0"},
		{"g", "all", "a", "21"}, {"g", "all", "b", "15"}, {"h", "P3", "a", "7"}, {"h", "P3", "b", "18446744073709551616"},
	}
	got := joinTotals(all)
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i, w := range want {
		n, _ := new(big.Int).SetString(w.matches, 10)
		if g := got[i]; g.graph != w.graph || g.set != w.set || g.Name != w.who || g.matches.Cmp(n) != 0 {
			t.Errorf("%+v, want %v", g, w)
		}
	}
	var b bytes.Buffer
	if err := writeJoinTotals(&output{w: &b}, "ndjson", false, got); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.Count(s, "1 COUNTS DIFFER") != 2 || strings.Count(s, "no room") != 1 {
		t.Error(s)
	}
	var errs bytes.Buffer
	a := &app{ctx: t.Context(), stderr: newMessages(t.Context(), &errs), answers: true}
	if err := a.benchJoinEnd(all); err != exitError(exitFailure) {
		t.Error(err)
	}
	if err := a.benchJoinEnd(all[2:]); err != exitError(exitTrouble) {
		t.Error(err)
	}
	if err := a.benchJoinEnd(all[3:]); err != nil {
		t.Error(err)
	}
}

func TestBenchJoinMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"":                                "no graph",
		"-g -":                            "read twice",
		"-g x --runs 0":                   "--runs must be",
		"-g x --each -1":                  "--each cannot be negative",
		"-g x --timeout 0s":               "--timeout must be positive",
		"-g x --set walk5":                "did you mean walk",
		"-g x -f y --set P2":              "does not go with",
		"-g x --variant host":             "want NAME:SETTING",
		"-g x --variant host:threads=few": "not a number of threads",
	} {
		if _, errs, code := benchJoin(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
}

// TestBenchJoinPeers: other programs read the graph and the query from files in their form. One
// that counts otherwise is marked; one that has no such query, or no such set, is left out.
func TestBenchJoinPeers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	graph := write("g.train2id.txt", "3\n1 2 0\n2 3 1\n3 1 0\n")
	query, either := write("q.gql", "MATCH (a)-[:0]->(b)-[:1]->(c)"), write("any.gql", "MATCH (a)-[:0]-(b)")
	peers := write("peers.json", `[
		{"name": "edges", "input": "gsi", "command": ["cat", "{graph}"], "count": "e 1 0 ([0-9])"},
		{"name": "vertices", "input": "tve", "command": ["cat", "{query}"], "count": "t ([0-9]+) "},
		{"name": "other set", "input": "tve", "command": ["false"], "patterns": ["P2"]}]`)
	work := filepath.Join(dir, "work")
	args := []string{"-g", graph, "-f", query, "-f", either, "--variant", "host:engine=host", "--peers", peers, "--work", work, "--to", "ndjson", "--timeout", "10m"}
	out, errs, code := benchJoin(t, args...)
	if code != exitFailure || !strings.Contains(errs, "counts differ") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	rows := lines(t, out)
	if len(rows) != 12 {
		t.Fatal(out)
	}
	for i, want := range []struct {
		who, note string
		finished  float64
	}{
		{"host", "", 1}, {"edges", "", 1}, {"vertices", "1 COUNTS DIFFER", 1}, {"other set", "it does not take part in this set", 0},
		{"host", "", 1}, {"edges", "not in this form: other programs have no edges of either direction in a directed graph", 0},
	} {
		if r := rows[i]; r["who"] != want.who || r["note"] != want.note || r["finished"] != want.finished {
			t.Errorf("%v, want %v", r, want)
		}
	}
	for name, want := range map[string]string{"g.gsi": "t # 0\n3 3 1 3\n", "g.tve": "t 9 9\nv 0 0 2\n"} {
		if text, err := os.ReadFile(filepath.Join(work, name)); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	if _, errs, code := benchJoin(t, "-g", graph, "--peers", peers); code != exitUsage || !strings.Contains(errs, "--work") {
		t.Errorf("exit %d: %s", code, errs)
	}
	bad := write("bad.json", `[{"name": "x", "command": ["true"]}]`)
	if _, errs, code := benchJoin(t, "-g", graph, "--peers", bad, "--work", work); code != exitInput || !strings.Contains(errs, "want one of tve, gsi") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestBenchJoinEmpty: a set without queries is named.
func TestBenchJoinEmpty(t *testing.T) {
	file := filepath.Join(t.TempDir(), "g.txt")
	if err := os.WriteFile(file, []byte("0 1\n1 2\n2 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, code := benchJoin(t, "-g", file, "--set", "P2", "--set", "walk12", "--each", "1", "--runs", "1", "--variant", "host:engine=host")
	if code != 0 || !strings.Contains(errs, "set walk12 has no queries") || strings.Contains(errs, "set P2") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
