package format

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
)

// TestTimeUnits: what a file says about the unit of its times is known to the
// graph, and is kept by weft's own form, by tables and by text.
func TestTimeUnits(t *testing.T) {
	for _, c := range []struct {
		name, in string
		num, den int64
		said     bool
	}{
		{"unix.txt", "1 2 1082008561\n2 3 1082008562\n", 1e9, 1, true},
		{"konect.txt", "% asym weighted\n% 2 3 3\n1 2 3 1289241911.72836\n2 3 1 1289241911\n", 1e9, 1e6, true},
		{"iso.csv", "src,dst,time\n1,2,2024-01-01T00:00:00Z\n2,3,2024-01-01T00:00:01.5Z\n", 1e3, 1, true},
		{"typed.csv", "src,dst,time:d\n1,2,2024-01-01T00:00:00Z\n2,3,2024-01-01T00:00:01.5Z\n", 1e3, 1, true}, // ISO says its own
		{"ms.csv", "src,dst,ts:ms\n1,2,1704067200000\n2,3,1704067201500\n", 1e6, 1, true},
		{"parts.csv", "src,dst,time:ms\n1,2,0.25\n2,3,1.5\n", 1e6, 1e3, true},
	} {
		g, err := Read(context.Background(), put(t, c.name, []byte(c.in)), ReadOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"", "weft", "parquet", "arrow", "txt", "tsv.gz", "csv"} {
			read := g
			if to != "" {
				path := filepath.Join(t.TempDir(), "again."+to)
				if err := Write(context.Background(), path, g, WriteOptions{AllowLoss: g.Directed}); err != nil {
					t.Fatal(err)
				}
				o := ReadOptions{}
				if g.Directed {
					o.Direction = Directed
				}
				if read, err = Read(context.Background(), path, o, nil); err != nil {
					t.Fatal(err)
				}
			}
			num, den, said := read.TimeUnit()
			if num*c.den != c.num*den || said != c.said {
				t.Errorf("%s as %q: a unit is %d/%d ns, said: %v; want %d/%d, %v", c.name, to, num, den, said, c.num, c.den, c.said)
			}
			if dump(read) != dump(g) {
				t.Errorf("%s as %q:\n%s\nwant\n%s", c.name, to, dump(read), dump(g))
			}
		}
	}
	if num, den, said := (&graph.Graph{Read: graph.ReadStats{TimeUnit: -5, TimeDigits: 99}}).TimeUnit(); num != 1e9 || den != 1e18 || said {
		t.Errorf("of a hostile file: %d/%d, %v", num, den, said)
	}
}

// TestTimeUnitLost: a unit that has no name in a text is a loss.
func TestTimeUnitLost(t *testing.T) {
	g, err := Read(context.Background(), put(t, "g.txt", []byte("1 2 3\n")), ReadOptions{Columns: []string{"src", "dst", "time:d"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(context.Background(), filepath.Join(t.TempDir(), "g.csv"), g, WriteOptions{}); err != nil {
		t.Error(err)
	}
	g.Read.TimeUnit = 7
	path := filepath.Join(t.TempDir(), "g.csv")
	err = Write(context.Background(), path, g, WriteOptions{})
	wantError(t, path, err, ": the format cannot hold the graph: edgelist would lose the unit of the times", ErrLoss)
}
