package bolt

import (
	"slices"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// entry is a key of metadata with its value.
type entry struct {
	key   string
	value any
}

func encodeEntries(e *packstream.Encoder, entries []entry) {
	e.Map(len(entries))
	for _, x := range entries {
		e.String(x.key)
		e.Value(x.value)
	}
}

// failure is the metadata of FAILURE. Since Bolt 5.7 it has the fields of GQL.
func failure(err *Error, minor int) []entry {
	if minor < 7 {
		return []entry{{"code", err.Code}, {"message", err.Message}}
	}
	status, description := statusOf(err.Code)
	if err.Status != "" {
		status = err.Status
	}
	record := map[string]any{"OPERATION": "", "OPERATION_CODE": "0", "CURRENT_SCHEMA": "/", "_classification": classification(err.Code)}
	if err.Line > 0 {
		record["_position"] = map[string]any{"offset": int64(err.Offset), "line": int64(err.Line), "column": int64(err.Column)}
	}
	first, _, _ := strings.Cut(err.Message, "\n")
	return []entry{{"neo4j_code", err.Code}, {"message", err.Message}, {"gql_status", status}, {"description", "error: " + description + ". " + first}, {"diagnostic_record", record}}
}

// classification is the second word of a status code.
func classification(code string) string {
	switch {
	case strings.HasPrefix(code, "Neo.ClientError."):
		return "CLIENT_ERROR"
	case strings.HasPrefix(code, "Neo.TransientError."):
		return "TRANSIENT_ERROR"
	}
	return "DATABASE_ERROR"
}

// summary is the metadata at the end of a result.
func summary(s Summary, r *open, took time.Duration, minor int) []entry {
	out := []entry{{"type", "r"}, {"t_last", took.Milliseconds()}, {"db", r.graph}}
	if s.Plan != nil {
		key := "plan"
		if s.Profiled {
			key = "profile"
		}
		out = append(out, entry{key, operator(s.Plan, s.Profiled)})
	}
	notes := s.Notes
	if r.quiet {
		notes = slices.DeleteFunc(slices.Clone(notes), func(n Note) bool { return !n.Always })
	}
	if minor >= 5 {
		return append(out, entry{"statuses", statusList(notes, r)})
	}
	if len(notes) > 0 {
		var list []any
		for _, n := range notes {
			list = append(list, map[string]any{"code": n.Code, "title": n.Title, "description": n.Description, "severity": n.severity(), "category": "GENERIC"})
		}
		out = append(out, entry{"notifications", list})
	}
	return out
}

func (n Note) severity() string {
	if n.Warning {
		return "WARNING"
	}
	return "INFORMATION"
}

// statusList has the outcome of a query, and its notes, as GQL has them.
func statusList(notes []Note, r *open) []any {
	outcome := map[string]any{"gql_status": "00000", "status_description": "note: successful completion"}
	switch {
	case len(r.Columns()) == 0:
		outcome = map[string]any{"gql_status": "00001", "status_description": "note: successful completion - omitted result"}
	case r.rows == 0:
		outcome = map[string]any{"gql_status": "02000", "status_description": "note: no data"}
	}
	list := []any{outcome}
	for _, n := range notes {
		status, kind := "03N00", "info: informational"
		if n.Warning {
			status, kind = "01N00", "warn: warning"
		}
		list = append(list, map[string]any{
			"gql_status": status, "status_description": kind + ". " + n.Description, "neo4j_code": n.Code, "title": n.Title, "description": n.Description,
			"diagnostic_record": map[string]any{"OPERATION": "", "OPERATION_CODE": "0", "CURRENT_SCHEMA": "/", "_classification": "GENERIC", "_severity": n.severity()},
		})
	}
	return list
}

// operator is a step of a plan as a map.
func operator(o *Operator, profiled bool) map[string]any {
	children := make([]any, len(o.Children))
	for i, c := range o.Children {
		children[i] = operator(c, profiled)
	}
	args := o.Args
	if args == nil {
		args = map[string]any{}
	}
	out := map[string]any{"operatorType": o.Type, "args": args, "identifiers": o.Identifiers, "children": children}
	if profiled {
		out["dbHits"] = int64(0) // reads of the store are not counted, and drivers want a number
		if o.Rows >= 0 {
			out["rows"] = o.Rows
		}
	}
	return out
}
