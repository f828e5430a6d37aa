package interp

import (
	"cmp"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// adjacency is a graph: an input, or one that the program made.
type adjacency struct {
	input string
	lists graph.Lists // of an input or a subgraph of one: where it has info, a list has an item for each data edge
	info  []types.Word
	// Of a made graph: edges in order, the begin and end of each vertex's edges, and labels.
	from, to []types.Word
	rows     map[types.Word][2]int
	labels   map[types.Word]types.Word
}

// given reports whether a graph is an input, or a subgraph of one.
func (g *adjacency) given() bool { return g.lists != graph.Lists{} }

// edge is an edge on its way into a graph.
type edge struct{ from, to, info types.Word }

func (m *machine) makeGraph(n *asg.Node, c *cell) {
	l := m.list(n.Args[0])
	rest := n.Args[1:]
	g := &adjacency{rows: map[types.Word][2]int{}}
	if n.At&asg.WithLabels != 0 {
		g.labels = m.labels(n, m.list(rest[0]))
		rest = rest[1:]
	}
	var info *list
	kind := types.Int
	if n.At&asg.WithInfo != 0 {
		info, kind = m.list(rest[0]), rest[0].Type.Elem.Kind
		if info.n != l.n {
			m.fail(n, "einfo has %d items for %d edges", info.n, l.n)
		}
	}
	edges := make([]edge, l.n)
	for i := range edges {
		edges[i] = edge{from: l.words[2*i], to: l.words[2*i+1]}
		if info != nil {
			edges[i].info = info.value(i)
		}
	}
	m.tick()
	slices.SortFunc(edges, func(a, b edge) int {
		m.tick()
		switch {
		case a.from != b.from:
			return cmp.Compare(a.from, b.from)
		case kind == types.Float && cmp.Compare(a.info.Float(), b.info.Float()) != 0:
			return cmp.Compare(a.info.Float(), b.info.Float())
		case kind != types.Float && a.info != b.info:
			return cmp.Compare(a.info, b.info)
		}
		return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.info, b.info)) // zero has two words as a float
	})
	if info == nil {
		edges = slices.Compact(edges)
	}
	for i, e := range edges {
		m.tick()
		g.from, g.to, g.info = append(g.from, e.from), append(g.to, e.to), append(g.info, e.info)
		row, ok := g.rows[e.from]
		if !ok {
			row[0] = i
		}
		row[1] = i + 1
		g.rows[e.from] = row
	}
	c.graph = g
}

func (m *machine) labels(n *asg.Node, l *list) map[types.Word]types.Word {
	out := map[types.Word]types.Word{}
	for i := range l.n {
		m.tick()
		v, label := l.words[2*i], l.words[2*i+1]
		if old, ok := out[v]; ok && old != label {
			m.fail(n, "vlabel gives vertex %d the labels %d and %d", v, old, label)
		}
		out[v] = label
	}
	return out
}

// vertex is v as a vertex of an input; ok is false where it is none.
func (g *adjacency) vertex(v types.Word) (id uint32, ok bool) {
	return uint32(v), v >= 0 && v < types.Word(g.lists.NumVertices())
}

// neighbours makes a list of v's neighbours, or of the values of the edges to them. A number
// that is not a vertex has none.
func (g *adjacency) neighbours(l *list, v types.Word, info bool) {
	*l = list{width: 1}
	if g.given() {
		if id, ok := g.vertex(v); ok {
			l.ids = g.lists.List(id)
			l.n = len(l.ids)
			if info {
				off := g.lists.Dense.Off
				l.ids, l.words = nil, g.info[off[id]:off[id+1]:off[id+1]]
			}
		}
		return
	}
	row := g.rows[v]
	l.n = row[1] - row[0]
	l.words = g.to[row[0]:row[1]:row[1]]
	if info {
		l.words = g.info[row[0]:row[1]:row[1]]
	}
}

func (m *machine) label(g *adjacency, v types.Word) types.Word {
	if !g.given() {
		if label, ok := g.labels[v]; ok {
			return label
		}
		return data.NoLabel
	}
	if id, ok := g.vertex(v); ok {
		return m.in.Label(g.input, id)
	}
	return data.NoLabel
}

