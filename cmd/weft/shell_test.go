//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// k4 is the complete graph of four vertices.
func k4(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k4.txt")
	if err := os.WriteFile(path, []byte("0 1\n0 2\n0 3\n1 2\n1 3\n2 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestShellPipe checks the answers and exit codes of statements from a pipe.
func TestShellPipe(t *testing.T) {
	g := k4(t)
	for name, x := range map[string]struct {
		in, out, errs string
		args          []string
		code          int
	}{
		"two on a line":       {in: "MATCH (a)--(b) RETURN a, b LIMIT 1; triangle;", args: []string{"--to", "csv"}, out: "a,b\n"},
		"over lines":          {in: "MATCH (a)--(b)\n--(c)--(a)\nRETURN count(*);\n", args: []string{"--to", "csv"}, out: "\n24,"},
		"ended by empty line": {in: ":count triangle\nMATCH (a)--(b)\nRETURN count(*)\n\n:nonsense\n", args: []string{"--to", "csv"}, out: "\n12,", errs: "unknown command :nonsense", code: exitUsage},
		"ended by the end":    {in: "MATCH (a)--(b) RETURN count(*)", args: []string{"--to", "csv"}, out: "\n12,"},
		"semicolon in quotes": {in: "MATCH (a)--(b) WHERE 'x;' = 'x;' RETURN count(*); // no ; here\n", args: []string{"--to", "csv"}, out: "\n12,"},
		"exists":              {in: ":exists clique(5)\n:exists triangle\n", args: []string{"--to", "csv"}, out: "false,clique(5)\nexists,query\ntrue,"},
		"explain":             {in: ":explain triangle\n", out: "for "},
		"motifs":              {in: ":motifs 3\n", args: []string{"--to", "csv", "--limit", "1", "--order", "ri"}, out: "\n4,24,"},
		"motifs of many":      {in: ":motifs 9\n", errs: "from 3 to 5", code: exitUsage},
		"info":                {in: ":info\n", out: "degeneracy          3\n"},
		"info, more":          {in: ":info k4.txt\n", errs: "stands alone", code: exitUsage},
		"patterns":            {in: ":patterns\n", args: []string{"--to", "csv"}, out: "clique(k)"},
		"graph":               {in: ":graph\n", args: []string{"--to", "csv"}, out: "k4.txt,4,6,false\n"},
		"graph that is not":   {in: ":graph nothing.txt\n:count triangle\n", args: []string{"--to", "csv", "--keep-going"}, out: "\n4,", errs: "nothing.txt", code: exitInput},
		"graph of the pipe":   {in: ":graph -\n", errs: "standard input has the queries", code: exitUsage},
		"verify":              {in: ":verify triangle\n", out: "oracle"},
		"settings":            {in: ":set limit 7\n:set\n", out: "gpu-memory\ninduced false\nlimit 7\n"},
		"read nothing":        {in: ":read\n", errs: "want a file", code: exitUsage},
		"read what is not":    {in: ":read nothing.txt\n", errs: "nothing.txt", code: exitInput},
		"parameter":           {in: ":param d 2\n:params\nMATCH (a) WHERE deg(a) > $d RETURN count(*);", args: []string{"--to", "csv"}, out: "d 2\nembeddings,subgraphs,automorphisms,semantics,complete,seconds,query\n4,"},
		"set":                 {in: ":set limit 2\nMATCH (a)--(b) RETURN a;", args: []string{"--to", "ndjson"}, out: "}\n{"},
		"set to a mistake":    {in: ":set engine hots\n", errs: "hots", code: exitUsage},
		"set the unknown":     {in: ":set limits 2\n", errs: "did you mean limit?", code: exitUsage},
		"near a command":      {in: ":exist triangle\n", errs: "did you mean :exists?", code: exitUsage},
		"first error ends":    {in: "MATCH (a)--(b) RETURN c;\n:help\n", errs: "^", code: exitQuery},
		"keep going":          {in: "MATCH (a)--(b) RETURN c;\n:help\n", args: []string{"--keep-going"}, out: ":quit", errs: "^", code: exitQuery},
		"quit":                {in: ":quit\nMATCH nonsense;\n"},
		"no such folder":      {in: ":to csv " + g + "/x.csv\n", errs: "x.csv", code: exitFailure},
		"over the graph":      {in: ":to csv " + g + "\n", errs: "overwritten", code: exitUsage},
		"graph from the pipe": {args: []string{"-g", "-"}, errs: "standard input has the queries", code: exitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"shell"}, x.args...)
			if name != "graph from the pipe" {
				args = append(args, "-g", g)
			}
			var out, errs bytes.Buffer
			code := run(context.Background(), args, strings.NewReader(x.in), &out, &errs)
			if code != x.code || !strings.Contains(out.String(), x.out) || !strings.Contains(errs.String(), x.errs) || x.code == 0 && errs.Len() > 0 {
				t.Errorf("exit %d\n%s\nstderr:\n%s", code, &out, &errs)
			}
			if name == "first error ends" && out.Len() > 0 {
				t.Errorf("the shell went on: %s", &out)
			}
		})
	}
}

