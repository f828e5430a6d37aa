package session

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
)

// Keep returns the array of that name for the adjacency whose offsets off are,
// with a note that goes with it. Where the device does not have it, make fills it,
// from the graph alone, and says the note; it stays on the device like the
// adjacency itself. Called in Start.
func (x *Exec) Keep(name string, off []uint64, bytes int64, make func(b cuda.Buffer) (note any, err error)) (cuda.Buffer, any, error) {
	d := x.dev
	key := arrayKey{owner: x.job.Owner, at: unsafe.Pointer(unsafe.SliceData(off)), bytes: bytes, what: made, name: name}
	if b, ok := d.arrays.get(key); ok {
		return b, d.arrays.all[key].note, nil
	}
	b, err := d.alloc(x.c, x.job.Name, name, bytes)
	if err != nil {
		return cuda.Buffer{}, nil, err
	}
	temporary := slices.ContainsFunc(x.job.Program.Globals, func(g *kir.GlobalDef) bool {
		return g.Temporary && unsafe.Pointer(unsafe.SliceData(g.Off)) == key.at
	})
	d.arrays.put(key, b, temporary)
	note, err := make(b)
	if err != nil {
		return cuda.Buffer{}, nil, errors.Join(err, d.arrays.forget(x.c, &d.room, key))
	}
	d.arrays.all[key].note = note
	return b, note, nil
}
