package program

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/view"
)

// bind compares inputs with the program's declarations.
func bind(ctx context.Context, limit int64, p *asg.Program, in map[string]any) (set *data.Set, err error) {
	inputs := map[string]data.Input{}
	for name, v := range in {
		var i data.Input
		for _, n := range p.Inputs {
			if n.Name == name {
				var err error
				if i, err = inputOf(n.Type, v); err != nil {
					return nil, kind.With(kind.Usage, fmt.Errorf("input %s: %w", name, err))
				}
			}
		}
		inputs[name] = i
	}
	if set, err = data.BindWithin(ctx, limit, p, inputs); err != nil {
		var mistake *syntax.Error
		switch {
		case ctx.Err() != nil:
			return nil, err
		case errors.As(err, new(*data.MemoryError)):
			return nil, kind.With(kind.Memory, err)
		case errors.As(err, &mistake):
			return nil, kind.With(kind.Query, err)
		}
		return nil, kind.With(kind.Usage, err)
	}
	return set, nil
}

// inputOf is a value of Go as one of a type of Matcha.
func inputOf(t *types.Type, v any) (in data.Input, err error) {
	k := t.Kind
	if k == types.List {
		k = t.Elem.Part(0).Kind
	}
	list := t.Kind == types.List
	ok := false
	switch v := v.(type) {
	case *runtime.Graph:
		in.Graph, in.View, ok = v.Data, view.Of{Graph: v.Data}, k == types.Graph
	case int64:
		in.Var, ok = types.Word(v), k == types.Int && !list
	case float64:
		in.Var, ok = types.FromFloat(v), k == types.Float && !list
	case bool:
		in.Var, ok = types.FromBool(v), k == types.Bool && !list
	case []int64:
		ok = k == types.Int && list
		for _, x := range v {
			in.Items = append(in.Items, types.Word(x))
		}
	case []float64:
		ok = k == types.Float && list
		for _, x := range v {
			in.Items = append(in.Items, types.FromFloat(x))
		}
	case []bool:
		ok = k == types.Bool && list
		for _, x := range v {
			in.Items = append(in.Items, types.FromBool(x))
		}
	}
	if !ok {
		return in, fmt.Errorf("a %s is not a %s", typeName(v), t)
	}
	return in, nil
}

// typeName is the type of a value as the caller knows it.
func typeName(v any) string {
	if _, ok := v.(*runtime.Graph); ok {
		return "graph"
	}
	return fmt.Sprintf("%T", v)
}