// TestShellLabels checks the table of labels and properties, and that another graph takes the place of the first.
func TestShellLabels(t *testing.T) {
	dir := t.TempDir()
	follows := filepath.Join(dir, "follows.csv")
	if err := os.WriteFile(follows, []byte("src,dst,label,since\nann,bob,FOLLOWS,2001\nbob,ann,FOLLOWS,2003\ncyd,dan,,2004\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	in := ":labels\n:graph " + follows + "\n:labels\n:to ndjson " + filepath.Join(dir, "labels") + "\n:labels\n:count MATCH (a)-[:FOLLOWS]->(b)\n"
	if code := run(t.Context(), []string{"shell", "-g", k4(t), "--to", "csv"}, strings.NewReader(in), &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	const want = "of,kind,name,count,type\nof,kind,name,count,type\nedges,label,FOLLOWS,2,\nedges,without a label,\"\",1,\nedges,property,since,,int64\n"
	if !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), "\n2,2,1,iso") {
		t.Errorf("%s", &out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "labels")); err != nil || !strings.Contains(string(b), `"name":"FOLLOWS","count":2`) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestShellRead checks that the statements of a file are answered, that an error says where it was and ends the file, and that a file
// that reads itself ends.
func TestShellRead(t *testing.T) {
	g, dir := k4(t), t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", "// two\nMATCH (a)--(b)\nRETURN count(*);\n:count triangle")
	bad := file("bad", ":param d 2\n\nMATCH (a) RETURN b;\n:count triangle\n")
	quits := file("quits", ":quit\n:count edge\n")
	self := file("self", "")
	file("self", ":read "+self)
	for name, x := range map[string]struct {
		in, out, errs string
		args          []string
		code          int
	}{
		"good":       {in: ":read " + good + "\n:count edge\n", out: "\n12,6,", errs: ""},
		"bad":        {in: ":read " + bad + "\n:params\n", errs: "ends in line 3 of " + bad, code: exitQuery},
		"keep going": {in: ":read " + bad + "\n:params\n", args: []string{"--keep-going"}, out: "triangle\nd 2", errs: "line 3", code: exitQuery},
		"quit":       {in: ":read " + quits + "\n:count triangle\n"},
		"itself":     {in: ":read " + self + "\n", errs: "16 deep", code: exitUsage},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"shell", "-g", g, "--to", "csv"}, x.args...), strings.NewReader(x.in), &out, &errs)
		if code != x.code || !strings.Contains(out.String(), x.out) || !strings.Contains(errs.String(), x.errs) || x.out == "" && out.Len() > 0 {
			t.Errorf("%s: exit %d\n%s\nstderr:\n%s", name, code, &out, &errs)
		}
		if name == "good" && strings.Count(out.String(), "subgraphs") != 3 {
			t.Errorf("%s", &out)
		}
	}
}

