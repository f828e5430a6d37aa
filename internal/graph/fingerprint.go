package graph

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"
)

// FileName returns the name of the graph's file, or "" for a graph that was not opened from one.
func (g *Graph) FileName() string {
	if g.file == nil {
		return ""
	}
	return g.file.path
}

// Fingerprint returns a number that other content of the file would change: a hash of the
// checksums of all sections. ok is false for a graph that was not opened from a file.
// Files that are derived from a graph file carry it.
func (g *Graph) Fingerprint() (sum uint64, ok bool) {
	if g.file == nil {
		return 0, false
	}
	h := fnv.New64a()
	var b []byte
	for _, k := range slices.Sorted(maps.Keys(g.file.secs)) {
		s := g.file.secs[k]
		b = binary.LittleEndian.AppendUint32(b[:0], k)
		b = binary.LittleEndian.AppendUint32(b, s.crc)
		b = binary.LittleEndian.AppendUint64(b, s.length)
		_, _ = h.Write(b) // never fails
	}
	return h.Sum64(), true
}
