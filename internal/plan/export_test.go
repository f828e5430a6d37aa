package plan

// WalkChecks calls yield with the vertices by level and the chosen edges of each
// match of pl, by the checks view alone.
func WalkChecks(pl *Plan, yield func(m []uint32, e []uint64) bool) {
	x := newMatcher(pl)
	x.yield = func() bool { return yield(x.m, x.e) }
	x.run(0)
}

// Alone is what a level asks of a vertex by itself.
func (pl *Plan) Alone(l int, c uint32) bool { return pl.Levels[l].alone(pl, c) }
