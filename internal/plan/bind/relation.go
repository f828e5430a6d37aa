package bind

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// relation is a filtered set of data edges as neighbour lists, a virtual edge
// label: predicates on edges cost nothing during the search.
type relation struct {
	out, in *graph.Handle // equal for a symmetric relation
	key     string
	name    string // text inside the brackets of N[…]
	arrow   bool   // directed: names get + and -
	rows    *rowSet
}

func (r *relation) empty() bool { return r.out.Pairs() == 0 }

// label is how explain calls the relation seen from one side.
func (r *relation) label(side string) string {
	name := "N"
	if r.name != "" {
		name += "[" + r.name + "]"
	}
	if r.arrow {
		name += side
	}
	return name
}

// relation returns the neighbour lists of the data edges in rows: along their
// direction, or either way. Lists of the graph itself are used where no edge is
// filtered out; others are made once for each set and direction.
func (t *tables) relation(rows *rowSet, dir pattern.Dir) *relation {
	arrow := t.Graph.Directed && dir == pattern.Forward
	key := "-"
	if arrow {
		key = ">"
	}
	if rows.key != "" {
		key += rows.key
	}
	if r := t.rels.get(key); r != nil {
		return r
	}
	r := &relation{key: key, name: rows.name, arrow: arrow, rows: rows}
	g := t.Graph
	var kept *graph.Relation // nil: no pair is filtered out
	switch {
	case rows.all:
	case rows.single:
		kept = g.RelationByLabel(rows.label)
	case g.Edges == nil:
		kept = g.NoRelation()
	default:
		var err error // of a context that has ended: Bind's caller looks at it, and drops the plan
		if kept, err = graph.EdgeRelation(t.ctx, g, t.threads, func(row int) bool { return rows.has(uint64(row)) }); err != nil {
			kept = g.NoRelation()
		}
	}
	if kept != nil && kept.Out.Entries() == len(g.Out.Adj) {
		kept = nil
	}
	var out, in graph.Lists
	switch {
	case arrow && kept == nil:
		out, in = g.Out.Lists(), g.In.Lists()
	case arrow:
		out, in = kept.Out, kept.In
	case kept == nil:
		out = g.Any().Lists()
	default:
		out = kept.Either()
	}
	r.out = g.Handle(out)
	r.in = r.out
	if arrow {
		r.in = g.Handle(in)
	}
	t.rels.put(key, r)
	return r
}

// adjacency returns the index in b.adjs of r seen from the source of its edges.
func (b *Binding) adjacency(r *relation) int {
	if i := slices.Index(b.seenRels, r); i >= 0 {
		return i
	}
	i := len(b.Adjs)
	b.seenRels = append(b.seenRels, r)
	if !r.arrow {
		b.Adjs = append(b.Adjs, plan.Adjacency{Lists: r.out, Name: r.label(""), Rev: i, Filters: r.rows.filters, Only: b.only(r, false)})
		return i
	}
	b.seenRels = append(b.seenRels, r)
	b.Adjs = append(b.Adjs,
		plan.Adjacency{Lists: r.out, Name: r.label("+"), Rev: i + 1, Filters: r.rows.filters, Only: b.only(r, false)},
		plan.Adjacency{Lists: r.in, Name: r.label("-"), Rev: i, Filters: r.rows.filters, Only: b.only(r, true)})
	return i
}

// only says of which single label the edges of r are, or returns nil.
func (b *Binding) only(r *relation, in bool) *plan.EdgeLabel {
	x := &plan.EdgeLabel{Label: graph.NoLabel, In: in, Both: b.Graph.Directed && !r.arrow}
	switch t := b.Graph.Edges; {
	case r.rows.single:
		x.Label = r.rows.label
	case !r.rows.all || t != nil && t.Label != nil:
		return nil
	}
	return x
}

// rowSet is a set of data edges: rows of the edge table, or, on a graph without
// one, all edges or none. The rows of a single label need no bits.
type rowSet struct {
	all    bool
	none   bool
	single bool
	label  uint32
	labels []uint32 // of all rows; for single
	bits   []uint64
	key    string
	name   string
	// only and where are the edge's label and conditions; others, if not nil, are the
	// sets of which this one has no row.
	only   *pattern.Label
	where  []pattern.Expr
	others []*rowSet

	mu    sync.Mutex
	words []uint64 // as accepted gives them
}

