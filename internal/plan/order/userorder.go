package order

import "github.com/weftgraph/weft/internal/plan"

// orderGiven takes the user's order where it can be followed.
func (b *Rules) orderGiven(o plan.Options) (Choice, error) {
	var seen uint32
	for _, v := range o.Given {
		if v < 0 || v >= b.N {
			return Choice{}, plan.Errorf("the given order names vertex %d and the pattern has vertices 0 to %d", v, b.N-1)
		}
		if seen>>v&1 != 0 {
			return Choice{}, plan.Errorf("the given order names %s twice", b.Pattern.VertexName(v))
		}
		seen |= 1 << v
	}
	if len(o.Given) != b.N {
		return Choice{}, plan.Errorf("the given order names %d of the pattern's %d vertices", len(o.Given), b.N)
	}
	if o.Root >= 0 && o.Given[0] != o.Root {
		return Choice{}, plan.Errorf("the given order begins at %s and the count is asked for at %s", b.Pattern.VertexName(o.Given[0]), b.Pattern.VertexName(o.Root))
	}
	if o.Method != "local" && !b.connectedOrder(o.Given) {
		return Choice{}, plan.Errorf("the given order is not connected: each vertex must be a neighbour of one before it")
	}
	return Choice{Order: append([]int(nil), o.Given...), Name: "given", Why: "the order was given"}, nil
}
