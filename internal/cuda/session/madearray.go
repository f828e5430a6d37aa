package session

import (
	"errors"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
)

// Keep returns the array of that name for an adjacency of the job's program, with a
// note that goes with it. Where the device does not have it, make fills it, from the
// adjacency alone, and gives the note; it stays on the device like the adjacency
// itself. Called in Start.
func (x *Exec) Keep(name string, adj *kir.GlobalDef, bytes int64, make func(b cuda.Buffer) (note any, err error)) (cuda.Buffer, any, error) {
	d := x.dev
	key := arrayOf(adj)
	key.bytes, key.what, key.name = bytes, made, name
	if b, ok := d.arrays.get(key); ok {
		return b, d.arrays.all[key].note, nil
	}
	b, err := d.alloc(x.c, x.job.Name, name, bytes)
	if err != nil {
		return cuda.Buffer{}, nil, err
	}
	a := &array{key: key, owner: x.job.Owner, buf: b}
	d.arrays.put(a)
	note, err := make(b)
	if err != nil {
		return cuda.Buffer{}, nil, errors.Join(err, d.drop(x.c, a))
	}
	a.note = note
	return b, note, nil
}
