//go:build unix

package weft

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/vfs"
)

// readers are calls that read a graph in different ways: on one goroutine and on several,
// in Go, in assembly and in C.
func readers(t *testing.T) map[string]func(ctx context.Context, g *Graph, q *Query) (any, error) {
	t.Helper()
	count := func(options ...Option) func(context.Context, *Graph, *Query) (any, error) {
		return func(ctx context.Context, g *Graph, q *Query) (any, error) {
			r, err := g.Count(ctx, q, options...)
			if r.Embeddings == nil {
				return "", err
			}
			return r.Embeddings.String(), err
		}
	}
	run := func(target string) func(context.Context, *Graph, *Query) (any, error) {
		return func(ctx context.Context, g *Graph, _ *Query) (any, error) {
			r, err := degrees.Run(ctx, map[string]any{"G": g}, nil, WithTarget(target))
			if len(r.Values) == 0 {
				return "", err
			}
			return r.Values[0], err
		}
	}
	all := map[string]func(ctx context.Context, g *Graph, q *Query) (any, error){
		"count":       count(),
		"nest":        count(WithEngineOption("plan.method", "nest"), WithThreads(4)),
		"one thread":  count(WithEngineOption("plan.method", "nest"), WithThreads(1)),
		"enumeration": count(WithEngineOption("plan.tail", "off"), WithOrder("ri"), WithThreads(4)),
		"local":       count(WithEngineOption("plan.method", "local")),
		"a program":   run("interp"),
		"list": func(ctx context.Context, g *Graph, q *Query) (any, error) {
			var b bytes.Buffer
			r, err := g.List(ctx, q, &b, "csv", WithThreads(4))
			if r.Embeddings == nil {
				return "", err
			}
			return r.Embeddings.String(), err
		},
		"match": func(ctx context.Context, g *Graph, q *Query) (any, error) {
			n := 0
			for m, err := range g.Match(ctx, q) {
				if err != nil {
					return "", err
				}
				if m.Vertex("a") != nil {
					n++
				}
			}
			return n, nil
		},
		"motifs": func(ctx context.Context, g *Graph, _ *Query) (any, error) {
			r, err := g.Motifs(ctx, 3)
			if len(r) == 0 {
				return "", err
			}
			return r[0].Embeddings.String(), err
		},
		"formulas": func(ctx context.Context, g *Graph, _ *Query) (any, error) {
			r, err := g.Motifs(ctx, 4)
			if len(r) == 0 {
				return "", err
			}
			return r[0].Embeddings.String(), err
		},
		"info": func(ctx context.Context, g *Graph, _ *Query) (any, error) {
			r, err := g.Info(ctx)
			if r == nil {
				return "", err
			}
			return r.Components, err
		},
		"participation": func(ctx context.Context, g *Graph, q *Query) (any, error) {
			r, err := g.Participation(ctx, q, "a")
			if r == nil {
				return "", err
			}
			return r.Embeddings.String(), err
		},
		"exists": func(ctx context.Context, g *Graph, _ *Query) (any, error) {
			yes, _, err := g.Exists(ctx, asked(t, "MATCH (a)--(b)--(c)--(a) WHERE a.id < 0"))
			if err != nil && !yes {
				return "", err
			}
			return yes, err
		},
		"write": func(ctx context.Context, g *Graph, _ *Query) (any, error) {
			dir := t.TempDir()
			err := g.Write(ctx, filepath.Join(dir, "copy.weft"), WriteOptions{})
			if l, _ := os.ReadDir(dir); err != nil && len(l) == 0 {
				return "", err
			}
			return "a file", err
		},
		"write text": func(ctx context.Context, g *Graph, _ *Query) (any, error) {
			dir := t.TempDir()
			err := g.Write(ctx, filepath.Join(dir, "copy.csv.gz"), WriteOptions{AllowLoss: true})
			if l, _ := os.ReadDir(dir); err != nil && len(l) == 0 {
				return "", err
			}
			return "a file", err
		},
		"verify": func(ctx context.Context, g *Graph, q *Query) (any, error) {
			v, err := g.Verify(ctx, q, time.Minute)
			if v == nil {
				return "", err
			}
			return v.Result.Embeddings.String(), err
		},
	}
	if _, err := native.C(); err == nil && !testing.Short() {
		all["C"] = count(WithEngine("codegen"), WithDevice("cpu"))
		all["a program in C"] = run("c")
	}
	return all
}

