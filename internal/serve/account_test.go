package serve

import (
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/memory"
)

// limited is a user who may have bytes of memory.
func limited(bytes int64) Identity {
	return Identity{Name: "ana", Rights: Rights{Graphs: []string{"*"}}, Quota: Quota{Memory: bytes}}
}

// codeOf is the code of an error of the server.
func codeOf(err error) Code {
	var own *Error
	errors.As(err, &own)
	if own == nil {
		return ""
	}
	return own.Code
}

// TestUserMemory: a query that needs more memory than its user may have is refused for good, and every kind of query counts.
func TestUserMemory(t *testing.T) {
	s := programs(t, Limits{Threads: 2}, "interp", "c")
	eight := "MATCH (a)--(b)--(c)--(d)--(e)--(f)--(g)--(h), (a)--(c)"
	for _, test := range []struct {
		name string
		q    Request
		ask  func(r *Run) error
	}{
		{"participation", Request{Kind: Participation, Graph: "dense", Query: "MATCH (a)--(b)--(c)", Vertex: "b"}, func(r *Run) error { return r.WriteParticipation(io.Discard, "csv") }},
		{"motifs", Request{Kind: Motifs, Graph: "karate", K: 4}, func(r *Run) error { _, err := r.Motifs(); return err }},
		{"orbits", Request{Kind: Orbits, Graph: "karate", K: 4}, func(r *Run) error { return r.WriteOrbits(io.Discard, "csv") }},
		{"large", Request{Kind: Count, Graph: "karate", Query: eight, Choices: Choices{Engine: "host", Switches: map[string]string{"plan.method": "large"}}}, func(r *Run) error { _, err := r.Count(); return err }},
		{"join", Request{Kind: Count, Graph: "karate", Query: "MATCH (a)--(b)--(c)--(d)--(e)--(f)--(g)--(h)--(a)", Choices: Choices{Engine: "join"}}, func(r *Run) error { _, err := r.Count(); return err }},
		{"signatures", Request{Kind: Count, Graph: "dense", Query: "MATCH (a)--(b)--(c)", Choices: Choices{Engine: "join", Switches: map[string]string{"join.filter": "signature", "join.signature": "512"}}}, func(r *Run) error { _, err := r.Count(); return err }},
		{"program", matcha("let l = apply(lambda i: i, None, range(1000))\nreturn size(l)\n", nil), func(r *Run) error { return r.WriteProgram(io.Discard, "csv") }},
	} {
		r := begin(t, s, limited(100), test.q)
		err := test.ask(r)
		if codeOf(err) != TooLarge || !errors.Is(err, weft.ErrMemory) {
			t.Errorf("%s with 100 bytes: %v", test.name, err)
		}
		if test.name == "signatures" && !strings.Contains(err.Error(), "signatures of 512 bits need at least 187.5 KiB") {
			t.Errorf("%s with 100 bytes: %v", test.name, err)
		}
		r.Close()
		r = begin(t, s, limited(256<<20), test.q)
		if err := test.ask(r); err != nil {
			t.Errorf("%s with 256 MiB: %v", test.name, err)
		}
		r.Close()
		if used := s.accounts.of["ana"].Used(); used != 0 {
			t.Errorf("%s: %d bytes are still counted", test.name, used)
		}
	}
}

// TestUserMemoryUncounted: an engine that does not count its memory is not for users whose memory is limited.
func TestUserMemoryUncounted(t *testing.T) {
	s := server(t, Limits{})
	q := Request{Kind: Count, Graph: "karate", Query: "MATCH (a)--(b)--(c)--(a)", Choices: Choices{Engine: "oracle"}}
	if _, err := s.Begin(t.Context(), limited(1<<30), q); codeOf(err) != NotAllowed {
		t.Errorf("%v", err)
	}
	r := begin(t, s, Anyone(), q)
	if _, err := r.Count(); err != nil {
		t.Error(err)
	}
	r.Close()
}

