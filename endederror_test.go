package weft_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// TestEnded: the error of each call with an ended context is the context's error, and its cause.
func TestEnded(t *testing.T) {
	file := filepath.Join("testdata", "graphs", "karate.txt")
	g, err := weft.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var edges bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintln(&edges, i, i+1)
	}
	q, err := weft.Parse("MATCH (a)--(b)--(c)--(d)--(e)")
	if err != nil {
		t.Fatal(err)
	}
	program, err := weft.ParseMatcha("", "input G: Graph\nreturn sum(apply(lambda v: sum(range(1000)), None, range(100000)))\n")
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]any{"G": g}
	calls := map[string]func(ctx context.Context) error{
		"Open": func(ctx context.Context) error { _, err := weft.Open(ctx, file); return err },
		"Read": func(ctx context.Context) error {
			_, err := weft.Read(ctx, strings.NewReader(edges.String()))
			return err
		},
		"FromEdges": func(ctx context.Context) error {
			_, err := weft.FromEdges(ctx, func(yield func(weft.Edge, error) bool) {
				for i := range 100_000 {
					if !yield(weft.Edge{Src: i, Dst: i + 1}, nil) {
						return
					}
				}
			})
			return err
		},
		"Generate": func(ctx context.Context) error {
			_, err := weft.Generate(ctx, weft.Spec{Model: "er", N: 1000, M: 10_000})
			return err
		},
		"Convert": func(ctx context.Context) error {
			_, err := weft.Convert(ctx, file, filepath.Join(t.TempDir(), "x.weft"), weft.WriteOptions{})
			return err
		},
		"Write": func(ctx context.Context) error {
			return g.Write(ctx, filepath.Join(t.TempDir(), "x.weft"), weft.WriteOptions{})
		},
		"WriteStream": func(ctx context.Context) error {
			_, err := g.WriteStream(ctx, filepath.Join(t.TempDir(), "x.weft"), io.Discard, weft.StreamOptions{Insert: 0.5})
			return err
		},
		"Count":     func(ctx context.Context) error { _, err := g.Count(ctx, q); return err },
		"Exists":    func(ctx context.Context) error { _, _, err := g.Exists(ctx, q); return err },
		"Cliques":   func(ctx context.Context) error { _, err := g.Cliques(ctx, 4); return err },
		"Motifs":    func(ctx context.Context) error { _, err := g.Motifs(ctx, 4); return err },
		"Explain":   func(ctx context.Context) error { _, err := g.Explain(ctx, q); return err },
		"Layouts":   func(ctx context.Context) error { _, err := g.Layouts(ctx); return err },
		"Partition": func(ctx context.Context) error { _, err := g.Partition(ctx, 2); return err },
		"Info":      func(ctx context.Context) error { _, err := g.Info(ctx); return err },
		"CheckFile": func(ctx context.Context) error { return g.CheckFile(ctx) },
		"List":      func(ctx context.Context) error { _, err := g.List(ctx, q, io.Discard, "csv"); return err },
		"Verify":    func(ctx context.Context) error { _, err := g.Verify(ctx, q, time.Minute); return err },
		"Participation": func(ctx context.Context) error {
			_, err := g.Participation(ctx, q, "a")
			return err
		},
		"Match": func(ctx context.Context) (last error) {
			for _, err := range g.Match(ctx, q) {
				last = err
			}
			return last
		},
		"CountEach": func(ctx context.Context) (last error) {
			for _, err := range g.CountEach(ctx, []*weft.Query{q, q}) {
				last = err
			}
			return last
		},
		"Watch": func(ctx context.Context) error { _, err := g.Watch(ctx, []*weft.Query{q}); return err },
		"Follow": func(ctx context.Context) error {
			_, err := g.Follow(ctx, []*weft.Query{q}, weft.FollowOptions{Source: "-", Stdin: strings.NewReader("+ 1 2\n")})
			return err
		},
		"Watch.Apply": func(ctx context.Context) (last error) {
			w, err := g.Watch(t.Context(), []*weft.Query{q})
			if err != nil {
				return err
			}
			for _, err := range w.Apply(ctx, weft.Update{Edge: weft.Edge{Src: 1, Dst: 2}}) {
				last = err
			}
			return last
		},
		"Matcha":         func(ctx context.Context) error { _, err := g.Matcha(ctx, q); return err },
		"MotifsMatcha":   func(ctx context.Context) error { _, err := g.MotifsMatcha(ctx, 4); return err },
		"Matcha.Run":     func(ctx context.Context) error { _, err := program.Run(ctx, in, nil); return err },
		"Matcha.RunRows": func(ctx context.Context) error { _, err := program.RunRows(ctx, in, nil); return err },
		"Matcha.Code":    func(ctx context.Context) error { _, err := program.Code(ctx, "ir", in); return err },
	}
	why := errors.New("why")
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			for what, c := range map[string]struct {
				make func() (context.Context, context.CancelFunc)
				is   []error
				not  error
			}{
				"cancelled": {func() (context.Context, context.CancelFunc) {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					return ctx, cancel
				}, []error{context.Canceled}, context.DeadlineExceeded},
				"cancelled with a cause": {func() (context.Context, context.CancelFunc) {
					ctx, cancel := context.WithCancelCause(t.Context())
					cancel(why)
					return ctx, func() {}
				}, []error{context.Canceled, why}, context.DeadlineExceeded},
				"after its deadline": {func() (context.Context, context.CancelFunc) {
					return context.WithDeadline(t.Context(), time.Unix(0, 0))
				}, []error{context.DeadlineExceeded}, context.Canceled},
				"after its deadline with a cause": {func() (context.Context, context.CancelFunc) {
					return context.WithDeadlineCause(t.Context(), time.Unix(0, 0), why)
				}, []error{context.DeadlineExceeded, why}, context.Canceled},
			} {
				ctx, cancel := c.make()
				err := call(ctx)
				cancel()
				for _, is := range c.is {
					if !errors.Is(err, is) {
						t.Errorf("%s: %v is not %v", what, err, is)
					}
				}
				for _, not := range []error{c.not, weft.ErrInput, weft.ErrQuery, weft.ErrUsage} {
					if errors.Is(err, not) {
						t.Errorf("%s: %v is %v", what, err, not)
					}
				}
			}
			if err := call(t.Context()); err != nil {
				t.Errorf("without an end: %v", err)
			}
		})
	}
}
