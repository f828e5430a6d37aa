package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/serve"
)

// TestUserKeeps: rights and limits that no flag names stay as they are, for a new password and for tokens.
func TestUserKeeps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.jsonl")
	for _, test := range []struct{ args, want string }{
		{"ana --graphs a,b --metrics --rows 7 --memory 2K", "[[a b] true false 0 7 2048]"},
		{"ana", "[[a b] true false 0 7 2048]"},
		{"ana --memory=", "[[a b] true false 0 7 0]"},
		{"ana --token", "[[a b] true false 0 7 0] [[a b] true false 0 7 0]"},
		{"ana --admin --running 2", "[[a b] true false 0 7 0] [[a b] true true 2 7 0]"},
		{"ana --token --graphs a --admin=false --rows 0", "[[a b] true false 0 7 0] [[a b] true true 2 7 0] [[a] true false 2 0 0]"},
		{"ana --graphs= --metrics=false", "[[a b] true false 0 7 0] [[a] true false 2 0 0] [[] false true 2 7 0]"},
		{"bot --token --graphs c", "[[a b] true false 0 7 0] [[a] true false 2 0 0] [[] false true 2 7 0] [[c] false false 0 0 0]"},
		{"bot --token", "[[a b] true false 0 7 0] [[a] true false 2 0 0] [[] false true 2 7 0] [[c] false false 0 0 0] [[c] false false 0 0 0]"},
		{"new", "[[a b] true false 0 7 0] [[a] true false 2 0 0] [[] false true 2 7 0] [[c] false false 0 0 0] [[c] false false 0 0 0] [[] false false 0 0 0]"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"user", "add", "--users", file}, strings.Fields(test.args)...), strings.NewReader("a long password\n"), &out, &errs); code != exitOK {
			t.Fatal(errs.String())
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, err := serve.ParseAccounts(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range all {
			got = append(got, fmt.Sprint([]any{a.Graphs, a.Metrics, a.Admin, a.Running, a.Rows, a.Memory}))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s:\n%s\nand not\n%s", test.args, strings.Join(got, " "), test.want)
		}
	}
}

// full is a writer that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestUserTokenUntold: a token that could not be written to standard output is not in the file of users. A file that was not there is not made.
func TestUserTokenUntold(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "users.jsonl")
	add := func(out io.Writer, name string) int {
		return run(t.Context(), []string{"user", "add", "--users", file, "--token", "--graphs", "a", name}, strings.NewReader(""), out, io.Discard)
	}
	files := func() (text string) {
		all, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			b, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text += f.Name() + ": " + string(b)
		}
		return text
	}
	if code := add(full{}, "bot"); code == exitOK || files() != "" {
		t.Errorf("exit %d, and %q is there", code, files())
	}
	var out bytes.Buffer
	if code := add(&out, "bot"); code != exitOK || len(out.String()) < 20 {
		t.Fatalf("exit %d, token %q", code, out.String())
	}
	before := files()
	if code := add(full{}, "bot"); code == exitOK || files() != before || strings.Count(before, "\n") != 1 {
		t.Errorf("exit %d:\n%s\nand before\n%s", code, files(), before)
	}
}
