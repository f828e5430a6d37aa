package dynamic

const (
	maxShards = 32
	// vertices of a graph for each shard that it has from its beginning. Why: a shard takes some kilobytes.
	shardShare = 1 << 11
)

// shard is the lists of some vertices, which share nothing with those of others. So several workers may change lists at the same time, each
// those of other shards. The vertices of a page are in one shard, and those of the next page in the next.
type shard struct {
	lists   arena
	sides   [2]*side // out and in, which are the same on an undirected graph
	marks   []marks
	touched bool // it is in Graph.touched

	// Room for intermediate values of updates.
	odd []mark
	ws  []uint32
	by  []labelFlips
	ls  []Label
	sum uint32 // of what was read ahead, so that the compiler keeps it

	did    did    // of changes that were put off
	halves []half // room for sorting these
	all    []uint32
}

func (sh *shard) init(directed bool, shift int) {
	sh.lists.init(sh.relocate)
	out := &side{a: &sh.lists, shift: shift}
	sh.sides = [2]*side{out, out}
	if directed {
		sh.sides[In] = &side{a: &sh.lists, shift: shift}
	}
}

// split gives a graph without lists the shards for some number of vertices.
func (g *Graph) split(vertices int) {
	bits := 0
	for 1<<bits < maxShards && shardShare<<bits < vertices {
		bits++
	}
	g.shards = make([]shard, 1<<bits)
	for i := range g.shards {
		g.shards[i].init(g.directed, pageBits+bits)
	}
}

// shard returns the shard of a vertex.
func (g *Graph) shard(v uint32) *shard { return &g.shards[v>>pageBits&uint32(len(g.shards)-1)] }

// side returns the lists of v's shard in a direction, which is not Either on a directed graph.
func (g *Graph) side(d Direction, v uint32) *side { return g.shard(v).sides[d&1] }

// numSides is the number of directions: one on an undirected graph, else two, Out and In.
func (g *Graph) numSides() int {
	if g.directed {
		return 2
	}
	return 1
}

// eachSide calls do with the sides of all shards.
func (g *Graph) eachSide(do func(d Direction, s *side)) {
	for i := range g.shards {
		for d := range g.numSides() {
			do(Direction(d), g.shards[i].sides[d])
		}
	}
}

// touch notes that an update changes lists of v, so that Settle and compact look at its shard.
func (g *Graph) touch(v uint32) {
	if sh := g.shard(v); !sh.touched {
		sh.touched = true
		g.touched = append(g.touched, sh)
	}
}

// relocate moves the list of v that has the block at an offset.
func (sh *shard) relocate(v uint32, off uint64) uint32 {
	for i, s := range sh.sides {
		if i == 1 && s == sh.sides[0] {
			break
		}
		if size, ok := s.relocate(v, off); ok {
			return size
		}
	}
	panic("dynamic: a block without an owner")
}

// bytes is the memory of the shard.
func (sh *shard) bytes() uint64 {
	b := sh.lists.bytes() + sh.sides[0].bytes()
	if sh.sides[1] != sh.sides[0] {
		b += sh.sides[1].bytes()
	}
	for _, m := range sh.marks[:cap(sh.marks)] {
		b += 40 + 12*uint64(cap(m.list))
	}
	return b + 12*uint64(cap(sh.odd)) + 4*uint64(cap(sh.ws)+cap(sh.ls)+cap(sh.all)) + 32*uint64(cap(sh.by)) + 8*uint64(cap(sh.halves))
}
