package host

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// conditions compiles the conditions of a pattern, for the version that the searcher searches at a time. subs are those of the watch.
func (s *searcher) conditions(where []delta.Condition, subs map[*pattern.Pattern]*subSearch) ([]check, error) {
	scope := s.scope(subs)
	out := make([]check, len(where))
	for i, x := range where {
		plain, err := s.plain(x.Expr)
		if err != nil {
			return nil, err
		}
		out[i] = scope.Check(plain)
	}
	return out, wrong(scope)
}

// onEdge compiles conditions on one edge, the first one.
func (s *searcher) onEdge(where []pattern.Expr, subs map[*pattern.Pattern]*subSearch) ([]check, error) {
	scope := s.scope(subs)
	scope.Edge = func(int) int { return 0 }
	out := make([]check, len(where))
	for i, x := range where {
		plain, err := s.plain(x)
		if err != nil {
			return nil, err
		}
		out[i] = scope.Check(plain)
	}
	return out, wrong(scope)
}

func (s *searcher) scope(subs map[*pattern.Pattern]*subSearch) *expr.Scope {
	return &expr.Scope{Source: (*source)(s), Exists: func(x pattern.Exists) (func([]uint32, []int) bool, error) {
		sub, outer := subs[x.Sub], make([]uint32, len(x.Outer))
		return func(m []uint32, at []int) bool {
			for i, l := range at {
				outer[i] = m[l]
			}
			return sub.any(outer)
		}, nil
	}}
}

func wrong(scope *expr.Scope) error {
	if scope.Err != nil {
		return plan.Errorf("%s", scope.Err)
	}
	return nil
}

// plain is x without literals of times.
func (s *searcher) plain(x pattern.Expr) (pattern.Expr, error) {
	out, _, _, err := pattern.PlainTimes(x, s.m.timeType)
	var bad *pattern.TimeError
	if errors.As(err, &bad) {
		return nil, &plan.QueryError{Vertex: -1, Edge: -1, Msg: bad.Msg, Near: bad.Near, Expected: bad.Expected}
	}
	return out, err
}

// timeType returns the unit of a property that is a time.
func (m *Matcher) timeType(p pattern.Prop) pattern.TimeType {
	columns := m.g.VertexColumns()
	if p.Of.Kind == pattern.EdgeRef {
		columns = m.g.EdgeColumns()
	}
	for _, c := range columns {
		if c.Name == p.Key {
			unit, span := graph.TypeUnit(c.Type)
			t := pattern.TimeType{Num: unit, Den: 1, Known: unit > 0}
			switch {
			case span:
				t.Kind = pattern.Span
			case unit > 0:
				t.Kind = pattern.Moment
			}
			return t
		}
	}
	if p.Of.Kind == pattern.EdgeRef && nest.IsTime(m.g, p.Key) {
		num, den, said := m.read().TimeUnit()
		return pattern.TimeType{Kind: pattern.Moment, Num: num, Den: den, Known: said && m.g.Read.TimeEpoch}
	}
	return pattern.TimeType{Kind: pattern.Missing}
}

// read is a graph that says what the changing graph does about times.
func (m *Matcher) read() *graph.Graph { return &graph.Graph{Read: m.g.Read} }

// source gives conditions the graph.
type source searcher

// NumericIDs implements expr.Source.
func (s *source) NumericIDs() bool { return !s.m.g.TextIDs() }

// ID implements expr.Source.
func (s *source) ID(v uint32) expr.Value {
	id := s.m.g.IDOf(v)
	if s.m.g.TextIDs() {
		return expr.Value{Kind: expr.Text, S: id.String()}
	}
	n, _ := strconv.ParseInt(id.String(), 10, 64) // below 2^63
	return expr.Value{Kind: expr.Int, I: n}
}

// Degree implements expr.Source.
func (s *source) Degree(v uint32) int64 {
	return int64(s.view.Len(v, dynamic.Either, dynamic.AnyLabel, nil, &s.degree))
}

