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

// Count counts the matches of q. It blocks until the count is complete or ctx ends. If ctx ends
// first, Count returns the matches found so far, marked as not complete, with the context's
// error.
func (g *Graph) Count(ctx context.Context, q *Query, options ...Option) (r Result, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Count, options)
	if err != nil {
		return r, err
	}
	defer l.Leave(&err, &r)
	found, err := g.s.Count(ctx, q.question(s))
	return g.result(found), err
}

// CountEach counts one query after the other, and yields the results of Count. After an error
// the caller may go on with the loop, or leave it. While GPUs count one query, the kernels of
// the next ones are compiled in the background, at most one on each thread. A few queries are
// planned ahead for that. With a budget of memory nothing is compiled ahead, because compilers
// would need a part of it. Result.Prepare has only the time that the query waited for its
// kernels.
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
			parsed[i] = q.question(s).Query
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
	yes, found, err := g.s.Exists(ctx, q.question(s))
	return yes, g.result(found), err
}

// Cliques counts the sets of k vertices that are all adjacent to each other. Directions are
// ignored.
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
	found, err := g.s.Count(ctx, q.question(s))
	return g.result(found), err
}

// Motifs counts every connected pattern of k vertices, 3 ≤ k ≤ 5. Counts are induced, so that
// each connected set of k vertices is counted in one motif; WithInduced(false) asks for all
// subgraphs. The motifs share their work. The engine codegen counts them by one generated
// program, unless counts may pass 64 bits.
//
// In a directed graph the motifs are directed: 13 of three vertices and 199 of four. Those of
// five vertices are an error of kind ErrUsage. WithDirections(false) counts as if the edges had
// no directions. Labels are ignored.
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

// Participation is the number of matches for each vertex of a graph, at one vertex of a
// pattern. Under iso it is the number of subgraphs that have the data vertex at that pattern
// vertex, or at one that the pattern's symmetries make equal to it. Otherwise it is the number
// of embeddings that bind the pattern vertex to it. With RETURN … GROUP BY, rows are written
// for groups of vertices, whose numbers are sums over their vertices.
type Participation struct {
	Result
	Vertex string // of the pattern
	g      *Graph
	p      *search.Participation
}

// Participation counts, for each vertex of the graph, the matches of q that have it at the
// named vertex of the pattern. If that is the vertex of q's RETURN participation(v), the
// RETURN's column name and groups apply. If ctx ends first, Participation returns the counts so
// far with the context's error, or nil if the query was still being planned.
func (g *Graph) Participation(ctx context.Context, q *Query, vertex string, options ...Option) (p *Participation, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Participation, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &p)
	found, err := g.s.Participation(ctx, q.question(s), vertex)
	if found == nil {
		return nil, err
	}
	return &Participation{Result: g.result(found.Result), Vertex: vertex, g: g, p: found}, err
}

// Count returns the count of the vertex with the given id, or 0 if there is none. It panics
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

// All yields each vertex's id and count. It panics with ErrClosed after Close of the graph.
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

// Rows yields the rows that Write writes, and their counts. With groups the values are those of the
// group, as in Match.Values. Without groups the only value is an Element, the vertex. Rows panics
// with ErrClosed after Close of the graph.
func (p *Participation) Rows() iter.Seq2[[]any, *big.Int] {
	return func(yield func([]any, *big.Int) bool) {
		if p.p == nil {
			return
		}
		defer done(p.g.reads())
		p.p.Rows(func(values []any, n *big.Int) bool {
			for i, x := range values {
				if e, ok := x.(search.Element); ok {
					values[i] = Element{p.g, e}
				}
			}
			return yield(values, new(big.Int).Set(n))
		})
	}
}

// Len returns the number of rows that Write writes.
func (p *Participation) Len() int {
	if p.p == nil {
		return 0
	}
	return p.p.Len()
}

// Shorten lets Write and Rows stop after the first n rows.
func (p *Participation) Shorten(n int) {
	if p.p != nil {
		p.p.Shorten(n)
	}
}

// Write writes a row for each vertex: its id under the name of the pattern's vertex, and the
// count. With groups it writes a row for each group: its values, and the sum of the counts.
// JSON has counts beyond 2^53 as strings. In Arrow and Parquet all counts are text if one
// exceeds 63 bits. An Arrow stream ends with a batch without rows, whose metadata has
// weft.complete with the value false, if Result.Complete is false or Shorten dropped rows. If w has a method Wrote(rows int), Write calls it as Graph.List does.
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
