package weft

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/vfs"
)

// Query is a parsed pattern with the items to return. It can be run on any number of graphs.
// Safe for concurrent use.
type Query struct{ q *gql.Query }

// Parse reads a query in the pattern language, or a GraphFrames motif if the text begins with
// "(" or "!". Its error is of kind ErrQuery.
func Parse(text string) (*Query, error) {
	q, err := gql.ParseText(text)
	if err != nil {
		return nil, public(kind.With(kind.Query, err))
	}
	return &Query{q}, nil
}

// mostPatterns is the largest size of a file of patterns, in bytes.
const mostPatterns = 64 << 20

// ParseFile reads the queries of a file in any of the notations that weft knows. A file of more
// than 64 MiB is an error. If ctx ends first, the error is the context's.
func ParseFile(ctx context.Context, path string) (qs []*Query, err error) {
	defer ends(ctx, &err)
	data, err := ctxio.ReadFile(ctx, vfs.From(ctx), path, mostPatterns)
	if errors.Is(err, ctxio.ErrTooLong) {
		err = fmt.Errorf("%s: a file of patterns has at most %d MiB", path, mostPatterns>>20)
	}
	if err != nil {
		return nil, kind.With(kind.Input, err)
	}
	parsed, err := gql.ParseFile(path, data)
	if err != nil {
		return nil, public(kind.With(kind.Query, err))
	}
	return wrap(parsed), nil
}

// PatternByName returns a pattern of the catalogue, such as "triangle" or "clique(5)".
func PatternByName(name string) (*Query, error) {
	qs, err := PatternsByName(name)
	if err != nil {
		return nil, err
	}
	if len(qs) != 1 {
		return nil, public(kind.With(kind.Query, fmt.Errorf("%s stands for %d patterns: use PatternsByName", name, len(qs))))
	}
	return qs[0], nil
}

// PatternsByName returns the patterns of a name of the catalogue. It is one pattern, except for
// "motifs(k)".
func PatternsByName(name string) ([]*Query, error) {
	qs, err := gql.ByName(name)
	if err != nil {
		return nil, public(kind.With(kind.Query, err))
	}
	return wrap(qs), nil
}

// CatalogueEntry is a named pattern or a family of them.
type CatalogueEntry struct{ Usage, Meaning string }

// Catalogue lists the named patterns.
func Catalogue() []CatalogueEntry {
	var out []CatalogueEntry
	for _, e := range pattern.Catalogue() {
		out = append(out, CatalogueEntry{e.Usage(), e.Meaning})
	}
	return out
}

func wrap(qs []*gql.Query) []*Query {
	out := make([]*Query, len(qs))
	for i, q := range qs {
		out[i] = &Query{q}
	}
	return out
}

// Name returns the query's name: that of the file, of the catalogue entry, or the text.
func (q *Query) Name() string {
	return search.Question{Query: q.parsed()}.Name()
}

// String returns the pattern in the pattern language.
func (q *Query) String() string { return pattern.Format(q.parsed().Pattern) }

// Vertices returns the names of the pattern's vertices.
func (q *Query) Vertices() []string {
	var out []string
	p := q.parsed().Pattern
	for v := range p.Vertices {
		out = append(out, p.VertexName(v))
	}
	return out
}

// Columns returns the names of the columns of q's answer:
//
//   - the items of the RETURN, as Match.Columns has them;
//   - the total of RETURN count(*), count(DISTINCT SUBGRAPHS) or exists(), by its text or its AS;
//   - for RETURN participation(v), the vertex or the items of GROUP BY, and the number;
//   - without a RETURN, all vertices and all named edges of the pattern.
//
// An item without a name of its own has its text, with the names of parameters instead of their
// values.
func (q *Query) Columns() []string { return search.Columns(q.parsed()) }

// Standing reports whether the query is a CREATE WATCH.
func (q *Query) Standing() bool { return q.parsed().Watch != nil }

// AsksExists reports whether the query says RETURN exists().
func (q *Query) AsksExists() bool { return q.parsed().Return.Kind == gql.ReturnExists }

// AsksParticipation returns the vertex of RETURN participation(v).
func (q *Query) AsksParticipation() (vertex string, ok bool) {
	if q.parsed().Return.Kind != gql.ReturnParticipation {
		return "", false
	}
	return q.parsed().Pattern.VertexName(q.parsed().Return.Vertex), true
}

// AsksItems reports whether the query returns names or expressions.
func (q *Query) AsksItems() bool { return q.parsed().Return.Kind == gql.ReturnItems }

// AsksCount reports whether the query returns a total, and which.
func (q *Query) AsksCount() (w What, ok bool) {
	of, ok := search.Total(q.parsed())
	return What(of), ok
}

// AsksExplain reports whether the text begins with EXPLAIN or PROFILE.
func (q *Query) AsksExplain() (explain, profile bool) {
	p := q.parsed()
	return p.Explain, p.Profile
}

// Params returns the names of the parameters of q, without their $.
func (q *Query) Params() []string {
	p := q.parsed().Pattern.Clone()
	for _, i := range slices.Concat(q.parsed().Return.Items, q.parsed().Return.GroupBy) {
		if !i.Count {
			p.Where = append(p.Where, i.Expr)
		}
	}
	return p.Params()
}

// Semantics returns iso, trail or hom: the mode in the text, or that of WithSemantics.
func (q *Query) Semantics(options ...Option) (string, error) {
	s, err := collect(setting.Semantics, options)
	if err != nil {
		return "", public(err)
	}
	mode, err := q.question(s).Mode()
	if err != nil {
		return "", public(err)
	}
	return mode.String(), nil
}

// Check returns an error if q is wrong under the options, without looking at a graph. The options may be those of any
// call with a query. It finds
//
//   - constructs that weft does not run yet;
//   - parts that are not connected;
//   - parameters without a value;
//   - a matching order that does not fit;
//   - a WithList other than the one that RETURN participation(v) counts.
func (q *Query) Check(options ...Option) error {
	s, err := collect(setting.Check, options)
	if err != nil {
		return public(err)
	}
	return public(q.question(s).Check())
}

// question is q with the settings of a call.
func (q *Query) question(s *setting.Settings) search.Question {
	if q == nil {
		return search.Question{Settings: s}
	}
	return search.Question{Query: q.q, Settings: s}
}

// parsed returns the parsed text of q, or of an empty pattern for a zero query.
func (q *Query) parsed() *gql.Query {
	if q == nil || q.q == nil {
		return &gql.Query{Pattern: &pattern.Pattern{}}
	}
	return q.q
}