// Vertex implements expr.Source.
func (s *source) Vertex(key string) func(v uint32) expr.Value {
	k, ok := nest.KeyOf(s.m.g.VertexColumns(), key)
	if !ok {
		return nil
	}
	return func(v uint32) expr.Value { return nest.ValueOf(s.view.VertexValue(v, k)) }
}

// Edge implements expr.Source.
func (s *source) Edge(key string) func(e uint64) expr.Value {
	if k, ok := nest.KeyOf(s.m.g.EdgeColumns(), key); ok {
		return func(e uint64) expr.Value { return nest.ValueOf(s.view.EdgeValue(s.edges[e].ID, k)) }
	}
	if nest.IsTime(s.m.g, key) {
		return func(e uint64) expr.Value { return expr.Value{Kind: expr.Int, I: s.edges[e].Time} }
	}
	return nil
}

// timing is ORDERED and WITHIN.
type timing struct {
	value   func(e uint64) expr.Value // of the edge at a place; nil: no edge has the property
	places  []int                     // among the choices, in the order asked for
	ordered bool
	within  int64 // in units of the property
	bounded bool
}

// timing resolves the order in time of a pattern; nil: it has none.
func (s *searcher) timing(p *pattern.Pattern, choices []int) (*timing, error) {
	o := p.Order
	if o == nil {
		return nil, nil
	}
	t := &timing{ordered: len(o.Edges) > 0, bounded: o.Within != 0, within: o.Within}
	for _, e := range o.Edges {
		t.places = append(t.places, slices.Index(choices, e))
	}
	if !t.ordered {
		for k := range choices {
			t.places = append(t.places, k)
		}
	}
	key := o.On
	if key == "" && !s.m.g.Timed() {
		for _, name := range graph.TimeNames {
			if _, ok := nest.KeyOf(s.m.g.EdgeColumns(), name); ok && key == "" {
				key = name
			}
		}
	}
	if t.value = (*source)(s).Edge(key); t.value == nil || !t.bounded || !o.Duration {
		return t, nil
	}
	of := s.m.timeType(pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef}, Key: key})
	if of.Kind != pattern.Moment && of.Kind != pattern.Span {
		err := plan.Errorf("WITHIN has a unit, and %s is a plain number: say WITHIN and a number", pattern.QuoteName(key))
		err.Order = true
		return nil, err
	}
	// The largest number of whole units that is not longer.
	n := new(big.Int).Mul(big.NewInt(o.Within), big.NewInt(of.Den))
	switch n.Quo(n, big.NewInt(of.Num)); {
	case n.IsInt64():
		t.within = n.Int64()
	case n.BitLen() > 64:
		t.bounded = false // no two times are so far apart
	default:
		t.within = math.MaxInt64
	}
	return t, nil
}

// turn returns when an edge of the pattern comes in the order.
func (x *timing) turn(edge int, choices []int) int {
	return slices.Index(x.places, slices.Index(choices, edge))
}

// around returns the times that are not further from t than the bound.
func (x *timing) around(t int64) dynamic.Span {
	out := dynamic.Always
	if !x.bounded {
		return out
	}
	if d := t - x.within; d <= t {
		out.First = d
	}
	if d := t + x.within; d >= t {
		out.Last = d
	}
	return out
}

// passes reports whether the chosen edges are in order and near each other.
func (t *timing) passes(s *searcher) bool {
	if t.value == nil {
		return false
	}
	was := s.edges
	s.edges = s.chosen
	defer func() { s.edges = was }()
	var low, high, last expr.Value
	for i, k := range t.places {
		x := t.value(uint64(k))
		if x.Kind == expr.Null {
			return false
		}
		if i == 0 {
			low, high, last = x, x, x
			if _, ok := expr.Compare(x, x); !ok {
				return false
			}
			continue
		}
		c, ok := expr.Compare(last, x)
		if !ok || t.ordered && c >= 0 {
			return false
		}
		if c, _ := expr.Compare(x, low); c < 0 {
			low = x
		}
		if c, _ := expr.Compare(x, high); c > 0 {
			high = x
		}
		last = x
	}
	return !t.bounded || near(low, high, t.within)
}

