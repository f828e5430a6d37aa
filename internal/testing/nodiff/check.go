// Package nodiff compares an engine with the oracle on random small graphs and patterns. It
// tries all ways to plan them: orders, symmetry breaking, code motion, counting tails, methods,
// roots, limits, counting and listing.
//
// It also checks laws that need no oracle: renaming vertices, permuting the pattern and joining
// graphs side by side change a count in known ways.
package nodiff

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Config says what to compare.
type Config struct {
	Engine  engine.Engine
	Compile func(*graph.Graph, *pattern.Pattern, plan.Options) (*plan.Plan, error)
	// MaxVertices and MaxPattern bound the graphs and patterns drawn; 0: 8 and 5.
	MaxVertices, MaxPattern int
	// Patterns draws patterns of up to max vertices; nil: the function Patterns.
	Patterns func(s *Spec, max int) *rapid.Generator[*pattern.Pattern]
	// Columns changes the columns of the graphs; nil: none are changed.
	Columns func(w *Columns)
	// Method is the plan method of all runs; "": the plan's own choice.
	Method string
	// Opt are engine options with their values "a|b". Half of the runs give an option, with one
	// of the values. The other half leave it to the engine, as most callers do, because what an
	// engine chooses then depends on the plan.
	Opt map[string]string
	// Fit takes away options that an engine refuses beside others; nil: it refuses none.
	Fit func(opt map[string]string)
	// Techniques are forced, each in its share of the runs. Each must have run so often;
	// 0: three times.
	Techniques []Technique
	LeastRuns  int
	// Whole engines belong to a test, and count everything whatever the limit.
	Whole bool
}

func (c Config) withDefaults() Config {
	if c.MaxVertices == 0 {
		c.MaxVertices = 8
	}
	if c.MaxPattern == 0 {
		c.MaxPattern = 5
	}
	if c.LeastRuns == 0 {
		c.LeastRuns = 3
	}
	if c.Patterns == nil {
		c.Patterns = Patterns
	}
	return c
}

// Technique is something that some runs are made for.
type Technique struct {
	Name string
	// Patterns draws patterns that suit the technique; nil: those of the Config.
	Patterns   func(s *Spec, max int) *rapid.Generator[*pattern.Pattern]
	MaxPattern int // at least
	// Columns changes the columns of the graphs; nil: as the Config says.
	Columns func(w *Columns)
	// Force sets the options with which a plan and a run use the technique.
	Force func(o *plan.Options, opt map[string]string)
	// Plan reports whether a plan uses it, and Ran whether a count did; nil: that
	// what Force asks for was accepted says it.
	Plan func(pl *plan.Plan) bool
	Ran  func(r engine.Result) bool
}

const (
	// maxRounds is how often Check draws again, for each run that is wanted of a technique.
	maxRounds = 20
	// draws is how many patterns are drawn for a run, and configurations how many ways to
	// plan and run each of them, until one is accepted and uses the technique.
	draws, configurations = 4, 3
)

// Check draws graphs, patterns with a match in them, and plans, and compares the
// engine's counts, listings and counts per root with the oracle's embeddings. It
// fails where a run has no match, where a technique has not run, and where more configurations are refused than
// accepted: of those for any one technique, and of those for none. WEFT_NODIFF=100x20 makes it 2000 runs at least.
//
// Some configurations are refused by design: the local method for a pattern of which more than one vertex is not in the
// neighbourhood of another, the temporal method for a pattern that is not connected, and whatever an engine's
// Prepare refuses, such as a listing. No technique is left out for that. Each draws patterns that suit it, so that less than half
// is refused; a plan that is accepted and does not use the technique counts as accepted.
func Check(t *testing.T, c Config) {
	c = c.withDefaults()
	all, wanted := newTally(), c.Techniques
	property := func(t *rapid.T) {
		tech := technique(t, wanted)
		var x *trial
		for i := 0; i < draws && x == nil; i++ {
			var err error
			if x, err = c.configure(t, tech, c.planted(t, tech), all); err != nil {
				t.Fatal(err)
			}
		}
		if x == nil {
			return
		}
		p, _, err := c.again(x.graphs[0], x)
		if err != nil {
			t.Fatal(err)
		}
		n, r, err := p.compare(x.plan)
		if err != nil {
			t.Fatalf("%v\n%s\nengine options %v", err, describe(x.graphs[0], x.pattern, x.plan), x.engine)
		}
		all.ran(tech, r, n)
	}
	plans, graphs := asked(t, 0, 0)
	for round := 0; round < maxRounds*c.LeastRuns && !t.Failed() && (round == 0 || len(wanted) > 0 || all.open(nil)); round++ {
		rapid.Check(t, property)
		wanted = all.wanted(c)
	}
	for wanted = c.Techniques; all.runs < plans*graphs && !t.Failed(); {
		rapid.Check(t, property)
	}
	all.report(t, c)
}

