package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft/internal/vfs"
	"github.com/weftgraph/weft/internal/watch"
)

// writeFiles writes files into a folder by their names.
func writeFiles(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// weftIn runs weft, where the arguments name files of a folder by @, and returns what it said.
func weftIn(t *testing.T, dir string, args ...string) (code int, said string) {
	t.Helper()
	var errs strings.Builder
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "@", dir+string(filepath.Separator))
	}
	code = run(t.Context(), args, nil, io.Discard, &errs)
	return code, errs.String()
}

// TestWatchIdentity: a checkpoint is of its graph's content and of all that changes the output, and of nothing else.
func TestWatchIdentity(t *testing.T) {
	const query = "CREATE WATCH w AS MATCH (a)-[e]-(b) RETURN a, b"
	usual := []string{"--state", "@state", "-o", "@out.ndjson", "--progress", "none", "--source", "@u.txt", "-g", "@g.csv"}
	for _, c := range []struct {
		name  string
		args  []string          // of the second run
		query string            // of the second run
		files map[string]string // before the second run
		code  int
	}{
		{name: "nothing"},
		{name: "threads and batches", args: []string{"--threads", "1", "--batch", "1"}},
		{name: "more updates", files: map[string]string{"u.txt": "+ 1 3\n+ 2 5\n"}},
		{name: "columns", query: "CREATE WATCH w AS MATCH (a)-[e]-(b) RETURN b", code: exitInput},
		{name: "emit", query: query + " EMIT ADDED", code: exitInput},
		{name: "direction", args: []string{"--directed=false"}, code: exitInput},
		{name: "an edge", files: map[string]string{"g.csv": "src,dst,label\n1,2,A\n2,3,B\n2,4,A\n"}, code: exitInput},
		{name: "a label", files: map[string]string{"g.csv": "src,dst,label\n1,2,A\n2,3,A\n3,4,A\n"}, code: exitInput},
		{name: "labels of vertices", args: []string{"--labels", "@labels.txt"}, code: exitInput},
		{name: "names of columns", args: []string{"--columns", "src,dst,_"}, code: exitInput},
		{name: "mistakes", args: []string{"--on-error", "skip"}},
		{name: "format of updates", args: []string{"--updates", "text"}, code: exitInput},
	} {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"g.csv": "src,dst,label\n1,2,A\n2,3,B\n3,4,A\n", "u.txt": "+ 1 3\n", "labels.txt": "1 X\n"})
		if code, said := weftIn(t, dir, append([]string{"watch", query}, usual...)...); code != 0 {
			t.Fatalf("exit %d: %s", code, said)
		}
		writeFiles(t, dir, c.files)
		if c.query == "" {
			c.query = query
		}
		code, said := weftIn(t, dir, slices.Concat([]string{"watch", c.query}, c.args, usual)...)
		if code != c.code || c.code != 0 && !strings.Contains(said, "which is another now") {
			t.Errorf("%s: exit %d, want %d: %s", c.name, code, c.code, said)
		}
	}
}

// TestWatchPolicy: an update with a mistake that is in the log of standard input ends the command again and again, until it is passed over. It stays
// so after a restart, also if mistakes are fatal from then on.
func TestWatchPolicy(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.csv": "src,dst\n1,2\n"})
	for _, x := range []struct {
		policy, in string
		code       int
	}{
		{"fatal", "+ 2 3\n+ x 4\n+ 3 4\n", exitInput},
		{"fatal", "", exitInput}, // the mistake is in the log, and what else comes may not be read any more
		{"skip", "+ y 6\n+ 5 6\n", 0},
		{"fatal", "+ 6 7\n", 0},
		{"fatal", "+ z 8\n", exitInput},
	} {
		args := []string{"watch", "--state", "@state", "-o", "@out.ndjson", "--progress", "none", "--source", "-", "--on-error", x.policy, "-g", "@g.csv", "MATCH (a)--(b)"}
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "@", dir+string(filepath.Separator))
		}
		var said strings.Builder
		if code := run(t.Context(), args, strings.NewReader(x.in), io.Discard, &said); code != x.code {
			t.Fatalf("%s %q: exit %d: %s", x.policy, x.in, code, said.String())
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "out.ndjson"))
	if n := strings.Count(string(b), "\n"); err != nil || n != 4 || !strings.Contains(string(b), `"match":{"a":6,"b":7}`) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestInputsKept: an output that is one of the inputs, by whatever name, is a usage error, and the input stays.
