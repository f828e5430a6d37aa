package weft_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// TestLongQueries: texts of a few megabytes are read and planned in linear time. Quadratic time would take
// hours.
func TestLongQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes some seconds")
	}
	const n = 300_000
	join := func(sep string, one func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(sep)
			}
			b.WriteString(one(i))
		}
		return b.String()
	}
	dir := t.TempDir()
	labels, edges := filepath.Join(dir, "labels.tsv"), filepath.Join(dir, "edges.tsv")
	var l, e strings.Builder
	l.WriteString("id\tlabel\n")
	e.WriteString("src\tdst\tlabel\n")
	for i := range 2000 {
		fmt.Fprintf(&l, "%d\tL%d\n", i, i)
		fmt.Fprintf(&e, "%d\t%d\tL%d\n", i, (i+1)%2000, i)
	}
	if err := errors.Join(os.WriteFile(labels, []byte(l.String()), 0o600), os.WriteFile(edges, []byte(e.String()), 0o600)); err != nil {
		t.Fatal(err)
	}
	g, err := weft.Open(t.Context(), edges, weft.WithLabels(labels))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	name := func(i int) string { return fmt.Sprintf("L%d", i) }
	for what, text := range map[string]string{
		"labels of vertices": "MATCH (a:" + join("|", name) + ")--(b)",
		"labels of edges":    "MATCH (a)-[:" + join("|", name) + "]-(b)",
		"a list":             "MATCH (a)--(b) WHERE id(a) IN [" + join(", ", func(i int) string { return fmt.Sprint(i) }) + "]",
	} {
		soon(t, what, func() {
			q, err := weft.Parse(text)
			if err != nil {
				t.Errorf("%s: %.200v", what, err)
				return
			}
			r, err := g.Count(t.Context(), q)
			if err != nil || r.Embeddings.Int64() != 4000 {
				t.Errorf("%s: %v, %.200v", what, r.Embeddings, err)
			}
			if len(r.Notes) > 20 {
				t.Errorf("%s: %d notes", what, len(r.Notes))
			}
		})
	}
}
