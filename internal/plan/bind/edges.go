package bind

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Edge is a pattern edge of which each data edge counts.
type Edge struct {
	Edge int
	rows *rowSet
}

// bindEdges makes the links of the pattern's edges. It also notes the edges for which each data
// edge makes an embedding.
func (b *Binding) bindEdges(w *wheres) error {
	var rows *rowSet
	var rel *relation
	var unknown []string
	for i := range b.Pattern.Edges {
		e := &b.Pattern.Edges[i]
		where := w.ofEdge(i)
		// Mostly every edge asks for the same.
		if d := &b.Pattern.Edges[max(i-1, 0)]; i == 0 || e.Label != d.Label || e.Dir != d.Dir || len(where)+len(w.ofEdge(i-1)) > 0 {
			rows = b.edgeRows(i, where)
			rel = b.relation(rows, e.Dir)
			unknown = b.unknownLabels(e.Label, "edge", b.Graph.EdgeLabels)
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
			b.addLink(Link{e.From, e.To, b.adjacency(rel), e.Negated})
		}
		if !e.Negated && (e.Named() || b.Pattern.Mode == pattern.Trail) {
			b.Edges = append(b.Edges, Edge{i, rows})
		}
	}
	return nil
}

// bindInduced forbids data edges between matched vertices that no edge of the pattern accepts.
// It makes a negative link for each pair and each direction.
func (b *Binding) bindInduced(w *wheres) {
	for u := range b.N {
		for v := range u {
			if b.Pattern.Vertices[u].Aside || b.Pattern.Vertices[v].Aside {
				continue
			}
			var along, against []*rowSet // accepted from v to u, and from u to v
			for i := range b.Pattern.Edges {
				e := &b.Pattern.Edges[i]
				if e.Negated || min(e.From, e.To) != v || max(e.From, e.To) != u {
					continue
				}
				rows := b.edgeRows(i, w.ownOf(i))
				either := e.Dir == pattern.Either || !b.Graph.Directed
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

func (b *Binding) forbid(from, to int, rows *rowSet, dir pattern.Dir) {
	if rows.none {
		return
	}
	if rel := b.relation(rows, dir); !rel.empty() {
		b.addLink(Link{from, to, b.adjacency(rel), true})
	}
}

// rowsOf are the data edges that a pattern edge accepts of which each counts.
func (b *Binding) rowsOf(edge int) *rowSet {
	for _, e := range b.Edges {
		if e.Edge == edge {
			return e.rows
		}
	}
	return nil
}

// addEdgeChoices lists the plan's edge choices by the level at which both ends
// are known.
func (b *Binding) addEdgeChoices(pl *plan.Plan) {
	for _, be := range b.Edges {
		e := &b.Pattern.Edges[be.Edge]
		from, to := pl.LevelOf[e.From], pl.LevelOf[e.To]
		either := e.Dir == pattern.Either && b.Graph.Directed
		pl.Edges = append(pl.Edges, plan.EdgeChoice{
			Edge: be.Edge, From: from, To: to, At: max(from, to), Either: either,
			Filter: be.rows.name, Accepted: be.rows.accepted,
			Rows: b.rowsBetween(be.rows, either),
		})
	}
	b.delayChoices(pl)
	slices.SortStableFunc(pl.Edges, func(x, y plan.EdgeChoice) int {
		return cmp.Or(x.At-y.At, b.extendsLast(x)-b.extendsLast(y))
	})
}

// extendsLast is 0 for the edge that leads to the vertex of its level, which comes
// first there, and 1 for the others.
func (b *Binding) extendsLast(c plan.EdgeChoice) int {
	if b.extends != nil && b.extends[c.At] == c.Edge {
		return 0
	}
	return 1
}

// delayChoices moves an edge choice to the level of the last vertex that its conditions
// mention. Such a condition can then be kept with one of its edges.
func (b *Binding) delayChoices(pl *plan.Plan) {
	for _, c := range b.Checks {
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
// an edge table its place in the lists of out-neighbours (from the smaller end if undirected).
func (b *Binding) rowsBetween(rows *rowSet, either bool) func(u, v uint32, yield func(uint64) bool) {
	g := b.Graph
	var out *graph.CSR
	if g.Edges == nil {
		out = g.Flat(&g.Out)
	}
	one := func(u, v uint32, yield func(uint64) bool) bool {
		if !g.Directed && u > v {
			u, v = v, u
		}
		if g.Edges == nil {
			i, ok := slices.BinarySearch(out.List(u), v)
			return !ok || !rows.all || yield(out.Off[u]+uint64(i))
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
