package plan

// orderGiven takes the user's order where it can be followed.
func (b *binding) orderGiven(o Options) (choice, error) {
	var seen uint32
	for _, v := range o.Given {
		if v < 0 || v >= b.n {
			return choice{}, queryErrorf("the given order names vertex %d and the pattern has vertices 0 to %d", v, b.n-1)
		}
		if seen>>v&1 != 0 {
			return choice{}, queryErrorf("the given order names %s twice", b.p.VertexName(v))
		}
		seen |= 1 << v
	}
	if len(o.Given) != b.n {
		return choice{}, queryErrorf("the given order names %d of the pattern's %d vertices", len(o.Given), b.n)
	}
	if o.Root >= 0 && o.Given[0] != o.Root {
		return choice{}, queryErrorf("the given order begins at %s and the count is asked for at %s", b.p.VertexName(o.Given[0]), b.p.VertexName(o.Root))
	}
	if o.Method != "local" && !b.connectedOrder(o.Given) {
		return choice{}, queryErrorf("the given order is not connected: each vertex must be a neighbour of one before it")
	}
	return choice{order: append([]int(nil), o.Given...), name: "given", why: "the order was given"}, nil
}
