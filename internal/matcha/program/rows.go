package program

import (
	"math"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Rows are rows that a program emitted, of one worker.
type Rows struct {
	worker int
	of     *columns
	words  []types.Word // row after row
}

// columns are what the components of a program's rows are.
type columns struct {
	set   *data.Set
	types []*types.Type
	ids   []*graph.IDs // of components that are vertices; nil for others
}

func columnsOf(p *asg.Program, set *data.Set) *columns {
	c := &columns{set: set}
	for i := range p.Row.Words() {
		t := p.Row.Part(i)
		var ids *graph.IDs
		if t.Vertex != "" {
			ids = &set.Input(t.Vertex).Graph.IDs
		}
		c.types, c.ids = append(c.types, t), append(c.ids, ids)
	}
	return c
}

// Worker is the number of the worker whose rows they are, from 0 on.
func (r Rows) Worker() int { return r.worker }

// Len is the number of rows.
func (r Rows) Len() int {
	if len(r.words) == 0 {
		return 0
	}
	return len(r.words) / r.Width()
}

// Width is the number of components of a row.
func (r Rows) Width() int { return len(r.of.types) }

// Value is component j of row i, in the types of MatchaResult's Values.
func (r Rows) Value(i, j int) any { return r.of.set.Value(r.of.types[j], r.words[i*r.Width()+j]) }

// Ints stores component j of each row i at to[i*step], if it is a whole number from -2^53 to 2^53, and otherwise the
// least int64.
func (r Rows) Ints(j int, to []int64, step int) {
	width, ids := r.Width(), r.of.ids[j]
	var num []int64
	number := r.of.types[j].Kind == types.Int && (ids == nil || ids.Numeric())
	if number && ids != nil {
		num = ids.Num
	}
	for i := range r.Len() {
		x := int64(r.words[i*width+j])
		ok := number
		if ids != nil {
			if ok = ok && uint64(x) < uint64(len(num)); ok {
				x = num[x]
			}
		}
		if !ok || x < -1<<53 || x > 1<<53 {
			x = math.MinInt64
		}
		to[i*step] = x
	}
}
