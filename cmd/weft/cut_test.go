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

	info := func(path string) []string { return []string{"info", path} }
	for name, c := range map[string]struct {
		args  func(path string) []string
		codes []int
	}{
		"g.weft":    {info, []int{exitInput}},
		"g.weft.gz": {info, []int{exitInput}},
		"g.sg":      {info, []int{exitInput}},
		"g.gmatch":  {info, []int{exitInput}},
		"g.parquet": {info, []int{exitInput}},
		"g.arrow":   {info, []int{exitInput, exitOK}}, // a stream may lack its end mark
		"g.el.gz":   {info, []int{exitInput}},
		"g.el.zst":  {info, []int{exitInput}},
		"g.arrows":  {info, []int{exitInput, exitOK}},
		"g.mtx":     {info, []int{exitInput, exitOK}},
		"g.tve":     {info, []int{exitInput, exitOK}},
		"g.el":      {info, []int{exitInput, exitOK}},
		"g.csv":     {info, []int{exitInput, exitOK}},
		"v.csv":     {func(path string) []string { return []string{"info", in("g.el"), "--vertices", path} }, []int{exitInput, exitOK}},
		"q.gql":     {func(path string) []string { return []string{"count", "-g", in("g.weft"), "-f", path} }, []int{exitQuery, exitOK}},
		"p.matcha":  {func(path string) []string { return []string{"matcha", "check", path} }, []int{exitQuery, exitOK}},
		"peers.json": {func(path string) []string {
			return []string{"bench", "-g", in("g.weft"), "--pattern", "wedge", "--peers", path, "--runs", "1"}
		}, []int{exitInput}},
		"list.gz": {func(path string) []string {
			return []string{"matcha", "run", in("list.matcha"), "--input", "xs=" + path}
		}, []int{exitInput, exitOK}},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := os.ReadFile(in(name))
			if err != nil {
				t.Fatal(err)
			}
			dot := strings.Index(name, ".")
			cut := in(name[:dot] + "-cut" + name[dot:])
			step := max(1, len(whole)/60)
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
