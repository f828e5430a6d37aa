package weft

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/plan"
)

// TestVerifyCompares: what is compared with nothing is not called compared.
func TestVerifyCompares(t *testing.T) {
	g := clique(t, 6)
	for budget, compared := range map[time.Duration]int{time.Nanosecond: 0, time.Hour: 5} {
		v, err := g.Verify(context.Background(), named(t, "diamond"), budget)
		if err != nil {
			t.Fatal(err)
		}
		if v.Compared != compared || !v.OK || !v.Steps[0].Reference {
			t.Errorf("%s: %d compared, want %d: %+v", budget, v.Compared, compared, v.Steps)
		}
	}
}

// TestVerifyWhy: what was interrupted does not claim to have had its time.
func TestVerifyWhy(t *testing.T) {
	g := clique(t, 6)
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
		v := &verifier{g: g, q: named(t, "diamond"), s: defaults(t), budget: c.budget, out: &Verification{OK: true}}
		v.recount(c.ctx, "again", func(*plan.Options) {})
		if got := v.out.Steps[0].Note; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestVerifySample: sampled vertices are those with neighbours, the cheap ones first, and
// the engine agrees with the oracle at each of them; a hub does not take the others' time.
func TestVerifySample(t *testing.T) {
	g, err := Generate(context.Background(), Spec{Model: "ba", N: 1000, K: 6, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	q := named(t, "house")
	sample := func(budget time.Duration) *Verification {
		v := &verifier{g: g, q: q, s: defaults(t), budget: budget, out: &Verification{OK: true}}
		roots := v.roots()
		first, last := g.g.Any().Degree(roots[0]), g.g.Any().Degree(roots[len(roots)-1])
		if len(roots) != oracleRoots || first == 0 || first > last {
			t.Errorf("%d vertices of degrees %d to %d", len(roots), first, last)
		}
		p, err := q.pattern(v.s)
		if err != nil {
			t.Fatal(err)
		}
		v.sample(context.Background(), oracle.NewWorld(context.Background(), g.g), p)
		return v.out
	}
	if v := sample(time.Hour); v.Compared != oracleRoots || !v.OK || v.Steps[len(v.Steps)-1].Want.Sign() == 0 ||
		!slices.ContainsFunc(v.Steps, func(s VerifyStep) bool { return strings.Contains(s.Name, "oracle where v0 is ") }) {
		t.Errorf("%d compared: %+v", v.Compared, v.Steps)
	}
	if v := sample(time.Nanosecond); v.Compared != 0 || len(v.Steps) != 1 || v.Steps[0].Note == "" {
		t.Errorf("in no time: %+v", v.Steps)
	}
}

// defaults are the settings of a call without options.
func defaults(t *testing.T) *settings {
	s, err := collect(callVerify, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