// near reports whether high is at most the bound more than low, exactly.
func near(low, high expr.Value, bound int64) bool {
	if low.Kind == expr.Int && high.Kind == expr.Int {
		return uint64(high.I)-uint64(low.I) <= uint64(bound)
	}
	x, ok1 := exact(low)
	y, ok2 := exact(high)
	return ok1 && ok2 && y.Sub(y, x).Cmp(new(big.Rat).SetInt64(bound)) <= 0
}

func exact(v expr.Value) (*big.Rat, bool) {
	switch v.Kind {
	case expr.Int:
		return new(big.Rat).SetInt64(v.I), true
	case expr.Float:
		x := new(big.Rat).SetFloat64(v.F)
		return x, x != nil
	}
	return nil, false
}

// subSearch decides EXISTS for one sub-pattern.
type subSearch struct {
	s      *searcher
	sub    *nest.Sub
	a      [pattern.MaxVertices]uint32
	avoid  []uint32 // vertices that the sub-pattern's own ones must not be
	bufs   [pattern.MaxVertices][]uint32
	checks []check
	order  *timing
}

// any reports whether the outer vertices can be continued at the version that is searched.
func (x *subSearch) any(outer []uint32) bool {
	copy(x.a[:], outer)
	return x.level(0)
}

func (x *subSearch) level(l int) bool {
	n := &x.sub.Inside
	if l == len(n.Places) {
		return x.chooses()
	}
	lv := &n.Places[l]
	if l < x.sub.Outer {
		return x.fits(lv) && x.level(l+1)
	}
	if len(lv.Pos) == 0 { // no path leads there from earlier vertices
		found := false
		x.s.view.Vertices(lv.Ranges, func(c uint32) bool {
			found = x.takes(lv, l, c)
			if x.s.steps++; x.s.steps%x.s.m.grain.ticks == 0 { // such a search may be long
				x.s.ended = x.s.ended || x.s.run.tick()
			}
			return !found && !x.s.ended
		})
		return found
	}
	first := &lv.Pos[0]
	for _, c := range x.s.fetch(x.a[first.Of], &first.Rel, lv.Ranges, &x.bufs[l]) {
		if x.takes(lv, l, c) {
			return true
		}
	}
	return false
}

// takes reports whether the vertex of place l can be c.
func (x *subSearch) takes(lv *nest.Level, l int, c uint32) bool {
	for _, u := range lv.Apart {
		if x.a[u] == c {
			return false
		}
	}
	if slices.Contains(x.avoid, c) {
		return false
	}
	x.a[lv.V] = c
	return x.fits(lv) && x.level(l+1)
}

// fits reports whether the vertex of a level fits its label, its edges to earlier ones, and the conditions.
func (x *subSearch) fits(lv *nest.Level) bool {
	c := x.a[lv.V]
	if a := x.sub.Allowed[lv.V]; a != nil && !a[x.s.m.g.ClassOf(c)] {
		return false
	}
	for _, backs := range [][]nest.Back{lv.All, lv.Slow} {
		for i := range backs {
			if b := &backs[i]; x.s.has(x.s.view, x.a[b.Of], c, &b.Rel) == b.Neg {
				return false
			}
		}
	}
	for _, i := range lv.Checks {
		if !x.checks[i](x.a[:], nil) {
			return false
		}
	}
	return true
}

// chooses reports whether data edges can be chosen for the edges of the sub-pattern.
func (x *subSearch) chooses() bool {
	if len(x.sub.Choices) == 0 {
		return true
	}
	was, m := x.s.chosen, x.a[:len(x.sub.Pattern.Vertices)]
	x.s.chosen = nil
	found := false
	x.s.choose(x.sub.Pattern, x.sub.Between, x.sub.Choices, m, func() bool {
		found = x.s.edgesPass(x.sub.Choices, x.sub.Where, x.checks, x.order, m)
		return !found
	})
	x.s.chosen = was
	return found
}
