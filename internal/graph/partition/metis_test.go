package partition_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/graph/partition"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestCut: the built-in method cuts at most 1.3 times the edges that METIS cuts, on meshes and on graphs with hubs.
func TestCut(t *testing.T) {
	needMETIS(t)
	specs := []gen.Spec{
		{Model: "rgg", Scale: 12, Degree: 8, Seed: 1},
		{Model: "rmat", Scale: 12, M: 16000, Seed: 1},
	}
	parts := []int{8}
	if long.Asked() {
		parts = []int{2, 4, 8, 32}
		specs = append(specs, gen.Spec{Model: "ws", N: 4000, K: 8, P: 0.05, Seed: 1}, gen.Spec{Model: "grid", Dims: []uint64{60, 80}}, gen.Spec{Model: "rgg", Scale: 17, Degree: 40, Seed: 1}, gen.Spec{Model: "rmat", Scale: 17, M: 1300000, Seed: 1}, gen.Spec{Model: "ba", N: 50000, K: 8, Seed: 1})
	}
	for _, s := range specs {
		g := generated(t, s)
		for _, k := range parts {
			var cut [2]uint64
			for i, method := range methods() {
				p, err := partition.Make(t.Context(), g, partition.Options{Method: method, Parts: k, Slack: 0.03})
				if err != nil {
					t.Fatal(err)
				}
				if cut[i] = p.Cut; p.Balance() > 1.05 {
					t.Errorf("%s in %d parts by %v: balance %.3f", s.Model, k, method, p.Balance())
				}
			}
			if float64(cut[0]) > 1.3*float64(cut[1]) {
				t.Errorf("%s in %d parts: %d edges are cut, by METIS %d", s.Model, k, cut[0], cut[1])
			}
			t.Logf("%s %d in %d parts: %d, METIS %d, ratio %.2f", s.Model, g.NumVertices(), k, cut[0], cut[1], float64(cut[0])/float64(cut[1]))
		}
	}
}

// TestMETIS: METIS gives the same partition again, and takes the slack.
func TestMETIS(t *testing.T) {
	needMETIS(t)
	g := generated(t, gen.Spec{Model: "rgg", Scale: 12, Degree: 12, Seed: 5})
	of := func(slack float64) *partition.Partition {
		p, err := partition.Make(t.Context(), g, partition.Options{Method: partition.METIS, Parts: 5, Slack: slack})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	tight, loose := of(0.01), of(1)
	if !slices.Equal(of(0.01).Of, tight.Of) {
		t.Error("another partition")
	}
	if tight.Balance() > 1.02 || loose.Balance() < 1.05 || loose.Balance() > 2.01 {
		t.Errorf("balance %.3f with a slack of 0.01, %.3f with a slack of 1", tight.Balance(), loose.Balance())
	}
}

// TestMETISEnds: the end of the context ends METIS's process.
func TestMETISEnds(t *testing.T) {
	needMETIS(t)
	g := generated(t, gen.Spec{Model: "rmat", Scale: 13, M: 80000, Seed: 1})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := partition.Make(ctx, g, partition.Options{Method: partition.METIS, Parts: 500, Slack: 0.001})
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
