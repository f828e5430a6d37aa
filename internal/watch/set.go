package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// Query is a standing query.
type Query struct {
	Name    string
	Text    string
	Pattern *pattern.Pattern // without parameters
	Emit    gql.Emit
	Fields  []Field // of its changes
	// Embeddings lists each embedding. Otherwise there is one for each subgraph under iso.
	Embeddings bool

	source  *gql.Query
	id      string // identity, of a query that was added
	values  []value
	group   *pattern.Group // of symmetries, of which the least image stands for all; nil: each match stands for itself
	images  [][]int        // all symmetries, if each image is a match of its own
	choices []int          // edges of the pattern that deltas have
}

// Total returns a number of the query's matches: of embeddings if it lists them, else of what n counts.
func (q *Query) Total(n engine.Uint128) *big.Int {
	x := n.Big()
	if q.Embeddings && q.group != nil {
		x.Mul(x, q.group.Order())
	}
	return x
}

// Field is a named part of a change.
type Field struct {
	Name string
	Kind FieldKind
	At   int // the vertex of the pattern, or the place among Change.Edges or Change.Values
}

// FieldKind says which part of a change a field is.
type FieldKind uint8

// Kinds of fields.
const (
	VertexField FieldKind = iota
	EdgeField
	ValueField // of an expression
)

// Change is a match that an update added or removed. It is valid until the function that gets it returns.
type Change struct {
	Seq    uint64 // the number of the update; 0 means that the match was there before all
	Query  *Query
	Number int // of the query
	Added  bool
	IDs    []dynamic.ID // by vertex of the pattern
	Edges  []Edge       // of the fields of edges
	// Values are those of expressions, at the version of the graph that has the match: a removed match has those from before its update.
	// They are int64, float64, bool, string, sink.Instant, sink.Span or nil.
	Values []any
}

// Edge is a data edge that an edge of a pattern is at.
type Edge struct {
	Src, Dst dynamic.ID
	Label    string
	Time     int64
	HasTime  bool
	Unit     int64 // of a time that counts from 1970, in nanoseconds; 0: it is a number
}

// Set is a graph that changes, with standing queries. Its methods must not overlap.
type Set struct {
	g       *dynamic.Graph
	m       nest.Matcher
	queries []*Query     // by number of the matcher; nil: dropped
	window  *window      // nil: edges do not expire
	frame   *graph.Graph // the types of values
	row     valueRow
	unit    int64 // of times that count from 1970, in nanoseconds; 0: they are numbers

	ahead stream.Ahead
	seqs  []uint64 // the numbers of a batch's updates, by version
}

// NewSet returns a set without queries over a matcher of g, which has no watches yet and becomes the set's to close. Nothing else may change g.
// unit is that of edges' times in nanoseconds, if they count from 1970; 0 means that they are numbers. The types of returned values are those
// that the graph began with.
func NewSet(g *dynamic.Graph, m nest.Matcher, unit int64) *Set {
	return &Set{g: g, m: m, unit: unit, frame: g.Frame(), row: valueRow{g: g}}
}

// Close closes the matcher. The set must not be used afterwards.
func (s *Set) Close() error { return s.m.Close() }

// Graph returns the graph.
func (s *Set) Graph() *dynamic.Graph { return s.g }

// Queries returns the queries by number. A dropped one is nil.
func (s *Set) Queries() []*Query { return s.queries }

// Add adds a query, which is about updates from now on. counts leaves out its changes: they are counted. The error is about a name that is in
// use, or a *plan.QueryError.
func (s *Set) Add(q *Query, counts bool) error {
	q.id = q.identity()
	n, err := s.m.Add(q.Name, q.Pattern, nest.WatchOptions{Emit: nest.Emit(q.Emit), CountsOnly: counts})
	if err != nil {
		return err
	}
	q.choices = s.m.Plan(q.Name).Choices
	for i := range q.Fields {
		if f := &q.Fields[i]; f.Kind == EdgeField {
			f.At = slices.Index(q.choices, f.At)
		}
	}
	for i := range q.values {
		if err := q.values[i].compile(s, q); err != nil {
			_ = s.m.Drop(q.Name)
			return err
		}
	}
	if group := q.Pattern.Automorphisms(); q.Pattern.Mode == pattern.Iso && !group.Trivial() {
		q.group = group
		if q.Embeddings && !counts {
			images, ok := group.Elements(mostImages)
			if !ok {
				_ = s.m.Drop(q.Name)
				return plan.Errorf("the pattern has %v symmetries, and embeddings are listed for at most %d: list subgraphs", group.Order(), mostImages)
			}
			q.images = images
		}
	}
	for len(s.queries) < n {
		s.queries = append(s.queries, nil)
	}
	s.queries = append(s.queries, q)
	return nil
}

