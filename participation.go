package weft

import (
	"context"
	"io"
	"iter"
	"math/big"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/sink"
)

// Participation is how often each vertex of a graph plays the part of one vertex
// of a pattern: under iso, the number of subgraphs in which it plays that part
// or one that the pattern's symmetries make equal to it; otherwise the number of
// embeddings that bind it there.
type Participation struct {
	Result
	Vertex string // of the pattern
	g      *Graph
	counts []engine.Uint128
	rows   int // to write: RETURN's LIMIT
}

// Participation counts, for each vertex of the graph, the matches of q in which
// it plays the part of the named vertex of the pattern.
func (g *Graph) Participation(ctx context.Context, q *Query, vertex string, options ...Option) (*Participation, error) {
	s := collect(options)
	root, err := vertexByName(q.q.Pattern, vertex)
	if err != nil {
		return nil, withKind(ErrUsage, err)
	}
	j, err := g.prepare(ctx, q, s, func(o *plan.Options) { o.Root = root })
	if err != nil {
		return nil, err
	}
	counts := make([]engine.Uint128, g.NumVertices())
	j.opt.PerRoot = counts
	r, err := j.run(ctx, nil)
	p := &Participation{Result: r, Vertex: vertex, g: g, counts: counts, rows: len(counts)}
	if l := q.q.Return.Limit; q.q.HasReturn && l >= 0 && l < int64(p.rows) {
		p.rows = int(l)
	}
	p.total(j.plan)
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

// Count is the count of the vertex with the given id; 0 where there is none.
func (p *Participation) Count(id string) *big.Int {
	v, ok := p.g.g.Lookup(id)
	if !ok {
		return new(big.Int)
	}
	return p.counts[v].Big()
}

// All gives each vertex's id and count.
func (p *Participation) All() iter.Seq2[string, *big.Int] {
	return func(yield func(string, *big.Int) bool) {
		for v, c := range p.counts {
			if !yield(p.g.g.IDs.String(uint32(v)), c.Big()) {
				return
			}
		}
	}
}

// Write writes a row a vertex: its id under the name of the pattern's vertex,
// and the count. Counts are text where one exceeds 63 bits.
func (p *Participation) Write(w io.Writer, format string) error {
	if err := sink.CheckFormat(format); err != nil {
		return classify(err)
	}
	count := sink.Value("participation", sink.Int, func(m []uint32, _ []uint64) any { return int64(p.counts[m[0]].Lo) })
	for _, c := range p.counts {
		if c.Hi > 0 || c.Lo >= 1<<63 || c.Lo > 1<<53 && (format == "json" || format == "ndjson") {
			count = sink.Value("participation", sink.String, func(m []uint32, _ []uint64) any { return p.counts[m[0]].String() })
			break
		}
	}
	out, err := sink.New(w, sink.Options{Format: format, Columns: []sink.Column{sink.Vertex(p.g.g, p.Vertex, 0), count}})
	if err != nil {
		return err
	}
	const chunk = 4096
	for v := 0; v < p.rows && err == nil; v += chunk {
		err = out.Emit(0, sink.Rows(v, min(chunk, p.rows-v)))
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}
