package weft

import (
	"context"
	"io"
	"iter"
	"math/big"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/sink"
)

// Participation is how often each vertex of a graph plays the part of one vertex
// of a pattern: under iso, the number of subgraphs in which it plays that part
// or one that the pattern's symmetries make equal to it; otherwise the number of
// embeddings that bind it there. Under RETURN … GROUP BY rows are written for groups of
// vertices, whose numbers are the sums over their vertices.
type Participation struct {
	Result
	Vertex string // of the pattern
	g      *Graph
	counts []engine.Uint128
	column string
	lead   []sink.Column // before the others: the query's name
	groups *sink.Groups  // nil: every vertex has a row of its own
	rows   int           // to write: RETURN's LIMIT
}

// Participation counts, for each vertex of the graph, the matches of q in which
// it plays the part of the named vertex of the pattern. What q says of the column's name
// and of groups holds where that is the vertex of its RETURN. Cut short by its context
// it returns what was found until then with the context's error; nil where the query was
// still being planned.
func (g *Graph) Participation(ctx context.Context, q *Query, vertex string, options ...Option) (p *Participation, err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave(&err, &p)
	s, err := g.collect(callParticipation, options)
	if err != nil {
		return nil, err
	}
	shape, err := q.pattern(s)
	if err != nil {
		return nil, err
	}
	if err := s.participates(shape); err != nil {
		return nil, err
	}
	root, err := plan.VertexByName(q.q.Pattern, vertex)
	if err != nil {
		return nil, withKind(ErrUsage, err)
	}
	j, err := g.prepare(ctx, q, s, func(o *plan.Options) { o.Root = root })
	if err != nil {
		return nil, err
	}
	counts := make([]engine.Uint128, g.NumVertices())
	p = &Participation{Vertex: vertex, g: g, counts: counts, column: "participation", rows: len(counts)}
	if s.queryCol {
		p.lead = []sink.Column{queryColumn(q)}
	}
	if ret := &q.q.Return; ret.Kind == asksParticipation && ret.Vertex == root {
		p.column = ret.Column
		if p.groups, err = g.groupsOf(ret, j.plan.Pattern, s); err != nil {
			return nil, err
		}
		j.plan.Warnings = append(j.plan.Warnings, g.missingColumns(ret.GroupBy, j.plan.Warnings)...)
	}
	j.goal.PerRoot = counts
	r, err := j.run(ctx, nil)
	p.Result = r
	p.total(j.plan)
	if p.groups != nil {
		p.groups.Gather(counts)
		p.rows = p.groups.Len()
	}
	if l := q.q.Return.Limit; q.q.HasReturn && l >= 0 && l < int64(p.rows) {
		p.rows = int(l)
	}
	return p, err
}

// total corrects the result of a rooted plan, whose matches are per root.
func (p *Participation) total(pl *plan.Plan) {
	n := new(big.Int)
	for _, c := range p.counts {
		if !c.IsZero() {
			n.Add(n, c.Big())
		}
	}
	p.Embeddings = n.Mul(n, pl.RootSymmetry())
	if p.Subgraphs != nil {
		p.Subgraphs = new(big.Int).Quo(n, pl.Aut)
	}
}

// Count is the count of the vertex with the given id; 0 where there is none. It panics
// with ErrClosed after Close of the graph.
func (p *Participation) Count(id string) *big.Int {
	if p.g == nil {
		return new(big.Int)
	}
	defer p.g.reads().done()
	v, ok := p.g.g.Lookup(id)
	if !ok {
		return new(big.Int)
	}
	return p.counts[v].Big()
}

// All gives each vertex's id and count. It panics with ErrClosed after Close of the graph.
func (p *Participation) All() iter.Seq2[string, *big.Int] {
	return func(yield func(string, *big.Int) bool) {
		if p.g == nil {
			return
		}
		defer p.g.reads().end()
		for v, c := range p.counts {
			if !yield(p.g.g.IDs.String(uint32(v)), c.Big()) {
				return
			}
		}
	}
}

// Write writes a row a vertex: its id under the name of the pattern's vertex,
// and the count; or a row a group: its values, and the sum of the counts. JSON has
// counts beyond 2^53 as strings; in Arrow and Parquet all are text where one exceeds
// 63 bits.
func (p *Participation) Write(w io.Writer, format string) (err error) {
	ctx := context.Background()
	l, err := p.g.enter(&ctx)
	if err != nil {
		return err
	}
	defer l.leave(&err)
	if err := sink.CheckFormat(format); err != nil {
		return classify(err)
	}
	if p.groups != nil {
		return p.groups.Write(w, format, p.lead, p.column, p.rows)
	}
	count := sink.Value(p.column, sink.Int, func(m []uint32, _ []uint64) any { return int64(p.counts[m[0]].Lo) })
	for _, c := range p.counts {
		if c.Hi > 0 || c.Lo >= 1<<63 || c.Lo > 1<<53 && (format == "json" || format == "ndjson") {
			count = sink.Value(p.column, sink.Count, func(m []uint32, _ []uint64) any { return p.counts[m[0]].Big() })
			break
		}
	}
	return sink.WriteNumbered(w, format, p.rows, append(slices.Clone(p.lead), sink.Vertex(p.g.g, p.Vertex, 0), count))
}

// groupsOf is what the RETURN says of groups, none of which has a vertex yet; nil where
// it does not say GROUP BY.
func (g *Graph) groupsOf(ret *gql.Return, of *pattern.Pattern, s *settings) (*sink.Groups, error) {
	if len(ret.GroupBy) == 0 {
		return nil, nil
	}
	columns, err := g.items(ret.GroupBy, of, s, func(int) int { return -1 })
	return &sink.Groups{Columns: columns, Width: len(of.Vertices), Vertex: ret.Vertex}, withKind(ErrQuery, err)
}
