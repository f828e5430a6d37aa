package explain

import (
	"encoding/json"
	"github.com/weftgraph/weft/internal/plan"
	"io"
	"math"
)

// The JSON form of a plan. Levels, sets and edges refer to each other by index,
// as in Plan; names are added so that it can be read alone.
type planJSON struct {
	Pattern       string      `json:"pattern,omitempty"`
	Semantics     string      `json:"semantics"`
	Induced       bool        `json:"induced"`
	Order         []string    `json:"order"`
	OrderRule     string      `json:"order_rule"`
	Why           string      `json:"why"`
	Method        string      `json:"method"`
	Automorphisms JSONCount   `json:"automorphisms"`
	Restricted    bool        `json:"restricted"`
	Rooted        bool        `json:"rooted"`
	Empty         string      `json:"empty,omitempty"`
	Warnings      []string    `json:"warnings,omitempty"`
	Adjacencies   []adjJSON   `json:"adjacencies"`
	Levels        []levelJSON `json:"levels"`
	Sets          []setJSON   `json:"sets"`
	Edges         []edgeJSON  `json:"edges,omitempty"`
	Tail          *tailJSON   `json:"tail,omitempty"`
	Formula       string      `json:"formula,omitempty"`
	Temporal      *timedJSON  `json:"temporal,omitempty"`
	Cost          float64     `json:"cost"`
}

type adjJSON struct {
	Name  string `json:"name"`
	Pairs int    `json:"pairs"`
}

type levelJSON struct {
	Vertex    string       `json:"vertex"`
	Label     string       `json:"label,omitempty"`
	Ranges    []plan.Range `json:"ranges,omitempty"`
	Filtered  bool         `json:"filtered,omitempty"`
	MinDegree int          `json:"min_degree,omitempty"`
	Back      []backJSON   `json:"back,omitempty"`
	Set       *int         `json:"set,omitempty"`
	Below     []string     `json:"below,omitempty"`
	Above     []string     `json:"above,omitempty"`
	Distinct  []string     `json:"distinct,omitempty"`
	Checks    []string     `json:"checks,omitempty"`
	Estimate  float64      `json:"estimate"`
	Cost      float64      `json:"cost"`
	Actual    *JSONCount   `json:"actual,omitempty"`
	Seconds   float64      `json:"seconds,omitempty"`
	Filters   []filterJSON `json:"filters,omitempty"`
}

type filterJSON struct {
	Filter string `json:"filter"`
	Left   uint64 `json:"left"`
}

type backJSON struct {
	Vertex    string `json:"vertex"`
	Adjacency int    `json:"adjacency"`
	Not       bool   `json:"not,omitempty"`
}

type setJSON struct {
	Op        string      `json:"op"`
	Base      *int        `json:"base,omitempty"`
	Adjacency int         `json:"adjacency"`
	Of        string      `json:"of"`
	At        string      `json:"at"`
	Range     *plan.Range `json:"range,omitempty"`
	Below     []string    `json:"below,omitempty"`
	Above     []string    `json:"above,omitempty"`
	SizeOnly  bool        `json:"size_only,omitempty"`
	Estimate  float64     `json:"estimate"`
}

type edgeJSON struct {
	Edge   string   `json:"edge"`
	From   string   `json:"from"`
	To     string   `json:"to"`
	Checks []string `json:"checks,omitempty"`
}

type tailJSON struct {
	Levels  int         `json:"levels"`
	Groups  []groupJSON `json:"groups"`
	Divisor int64       `json:"divisor,omitempty"`
	Terms   []termJSON  `json:"terms,omitempty"`
}

type groupJSON struct {
	Vertices []string `json:"vertices"`
	Ordered  bool     `json:"ordered,omitempty"`
}

type termJSON struct {
	Coef   int64      `json:"coef"`
	Blocks [][]string `json:"blocks"`
}

