package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestCutInputs: a file that is cut short is never a mistake in the command line. A format
// that knows its length refuses all that is cut; of the others a part may be a whole file.
func TestCutInputs(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(args ...string) {
		t.Helper()
		var errs bytes.Buffer
		if code := run(context.Background(), args, nil, io.Discard, &errs); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs.String())
		}
	}
	text := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must("gen", "er", "--n", "50", "--m", "100", "-o", in("g.weft"))
	for _, name := range []string{"g.el", "g.el.gz", "g.el.zst", "g.mtx", "g.tve", "g.sg", "g.gmatch", "g.parquet", "g.arrow", "g.arrows", "g.weft.gz", "g.csv"} {
		must("convert", in("g.weft"), in(name), "--lossy")
	}
	var labels strings.Builder
	labels.WriteString("id,label\n")
	for i := range 50 {
		labels.WriteString(string(rune('0'+i/10)) + string(rune('0'+i%10)) + ",L\n")
	}
	text("v.csv", labels.String())
	text("q.gql", "MATCH (a)-[e]->(b) WHERE id(a) IN [1, 2] AND deg(b) > 1 RETURN a, b LIMIT 3\n")
	text("p.matcha", "input G: Graph\nlet n = 3\nreturn sum(apply(lambda v: n, None, vertices(G)))\n")
	text("peers.json", `[{"name": "other", "command": ["true"], "seconds": "([0-9]+)"}]`)
	var list bytes.Buffer
	z := gzip.NewWriter(&list)
	_, err := z.Write([]byte("1\n2\n3\n"))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	text("list.gz", list.String())
	text("list.matcha", "input xs: List[int]\nreturn size(xs)\n")
	text("g.graphml", "<graphml><graph edgedefault=\"undirected\">\n<node id=\"1\"/><node id=\"2\"/>\n<edge source=\"1\" target=\"2\"/>\n</graph></graphml>\n")
	text("g.gml", "graph [\n  node [ id 1 label \"a\" ]\n  node [ id 2 label \"b\" ]\n  edge [ source 1 target 2 ]\n]\n")
	text("g.networkx", "1 2 {'weight': 3}\n2 3 {'weight': 4}\n")
	text("g.el.bz2", "BZh91AY&SY\x17\x02\x8d\xeb\x00\x00\x01\xcb\x80\x00\x10\x40\x02\xda\x80\x20\x00\x21\x80\x0c\x01")
	text("labels.txt", strings.ReplaceAll(strings.TrimPrefix(labels.String(), "id,label\n"), ",", " "))
	text("q.dotmotif", "A -> B\nB -> C\nC -> A\n")
	text("q.tve", "t 2 1\nv 0 0 1\nv 1 0 1\ne 0 1\n")
	text("pairs.txt", "1 2\n3 4\n")
	text("pairs.matcha", "input xs: List[Tuple[int, 2]]\nreturn size(xs)\n")
	for _, name := range []string{"v.csv", "labels.txt", "q.gql", "p.matcha"} {
		data, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err = z.Write(data)
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		text(strings.Replace(name, ".", "z.", 1)+".gz", packed.String())
	}

	info := func(path string) []string { return []string{"info", path} }
	type inputs struct {
		args  func(path string) []string
		codes []int
	}
	cases := map[string]inputs{
		"g.weft":         {info, []int{exitInput}},
		"g.weft.gz":      {info, []int{exitInput}},
		"g.sg":           {info, []int{exitInput}},
		"g.gmatch":       {info, []int{exitInput}},
		"g.parquet":      {info, []int{exitInput}},
		"g.arrow":        {info, []int{exitInput, exitOK}}, // a stream may lack its end mark
		"g.el.gz":        {info, []int{exitInput}},
		"g.el.zst":       {info, []int{exitInput}},
		"g.arrows":       {info, []int{exitInput, exitOK}},
		"g.mtx":          {info, []int{exitInput, exitOK}},
		"g.tve":          {info, []int{exitInput, exitOK}},
		"g.el":           {info, []int{exitInput, exitOK}},
		"g.csv":          {info, []int{exitInput, exitOK}},
		"g.graphml":      {info, []int{exitInput}},
		"g.gml":          {info, []int{exitInput, exitOK}},
		"g.networkx":     {info, []int{exitInput, exitOK}},
		"g.el.bz2":       {info, []int{exitInput}},
		"vz.csv.gz":      {func(path string) []string { return []string{"info", in("g.el"), "--vertices", path} }, []int{exitInput}},
		"labels.txt":     {func(path string) []string { return []string{"info", in("g.el"), "--labels", path} }, []int{exitInput, exitOK}},
		"labelsz.txt.gz": {func(path string) []string { return []string{"info", in("g.el"), "--labels", path} }, []int{exitInput}},
		"q.dotmotif":     {func(path string) []string { return []string{"count", "-g", in("g.weft"), "-f", path} }, []int{exitQuery, exitOK}},
		"q.tve":          {func(path string) []string { return []string{"exists", "-g", in("g.weft"), "-f", path} }, []int{exitQuery, exitOK, exitFailure}},
		"qz.gql.gz":      {func(path string) []string { return []string{"match", "-g", in("g.weft"), "-f", path} }, []int{exitInput, exitQuery}},
		"pz.matcha.gz":   {func(path string) []string { return []string{"matcha", "run", "-g", in("g.weft"), path} }, []int{exitInput, exitQuery}},
		"pairs.txt": {func(path string) []string {
			return []string{"matcha", "run", in("pairs.matcha"), "--input", "xs=" + path}
		}, []int{exitInput, exitOK}},
		"v.csv":    {func(path string) []string { return []string{"info", in("g.el"), "--vertices", path} }, []int{exitInput, exitOK}},
		"q.gql":    {func(path string) []string { return []string{"count", "-g", in("g.weft"), "-f", path} }, []int{exitQuery, exitOK}},
		"p.matcha": {func(path string) []string { return []string{"matcha", "check", path} }, []int{exitQuery, exitOK}},
		"peers.json": {func(path string) []string {
			return []string{"bench", "-g", in("g.weft"), "--pattern", "wedge", "--peers", path, "--runs", "1"}
		}, []int{exitInput}},
		"list.gz": {func(path string) []string {
			return []string{"matcha", "run", in("list.matcha"), "--input", "xs=" + path}
		}, []int{exitInput, exitOK}},
	}
	// Every command that reads a graph, with one that is cut short.
	for _, args := range [][]string{
		{"count", "--pattern", "triangle"}, {"match", "--pattern", "triangle"}, {"exists", "--pattern", "triangle"},
		{"exists", "--pattern", "clique(9)"}, {"motifs"}, {"cliques", "-k", "3"}, {"explain", "--pattern", "triangle"},
		{"verify", "--pattern", "triangle"}, {"verify"}, {"matcha", "run", "triangles"}, {"matcha", "explain", "triangles"},
		{"bench", "--pattern", "triangle", "--runs", "1", "--warmup", "0"}, {"bench", "matcha", "--program", "triangles", "--runs", "1", "--warmup", "0"},
		{"convert", "-o", in("copy.csv")},
	} {
		for _, name := range []string{"g.weft", "g.el.gz", "g.parquet"} {
			cases[name+" of "+strings.Join(args, " ")] = inputs{func(path string) []string { return append(args[:len(args):len(args)], "-g", path) }, []int{exitInput}}
		}
	}
	for name, c := range cases {
		name, command, _ := strings.Cut(name, " of ")
		t.Run(name+" "+command, func(t *testing.T) {
			whole, err := os.ReadFile(in(name))
			if err != nil {
				t.Fatal(err)
			}
			dot := strings.Index(name, ".")
			cut := in(name[:dot] + "-cut" + name[dot:])
			step := max(1, len(whole)/60)
			if command != "" {
				step = max(1, len(whole)/4)
			}
			for n := 0; n < len(whole); n += step {
				if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
					t.Fatal(err)
				}
				var errs bytes.Buffer
				code := run(context.Background(), c.args(cut), nil, io.Discard, &errs)
				if !slices.Contains(c.codes, code) {
					t.Errorf("%d of %d bytes: exit %d: %s", n, len(whole), code, errs.String())
				}
				if code == exitInput && !strings.Contains(errs.String(), filepath.Base(cut)) {
					t.Errorf("%d of %d bytes: the file is not named: %s", n, len(whole), errs.String())
				}
			}
		})
	}
}