const noMatch = "the pattern has no match where one was planted"

// technique draws what a run is for; nil: nothing in particular.
func technique(t *rapid.T, of []Technique) *Technique {
	i := rapid.IntRange(0, len(of)).Draw(t, "technique")
	if i == 0 {
		return nil
	}
	return &of[i-1]
}

// planted draws a graph and a pattern that has a match there.
func (c Config) planted(t *rapid.T, tech *Technique) planted {
	patterns, columns, most := c.Patterns, c.Columns, c.MaxPattern
	if tech != nil {
		if tech.Patterns != nil {
			patterns = tech.Patterns
		}
		if tech.Columns != nil {
			columns = tech.Columns
		}
		most = max(most, tech.MaxPattern)
	}
	s := graphs(max(c.MaxVertices, most+1), columns).Draw(t, "graph")
	return plant(t, s, patterns(s, most).Draw(t, "pattern"))
}

// configure draws how to plan and run until plan and engine accept it, and the plan
// uses the technique; the trial is nil where none of a few did. Where what was drawn is
// refused a plain count is next.
func (c Config) configure(t *rapid.T, tech *Technique, at planted, all *tally) (*trial, error) {
	g := at.graph.Build()
	plain := false
	for range configurations {
		x := &trial{pattern: at.pattern, graphs: []*Spec{at.graph}, plan: c.planOptions(t, at.pattern), engine: c.options(t)}
		if plain {
			x.plan.Listing, x.plan.Root = false, plan.NoRoot
			clear(x.engine.Opt)
		}
		if tech != nil && tech.Force != nil {
			tech.Force(&x.plan, x.engine.Opt)
		}
		if c.Fit != nil {
			c.Fit(x.engine.Opt)
		}
		p, refused, err := c.accept(g, x.pattern, x.plan, x.engine)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w\n%s", err, describe(at.graph, x.pattern, x.plan))
		case refused != "":
			all.refuse(tech, refused)
			if tech != nil || plain {
				return nil, nil // what is forced, or all, does not suit the pattern
			}
			plain = true
		case tech != nil && tech.Plan != nil && !tech.Plan(p.plan):
			all.without(tech)
		default:
			return x, nil
		}
	}
	return nil, nil
}

// prepared is a plan that the engine has accepted.
type prepared struct {
	whole bool
	graph *graph.Graph
	plan  *plan.Plan
	ready engine.Prepared
}

// refusal reports whether an error says that something is not done for a pattern or a plan. Any other error is a
// failure.
func refusal(err error) bool {
	var query *plan.QueryError
	var refused *plan.Refusal
	return errors.As(err, &query) || errors.As(err, &refused)
}

// accept plans p; it returns why the plan or the engine refuses what is asked for.
func (c Config) accept(g *graph.Graph, p *pattern.Pattern, o plan.Options, opt engine.Options) (x *prepared, refused string, err error) {
	pl, err := c.Compile(g, p, o)
	if o.Method != "" && refusal(err) {
		return nil, err.Error(), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("compile: %w", err)
	}
	opt.Listing = o.Listing
	ready, err := c.Engine.Prepare(context.Background(), g, pl, opt)
	if refusal(err) {
		return nil, err.Error(), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("prepare: %w", err)
	}
	return &prepared{c.Whole, g, pl, ready}, "", nil
}

// planOptions draws how to plan p.
func (c Config) planOptions(t *rapid.T, p *pattern.Pattern) plan.Options {
	o := plan.Options{
		Order:          rapid.SampledFrom([]string{"", "ri", "gsi", "geneva", "cost", "join", "given"}).Draw(t, "order"),
		Embeddings:     rapid.Bool().Draw(t, "embeddings"),
		NoTail:         rapid.IntRange(0, 3).Draw(t, "no tail") == 3,
		NoMotion:       rapid.IntRange(0, 3).Draw(t, "no motion") == 3,
		NoRestrictions: rapid.IntRange(0, 7).Draw(t, "no restrictions") == 7,
		Root:           plan.NoRoot,
		AllowProduct:   true,
		Seed:           1,
		Method:         c.Method,
	}
	switch rapid.IntRange(0, 3).Draw(t, "purpose") {
	case 0:
		o.Listing = true
	case 1:
		o.Root = rapid.IntRange(0, len(p.Vertices)-1).Draw(t, "root")
	}
	if o.Order == "given" {
		o.Given = givenOrder(t, p, o.Root)
	}
	return o
}

