package explain

import (
	"fmt"
	"strconv"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// steps writes a plan of edge extension.
func (e *explainer) steps() {
	p, t := e.p, e.p.Timed
	head := "times are those of " + t.Key
	if t.Bounded {
		head += fmt.Sprintf(", at most %d from the first to the last", t.Within)
	}
	e.linef(0, "%s", head)
	indent := 0
	for k := range t.Steps {
		s := &t.Steps[k]
		if last := t.Tail && k > 0 && k == len(t.Steps)-1; last && sized(p, s) {
			what := ""
			if s.Choice < 0 {
				what = e.name[s.To] + " in " + e.source(s.To)
			} else {
				what = e.step(s, "edges")
			}
			e.linef(indent, "count += the number of %s%s", what, e.stepEstimate(k))
			return
		}
		if s.Choice < 0 {
			e.linef(indent, "for %s in %s%s", e.name[s.To], e.source(s.To), e.stepEstimate(k))
		} else {
			e.linef(indent, "for each %s%s", e.step(s, "edge"), e.stepEstimate(k))
		}
		indent++
		levels := []int{}
		if k == 0 {
			levels = append(levels, 0)
		}
		if s.Binds {
			levels = append(levels, max(s.From, s.To))
		}
		for _, l := range levels {
			if where := e.conditions(l); where != "" {
				e.linef(indent, "where %s", where)
			}
			for _, c := range p.Levels[l].Checks {
				e.linef(indent, "where %s", c.Text)
			}
		}
		for _, c := range s.Checks {
			e.linef(indent, "where %s", c.Text)
		}
	}
	e.linef(indent, "%s", e.leaf())
}

// sized reports whether a last step is a size: of a window, or of one neighbour
// list.
func sized(p *plan.Plan, s *plan.TimeStep) bool {
	if s.Choice >= 0 {
		return !s.Binds && len(s.Checks) == 0 && p.Mode != pattern.Trail
	}
	lv := &p.Levels[s.To]
	return len(s.Back) == 1 && lv.Bits == nil && len(lv.Ranges) < 2 && len(lv.Checks) == 0
}

// step writes which edges a step takes.
func (e *explainer) step(s *plan.TimeStep, what string) string {
	c := &e.p.Edges[s.Choice]
	text := fmt.Sprintf("%s %s from %s to %s", what, e.edgeName(c.Edge), e.name[c.From], e.name[c.To])
	if s.Both {
		text = fmt.Sprintf("%s %s between %s and %s", what, e.edgeName(c.Edge), e.name[c.From], e.name[c.To])
	}
	if filter := c.Filter; filter != "" {
		text += " [" + filter + "]"
	}
	if s.After >= 0 {
		text += " after " + e.edgeName(e.p.Edges[e.p.Timed.Steps[s.After].Choice].Edge)
	}
	if s.Before >= 0 {
		text += " before " + e.edgeName(e.p.Edges[e.p.Timed.Steps[s.Before].Choice].Edge)
	}
	if s.Timed && s.Events != nil && s.After < 0 && s.Before < 0 {
		text += " in the window"
	}
	return text
}

func (e *explainer) edgeName(i int) string { return e.p.Pattern.EdgeName(i) }

// conditions writes the constraints on the vertex of level l, besides being an end of its edge.
func (e *explainer) conditions(l int) string {
	lv := &e.p.Levels[l]
	text := ""
	add := func(s string) {
		if text != "" {
			text += " and "
		}
		text += s
	}
	name := e.name[l]
	if label := e.p.Pattern.Vertices[lv.Vertex].Label; label != nil {
		add(name + ":" + label.String())
	}
	if where := e.unary(lv.Vertex); where != "" {
		add(where)
	}
	for _, j := range lv.Below {
		add(name + " < " + e.name[j])
	}
	for _, j := range lv.Above {
		add(name + " > " + e.name[j])
	}
	for k := range e.p.Timed.Steps {
		s := &e.p.Timed.Steps[k]
		if !s.Binds || max(s.From, s.To) != l || s.Choice < 0 {
			continue
		}
		for _, b := range s.Back {
			not := ""
			if b.Neg {
				not = "not "
			}
			add(fmt.Sprintf("%s %sin %s(%s)", name, not, e.p.Adjs[b.Adj].Name, e.name[b.Level]))
		}
	}
	return text
}

func (e *explainer) stepEstimate(k int) string {
	s := &e.p.Timed.Steps[k]
	text := around(s.Estimate, "matches")
	if l := max(s.From, s.To); s.Binds && l < len(e.actual) {
		text += ", actually " + e.actual[l].Matches.String()
		if e.actual[l].Seconds > 0 {
			text += fmt.Sprintf(" in %.3g s", e.actual[l].Seconds)
		}
	}
	return text
}

// timedJSON is a plan of edge extension in JSON.
type timedJSON struct {
	Property string     `json:"property"`
	Within   string     `json:"within,omitempty"` // in the property's unit
	Steps    []stepJSON `json:"steps"`
	Price    float64    `json:"price"`
}

type stepJSON struct {
	Edge     string   `json:"edge,omitempty"`
	From     string   `json:"from,omitempty"`
	To       string   `json:"to"`
	Binds    bool     `json:"binds"`
	After    string   `json:"after,omitempty"`
	Before   string   `json:"before,omitempty"`
	Checks   []string `json:"checks,omitempty"`
	Estimate float64  `json:"estimate"`
}

// timedOf is the steps of p, nil where it has none.
func timedOf(p *plan.Plan, name []string, texts func([]plan.Check) []string) *timedJSON {
	if p.Timed == nil {
		return nil
	}
	out := &timedJSON{Property: p.Timed.Key, Price: finite(p.Price)}
	if p.Timed.Bounded {
		out.Within = strconv.FormatInt(p.Timed.Within, 10)
	}
	edge := func(k int) string {
		if k < 0 {
			return ""
		}
		return p.Pattern.EdgeName(p.Edges[p.Timed.Steps[k].Choice].Edge)
	}
	for k := range p.Timed.Steps {
		s := &p.Timed.Steps[k]
		x := stepJSON{To: name[s.To], Binds: s.Binds, After: edge(s.After), Before: edge(s.Before), Checks: texts(s.Checks), Estimate: finite(s.Estimate)}
		if s.Choice >= 0 {
			x.Edge, x.From = edge(k), name[s.From]
		}
		out.Steps = append(out.Steps, x)
	}
	return out
}
