//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestFaults: whichever operation on a file fails, a command says the same as without the failure, or ends with an
// error. Its exit code is then that of an input that cannot be read, or of an output that cannot be written. It
// names the file and the cause. The output is there whole, or the file from before is; nothing else is left.
func TestFaults(t *testing.T) {
	in, outs, temp := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("WEFT_CACHE", "off")
	put := func(name, text string) string {
		path := filepath.Join(in, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	g := put("g.txt", "# a graph\n0 1\n1 2\n2 0\n2 3\n3 4\n4 2\n")
	vertices := put("v.csv", "id,label,age\n0,A,3\n1,A,4\n2,B,5\n3,B,6\n4,B,7\n")
	patterns := put("patterns/a.weft", "MATCH (a)--(b)--(c)--(a)\n")
	put("patterns/b.weft", "MATCH (a)--(b)\n")
	list := put("list.txt", "1\n2\n3\n")
	program := put("sum.matcha", "input x: List[int]\nreturn size(x)\n")
	updates := put("updates.txt", "+ 0 4\n- 0 1\n")
	labelled := put("labelled.csv", "src,dst,label\n0,1,A\n1,2,A\n2,0,B\n2,3,B\n3,4,A\n4,2,B\n")
	walks := put("walks.gql", "MATCH (a)-[:A]-(b)-[:B]-(c);\nMATCH (a)-[:B]-(b)-[:B]-(c)\n")
	peers := put("peers.json", `[{"name": "echo", "command": ["echo", "2"], "count": "([0-9]+)"}]`)
	own := filepath.Join(in, "g.weft")
	var said bytes.Buffer
	if code := run(t.Context(), []string{"convert", g, own, "--vertices", vertices}, nil, &said, &said); code != 0 {
		t.Fatal(said.String())
	}
	triangle := "MATCH (a)--(b)--(c)--(a) RETURN a, b, c"
	join := func(args ...string) []string {
		return append([]string{"bench", "join", "--each", "2", "--runs", "1", "--warmup", "0", "--variant", "host:engine=host"}, args...)
	}
	type command struct {
		args []string
		out  string // its name in the folder of outputs, "OUT" in args; "": there is none
	}
	commands := []command{
		{[]string{"count", "-g", g, triangle}, ""},
		{[]string{"count", "-g", own, triangle}, ""},
		{[]string{"count", "-g", own, "-f", patterns}, ""},
		{[]string{"count", "-g", own, "-f", filepath.Dir(patterns)}, ""},
		{[]string{"match", "-g", g, "--vertices", vertices, triangle}, ""},
		{[]string{"motifs", "-g", own, "-k", "3"}, ""},
		{[]string{"info", own}, ""},
		{[]string{"explain", "-g", own, triangle}, ""},
		{[]string{"matcha", "run", program, "--input", "x=" + list}, ""},
		{[]string{"motifs", "-g", own, "-k", "3", "-o", "OUT"}, "motifs.csv"},
		{[]string{"count", "-g", own, triangle, "--to", "csv", "-o", "OUT"}, "count.csv"},
		{[]string{"convert", g, "OUT"}, "out.weft"},
		{[]string{"convert", g, "OUT", "--vertices", vertices}, "out.graphml"},
		{[]string{"partition", g, "-k", "2", "-o", "OUT"}, "parts.csv"},
		{[]string{"gen", "grid", "--dims", "3x3", "-o", "OUT"}, "grid.el"},
		{[]string{"gen", "grid", "--dims", "3x3", "-o", "OUT"}, "grid.weft"},
		{[]string{"gen", "stream", "-g", g, "--insert", "0.5", "--initial", "OUT"}, "initial.weft"},
		{[]string{"gen", "stream", "-g", g, "--insert", "0.5", "--initial", "-", "--initial-to", "csv", "--lossy", "-o", "OUT"}, "updates.txt.gz"},
		{[]string{"replay", updates, "--speed", "max", "-o", "OUT"}, "replayed.txt"},
		{[]string{"verify", own}, ""},
		{[]string{"verify", "-g", g, triangle, "--to", "csv", "-o", "OUT"}, "verified.csv"},
		{[]string{"bench", "-g", g, "-f", patterns, "--peers", peers, "--runs", "1", "--warmup", "0", "-o", "OUT"}, "bench.csv"},
		{[]string{"bench", "watch", "-g", g, "--source", updates, "-f", patterns, "--runs", "1", "--batch", "1", "-o", "OUT"}, "watch.csv"},
		{[]string{"bench", "watch", "-g", own, "--source", updates, triangle, "--runs", "1", "--to", "ndjson"}, ""},
		{append(join("-g", labelled), "--set", "walk4", "-o", "OUT"), "join.csv"},
		{append(join("-g", labelled), "-f", walks, "--to", "csv", "--detail", "OUT"), "detail.ndjson"},
	}
	for _, ext := range []string{"csv", "json", "ndjson", "arrow", "parquet", "csv.gz", "json.zst"} {
		commands = append(commands, command{[]string{"match", "-g", own, triangle, "-o", "OUT"}, "rows." + ext})
	}
	for what, fault := range map[string]errorfs.Fault{
		"any":   {Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
		"full":  {Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true},
		"files": {Kinds: errorfs.Open | errorfs.Create, Err: syscall.EMFILE, Stays: true},
		"shut":  {Kinds: errorfs.Stat, Err: syscall.EACCES},
	} {
		for _, c := range commands {
			t.Run(fmt.Sprintf("%s %s %s: %s", c.args[0], filepath.Base(c.args[len(c.args)-1]), c.out, what), func(t *testing.T) {
				dir, err := os.MkdirTemp(outs, "")
				if err != nil {
					t.Fatal(err)
				}
				out := filepath.Join(dir, c.out)
				args := append([]string{}, c.args...)
				for i := range args {
					if args[i] == "OUT" {
						args[i] = out
					}
				}
				same, failure := untimed, exitFailure
				switch c.args[0] {
				case "count", "match", "motifs":
					args = append(args, "--threads", "1", "--device", "cpu")
				case "bench", "verify":
					args = append(args, "--threads", "1")
					same, failure = numberless, exitUsage
				}
				state := func() string { // of the folder of outputs
					entries, err := os.ReadDir(dir)
					if err != nil {
						t.Fatal(err)
					}
					var all strings.Builder
					for _, e := range entries {
						data, err := os.ReadFile(filepath.Join(dir, e.Name()))
						if err != nil {
							t.Fatal(err)
						}
						fmt.Fprintf(&all, "%s: %q\n", e.Name(), data)
					}
					return all.String()
				}
				var stdout, stderr bytes.Buffer
				if code := run(t.Context(), args, nil, &stdout, &stderr); code != 0 {
					t.Fatalf("%d: %s", code, stderr.String())
				}
				want, written := same(stdout.String()), same(state())
				n := errorfs.Each(t, fault, []string{in, dir, temp}, func(fsys *errorfs.FS) {
					if c.out != "" {
						if err := os.WriteFile(out, []byte("old"), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					before := state()
					stdout.Reset()
					stderr.Reset()
					code := run(vfs.With(t.Context(), fsys), args, nil, &stdout, &stderr)
					op, fired := fsys.Fired()
					after, message := state(), stderr.String()
					fails := exitInput
					if strings.HasPrefix(op.Path, dir) {
						fails = failure
					}
					switch {
					case code == exitOK && op.MustFail():
						t.Errorf("%v: success", op)
					case code == exitOK:
						if same(stdout.String()) != want || same(after) != written {
							t.Errorf("%v: success with %q and %s\nwant %q and %s", op, stdout.String(), after, want, written)
						}
					case !fired:
						t.Errorf("%d: %s", code, message)
					case code != fails:
						t.Errorf("%v: exit code %d, want %d: %s", op, code, fails, message)
					case !strings.Contains(message, fault.Err.Error()):
						t.Errorf("%v: the message does not give the cause: %s", op, message)
					case !strings.Contains(message, in) && !strings.Contains(message, out):
						t.Errorf("%v: the message does not name the file: %s", op, message)
					case after != before:
						t.Errorf("%v: after the failure the folder holds %s\nbefore %s", op, after, before)
					}
					if left, _ := os.ReadDir(temp); len(left) > 0 {
						t.Fatalf("%v: %s is left", op, left[0].Name())
					}
				})
				if n == 0 && (what == "any" || what == "files") {
					t.Error("nothing failed")
				}
			})
		}
	}
}

// tableTimes are fractions in a table, and the blanks that go with their widths.
var tableTimes = regexp.MustCompile(`\b[0-9.]+e-[0-9]+|\b0\.[0-9]+| +`)

// untimed is a text without times.
func untimed(s string) string { return tableTimes.ReplaceAllString(s, " ") }

// numbers are all numbers of a text, and the blanks that go with their widths.
var numbers = regexp.MustCompile(`[0-9][0-9.e+-]*| +`)

// numberless is a text without numbers, most of which are times.
func numberless(s string) string { return numbers.ReplaceAllString(s, " ") }

// TestWatchFaults: whichever operation on a file fails, weft watch writes what it writes without the failure, or ends with an error that names the
// file and the cause. The same command then continues, and its output is that of a command without a failure.
func TestWatchFaults(t *testing.T) {
	in := t.TempDir()
	writeFiles(t, in, map[string]string{
		"g.txt": "0 1\n1 2\n2 0\n2 3\n3 4\n4 2\n", "u.txt": "+ 0 4\n- 0 1\n+ 0 3\n+ 0 1\n",
		"w.gql": "CREATE WATCH ring AS MATCH (a)--(b)--(c)--(a) RETURN a, b, c;\nCREATE WATCH pair AS MATCH (a)--(b) RETURN a, b EMIT ADDED\n",
	})
	watched := func(files vfs.FS, dir string) (code int, message, out string) {
		var stdout, stderr bytes.Buffer
		code = run(vfs.With(t.Context(), files), []string{
			"watch", "-g", filepath.Join(in, "g.txt"), "--source", filepath.Join(in, "u.txt"), "-f", filepath.Join(in, "w.gql"), "--threads", "1", "--progress", "none",
			"--batch", "2", "--checkpoint", "0", "--snapshot", "2", "--state", filepath.Join(dir, "state"), "-o", filepath.Join(dir, "out.ndjson"),
		}, nil, &stdout, &stderr)
		b, err := os.ReadFile(filepath.Join(dir, "out.ndjson"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return code, stderr.String(), string(b)
	}
	code, message, want := watched(vfs.OS{}, t.TempDir())
	if code != exitOK || strings.Count(want, "\n") < 6 {
		t.Fatalf("%d: %s: %s", code, message, want)
	}
	for what, fault := range map[string]errorfs.Fault{
		"any":   {Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
		"half":  {Kinds: errorfs.Read | errorfs.ReadAt, Err: syscall.EIO, Way: errorfs.Half},
		"full":  {Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true},
		"files": {Kinds: errorfs.Open | errorfs.Create, Err: syscall.EMFILE, Stays: true},
	} {
		t.Run(what, func(t *testing.T) {
			failed := 0
			n := errorfs.Each(t, fault, []string{in}, func(fsys *errorfs.FS) {
				dir := t.TempDir()
				code, message, out := watched(fsys, dir)
				op, fired := fsys.Fired()
				fails := exitInput
				if strings.HasPrefix(op.Path, dir) {
					fails = exitFailure
				}
				switch {
				case code == exitOK:
					if out != want {
						t.Errorf("%v: success with %s\nwant %s", op, out, want)
					}
					return
				case !fired:
					t.Errorf("%d: %s", code, message)
				case code != fails:
					t.Errorf("%v: exit code %d, want %d: %s", op, code, fails, message)
				case !strings.Contains(message, fault.Err.Error()):
					t.Errorf("%v: the message does not give the cause: %s", op, message)
				case !strings.Contains(message, in) && !strings.Contains(message, dir):
					t.Errorf("%v: the message does not name the file: %s", op, message)
				}
				failed++
				if code, message, out = watched(vfs.OS{}, dir); code != exitOK || out != want {
					t.Errorf("%v: then exit code %d: %s\nwith %s\nwant %s", op, code, message, out, want)
				}
			})
			if n < 5 || failed < n/2 {
				t.Errorf("%d faults, of which %d were errors", n, failed)
			}
		})
	}
}

// TestSpillFolder: --spill names a folder in which a file can be made, or the command ends before it reads the graph.
func TestSpillFolder(t *testing.T) {
	folder := t.TempDir()
	args := []string{"count", "-g", "none.txt", "--pattern", "triangle", "--spill", folder}
	for _, err := range []error{nil, syscall.EROFS} {
		fault := errorfs.Fault{Kinds: errorfs.Create, Err: err, Stays: true}
		code, text := exitInput, "none.txt"
		if err != nil {
			fault.N, code, text = 1, exitUsage, "--spill "+folder+": no file can be made there: "+err.Error()
		}
		var stdout, stderr bytes.Buffer
		if got := run(vfs.With(t.Context(), errorfs.New(vfs.OS{}, fault)), args, nil, &stdout, &stderr); got != code || !strings.Contains(stderr.String(), text) {
			t.Errorf("%v: exit code %d, want %d: %s", err, got, code, stderr.String())
		}
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("%v: %s is left", err, left[0].Name())
		}
	}
}
