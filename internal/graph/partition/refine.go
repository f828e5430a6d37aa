package partition

import "context"

// refiner moves vertices between parts, so that the cut gets smaller and no part outweighs its
// limit.
type refiner struct {
	g      *weighted
	of     []uint32 // the part of each vertex
	limit  []int64  // of each part
	weight []int64  // of each part

	inside []int64 // the weight of each vertex's edges inside its part
	all    []int64 // and of all its edges
	queue  queue
	locked []bool // the vertex is not moved again in this pass
	moves  []move

	to      []int64 // by part: the weight of a vertex's edges to it; 0 between calls
	touched []uint32
}

type move struct{ v, from uint32 }

func newRefiner(g *weighted, of []uint32, limit []int64) *refiner {
	n := g.n()
	r := &refiner{g: g, of: of, limit: limit, weight: make([]int64, len(limit)), inside: make([]int64, n), all: make([]int64, n),
		queue: newQueue(n), locked: make([]bool, n), to: make([]int64, len(limit))}
	for v := range uint32(n) {
		r.weight[of[v]] += g.vertex[v]
		adj, edge := g.list(v)
		for i, u := range adj {
			w := weight(edge, i)
			r.all[v] += w
			if of[u] == of[v] {
				r.inside[v] += w
			}
		}
	}
	return r
}

// cut is the weight of the edges between parts.
func (r *refiner) cut() (sum int64) {
	for v := range r.all {
		sum += r.all[v] - r.inside[v]
	}
	return sum / 2
}

// over is the weight by which parts are over their limits.
func (r *refiner) over() (sum int64) {
	for p, w := range r.weight {
		sum += max(w-r.limit[p], 0)
	}
	return sum
}

// fits reports whether v may move to a part: there is room, or that part is then less over its limit
// than v's part is now.
func (r *refiner) fits(v, part uint32) bool {
	more := r.weight[part] + r.g.vertex[v] - r.limit[part]
	from := r.of[v]
	return more <= 0 || more < r.weight[from]-r.limit[from]
}

// best returns the part that v moves to with the greatest gain, of those that it has a neighbour in
// and that it fits in; among equal ones the part with the most room. It is none if there is none.
func (r *refiner) best(v uint32) (part uint32, gain int64) {
	adj, edge := r.g.list(v)
	own := r.of[v]
	for i, u := range adj {
		p := r.of[u]
		if p == own {
			continue
		}
		if r.to[p] == 0 {
			r.touched = append(r.touched, p)
		}
		r.to[p] += weight(edge, i)
	}
	part = none
	for _, p := range r.touched {
		if x := r.to[p]; r.fits(v, p) {
			room := func(p uint32) int64 { return r.limit[p] - r.weight[p] }
			if part == none || x > gain || x == gain && (room(p) > room(part) || room(p) == room(part) && p < part) {
				part, gain = p, x
			}
		}
	}
	for _, p := range r.touched {
		r.to[p] = 0
	}
	r.touched = r.touched[:0]
	return part, gain - r.inside[v]
}

// move moves v. It keeps gains in the queue at least as great as they are.
func (r *refiner) move(v, part uint32, queued bool) {
	from := r.of[v]
	r.of[v] = part
	r.weight[from] -= r.g.vertex[v]
	r.weight[part] += r.g.vertex[v]
	adj, edge := r.g.list(v)
	r.inside[v] = 0
	for i, u := range adj {
		w := weight(edge, i)
		more := w
		switch r.of[u] {
		case from:
			r.inside[u] -= w
			more = 2 * w
		case part:
			r.inside[u] += w
			r.inside[v] += w
			more = -w
		}
		if !queued || r.locked[u] {
			continue
		}
		if r.queue.has(u) {
			r.queue.put(u, r.queue.gain[u]+more)
		} else if more > 0 {
			r.queue.put(u, r.all[u]-2*r.inside[u])
		}
	}
}

// refine makes the cut smaller in passes as Fiduccia and Mattheyses': each moves vertices by their
// gain, negative ones too, and then takes the moves back that came after the best state.
func (r *refiner) refine(ctx context.Context, passes int) error {
	if err := r.rebalance(ctx); err != nil {
		return err
	}
	for range passes {
		better, err := r.pass(ctx)
		if err != nil || !better {
			return err
		}
	}
	return nil
}

// patience is how many moves a pass makes that do not lead to a better state.
func (r *refiner) patience() int { return min(max(r.g.n()/50, 25), 400) }

func (r *refiner) pass(ctx context.Context) (better bool, err error) {
	clear(r.locked)
	r.moves = r.moves[:0]
	for v := range uint32(r.g.n()) {
		if v&0xfff == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if r.inside[v] < r.all[v] {
			if part, gain := r.best(v); part != none {
				r.queue.put(v, gain)
			}
		}
	}
	gained, most, kept := int64(0), int64(0), 0
	over := r.over()
	least := over
	for step := 0; len(r.queue.heap) > 0 && len(r.moves)-kept < r.patience(); step++ {
		if step&0xfff == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		v := r.queue.heap[0]
		part, gain := r.best(v)
		if part != none && gain < r.queue.gain[v] {
			// The gain in the queue was a bound. Another vertex may be first now.
			if r.queue.put(v, gain); r.queue.heap[0] != v {
				continue
			}
		}
		r.queue.pop()
		r.locked[v] = true
		if part == none {
			continue
		}
		from := r.of[v]
		over -= max(r.weight[from]-r.limit[from], 0) + max(r.weight[part]-r.limit[part], 0)
		r.moves = append(r.moves, move{v, from})
		r.move(v, part, true)
		over += max(r.weight[from]-r.limit[from], 0) + max(r.weight[part]-r.limit[part], 0)
		if gained += gain; over < least || over == least && gained > most {
			least, most, kept = over, gained, len(r.moves)
		}
	}
	r.queue.clear()
	for i := len(r.moves) - 1; i >= kept; i-- {
		r.move(r.moves[i].v, r.moves[i].from, false)
	}
	return kept > 0, ctx.Err()
}

// rebalance moves vertices out of parts that are over their limits, those first that cost least.
func (r *refiner) rebalance(ctx context.Context) error {
	if r.over() == 0 {
		return ctx.Err()
	}
	isOver := func(p uint32) bool { return r.weight[p] > r.limit[p] }
	clear(r.locked)
	for v := range uint32(r.g.n()) {
		if isOver(r.of[v]) {
			part, gain := r.target(v)
			if part != none {
				r.queue.put(v, gain)
			}
		}
	}
	for step := 0; len(r.queue.heap) > 0; step++ {
		if step&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		v := r.queue.heap[0]
		part, gain := none, int64(0)
		if isOver(r.of[v]) {
			part, gain = r.target(v)
		}
		if part != none && gain < r.queue.gain[v] {
			if r.queue.put(v, gain); r.queue.heap[0] != v {
				continue
			}
		}
		r.queue.pop()
		r.locked[v] = true
		if part != none {
			r.move(v, part, true)
		}
	}
	r.queue.clear()
	return ctx.Err()
}

// target is best, or if v fits in no part of a neighbour, the part with the most room.
func (r *refiner) target(v uint32) (part uint32, gain int64) {
	if part, gain = r.best(v); part != none {
		return part, gain
	}
	part = 0
	for p := range uint32(len(r.limit)) {
		if r.limit[p]-r.weight[p] > r.limit[part]-r.weight[part] {
			part = p
		}
	}
	if part == r.of[v] || !r.fits(v, part) {
		return none, 0
	}
	return part, -r.inside[v]
}