// Check returns the error with which Add would refuse a query that lists its changes, if its name were not in use.
func (s *Set) Check(q *Query) error {
	x := *q
	x.Name, x.Fields, x.values = "\x00"+q.Name, slices.Clone(q.Fields), slices.Clone(q.values)
	if err := s.Add(&x, false); err != nil {
		return err
	}
	return s.Drop(x.Name)
}

// Unknown describes the labels and the properties of a query that the graph does not have. Updates may bring them.
func (s *Set) Unknown(q *Query) (out []string) {
	unknown := func(l *pattern.Label, what string, has func(name string) bool) {
		l.Names(func(name string) {
			text := fmt.Sprintf("%s: no %s has the label %s so far", q.Name, what, pattern.QuoteName(name))
			if !has(name) && !slices.Contains(out, text) {
				out = append(out, text)
			}
		})
	}
	missing := func(what, key string, known bool) {
		text := fmt.Sprintf("%s: no %s has the property %s so far", q.Name, what, pattern.QuoteName(key))
		if !known && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	var names func(p *pattern.Pattern)
	properties := func(x pattern.Expr) bool {
		switch x := x.(type) {
		case pattern.Exists:
			names(x.Sub)
		case pattern.Prop:
			if x.Of.Kind == pattern.VertexRef {
				_, known := s.g.LookupVertexKey(x.Key)
				missing("vertex", x.Key, known)
				break
			}
			_, known := s.g.LookupEdgeKey(x.Key)
			missing("edge", x.Key, known || s.g.Timed() && slices.Contains(s.frame.TimeKeys(), x.Key))
		}
		return true
	}
	names = func(p *pattern.Pattern) {
		for i := range p.Vertices {
			unknown(p.Vertices[i].Label, "vertex", func(name string) bool { return len(s.g.ClassesWith(name)) > 0 })
		}
		for i := range p.Edges {
			unknown(p.Edges[i].Label, "edge", func(name string) bool {
				_, ok := s.g.LookupEdgeLabel(name)
				return ok
			})
			for _, x := range p.Edges[i].Where {
				pattern.Walk(x, properties)
			}
		}
		for _, x := range p.Where {
			pattern.Walk(x, properties)
		}
	}
	names(q.Pattern)
	for i := range q.values {
		pattern.Walk(q.values[i].item.Expr, properties)
	}
	return out
}

// mostImages is the largest number of symmetries of a pattern whose embeddings are listed.
const mostImages = 40320

// Drop removes a query. The error says that there is none of this name.
func (s *Set) Drop(name string) error {
	if err := s.m.Drop(name); err != nil {
		return err
	}
	i := slices.IndexFunc(s.queries, func(q *Query) bool { return q != nil && q.Name == name })
	s.queries[i] = nil
	return nil
}

// Expire makes edges leave the graph when an update is more than span later than they are. It is called before all updates. times are those
// of the edges of the beginning. The error is dynamic.ErrTime: the graph's edges have none.
func (s *Set) Expire(span int64, times []int64) error {
	if err := s.g.KeepTimes(); err != nil {
		return err
	}
	s.window = &window{span: span, now: math.MinInt64}
	if len(times) > 0 {
		s.window.now = slices.Max(times)
	}
	return nil
}

// Result is what a batch did.
type Result struct {
	Updates  int             // updates that were made
	Counts   []Counts        // by query
	Outcomes stream.Outcomes // without those that Late returns
}

// Late returns the outcomes of updates whose changes no query looks at, so that they were put off: of those since the last call.
func (s *Set) Late() (o stream.Outcomes) {
	if m, ok := s.m.(nest.Batcher); ok {
		o = m.Late()
	}
	return o
}

// Apply makes updates, the first of which has the number after seq, and gives emit what they change. Changes come in the order of their
// updates, then of the versions of an update that lets edges expire, then of queries, and then of ids. If emit is nil, changes are counted. An update that cannot be made is an error of type
// *nest.UpdateError: those before it were made, and those after it were not. An error of emit ends Apply; the updates were made.
func (s *Set) Apply(ctx context.Context, seq uint64, us []stream.Update, emit func(*Change) error) (r Result, err error) {
	s.ahead, s.seqs = stream.Ahead{}, s.seqs[:0]
	c := &collector{set: s, emit: emit, base: s.m.Seq(), version: s.g.Version()}
	var sink nest.Sink
	if emit != nil {
		sink = c
	}
	done, err := s.made(ctx, seq, us, sink, &r)
	r.Counts = make([]Counts, len(s.queries))
	for _, x := range done.Counts {
		r.Counts[x.Watch] = Counts{x.Added, x.Removed}
	}
	if err == nil || errors.As(err, new(*nest.UpdateError)) {
		if failed := c.flush(); failed != nil {
			err = failed
		}
	}
	return r, err
}

// made makes and matches the updates of Apply.
func (s *Set) made(ctx context.Context, seq uint64, us []stream.Update, sink nest.Sink, r *Result) (done nest.Result, err error) {
	if m, ok := s.m.(nest.Batcher); ok && s.window == nil {
		for i := range us {
			s.seqs = append(s.seqs, seq+uint64(i)+1)
		}
		done, err = m.Apply(ctx, us, sink)
		r.Updates, r.Outcomes = done.Updates, done.Outcomes
		return done, err
	}
	return s.m.Steps(ctx, func() (dynamic.Result, bool, error) {
		if r.Updates == len(us) {
			return 0, false, nil
		}
		s.ahead.See(s.g, us, r.Updates)
		s.seqs = append(s.seqs, seq+uint64(r.Updates)+1)
		res, last, err := s.step(&us[r.Updates])
		if last && err == nil {
			r.Updates++
			r.Outcomes.Add(res)
		}
		return res, true, err
	}, sink)
}

// step makes one version of the graph for an update: an edge leaves because of its time or, at last, the update itself is made.
func (s *Set) step(u *stream.Update) (done dynamic.Result, last bool, err error) {
	if s.window != nil {
		s.window.see(u)
		if done, ok, err := s.window.expire(s.g); ok {
			return done, false, err
		}
	}
	done, err = stream.Apply(s.g, u)
	return done, true, err
}

// skip makes an update without looking for changes of matches.
func (s *Set) skip(u *stream.Update) error {
	for {
		if _, last, err := s.step(u); last || err != nil {
			return err
		}
	}
}

// pass takes note of an update that the graph has already.
func (s *Set) pass(u *stream.Update) {
	if s.window != nil {
		s.window.see(u)
	}
}

// Present gives emit all matches of a query in the present graph, in the order of their ids, as added ones of update seq.
func (s *Set) Present(ctx context.Context, query int, seq uint64, emit func(*Change) error) error {
	c := &collector{set: s, emit: emit, fixed: true, seq: seq}
	if _, err := s.m.Present(ctx, s.queries[query].Name, c); err != nil {
		return err
	}
	return c.flush()
}

// Count returns the number of matches of a query in the present graph.
func (s *Set) Count(ctx context.Context, query int) (engine.Uint128, error) {
	return s.m.Present(ctx, s.queries[query].Name, nil)
}

// collector turns deltas into changes. Deltas of a version and a query come together; it gives them in the order of their ids, so that the
// order does not depend on how they were found.
type collector struct {
	set     *Set
	emit    func(*Change) error
	base    uint64 // the matcher's number of the version before the first
	version uint64 // that version
	seq     uint64 // of all deltas, if it is fixed
	fixed   bool

	at     uint64 // of the deltas in found
	made   uint64 // their version: an update has several if edges expire, and a match may come with one and go with the next
	query  int
	found  []found
	ids    []dynamic.ID
	edges  []Edge
	values []any
	room   []dynamic.ID
	perm   []int
	moved  []Edge
	places []int // of the edges of a match among those of its delta
}

// found is a match of the present update and query. Its ids begin at ids[first·k] for a pattern of k vertices, and its edges and values alike.
type found struct {
	added bool
	first int
}

// ReadsLists implements nest.Reading: degrees are the lengths of lists.
func (c *collector) ReadsLists() bool {
	return slices.ContainsFunc(c.set.queries, func(q *Query) bool {
		return q != nil && slices.ContainsFunc(q.values, func(x value) bool { return x.readsLists() })
	})
}

// Emit takes deltas.
func (c *collector) Emit(ds []nest.Delta) error {
	for i := range ds {
		if err := c.add(&ds[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) number(d *nest.Delta) uint64 {
	if c.fixed {
		return c.seq
	}
	return c.set.seqs[d.Seq-c.base-1]
}

func (c *collector) add(d *nest.Delta) error {
	if len(c.found) > 0 && (d.Seq != c.made || d.Watch != c.query) {
		if err := c.flush(); err != nil {
			return err
		}
	}
	c.at, c.made, c.query = c.number(d), d.Seq, d.Watch
	q, g := c.set.queries[d.Watch], c.set.g
	k, first := len(d.Vertices), len(c.ids)
	for _, v := range d.Vertices {
		c.ids = append(c.ids, g.IDOf(v))
	}
	edges := len(c.edges)
	for i := range q.choices {
		c.edges = append(c.edges, c.edge(d.Edges[i]))
	}
	switch {
	case q.images != nil:
		c.addImages(q, d)
		return nil
	case q.group != nil:
		c.room = slices.Grow(c.room[:0], k)[:k]
		var perm []int
		if len(q.choices)+len(q.values) > 0 {
			c.perm = slices.Grow(c.perm[:0], k)[:k]
			perm = c.perm
		}
		pattern.Least(q.group, c.ids[first:], c.room, perm, dynamic.ID.Compare)
		if perm != nil {
			c.moveEdges(q, c.edges[edges:], perm)
		}
		c.addValues(q, d, perm)
	default:
		c.addValues(q, d, nil)
	}
	c.found = append(c.found, found{d.Sign > 0, len(c.found)})
	return nil
}

// addImages replaces the last match by all its images.
func (c *collector) addImages(q *Query, d *nest.Delta) {
	k, e := len(q.Pattern.Vertices), len(q.choices)
	c.room = append(c.room[:0], c.ids[len(c.ids)-k:]...)
	edges := slices.Clone(c.edges[len(c.edges)-e:])
	c.ids, c.edges = c.ids[:len(c.ids)-k], c.edges[:len(c.edges)-e]
	for _, perm := range q.images {
		for _, v := range perm {
			c.ids = append(c.ids, c.room[v])
		}
		c.edges = append(c.edges, edges...)
		c.moveEdges(q, c.edges[len(c.edges)-e:], perm)
		c.addValues(q, d, perm)
		c.found = append(c.found, found{d.Sign > 0, len(c.found)})
	}
}

// edge returns a data edge. Of an undirected one the lesser end comes first.
func (c *collector) edge(e nest.Edge) Edge {
	g := c.set.g
	x := Edge{Src: g.IDOf(e.From), Dst: g.IDOf(e.To), Label: g.EdgeLabelName(e.Label), Time: e.Time, HasTime: g.Timed(), Unit: c.set.unit}
	if !g.Directed() && x.Dst.Compare(x.Src) < 0 {
		x.Src, x.Dst = x.Dst, x.Src
	}
	return x
}

// moveEdges gives each choice that of its image under perm.
func (c *collector) moveEdges(q *Query, edges []Edge, perm []int) {
	c.moved = append(c.moved[:0], edges...)
	for at, j := range c.placesOf(q, perm) {
		edges[at] = c.moved[j]
	}
}

// placesOf returns, for each choice, the place of its image under perm.
func (c *collector) placesOf(q *Query, perm []int) []int {
	c.places = c.places[:0]
	for at, i := range q.choices {
		j := at
		if perm != nil {
			if k := slices.Index(q.choices, image(q.Pattern, i, perm)); k >= 0 {
				j = k
			}
		}
		c.places = append(c.places, j)
	}
	return c.places
}

// image returns the edge of p that a permutation of its vertices takes edge i to.
func image(p *pattern.Pattern, i int, perm []int) int {
	e := &p.Edges[i]
	u, v := perm[e.From], perm[e.To]
	if u == e.From && v == e.To {
		return i
	}
	for j := range p.Edges {
		f := &p.Edges[j]
		same := f.From == u && f.To == v || e.Dir == pattern.Either && f.From == v && f.To == u
		if same && f.Dir == e.Dir && f.Named() == e.Named() && !f.Negated && f.Label.String() == e.Label.String() {
			return j
		}
	}
	return i
}

// flush gives the changes of the present version and query.
func (c *collector) flush() error {
	if len(c.found) == 0 {
		return nil
	}
	q := c.set.queries[c.query]
	k, e := len(q.Pattern.Vertices), len(q.choices)
	slices.SortFunc(c.found, func(x, y found) int {
		if x.added != y.added { // what goes, goes first
			if y.added {
				return -1
			}
			return 1
		}
		a, b := c.ids[x.first*k:(x.first+1)*k], c.ids[y.first*k:(y.first+1)*k]
		if o := slices.CompareFunc(a, b, dynamic.ID.Compare); o != 0 {
			return o
		}
		return slices.CompareFunc(c.edges[x.first*e:(x.first+1)*e], c.edges[y.first*e:(y.first+1)*e], compareEdges)
	})
	n := len(q.values)
	ch := Change{Seq: c.at, Query: q, Number: c.query}
	for _, f := range c.found {
		ch.Added, ch.IDs, ch.Edges = f.added, c.ids[f.first*k:(f.first+1)*k], c.edges[f.first*e:(f.first+1)*e]
		ch.Values = c.values[f.first*n : (f.first+1)*n]
		if err := c.emit(&ch); err != nil {
			return err
		}
	}
	c.found, c.ids, c.edges, c.values = c.found[:0], c.ids[:0], c.edges[:0], c.values[:0]
	return nil
}

func compareEdges(x, y Edge) int {
	return cmp.Or(x.Src.Compare(y.Src), x.Dst.Compare(y.Dst), cmp.Compare(x.Label, y.Label), cmp.Compare(x.Time, y.Time))
}
