package format

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// dataDir finds the real graphs: WEFT_DATA, or next to the working copy.
func dataDir(t testing.TB) string {
	for _, d := range []string{os.Getenv("WEFT_DATA"), "../../../shared/data"} {
		if d == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(d, "graphs")); err == nil {
			return d
		}
	}
	t.Skip("no real graphs: set WEFT_DATA to their directory")
	return ""
}

func TestRealGraphs(t *testing.T) {
	dir := dataDir(t)
	for _, c := range []struct {
		file string
		v, e int
		dir  Direction
	}{
		{"graphs/ego-facebook.txt.gz", 4039, 88234, FileDirection},
		{"graphs/email-enron.txt.gz", 36692, 183831, FileDirection},
		{"graphs/ego-twitter.txt.gz", 81306, 1342296, FileDirection},
		{"graphs/as-caida.txt.gz", 26475, 53381, FileDirection},
		{"graphs/cit-hepth.txt.gz", 27770, 352285, FileDirection},
		{"graphs/wiki-vote.txt.gz", 7115, 100762, FileDirection},
		{"graphs/wiki-vote.txt.gz", 7115, 103689, Directed},
		{"graphs/ca-grqc.csv.gz", 5242, 14484, FileDirection},
		{"labelled/citeseer.graph.gz", 3312, 4536, FileDirection},
		{"labelled/yeast/yeast.graph.gz", 3112, 12519, FileDirection},
		{"labelled/hprd/hprd.graph.gz", 9460, 34998, FileDirection},
		{"labelled/github16/github16.graph.gz", 37700, 289003, FileDirection},
		{"edge-labelled/FB15K237.train2id.txt.gz", 14505, 270490, FileDirection},
		{"edge-labelled/WN18RR.train2id.txt.gz", 40559, 86828, FileDirection},
		{"temporal/collegemsg.txt.gz", 1899, 59798, FileDirection},
		{"temporal/bitcoin-otc.txt.gz", 5881, 35592, FileDirection},
		{"temporal/radoslaw-email.txt.gz", 167, 82563, FileDirection},
		{"stream/lastfm10/initial.gz", 7624, 27806, FileDirection},
		{"stream/facebook10/initial.gz", 22470, 170823, FileDirection},
		// Below, entities without a triple here and self-loops make the
		// numbers smaller than those of the data sets' pages.
	} {
		g, err := Read(context.Background(), filepath.Join(dir, c.file), ReadOptions{Direction: c.dir}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		v, e := g.NumVertices(), int(g.NumEdges())
		t.Logf("%s: %d vertices, %d edges, directed %v; %+v", c.file, v, e, g.Directed, g.Read)
		if c.v > 0 && v != c.v {
			t.Errorf("%s: %d vertices, want %d", c.file, v, c.v)
		}
		if c.e > 0 && e != c.e {
			t.Errorf("%s: %d edges, want %d", c.file, e, c.e)
		}
	}
}

// TestShippedGraphs reads the real graphs that come with the project.
func TestShippedGraphs(t *testing.T) {
	for file, want := range map[string][2]int{
		"ca-grqc.csv.gz": {5242, 14484}, "ego-facebook.txt.gz": {4039, 88234}, "citeseer.graph.gz": {3312, 4536},
	} {
		g, err := Read(context.Background(), filepath.Join("../../testdata/graphs", file), ReadOptions{}, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		if v, e := g.NumVertices(), int(g.NumEdges()); v != want[0] || e != want[1] {
			t.Errorf("%s: %d vertices, %d edges, want %v", file, v, e, want)
		}
	}
}