// JSON writes p as one JSON object. If actuals are given, the object has the figures of that
// run too. The error is the writer's.
func JSON(p *plan.Plan, w io.Writer, actual ...Actual) error {
	name := plan.LevelNames(p)
	names := func(levels []int) (out []string) {
		for _, l := range levels {
			out = append(out, name[l])
		}
		return out
	}
	texts := func(checks []plan.Check) (out []string) {
		for _, c := range checks {
			out = append(out, c.Text)
		}
		return out
	}
	out := planJSON{
		Pattern: p.Pattern.Name, Semantics: p.Mode.String(), Induced: p.Induced,
		Order: name, OrderRule: p.OrderName, Why: p.Why, Method: p.Method.String(),
		Automorphisms: JSONCount{p.Aut}, Restricted: p.Restricted, Rooted: p.Rooted, Warnings: p.Warnings,
		Adjacencies: []adjJSON{}, Levels: []levelJSON{}, Sets: []setJSON{},
	}
	if p.Empty != nil {
		out.Empty = p.Empty.Text
	}
	if p.Formula != nil {
		out.Formula = p.Formula.String()
	}
	out.Temporal = timedOf(p, name, texts)
	for _, a := range p.Adjs {
		out.Adjacencies = append(out.Adjacencies, adjJSON{a.Name, a.Lists.Pairs()})
	}
	for l := range p.Levels {
		lv := &p.Levels[l]
		x := levelJSON{
			Vertex: name[l], Label: p.Pattern.Vertices[lv.Vertex].Label.String(), Ranges: lv.Ranges, Filtered: lv.Bits != nil,
			MinDegree: lv.MinDegree, Below: names(lv.Below), Above: names(lv.Above), Distinct: names(lv.Distinct),
			Checks: texts(lv.Checks), Estimate: finite(lv.Estimate), Cost: finite(lv.Cost),
		}
		for _, b := range lv.Back {
			x.Back = append(x.Back, backJSON{name[b.Level], b.Adj, b.Neg})
		}
		if lv.Set >= 0 {
			x.Set = &lv.Set
		}
		if l < len(actual) {
			if actual[l].Matches != nil {
				x.Actual, x.Seconds = &JSONCount{actual[l].Matches}, actual[l].Seconds
			}
			for _, f := range actual[l].Filters {
				x.Filters = append(x.Filters, filterJSON(f))
			}
		}
		out.Cost += x.Cost
		out.Levels = append(out.Levels, x)
	}
	for i := range p.Sets {
		s := &p.Sets[i]
		x := setJSON{
			Op: [...]string{"list", "and", "minus"}[s.Op], Adjacency: s.Adj, Of: name[s.Of], At: name[s.At],
			Below: names(s.Below), Above: names(s.Above), SizeOnly: s.SizeOnly, Estimate: finite(s.Estimate),
		}
		if s.Base >= 0 {
			x.Base = &s.Base
		}
		if s.Range.End != 0 {
			x.Range = &s.Range
		}
		out.Sets = append(out.Sets, x)
	}
	for i := range p.Edges {
		c := &p.Edges[i]
		out.Edges = append(out.Edges, edgeJSON{p.Pattern.EdgeName(c.Edge), name[c.From], name[c.To], texts(c.Checks)})
	}
	if p.Tail.K > 0 {
		out.Tail = &tailJSON{Levels: p.Tail.K, Divisor: p.Tail.Divisor}
		for _, g := range p.Tail.Groups {
			out.Tail.Groups = append(out.Tail.Groups, groupJSON{names(g.Levels), g.Ordered})
		}
		for _, t := range p.Tail.Terms {
			x := termJSON{Coef: t.Coef}
			for _, block := range t.Blocks {
				x.Blocks = append(x.Blocks, names(block))
			}
			out.Tail.Terms = append(out.Tail.Terms, x)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

// finite replaces infinities and NaN, which JSON cannot write.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.MaxFloat64
	}
	return x
}
