package pattern

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"time"
)

// MissingParam is the error of SubstituteParams for a parameter without a
// value.
type MissingParam struct{ Name string }

func (e *MissingParam) Error() string {
	return fmt.Sprintf("no value for parameter $%s", e.Name)
}

// Params returns the names of the parameters of p, sub-patterns included, in
// the order of their first mention.
func (p *Pattern) Params() []string {
	var names []string
	seen := map[string]bool{}
	_, _ = p.mapLeaves(func(x Expr) (Expr, error) {
		if x, ok := x.(Param); ok && !seen[x.Name] {
			seen[x.Name] = true
			names = append(names, x.Name)
		}
		return x, nil
	})
	return names
}

// SubstituteParams returns p, or a copy of it, with each $name replaced by its
// value: a Go boolean, number, string, time.Time, time.Duration, nil, or slice of these. The error is a *MissingParam
// for a name without a value, and names a parameter whose value has a type that
// the language lacks.
func SubstituteParams(p *Pattern, values map[string]any) (*Pattern, error) {
	if len(p.Where) == 0 && !slices.ContainsFunc(p.Edges, func(e Edge) bool { return len(e.Where) > 0 }) {
		return p, nil
	}
	if err := p.checkLists(values); err != nil {
		return nil, err
	}
	return p.mapLeaves(func(x Expr) (Expr, error) {
		param, ok := x.(Param)
		if !ok {
			return x, nil
		}
		v, ok := values[param.Name]
		if !ok {
			return nil, &MissingParam{param.Name}
		}
		lit, err := literal(reflect.ValueOf(v))
		if err != nil {
			return nil, fmt.Errorf("parameter $%s: %w", param.Name, err)
		}
		return Lit{lit}, nil
	})
}

// checkLists refuses a parameter for the list of an IN that is not a list.
func (p *Pattern) checkLists(values map[string]any) (err error) {
	check := func(x Expr) bool {
		switch x := x.(type) {
		case Exists:
			if err == nil {
				err = x.Sub.checkLists(values)
			}
		case Binary:
			param, ok := x.Y.(Param)
			v := reflect.ValueOf(values[param.Name])
			if ok && x.Op == OpIn && err == nil && v.IsValid() && v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
				err = &Invalid{Vertex: -1, Edge: -1, Msg: fmt.Sprintf("IN needs a list, and the parameter $%s is %v", param.Name, v)}
			}
		}
		return true
	}
	for _, e := range p.Edges {
		for _, w := range e.Where {
			Walk(w, check)
		}
	}
	for _, w := range p.Where {
		Walk(w, check)
	}
	return err
}

// literal converts a Go value to one that a Lit may hold.
func literal(v reflect.Value) (any, error) {
	if !v.IsValid() {
		return nil, nil
	}
	switch t := v.Interface().(type) {
	case time.Time:
		z := new(big.Int).Add(times(t.Unix(), int64(time.Second)), big.NewInt(int64(t.Nanosecond())))
		if !z.IsInt64() {
			return nil, fmt.Errorf("the time %v does not lie between the years 1678 and 2261", t)
		}
		return Timestamp{Nanos: z.Int64()}, nil
	case time.Duration:
		return Duration{Nanos: int64(t)}, nil
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return literal(v.Elem())
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.Slice, reflect.Array:
		items := make([]any, v.Len())
		for i := range items {
			var err error
			if items[i], err = literal(v.Index(i)); err != nil {
				return nil, err
			}
		}
		return items, nil
	}
	if v.CanInt() {
		return v.Int(), nil
	}
	if v.CanUint() && v.Uint() < 1<<63 {
		return int64(v.Uint()), nil
	}
	return nil, fmt.Errorf("a %s is not a boolean, number, string or list of these", v.Type())
}

// mapLeaves returns p with the leaves of all its predicates replaced, including those of
// sub-patterns, and the first error of leaf.
func (p *Pattern) mapLeaves(leaf func(Expr) (Expr, error)) (*Pattern, error) {
	var failed error
	wrapped := func(x Expr) Expr {
		if failed != nil {
			return x
		}
		if e, ok := x.(Exists); ok {
			e.Sub, failed = e.Sub.mapLeaves(leaf)
			return e
		}
		x, failed = leaf(x)
		return x
	}
	q := p.Clone()
	for i := range q.Edges {
		for j, w := range q.Edges[i].Where {
			q.Edges[i].Where[j] = rewrite(w, wrapped)
		}
	}
	for j, w := range q.Where {
		q.Where[j] = rewrite(w, wrapped)
	}
	if failed != nil {
		return nil, failed
	}
	return q, nil
}
