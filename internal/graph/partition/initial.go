package partition

import (
	"context"
	"math"
)

// bisections cuts g into k parts, numbered from first, by cutting it in two again and again. Parts
// weigh about the same. It writes the part of vertex v to of[ids[v]].
func bisections(ctx context.Context, g *weighted, ids []uint32, k int, first uint32, slack float64, r *random, of []uint32) error {
	switch {
	case k <= 1:
		for _, v := range ids {
			of[v] = first
		}
		return nil
	case g.n() <= k:
		for i, v := range ids {
			of[v] = first + uint32(i)
		}
		return nil
	}
	half := k / 2
	two, err := bisect(ctx, g, float64(half)/float64(k), slack, r)
	if err != nil {
		return err
	}
	for side, parts := range [2]int{half, k - half} {
		s, local := g.part(two, uint32(side))
		for i := range local {
			local[i] = ids[local[i]]
		}
		if err := bisections(ctx, s, local, parts, first+uint32(side*half), slack, r, of); err != nil {
			return err
		}
	}
	return nil
}

const (
	bisectSmall = 120 // vertices of the graph in which a bisection begins
	growths     = 8   // beginnings of a bisection, of which the best is taken
)

// bisect cuts g in two, of which the first has a share of the weight.
func bisect(ctx context.Context, g *weighted, share, slack float64, r *random) ([]uint32, error) {
	levels, err := coarsen(ctx, g, bisectSmall, 1, r)
	if err != nil {
		return nil, err
	}
	limits := func(g *weighted, finest bool) []int64 {
		l := []int64{limit(float64(g.total)*share, slack), limit(float64(g.total)*(1-share), slack)}
		if !finest {
			l[0], l[1] = roomy(g, l[0]), roomy(g, l[1])
		}
		return l
	}
	var best []uint32
	var bestCut, bestOver int64
	small := levels[len(levels)-1].weighted
	for range growths {
		of, err := grow(small, int64(float64(small.total)*share), r)
		if err != nil {
			return nil, err
		}
		f := newRefiner(small, of, limits(small, len(levels) == 1))
		if err := f.refine(ctx, 8); err != nil {
			return nil, err
		}
		if cut, over := f.cut(), f.over(); best == nil || over < bestOver || over == bestOver && cut < bestCut {
			best, bestCut, bestOver = of, cut, over
		}
	}
	for i := len(levels) - 2; i >= 0; i-- {
		best = project(levels[i].coarse, best)
		if err := newRefiner(levels[i].weighted, best, limits(levels[i].weighted, i == 0)).refine(ctx, 8); err != nil {
			return nil, err
		}
	}
	return best, nil
}

// limit is the most that a part may weigh: the mean and the slack, in whole numbers.
func limit(mean, slack float64) int64 {
	return int64(max(math.Floor(mean*(1+slack)), math.Ceil(mean)))
}

// roomy is a limit in a graph that is coarse: vertices that weigh much need room to move.
func roomy(g *weighted, limit int64) int64 { return limit + 2*g.total/int64(max(g.n(), 1)) }

// project returns the parts of a finer graph's vertices.
func project(coarse, of []uint32) []uint32 {
	fine := make([]uint32, len(coarse))
	for v, c := range coarse {
		fine[v] = of[c]
	}
	return fine
}

// grow grows the first of two parts from a random vertex until it has the wanted weight. It adds
// the vertex next that makes the cut smallest.
func grow(g *weighted, want int64, r *random) ([]uint32, error) {
	n := g.n()
	of := make([]uint32, n)
	for v := range of {
		of[v] = 1
	}
	f := newRefiner(g, of, []int64{want, math.MaxInt64})
	left := f.weight[1]
	for next := r.below(n); f.weight[0] < want && left > 0; {
		v := uint32(next)
		if len(f.queue.heap) > 0 {
			v = f.queue.pop()
		} else {
			for f.locked[v] {
				v = (v + 1) % uint32(n)
			}
			next = r.below(n)
		}
		f.locked[v] = true
		left -= g.vertex[v]
		// Of two states around the wanted weight, the nearer one.
		if w := f.weight[0] + g.vertex[v]; w > want && w-want > want-f.weight[0] {
			continue
		}
		f.move(v, 0, false)
		adj, _ := g.list(v)
		for _, u := range adj {
			if !f.locked[u] {
				f.queue.put(u, f.all[u]-2*f.inside[u])
			}
		}
	}
	return of, nil
}
