package session

import (
	"bytes"
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// upload makes all arrays of the program resident, and builds struct Graph.
func (r *running) upload(x *Exec) error {
	start := time.Now()
	d, j := x.dev, r.job
	wants := arraysOf(j)
	if err := d.fits(j, wants); err != nil {
		return err
	}
	at := map[arrayKey]cuda.Buffer{}
	for _, w := range wants {
		b, ok := d.arrays.get(w.key)
		if !ok {
			err := d.arrays.outdate(x.c, &d.room, w.key.of)
			if err != nil {
				return err
			}
			if b, err = d.alloc(x.c, j.Name, w.what, w.bytes); err != nil {
				return err
			}
			d.arrays.put(w.key, j.Owner, b)
			if w.from == nil {
				err = d.copyIn(r.ctx, x.c, b, w.data)
			} else {
				err = x.first(b, Lists{at[w.from[0]], at[w.from[1]]})
			}
			if err != nil {
				return errors.Join(err, d.arrays.forget(x.c, &d.room, w.key))
			}
			x.result.Uploaded += int64(len(w.data))
		}
		at[w.key] = b
		x.result.Resident += b.Size
	}
	x.graph = emit.Layout(j.Program, j.Vertices, func(g *kir.GlobalDef, part emit.Part) uint64 {
		return at[keyOf(g, part)].Ptr
	})
	x.result.Upload = time.Since(start)
	return nil
}

// copyIn fills b from the host's memory.
func (d *device) copyIn(ctx context.Context, c *cuda.Context, b cuda.Buffer, data []byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if len(data) < stageLeast {
		// The driver reads a copy: a fault in it, where data is a mapped file that became
		// shorter, would end the process.
		return cuda.Upload(c, b, 0, bytes.Clone(data))
	}
	if d.stage == nil {
		s, err := newStage(c)
		if err != nil {
			return err
		}
		d.stage = s
	}
	return d.stage.upload(ctx, c, b, data)
}

// want is an array that a job needs on the device.
type want struct {
	key   arrayKey
	what  string
	bytes int64
	data  []byte     // what to copy
	from  []arrayKey // not nil: made on the device from these, which come before
}

// arraysOf lists what a job needs, each once.
func arraysOf(j *Job) (wants []want) {
	seen := map[arrayKey]bool{}
	for _, g := range j.Program.Globals {
		for _, part := range partsOf(g) {
			k := keyOf(g, part)
			data := bytesOf(g, part)
			if seen[k] || k == (arrayKey{}) {
				continue
			}
			seen[k] = true
			w := want{key: k, what: g.Name + partNames[part], bytes: k.bytes, data: data}
			if k.what == firstOf {
				w.bytes, w.data = int64(len(g.Off)-1)*8, nil
				w.from = []arrayKey{keyOf(g, emit.Off), keyOf(g, emit.Neighbours)}
			}
			wants = append(wants, w)
		}
	}
	return wants
}

// partNames say what a part is, behind its global's name, in messages.
var partNames = map[emit.Part]string{
	emit.Off:        " (offsets)",
	emit.Neighbours: " (neighbours)",
	emit.First:      " (where larger ids begin)",
	emit.Valid:      " (which rows have a value)",
}

// partsOf is the parts that globals of g's kind have.
func partsOf(g *kir.GlobalDef) []emit.Part {
	switch g.Kind {
	case kir.Adj:
		return []emit.Part{emit.Off, emit.Neighbours, emit.First}
	case kir.Bits:
		return []emit.Part{emit.Words}
	case kir.Col:
		return []emit.Part{emit.Words, emit.Valid}
	case kir.Array:
		return []emit.Part{emit.IDs}
	}
	return nil
}

// keyOf is the identity of a part of a global; the zero key says that the
// program does without.
func keyOf(g *kir.GlobalDef, part emit.Part) arrayKey {
	what := copied
	if part == emit.First && g.First == nil {
		if !g.Oriented {
			return arrayKey{}
		}
		part, what = emit.Neighbours, firstOf
	}
	b := bytesOf(g, part)
	if len(b) == 0 {
		return arrayKey{}
	}
	key := arrayOf(g)
	key.part, key.bytes, key.what = part, int64(len(b)), what
	return key
}

func bytesOf(g *kir.GlobalDef, part emit.Part) []byte {
	switch part {
	case emit.Off:
		return raw(g.Off)
	case emit.Neighbours, emit.IDs:
		return raw(g.Adj)
	case emit.First:
		return raw(g.First)
	case emit.Words:
		return raw(g.Words)
	}
	return raw(g.Valid)
}

// raw is the memory of a slice.
func raw[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), uintptr(len(s))*unsafe.Sizeof(s[0]))
}

// fits says before anything is copied whether the device can hold the run: the
// arrays that are not there yet, and what the run takes beside them.
func (d *device) fits(j *Job, wants []want) error {
	var needs []need
	sum := int64(0)
	add := func(what string, bytes int64) {
		needs = append(needs, need{what, bytes})
		sum += bytes
	}
	for _, w := range wants {
		if _, ok := d.arrays.get(w.key); !ok {
			add(w.what, w.bytes)
		}
	}
	add("counters", int64(unsafe.Sizeof(counters{})))
	if j.PerRoot {
		add("counts per root", 16*int64(j.Vertices))
	}
	if left := d.room.left() + d.arrays.idle(); sum > left {
		return d.room.tooLittle(d.dev.Info(), j.Name, needs, left)
	}
	return nil
}