// TestChangedFile: if a file becomes shorter or is overwritten while it is in use, the call that reads it and all
// later calls return an input error with its name, and no answer. If another file takes its name, all calls
// succeed, because the graph keeps the file that it opened.
func TestChangedFile(t *testing.T) {
	t.Setenv("WEFT_CACHE", t.TempDir())
	q := asked(t, "MATCH (a)--(b)--(c)--(a)")
	first := weftFile(t, Spec{Model: "er", N: 5000, M: 40_000, Seed: 1})
	other := weftFile(t, Spec{Model: "er", N: 5000, M: 40_000, Seed: 2})
	old, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	for how, change := range map[string]struct {
		do  func(name string) error
		bad bool
	}{
		"emptied":     {func(name string) error { return os.Truncate(name, 0) }, true},
		"cut":         {func(name string) error { return os.Truncate(name, int64(len(data)/3)) }, true},
		"overwritten": {func(name string) error { return overwrite(name, data) }, true},
		"replaced": {func(name string) error {
			return errors.Join(os.WriteFile(name+".new", data, 0o600), os.Rename(name+".new", name))
		}, false},
	} {
		for what, search := range readers(t) {
			name := filepath.Join(t.TempDir(), "mine.weft")
			past := time.Now().Add(-time.Hour)
			if err := errors.Join(os.WriteFile(name, old, 0o600), os.Chtimes(name, past, past)); err != nil {
				t.Fatal(err)
			}
			g := mustOpen(t, name)
			if what == "local" { // what it reads first is there before
				if _, err := search(t.Context(), g, q); err != nil {
					t.Fatal(err)
				}
			}
			if err := change.do(name); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got, err := search(t.Context(), g, q)
				switch {
				case !change.bad && err != nil:
					t.Errorf("%s, %s: %v", how, what, err)
				case change.bad && (!errors.Is(err, ErrInput) || !strings.Contains(err.Error(), name)):
					t.Errorf("%s, %s: %v", how, what, err)
				case change.bad && got != "":
					t.Errorf("%s, %s: the answer %v together with %v", how, what, got, err)
				}
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// overwrite replaces the bytes of a file in place.
func overwrite(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

// TestChangedDuringSearch: the file becomes shorter while several threads search it.
func TestChangedDuringSearch(t *testing.T) {
	t.Setenv("WEFT_CACHE", t.TempDir())
	q := asked(t, "MATCH (a)--(b)--(c)--(d)--(e)")
	name := weftFile(t, Spec{Model: "er", N: 40_000, M: 1_100_000, Seed: 1})
	g := mustOpen(t, name)
	defer g.Close()
	var once bool
	progress := WithProgress(func(p Progress) {
		if !once {
			once = true
			if err := os.Truncate(name, 4096); err != nil {
				t.Error(err)
			}
		}
	})
	r, err := g.Count(t.Context(), q, WithEngineOption("plan.tail", "off"), WithOrder("ri"), WithThreads(4), progress)
	if !once || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), name) || r.Embeddings != nil {
		t.Errorf("%v: %v", r.Embeddings, err)
	}
	if _, err := g.List(t.Context(), q, io.Discard, "csv"); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}

// atSync is a file system that calls a function when a file is synced to the disk.
type atSync struct {
	vfs.FS
	do func()
}

type syncedFile struct {
	vfs.File
	do func()
}

func (s atSync) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return syncedFile{f, s.do}, nil
}

func (f syncedFile) Sync() error {
	f.do()
	return f.File.Sync()
}

// TestChangedAtLast changes an input while the last output is synced to the disk: Write then leaves neither one
// output file nor two.
func TestChangedAtLast(t *testing.T) {
	for _, o := range []WriteOptions{{}, {AllowLoss: true, Vertices: "vertices.csv"}} {
		for last := 1; ; last++ {
			name := weftFile(t, Spec{Model: "er", N: 500, M: 4000, Seed: 1})
			past := time.Now().Add(-time.Hour)
			if err := os.Chtimes(name, past, past); err != nil {
				t.Fatal(err)
			}
			g := mustOpen(t, name)
			dir, syncs := t.TempDir(), 0
			out, o := filepath.Join(dir, "copy.weft"), o
			if o.Vertices != "" {
				out, o.Vertices = filepath.Join(dir, "copy.csv"), filepath.Join(dir, o.Vertices)
			}
			ctx := vfs.With(t.Context(), atSync{vfs.OS{}, func() {
				if syncs++; syncs == last {
					if err := os.Truncate(name, 4096); err != nil {
						t.Error(err)
					}
				}
			}})
			err := g.Write(ctx, out, o)
			left, _ := os.ReadDir(dir)
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			if syncs < last { // there is no such
				if last == 1 || err != nil {
					t.Errorf("%d files put on the disk: %v", syncs, err)
				}
				break
			}
			if (err == nil) != (len(left) > 0) || err != nil && !errors.Is(err, ErrInput) || last == 1 && err == nil {
				t.Errorf("changed at %d: left %v, %v", last, left, err)
			}
		}
	}
}
