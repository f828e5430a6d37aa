package weft_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weftgraph/weft"
)

// put writes a file of a test.
func put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpenSystemErrors: errors.Is finds the error of the operating system in an error of Open, which names the
// file.
func TestOpenSystemErrors(t *testing.T) {
	dir := t.TempDir()
	locked := put(t, "locked.txt", "1 2\n")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	edges := put(t, "edges.txt", "1 2\n")
	missing := filepath.Join(dir, "missing.txt")
	open := func(path string, o ...weft.Option) error {
		_, err := weft.Open(context.Background(), path, o...)
		return err
	}
	parse := func(path string) error {
		_, err := weft.ParseFile(t.Context(), path)
		return err
	}
	for _, c := range []struct {
		name, path, message string
		err, is             error
	}{
		{"missing", missing, "no such file", open(missing), fs.ErrNotExist},
		{"missing labels", missing, "file does not exist", open(edges, weft.WithLabels(missing)), fs.ErrNotExist},
		{"missing queries", missing, "no such file", parse(missing), fs.ErrNotExist},
		{"directory", dir, "is a directory", open(dir), nil},
		{"locked", locked, "permission denied", open(locked), fs.ErrPermission},
	} {
		if c.name == "locked" && c.err == nil {
			continue // a superuser may read it
		}
		var input *weft.InputError
		if !errors.Is(c.err, weft.ErrInput) || !errors.As(c.err, &input) {
			t.Errorf("%s: %T %v, want an InputError", c.name, c.err, c.err)
			continue
		}
		if c.is != nil && !errors.Is(c.err, c.is) {
			t.Errorf("%s: %v is not %v", c.name, c.err, c.is)
		}
		if input.Path != c.path || input.Message != c.message || c.err.Error() != c.path+": "+c.message {
			t.Errorf("%s: path %q, message %q, text %q", c.name, input.Path, input.Message, c.err)
		}
	}
}

// TestInputError: the place of a mistake in a graph is in fields.
func TestInputError(t *testing.T) {
	text := put(t, "text.txt", "1 2\n1 3\n3 -4\n")
	short := put(t, "short.parquet", "PAR1")
	for _, c := range []struct {
		path string
		want weft.InputError
	}{
		{text, weft.InputError{Path: text, Line: 3, Column: 3, Offset: 10, Field: `"-4"`, Message: "negative vertex id: ids are 0 … 2^63-1 (text ids: --columns src:string,dst,…)"}},
		{short, weft.InputError{Path: short, Offset: 4, Message: "the file is cut short: a Parquet file ends with PAR1"}},
	} {
		_, err := weft.Open(context.Background(), c.path)
		var got *weft.InputError
		if !errors.As(err, &got) {
			t.Errorf("%s: %T %v", c.path, err, err)
			continue
		}
		if d := cmp.Diff(c.want, *got, cmpopts.IgnoreUnexported(weft.InputError{})); d != "" {
			t.Errorf("%s: want (-), got (+)\n%s", c.path, d)
		}
	}
}

// TestQueryError: the place of a mistake in a query, a pattern file or a program is in
// fields, and Offset and Length cut it out of the text.
func TestQueryError(t *testing.T) {
	g, err := weft.Open(context.Background(), put(t, "edges.txt", "1 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	parse := func(text string) error {
		_, err := weft.Parse(text)
		return err
	}
	file := func(text string) error {
		_, err := weft.ParseFile(t.Context(), put(t, "patterns.gql", text))
		return err
	}
	program := func(text string) error {
		_, err := weft.ParseMatcha("p.matcha", text)
		return err
	}
	count := func(text string) error {
		q, err := weft.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.Count(context.Background(), q)
		return err
	}
	list := func(text string) error {
		q, err := weft.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.List(context.Background(), q, io.Discard, "csv")
		return err
	}
	for _, c := range []struct {
		name, text, cut string
		parse           func(string) error
		want            weft.QueryError
	}{
		{"end", "MATCH (a)--(b", "", parse, weft.QueryError{Line: 1, Column: 14, Offset: 13, Message: "unexpected end of the text", Expected: ":, properties in {}, WHERE or )"}},
		{"word", "MATCH (ä)--(b)\nWHERE foo bar", "bar", parse, weft.QueryError{Line: 2, Column: 11, Offset: 26, Length: 3}},
		{"not yet", "MATCH (a)-[*2]->(b)", "-", count, weft.QueryError{Line: 1, Column: 10, Offset: 9, Length: 1, Message: "not yet: variable-length edges"}},
		{"parameter", "MATCH (a)--(b) /* $x */\nWHERE id(b) = 1 AND id(a) = $x OR id(b) = $x", "$x", count, weft.QueryError{Line: 2, Column: 29, Offset: 52, Length: 2, Message: "no value for parameter $x"}},
		{"quoted parameter", "MATCH (a)--(b) WHERE id(a) IN [1, $`x y`]", "$`x y`", count, weft.QueryError{Line: 1, Column: 35, Offset: 34, Length: 6}},
		{"parameter of a row", "MATCH (a)--(b) RETURN a, $x", "$x", list, weft.QueryError{Line: 1, Column: 26, Offset: 25, Length: 2}},
		{"file", "\ufeffMATCH (a)--(b)\n  foo", "foo", file, weft.QueryError{File: "patterns.gql", Line: 2, Column: 3, Offset: 20, Length: 3}},
		{"apart", "MATCH (a), (b)", "", count, weft.QueryError{Offset: -1}},
		{"program", "input G: Graph\nreturn sïze(G) + foo\n", "sïze", program, weft.QueryError{File: "p.matcha", Line: 2, Column: 8, Offset: 22, Length: 5}},
		{"text of a program", "\ufeffinput G: Graph\nreturn size(vertices(subgraph(G, '(a)->(b)')))\n", ">", program, weft.QueryError{File: "p.matcha", Line: 2}},
	} {
		err := c.parse(c.text)
		var got *weft.QueryError
		if !errors.Is(err, weft.ErrQuery) || !errors.As(err, &got) {
			t.Errorf("%s: %T %v, want a QueryError", c.name, err, err)
			continue
		}
		if got.Offset >= 0 {
			if cut := c.text[got.Offset : got.Offset+got.Length]; cut != c.cut {
				t.Errorf("%s: cuts out %q, want %q", c.name, cut, c.cut)
			}
			line := strings.Split(strings.TrimPrefix(c.text, "\ufeff"), "\n")[got.Line-1]
			if got.Text != line {
				t.Errorf("%s: text %q, want %q", c.name, got.Text, line)
			}
		}
		if got.Message == "" || !strings.Contains(err.Error(), got.Message) {
			t.Errorf("%s: message %q of %q", c.name, got.Message, err)
		}
		same := cmp.FilterPath(func(p cmp.Path) bool { // what c does not say
			f, ok := p.Last().(cmp.StructField)
			if !ok {
				return false
			}
			switch f.Name() {
			case "Text":
				return true
			case "Message":
				return c.want.Message == ""
			case "Expected", "Suggestion":
				return c.want.Expected == ""
			case "Column", "Offset", "Length":
				return c.name == "text of a program"
			}
			return false
		}, cmp.Ignore())
		if d := cmp.Diff(c.want, *got, cmpopts.IgnoreUnexported(weft.QueryError{}), same); d != "" {
			t.Errorf("%s: %v\nwant (-), got (+)\n%s", c.name, err, d)
		}
	}
}
