package search

import (
	"context"
	"io"
	"math/big"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/sink"
)

// Participation is how often each vertex of a graph plays the part of one vertex of a pattern. Its
// methods read the graph, for which the caller has a lease.
type Participation struct {
	Result Result
	Counts []engine.Uint128 // by internal vertex

	g      *Graph
	vertex string // of the pattern
	column string
	lead   []sink.Column // before the others: the query's name
	groups *sink.Groups  // nil: every vertex has a row of its own
	reader *elements
	rows   int  // to write: RETURN's LIMIT
	cut    bool // Shorten has dropped rows
}

// Participation counts, for each vertex of the graph, the matches that have it at the named vertex
// of the pattern. If ctx ends first, it returns the counts so far with the context's error, or nil
// if the query was still being planned.
func (g *Graph) Participation(ctx context.Context, a Question, vertex string) (*Participation, error) {
	shape, err := a.Pattern()
	if err != nil {
		return nil, err
	}
	if err := a.participates(shape); err != nil {
		return nil, err
	}
	root, err := plan.VertexByName(a.Query.Pattern, vertex)
	if err != nil {
		return nil, kind.With(kind.Usage, err)
	}
	j, err := g.Prepare(ctx, a, func(o *plan.Options) { o.Root = root })
	if err != nil {
		return nil, err
	}
	reader, err := newElements(g.Data)
	if err != nil {
		return nil, err
	}
	if err := memory.ShareOf(ctx).Take("counts by vertex", 16*int64(g.Data.NumVertices())); err != nil {
		return nil, Classify(err)
	}
	counts := make([]engine.Uint128, g.Data.NumVertices())
	p := &Participation{Counts: counts, g: g, reader: reader, vertex: vertex, column: "participation", rows: len(counts), lead: j.lead()}
	ret := &a.Query.Return
	if ret.Kind == gql.ReturnParticipation && ret.Vertex == root {
		p.column = ret.Column
		if p.groups, err = j.groups(ret, j.Plan.Pattern); err != nil {
			return nil, a.wrongItem(err)
		}
		j.notes = j.missing(ret.GroupBy)
	}
	j.goal.PerRoot = counts
	p.Result, err = j.Run(ctx, nil)
	p.Result.sum(counts, j.Plan)
	if p.groups != nil {
		p.groups.Gather(counts)
		p.rows = p.groups.Len()
	}
	if l := ret.Limit; a.Query.HasReturn && l >= 0 && l < int64(p.rows) {
		p.rows = int(l)
	}
	return p, err
}

// sum corrects the result of a rooted plan, whose matches are per root.
func (r *Result) sum(counts []engine.Uint128, pl *plan.Plan) {
	n := new(big.Int)
	for _, c := range counts {
		if !c.IsZero() {
			n.Add(n, c.Big())
		}
	}
	r.Embeddings = n.Mul(n, pl.RootSymmetry())
	if r.Subgraphs != nil {
		r.Subgraphs = new(big.Int).Quo(n, pl.Aut)
	}
}

// groups returns the groups of a RETURN, still without vertices; nil if it has no GROUP BY.
func (j *Job) groups(ret *gql.Return, of *pattern.Pattern) (*sink.Groups, error) {
	if len(ret.GroupBy) == 0 {
		return nil, nil
	}
	columns, err := j.valuesOf(ret.GroupBy, of, func(int) int { return -1 })
	return &sink.Groups{Columns: columns, Width: len(of.Vertices), Vertex: ret.Vertex}, err
}

// Shorten drops all rows after the first n.
func (p *Participation) Shorten(n int) {
	p.cut = p.cut || n < p.rows
	p.rows = max(0, min(p.rows, n))
}

// Len is the number of rows that Write writes.
func (p *Participation) Len() int { return p.rows }

// Write writes a row a vertex or a row a group. An Arrow stream says at its end if the counts are not complete, or Shorten has dropped rows.
func (p *Participation) Write(w io.Writer, format string) error {
	if err := sink.CheckFormat(format); err != nil {
		return Classify(err)
	}
	cut := p.cut || !p.Result.Complete
	if p.groups != nil {
		return p.groups.Write(w, format, p.lead, p.column, p.rows, cut)
	}
	count := sink.Value(p.column, sink.Int, func(m []uint32, _ []uint64) any { return int64(p.Counts[m[0]].Lo) })
	for _, c := range p.Counts {
		if c.Hi > 0 || c.Lo >= 1<<63 || c.Lo > 1<<53 && (format == "json" || format == "ndjson") {
			count = sink.Value(p.column, sink.Count, func(m []uint32, _ []uint64) any { return p.Counts[m[0]].Big() })
			break
		}
	}
	return sink.WriteNumbered(w, format, p.rows, append(slices.Clone(p.lead), sink.Vertex(p.g.Data, p.vertex, 0), count), cut)
}

// Rows yields the rows that Write writes: the values of the group, or the vertex, and the count.
func (p *Participation) Rows(yield func(values []any, count *big.Int) bool) {
	for i := range p.rows {
		var values []any
		var n *big.Int
		if p.groups != nil {
			values, n = p.groups.Row(i)
			for at, x := range values {
				values[at] = sink.GoValue(x)
			}
		} else {
			values, n = []any{Element{p.reader, uint64(i), false}}, p.Counts[i].Big()
		}
		if !yield(values, n) {
			return
		}
	}
}
