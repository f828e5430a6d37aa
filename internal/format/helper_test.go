package format

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
)

// dump gives the graph as sorted lines in the user's ids, so that two graphs
// can be compared whatever their internal order.
func dump(g *graph.Graph) string {
	w := &writing{ctx: context.Background(), g: g}
	var l []string
	for v := range uint32(g.NumVertices()) {
		labels := w.labelsOf(v)
		slices.Sort(labels)
		s := fmt.Sprintf("v %q %q", g.IDs.String(v), labels)
		if g.VertexProps != nil {
			for i := range int(g.VertexProps.NumCols()) {
				s += fmt.Sprintf(" %s=%q", g.VertexProps.ColumnName(i), appendCell(nil, g.VertexProps.Column(i), int(v)))
			}
		}
		l = append(l, s)
	}
	_ = w.eachEdge(func(u, v uint32, row int) error {
		a, b := g.IDs.String(u), g.IDs.String(v)
		if !g.Directed && a > b {
			a, b = b, a
		}
		s := fmt.Sprintf("e %q %q", a, b)
		if row >= 0 {
			e := g.Edges
			if e.Label != nil && e.Label[row] != graph.NoLabel {
				s += " :" + g.EdgeLabels[e.Label[row]]
			}
			if e.Time != nil {
				s += fmt.Sprint(" @", e.Time[row])
			}
			if e.Props != nil {
				for i := range int(e.Props.NumCols()) {
					s += fmt.Sprintf(" %s=%q", e.Props.ColumnName(i), appendCell(nil, e.Props.Column(i), row))
				}
			}
		}
		l = append(l, s)
		return nil
	})
	slices.Sort(l)
	d := "undirected"
	if g.Directed {
		d = "directed"
	}
	return d + "\n" + strings.Join(l, "\n") + "\n"
}

func put(t testing.TB, name string, data []byte) string {
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return p
}

func gz(parts ...string) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(p))
		_ = w.Close()
	}
	return b.Bytes()
}

// wantError checks the message after the file's name, and that the causes are
// typed.
func wantError(t *testing.T, path string, err error, want string, kind error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want %q", filepath.Base(path), want)
		return
	}
	got := strings.TrimPrefix(err.Error(), path)
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", filepath.Base(path), got, want)
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%s: %T is no *Error", filepath.Base(path), err)
	}
	if kind != nil && !errors.Is(err, kind) {
		t.Errorf("%s: %v is not %v", filepath.Base(path), err, kind)
	}
}
