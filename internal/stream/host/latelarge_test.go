package host

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/testing/long"
)

// lateQueries look at edges of some labels between some classes, at those of all labels, at degrees, and at edges that must not be.
var lateQueries = []string{
	"MATCH (a:A)-[:X]-(b:B)",
	"MATCH (a:A)-[:X]-(b:B)-[:X]-(c:A)",
	"MATCH (a:A)--(b:B)--(c:A)",
	"MATCH (a:A)-[:X|Y]-(b:B)-[:Y]-(c:C)",
	"MATCH INDUCED (a:A)-[:X]-(b:B)-[:X]-(c:A)",
	"MATCH (a:A)-[:X]-(b:B) WHERE deg(a) < 3",
	"MATCH (a:A)-[:X]-(b:B) WHERE NOT EXISTS { (b)-[:Y]-(c:C) }",
	"MATCH (a:A)-[:X]-(b:B) WHERE EXISTS { (b)-[:Y]-(c:C)-[:X]-(d:D) WHERE deg(d) < 4 }",
	"MATCH (a:A&B)-[:!X]-(b)",
	"MATCH (a:D)-[e]-(b:D) WHERE e.w = 1",
	"MATCH (a:D)-[:Z]-(b:D)-[:Z]-(c:D)-[:Z]-(a)",
}

// fails is a reader that returns an error at a call.
type fails struct {
	*reader
	at int
}

var errSink = errors.New("the sink's error")

func (x *fails) Emit(ds []nest.Delta) error {
	if x.at--; x.at == 0 {
		return errSink
	}
	return x.reader.Emit(ds)
}

