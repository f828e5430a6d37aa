package fine_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/long"
)

// dataDir is the folder of labelled graphs with known answers: $WEFT_DATA, or a folder next to the
// working copy.
func dataDir(t *testing.T) string {
	t.Helper()
	long.Only(t, "counts of millions on the emulated device")
	dir := os.Getenv("WEFT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	dir = filepath.Join(dir, "labelled")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no labelled graphs: set WEFT_DATA (%v)", err)
	}
	return dir
}

// readLabelled reads the "v id label degree / e u v" form.
func readLabelled(t *testing.T, path string) (labels []string, edges [][2]uint32) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var id uint32
		var label string
		var e [2]uint32
		if n, _ := fmt.Sscanf(lines.Text(), "v %d %s", &id, &label); n == 2 {
			labels = append(labels, label)
		} else if n, _ := fmt.Sscanf(lines.Text(), "e %d %d", &e[0], &e[1]); n == 2 {
			edges = append(edges, e)
		}
	}
	return labels, edges
}

// TestGithub counts the queries of github16, whose answers are known.
func TestGithub(t *testing.T) {
	dir := filepath.Join(dataDir(t), "github16")
	labels, edges := readLabelled(t, filepath.Join(dir, "github16.graph.gz"))
	b := graph.NewBuilder(graph.BuildOptions{})
	v, e := &graph.VertexChunk{}, &graph.EdgeChunk{}
	for i, l := range labels {
		v.ID, v.Labels = append(v.ID, uint64(i)), append(v.Labels, []string{l})
	}
	for _, x := range edges {
		e.Src, e.Dst = append(e.Src, uint64(x[0])), append(e.Dst, uint64(x[1]))
	}
	if err := b.AddVertices(v); err != nil {
		t.Fatal(err)
	}
	if err := b.AddEdges(e); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile(filepath.Join(dir, "expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, dev engine.Engine) {
		if strings.Contains(t.Name(), "shuffled") {
			t.Skip("as the emulated device, and slower")
		}
		emulated := strings.Contains(t.Name(), "emulated")
		for line := range strings.Lines(string(known)) {
			w := strings.Fields(line)
			if len(w) < 2 || w[0] == "#" {
				continue
			}
			if emulated && !strings.Contains("Q_8.graph Q_14.graph Q_16.graph", w[0]) {
				continue // minutes, all together
			}
			labels, edges := readLabelled(t, filepath.Join(dir, "queries", w[0]))
			q := &pattern.Pattern{Name: w[0]}
			for _, l := range labels {
				q.Vertices = append(q.Vertices, pattern.Vertex{Label: &pattern.Label{Op: pattern.LabelName, Name: l}})
			}
			for _, x := range edges {
				q.Edges = append(q.Edges, pattern.Edge{From: int(x[0]), To: int(x[1]), Min: 1, Max: 1})
			}
			p, err := planner.Compile(g, q, plan.Options{Root: plan.NoRoot, Method: "nest", Embeddings: true, Quick: true})
			if err != nil {
				t.Fatal(err)
			}
			got, err := engine.Once(t.Context(), dev, g, p, engine.Options{}, engine.Goal{})
			if err != nil || got.Matches.String() != w[1] {
				t.Errorf("%s: %v, %v; want %s", w[0], got.Matches, err, w[1])
			}
			t.Logf("%s: %v in %v, %v", w[0], got.Matches, got.Search, got.Stats)
		}
	})
}
