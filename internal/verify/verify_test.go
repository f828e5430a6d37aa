package verify

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// graphOf is a generated graph to search in.
func graphOf(t *testing.T, spec gen.Spec) *search.Graph {
	t.Helper()
	data, err := gen.Generate(t.Context(), spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := search.NewGraph(runtime.New(runtime.Options{}), data)
	t.Cleanup(func() { g.Close() })
	return g
}

// named is a pattern of the catalogue, asked without options.
func named(t *testing.T, name string) search.Question {
	t.Helper()
	qs, err := gql.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return search.Question{Query: qs[0], Settings: setting.New()}
}

// TestWhy: what was interrupted does not claim to have had its time.
func TestWhy(t *testing.T) {
	g := graphOf(t, gen.Spec{Model: "cliques", N: 1, K: 6})
	interrupted, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx    context.Context
		budget time.Duration
		want   string
	}{
		{interrupted, time.Hour, "interrupted"},
		{context.Background(), time.Nanosecond, "not finished within 1ns"},
	} {
		v := &verifier{g: g, question: named(t, "diamond"), budget: c.budget, out: &Verification{OK: true}}
		v.recount(c.ctx, "again", func(*plan.Options) {})
		if got := v.out.Steps[0].Note; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestSample: sampled vertices are those with neighbours, the cheap ones first, and
// the engine agrees with the oracle at each of them; a hub does not take the others' time.
func TestSample(t *testing.T) {
	g := graphOf(t, gen.Spec{Model: "ba", N: 1000, K: 6, Seed: 5})
	house := named(t, "house")
	sample := func(budget time.Duration) *Verification {
		v := &verifier{g: g, question: house, budget: budget, out: &Verification{OK: true}}
		roots := v.roots()
		first, last := g.Data.Any().Degree(roots[0]), g.Data.Any().Degree(roots[len(roots)-1])
		if len(roots) != oracleRoots || first == 0 || first > last {
			t.Errorf("%d vertices of degrees %d to %d", len(roots), first, last)
		}
		p, err := house.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		v.sample(context.Background(), oracle.NewWorld(context.Background(), g.Data), p)
		return v.out
	}
	if v := sample(time.Hour); v.Compared != oracleRoots || !v.OK || v.Steps[len(v.Steps)-1].Want.Sign() == 0 ||
		!slices.ContainsFunc(v.Steps, func(s Step) bool { return strings.Contains(s.Name, "oracle where v0 is ") }) {
		t.Errorf("%d compared: %+v", v.Compared, v.Steps)
	}
	if v := sample(time.Nanosecond); v.Compared != 0 || len(v.Steps) != 1 || v.Steps[0].Note == "" {
		t.Errorf("in no time: %+v", v.Steps)
	}
}
