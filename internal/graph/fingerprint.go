package graph

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"hash"
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
	for _, k := range slices.Sorted(maps.Keys(g.file.secs)) {
		addSection(h, g.file.secs[k])
	}
	return h.Sum64(), true
}

func addSection(h hash.Hash, s section) {
	b := binary.LittleEndian.AppendUint32(nil, s.kind)
	b = binary.LittleEndian.AppendUint32(b, s.crc)
	b = binary.LittleEndian.AppendUint64(b, s.length)
	_, _ = h.Write(b) // never fails
}

// Checksum returns a number that other vertices, edges, labels, times or properties would change, and nothing else: neither the file that
// the graph was read from nor remarks about it. threads 0 means as many as there are processors. The error is that of ctx, or of
// properties that cannot be encoded.
func (g *Graph) Checksum(ctx context.Context, threads int) (uint64, error) {
	var kinds []uint32
	var data [][]byte
	add := func(kind uint32, b []byte) { kinds, data = append(kinds, kind), append(data, b) }
	g.lists(add)
	if err := g.attributes(add); err != nil {
		return 0, err
	}
	sums, err := checksums(ctx, threadCount(threads), data)
	if err != nil {
		return 0, err
	}
	h := fnv.New64a()
	for i, k := range kinds {
		addSection(h, section{kind: k, crc: sums[i], length: uint64(len(data[i]))})
	}
	err = json.NewEncoder(h).Encode(&struct {
		Directed bool
		fileMeta
	}{g.Directed, fileMeta{
		VertexLabels: toBytes(g.VertexLabels), EdgeLabels: toBytes(g.EdgeLabels), Classes: g.fileClasses(),
		Read: ReadStats{TimeUnit: g.Read.TimeUnit, TimeDigits: g.Read.TimeDigits, TimeEpoch: g.Read.TimeEpoch, TimeName: g.Read.TimeName},
	}})
	return h.Sum64(), err
}
