package weft

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"
)

func clique(t *testing.T, n uint64) *Graph {
	t.Helper()
	g, err := Generate(context.Background(), Spec{Model: "cliques", N: 1, K: n})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func named(t *testing.T, name string) *Query {
	t.Helper()
	q, err := PatternByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestLeaving leaves an iteration early, and cancels one.
func TestLeaving(t *testing.T) {
	g := clique(t, 40)
	n := 0
	for _, err := range g.Match(context.Background(), named(t, "path(5)")) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d matches", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for _, err := range g.Match(ctx, named(t, "path(6)")) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("after cancelling: %v", last)
	}
}

func TestLimit(t *testing.T) {
	g := clique(t, 20)
	n := 0
	for range g.Match(context.Background(), named(t, "triangle"), WithLimit(7)) {
		n++
	}
	if n != 7 {
		t.Errorf("%d matches, want 7", n)
	}
	q, err := Parse("MATCH (a)--(b) RETURN a LIMIT 0")
	if err != nil {
		t.Fatal(err)
	}
	for range g.Match(context.Background(), q) {
		t.Errorf("a match in spite of LIMIT 0")
	}
}

// TestLimitFarRestriction: a few matches of long paths and trees are found at once, though below a hub, which no vertex comes before, the
// restriction of the last vertex has none.
func TestLimitFarRestriction(t *testing.T) {
	g, err := Open(t.Context(), "testdata/graphs/wiki-vote-cut.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // all paths of 9 vertices below one hub take longer
	defer cancel()
	tree, err := Parse("MATCH (a)--(b)--(c)--(d)--(e)--(f)--(g), (c)--(h)--(i)--(j)")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []*Query{named(t, "path(10)"), tree} {
		n := 0
		for _, err := range g.Match(ctx, q, WithLimit(30), WithEngine("host")) {
			if err != nil {
				t.Fatalf("%v: %v", q, err)
			}
			n++
		}
		if n != 30 {
			t.Errorf("%v: %d matches, want 30", q, n)
		}
		if found, _, err := g.Exists(ctx, q, WithEngine("host")); err != nil || !found {
			t.Errorf("%v: %v, %v", q, found, err)
		}
	}
}

// TestCountLimit: a limit counts subgraphs or embeddings, as the query does, whatever the plan enumerates.
func TestCountLimit(t *testing.T) {
	g := clique(t, 8) // 56 triangles, 336 embeddings
	star, err := Parse("MATCH (a)--(b)--(c)--(a) RETURN count(*)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q                            *Query
		limit, subgraphs, embeddings int64
		complete                     bool
		options                      []Option
	}{
		{named(t, "triangle"), 10, 10, 60, false, nil},
		{named(t, "triangle"), 10, 1, 10, false, []Option{WithList(Embeddings)}},
		{named(t, "triangle"), 12, 2, 12, false, []Option{WithList(Embeddings)}},
		{named(t, "triangle"), 335, 55, 335, false, []Option{WithList(Embeddings)}},
		{named(t, "triangle"), 1000, 56, 336, true, []Option{WithList(Embeddings)}},
		{named(t, "triangle"), 10, 10, 60, false, []Option{WithEngineOption("plan.restrictions", "off")}},
		{named(t, "triangle"), 10, 1, 10, false, []Option{WithEngineOption("plan.restrictions", "off"), WithList(Embeddings)}},
		{star, 10, 1, 10, false, nil},
		{star, 10, 1, 10, false, []Option{WithList(Subgraphs)}}, // the text beats the option
	} {
		r, err := g.Count(t.Context(), c.q, append(c.options, WithLimit(c.limit))...)
		if err != nil {
			t.Fatal(err)
		}
		if r.Subgraphs.Int64() != c.subgraphs || r.Embeddings.Int64() != c.embeddings || r.Complete != c.complete {
			t.Errorf("%s, limit %d: %v subgraphs, %v embeddings, complete %v; want %d, %d, %v",
				c.q.Name(), c.limit, r.Subgraphs, r.Embeddings, r.Complete, c.subgraphs, c.embeddings, c.complete)
		}
	}
	r, err := g.Count(t.Context(), named(t, "wedge"), WithSemantics("hom"), WithLimit(10))
	if err != nil || r.Embeddings.Int64() != 10 {
		t.Errorf("wedges under hom: %v embeddings, %v", r.Embeddings, err)
	}
}

// TestUnknownSemantics: an unknown name of a mode is an error. It does not select another mode.
func TestUnknownSemantics(t *testing.T) {
	g, err := Open(t.Context(), "testdata/graphs/karate.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Count(t.Context(), named(t, "wedge"), WithSemantics("homo")); !errors.Is(err, ErrUsage) {
		t.Errorf("Count: %v", err)
	}
	if _, err := g.Motifs(t.Context(), 3, WithSemantics("homo")); !errors.Is(err, ErrUsage) {
		t.Errorf("Motifs: %v", err)
	}
	if r, err := g.Count(t.Context(), named(t, "wedge"), WithSemantics("homo"), WithSemantics("hom")); err != nil || r.Semantics != "hom" {
		t.Errorf("the last of two: %s, %v", r.Semantics, err)
	}
}

// TestOptionsOfOthers: an option of an engine that will not run is an error, even before weft knows whether there is
// a GPU.
func TestOptionsOfOthers(t *testing.T) {
	g, err := Open(t.Context(), "testdata/graphs/karate.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, o := range [][]Option{
		{WithEngine("oracle"), WithEngineOption("host.steal", "off")},
		{WithEngine("fine"), WithDevice("gpu:0"), WithEngineOption("stack.unroll", "8")},
		{WithEngine("fine"), WithEngineOption("codegen.local", "off")},
		{WithDevice("gpu:0"), WithEngineOption("stack.unroll", "8"), WithEngineOption("fine.pool", "7")},
	} {
		if _, err := g.Count(t.Context(), named(t, "wedge"), o...); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "engine option") {
			t.Errorf("%v", err)
		}
	}
	r, err := g.Count(t.Context(), named(t, "wedge"), WithEngine("host"), WithEngineOption("host.steal", "off"), WithEngineOption("plan.tail", "off"))
	if err != nil || r.Engine != "host" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestExactJSON checks that counts beyond 2^53 are strings.
func TestExactJSON(t *testing.T) {
	for text, want := range map[string]string{
		"9007199254740992":     `9007199254740992`,
		"9007199254740993":     `"9007199254740993"`,
		"36893488147419103232": `"36893488147419103232"`,
	} {
		x, _ := new(big.Int).SetString(text, 10)
		data, err := json.Marshal(Result{Embeddings: x})
		if err != nil || !strings.Contains(string(data), `"embeddings":`+want+`,`) || !strings.Contains(string(data), `"subgraphs":null`) {
			t.Errorf("%s: %s, %v", text, data, err)
		}
	}
}

// TestKinds checks that errors have their kind.
func TestKinds(t *testing.T) {
	ctx := context.Background()
	g := clique(t, 5)
	q := named(t, "triangle")
	_, missing := Open(ctx, "no such file")
	_, format := Open(ctx, "x", WithFormat("frob"))
	_, gpu := g.Count(ctx, q, WithDevice("gpu:0"))
	_, engine := g.Count(ctx, q, WithEngine("frob"))
	_, memory := g.Count(ctx, q, WithMemory(1))
	_, spec := Generate(ctx, Spec{Model: "frob"})
	_, k := g.Motifs(ctx, 9)
	_, name := PatternByName("frob")
	_, role := g.Participation(ctx, q, "nobody")
	for i, c := range []struct{ err, kind error }{
		{missing, ErrInput}, {format, ErrUsage}, {gpu, ErrDevice}, {engine, ErrUsage}, {memory, ErrMemory},
		{spec, ErrUsage}, {k, ErrUsage}, {name, ErrQuery}, {role, ErrUsage},
	} {
		if !errors.Is(c.err, c.kind) {
			t.Errorf("case %d: %v is not of kind %v", i, c.err, c.kind)
		}
	}
}

// TestParticipationSum checks that participation over an orbit adds up.
func TestParticipationSum(t *testing.T) {
	g := clique(t, 6)
	p, err := g.Participation(context.Background(), named(t, "triangle"), "v1")
	if err != nil {
		t.Fatal(err)
	}
	for id, n := range p.All() {
		if n.Int64() != 10 {
			t.Errorf("vertex %s is in %v triangles, want 10", id, n)
		}
	}
	if p.Subgraphs.Int64() != 20 || p.Embeddings.Int64() != 120 {
		t.Errorf("in all %v subgraphs, %v embeddings", p.Subgraphs, p.Embeddings)
	}
}

// TestParticipationList: a participation counts subgraphs or embeddings. A WithList that asks for the other is an
// error.
func TestParticipationList(t *testing.T) {
	g := clique(t, 4)
	for _, c := range []struct {
		text string
		what What
		ok   bool
	}{
		{"MATCH (a)--(b)--(c)--(a) RETURN participation(a)", Subgraphs, true},
		{"MATCH (a)--(b)--(c)--(a) RETURN participation(a)", Embeddings, false},
		{"MATCH REPEATABLE ELEMENTS (a)--(b) RETURN participation(a)", Subgraphs, false},
		{"MATCH DIFFERENT EDGES (a)--(b) RETURN participation(a)", Embeddings, true},
	} {
		q, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Participation(t.Context(), q, "a", WithList(c.what)); errors.Is(err, ErrUsage) == c.ok || c.ok && err != nil {
			t.Errorf("%s, %v: error %v", c.text, c.what, err)
		}
		if err := q.Check(WithList(c.what)); errors.Is(err, ErrUsage) == c.ok {
			t.Errorf("check of %s, %v: error %v", c.text, c.what, err)
		}
	}
}
