// Package data holds the inputs of a Matcha program: graphs, lists and numbers. It compares
// them with the program's declarations before anything runs. All targets use it.
//
// It must not know targets.
package data

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Input is the value of one input: the field of its type.
type Input struct {
	Graph *graph.Graph
	// View reads texts of the pattern language for the Graph, and properties; nil: the
	// program has none of subgraph and vertices with a text, and Graphs without any.
	View Viewer
	// Items of a List, one after the other; a Tuple is its components in order.
	Items []types.Word
	Var   types.Word
}

// Lists are the out-neighbours of the Graph.
func (in Input) Lists() *graph.CSR { return in.Graph.Flat(&in.Graph.Out) }

// Set is the inputs of a program, checked.
type Set struct {
	p      *asg.Program
	inputs map[string]Input
	sizes  map[types.Sym]int64
	// labels are the numbers of labels, by graph and class of vertices.
	labels map[string][]types.Word
	// relations, vertices, between and conditions are the selections of texts, by asg.ViewKey.
	relations  map[string]graph.Lists
	vertices   map[string][]uint32
	between    map[string]*DataEdges
	conditions map[string]*Condition
	// infos are data edges with a property, by inputs and by asg.ViewKey; words are
	// the property of all data edges of inputs.
	infos map[string]*EdgeInfo
	words map[string][]types.Word

	ctx   context.Context // of Bind
	limit int64           // of held; 0: none
	held  int64           // bytes of selections
}

// Bind compares inputs with the program's declarations. It checks that
//
//   - all declared inputs are given, and no others;
//   - numbers lie in their ranges;
//   - lists are not longer than declared;
//   - labels and texts of the pattern language in the program have a meaning in the graphs.
func Bind(p *asg.Program, inputs map[string]Input) (*Set, error) {
	return BindWithin(context.Background(), 0, p, inputs)
}

// BindWithin is Bind until ctx ends. The selections of the program's texts may have a number of bytes in all; 0 means
// any number. More is a *MemoryError.
func BindWithin(ctx context.Context, limit int64, p *asg.Program, inputs map[string]Input) (*Set, error) {
	s := &Set{ctx: ctx, limit: limit, p: p, inputs: inputs, sizes: map[types.Sym]int64{}, labels: map[string][]types.Word{}, infos: map[string]*EdgeInfo{}, words: map[string][]types.Word{}}
	var names []string
	for _, n := range p.Inputs {
		names = append(names, n.Name)
		in, ok := inputs[n.Name]
		if !ok {
			return nil, fmt.Errorf("the program's input %s (%s) is not given", n.Name, declared(n.Type))
		}
		if err := s.input(n.Name, n.Type, in); err != nil {
			return nil, fmt.Errorf("input %s: %w", n.Name, err)
		}
	}
	for name := range inputs {
		if !slices.Contains(names, name) {
			has := "it has none"
			if len(names) > 0 {
				has = "it has " + strings.Join(names, ", ")
			}
			return nil, fmt.Errorf("the program has no input %s; %s", name, has)
		}
	}
	for _, key := range p.Keys {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := s.findKey(key); err != nil {
			return nil, err
		}
	}
	if err := s.findViews(); err != nil {
		return nil, err
	}
	return s, s.findLabels()
}

// declared is a type without its bounds.
func declared(t *types.Type) string {
	if t.Kind == types.List {
		return "List[" + t.Elem.String() + "]"
	}
	return t.String()
}

func (s *Set) input(name string, t *types.Type, in Input) error {
	switch t.Kind {
	case types.Graph:
		if in.Graph == nil {
			return fmt.Errorf("want a graph")
		}
		g, lists := in.Graph, in.Lists()
		degree := 0
		for v := range uint32(g.NumVertices()) {
			degree = max(degree, lists.Degree(v))
		}
		s.sizes[types.Sym{Of: types.Vertices, Input: name}] = int64(g.NumVertices())
		s.sizes[types.Sym{Of: types.Arcs, Input: name}] = int64(len(lists.Adj))
		s.sizes[types.Sym{Of: types.Degree, Input: name}] = int64(degree)
	case types.List:
		w := t.Elem.Words()
		if len(in.Items)%w != 0 {
			return fmt.Errorf("%d numbers are not whole items of %d", len(in.Items), w)
		}
		for i, x := range in.Items {
			if err := inRange(t.Elem.Part(i%w), x); err != nil {
				return fmt.Errorf("item %d: %w", i/w, err)
			}
		}
		n := int64(len(in.Items) / w)
		s.sizes[types.Sym{Of: types.Length, Input: name}] = n
		s.sizes[types.Sym{Of: types.Fan, Input: name}] = fan(in.Items, w)
		if most := t.Max.Value(func(y types.Sym) int64 {
			if y.Of == types.Length {
				return math.MaxInt64
			}
			return s.Size(y)
		}); n > most {
			return fmt.Errorf("%d items, and the program declares at most %d", n, most)
		}
	default:
		return inRange(t, in.Var)
	}
	return nil
}

func inRange(t *types.Type, x types.Word) error {
	if t.Ranged && (int64(x) < t.Lo || int64(x) > t.Hi) {
		return fmt.Errorf("%d is outside of %d..%d", x, t.Lo, t.Hi)
	}
	return nil
}

// fan is the most items that begin with the same number.
func fan(items []types.Word, w int) (most int64) {
	seen := map[types.Word]int64{}
	for i := 0; i < len(items); i += w {
		seen[items[i]]++
		most = max(most, seen[items[i]])
	}
	return most
}

// Size is the value of a size of an input.
func (s *Set) Size(y types.Sym) int64 { return s.sizes[y] }

// Input is the value of an input.
func (s *Set) Input(name string) Input { return s.inputs[name] }

// Most is the value of a bound.
func (s *Set) Most(b *types.Bound) int64 { return b.Value(s.Size) }
