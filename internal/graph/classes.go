package graph

import (
	"encoding/binary"
	"slices"
)

// classes sets the graph's vertex labels and classes, and returns the class of each compact id,
// or nil if there is only one class. Ids are not placed yet; the range of a class follows from
// its size.
func (b *builderState) classes(g *Graph, n int) []uint32 {
	names, place := labelOrder(&b.vlabels)
	g.VertexLabels = names
	g.Classes = []Class{{First: 0, End: uint32(n)}}
	if len(names) == 0 {
		return nil
	}
	// A vertex's label set is the union over its rows.
	set := make([]uint32, n) // number of the set; 0 is the empty one
	sets := [][]uint32{nil}
	num := map[string]uint32{"": 0}
	var key []byte
	for _, r := range b.verts {
		if r.labels == nil {
			continue
		}
		for i, l := range r.labels {
			if len(l) == 0 {
				continue
			}
			v := r.id[i]
			s := slices.Clone(sets[set[v]])
			for _, x := range l {
				s = append(s, place[x])
			}
			slices.Sort(s)
			s = slices.Compact(s)
			key = key[:0]
			for _, x := range s {
				key = binary.LittleEndian.AppendUint32(key, x)
			}
			k, ok := num[string(key)]
			if !ok {
				k = uint32(len(sets))
				num[string(key)] = k
				sets = append(sets, s)
			}
			set[v] = k
		}
	}
	size := make([]uint64, len(sets))
	for _, s := range set {
		size[s]++
	}
	var used []uint32
	for s := range sets {
		if size[s] > 0 {
			used = append(used, uint32(s))
		}
	}
	slices.SortFunc(used, func(x, y uint32) int { return slices.Compare(sets[x], sets[y]) })
	class := make([]uint32, len(sets))
	g.Classes = nil
	at := uint32(0)
	for i, s := range used {
		class[s] = uint32(i)
		g.Classes = append(g.Classes, Class{Labels: sets[s], First: at, End: at + uint32(size[s])})
		at += uint32(size[s])
	}
	for v := range set {
		set[v] = class[set[v]]
	}
	return set
}

// labelIndex finds vertex labels by name and the classes of each, once a query
// asks.
type labelIndex struct {
	byName  map[string]uint32
	classes [][]int
}

func (g *Graph) labelIndex() *labelIndex {
	return g.labels.get(func() *labelIndex {
		x := &labelIndex{}
		x.byName = make(map[string]uint32, len(g.VertexLabels))
		for i, name := range g.VertexLabels {
			x.byName[name] = uint32(i)
		}
		x.classes = make([][]int, len(g.VertexLabels))
		for i := range g.Classes {
			for _, l := range g.Classes[i].Labels {
				x.classes[l] = append(x.classes[l], i)
			}
		}
		return x
	})
}

// ClassesWith returns the indexes of the classes that carry the label (an index
// into VertexLabels), ascending. The caller must not change them. Safe for
// concurrent use.
func (g *Graph) ClassesWith(label uint32) []int { return g.labelIndex().classes[label] }

// VertexLabel returns the index of a vertex label by its name. Safe for
// concurrent use.
func (g *Graph) VertexLabel(name string) (uint32, bool) {
	i, ok := g.labelIndex().byName[name]
	return i, ok
}

// EdgeLabel returns the index of an edge label by its name.
func (g *Graph) EdgeLabel(name string) (uint32, bool) { return findLabel(g.EdgeLabels, name) }

// findLabel looks in names, which are in the order of compareLabels.
func findLabel(names []string, name string) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(names, name, compareLabels)
	return uint32(i), ok
}
