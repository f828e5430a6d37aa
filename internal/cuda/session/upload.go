package session

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// upload makes all arrays of the program readable on the device, and builds struct Graph.
func (r *running) upload(x *Exec) error {
	start := time.Now()
	d, j := x.dev, r.job
	wants := arranged(j, d.room.limit)
	r.parts[x.index].wants = wants
	at := make(map[arrayKey]cuda.Buffer, len(wants))
	for i := range wants {
		w := &wants[i]
		if w.host {
			b, err := r.read(x, w)
			if err != nil {
				return err
			}
			at[w.key] = b
			x.result.Host += b.Size
			continue
		}
		b, ok := d.arrays.get(w.key)
		if !ok {
			a, err := r.place(x, w)
			if err != nil {
				return err
			}
			d.arrays.put(a)
			if w.from == nil {
				err = d.fill(r.ctx, x.c, a, counted{w.source(j), &r.copied})
				x.result.Uploaded += w.bytes
			} else {
				err = x.first(a.buf, Lists{at[wants[w.from[0]].key], at[wants[w.from[1]].key]})
			}
			if err != nil {
				return errors.Join(err, d.drop(x.c, a)) // it could not be filled
			}
			b = a.buf
		}
		at[w.key] = b
		x.result.Resident += b.Size
	}
	x.arrays = at
	if err := x.tablesOf(wants); err != nil {
		return err
	}
	x.graph = emit.Layout(j.Program, j.Vertices, j.cached, func(g *kir.GlobalDef, part emit.Part) uint64 {
		if address, ok := x.part(g, part, at); ok {
			return address
		}
		return at[j.keyOf(g, part)].Ptr
	})
	x.result.Upload = time.Since(start)
	return nil
}

// read makes an array readable in host memory. What the device has of it, and of earlier versions, goes.
func (r *running) read(x *Exec, w *want) (cuda.Buffer, error) {
	err := x.dev.freeIf(x.c, func(a *array) bool { return a.key == w.key || sameLists(a.key, w.key) })
	if err := errors.Join(err, x.dev.outdate(x.c, w.key.of)); err != nil {
		return cuda.Buffer{}, err
	}
	a := r.host[w.key]
	copied, err := a.fill(r.ctx, counted{w.source(r.job), &r.copied})
	x.result.Uploaded += copied
	return cuda.Buffer{Ptr: a.at[x.index], Size: w.bytes}, err
}

// place takes device memory for an array. What the device has of earlier versions goes.
func (r *running) place(x *Exec, w *want) (*array, error) {
	d, j := x.dev, r.job
	if err := d.outdate(x.c, w.key.of); err != nil {
		return nil, err
	}
	b, err := d.alloc(x.c, j.Name, w.what, w.bytes)
	return &array{key: w.key, owner: j.Owner, buf: b}, err
}

// fill copies a source to an array. It ends between two segments with the context.
func (d *device) fill(ctx context.Context, c *cuda.Context, a *array, from Source) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if from.Size() < stageLeast {
		// The driver reads a copy: a fault in it, where the source is a mapped file that became
		// shorter, would end the process.
		b := make([]byte, from.Size())
		if err := read(from, b, 0); err != nil {
			return err
		}
		return cuda.Upload(c, a.buf, 0, b)
	}
	if d.stage == nil {
		s, err := newStage(c)
		if err != nil {
			return err
		}
		d.stage = s
	}
	return d.stage.upload(ctx, c, a.buf, from)
}

// want is an array that a job's kernels read.
type want struct {
	g     *kir.GlobalDef
	part  emit.Part
	key   arrayKey
	what  string
	bytes int64
	from  []int // not nil: made on the device from these wants, which come before
	host  bool  // it is to be in host memory
}

// source is where the array's content comes from.
func (w *want) source(j *Job) Source {
	switch w.key.what {
	case firstOf:
		return largerFrom{w.g.Off, w.g.Adj}
	case laidOut:
		return laid{w.g}
	}
	return j.array(w.g, w.part)
}

// arraysOf lists the arrays of a job, each once.
func arraysOf(j *Job) (wants []want) {
	seen := map[arrayKey]int{}
	for _, g := range j.Program.Globals {
		for _, part := range partsOf(g) {
			k := j.keyOf(g, part)
			if _, ok := seen[k]; ok || k == (arrayKey{}) {
				continue
			}
			w := want{g: g, part: part, key: k, what: g.Name + partNames[part], bytes: k.bytes}
			if k.what == firstOf {
				w.bytes = j.sizeOf(g, emit.Off) - 8
				w.from = []int{seen[j.keyOf(g, emit.Off)], seen[j.keyOf(g, emit.Neighbours)]}
			}
			seen[k] = len(wants)
			wants = append(wants, w)
		}
	}
	return wants
}

// partNames name a part in messages, after its global's name.
var partNames = map[emit.Part]string{
	emit.Off:        " (offsets)",
	emit.Neighbours: " (neighbours)",
	emit.First:      " (where larger ids begin)",
	emit.Bitmaps:    " (which vertices have lists)",
	emit.Rows:       " (offsets)",
	emit.Valid:      " (which rows have a value)",
}

// partsOf is the parts that globals of g's kind have.
func partsOf(g *kir.GlobalDef) []emit.Part {
	switch g.Kind {
	case kir.Adj:
		if g.Sparse != nil {
			return []emit.Part{emit.Bitmaps, emit.Neighbours, emit.Rows}
		}
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
func (j *Job) keyOf(g *kir.GlobalDef, part emit.Part) arrayKey {
	what := copied
	if part == emit.First && j.sizeOf(g, part) == 0 {
		if !g.Oriented {
			return arrayKey{}
		}
		part, what = emit.Neighbours, firstOf
	}
	size := j.sizeOf(g, part)
	if size == 0 {
		return arrayKey{}
	}
	key := arrayOf(g)
	key.part, key.bytes, key.what = part, size, what
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
	case emit.Bitmaps:
		return raw(g.Sparse.Words)
	case emit.Rows:
		return raw(g.Sparse.Off)
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

// fits returns an error if the device cannot hold the run: the arrays that are not there yet,
// and the run's own memory. It is called before anything is copied.
func (d *device) fits(j *Job, wants []want) error {
	needs := []need{{"counters", int64(unsafe.Sizeof(counters{}))}}
	if j.PerRoot {
		needs = append(needs, need{"counts per root", 16 * int64(j.Vertices)})
	}
	var arrays []need
	sum := j.Beside()
	for i := range wants {
		w := &wants[i]
		if w.host {
			continue
		}
		if _, ok := d.arrays.get(w.key); !ok {
			arrays = append(arrays, need{w.what, w.bytes})
			sum += w.bytes
		}
	}
	if left := d.room.left() + d.arrays.idle(); sum > left {
		return d.room.tooLittle(d.dev.Info(), j.Name, append(arrays, needs...), left)
	}
	return nil
}
