package search

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/setting"
)

// Question is a query with the settings of the call that asks it.
type Question struct {
	Query    *gql.Query
	Settings *setting.Settings
	Standing bool // asked of a graph that changes: the query may be a CREATE WATCH
}

// ErrNoQuery is the error of a query that is nil or zero.
var ErrNoQuery = kind.With(kind.Usage, errors.New("the query is nil or zero: Parse, ParseFile and PatternByName make queries"))

// Name is the query's name: of the file, of the catalogue entry, or the text.
func (a Question) Name() string { return cmp.Or(a.Query.Name, a.Query.Text) }

// Placed returns an error of planning, or of a parameter without a value, with its place in the query's text, where it has one.
func (a Question) Placed(err error) error {
	var wrong *plan.QueryError
	var missing *pattern.MissingParam
	switch {
	case errors.As(err, &missing):
		return kind.With(kind.Query, a.Query.AtParam(missing.Name, missing.Error()))
	case !errors.As(err, &wrong):
	case wrong.Order:
		return kind.With(kind.Query, a.Query.AtOrder(wrong.Msg))
	case wrong.Near != "":
		return kind.With(kind.Query, a.Query.AtText(wrong.Near, wrong.Msg, wrong.Expected))
	}
	return err
}

// Pattern is the query's pattern under the settings.
func (a Question) Pattern() (*pattern.Pattern, error) {
	q, s := a.Query, a.Settings
	if q == nil {
		return nil, ErrNoQuery
	}
	if err := gql.NotYet(q); err != nil {
		return nil, kind.With(kind.Query, err)
	}
	if q.Watch != nil && !a.Standing {
		return nil, kind.With(kind.Query, q.AtWatch("CREATE WATCH makes a standing query, which weft watch runs; remove CREATE WATCH … AS to ask it once"))
	}
	if s.NoMode != nil {
		return nil, kind.With(kind.Usage, s.NoMode)
	}
	if !s.Product {
		if err := q.CheckConnected(); err != nil {
			return nil, kind.With(kind.Query, err)
		}
	}
	p := q.Pattern
	if s.Mode != nil || s.Induced != nil {
		p = p.Clone()
	}
	if s.Mode != nil && !q.ModeGiven {
		p.SetMode(*s.Mode)
	}
	if s.Induced != nil {
		p.Induced = p.Induced || *s.Induced // the text beats the option
	}
	if p.Induced && p.Mode != pattern.Iso {
		return nil, kind.With(kind.Query, fmt.Errorf("INDUCED needs distinct vertices: it has no meaning under %s", p.Mode))
	}
	return p, nil
}

// Mode is the mode of matching, which says which vertices and edges may coincide. It is the
// query's mode, or the settings'.
func (a Question) Mode() (pattern.Mode, error) {
	if a.Query == nil {
		return 0, ErrNoQuery
	}
	if err := a.Settings.NoMode; err != nil {
		return 0, kind.With(kind.Usage, err)
	}
	if m := a.Settings.Mode; m != nil && !a.Query.ModeGiven {
		return *m, nil
	}
	return a.Query.Pattern.Mode, nil
}

// Check returns an error where the query cannot be asked of any graph.
func (a Question) Check() error {
	p, err := a.Pattern()
	if err != nil {
		return err
	}
	if _, err := a.Settings.PlanOptions(p); err != nil {
		return err
	}
	if a.Query.Return.Kind == gql.ReturnParticipation {
		if err := a.participates(p); err != nil {
			return err
		}
	}
	_, err = pattern.SubstituteParams(p, a.Settings.Params)
	return kind.With(kind.Query, a.Placed(err))
}

// Total reports whether the query returns a total, and which.
func Total(q *gql.Query) (w setting.What, ok bool) {
	switch q.Return.Kind {
	case gql.ReturnCount:
		return setting.Embeddings, true
	case gql.ReturnSubgraphs:
		return setting.Subgraphs, true
	}
	return 0, false
}

