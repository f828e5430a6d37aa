package graph

import (
	"cmp"
	"slices"
	"strconv"
)

// idLookup finds internal ids from the user's ids: an index that is built the
// first time it is needed.
type idLookup struct {
	dense []uint32 // internal id + 1 by numeric id; nil when ids are sparse
	perm  []uint32 // internal ids in the order of the user's ids, otherwise
}

// Len returns the number of ids.
func (d *IDs) Len() int {
	if d.StrOff != nil {
		return len(d.StrOff) - 1
	}
	return len(d.Num)
}

func (d *IDs) index() *idLookup {
	return d.lookup.get(func() *idLookup {
		l := &idLookup{}
		n := d.Len()
		if d.StrOff == nil {
			var most int64
			for _, x := range d.Num {
				most = max(most, x)
			}
			if most < int64(2*n+1024) {
				l.dense = make([]uint32, most+1)
				for v, x := range d.Num {
					if x >= 0 {
						l.dense[x] = uint32(v) + 1
					}
				}
				return l
			}
		}
		l.perm = make([]uint32, n)
		for i := range l.perm {
			l.perm[i] = uint32(i)
		}
		if d.StrOff == nil {
			slices.SortFunc(l.perm, func(a, b uint32) int { return cmp.Compare(d.Num[a], d.Num[b]) })
		} else {
			slices.SortFunc(l.perm, func(a, b uint32) int { return slices.Compare(d.bytes(a), d.bytes(b)) })
		}
		return l
	})
}

func (d *IDs) bytes(v uint32) []byte { return d.StrBytes[d.StrOff[v]:d.StrOff[v+1]] }

// LookupInt returns the internal id of the vertex whose id is the number x. On
// a graph with string ids it looks for x written in decimal.
func (d *IDs) LookupInt(x int64) (uint32, bool) {
	if d.StrOff != nil {
		return d.Lookup(strconv.FormatInt(x, 10))
	}
	l := d.index()
	if l.dense != nil {
		if x < 0 || x >= int64(len(l.dense)) || l.dense[x] == 0 {
			return 0, false
		}
		return l.dense[x] - 1, true
	}
	i, ok := slices.BinarySearchFunc(l.perm, x, func(v uint32, x int64) int { return cmp.Compare(d.Num[v], x) })
	if !ok {
		return 0, false
	}
	return l.perm[i], true
}

// Lookup returns the internal id of the vertex whose id is the text s.
func (d *IDs) Lookup(s string) (uint32, bool) {
	if d.StrOff == nil {
		x, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, false
		}
		return d.LookupInt(x)
	}
	l := d.index()
	i, ok := slices.BinarySearchFunc(l.perm, s, func(v uint32, s string) int { return cmp.Compare(string(d.bytes(v)), s) })
	if !ok {
		return 0, false
	}
	return l.perm[i], true
}

// Lookup returns the internal id of the vertex whose user id is the text s.
func (g *Graph) Lookup(s string) (uint32, bool) { return g.IDs.Lookup(s) }

// LookupInt returns the internal id of the vertex whose user id is the number
// x.
func (g *Graph) LookupInt(x int64) (uint32, bool) { return g.IDs.LookupInt(x) }