// givenOrder draws an order in which each vertex follows a neighbour if one of
// its component came before.
func givenOrder(t *rapid.T, p *pattern.Pattern, root int) []int {
	var order []int
	comp := p.Components()
	for len(order) < len(p.Vertices) {
		var next, fresh []int
		for v := range p.Vertices {
			switch {
			case slices.Contains(order, v):
			case slices.ContainsFunc(order, func(u int) bool { return joined(p, u, v) }):
				next = append(next, v)
			case !slices.ContainsFunc(order, func(u int) bool { return comp[u] == comp[v] }):
				fresh = append(fresh, v)
			}
		}
		if len(next) == 0 {
			next = fresh
		}
		if len(order) == 0 && root >= 0 {
			next = []int{root}
		}
		order = append(order, rapid.SampledFrom(next).Draw(t, "next vertex"))
	}
	return order
}

func joined(p *pattern.Pattern, u, v int) bool {
	for _, e := range p.Edges {
		if !e.Negated && (e.From == u && e.To == v || e.From == v && e.To == u) {
			return true
		}
	}
	return false
}

// options draws the engine's options.
func (c Config) options(t *rapid.T) engine.Options {
	opt := engine.Options{Threads: rapid.IntRange(1, 3).Draw(t, "threads"), Opt: map[string]string{}}
	for _, k := range slices.Sorted(maps.Keys(c.Opt)) {
		if rapid.Bool().Draw(t, k) {
			opt.Opt[k] = rapid.SampledFrom(strings.Split(c.Opt[k], "|")).Draw(t, "value")
		}
	}
	return opt
}

func describe(s *Spec, p *pattern.Pattern, o plan.Options) string {
	return fmt.Sprintf("%s\n%s\nplan options %+v", pattern.Format(p), s, o)
}

// compare runs a plan that the engine takes, once for all matches and once for some. It returns
// the number of embeddings, and the engine's result of a count or listing of all.
func (x *prepared) compare(o plan.Options) (embeddings int, r engine.Result, err error) {
	want := truth(x.graph, x.plan.Pattern)
	if len(want) == 0 {
		return 0, r, errors.New(noMatch)
	}
	r, err = x.compareWith(want, o)
	return len(want), r, err
}

func (x *prepared) compareWith(want []oracle.Match, o plan.Options) (r engine.Result, err error) {
	g, pl, p := x.graph, x.plan, x.plan.Pattern
	if got := p.Automorphisms().Order(); pl.Aut == nil || pl.Aut.Cmp(got) != 0 {
		return r, fmt.Errorf("the plan has |Aut| = %v, the pattern %v", pl.Aut, got)
	}
	if o.Listing {
		return x.compareListing(want)
	}
	var goal engine.Goal
	if o.Root >= 0 {
		goal.PerRoot = make([]engine.Uint128, g.NumVertices())
	}
	r, err = x.ready.Run(context.Background(), goal)
	if err != nil {
		return r, fmt.Errorf("run: %w", err)
	}
	group := big.NewInt(1)
	if pl.Restricted {
		group = p.Automorphisms().Order()
		if pl.Rooted {
			group = p.Automorphisms().Stabilizer([]int{o.Root}).Order()
		}
	}
	if got := new(big.Int).Mul(r.Matches.Big(), group); got.Cmp(big.NewInt(int64(len(want)))) != 0 || !r.Complete {
		return r, fmt.Errorf("%d embeddings, but the engine finds %v × %v (complete: %v)", len(want), r.Matches, group, r.Complete)
	}
	if o.Root < 0 {
		return r, x.compareLimit(r.Matches)
	}
	per := make([]int64, g.NumVertices())
	for _, m := range want {
		per[m.Vertices[o.Root]]++
	}
	for v := range per {
		if got := new(big.Int).Mul(goal.PerRoot[v].Big(), group); got.Cmp(big.NewInt(per[v])) != 0 {
			return r, fmt.Errorf("vertex %s plays the root in %d embeddings, but the engine finds %v × %v",
				g.IDs.String(uint32(v)), per[v], goal.PerRoot[v], group)
		}
	}
	return r, nil
}

