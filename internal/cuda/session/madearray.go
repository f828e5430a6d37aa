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

// Kept is Scratch that stays on the device, for later runs that ask for the same name. Memory of that name is given
// back when memory is short, or with the graph. Its contents are unknown, unless note, which stays with it, says
// what an earlier run left there. Why: a device takes longer to give and take memory than to answer a small query.
func (x *Exec) Kept(name string, bytes int64) (b cuda.Buffer, note *any, err error) {
	d, key := x.dev, arrayKey{what: made, name: name}
	a := d.arrays.all[key]
	if a != nil && (a.buf.Size < bytes || a.buf.Size/4 > max(bytes, keptAnyway)) {
		if err := d.drop(x.c, a); err != nil {
			return b, nil, err
		}
		a = nil
	}
	if a == nil {
		b, err := x.dev.alloc(x.c, x.job.Name, name, bytes)
		if err != nil {
			return b, nil, err
		}
		a = &array{key: key, buf: b}
		d.arrays.put(a)
	}
	a.owner, a.last = x.job.Owner, d.arrays.run
	x.result.Scratch += a.buf.Size
	return a.buf, &a.note, nil
}

// keptAnyway is the size, in bytes, up to which kept memory may be larger than what it is used for.
const keptAnyway = 32 << 20
