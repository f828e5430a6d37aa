package dynamic

import "slices"

// Change is the change of one edge by an update of a batch. The edge has neither a time nor properties, and the update makes no vertex.
type Change struct {
	U, V   uint32
	Label  Label
	Remove bool
	Result Result // what the update did; of Make, if it was Applied before
	all    bool   // the lists of all labels change too
	At     uint64 // the version that the update makes
}

// Each runs do(0) … do(n-1), some of them at the same time if it likes, and returns when all have returned.
type Each func(n int, do func(i int))

// serially is the Each of one worker.
func serially(n int, do func(i int)) {
	for i := range n {
		do(i)
	}
}

// Plain finds the changes of the updates whose ends x has: it sets their ends and results. What else they are, and their versions, are the
// caller's to say. A Result that is not Applied is the final one. It returns how many it found: the next update is one that Make cannot make,
// because it makes vertices or rows. Plain is safe for concurrent use while nothing changes the graph.
func (g *Graph) Plain(x *Ends, cs []Change) int {
	if g.rowed || g.crowded {
		return 0
	}
	x.Find(g)
	cs = cs[:x.n]
	for i := range cs {
		c := &cs[i]
		if c.Remove && g.rows.n > 0 || int64(c.Label) > int64(len(g.edgeLabels)) {
			return i
		}
		c.U, c.V, c.Result = x.of[0][i], x.of[1][i], Applied
		switch {
		case x.loop(g, i):
			c.Result = SelfLoop
		case c.U != noVertex && c.V != noVertex:
		case c.Remove:
			c.Result = Absent
		default:
			return i
		}
	}
	return len(cs)
}

// Make makes the changes of a batch whose results are Applied, and says which ones did something. Their versions ascend. In a window they
// leave marks in lists and make events; the caller makes the versions by Pass. Outside windows the lists change at once, and there
// are neither versions nor events. In a window without marks the lists change at once and there are events. The lists, results and events are the same for any each; nil means one after the other.
//
// Why: an edge is in the lists of both of its ends. One end decides whether the graph has the edge, and the other end follows. So workers
// that change different shards wait for each other only once, between these two steps.
func (g *Graph) Make(cs []Change, each Each) {
	if each == nil {
		each = serially
	}
	g.upToDate()
	m := &g.maker
	m.cs = cs
	each(2, func(i int) { m.ends[i].sort(g, cs, end(i)) })
	for i := range m.ends {
		m.ends[i].touch(g)
	}
	for i := range end(2) {
		each(len(g.shards), func(k int) { m.change(g, k, i) })
	}
	for i := range cs {
		c := &cs[i]
		k := EdgeAdded
		switch {
		case c.Result != Applied:
			continue
		case c.Remove:
			k = EdgeRemoved
			g.edges--
		default:
			g.edges++
		}
		if g.open || g.recording {
			g.events = append(g.events, Event{Version: c.At, Kind: k, U: c.U, V: c.V, Label: c.Label, Edge: NoEdge})
		}
	}
	m.cs = nil
	if !g.open {
		g.compact()
	}
}

// MakeOne makes a change whose result is Applied, and its version, as AddEdge and RemoveEdge do, also under the eyes of a Follower. It returns what
// the change did.
func (g *Graph) MakeOne(c *Change) (Result, error) {
	g.Remember()
	if g.version = c.At - 1; !g.open {
		g.base = g.version
	}
	if err := g.begin(c.Label, 0, 0); err != nil {
		return 0, err
	}
	e := edge{c.U, c.V, c.Label, NoEdge, 0}
	sight := g.single(c.U, c.V, c.Label)
	switch {
	case sight != Both && c.Remove:
		return g.changeAlone(EdgeRemoved, e, sight), nil
	case sight != Both:
		return g.changeAlone(EdgeAdded, e, sight), nil
	case c.Remove && !g.has(c.U, c.V, c.Label):
		return Absent, nil
	case c.Remove:
		g.removeEdge(e, false)
	case g.has(c.U, c.V, c.Label):
		return Duplicate, nil
	default:
		g.addEdge(e, true, false)
	}
	g.finish()
	return Applied, nil
}

// Pass makes a version the present one, which is not before it. The versions between change nothing by themselves.
func (g *Graph) Pass(version uint64) {
	if g.version = version; !g.open && !g.recording {
		g.base = version
	}
}

// end is an end of an edge in a batch.
type end int

const (
	decider  end = iota // it decides whether the graph has the edge: the source, or the lesser end of an undirected edge
	follower            // the other end
)

// ends returns the end of c that is asked for, and the other one.
func (g *Graph) ends(c *Change, e end) (v, w uint32) {
	v, w = c.U, c.V
	if !g.directed && v > w {
		v, w = w, v
	}
	if e == follower {
		v, w = w, v
	}
	return v, w
}

// maker makes the changes of a batch.
type maker struct {
	cs   []Change
	ends [2]places
}

