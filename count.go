package weft

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/big"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/motifs"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// Count counts the matches of q. Cut short by its context it returns what was
// found until then, marked as not complete, with the context's error.
func (g *Graph) Count(ctx context.Context, q *Query, options ...Option) (r Result, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Count, options)
	if err != nil {
		return r, err
	}
	defer l.Leave(&err, &r)
	found, err := g.s.Count(ctx, q.asked(s))
	return g.result(found), err
}

// CountEach counts one query after the other, and yields what Count returns of each;
// whether to go on after an error is the caller's to say. While one is counted on
// GPUs, the kernels of those behind it are compiled, as many at once as there are
// threads: for that they are planned ahead, a few, whatever the number of queries.
// With a budget of memory, which compilers would take from, none is compiled ahead.
// Result.Prepare has of the compilation only what was still waited for.
func (g *Graph) CountEach(ctx context.Context, qs []*Query, options ...Option) iter.Seq2[Result, error] {
	return func(next func(Result, error) bool) {
		yield := func(r Result, err error) bool {
			ends(ctx, &err)
			return next(r, err)
		}
		ctx := ctx
		l, s, err := g.begin(&ctx, setting.CountEach, options)
		if err != nil {
			yield(Result{}, err)
			return
		}
		defer l.End()
		parsed := make([]*gql.Query, len(qs))
		for i, q := range qs {
			parsed[i] = q.asked(s).Query
		}
		for r, err := range g.s.CountEach(ctx, parsed, s) {
			if !yield(g.result(r), err) {
				return
			}
		}
	}
}

// Exists reports whether q has a match.
func (g *Graph) Exists(ctx context.Context, q *Query, options ...Option) (yes bool, r Result, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Exists, options)
	if err != nil {
		return false, r, err
	}
	defer l.Leave(&err, &yes, &r)
	yes, found, err := g.s.Exists(ctx, q.asked(s))
	return yes, g.result(found), err
}

// Cliques counts the cliques of k vertices.
func (g *Graph) Cliques(ctx context.Context, k int, options ...Option) (r Result, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Cliques, options)
	if err != nil {
		return r, err
	}
	defer l.Leave(&err, &r)
	q, err := PatternByName(fmt.Sprintf("clique(%d)", k))
	if err != nil {
		return r, err
	}
	found, err := g.s.Count(ctx, q.asked(s))
	return g.result(found), err
}

// Motifs counts every connected pattern of k vertices, 3 ≤ k ≤ 5: induced, so
// that each connected set of k vertices is counted in one motif, unless
// WithInduced(false) asks for all subgraphs. The motifs share their work; the engine
// codegen counts them by one generated program, unless counts may pass 64 bits.
//
// In a directed graph these are the directed motifs, 13 of three vertices and 199 of
// four; those of five are an error of kind ErrUsage. WithDirections(false) counts as if
// the edges had no directions. Labels are not looked at.
func (g *Graph) Motifs(ctx context.Context, k int, options ...Option) (out []Result, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Motifs, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &out)
	found, err := motifs.Count(ctx, g.s, k, s)
	for _, r := range found {
		out = append(out, g.result(r))
	}
	return out, err
}

// Participation is how often each vertex of a graph plays the part of one vertex
// of a pattern: under iso, the number of subgraphs in which it plays that part
// or one that the pattern's symmetries make equal to it; otherwise the number of
// embeddings that bind it there. Under RETURN … GROUP BY rows are written for groups of
// vertices, whose numbers are the sums over their vertices.
type Participation struct {
	Result
	Vertex string // of the pattern
	g      *Graph
	p      *search.Participation
}

// Participation counts, for each vertex of the graph, the matches of q in which
// it plays the part of the named vertex of the pattern. What q says of the column's name
// and of groups holds where that is the vertex of its RETURN. Cut short by its context
// it returns what was found until then with the context's error; nil where the query was
// still being planned.
func (g *Graph) Participation(ctx context.Context, q *Query, vertex string, options ...Option) (p *Participation, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Participation, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &p)
	found, err := g.s.Participation(ctx, q.asked(s), vertex)
	if found == nil {
		return nil, err
	}
	return &Participation{Result: g.result(found.Result), Vertex: vertex, g: g, p: found}, err
}

// Count is the count of the vertex with the given id; 0 where there is none. It panics
// with ErrClosed after Close of the graph.
func (p *Participation) Count(id string) *big.Int {
	if p.p == nil {
		return new(big.Int)
	}
	defer done(p.g.reads())
	v, ok := p.g.s.Data.Lookup(id)
	if !ok {
		return new(big.Int)
	}
	return p.p.Counts[v].Big()
}

// All gives each vertex's id and count. It panics with ErrClosed after Close of the graph.
func (p *Participation) All() iter.Seq2[string, *big.Int] {
	return func(yield func(string, *big.Int) bool) {
		if p.p == nil {
			return
		}
		defer p.g.reads().End()
		for v, c := range p.p.Counts {
			if !yield(p.g.s.Data.IDs.String(uint32(v)), c.Big()) {
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
	defer ends(ctx, &err)
	l, err := p.g.enter(&ctx)
	if err != nil {
		return err
	}
	defer l.Leave(&err)
	return p.p.Write(w, format)
}