// compareLimit counts up to half of all matches.
func (x *prepared) compareLimit(all engine.Uint128) error {
	if x.whole || all.Hi > 0 || all.Lo < 2 {
		return nil
	}
	limit := int64(all.Lo / 2)
	r, err := x.ready.Run(context.Background(), engine.Goal{Limit: limit})
	if err != nil || r.Matches != engine.U64(uint64(limit)) || r.Complete {
		return fmt.Errorf("counting up to %d of %v: the engine says %v (complete: %v): %w", limit, all, r.Matches, r.Complete, err)
	}
	return nil
}

func truth(g *graph.Graph, p *pattern.Pattern) (out []oracle.Match) {
	err := oracle.Embeddings(context.Background(), g, p, func(m oracle.Match) bool {
		out = append(out, oracle.Match{Vertices: slices.Clone(m.Vertices), Edges: m.Edges})
		return true
	})
	if err != nil {
		panic(err)
	}
	return out
}

// compareListing lists everything, and then half of it by a limit. Each row must
// be an embedding and none come twice; of each class of embeddings that the
// pattern's symmetries make of each other a restricted plan lists its share.
func (x *prepared) compareListing(want []oracle.Match) (r engine.Result, err error) {
	name := newNamer(x.plan)
	missing := map[string]bool{}
	share := map[string]int{}
	for _, m := range want {
		missing[fmt.Sprint(m.Vertices, m.Edges)] = true
		share[name.class(m.Vertices)]++
	}
	total := len(want) / len(name.elements)
	var out collector
	r, err = x.ready.Run(context.Background(), engine.Goal{Sink: &out})
	if err != nil {
		return r, fmt.Errorf("list: %w", err)
	}
	if r.Matches != engine.U64(uint64(total)) || len(out.rows) != total || !r.Complete {
		return r, fmt.Errorf("listing: %d matches, but the engine says %v and lists %d (complete: %v)", total, r.Matches, len(out.rows), r.Complete)
	}
	for _, m := range out.rows {
		k := fmt.Sprint(m.Vertices, name.edges(m.Edges))
		if !missing[k] {
			return r, fmt.Errorf("listing: %v is not a match, or is listed twice", m)
		}
		delete(missing, k)
		share[name.class(m.Vertices)] -= len(name.elements)
	}
	for k, n := range share {
		if n != 0 {
			return r, fmt.Errorf("listing: %d embeddings too few (or too many) of the class of %s", n, k)
		}
	}
	if total < 2 {
		return r, nil
	}
	var some collector
	part, err := x.ready.Run(context.Background(), engine.Goal{Sink: &some, Limit: int64(total / 2)})
	if err != nil || part.Matches != engine.U64(uint64(total/2)) || len(some.rows) != total/2 {
		return r, fmt.Errorf("limit %d: the engine says %v and lists %d: %v", total/2, part.Matches, len(some.rows), err)
	}
	return r, nil
}

// namer names classes of embeddings.
type namer struct {
	elements [][]int // the symmetries that the plan breaks, the identity at least
	place    []int   // of the pattern's i-th choice in a row of the engine
}

func newNamer(pl *plan.Plan) *namer {
	identity := make([]int, len(pl.Pattern.Vertices))
	for i := range identity {
		identity[i] = i
	}
	n := &namer{elements: [][]int{identity}}
	if pl.Restricted {
		n.elements, _ = pl.Pattern.Automorphisms().Elements(1 << 16)
	}
	for _, c := range oracle.Choices(pl.Pattern) {
		n.place = append(n.place, slices.IndexFunc(pl.Edges, func(e plan.EdgeChoice) bool { return e.Edge == c }))
	}
	return n
}

// edges puts the chosen edges of a row into the order of the oracle.
func (n *namer) edges(row []uint64) []uint64 {
	var out []uint64
	for _, at := range n.place {
		out = append(out, row[at])
	}
	return out
}

// class is the least image of the vertices under the symmetries.
func (n *namer) class(vertices []uint32) string {
	best := slices.Clone(vertices)
	image := make([]uint32, len(vertices))
	for _, perm := range n.elements {
		for v, w := range perm {
			image[v] = vertices[w]
		}
		if slices.Compare(image, best) < 0 {
			copy(best, image)
		}
	}
	return fmt.Sprint(best)
}

// collector keeps all rows.
type collector struct {
	mu   sync.Mutex
	rows []oracle.Match
}

func (c *collector) Emit(_ int, b *engine.Batch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range b.Rows {
		c.rows = append(c.rows, oracle.Match{
			Vertices: slices.Clone(b.Vertices[i*b.Width : (i+1)*b.Width]),
			Edges:    slices.Clone(b.Edges[i*b.EdgeWidth : (i+1)*b.EdgeWidth]),
		})
	}
	return nil
}
