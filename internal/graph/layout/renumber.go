package layout

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
)

// Renumbering gives vertices ids under which each partition has few runs of consecutive
// ids. It keeps the id range of each label class, so that a range of ids has the same
// vertices before and after. A nil Renumbering keeps all ids.
type Renumbering struct {
	New []uint32 // by the graph's internal id
	Old []uint32 // by the new id

	id uint64
}

// ID returns the number that copies of Old are found by, as that of a relation.
func (r *Renumbering) ID() uint64 { return r.id }

// Renumber finds new ids by GENEVA's algorithm 2, in each label class by itself. Vertices with the same
// share set are neighbours in the new order. Sets with many partitions in common follow each other, and
// the largest partition comes first. It reads all edges, in parallel. The ids do not depend on the number of
// threads; 0 means all cores.
func Renumber(ctx context.Context, r *Rows, threads int) (*Renumbering, error) {
	threads = count(threads)
	s, err := newShareSets(ctx, r, threads)
	if err != nil {
		return nil, err
	}
	n := r.g.NumVertices()
	re := &Renumbering{New: make([]uint32, n), Old: make([]uint32, n), id: graph.NewRelationID()}
	// All threads order a class that has more than the share of one of them. One thread orders each other class.
	work := []uint64{0}
	var small []graph.Class
	for _, c := range r.g.Classes {
		if uint64(c.End-c.First)*uint64(threads) > uint64(n) {
			if err := s.order(ctx, re.Old, c, threads); err != nil {
				return nil, err
			}
			continue
		}
		small = append(small, c)
		work = append(work, work[len(work)-1]+uint64(c.End-c.First))
	}
	failed := make([]error, len(small))
	err = graph.Parallel(ctx, work, threads, func(lo, hi uint32) {
		for i := lo; i < hi; i++ {
			failed[i] = s.order(ctx, re.Old, small[i], 1)
		}
	})
	if err = cmp.Or(append(failed, err)...); err != nil {
		return nil, err
	}
	return re, graph.Parallel(ctx, evenly(n, 1), threads, func(lo, hi uint32) {
		for i := lo; i < hi; i++ {
			re.New[re.Old[i]] = i
		}
	})
}

// order writes the vertices of a class in their new order.
func (s *shareSets) order(ctx context.Context, old []uint32, c graph.Class, threads int) error {
	groups, err := s.groups(ctx, c, threads)
	if err != nil {
		return err
	}
	if err := chain(ctx, groups, s.partitions(), threads); err != nil {
		return err
	}
	at := old[c.First:c.First:c.End]
	for i := range groups {
		at = append(at, groups[i].vertices...)
	}
	return nil
}

// chain orders groups by the paper's algorithm 2. It changes their sets: partitions
// become their ranks, 0 for the one with most vertices. Groups that are in no partition
// come last.
func chain(ctx context.Context, groups []group, partitions, threads int) error {
	size := make([]uint64, partitions)
	for i := range groups {
		for _, p := range groups[i].set {
			size[p] += uint64(len(groups[i].vertices))
		}
	}
	var order []uint32
	for p, n := range size {
		if n > 0 {
			order = append(order, uint32(p))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	rank := make([]uint32, partitions)
	left := make([]uint64, len(order)) // vertices of each partition that are in no ordered group
	for i, p := range order {
		rank[p], left[i] = uint32(i), size[p]
	}
	if err := sortGroups(ctx, groups, rank, len(order), threads); err != nil {
		return err
	}
	in, begin := groupsOf(groups, len(order))
	// Each part is the groups of the largest partition, of those that no earlier part has.
	taken := make([]bool, len(groups))
	var all []uint32
	ends, work := []int{0}, []uint64{0}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		largest := 0
		for p, n := range left {
			if n > left[largest] {
				largest = p
			}
		}
		if len(left) == 0 || left[largest] == 0 {
			break
		}
		for _, i := range in[begin[largest]:begin[largest+1]] {
			if taken[i] {
				continue
			}
			taken[i] = true
			all = append(all, i)
			for _, p := range groups[i].set {
				left[p] -= uint64(len(groups[i].vertices))
			}
		}
		n := len(all) - ends[len(ends)-1]
		ends, work = append(ends, len(all)), append(work, work[len(work)-1]+uint64(n+greedy(n, len(order))))
	}
	err := graph.Parallel(ctx, work, threads, func(lo, hi uint32) {
		for k := lo; k < hi; k++ {
			neighbours(ctx, groups, all[ends[k]:ends[k+1]], len(order))
		}
	})
	for i := range groups {
		if len(groups[i].set) == 0 {
			all = append(all, uint32(i))
		}
	}
	ordered := make([]group, len(groups))
	for k, i := range all {
		ordered[k] = groups[i]
	}
	copy(groups, ordered)
	return err
}

// sortGroups makes ranks of the partitions in the sets of groups. It sorts the groups by their sets as
// sequences of ranks, which keeps the runs of the largest partitions long.
func sortGroups(ctx context.Context, groups []group, rank []uint32, ranks, threads int) error {
	type sortable struct {
		key   uint64 // the first ranks, each plus 1; 0 behind the last
		group uint32
	}
	width := bits.Len(uint(ranks))
	first := 64 / max(width, 1) // ranks in a key
	all := make([]sortable, len(groups))
	err := graph.Parallel(ctx, evenly(len(groups), 64), threads, func(lo, hi uint32) {
		for i := lo; i < hi; i++ {
			set := groups[i].set
			for j, p := range set {
				set[j] = rank[p]
			}
			slices.Sort(set)
			key := uint64(0)
			for j := range first {
				key <<= width
				if j < len(set) {
					key |= uint64(set[j] + 1)
				}
			}
			all[i] = sortable{key, i}
		}
	})
	if err != nil {
		return err
	}
	all, err = sortParallel(ctx, all, threads, func(a, b sortable) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		x, y := groups[a.group].set, groups[b.group].set
		return slices.Compare(x[min(first, len(x)):], y[min(first, len(y)):])
	})
	sorted := make([]group, len(groups))
	for i, x := range all {
		sorted[i] = groups[x.group]
	}
	copy(groups, sorted)
	return err
}

