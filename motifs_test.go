package weft_test

import (
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft"
)

// TestMotifsOneByOne: the motifs counted at once are those counted each for
// itself, which an engine option asks for.
func TestMotifsOneByOne(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "ca-grqc-cut.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for k := 3; k <= 5; k++ {
		for _, induced := range []bool{true, false} {
			together, err := g.Motifs(t.Context(), k, weft.WithInduced(induced))
			if err != nil {
				t.Fatal(err)
			}
			apart, err := g.Motifs(t.Context(), k, weft.WithInduced(induced), weft.WithEngineOption("host.steal", "on"))
			if err != nil {
				t.Fatal(err)
			}
			if together[0].Method == apart[0].Method || len(together) != len(apart) {
				t.Fatalf("%d motifs by %s, %d by %s", len(together), together[0].Method, len(apart), apart[0].Method)
			}
			for i, r := range together {
				if r.Query != apart[i].Query || r.Embeddings.Cmp(apart[i].Embeddings) != 0 || r.Subgraphs.Cmp(apart[i].Subgraphs) != 0 || r.Induced != induced {
					t.Errorf("%s, induced %v: %v, each for itself %v", r.Query, induced, r.Subgraphs, apart[i].Subgraphs)
				}
			}
		}
	}
}
