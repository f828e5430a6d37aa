package session

import (
	"cmp"
	"errors"
	"slices"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// arrayKey is the identity of an array: of which data it is, which array of it, how
// long it is, and what is made of it. No address of the host is a part of it.
type arrayKey struct {
	of    kir.Identity
	own   *kir.GlobalDef // of data without an identity: the program's global
	part  emit.Part
	bytes int64
	what  derived
	name  string // of made arrays
}

// arrayOf is the beginning of the keys of a global's arrays.
func arrayOf(g *kir.GlobalDef) arrayKey {
	if g.Of == (kir.Identity{}) {
		return arrayKey{own: g}
	}
	return arrayKey{of: g.Of}
}

// derived says what an array in device memory is: a copy, or made there from
// one or two others.
type derived uint8

const (
	copied  derived = iota
	firstOf         // where in each list of (key: neighbours) the larger ids begin
	made            // by Exec.Keep, of (key: offsets of) an adjacency
)

// array is one in device memory.
type array struct {
	key   arrayKey
	owner any // Job.Owner of the run that brought it
	buf   cuda.Buffer
	last  uint64 // the run that used it last
	note  any    // what Keep's caller knows of it
}

// temporary arrays go at the end of the run: no other run has a name for them.
func (a *array) temporary() bool { return a.key.own != nil }

// residents are the arrays that a device holds, over several runs.
type residents struct {
	all map[arrayKey]*array
	run uint64 // number of the current run
}

// get returns the array of that key and marks it as used by this run.
func (r *residents) get(key arrayKey) (cuda.Buffer, bool) {
	a := r.all[key]
	if a == nil {
		return cuda.Buffer{}, false
	}
	a.last = r.run
	return a.buf, true
}

func (r *residents) put(key arrayKey, owner any, b cuda.Buffer) {
	if r.all == nil {
		r.all = map[arrayKey]*array{}
	}
	r.all[key] = &array{key: key, owner: owner, buf: b, last: r.run}
}

// outdate drops what the device has of earlier versions of a relation, and the run
// does not use.
func (r *residents) outdate(c *cuda.Context, room *budget, of kir.Identity) error {
	return r.freeIf(c, room, func(a *array) bool {
		return of.ID != 0 && a.key.of.ID == of.ID && a.key.of.Version < of.Version && a.last != r.run
	})
}

// idle is the bytes of arrays that this run does not use.
func (r *residents) idle() (bytes int64) {
	for _, a := range r.all {
		if a.last != r.run {
			bytes += a.buf.Size
		}
	}
	return bytes
}

// evict frees arrays that this run does not use, the longest unused first, until
// want bytes are left in the budget.
func (r *residents) evict(c *cuda.Context, room *budget, want int64) error {
	if room.left() >= want {
		return nil
	}
	var idle []*array
	for _, a := range r.all {
		if a.last != r.run {
			idle = append(idle, a)
		}
	}
	slices.SortFunc(idle, func(a, b *array) int { return cmp.Compare(a.last, b.last) })
	for _, a := range idle {
		if room.left() >= want {
			break
		}
		if err := r.drop(c, room, a); err != nil {
			return err
		}
	}
	return nil
}

func (r *residents) drop(c *cuda.Context, room *budget, a *array) error {
	delete(r.all, a.key)
	room.used -= a.buf.Size
	return c.Free(a.buf)
}

// forget drops an array that could not be filled.
func (r *residents) forget(c *cuda.Context, room *budget, key arrayKey) error {
	return r.drop(c, room, r.all[key])
}

// free frees all arrays.
func (r *residents) free(c *cuda.Context, room *budget) error {
	return r.freeIf(c, room, func(*array) bool { return true })
}

// freeIf frees the arrays of which which says so.
func (r *residents) freeIf(c *cuda.Context, room *budget, which func(*array) bool) error {
	var errs []error
	for _, a := range r.all {
		if which(a) {
			errs = append(errs, r.drop(c, room, a))
		}
	}
	return errors.Join(errs...)
}

// alloc takes device memory within the budget; arrays that the run does not use
// make room.
func (d *device) alloc(c *cuda.Context, job, what string, bytes int64) (cuda.Buffer, error) {
	if bytes > d.room.left()+d.arrays.idle() {
		return cuda.Buffer{}, d.room.tooLittle(d.dev.Info(), job, []need{{what, bytes}}, d.room.left()+d.arrays.idle())
	}
	if err := d.arrays.evict(c, &d.room, bytes); err != nil {
		return cuda.Buffer{}, err
	}
	b, err := c.Alloc(bytes)
	if errors.Is(err, cuda.ErrMemory) && !errors.Is(err, cuda.ErrLost) && d.arrays.idle() > 0 {
		// Somebody else uses the device, or its memory is in pieces.
		if err := d.arrays.evict(c, &d.room, d.room.limit); err != nil {
			return cuda.Buffer{}, err
		}
		b, err = c.Alloc(bytes)
	}
	if err != nil {
		return cuda.Buffer{}, err
	}
	d.room.used += b.Size
	return b, nil
}

// free gives memory from alloc back.
func (d *device) free(c *cuda.Context, b cuda.Buffer) error {
	d.room.used -= b.Size
	return c.Free(b)
}