// mostFilters bounds the number of texts that filters returns. That number is the product of
// the conditions of parallel edges.
const mostFilters = 256

// filters returns texts for the brackets of an edge, each of which selects some of the rows.
// Together they select every row. It returns none if labels alone say that no row passes.
func (r *rowSet) filters() (out []string, err error) {
	if r.all || r.others == nil {
		return []string{r.name}, nil
	}
	// A row is not in a set where its label or its conditions are not the set's.
	type part struct {
		label *pattern.Label
		where []pattern.Expr
	}
	parts := []part{{}}
	for _, s := range r.others {
		var next []part
		for _, p := range parts {
			if s.only != nil {
				label := &pattern.Label{Op: pattern.LabelNot, X: s.only}
				if p.label != nil {
					label = &pattern.Label{Op: pattern.LabelAnd, X: p.label, Y: label}
				}
				if label.Satisfiable() { // else no row is in this part
					next = append(next, part{label, p.where})
				}
			}
			for _, x := range s.where {
				next = append(next, part{p.label, append(slices.Clone(p.where), notTrue(x))})
			}
		}
		if parts = next; len(parts) > mostFilters {
			return nil, fmt.Errorf("INDUCED with parallel edges forbids more than %d kinds of edges", mostFilters)
		}
	}
	for _, p := range parts {
		_, text := filterText(p.label, p.where)
		out = append(out, text)
	}
	return out, nil
}

// notTrue is true where x is false, NULL or no truth.
func notTrue(x pattern.Expr) pattern.Expr {
	return pattern.Binary{
		Op: pattern.OpOr, X: pattern.Binary{Op: pattern.OpNe, X: x, Y: pattern.Lit{Value: true}},
		Y: pattern.Unary{Op: pattern.OpIsNull, X: x},
	}
}

