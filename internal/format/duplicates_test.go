package format

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestDuplicates merges equal edges and keeps them, in each way in which edges are read.
func TestDuplicates(t *testing.T) {
	for _, c := range []struct {
		name, in                   string
		d                          Direction
		merged, kept               uint64
		duplicates, both, bothKept uint64 // the report's, and of edges given from both ends
	}{
		{"plain.txt", "1 2\n1 2\n2 1\n2 3\n3 3\n", Directed, 3, 4, 1, 0, 0},
		{"undirected.txt", "1 2\n1 2\n2 1\n2 3\n3 3\n", Undirected, 2, 3, 1, 1, 1},
		{"events.csv", "from,to,time\n1,2,5\n1,2,5\n1,2,6\n2,1,5\n", Directed, 3, 4, 1, 0, 0},
		{"contacts.csv", "from,to,time\n1,2,5\n1,2,5\n2,1,5\n2,1,5\n2,1,6\n", Undirected, 2, 3, 2, 1, 2},
		{"properties.csv", "from,to,w,why\na,b,1,x\na,b,1,y\na,b,1,x\na,b,,\na,b,,\n", Directed, 3, 5, 2, 0, 0},
		{"labels.txt", "a b x\na b x\na b y\n", Directed, 2, 3, 1, 0, 0},
	} {
		path := put(t, c.name, []byte(c.in))
		for _, keep := range []bool{false, true} {
			g, err := Read(t.Context(), path, ReadOptions{Direction: c.d, KeepDuplicates: keep}, nil)
			if err != nil {
				t.Fatal(err)
			}
			edges, duplicates, both := c.merged, c.duplicates, c.both
			if keep {
				edges, duplicates, both = c.kept, 0, c.bothKept
			}
			r := g.Read
			if g.NumEdges() != edges || r.Duplicates != duplicates || r.Reciprocal != both || r.Lines != r.Kept+r.Duplicates+r.Reciprocal+r.SelfLoops {
				t.Errorf("%s, keep: %v: %d edges, %+v", c.name, keep, g.NumEdges(), r)
			}
			if said := strings.Contains(strings.Join(r.Notes, "\n"), "--duplicates keep"); said != (duplicates > 0 && strings.Contains(r.Columns, "time")) {
				t.Errorf("%s, keep: %v: %q", c.name, keep, r.Notes)
			}
			if !keep {
				continue
			}
			for _, ext := range []string{"weft", "parquet", "txt"} {
				file := filepath.Join(t.TempDir(), "h."+ext)
				if err := Write(context.Background(), file, g, WriteOptions{AllowLoss: true}); err != nil {
					t.Fatal(err)
				}
				h, err := Read(t.Context(), file, ReadOptions{KeepDuplicates: ext != "weft"}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := dump(h), dump(g); got != want || h.NumEdges() != g.NumEdges() {
					t.Errorf("%s as %s:\n%s\nwant\n%s", c.name, ext, got, want)
				}
			}
		}
	}
}