func TestInputsKept(t *testing.T) {
	dir := t.TempDir()
	texts := map[string]string{
		"g.txt": "1 2\n2 3\n3 1\n", "u.txt": "+ 1 3 _ 1\n", "labels.txt": "1 X\n", "vertices.csv": "id,label\n1,X\n", "q.gql": "MATCH (a)--(b) RETURN a\n",
	}
	writeFiles(t, dir, texts)
	if err := os.MkdirAll(filepath.Join(dir, "queries"), 0o700); err != nil {
		t.Fatal(err)
	}
	const inner = "MATCH (a)--(b) RETURN b\n"
	writeFiles(t, filepath.Join(dir, "queries"), map[string]string{"q.txt": inner})
	if err := os.Link(filepath.Join(dir, "g.txt"), filepath.Join(dir, "linked.txt")); err != nil {
		t.Fatal(err)
	}
	watch := []string{"watch", "-g", "@g.txt", "--source", "@u.txt", "--progress", "none", "--to", "ndjson"}
	stream := []string{"gen", "stream", "@g.txt"}
	for _, c := range []struct {
		command, rest []string
		code          int
	}{
		{watch, []string{"--pattern", "triangle", "-o", "@u.txt"}, exitUsage},
		{watch, []string{"--pattern", "triangle", "-o", "@g.txt"}, exitUsage},
		{watch, []string{"--pattern", "triangle", "-o", "@linked.txt"}, exitUsage},
		{watch, []string{"--pattern", "triangle", "-o", "@g.txt", "--summary"}, exitUsage},
		{watch, []string{"--pattern", "triangle", "-o", "@labels.txt", "--labels", "@labels.txt"}, exitUsage},
		{watch, []string{"--pattern", "triangle", "-o", "@vertices.csv", "--vertices", "@vertices.csv", "--to", "csv"}, exitUsage},
		{watch, []string{"-f", "@q.gql", "-o", "@q.gql"}, exitUsage},
		{watch, []string{"-f", "@queries", "-o", "@queries/q.txt"}, exitUsage},
		{watch, []string{"-f", "@queries", "-o", "@queries.ndjson"}, 0},
		{watch, []string{"-f", "@q.gql", "-o", os.DevNull}, 0},
		{stream, []string{"--initial", "@g.txt", "-o", "@a.txt"}, exitUsage},
		{stream, []string{"--initial", "@a.txt", "-o", "@g.txt"}, exitUsage},
		{stream, []string{"--initial", "@a.txt", "-o", "@b.txt", "--write-vertices", "@linked.txt"}, exitUsage},
		{stream, []string{"--initial", "@a.txt", "-o", "@b.txt"}, 0},
		{[]string{"replay", "@u.txt"}, []string{"-o", "@u.txt"}, exitUsage},
		{[]string{"match", "-g", "@g.txt", "--pattern", "triangle"}, []string{"-o", "@g.txt"}, exitUsage},
		{[]string{"match", "-g", "@g.txt", "-f", "@queries"}, []string{"-o", "@queries/q.txt"}, exitUsage},
		{[]string{"match", "@linked.txt", "MATCH (a)--(b)"}, []string{"-o", "@g.txt"}, exitUsage},
		{[]string{"count", "-g", "@g.txt", "-f", "@q.gql"}, []string{"-o", "@q.gql", "--to", "json"}, exitUsage},
		{[]string{"count", "-g", "@g.txt", "-f", "@q.gql"}, []string{"-o", "@c.json"}, 0},
	} {
		code, said := weftIn(t, dir, slices.Concat(c.command, c.rest)...)
		if code != c.code || code != 0 && !strings.Contains(said, "would be overwritten") {
			t.Errorf("%q: exit %d, want %d: %s", c.rest, code, c.code, said)
		}
	}
	texts["queries/q.txt"] = inner
	for name, want := range texts {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is now %q, %v", name, got, err)
		}
	}
}

