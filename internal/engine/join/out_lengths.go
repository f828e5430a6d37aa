package join

// rowLengths are the numbers of elements of the lists that make the candidates of a block's rows, by the row. Why: each takes two reads of
// offsets, which are anywhere in memory, and several passes over the rows need them.
type rowLengths struct {
	one   []uint32 // of the lists of one edge
	least []uint32 // of the shortest lists; nil: the probe has no ways
	way   []uint8  // that has the shortest list
}

// lengthsOf reads the lengths for the rows of a block.
func (t *outside) lengthsOf(p *probe, b *rowBlock) (*rowLengths, error) {
	l := &rowLengths{one: make([]uint32, b.rows)}
	if p.ways != nil {
		l.least, l.way = make([]uint32, b.rows), make([]uint8, b.rows)
	}
	return l, parallel(t.ctx(), b.rows, func(_, lo, hi int) error {
		for r := lo; r < hi; r++ {
			l.one[r] = uint32(p.length(b, r))
			if l.way != nil {
				way, least := p.shortest(b, r)
				l.way[r], l.least[r] = uint8(way), uint32(least)
			}
		}
		return nil
	})
}

// byWays returns the rows by the way that makes the fewest candidates, those of way k from starts[k] on; nil: these are not so much fewer
// than those of one edge as join.shorter says. Why: the segments of a relation are then read once for each edge.
func (t *outside) byWays(p *probe, l *rowLengths) (rows []uint32, starts []int, err error) {
	if l.way == nil {
		return nil, nil, nil
	}
	one, least := uint64(0), uint64(0)
	for r, n := range l.one {
		one, least = one+uint64(n), least+uint64(l.least[r])
	}
	if one < t.shorter*least || one == least {
		return nil, nil, nil
	}
	return order(t.ctx(), len(l.way), len(p.ways), func(r int) (int, int) { return int(l.way[r]), int(l.way[r]) + 1 })
}

// fewer returns how many of the first rows of a set have at most `most` elements in their lists, but at least one row, and how many elements
// these have.
func (s rowSet) fewer(lengths []uint32, most uint64) (n int, sum uint64) {
	for n < s.n {
		more := uint64(lengths[s.at(n)])
		if n > 0 && sum+more > most {
			break
		}
		sum += more
		n++
	}
	return n, sum
}

// part returns rows from the k-th on, n of them.
func (s rowSet) part(k, n int) rowSet {
	if s.numbered != nil {
		return rowSet{n: n, numbered: s.numbered[k : k+n]}
	}
	return rowSet{lo: s.lo + k, n: n}
}