// accepted are the rows as plan.EdgeChoice has them.
func (r *rowSet) accepted() []uint64 {
	if r.all {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.words == nil {
		words := r.bits
		if words == nil {
			words = make([]uint64, max(1, (len(r.labels)+63)/64))
			for i := range words {
				if r.single {
					words[i] = r.word(i, len(r.labels))
				}
			}
		}
		r.words = words // when all of them are right: labels may be a file's
	}
	return r.words
}

func (r *rowSet) has(row uint64) bool {
	switch {
	case r.all:
		return true
	case r.single:
		return r.labels[row] == r.label
	}
	return !r.none && r.bits[row/64]>>(row%64)&1 != 0
}

// word returns the bits of rows 64·i to 64·i+63 of n.
func (r *rowSet) word(i, n int) (w uint64) {
	if !r.single {
		return r.bits[i]
	}
	for row := 64 * i; row < min(64*i+64, n); row++ {
		if r.labels[row] == r.label {
			w |= 1 << (row - 64*i)
		}
	}
	return w
}

// edgeRows is the rows whose label and properties pass; where are over the edge
// alone.
func (b *Binding) edgeRows(edge int, where []pattern.Expr) *rowSet {
	label := b.Pattern.Edges[edge].Label
	var key, name string
	if label != nil || len(where) > 0 {
		key, name = filterText(label, where)
	}
	if r := b.rows.get(key); r != nil {
		return r
	}
	r := &rowSet{key: key, name: name, only: label, where: where}
	b.rows.put(key, r)
	if label == nil && len(where) == 0 {
		r.all = true
		return r
	}
	sc := b.scope()
	sc.Edge = func(int) int { return 0 }
	pass := make([]func([]uint32, []uint64) bool, len(where))
	for i, x := range where {
		pass[i] = sc.Check(x)
	}
	if b.Graph.Edges == nil {
		none := func(string) bool { return false }
		r.all = label.Matches(none, false)
		for _, f := range pass {
			r.all = r.all && f(nil, []uint64{0})
		}
		if r.none = !r.all; r.all {
			r.key, r.name = "", ""
		}
		return r
	}
	if label != nil && label.Op == pattern.LabelName && len(where) == 0 && b.Graph.Edges.Label != nil {
		if i, ok := b.Graph.EdgeLabel(label.Name); ok {
			r.single, r.label, r.labels = true, i, b.Graph.Edges.Label
			return r
		}
	}
	byLabel, unlabelled := b.edgeLabels(label)
	table := b.Graph.Edges
	n := len(table.Dst)
	r.bits = fillBits(n, []plan.Range{{First: 0, End: uint32(n)}}, b.ended, func() func(uint32) bool {
		e := []uint64{0}
		return func(row uint32) bool {
			ok := unlabelled
			if table.Label != nil && table.Label[row] != graph.NoLabel {
				ok = byLabel[table.Label[row]]
			}
			e[0] = uint64(row)
			for i := 0; ok && i < len(pass); i++ {
				ok = pass[i](nil, e)
			}
			return ok
		}
	})
	r.finish(n)
	return r
}

// finish counts the rows; a set of all rows is the same set however it was
// described.
func (r *rowSet) finish(n int) {
	count := 0
	for _, w := range r.bits {
		count += bits.OnesCount64(w)
	}
	if r.none = count == 0; count == n {
		r.all, r.key, r.name, r.bits = true, "", "", nil
	}
}

// edgeLabels evaluates l for edges with each single label and for those without.
func (b *Binding) edgeLabels(l *pattern.Label) (byLabel []bool, unlabelled bool) {
	byLabel = make([]bool, len(b.Graph.EdgeLabels))
	where := l.Where(len(byLabel), func(name string) []int {
		if i, ok := b.Graph.EdgeLabel(name); ok {
			return []int{int(i)}
		}
		return nil
	}, func(int) bool { return true })
	for i := range byLabel {
		byLabel[i] = where[i/64]>>(i%64)&1 != 0
	}
	return byLabel, l.Matches(func(string) bool { return false }, false)
}

// otherRows is the rows in none of sets; no sets: all rows.
func (t *tables) otherRows(sets []*rowSet) *rowSet {
	keys := make([]string, len(sets))
	names := make([]string, len(sets))
	for i, s := range sets {
		if s.all {
			return &rowSet{none: true, key: "none"}
		}
		keys[i], names[i] = s.key, s.name
	}
	slices.Sort(keys)
	slices.Sort(names)
	keys, names = slices.Compact(keys), slices.Compact(names)
	if len(sets) == 0 {
		return &rowSet{all: true}
	}
	key := "other than " + strings.Join(keys, " or ")
	if r := t.rows.get(key); r != nil {
		return r
	}
	r := &rowSet{key: key, name: "not " + strings.Join(names, " nor "), others: sets}
	t.rows.put(key, r)
	if t.Graph.Edges == nil { // no edge is in any of the sets
		r.all, r.key, r.name = true, "", ""
		return r
	}
	n := len(t.Graph.Edges.Dst)
	r.bits = make([]uint64, (n+63)/64)
	for i := range r.bits {
		var w uint64
		for _, s := range sets {
			w |= s.word(i, n)
		}
		r.bits[i] = ^w
	}
	if n%64 != 0 {
		r.bits[len(r.bits)-1] &= 1<<(n%64) - 1
	}
	r.finish(n)
	return r
}

// filterText is a key for an edge filter, equal for filters that say the same of
// differently named edges, and its text for explain.
func filterText(l *pattern.Label, where []pattern.Expr) (key, name string) {
	if l != nil {
		name = ":" + l.String()
	}
	if len(where) > 0 {
		one := &pattern.Pattern{Vertices: make([]pattern.Vertex, 2), Edges: []pattern.Edge{{Name: "e", To: 1, Min: 1, Max: 1}}}
		texts := make([]string, len(where))
		for i, x := range where {
			texts[i] = pattern.FormatExpr(one, pattern.MapRefs(x, func(r pattern.Ref) pattern.Ref {
				return pattern.Ref{Kind: r.Kind}
			}))
			if y, ok := x.(pattern.Binary); ok && y.Op == pattern.OpOr && len(where) > 1 {
				texts[i] = "(" + texts[i] + ")"
			}
		}
		slices.Sort(texts)
		name = strings.TrimSpace("e" + name + " WHERE " + strings.Join(slices.Compact(texts), " AND "))
	}
	return name, name
}