// groupsOf returns the numbers of the groups that each partition has, ascending: those of p are
// in[begin[p]:begin[p+1]].
func groupsOf(groups []group, partitions int) (in []uint32, begin []uint64) {
	begin = make([]uint64, partitions+1)
	for i := range groups {
		for _, p := range groups[i].set {
			begin[p+1]++
		}
	}
	for p := range partitions {
		begin[p+1] += begin[p]
	}
	in = make([]uint32, begin[partitions])
	at := slices.Clone(begin)
	for i := range groups {
		for _, p := range groups[i].set {
			in[at[p]] = uint32(i)
			at[p]++
		}
	}
	return in, begin
}

// greedyWork bounds the work of the greedy order of a partition's groups, in words of
// 64 bits that are compared.
const greedyWork = 1 << 28

// greedy returns the work of the greedy order of n groups; 0 where they are too many, or too few to be ordered.
func greedy(n, partitions int) int {
	if work := n * n / 2 * ((partitions + 63) / 64); n >= 3 && work <= greedyWork {
		return work
	}
	return 0
}

// neighbours orders the groups of one partition, which have numbers in part: the one with most partitions
// first, then always the one that has most in common with the last. Where there are too many groups
// for that, it leaves them as they are.
func neighbours(ctx context.Context, groups []group, part []uint32, partitions int) {
	if greedy(len(part), partitions) == 0 {
		return
	}
	words := (partitions + 63) / 64
	sets := make([]uint64, words*len(part))
	for i, k := range part {
		for _, p := range groups[k].set {
			sets[words*i+int(p/64)] |= 1 << (p % 64)
		}
	}
	// The groups that are left, as indexes of part, in its order.
	left := make([]uint32, len(part))
	for i := range left {
		left[i] = uint32(i)
	}
	ordered := make([]uint32, 0, len(part))
	last := make([]uint64, words)
	for i := range last {
		last[i] = ^uint64(0) // the first has most in common with all partitions
	}
	for len(left) > 0 && ctx.Err() == nil {
		next, most := 0, -1
		for at, i := range left {
			if len(groups[part[i]].set) <= most {
				continue
			}
			common := 0
			for w, x := range sets[words*int(i):][:words] {
				common += bits.OnesCount64(x & last[w])
			}
			if common > most {
				next, most = at, common
			}
		}
		i := left[next]
		ordered = append(ordered, part[i])
		last = sets[words*int(i):][:words]
		left = slices.Delete(left, next, next+1)
	}
	copy(part, ordered)
}

// sortParallel sorts a slice, and returns it in the same memory or in new memory. Elements that compare equal
// must be the same. The error is that of the context.
func sortParallel[T any](ctx context.Context, all []T, threads int, compare func(a, b T) int) ([]T, error) {
	// Runs are sorted by one thread each, and then merged, two of them at a time.
	const least = 1 << 12
	runs := 1
	for runs < 2*threads && len(all)/(2*runs) >= least {
		runs *= 2
	}
	run := func(i, runs int) []T { return all[len(all)*i/runs : len(all)*(i+1)/runs] }
	each := uint64(len(all)) * 16
	err := graph.Parallel(ctx, evenly(runs, each), threads, func(lo, hi uint32) {
		for i := lo; i < hi; i++ {
			slices.SortFunc(run(int(i), runs), compare)
		}
	})
	other := all
	if runs > 1 {
		other = make([]T, len(all))
	}
	for ; runs > 1 && err == nil; runs /= 2 {
		err = graph.Parallel(ctx, evenly(runs/2, each), threads, func(lo, hi uint32) {
			for i := lo; i < hi; i++ {
				x, y := run(2*int(i), runs), run(2*int(i)+1, runs)
				merge(other[len(all)*int(i)/(runs/2):][:len(x)+len(y)], x, y, compare)
			}
		})
		all, other = other, all
	}
	return all, err
}

// merge writes the elements of two sorted slices, sorted.
func merge[T any](to, x, y []T, compare func(a, b T) int) {
	for i := range to {
		if len(y) == 0 || len(x) > 0 && compare(x[0], y[0]) <= 0 {
			to[i], x = x[0], x[1:]
		} else {
			to[i], y = y[0], y[1:]
		}
	}
}