// counts is the kind of the query's total and of its limit.
func (a Question) counts() setting.What {
	if w, ok := Total(a.Query); ok {
		return w
	}
	if w := a.Settings.Lists; w != nil {
		return *w
	}
	return setting.Subgraphs
}

// lists is the kind of the query's listing. A RETURN of items lists the embeddings that its
// count(*) would count; a pattern without RETURN lists its subgraphs.
func (a Question) lists() setting.What {
	if w := a.Settings.Lists; w != nil {
		return *w
	}
	switch a.Query.Return.Kind {
	case gql.ReturnItems, gql.ReturnCount:
		return setting.Embeddings
	}
	return setting.Subgraphs
}

// listed reports whether a listing is planned: RETURN has items, or there is no RETURN and the
// options ask for a listing.
func (a Question) listed() bool {
	k := a.Query.Return.Kind
	if on := a.Settings.Listing; on != nil && (k == gql.ReturnNone || k == gql.ReturnItems) {
		return *on
	}
	return k == gql.ReturnItems
}

// limit is the number of matches asked for by LIMIT and by the options. 0 means no limit, and a
// negative number means no match.
func (a Question) limit() int64 {
	n := a.Settings.Limit
	if l := a.Query.Return.Limit; a.Query.HasReturn && l >= 0 && (n == 0 || l < n) {
		n = l
		if l == 0 {
			n = -1
		}
	}
	return n
}

// participates refuses settings of a listing that differ from the kind that a participation
// counts.
func (a Question) participates(p *pattern.Pattern) error {
	counts, what := setting.Embeddings, "embeddings"
	if p.Mode == pattern.Iso {
		counts, what = setting.Subgraphs, "subgraphs"
	}
	if w := a.Settings.Lists; w != nil && *w != counts {
		return kind.With(kind.Usage, fmt.Errorf("participation counts %s under %s: nothing else can be asked for", what, p.Mode))
	}
	return nil
}

// Items are the items of a RETURN with the values of their parameters.
func (a Question) Items(items []gql.Item) ([]gql.Item, error) {
	carrier := &pattern.Pattern{}
	for _, i := range items {
		carrier.Where = append(carrier.Where, i.Expr)
	}
	carrier, err := pattern.SubstituteParams(carrier, a.Settings.Params)
	if err != nil {
		return nil, a.Placed(err)
	}
	out := slices.Clone(items)
	for i := range out {
		out[i].Expr = carrier.Where[i]
	}
	return out, nil
}

// label is the name of an item's column.
func label(p *pattern.Pattern, item gql.Item) string {
	if item.Name != "" {
		return item.Name
	}
	return strings.TrimSpace(pattern.FormatExpr(p, item.Expr))
}

// Columns are the names of the columns of a query's answer.
func Columns(q *gql.Query) (out []string) {
	p := q.Pattern
	switch q.Return.Kind {
	case gql.ReturnItems:
		for _, item := range q.Return.Items {
			out = append(out, label(p, item))
		}
		return out
	case gql.ReturnCount, gql.ReturnSubgraphs, gql.ReturnExists:
		return []string{q.Return.Column}
	case gql.ReturnParticipation:
		for _, item := range q.Return.GroupBy {
			out = append(out, label(p, item))
		}
		if out == nil {
			out = []string{p.VertexName(q.Return.Vertex)}
		}
		return append(out, q.Return.Column)
	}
	for v := range p.Vertices {
		out = append(out, p.VertexName(v))
	}
	for e := range p.Edges {
		if p.Edges[e].Named() {
			out = append(out, p.EdgeName(e))
		}
	}
	return out
}

// wrongItem is an error in an item of RETURN, with its place where the item misuses a time.
func (a Question) wrongItem(err error) error {
	var wrong *pattern.TimeError
	if errors.As(err, &wrong) {
		err = a.Query.AtText(wrong.Near, wrong.Msg, wrong.Expected)
	}
	return kind.With(kind.Query, err)
}