// TestWatchUnended: with a state a last line without a line end waits until it is whole. Without one it is an update.
func TestWatchUnended(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.txt": "100 101\n", "u.txt": "+ 1 2\n+ 3 4"})
	args := []string{"watch", "MATCH (a)--(b) RETURN a, b", "-g", "@g.txt", "--source", "@u.txt", "--progress", "none", "-o", "@out.ndjson"}
	output := func() string {
		b, err := os.ReadFile(filepath.Join(dir, "out.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if code, said := weftIn(t, dir, args...); code != 0 || !strings.Contains(output(), `"a":3,"b":4`) {
		t.Errorf("without a state: exit %d: %s%s", code, said, output())
	}
	args = append(args, "--state", "@state")
	for range 2 {
		if code, said := weftIn(t, dir, args...); code != 0 || strings.Contains(output(), `"a":3`) || !strings.Contains(said, "its last 5 bytes are a line without an end") {
			t.Fatalf("exit %d: %s%s", code, said, output())
		}
	}
	writeFiles(t, dir, map[string]string{"u.txt": "+ 1 2\n+ 3 45\n+ 6 7\n"})
	code, said := weftIn(t, dir, args...)
	if got := output(); code != 0 || strings.Contains(said, "without an end") || strings.Count(got, "\n") != 6 ||
		!strings.Contains(got, `{"seq":2,"query":"MATCH (a)--(b) RETURN a, b","op":"+","match":{"a":3,"b":45}}`) {
		t.Errorf("exit %d: %s%s", code, said, got)
	}
}

// TestWatchStateUsage: flags about a state need one, and a state needs a source that can be read again.
func TestWatchStateUsage(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.txt": "1 2\n", "u.txt": "+ 1 3\n"})
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--source", "@u.txt", "--snapshot", "5"}, "--state"},
		{[]string{"--source", "@u.txt", "--checkpoint", "1s"}, "--state"},
		{[]string{"--source", os.DevNull, "--state", "@state"}, "is not a regular file"},
	} {
		code, said := weftIn(t, dir, append([]string{"watch", "-g", "@g.txt", "--pattern", "wedge"}, c.args...)...)
		if code != exitUsage || !strings.Contains(said, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, code, said)
		}
	}
}

// TestWatchShortOutput: an output that is shorter than its checkpoint, or that is gone, is a state that cannot be used.
func TestWatchShortOutput(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.txt": "1 2\n", "u.txt": "+ 1 3\n"})
	args := []string{"watch", "-g", "@g.txt", "--source", "@u.txt", "--pattern", "wedge", "--state", "@state", "-o", "@out.ndjson"}
	if code, said := weftIn(t, dir, args...); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	out := filepath.Join(dir, "out.ndjson")
	for what, spoil := range map[string]func() error{
		"short": func() error { return os.Truncate(out, 3) },
		"gone":  func() error { return os.Remove(out) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if code, said := weftIn(t, dir, args...); code != exitInput || !strings.Contains(said, "out.ndjson is shorter than it was") {
			t.Errorf("%s: exit %d: %s", what, code, said)
		}
		_ = os.WriteFile(out, nil, 0o600)
	}
}

// TestTimeoutHelp: a command's help has the exit code of a timeout if the command has the flag.
func TestTimeoutHelp(t *testing.T) {
	var visit func(c *cobra.Command)
	n := 0
	visit = func(c *cobra.Command) {
		if strings.Contains(c.Long, "Exit codes:") && c.HasParent() {
			n++
			if has, says := c.Flags().Lookup("timeout") != nil, strings.Contains(c.Long, "\n  124  "); has != says {
				t.Errorf("%s: --timeout %v, 124 %v", c.CommandPath(), has, says)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&app{}).root())
	if n < 10 {
		t.Errorf("%d commands", n)
	}
}

// TestWatchLabels: an edge is written as weft match writes it. In a graph that has labels of edges, one without a label has a null.
func TestWatchLabels(t *testing.T) {
	for _, c := range []struct{ graph, query, want string }{
		{"src,dst,label\n1,2,A\n", "MATCH (a)-[e]->(b) RETURN e", `"match":{"e":{"src":3,"dst":4,"label":null}}}`},
		{"src,dst\n1,2\n", "MATCH (a)-[e]->(b) RETURN e", `"match":{"e":{"src":3,"dst":4}}}`},
	} {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"g.csv": c.graph, "u.txt": "+ 3 4\n"})
		for _, rest := range [][]string{{"-o", "@out.ndjson"}, {"-o", "@out.csv"}} {
			name := filepath.Join(dir, rest[1][1:])
			code, said := weftIn(t, dir, append([]string{"watch", "-g", "@g.csv", "--directed", "--source", "@u.txt", c.query}, rest...)...)
			got, _ := os.ReadFile(name)
			want := c.want
			if strings.HasSuffix(name, ".csv") {
				want = `"` + strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(want, `"match":{"e":`), "}}"), `"`, `""`) + `"`
			}
			if code != 0 || !strings.Contains(string(got), want) {
				t.Errorf("%q: exit %d: %s%s, want %s", c.graph, code, said, got, want)
			}
		}
	}
}