// vertices makes the ascending list of a graph's vertices.
func (m *machine) vertices(g *adjacency, l *list) {
	l.clear(1)
	if g.given() {
		m.work(g.lists.NumVertices())
		for v := range g.lists.NumVertices() {
			l.append(types.Word(v))
		}
		return
	}
	m.work(len(g.from))
	all := slices.Concat(g.from, g.to)
	slices.Sort(all)
	for _, v := range slices.Compact(all) {
		l.append(v)
	}
}

// edges makes the list of a graph's edges, by their first end, then the second.
func (m *machine) edges(g *adjacency, l *list) {
	l.clear(2)
	if !g.given() {
		m.work(len(g.from))
		for i := range g.from {
			l.append(g.from[i], g.to[i])
		}
		return
	}
	for v := range uint32(g.lists.NumVertices()) {
		m.tick()
		m.work(g.lists.Degree(v))
		for _, w := range g.lists.List(v) {
			l.append(types.Word(v), types.Word(w))
		}
	}
}

// counter counts by keys.
type counter struct {
	dense   []types.Word
	touched []types.Word // keys of dense that are not as they were; one may be there twice
	all     bool         // many are not as they were, and touched has not all of them
	hashed  map[types.Word]types.Word
	keys    int64 // dense: keys are below; hashed: the most different ones
}

func (m *machine) newCounter(n *asg.Node, c *cell) {
	keys := max(int64(m.word(n.Args[0])), 0)
	if most := m.in.Most(n.Type.Max); keys > most {
		m.fail(n, "a Counter of %d keys, more than its bound %s = %d", keys, n.Type.Max, most)
	}
	if c.count == nil {
		c.count = &counter{hashed: map[types.Word]types.Word{}}
	}
	m.work(c.count.size())
	c.count.reset()
	c.count.keys = keys
	if !n.Type.Hashed && int64(len(c.count.dense)) < keys {
		m.work(int(keys))
		c.count.dense = make([]types.Word, keys)
	}
}

// size is the work of reset.
func (k *counter) size() int {
	if k.all {
		return len(k.dense)
	}
	return len(k.touched) + len(k.hashed)
}

func (k *counter) reset() {
	if k.all {
		clear(k.dense)
	}
	for _, key := range k.touched {
		k.dense[key] = 0
	}
	k.touched, k.all = k.touched[:0], false
	clear(k.hashed)
}

// count returns the count of a key, and then adds to it.
func (m *machine) count(n *asg.Node, key, add types.Word) types.Word {
	k := m.eval(n.Args[0]).count
	hashed := n.Args[0].Type.Hashed
	if !hashed && (key < 0 || int64(key) >= k.keys) {
		m.fail(n, "the key %d of a Counter of %d keys", key, k.keys)
	}
	var old types.Word
	if hashed {
		old = k.hashed[key]
	} else {
		old = k.dense[key]
	}
	if n.Op == asg.CounterGet {
		return old
	}
	sum, err := types.Compute("+", types.Int, old, add)
	if err != nil {
		m.fail(n, "%v", err)
	}
	if !hashed {
		if k.all = k.all || len(k.touched) >= len(k.dense)/8+8; !k.all {
			k.touched = append(k.touched, key)
		}
		k.dense[key] = sum
		return old
	}
	if k.hashed[key] = sum; int64(len(k.hashed)) > k.keys {
		m.fail(n, "more than %d keys in a Counter", k.keys)
	}
	return old
}

// labelled is the neighbours of a vertex that have a label.
func (m *machine) labelled(n *asg.Node, c *cell) {
	g, label := m.eval(n.Args[0]).graph, m.word(n.Args[2])
	var all list
	g.neighbours(&all, m.word(n.Args[1]), false)
	c.list.clear(1)
	for i := range all.n {
		m.tick()
		if v := all.value(i); m.label(g, v) == label {
			c.list.append(v)
		}
	}
}

// joining is the information on the edges from one vertex to another.
func (m *machine) joining(n *asg.Node, c *cell) {
	g, v := m.eval(n.Args[0]).graph, m.word(n.Args[2])
	var ends, info list
	g.neighbours(&ends, m.word(n.Args[1]), false)
	g.neighbours(&info, m.word(n.Args[1]), true)
	c.list.clear(1)
	for i := range ends.n {
		m.tick()
		if ends.value(i) == v {
			c.list.append(info.value(i))
		}
	}
}
