package bolt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// run computes the rows of a statement.
func (st *statement) run(s *scope) (*table, error) {
	out := &table{}
	for i, a := range st.arms {
		t, err := a.run(s)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			out = t
			continue
		}
		if !slices.Equal(out.columns, t.columns) {
			return nil, &Error{Code: CodeSyntax, Message: "all sub queries in an UNION must have the same return column names"}
		}
		out.rows = append(out.rows, t.rows...)
	}
	if st.distinct {
		var err error
		if out.rows, err = s.once(out.rows); err != nil {
			return nil, err
		}
	}
	return out, s.err
}

// once drops rows that are equal to an earlier one.
func (s *scope) once(rows [][]any) (out [][]any, err error) {
	seen := map[string]bool{}
	for _, r := range rows {
		k, err := s.key(r)
		if err != nil {
			return nil, err
		}
		if !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out, nil
}

func (a *arm) run(s *scope) (*table, error) {
	names, rows, err := a.source(s)
	if err != nil {
		return nil, err
	}
	if a.where != nil {
		if rows, err = a.filter(s, rows); err != nil {
			return nil, err
		}
	}
	for _, u := range a.unwinds {
		var next []map[string]any
		for _, row := range rows {
			x, err := u.x(s, row, nil)
			if err != nil {
				return nil, err
			}
			list, ok := x.([]any)
			if !ok && x != nil {
				list = []any{x}
			}
			for _, y := range list {
				if err := s.addRow(len(row) + 1); err != nil {
					return nil, err
				}
				wider := map[string]any{u.name: y}
				for k, v := range row {
					if k != u.name {
						wider[k] = v
					}
				}
				next = append(next, wider)
			}
		}
		rows = next
		if !slices.Contains(names, u.name) {
			names = append(names, u.name)
		}
	}
	items := a.returns
	if items == nil {
		for _, n := range names {
			items = append(items, item{x: variable(n), name: n})
		}
	}
	return a.project(s, items, rows)
}

// source is what the rest of the arm works on: a procedure's rows, or one row without columns.
func (a *arm) source(s *scope) (names []string, rows []map[string]any, err error) {
	switch {
	case a.counts != "":
		g, err := s.schema()
		if err != nil {
			return nil, nil, err
		}
		if s.count = g.Edges; a.counts == "vertices" {
			s.count = g.Vertices
		}
		return nil, nil, s.addRow(0)
	case a.proc == nil:
		return nil, []map[string]any{{}}, s.addRow(0)
	}
	call := s.asked
	for _, x := range a.args {
		v, err := x(s, map[string]any{}, nil)
		if err != nil {
			return nil, nil, err
		}
		call.args = append(call.args, v)
	}
	if len(call.args) > 0 && a.proc.args == "" {
		return nil, nil, &Error{Code: CodeSyntax, Message: fmt.Sprintf("the procedure %s takes no arguments", a.proc.name)}
	}
	found, err := a.proc.rows(&call)
	if err != nil {
		return nil, nil, err
	}
	columns := a.proc.returns
	if a.show && a.proc.few > 0 && a.yields == nil && !a.all && a.returns == nil {
		columns = columns[:a.proc.few]
	}
	for _, values := range found {
		if err := s.addRow(len(columns)); err != nil {
			return nil, nil, err
		}
		row := map[string]any{}
		for i, c := range columns {
			row[c.name] = values[i]
		}
		if a.only != "" && row["name"] != a.only || a.home && row["home"] != true {
			continue
		}
		rows = append(rows, row)
	}
	if a.yields == nil {
		for _, c := range columns {
			names = append(names, c.name)
		}
		return names, rows, nil
	}
	for _, y := range a.yields {
		names = append(names, y.name)
	}
	for i, row := range rows {
		if err := s.spend(64 * (1 + len(a.yields))); err != nil {
			return nil, nil, err
		}
		named := map[string]any{}
		for _, y := range a.yields {
			if named[y.name], err = y.x(s, row, nil); err != nil {
				return nil, nil, err
			}
		}
		rows[i] = named
	}
	if len(rows) == 0 { // a wrong name is a mistake in an empty table, too
		all := map[string]any{}
		for _, c := range columns {
			all[c.name] = nil
		}
		for _, y := range a.yields {
			if _, err := y.x(s, all, nil); err != nil {
				return nil, nil, err
			}
		}
	}
	return names, rows, nil
}

func (a *arm) filter(s *scope, rows []map[string]any) (out []map[string]any, err error) {
	for _, row := range rows {
		x, err := a.where(s, row, nil)
		if err = cmp.Or(err, s.work(1)); err != nil {
			return nil, err
		}
		if x == true {
			out = append(out, row)
		}
	}
	return out, nil
}

// outcome is a row of values, and what ORDER BY may ask of it.
type outcome struct {
	values []any
	by     []any
}

// project computes the items of RETURN, and puts rows in order.
func (a *arm) project(s *scope, items []item, rows []map[string]any) (*table, error) {
	t := &table{columns: []string{}}
	for _, i := range items {
		t.columns = append(t.columns, i.name)
	}
	groups, err := a.groups(s, items, rows)
	if err != nil {
		return nil, err
	}
	var found []outcome
	for _, g := range groups {
		o := outcome{values: make([]any, 0, len(items))}
		for _, i := range items {
			x, err := i.x(s, g.first, g.rows)
			if err != nil {
				return nil, err
			}
			if err := s.pay(x); err != nil {
				return nil, err
			}
			o.values = append(o.values, x)
		}
		var named map[string]any
		if len(a.order) > 0 {
			if err := s.work(len(g.first) + len(items)); err != nil {
				return nil, err
			}
			named = maps.Clone(g.first)
			for i, x := range o.values {
				named[items[i].name] = x
			}
		}
		for _, by := range a.order {
			x, err := by.x(s, named, g.rows)
			if err = cmp.Or(err, s.spend(16)); err != nil {
				return nil, err
			}
			o.by = append(o.by, x)
		}
		found = append(found, o)
	}
	slices.SortStableFunc(found, func(x, y outcome) int {
		for i, by := range a.order {
			if c := s.order(x.by[i], y.by[i]); c != 0 {
				if by.down {
					c = -c
				}
				return c
			}
		}
		return 0
	})
	if s.err != nil {
		return nil, s.err
	}
	for _, o := range found {
		t.rows = append(t.rows, o.values)
	}
	if a.distinct {
		if t.rows, err = s.once(t.rows); err != nil {
			return nil, err
		}
	}
	skip, err := number64(s, a.skip, 0)
	if err != nil {
		return nil, err
	}
	limit, err := number64(s, a.limit, int64(len(t.rows)))
	if err != nil {
		return nil, err
	}
	t.rows = t.rows[min(skip, int64(len(t.rows))):]
	t.rows = t.rows[:min(limit, int64(len(t.rows)))]
	return t, nil
}

// number64 is the number of SKIP or LIMIT.
func number64(s *scope, x expr, otherwise int64) (int64, error) {
	if x == nil {
		return otherwise, nil
	}
	v, err := x(s, map[string]any{}, nil)
	if err != nil {
		return 0, err
	}
	n, ok := v.(int64)
	if !ok || n < 0 {
		return 0, &Error{Code: CodeSyntax, Message: "SKIP and LIMIT take an integer from 0"}
	}
	return n, nil
}

// group is the rows that one row of the result is about.
type group struct {
	first map[string]any
	rows  []map[string]any // nil without aggregates, and of counts
}

// groups are the rows of the arm or, if an item is an aggregate, groups of equal values of the other items.
func (a *arm) groups(s *scope, items []item, rows []map[string]any) (out []group, err error) {
	aggregate := slices.ContainsFunc(items, func(i item) bool { return i.aggregate })
	switch {
	case a.counts != "":
		return []group{{first: map[string]any{}}}, nil
	case !aggregate:
		for _, row := range rows {
			out = append(out, group{first: row})
		}
		return out, nil
	}
	places := map[string]int{}
	for _, row := range rows {
		var parts []any
		for _, i := range items {
			if i.aggregate {
				continue
			}
			x, err := i.x(s, row, nil)
			if err != nil {
				return nil, err
			}
			parts = append(parts, x)
		}
		key, err := s.key(parts)
		if err != nil {
			return nil, err
		}
		at, ok := places[key]
		if !ok {
			at = len(out)
			places[key] = at
			out = append(out, group{first: row, rows: []map[string]any{}})
		}
		out[at].rows = append(out[at].rows, row)
	}
	if len(rows) == 0 && !slices.ContainsFunc(items, func(i item) bool { return !i.aggregate }) {
		out = append(out, group{first: map[string]any{}, rows: []map[string]any{}})
	}
	return out, nil
}