// places are the places of changes in a batch, by the shard of one end, ascending.
type places struct {
	list []uint32
	ends []int // of the places of each shard
}

func (p *places) sort(g *Graph, cs []Change, e end) {
	p.ends = slices.Grow(p.ends[:0], len(g.shards))[:len(g.shards)]
	clear(p.ends)
	shard := func(c *Change) uint32 {
		v, _ := g.ends(c, e)
		return v >> pageBits & uint32(len(g.shards)-1)
	}
	n := 0
	for i := range cs {
		if cs[i].Result == Applied {
			p.ends[shard(&cs[i])]++
			n++
		}
	}
	p.list = slices.Grow(p.list[:0], n)[:n]
	n = 0
	for i, k := range p.ends {
		p.ends[i] = n
		n += k
	}
	for i := range cs {
		if cs[i].Result == Applied {
			at := &p.ends[shard(&cs[i])]
			p.list[*at] = uint32(i)
			*at++
		}
	}
}

func (p *places) of(shard int) []uint32 {
	first := 0
	if shard > 0 {
		first = p.ends[shard-1]
	}
	return p.list[first:p.ends[shard]]
}

// touch notes the shards that change.
func (p *places) touch(g *Graph) {
	for k := range g.shards {
		if sh := &g.shards[k]; len(p.of(k)) > 0 && !sh.touched {
			sh.touched = true
			g.touched = append(g.touched, sh)
		}
	}
}

// change changes the lists of a shard, in the order of the updates.
func (m *maker) change(g *Graph, shard int, e end) {
	sh := &g.shards[shard]
	for l := m.ends[e].of(shard); len(l) > 0; {
		n := min(aheadRoom, len(l))
		sh.ahead(g, m.cs, l[:n], e)
		for _, i := range l[:n] {
			c := &m.cs[i]
			v, w := g.ends(c, e)
			if e == decider {
				sh.decide(g, c, v, w)
			} else if c.Result == Applied {
				sh.follow(g, c, v, w)
			}
			sh.lists.clean()
		}
		l = l[n:]
	}
}

// ahead reads what some changes are about to read, as Ahead does.
func (sh *shard) ahead(g *Graph, cs []Change, places []uint32, e end) {
	var ps probes
	for _, i := range places {
		v, w := g.ends(&cs[i], e)
		ps.add(sh.sides[e], v, w)
	}
	sh.sum += ps.read()
}

// decide makes a change in the lists of v, unless the graph has the edge already, or does not have it.
func (sh *shard) decide(g *Graph, c *Change, v, w uint32) {
	s := sh.sides[Out]
	if !g.open {
		x, one := s.spot(v, w, c.Label)
		has := x.found
		if !one {
			_, has = search(s.list(v, g.label(c.Label)), w)
		}
		if c.see(has); c.Result != Applied {
			return
		}
		if c.all = one || !sh.other(g, Out, v, w, c.Label); one {
			s.turn(x, v, w, c.Label)
		} else {
			sh.turn(Out, v, w, c.Label, c.all)
		}
		return
	}
	label := g.label(c.Label)
	_, has := search(s.list(v, label), w)
	if c.see(has != turned(g.marksOf(s, v), w, label, ^uint32(0))); c.Result != Applied {
		return
	}
	c.all = !g.labelled() || !sh.other(g, Out, v, w, c.Label)
	sh.mark(Out, v, w, c.Label, g.labelled(), c.all, uint32(c.At-g.base))
}

// see sets the result.
func (c *Change) see(has bool) {
	switch {
	case c.Remove && !has:
		c.Result = Absent
	case !c.Remove && has:
		c.Result = Duplicate
	}
}

// follow makes a change in the lists of v, the end that does not decide.
func (sh *shard) follow(g *Graph, c *Change, v, w uint32) {
	all := c.all
	if g.late.parted {
		all = !g.labelled() || !sh.other(g, In, v, w, c.Label)
	}
	if g.open {
		sh.mark(In, v, w, c.Label, g.labelled(), all, uint32(c.At-g.base))
	} else {
		sh.turn(In, v, w, c.Label, all)
	}
}

// other reports whether v has an edge to w, or in direction In from w, with another label.
func (sh *shard) other(g *Graph, d Direction, v, w uint32, label Label) bool {
	s := sh.sides[d]
	if h := s.head(v); h == nil || h.marks() < 0 && (h[headLen] == 0 || h[headLabel] == label) {
		return false
	}
	sh.ls = g.appendLabels(s, v, sh.ls[:0])
	ms := g.marksOf(s, v)
	for _, l := range sh.ls {
		if l == label {
			continue
		}
		if _, has := search(s.list(v, g.label(l)), w); has != turned(ms, w, g.label(l), ^uint32(0)) {
			return true
		}
	}
	return false
}

func (m *maker) bytes() (b uint64) {
	for i := range m.ends {
		b += 4*uint64(cap(m.ends[i].list)) + 8*uint64(cap(m.ends[i].ends))
	}
	return b
}