// TestLateLarge is TestLate in graphs whose vertices are in many shards, with long batches, vertices of several labels, parallel edges of five labels, edges that
// come and go again and again, all kinds of updates between these, mistakes, sinks that fail, and watches that come and go.
func TestLateLarge(t *testing.T) {
	total, deltas := 0, 0
	for seed := range uint64(long.Rounds(12, 400)) {
		r := rand.New(rand.NewPCG(seed, 5))
		directed := seed&1 != 0
		n := []int{8, 60, 400}[r.IntN(3)]
		workers := []int{1, 2, 4}[r.IntN(3)]
		var gs [2]*dynamic.Graph
		var ms [2]*Matcher
		var sinks [2]*reader
		for i := range gs {
			g := dynamic.New(directed, false)
			classes := [][]string{{"A"}, {"B"}, {"C"}, {"D"}, {"A", "B"}, nil}
			for v := range n {
				if _, err := g.AddVertex(dynamic.Num(uint64(v)), g.Class(classes[v%len(classes)]...)); err != nil {
					t.Fatal(err)
				}
			}
			gs[i] = g
			ms[i] = New(g, Options{Workers: []int{1, workers}[i], AtOnce: i == 0})
			sinks[i] = &reader{g: g, base: g.Version(), sets: true}
			ms[i].SetSeq(0)
		}
		ms[1].grain.late = []int{1, 3, 8, 64, 0}[r.IntN(5)]
		if r.IntN(2) == 0 {
			ms[1].grain.run = []int{1, 2, 10}[r.IntN(3)]
		}
		if r.IntN(3) == 0 {
			ms[1].grain.eager, ms[1].grain.least = true, 1
		}
		live := map[int]bool{}
		same := func(k int) { // present matches
			var n [2]engine.Uint128
			for i, m := range ms {
				var err error
				if n[i], err = m.Present(t.Context(), fmt.Sprint(k), nil); err != nil {
					t.Fatal(err)
				}
			}
			if n[0] != n[1] {
				t.Fatalf("seed %d: %v present matches of %s, want %v", seed, n[1], lateQueries[k], n[0])
			}
		}
		toggle := func(k int) {
			for _, m := range ms {
				if live[k] {
					if err := m.Drop(fmt.Sprint(k)); err != nil {
						t.Fatal(err)
					}
				} else if _, err := m.Add(fmt.Sprint(k), parse(t, lateQueries[k]), nest.WatchOptions{CountsOnly: k%4 == 3}); err != nil {
					t.Fatal(lateQueries[k], err)
				}
			}
			if live[k] = !live[k]; live[k] {
				same(k)
			}
		}
		toggle(r.IntN(len(lateQueries)))
		var known [][3]uint64
		labels := []string{"", "X", "Y", "Z", "W"}
		if r.IntN(4) == 0 {
			labels = labels[:2]
		}
		others, props := r.IntN(3) == 0, r.IntN(6) == 0
		if r.IntN(4) == 0 {
			others = true
		}
		draw := func() (u stream.Update) {
			a, b, l := uint64(float64(n+1)*r.Float64()*r.Float64()), uint64(r.IntN(n+1)), uint64(r.IntN(len(labels)))
			if len(known) > 0 && r.IntN(2) == 0 {
				e := known[len(known)-1-r.IntN(min(len(known), 200))]
				if a, b = e[0], e[1]; r.IntN(3) == 0 {
					a, b = b, a
				}
				if r.IntN(3) > 0 {
					l = e[2]
				}
			}
			u.Op, u.U, u.V, u.Label = stream.Op(r.IntN(5)/3), dynamic.Num(a), dynamic.Num(b), labels[l]
			if r.IntN(10) == 0 {
				u.HasTime, u.Time = true, 5
			}
			if !directed || r.IntN(2) == 0 {
				known = append(known, [3]uint64{a, b, l})
			}
			if !others || r.IntN(40) > 0 {
				return u
			}
			switch k := r.IntN(6); {
			case k == 0:
				u = stream.Update{Op: stream.RemoveVertex, U: u.U}
			case k == 1:
				u = stream.Update{Op: stream.AddVertex, U: u.U, Labels: []string{"A"}}
			case k <= 3:
				u = stream.Update{Op: stream.SetLabels, U: u.U, Labels: [][]string{{"A"}, {"B"}, {"C", "D"}, nil, {fmt.Sprint("L", r.IntN(4))}}[r.IntN(5)]}
			case k == 4 && props:
				u.Op, u.Properties = stream.AddEdge, []stream.Property{{Name: "w", Value: dynamic.OfInt(int64(r.IntN(2)))}}
			case k == 5 && props:
				u.Op, u.Properties = stream.SetEdgeProperty, []stream.Property{{Name: "w", Value: dynamic.OfInt(int64(r.IntN(2)))}}
			case r.IntN(10) == 0:
				u.V = dynamic.Text("bad")
			}
			return u
		}
		var outcomes [2]stream.Outcomes
		for step := range 40 {
			var us []stream.Update
			for range []int{1, 3, 30, 300, 1500}[r.IntN(5)] {
				us = append(us, draw())
			}
			reads, breaks := r.IntN(6) == 0, r.IntN(12) == 0
			var errs [2]error
			var counts [2][]nest.Count
			var made [2]int
			for i, m := range ms {
				sinks[i].reads, sinks[i].lines = reads, nil
				var sink nest.Sink = sinks[i]
				if breaks && i == 1 {
					sink = &fails{sinks[i], 1 + r.IntN(2)}
				}
				for part := us; len(part) > 0; {
					k := len(part)
					if i == 0 {
						k = 1
					}
					res, err := m.Apply(t.Context(), part[:k], sink)
					made[i] += res.Updates
					outcomes[i].Join(res.Outcomes)
					counts[i] = sumCounts(counts[i], res.Counts)
					part = part[k:]
					if err != nil {
						errs[i] = err
						break
					}
				}
			}
			what := fmt.Sprintf("seed %d, step %d, %d workers, %d vertices, directed %v, run %d, late %d", seed, step, workers, n, directed, ms[1].grain.run, ms[1].grain.late)
			var bad [2]*nest.UpdateError
			for i := range errs {
				errors.As(errs[i], &bad[i])
			}
			if made[0] != made[1] {
				t.Fatal(what, made, errs)
			}
			if !errors.Is(errs[1], errSink) { // else only the graph counts
				if (errs[0] == nil) != (errs[1] == nil) || bad[1] != nil && bad[1].Index != made[1] {
					t.Fatal(what, errs, made)
				}
				for i := range sinks {
					slices.Sort(sinks[i].lines)
				}
				if fmt.Sprint(counts[0]) != fmt.Sprint(counts[1]) || !slices.Equal(sinks[0].lines, sinks[1].lines) {
					t.Fatalf("%s: counts %v and %v, %d and %d lines", what, counts[0], counts[1], len(sinks[0].lines), len(sinks[1].lines))
				}
			}
			total, deltas = total+made[1], deltas+len(sinks[0].lines)
			switch r.IntN(8) {
			case 0, 1:
				toggle(r.IntN(len(lateQueries)))
			case 2:
				outcomes[1].Join(ms[1].Late())
				if outcomes[0] != outcomes[1] {
					t.Fatal(what, outcomes)
				}
			case 3:
				if a, b := gs[0].NumEdges(), gs[1].NumEdges(); a != b {
					t.Fatal(what, a, b)
				}
			case 4:
				for k, is := range live {
					if is {
						same(k)
					}
				}
			}
		}
		outcomes[1].Join(ms[1].Late())
		if outcomes[0] != outcomes[1] || gs[0].NumEdges() != gs[1].NumEdges() || gs[0].Version() != gs[1].Version() {
			t.Fatal("seed", seed, outcomes)
		}
		for k := range lateQueries {
			if !live[k] {
				toggle(k)
				continue
			}
			same(k)
		}
	}
	t.Logf("%d updates, %d deltas", total, deltas)
	if deltas == 0 {
		t.Error("nothing changed")
	}
}
