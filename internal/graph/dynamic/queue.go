package dynamic

import (
	"slices"
	"sort"
)

// queue has the rows of the present version, sorted by time and number, in leaves of nodes. A change moves at most a leaf, and
// seldom the list of a node's leaves or the list of nodes.
type queue struct {
	nodes []*node
	rows  *rows
}

type node struct {
	firsts []stamp // of the leaves
	leaves []*leaf
}

type stamp struct {
	time int64
	row  uint32
}

func (x stamp) less(y stamp) bool { return x.time < y.time || x.time == y.time && x.row < y.row }

type leaf struct {
	n    int
	rows [leafRows]uint32
}

const (
	leafRows   = 128
	nodeLeaves = 128
)

func (q *queue) stamp(r uint32) stamp { return stamp{q.rows.row(r).time, r} }

// seek returns the last node and leaf that begin with x or an earlier row, or the first ones.
func (q *queue) seek(x stamp) (i, k int) {
	if i = len(q.nodes) - 1; x.less(q.nodes[i].firsts[0]) {
		i = max(0, sort.Search(i, func(i int) bool { return x.less(q.nodes[i].firsts[0]) })-1)
	}
	f := q.nodes[i].firsts
	if k = len(f) - 1; x.less(f[k]) {
		k = max(0, sort.Search(k, func(k int) bool { return x.less(f[k]) })-1)
	}
	return i, k
}

// place is where x is, or belongs, in a leaf.
func (q *queue) place(l *leaf, x stamp) int {
	if q.stamp(l.rows[l.n-1]).less(x) {
		return l.n
	}
	return sort.Search(l.n, func(i int) bool { return !q.stamp(l.rows[i]).less(x) })
}

// add adds a row.
func (q *queue) add(r uint32) {
	x := q.stamp(r)
	if len(q.nodes) == 0 {
		l := &leaf{n: 1}
		l.rows[0] = r
		q.nodes = append(q.nodes, &node{[]stamp{x}, []*leaf{l}})
		return
	}
	i, k := q.seek(x)
	n, l := q.nodes[i], q.nodes[i].leaves[k]
	at := q.place(l, x)
	if l.n < leafRows {
		copy(l.rows[at+1:l.n+1], l.rows[at:l.n])
		l.rows[at] = r
		if l.n++; at == 0 {
			n.firsts[k] = x
		}
		return
	}
	to := &leaf{}
	if at == l.n && k == len(n.leaves)-1 { // rows that come in order fill their leaves
		to.n, to.rows[0] = 1, r
		q.insert(i, k+1, to)
		return
	}
	if k+1 < len(n.leaves) && n.leaves[k+1].n < leafRows*3/4 { // the next leaf takes an eighth
		next, move := n.leaves[k+1], leafRows/8
		l.n -= move
		copy(next.rows[move:], next.list())
		next.n += copy(next.rows[:move], l.rows[l.n:l.n+move])
		n.firsts[k+1] = q.stamp(next.rows[0])
	} else {
		l.n /= 2
		to.n = copy(to.rows[:], l.rows[l.n:])
		q.insert(i, k+1, to)
	}
	q.add(r)
}

// insert makes l leaf k of node i.
func (q *queue) insert(i, k int, l *leaf) {
	n := q.nodes[i]
	if len(n.leaves) == nodeLeaves {
		cut := nodeLeaves / 2
		if k == nodeLeaves && i == len(q.nodes)-1 {
			cut = k
		}
		to := &node{slices.Clone(n.firsts[cut:]), slices.Clone(n.leaves[cut:])}
		clear(n.leaves[cut:])
		n.firsts, n.leaves = n.firsts[:cut], n.leaves[:cut]
		q.nodes = slices.Insert(q.nodes, i+1, to)
		if k >= cut {
			n, k = to, k-cut
		}
	}
	n.firsts = slices.Insert(n.firsts, k, q.stamp(l.rows[0]))
	n.leaves = slices.Insert(n.leaves, k, l)
}

// remove removes a row that is in the queue.
func (q *queue) remove(r uint32) {
	x := q.stamp(r)
	i, k := q.seek(x)
	n, l := q.nodes[i], q.nodes[i].leaves[k]
	at := slices.Index(l.list(), r) // in the leaf alone: a binary search would read rows all over memory
	copy(l.rows[at:], l.rows[at+1:l.n])
	if l.n--; at == 0 && l.n > 0 {
		n.firsts[k] = q.stamp(l.rows[0])
	}
	if k+1 < len(n.leaves) && l.n+n.leaves[k+1].n <= leafRows/2 {
		next := n.leaves[k+1]
		l.n += copy(l.rows[l.n:], next.list())
		n.firsts[k] = q.stamp(l.rows[0])
		q.cut(i, k+1)
	} else if l.n == 0 {
		q.cut(i, k)
	}
}

// cut removes leaf k of node i.
func (q *queue) cut(i, k int) {
	n := q.nodes[i]
	n.firsts, n.leaves = slices.Delete(n.firsts, k, k+1), slices.Delete(n.leaves, k, k+1)
	switch {
	case len(n.leaves) == 0:
		q.nodes = slices.Delete(q.nodes, i, i+1)
	case i+1 < len(q.nodes) && len(n.leaves)+len(q.nodes[i+1].leaves) <= nodeLeaves/2:
		n.firsts = append(n.firsts, q.nodes[i+1].firsts...)
		n.leaves = append(n.leaves, q.nodes[i+1].leaves...)
		q.nodes = slices.Delete(q.nodes, i+1, i+2)
	}
}

func (l *leaf) list() []uint32 { return l.rows[:l.n] }

// before calls f with the rows whose times are before t, the oldest first.
func (q *queue) before(t int64, f func(r uint32)) {
	for _, n := range q.nodes {
		for _, l := range n.leaves {
			for _, r := range l.list() {
				if q.rows.row(r).time >= t {
					return
				}
				f(r)
			}
		}
	}
}

func (q *queue) bytes() uint64 {
	b := 8 * uint64(cap(q.nodes))
	for _, n := range q.nodes {
		b += 64 + 16*uint64(cap(n.firsts)) + 8*uint64(cap(n.leaves)) + (8+4*leafRows)*uint64(len(n.leaves))
	}
	return b
}
