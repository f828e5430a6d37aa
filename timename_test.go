package weft_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft"
)

// TestTimeName: queries may use the file's name for the edges' times, also after a conversion to a format that
// keeps the name. A property of that name comes first.
func TestTimeName(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	csv := file("t.csv", "src,dst,created_at,amount\na,b,2024-03-10,5\nb,c,2024-03-12,6\nc,a,2024-04-01,7\n")
	files := []string{csv}
	for _, name := range []string{"t.weft", "t.parquet", "t.arrow"} {
		to := filepath.Join(dir, name)
		if _, err := weft.Convert(t.Context(), csv, to, weft.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		files = append(files, to)
	}
	count := func(path, query, engine string) (string, []string) {
		t.Helper()
		g, err := weft.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		q, err := weft.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		r, err := g.Count(t.Context(), q, weft.WithEngine(engine))
		if err != nil {
			t.Fatalf("%s: %s: %v", path, query, err)
		}
		return r.Embeddings.String(), r.Notes
	}
	for _, path := range files {
		for query, want := range map[string]string{
			"MATCH (a)-[e]->(b) WHERE e.created_at >= timestamp '2024-03-12'":                                                 "2",
			"MATCH (a)-[e]->(b) WHERE e.created_at = e.time":                                                                  "3",
			"MATCH (a)-[e]->(b)-[f]->(c) WHERE f.created_at - e.created_at <= duration 'P3D' AND e.created_at < f.created_at": "1",
			"MATCH (a)-[e]->(b)-[f]->(c) ORDERED e < f ON created_at WITHIN 30d":                                              "2",
		} {
			for _, engine := range []string{"host", "oracle"} {
				if got, notes := count(path, query, engine); got != want || len(notes) > 0 {
					t.Errorf("%s, %s: %s is %s, want %s; %q", filepath.Base(path), engine, query, got, want, notes)
				}
			}
		}
	}
	// A property of the name is that property.
	both := file("both.csv", "src,dst,created_at,time\n1,2,7,1700000000\n")
	if got, _ := count(both, "MATCH (a)-[e]->(b) WHERE e.created_at = 7 AND e.time > 1000", "host"); got != "1" {
		t.Errorf("a property besides the time: %s", got)
	}
}