// TestMissingInputs: a file that is not there, or is a folder, is an input that cannot be
// read, whatever it is for.
func TestMissingInputs(t *testing.T) {
	g, dir := smallGraph(t), t.TempDir()
	list := put(t, "list.matcha", "input xs: List[int]\nreturn size(xs)\n")
	for _, path := range []string{filepath.Join(dir, "none"), dir} {
		for _, args := range [][]string{
			{"count", "-g", path, "--pattern", "triangle"},
			{"exists", "-g", path, "--pattern", "triangle"},
			{"exists", "-g", g, "-f", path},
			{"count", "-g", g, "-f", path},
			{"match", "-g", g, "-f", path},
			{"explain", "-g", g, "-f", path},
			{"verify", "-g", g, "-f", path},
			{"bench", "-g", g, "-f", path},
			{"info", path},
			{"convert", path, filepath.Join(dir, "x.weft")},
			{"info", g, "--vertices", path},
			{"info", g, "--labels", path},
			{"bench", "-g", g, "--pattern", "triangle", "--peers", path},
			{"matcha", "run", path, "-g", g},
			{"matcha", "check", path},
			{"matcha", "run", "triangles", "-g", path},
			{"matcha", "run", list, "--input", "xs=" + path},
			{"bench", "matcha", "-g", path, "--program", "triangles"},
		} {
			var errs bytes.Buffer
			if code := run(context.Background(), args, nil, io.Discard, &errs); code != exitInput || !strings.Contains(errs.String(), path) {
				t.Errorf("%v: exit %d: %s", args, code, errs.String())
			}
		}
	}
}