// TestShellColours checks the colours of a text that is typed, and that the line editor's own comments do not get in.
func TestShellColours(t *testing.T) {
	codes := strings.NewReplacer("\x1b[0m", ">", "\x1b[", "<", "m", "m")
	for text, want := range map[string]string{
		"MATCH (a:P) WHERE a.x = 1 // é": "<1;34mMATCH> (a:<36mP>) <1;34mWHERE> a.x = <35m1> <90m<90m// é>",
		"RETURN deg(a), $x, 'a //b":      "<1;34mRETURN> <34mdeg>(a), <33m$x>, <32m'a <32m//b>",
		":count clique(4)":               "<1;34m:count> <34mclique>(<35m4>)",
		":set limit 4":                   "<1;34m:set> limit 4",
		":nonsense 4":                    ":nonsense 4",
		":quit":                          "<1;34m:quit>",
		":cou":                           ":cou",
		"a # b":                          "a <4;31m#> b",
	} {
		if got := codes.Replace(colour(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := codes.Replace(plain("a //b//\n//c")); got != "a >//b//\n>//c" {
		t.Errorf("%s", got)
	}
	t.Setenv("NO_COLOR", "")
	if !coloured() {
		t.Error("no colours")
	}
	t.Setenv("NO_COLOR", "1")
	if coloured() {
		t.Error("colours in spite of NO_COLOR")
	}
}

// TestShellTo checks that :to writes one result, whole, and the next goes to standard output.
func TestShellTo(t *testing.T) {
	g := k4(t)
	file := filepath.Join(t.TempDir(), "rows.csv")
	var out, errs bytes.Buffer
	in := ":to csv " + file + "\nMATCH (a)--(b) RETURN a, b;\n:count triangle\n"
	if code := run(context.Background(), []string{"shell", "-g", g}, strings.NewReader(in), &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	rows, err := os.ReadFile(file)
	if err != nil || strings.Count(string(rows), "\n") != 13 || !strings.Contains(out.String(), "subgraphs") {
		t.Errorf("%v\n%s\n%s", err, rows, &out)
	}
}

// TestShellFullDisk checks that a result that does not fit on the disk leaves no file, and
// that the shell can go on.
func TestShellFullDisk(t *testing.T) {
	t.Setenv("WEFT_CACHE", "off")
	g := k4(t)
	dir := t.TempDir()
	files := errorfs.New(vfs.OS{}, errorfs.Fault{Kinds: errorfs.Write, N: 1, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true})
	var out, errs bytes.Buffer
	in := ":to csv " + filepath.Join(dir, "rows.csv") + "\nMATCH (a)--(b) RETURN a, b;\n:count triangle\n"
	code := run(vfs.With(t.Context(), files), []string{"shell", "-g", g, "--keep-going"}, strings.NewReader(in), &out, &errs)
	if code != exitFailure || !strings.Contains(errs.String(), syscall.ENOSPC.Error()) || !strings.Contains(out.String(), "triangle") {
		t.Errorf("exit %d\n%s\nstderr:\n%s", code, &out, &errs)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestShellTimeout checks that the queries after a timeout are answered.
func TestShellTimeout(t *testing.T) {
	g := bigGraph(t)
	var out, errs bytes.Buffer
	in := ":set timeout 200ms\n:count path(9)\n:set timeout 5m\n:nonsense\n:count edge\n"
	start := time.Now()
	args := []string{"shell", "-g", g, "--keep-going", "--to", "csv", "--engine-opt", "plan.method=nest", "--engine-opt", "plan.tail=off"}
	code := run(t.Context(), args, strings.NewReader(in), &out, &errs)
	if code != exitTimeout || !strings.Contains(out.String(), "false") || !strings.Contains(out.String(), "\n40000,") || !strings.Contains(errs.String(), "unknown command :nonsense") {
		t.Errorf("exit %d after %s\n%s\nstderr:\n%s", code, time.Since(start), &out, &errs)
	}
}

// TestShellCompletion checks what Tab offers at the end of a text.
func TestShellCompletion(t *testing.T) {
	c := &completer{files: vfs.OS{}, vertexLabels: asWritten([]string{"Person", "Place", "3", "far away"}), edgeLabels: []string{"pays"}, properties: []string{"age", "amount"}, words: []string{"MATCH", "RETURN", "triangle", "AND", "OR"}, params: map[string]string{"least": "1"}}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rows.csv"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		":ex":                       ":exists :explain",
		":set th":                   "threads",
		":to nd":                    "ndjson",
		":to csv " + dir + "/ro":    dir + "/rows.csv",
		"MATCH (a:P":                "Person Place",
		"MATCH (a:Person|":          "Person Place 3 `far away`",
		"MATCH (a)-[:":              "pays",
		"MATCH (a)-[e:pays]->(b:pe": "Person",
		"MATCH (a) WHERE a.a":       "age amount",
		"MATCH (a)--(b)\nret":       "RETURN",
		":count tri":                "triangle",
		"MATCH (a) ":                "",
		":gra":                      ":graph",
		":graph " + dir + "/ro":     dir + "/rows.csv",
		":read " + dir + "/no":      "",
		":param l":                  "least",
		"MATCH (account)-[paid:pays]->(`a b`:Person {age: x}) WHERE ":                       "account paid `a b`",
		"MATCH (account)-[paid:pays]->(`a b`:Person {age: x}) WHERE account.age > $m AND a": "account AND",
		"MATCH (pal)--(other) RETURN deg(":                                                  "pal other",
		":count MATCH (pal)--(other) RETURN deg(p":                                          "pal",
		":count MATCH (pal)--(other) WHERE pal.age > ":                                      "",
		"MATCH (pal)--(o^ther) RETURN other":                                                "OR",
		"MATCH (pal)--(other)--(o^) RETURN o":                                               "other OR",
		"MATCH (pal)--(^) RETURN p":                                                         "",
		"MATCH (a) WHERE a.age > $most AND a.age < $":                                       "least most",
		"MATCH (a) WHERE a.nothing ":                                                        "",
	} {
		text, after, _ := strings.Cut(text, "^")
		if _, found, _ := c.candidates(text, after); strings.Join(found, " ") != want {
			t.Errorf("%q: %q, want %q", text, found, want)
		}
	}
}

// TestShellHistory checks that statements are kept for later shells, those that do not fit are dropped from the front, and a
// file that cannot be written is an error once.
func TestShellHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weft", "history")
	t.Setenv("WEFT_HISTORY", path)
	h, err := openHistory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range mostHistory + 1 {
		text := fmt.Sprintf("MATCH (a)\nRETURN %d;", i)
		for range 2 { // what is repeated is kept once
			if _, err := h.Write(text); err != nil || h.failed != nil {
				t.Fatal(err, h.failed)
			}
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`"cut by a cra`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if h, err = openHistory(t.Context()); err != nil || h.Len() != mostHistory/2 {
		t.Fatal(h.Len(), err)
	}
	last, err := h.GetLine(h.Len() - 1)
	if err != nil || last != fmt.Sprintf("MATCH (a)\nRETURN %d;", mostHistory) {
		t.Errorf("%q, %v", last, err)
	}
	files := errorfs.New(vfs.OS{}, errorfs.Fault{Kinds: errorfs.Write, N: 1, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true})
	if h, err = openHistory(vfs.With(t.Context(), files)); err != nil || h.Len() != mostHistory/2 {
		t.Fatal(h.Len(), err)
	}
	if n, err := h.Write("RETURN 1"); n != mostHistory/2+1 || err != nil || !errors.Is(h.failed, syscall.ENOSPC) {
		t.Error(n, err, h.failed)
	}
	t.Setenv("WEFT_HISTORY", "off")
	if h, err = openHistory(t.Context()); err != nil || h.Len() > 0 || h.path != "" {
		t.Error(h, err)
	}
}
