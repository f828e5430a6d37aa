package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// matches are the embeddings in one version, by a text with the users' ids.
type matches map[string]bool

// snapshotMatches asks the oracle.
func snapshotMatches(t *rapid.T, g *dynamic.Graph, p *pattern.Pattern) matches {
	ctx := context.Background()
	s, err := g.Now().Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	out := matches{}
	err = oracle.Embeddings(ctx, s, p, func(m oracle.Match) bool {
		ids := make([]string, len(m.Vertices))
		for i, v := range m.Vertices {
			ids[i] = fmt.Sprint(s.IDs.Int(v))
		}
		edges := make([]string, len(m.Edges))
		for i, e := range m.Edges {
			edges[i] = snapshotEdge(s, e)
		}
		out[text(ids, edges)] = true
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func text(ids, edges []string) string {
	return strings.Join(ids, " ") + "; " + strings.Join(edges, " ")
}

func edgeText(directed bool, u, v, label string, time int64) string {
	if !directed && u > v {
		u, v = v, u
	}
	return fmt.Sprintf("%s-%s-%s@%d", u, label, v, time)
}

func snapshotEdge(s *graph.Graph, e uint64) string {
	id := func(v uint32) string { return fmt.Sprint(s.IDs.Int(v)) }
	if t := s.Edges; t != nil {
		label := ""
		if t.Label != nil && t.Label[e] != graph.NoLabel {
			label = s.EdgeLabels[t.Label[e]]
		}
		time := int64(0)
		if t.Time != nil {
			time = t.Time[e]
		}
		return edgeText(s.Directed, id(t.Src[e]), id(t.Dst[e]), label, time)
	}
	u := sort.Search(s.NumVertices(), func(v int) bool { return s.Out.Off[v+1] > e })
	return edgeText(s.Directed, id(uint32(u)), id(s.Out.Adj[e]), "", 0)
}

// change is what an update changed for one watch.
type change struct{ added, removed []string }

// recorder is a sink that keeps deltas by sequence number and watch, and checks their order.
type recorder struct {
	t    *rapid.T
	g    *dynamic.Graph
	last nest.Delta
	got  map[[2]uint64]*change
}

func (r *recorder) Emit(ds []nest.Delta) error {
	for _, d := range ds {
		if d.Seq < r.last.Seq || d.Seq == r.last.Seq && d.Watch < r.last.Watch {
			r.t.Fatalf("delta of update %d, watch %d, behind %d, %d", d.Seq, d.Watch, r.last.Seq, r.last.Watch)
		}
		r.last = d
		ids := make([]string, len(d.Vertices))
		for i, v := range d.Vertices {
			ids[i] = r.g.IDOf(v).String()
		}
		edges := make([]string, len(d.Edges))
		for i, e := range d.Edges {
			edges[i] = edgeText(r.g.Directed(), r.g.IDOf(e.From).String(), r.g.IDOf(e.To).String(), r.g.EdgeLabelName(e.Label), e.Time)
		}
		k := [2]uint64{d.Seq, uint64(d.Watch)}
		if r.got[k] == nil {
			r.got[k] = &change{}
		}
		if d.Sign > 0 {
			r.got[k].added = append(r.got[k].added, text(ids, edges))
		} else {
			r.got[k].removed = append(r.got[k].removed, text(ids, edges))
		}
	}
	return nil
}

// canonical is the least of a match's texts under symmetries.
func canonical(s string, elements [][]int) string {
	ids, edges, _ := strings.Cut(s, ";")
	from := strings.Fields(ids)
	best := ""
	for _, perm := range elements {
		to := make([]string, len(from))
		for v, w := range perm {
			to[v] = from[w]
		}
		if x := strings.Join(to, " ") + ";" + edges; best == "" || x < best {
			best = x
		}
	}
	return best
}

// checkChange compares what was reported with the difference of two answers.
func checkChange(t *rapid.T, what string, pl *delta.Plan, got []string, less, more matches) {
	t.Helper()
	want := 0
	for x := range more {
		if !less[x] {
			want++
		}
	}
	aut := int64(1)
	if pl.Restricted {
		aut = pl.Aut.Int64()
	}
	fail := func(why string) {
		t.Fatalf("%s: %s: %v\nbefore or after, without: %v\nwith: %v", what, why, got, keys(less), keys(more))
	}
	seen := map[string]bool{}
	elements, _ := pl.Pattern.Automorphisms().Elements(1 << 12)
	for _, x := range got {
		if !more[x] || less[x] {
			fail("no change: " + x)
		}
		k := x
		if pl.Restricted && len(pl.Choices) == 0 {
			k = canonical(x, elements)
		}
		if seen[k] {
			fail("twice: " + x)
		}
		seen[k] = true
	}
	if int64(len(got))*aut != int64(want) {
		fail(fmt.Sprintf("%d reported, %d embeddings differ, |Aut| is %d", len(got), want, aut))
	}
}

func keys(m matches) (out []string) {
	for x := range m {
		out = append(out, x)
	}
	slices.Sort(out)
	return out
}

// operation is an update.
type operation struct {
	text   string
	do     func(g *dynamic.Graph) (dynamic.Result, error)
	update stream.Update // the same
}

func (o operation) String() string { return o.text }

// drawUpdates draws a stream with duplicates, absent deletions, and many updates of few edges. Most edges that it removes were there.
func drawUpdates(t *rapid.T, s *nodiff.Spec, vertices, most int) (out []operation) {
	known := slices.Clone(s.Edges) // edges that there were
	value := func() dynamic.Value {
		if x := rapid.IntRange(-1, 4).Draw(t, "value"); x >= 0 {
			return dynamic.OfInt(int64(x))
		}
		return dynamic.Value{}
	}
	ops := []string{"+", "+", "+", "-", "-"}
	if rapid.Bool().Draw(t, "vertices change") {
		ops = append(ops, "+v", "-v", "labels")
	}
	if s.X != nil {
		ops = append(ops, "x", "x")
	}
	if s.Weights {
		ops = append(ops, "w", "w")
	}
	if s.Times {
		ops = append(ops, "- all")
	}
	for range rapid.IntRange(1, most).Draw(t, "updates") {
		op, from := rapid.SampledFrom(ops).Draw(t, "op"), rapid.IntRange(0, vertices-1).Draw(t, "u")
		u, label, time, p := dynamic.Num(uint64(10*from)), "", int64(0), value()
		var v dynamic.ID
		var labels []string
		switch op {
		case "+", "-", "w", "- all":
			if op != "+" && len(known) > 0 && rapid.IntRange(0, 2).Draw(t, "known") > 0 {
				e := rapid.SampledFrom(known).Draw(t, "edge")
				u, v, label, time = dynamic.Num(uint64(10*e.U)), dynamic.Num(uint64(10*e.V)), e.Label, e.Time
				break
			}
			to := rapid.IntRange(0, vertices-1).Draw(t, "v")
			v = dynamic.Num(uint64(10 * to))
			if s.EdgeLabels {
				label = rapid.SampledFrom([]string{"", "X", "Y"}).Draw(t, "label")
			}
			if s.Times {
				time = int64(rapid.IntRange(0, 4).Draw(t, "time"))
			}
			known = append(known, nodiff.SpecEdge{U: from, V: to, Label: label, Time: time})
		case "+v", "labels":
			if s.Labels != nil {
				labels = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C"}), 0, 2, rapid.ID).Draw(t, "labels")
			}
		}
		timed, weights, x := s.Times, s.Weights, s.X != nil
		out = append(out, operation{fmt.Sprint(op, " ", u, " ", v, " ", label, labels, " @", time, " =", p), func(g *dynamic.Graph) (dynamic.Result, error) {
			key := func(make func(string, arrow.DataType) (dynamic.Key, error), name string) dynamic.Property {
				k, err := make(name, arrow.PrimitiveTypes.Int64)
				if err != nil {
					panic(err)
				}
				return dynamic.Property{Key: k, Value: p}
			}
			l := g.EdgeLabel(label)
			var ps []dynamic.Property
			switch op {
			case "+":
				if weights {
					ps = append(ps, key(g.EdgeKey, "w"))
				}
				if timed {
					return g.AddEdgeAt(u, v, l, time, ps...)
				}
				return g.AddEdge(u, v, l, ps...)
			case "-":
				if timed {
					return g.RemoveEdgeAt(u, v, l, time)
				}
				return g.RemoveEdge(u, v, l)
			case "- all":
				return g.RemoveEdge(u, v, l)
			case "+v":
				if x {
					ps = append(ps, key(g.VertexKey, "x"))
				}
				return g.AddVertex(u, g.Class(labels...), ps...)
			case "-v":
				return g.RemoveVertex(u)
			case "labels":
				return g.Relabel(u, g.Class(labels...))
			case "x":
				return g.SetVertex(u, key(g.VertexKey, "x"))
			}
			if timed && time > 0 {
				return g.SetEdgeAt(u, v, l, time, key(g.EdgeKey, "w"))
			}
			return g.SetEdge(u, v, l, key(g.EdgeKey, "w"))
		}, updateOf(op, u, v, label, labels, time, p, s)})
	}
	return out
}

// updateOf returns an operation as an update of a stream.
func updateOf(op string, u, v dynamic.ID, label string, labels []string, time int64, p dynamic.Value, s *nodiff.Spec) stream.Update {
	x := stream.Update{U: u, V: v, Label: label, Time: time, HasTime: s.Times}
	switch op {
	case "+":
		x.Op = stream.AddEdge
		if s.Weights {
			x.Properties = []stream.Property{{Name: "w", Value: p}}
		}
	case "-":
		x.Op = stream.RemoveEdge
	case "- all":
		x.Op, x.HasTime = stream.RemoveEdge, false
	case "w":
		x.Op, x.HasTime = stream.SetEdgeProperty, s.Times && time > 0
		x.Properties = []stream.Property{{Name: "w", Value: p}}
	default:
		x = stream.Update{Op: map[string]stream.Op{"+v": stream.AddVertex, "-v": stream.RemoveVertex, "labels": stream.SetLabels, "x": stream.SetProperty}[op], U: u}
		if op == "+v" || op == "labels" {
			x.Labels = labels
		}
		if op == "x" || op == "+v" && s.X != nil {
			x.Properties = []stream.Property{{Name: "x", Value: p}}
		}
	}
	return x
}

// startGraph makes the graph of s, in which equal edges are one.
func startGraph(t *rapid.T, s *nodiff.Spec) *dynamic.Graph {
	one := *s
	one.Edges = nil
	known := map[string]bool{}
	for _, e := range s.Edges {
		u, v := min(e.U, e.V), max(e.U, e.V)
		if s.Directed {
			u, v = e.U, e.V
		}
		k := fmt.Sprint(u, v)
		if s.EdgeLabels {
			k += e.Label
		}
		if s.Times {
			k += fmt.Sprint("@", e.Time)
		}
		if !known[k] {
			known[k] = true
			one.Edges = append(one.Edges, e)
		}
	}
	static := one.Build()
	defer func() { _ = static.Close() }()
	g, err := dynamic.From(context.Background(), static)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// drawPattern draws a pattern, often with edges that are chosen and compared, and seldom with an order in time.
func drawPattern(t *rapid.T, s *nodiff.Spec) *pattern.Pattern {
	if rapid.IntRange(0, 2).Draw(t, "kind") > 0 {
		return nodiff.Patterns(s, 4).Draw(t, "pattern")
	}
	if s.Times || s.Weights {
		return nodiff.Choices(s, 4).Draw(t, "pattern")
	}
	return nodiff.Conditions(s, 4).Draw(t, "pattern")
}

// drawWatches draws a graph and patterns to watch in it.
func drawWatches(t *rapid.T) (*nodiff.Spec, []*pattern.Pattern) {
	s := nodiff.Graphs(6).Draw(t, "graph")
	var ps []*pattern.Pattern
	for range rapid.IntRange(1, 3).Draw(t, "watches") {
		ps = append(ps, drawPattern(t, s))
	}
	return s, ps
}

// TestLaw compares, for each update of random streams, what watches report with the difference of the oracle's answers before
// and after it.
func TestLaw(t *testing.T) {
	law(t, 5, nil, drawWatches)
}

func law(t *testing.T, rounds int, device func(t *rapid.T, g *dynamic.Graph) nest.Device, draw func(t *rapid.T) (*nodiff.Spec, []*pattern.Pattern)) {
	refused, run, changed := map[string]int{}, 0, 0
	property := func(t *rapid.T) {
		s, drawn := draw(t)
		var ps []*pattern.Pattern
		var plans []*delta.Plan
		for _, p := range drawn {
			pl, err := delta.Compile(p, s.Directed)
			var query *plan.QueryError
			if errors.As(err, &query) {
				refused[query.Msg]++
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			ps, plans = append(ps, p), append(plans, pl)
		}
		if len(ps) == 0 {
			return
		}
		run++
		updates := drawUpdates(t, s, s.N+1, 12)
		truth := make([][]matches, len(updates)+1) // by version and watch
		g := startGraph(t, s)
		for k := range truth {
			if k > 0 {
				if _, err := updates[k-1].do(g); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range ps {
				truth[k] = append(truth[k], snapshotMatches(t, g, p))
			}
		}
		for _, size := range []int{1, rapid.IntRange(2, 5).Draw(t, "batch"), len(updates)} {
			changed += checkStream(t, device, s, ps, plans, updates, truth, size)
		}
	}
	rounds = long.Rounds(rounds, 10*rounds)
	for i := 0; i < rounds || changed == 0 && i < 20*rounds; i++ { // few streams may change nothing
		if rapid.Check(t, property); t.Failed() {
			return
		}
	}
	t.Logf("%d streams, %d changes, refused: %v", run, changed, refused)
	if changed == 0 {
		t.Error("no update changed anything")
	}
}

func checkStream(t *rapid.T, device func(t *rapid.T, g *dynamic.Graph) nest.Device, s *nodiff.Spec, ps []*pattern.Pattern, plans []*delta.Plan, updates []operation, truth [][]matches, size int) (changed int) {
	ctx := context.Background()
	g := startGraph(t, s)
	o := Options{Workers: rapid.IntRange(1, 4).Draw(t, "workers"), AtOnce: rapid.IntRange(0, 3).Draw(t, "at once") == 0}
	if device != nil {
		o.Device = device(t, g)
	}
	m := New(g, o)
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	if rapid.Bool().Draw(t, "fine") {
		m.grain = grain{least: 1, most: 1, keptWords: 1, keptPieces: 1, ticks: 1, portion: 1, run: 1, late: 2, inTime: 1, eager: true}
	}
	updatesOf := rapid.Bool().Draw(t, "by updates")
	if updatesOf { // which do not make a property without a value, nor a time in a graph that has had updates
		if s.X != nil {
			if _, err := g.VertexKey("x", arrow.PrimitiveTypes.Int64); err != nil {
				t.Fatal(err)
			}
		}
		if s.Weights {
			if _, err := g.EdgeKey("w", arrow.PrimitiveTypes.Int64); err != nil {
				t.Fatal(err)
			}
		}
		if s.Times && !g.Timed() {
			if err := g.KeepTimes(); err != nil {
				t.Fatal(err)
			}
		}
	}
	m.SetSeq(0)
	watched := 0 // patterns
	watch := func(n int) {
		for ; watched < n; watched++ { // watch 2i lists, and 2i+1 counts
			for _, o := range []nest.WatchOptions{{}, {CountsOnly: true}} {
				if _, err := m.Add(fmt.Sprint(watched, o.CountsOnly), ps[watched], o); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	watch(rapid.IntRange(1, len(ps)).Draw(t, "first watches")) // the others are added behind the first batch
	r := &recorder{t: t, g: g, got: map[[2]uint64]*change{}}
	for from := 0; from < len(updates); from += size {
		batch := updates[from:min(from+size, len(updates))]
		var res nest.Result
		var err error
		if updatesOf {
			var us []stream.Update
			for i := range batch {
				us = append(us, batch[i].update)
			}
			res, err = m.Apply(ctx, us, r)
		} else {
			res, err = m.apply(ctx, len(batch), func(i int) (dynamic.Result, error) { return batch[i].do(g) }, r)
		}
		if err != nil || res.Updates != len(batch) {
			t.Fatal(res, err)
		}
		for i, pl := range plans[:watched] {
			var added, removed uint64
			for k := from + 1; k <= from+len(batch); k++ {
				c := r.got[[2]uint64{uint64(k), uint64(2 * i)}]
				if c == nil {
					c = &change{}
				}
				what := fmt.Sprintf("pattern %s\nin %v\nupdates %v\nbatches of %d, update %d", pattern.Format(ps[i]), s, updates, size, k)
				checkChange(t, what+", added", pl, c.added, truth[k-1][i], truth[k][i])
				checkChange(t, what+", removed", pl, c.removed, truth[k][i], truth[k-1][i])
				added, removed = added+uint64(len(c.added)), removed+uint64(len(c.removed))
			}
			for j := range 2 {
				c := nest.Count{Watch: 2*i + j}
				for _, x := range res.Counts {
					if x.Watch == c.Watch {
						c = x
					}
				}
				if c.Added != engine.U64(added) || c.Removed != engine.U64(removed) {
					t.Fatalf("pattern %s in %v, %v: counts %v, want %d added, %d removed", pattern.Format(ps[i]), s, updates, c, added, removed)
				}
			}
			changed += int(added + removed)
		}
		watch(len(ps))
	}
	for i, pl := range plans {
		now := &recorder{t: t, g: g, got: map[[2]uint64]*change{}}
		n, err := m.Present(ctx, fmt.Sprint(i, false), now)
		if err != nil {
			t.Fatal(err)
		}
		c := now.got[[2]uint64{m.Seq(), uint64(2 * i)}]
		if c == nil {
			c = &change{}
		}
		checkChange(t, fmt.Sprintf("present matches of %s\nin %v\nafter %v", pattern.Format(ps[i]), s, updates), pl, c.added, matches{}, truth[len(updates)][i])
		if n != engine.U64(uint64(len(c.added))) {
			t.Fatalf("%v present matches, %d listed", n, len(c.added))
		}
	}
	return changed
}

// TestLawInTime is TestLaw for patterns with ORDERED and WITHIN over the times of edges.
func TestLawInTime(t *testing.T) {
	law(t, 1, nil, func(t *rapid.T) (*nodiff.Spec, []*pattern.Pattern) {
		s := nodiff.GraphsWith(6, nodiff.Timed).Draw(t, "graph")
		return s, []*pattern.Pattern{nodiff.Temporal(s, 4).Draw(t, "pattern")}
	})
}

// TestLawInside is TestLaw for patterns with several EXISTS, in which the changed edge may be at several places. Half of the graphs are
// small, with all that labels and parallel edges make of few updates.
func TestLawInside(t *testing.T) {
	law(t, 2, nil, func(t *rapid.T) (*nodiff.Spec, []*pattern.Pattern) {
		return drawOn(t, func(s *nodiff.Spec) *rapid.Generator[*pattern.Pattern] { return nodiff.Nested(s, 3) })
	})
}

// drawOn draws watches of patterns on a graph. Half of the graphs are small.
func drawOn(t *rapid.T, of func(s *nodiff.Spec) *rapid.Generator[*pattern.Pattern]) (*nodiff.Spec, []*pattern.Pattern) {
	graphs := nodiff.Graphs(5)
	if rapid.Bool().Draw(t, "small") {
		graphs = nodiff.GraphsWith(3, func(w *nodiff.Columns) { w.Labels, w.EdgeLabels = true, true })
	}
	s := graphs.Draw(t, "graph")
	var ps []*pattern.Pattern
	for range rapid.IntRange(1, 2).Draw(t, "watches") {
		ps = append(ps, of(s).Draw(t, "pattern"))
	}
	return s, ps
}

// TestLawApart is TestLaw for patterns with unconnected parts, and with EXISTS that no path connects to the match. Half of the graphs
// are small, so that the first vertex that satisfies EXISTS comes, and the last one goes.
func TestLawApart(t *testing.T) {
	law(t, 5, nil, drawApart)
}

// drawAny draws watches of TestLaw and, less often, of TestLawApart.
func drawAny(t *rapid.T) (*nodiff.Spec, []*pattern.Pattern) {
	if rapid.IntRange(0, 3).Draw(t, "apart") == 3 {
		return drawApart(t)
	}
	return drawWatches(t)
}

func drawApart(t *rapid.T) (*nodiff.Spec, []*pattern.Pattern) {
	return drawOn(t, func(s *nodiff.Spec) *rapid.Generator[*pattern.Pattern] { return nodiff.Apart(s, 4) })
}
