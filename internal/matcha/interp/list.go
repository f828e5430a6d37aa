package interp

import (
	"math"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// list is a list's items: ids of a graph as they lie there, or words.
type list struct {
	n     int
	width int
	ids   []uint32 // of n items, where it is not nil
	words []types.Word
}

// at is item i; room has the item where it does not lie in memory as words.
func (l *list) at(i int, room *[1]types.Word) []types.Word {
	if l.ids != nil {
		room[0] = types.Word(l.ids[i])
		return room[:]
	}
	return l.words[i*l.width : (i+1)*l.width]
}

// value is item i of a list of Vars.
func (l *list) value(i int) types.Word {
	if l.ids != nil {
		return types.Word(l.ids[i])
	}
	return l.words[i]
}

// clear makes the list empty, to be appended to.
func (l *list) clear(width int) {
	*l = list{width: width, words: l.words[:0]}
}

func (l *list) append(item ...types.Word) {
	l.words = append(l.words, item...)
	l.n++
}

// combine is intersect, or diff where common is false: the items of a that are
// in b, or are not, in a's order.
func (m *machine) combine(n *asg.Node, c *cell, common bool) {
	a, b := m.list(n.Args[0]), m.list(n.Args[1])
	in := m.member(n, c, b)
	c.list.clear(1)
	for i := range a.n {
		m.tick()
		if x := a.value(i); in(x) == common {
			c.list.append(x)
		}
	}
}

// slice is the part of an ascending list within bounds.
func (m *machine) slice(n *asg.Node, c *cell) {
	l := *m.list(n.Args[0])
	from, end, bounds := 0, l.n, n.Args[1:]
	// below is the number of items less than x, or equal to it.
	below := func(x types.Word, equal bool) int {
		return sort.Search(l.n, func(i int) bool { y := l.value(i); return y > x || y == x && !equal })
	}
	if n.At&asg.WithLow != 0 {
		from = below(m.word(bounds[0]), n.At&asg.LowOpen != 0)
		bounds = bounds[1:]
	}
	if n.At&asg.WithHigh != 0 {
		end = max(from, below(m.word(bounds[0]), n.At&asg.HighClosed != 0))
	}
	c.list = l.part(from, end)
}

// place is how many items of a list that does not descend are below a limit. A limit that does not fit
// 64 bits is beyond all items.
func (m *machine) place(n *asg.Node) types.Word {
	l, limit := m.list(n.Args[0]), m.word(n.Args[1])
	if len(n.Args) > 2 {
		sum, err := types.Compute("+", types.Int, limit, m.word(n.Args[2]))
		switch {
		case err != nil && limit < 0:
			return 0
		case err != nil:
			return types.Word(l.n)
		}
		limit = sum
	}
	return types.Word(sort.Search(l.n, func(i int) bool {
		y := l.value(i)
		return y > limit || y == limit && n.At&asg.Closed == 0
	}))
}

// window is the items of a list between places.
func (m *machine) window(n *asg.Node, c *cell) {
	l := *m.list(n.Args[0])
	first, end := 0, l.n
	for i, p := range n.Args[1:] {
		if at := int(m.word(p)); i < n.At {
			first = max(first, at)
		} else {
			end = min(end, at)
		}
	}
	c.list = l.part(first, max(first, end))
}

// part is the items from first up to, without, end.
func (l list) part(first, end int) list {
	if l.n = end - first; l.ids != nil {
		l.ids = l.ids[first:end:end]
	} else {
		l.words = l.words[first*l.width : end*l.width : end*l.width]
	}
	return l
}

// member returns the question whether a value is in a list.
func (m *machine) member(n *asg.Node, c *cell, b *list) func(types.Word) bool {
	float := n.Args[1].Type.Elem.Kind == types.Float
	switch {
	case n.Args[1].Type.Ascending && b.ids != nil:
		return func(x types.Word) bool {
			if x < 0 || x > math.MaxUint32 {
				return false
			}
			_, ok := slices.BinarySearch(b.ids, uint32(x))
			return ok
		}
	case n.Args[1].Type.Ascending:
		return func(x types.Word) bool { _, ok := slices.BinarySearch(b.words[:b.n], x); return ok }
	case b.n <= 8:
		kind := n.Args[1].Type.Elem.Kind
		return func(x types.Word) bool {
			for i := range b.n {
				if types.Compare("==", kind, x, b.value(i)) {
					return true
				}
			}
			return false
		}
	}
	known := map[types.Word]bool{}
	for i := range b.n {
		m.tick()
		known[same(b.value(i), float)] = true
	}
	return func(x types.Word) bool { return !(float && math.IsNaN(x.Float())) && known[same(x, float)] }
}

// same is one word for all that are equal: zero has two as a float.
func same(x types.Word, float bool) types.Word {
	if float && x.Float() == 0 {
		return 0
	}
	return x
}