// TestWatchLocked: a state is used by one command at a time, and is free after its end.
func TestWatchLocked(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.txt": "1 2\n", "u.txt": "+ 1 3\n"})
	args := []string{"watch", "-g", "@g.txt", "--source", "@u.txt", "--pattern", "wedge", "--state", "@state", "-o", "@out.ndjson"}
	unlock, err := watch.LockState(vfs.OS{}, filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	if code, said := weftIn(t, dir, args...); code != exitInput || !strings.Contains(said, "another process is using it") {
		t.Errorf("exit %d: %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(dir, "out.ndjson")); err == nil {
		t.Error("there is an output")
	}
	unlock()
	for range 2 {
		if code, said := weftIn(t, dir, args...); code != 0 {
			t.Errorf("exit %d: %s", code, said)
		}
	}
}

// TestWatchExplain: a watch reports changes, and refuses a query that asks for something else.
func TestWatchExplain(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.txt": "1 2\n", "u.txt": "+ 1 3\n"})
	for _, c := range []struct{ query, place string }{
		{"EXPLAIN MATCH (a)--(b)", "line 1, column 1"},
		{"PROFILE MATCH (a)--(b)", "line 1, column 1"},
		{"CREATE WATCH w AS\n  EXPLAIN MATCH (a)--(b)", "line 2, column 3"},
	} {
		code, said := weftIn(t, dir, "watch", "-g", "@g.txt", "--source", "@u.txt", c.query)
		if code != exitQuery || !strings.Contains(said, c.place) || !strings.Contains(said, "weft explain") {
			t.Errorf("%q: exit %d: %s", c.query, code, said)
		}
	}
}

// TestWatchSinks: each sink gets all changes in its format. Two outputs that are one file, and one in the folder of state, are refused.
func TestWatchSinks(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.txt": "1 2\n", "u.txt": "+ 1 3\n", "old.csv": "x"})
	args := []string{"watch", "-g", "@g.txt", "--source", "@u.txt", "--pattern", "wedge", "--state", "@state"}
	err := errors.Join(os.Mkdir(filepath.Join(dir, "state"), 0o700), os.Link(filepath.Join(dir, "old.csv"), filepath.Join(dir, "link.csv")))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rest []string
		want string
	}{
		{[]string{"-o", "@a.csv", "--sink", "@a.csv"}, "two outputs are"},
		{[]string{"--sink", "@new.csv", "--sink", "@state/../new.csv"}, "two outputs are"},
		{[]string{"--sink", "@old.csv", "--sink", "@link.csv"}, "two outputs are"},
		{[]string{"-o", "@state/out.csv"}, "is in the folder of state"},
		{[]string{"--sink", "@a.csv", "--summary"}, "--summary writes none"},
		{[]string{"--sink", "what://x"}, "no broker has addresses of what://"},
	} {
		code, said := weftIn(t, dir, append(slices.Clone(args), c.rest...)...)
		if code != exitUsage || !strings.Contains(said, c.want) {
			t.Errorf("%v: exit %d: %s", c.rest, code, said)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "old.csv")); string(got) != "x" {
		t.Errorf("old.csv is now %q", got)
	}
	if code, said := weftIn(t, dir, append(args, "-o", "@a.ndjson", "--sink", "@b.csv", "--sink", "@old.csv")...); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	const csv = "seq,query,op,v0,v1,v2\n1,wedge,+,2,1,3\n"
	for name, want := range map[string]string{"a.ndjson": `{"seq":1,"query":"wedge","op":"+","match":{"v0":2,"v1":1,"v2":3}}` + "\n", "b.csv": csv, "old.csv": csv} {
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
