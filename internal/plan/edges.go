package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
)

// boundEdge is a pattern edge of which each data edge counts.
type boundEdge struct {
	edge int
	rows *rowSet
}

// bindEdges makes the links of the pattern's edges, and notes those of which
// each data edge makes an embedding of its own.
func (b *binding) bindEdges(w *wheres) error {
	var rows *rowSet
	var rel *relation
	var unknown []string
	for i := range b.p.Edges {
		e := &b.p.Edges[i]
		where := w.ofEdge(i)
		// Mostly every edge asks for the same.
		if d := &b.p.Edges[max(i-1, 0)]; i == 0 || e.Label != d.Label || e.Dir != d.Dir || len(where)+len(w.ofEdge(i-1)) > 0 {
			rows = b.edgeRows(i, where)
			rel = b.relation(rows, e.Dir)
			unknown = b.unknownLabels(e.Label, "edge", b.g.EdgeLabels)
		}
		if rel.empty() && !e.Negated {
			switch {
			case len(unknown) > 0:
				b.nothing(unknown[0])
			case rows.name != "":
				b.nothing(fmt.Sprintf("no edge passes [%s]", rows.name))
			default:
				b.nothing("the graph has no edges")
			}
		} else {
			for _, text := range unknown {
				b.warn(text)
			}
		}
		if !e.Negated || !rel.empty() {
			b.addLink(link{e.From, e.To, b.adjacency(rel), e.Negated})
		}
		if !e.Negated && (e.Named() || b.p.Mode == pattern.Trail) {
			b.edges = append(b.edges, boundEdge{i, rows})
		}
	}
	return nil
}

// bindInduced forbids data edges between matched vertices for which no edge of
// the pattern stands: a negative link for what the pattern's edges between a
// pair do not accept, in each direction.
func (b *binding) bindInduced(w *wheres) {
	for u := range b.n {
		for v := range u {
			if b.p.Vertices[u].Aside || b.p.Vertices[v].Aside {
				continue
			}
			var along, against []*rowSet // accepted from v to u, and from u to v
			for i := range b.p.Edges {
				e := &b.p.Edges[i]
				if e.Negated || min(e.From, e.To) != v || max(e.From, e.To) != u {
					continue
				}
				rows := b.edgeRows(i, w.ownOf(i))
				either := e.Dir == pattern.Either || !b.g.Directed
				if e.From == v || either {
					along = append(along, rows)
				}
				if e.From == u || either {
					against = append(against, rows)
				}
			}
			x, y := b.otherRows(along), b.otherRows(against)
			if x.key == y.key && x.all == y.all {
				b.forbid(v, u, x, pattern.Either)
				continue
			}
			b.forbid(v, u, x, pattern.Forward)
			b.forbid(u, v, y, pattern.Forward)
		}
	}
}

func (b *binding) forbid(from, to int, rows *rowSet, dir pattern.Dir) {
	if rows.none {
		return
	}
	if rel := b.relation(rows, dir); !rel.empty() {
		b.addLink(link{from, to, b.adjacency(rel), true})
	}
}

// addEdgeChoices lists the plan's edge choices by the level at which both ends
// are known.
func (b *binding) addEdgeChoices(pl *Plan) {
	for _, be := range b.edges {
		e := &b.p.Edges[be.edge]
		from, to := pl.LevelOf[e.From], pl.LevelOf[e.To]
		either := e.Dir == pattern.Either && b.g.Directed
		pl.Edges = append(pl.Edges, EdgeChoice{
			Edge: be.edge, From: from, To: to, At: max(from, to), Either: either, rows: be.rows,
			Rows: b.rowsBetween(be.rows, either),
		})
	}
	b.delayChoices(pl)
	slices.SortStableFunc(pl.Edges, func(x, y EdgeChoice) int {
		return cmp.Or(x.At-y.At, b.extendsLast(x)-b.extendsLast(y))
	})
}

// extendsLast is 0 for the edge that leads to the vertex of its level, which comes
// first there, and 1 for the others.
func (b *binding) extendsLast(c EdgeChoice) int {
	if b.extends != nil && b.extends[c.At] == c.Edge {
		return 0
	}
	return 1
}

// delayChoices moves choices to the level of the last vertex that a condition
// compares them with, so that such a condition can stand with one of its edges.
func (b *binding) delayChoices(pl *Plan) {
	for _, c := range b.checks {
		level, last := -1, -1
		for _, v := range c.vertices {
			level = max(level, pl.LevelOf[v])
		}
		for i := range pl.Edges {
			if slices.Contains(c.edges, pl.Edges[i].Edge) && (last < 0 || pl.Edges[i].At >= pl.Edges[last].At) {
				last = i
			}
		}
		if last >= 0 {
			pl.Edges[last].At = max(pl.Edges[last].At, level)
		}
	}
}

// rowsBetween enumerates the accepted data edges from u to v, and with either
// those from v to u as well. The id of an edge is its row, or in a graph without
// an edge table its place in Out.Adj (from the smaller end if undirected).
func (b *binding) rowsBetween(rows *rowSet, either bool) func(u, v uint32, yield func(uint64) bool) {
	g := b.g
	one := func(u, v uint32, yield func(uint64) bool) bool {
		if !g.Directed && u > v {
			u, v = v, u
		}
		if g.Edges == nil {
			i, ok := slices.BinarySearch(g.Out.List(u), v)
			return !ok || !rows.all || yield(g.Out.Off[u]+uint64(i))
		}
		first, end := g.Edges.Off[u], g.Edges.Off[u+1]
		i, _ := slices.BinarySearch(g.Edges.Dst[first:end], v)
		for row := first + uint64(i); row < end && g.Edges.Dst[row] == v; row++ {
			if rows.has(row) && !yield(row) {
				return false
			}
		}
		return true
	}
	return func(u, v uint32, yield func(uint64) bool) {
		if one(u, v, yield) && either {
			one(v, u, yield)
		}
	}
}