// TestUserMemoryTogether: what the queries of one user have at the same time counts together, and that of others does not.
func TestUserMemoryTogether(t *testing.T) {
	s := server(t, Limits{Running: 4, PerUser: 4})
	q := Request{Kind: Participation, Graph: "dense", Query: "MATCH (a)--(b)--(c)", Vertex: "b"}
	first := begin(t, s, limited(80_000), q) // 48,000 bytes for 3,000 vertices
	if err := first.WriteParticipation(io.Discard, "csv"); err != nil {
		t.Fatal(err)
	}
	second := begin(t, s, limited(80_000), q)
	if err := second.WriteParticipation(io.Discard, "csv"); codeOf(err) != OutOfMemory {
		t.Errorf("the second of one user: %v", err)
	}
	second.Close()
	bob := limited(80_000)
	bob.Name = "bob"
	other := begin(t, s, bob, q)
	if err := other.WriteParticipation(io.Discard, "csv"); err != nil {
		t.Errorf("another user: %v", err)
	}
	other.Close()
	first.Close()
	third := begin(t, s, limited(80_000), q)
	if err := third.WriteParticipation(io.Discard, "csv"); err != nil {
		t.Errorf("after the first: %v", err)
	}
	third.Close()
}

// BenchmarkCounted compares what queries count of their memory with the growth of the process: with four threads on a graph of a
// million vertices and 8 million edges.
func BenchmarkCounted(b *testing.B) {
	rt := weft.NewRuntime(weft.RuntimeOptions{Threads: 4})
	b.Cleanup(func() { _ = rt.Close() })
	g, err := rt.Generate(b.Context(), weft.Spec{Model: "ba", N: 1 << 20, K: 8, Seed: 1, VertexLabels: 20})
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "ba.weft")
	if err := g.Write(b.Context(), path, weft.WriteOptions{}); err != nil {
		b.Fatal(err)
	}
	_ = g.Close()
	c := NewCatalog(CatalogOptions{Runtime: rt})
	b.Cleanup(c.Close)
	if err := c.Open(b.Context(), Source{Name: "g", Path: path}); err != nil {
		b.Fatal(err)
	}
	s := New(Options{Catalog: c, Limits: Limits{Threads: 4}})
	count := func(r *Run) error { _, err := r.Count(); return err }
	for _, test := range []struct {
		name string
		q    Request
		ask  func(r *Run) error
	}{
		{"participation", Request{Kind: Participation, Query: "MATCH (a)--(b)--(c)--(a)", Vertex: "b"}, func(r *Run) error { return r.WriteParticipation(io.Discard, "csv") }},
		{"motifs4", Request{Kind: Motifs, K: 4}, func(r *Run) error { _, err := r.Motifs(); return err }},
		{"cycle4", Request{Kind: Count, Query: "MATCH (a)--(b)--(c)--(d)--(a)", Choices: Choices{Engine: "host"}}, count},
		{"clique4", Request{Kind: Count, Query: "MATCH (a)--(b)--(c)--(d)--(a), (a)--(c), (b)--(d)", Choices: Choices{Engine: "host"}}, count},
		{"labelled8", Request{Kind: Count, Query: "MATCH (a:1)--(b:2)--(c:3)--(d:1)--(e:2)--(f:4)--(g:1)--(h:5), (a)--(c)", Choices: Choices{Engine: "host"}}, count},
		{"join", Request{Kind: Count, Query: "MATCH (a:1)--(b:2)--(c:3)--(d:1)--(a)", Choices: Choices{Engine: "join"}}, count},
		{"rows", Request{Kind: Match, Query: "MATCH (a:1)--(b:2)--(c:3)", Choices: Choices{}}, func(r *Run) error { return r.Write(io.Discard, "arrow") }},
	} {
		b.Run(test.name, func(b *testing.B) {
			test.q.Graph = "g"
			for range b.N {
				runtime.GC()
				debug.FreeOSMemory()
				before, counted, grown := memory.InUse(), int64(0), int64(0)
				r, err := s.Begin(b.Context(), limited(1<<40), test.q)
				if err != nil {
					b.Fatal(err)
				}
				done := make(chan error, 1)
				go func() { done <- test.ask(r) }()
				for running := true; running; {
					select {
					case err := <-done:
						if running = false; err != nil {
							b.Fatal(err)
						}
					case <-time.After(200 * time.Microsecond):
					}
					counted, grown = max(counted, r.share.Taken()), max(grown, int64(memory.InUse()-before))
				}
				r.Close()
				b.ReportMetric(float64(counted)/(1<<20), "counted_MiB")
				b.ReportMetric(float64(grown)/(1<<20), "grown_MiB")
			}
		})
	}
}
