package boltserver

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve/bolt"
	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// planned is the part of an explanation's JSON that becomes operators.
type planned struct {
	Engine string   `json:"engine"`
	Reason string   `json:"engine_reason"`
	Phases []string `json:"phases"`
	Plan   struct {
		Semantics string   `json:"semantics"`
		Rule      string   `json:"order_rule"`
		Why       string   `json:"why"`
		Method    string   `json:"method"`
		Empty     string   `json:"empty"`
		Warnings  []string `json:"warnings"`
		Levels    []level  `json:"levels"`
		Tail      *struct {
			Levels int `json:"levels"`
		} `json:"tail"`
		Formula string  `json:"formula"`
		Cost    float64 `json:"cost"`
	} `json:"plan"`
}

type level struct {
	Vertex string `json:"vertex"`
	Label  string `json:"label"`
	Back   []struct {
		Vertex string `json:"vertex"`
		Not    bool   `json:"not"`
	} `json:"back"`
	Below    []string `json:"below"`
	Above    []string `json:"above"`
	Distinct []string `json:"distinct"`
	Checks   []string `json:"checks"`
	Estimate float64  `json:"estimate"`
	Cost     float64  `json:"cost"`
	Actual   any      `json:"actual"`
	Seconds  float64  `json:"seconds"`
}

// explain answers EXPLAIN and PROFILE: no rows, except for the count that a profile has found.
func (r *result) explain() source {
	return &explained{r: r}
}

type explained struct {
	r     *result
	given bool
	value any
}

func (x *explained) next() (bool, error) {
	if x.given {
		return false, nil
	}
	x.given = true
	found, err := x.r.run.Explain()
	if err != nil {
		return false, err
	}
	if x.r.summary.Plan, err = operators(found, x.r.columns); err != nil {
		return false, err
	}
	x.r.summary.Profiled = found.Result != nil
	if found.Result == nil {
		return false, nil
	}
	x.r.notes(found.Result.Notes)
	if _, count := x.r.query.AsksCount(); count {
		x.value = x.r.total(*found.Result)
		x.r.summary.Plan.Rows = 1
		return true, nil
	}
	if n := found.Result.Embeddings; n != nil && n.IsInt64() {
		x.r.summary.Plan.Rows = n.Int64()
	}
	x.r.summary.Notes = append(x.r.summary.Notes, bolt.Note{
		Code: "Neo.ClientNotification.Statement.ProfileWithoutRows", Title: "The rows are not sent", Description: "PROFILE runs the query and keeps no rows: run it without PROFILE for them",
	})
	return false, nil
}

func (x *explained) encode(e *packstream.Encoder) { encode(e, x.value) }

func (x *explained) stop() {}

// operators are the levels of a plan, each a step whose child is the level before it.
func operators(e *weft.Explanation, columns []string) (*bolt.Operator, error) {
	data, err := e.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var p planned
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	var text strings.Builder
	if err := e.Write(&text); err != nil {
		return nil, err
	}
	args := map[string]any{
		"planner": "weft", "planner-impl": p.Plan.Rule, "runtime": p.Engine, "runtime-impl": p.Reason, "method": p.Plan.Method,
		"semantics": p.Plan.Semantics, "cost": p.Plan.Cost, "string-representation": text.String(),
	}
	for key, s := range map[string]string{"why": p.Plan.Why, "empty": p.Plan.Empty, "formula": p.Plan.Formula, "phases": strings.Join(p.Phases, "\n"), "warnings": strings.Join(p.Plan.Warnings, "\n")} {
		if s != "" {
			args[key] = s
		}
	}
	root := &bolt.Operator{Type: "ProduceResults", Args: args, Identifiers: columns, Rows: -1}
	var child *bolt.Operator
	var names []string
	counted := len(p.Plan.Levels)
	if p.Plan.Tail != nil {
		counted -= p.Plan.Tail.Levels
	}
	for i, l := range p.Plan.Levels {
		names = append(names, l.Vertex)
		step := &bolt.Operator{Type: l.kind(i >= counted), Identifiers: append([]string{}, names...), Rows: -1}
		step.Args = map[string]any{"Details": l.details(), "EstimatedRows": l.Estimate, "cost": l.Cost}
		if l.Seconds > 0 {
			step.Args["Time"] = int64(math.Round(l.Seconds * 1e9))
		}
		switch n := l.Actual.(type) {
		case float64:
			step.Rows = int64(n)
		case string: // beyond 53 bits
			step.Rows, _ = strconv.ParseInt(n, 10, 64)
			step.Args["Rows"] = n
		}
		if child != nil {
			step.Children = []*bolt.Operator{child}
		}
		child = step
	}
	if child != nil {
		root.Children = []*bolt.Operator{child}
		root.Args["EstimatedRows"] = child.Args["EstimatedRows"]
	}
	return root, nil
}

// kind is the name of a level's step.
func (l *level) kind(counted bool) string {
	back := 0
	for _, b := range l.Back {
		if !b.Not {
			back++
		}
	}
	switch {
	case counted:
		return "CountTail"
	case back == 0 && l.Label != "":
		return "NodeByLabelScan"
	case back == 0:
		return "AllNodesScan"
	case back == 1:
		return "Expand"
	}
	return "Intersect"
}

// details says what a level does.
func (l *level) details() string {
	var b strings.Builder
	b.WriteString(l.Vertex)
	if l.Label != "" {
		b.WriteString(":" + l.Label)
	}
	for i, x := range l.Back {
		b.WriteString([]string{" ∩ ", " in "}[boolean(i == 0)])
		if x.Not {
			b.WriteString("not ")
		}
		b.WriteString("N(" + x.Vertex + ")")
	}
	for _, x := range l.Below {
		b.WriteString(", " + l.Vertex + " < " + x)
	}
	for _, x := range l.Above {
		b.WriteString(", " + l.Vertex + " > " + x)
	}
	for _, x := range l.Distinct {
		b.WriteString(", " + l.Vertex + " ≠ " + x)
	}
	for _, x := range l.Checks {
		b.WriteString(", " + x)
	}
	return b.String()
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
