package session

import (
	"errors"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// arrayKey is the identity of an array: its data, its number there, its length, and how it is
// derived. No address of the host is a part of it.
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

// derived says whether an array is a copy, or made from one or two others.
type derived uint8

const (
	copied    derived = iota
	firstOf           // where in each list of (key: neighbours) the larger ids begin
	laidOut           // lists with their lengths between them (laid)
	made              // by Exec.Keep, of (key: offsets of) an adjacency
	inColumns         // lists by blocks of columns (columns)
)

// array is one in device memory.
type array struct {
	key   arrayKey
	owner any         // Job.Owner of the run that brought it
	buf   cuda.Buffer // its address on the device, and its size
	last  uint64      // the run that used it last
	note  any         // what Keep's caller knows of it
}

// temporary arrays go at the end of the run: no other run has a name for them.
func (a *array) temporary() bool { return a.key.own != nil }

// optional reports whether the array was made on the device by a run that had room for it. Runs do without it, or make it smaller.
func (a *array) optional() bool { return a.key.what == made }

// residents are the arrays in a device's memory, over several runs.
type residents struct {
	all map[arrayKey]*array
	run uint64 // number of the current run
}

// get returns the array of that key, and marks it as used by this run.
func (r *residents) get(key arrayKey) (cuda.Buffer, bool) {
	a := r.all[key]
	if a == nil {
		return cuda.Buffer{}, false
	}
	a.last = r.run
	return a.buf, true
}

func (r *residents) put(a *array) {
	if r.all == nil {
		r.all = map[arrayKey]*array{}
	}
	a.last = r.run
	r.all[a.key] = a
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

// oldest is the array that has not been used for the longest time; nil: this run uses all.
func (r *residents) oldest() (old *array) {
	for _, a := range r.all {
		if a.last != r.run && (old == nil || a.last < old.last) {
			old = a
		}
	}
	return old
}

// outdate drops what the device has of earlier versions of a relation, and the run
// does not use.
func (d *device) outdate(c *cuda.Context, of kir.Identity) error {
	return d.freeIf(c, func(a *array) bool { return a.key.outdated(of) && a.last != d.arrays.run })
}

// outdated reports whether the key is of an earlier version of a relation.
func (k *arrayKey) outdated(of kir.Identity) bool {
	return of.ID != 0 && k.of.ID == of.ID && k.of.Version < of.Version
}

// drop gives an array's memory back.
func (d *device) drop(c *cuda.Context, a *array) error {
	delete(d.arrays.all, a.key)
	return d.free(c, a.buf)
}

// freeIf frees the arrays for which which returns true.
func (d *device) freeIf(c *cuda.Context, which func(*array) bool) error {
	var errs []error
	for _, a := range d.arrays.all {
		if which(a) {
			errs = append(errs, d.drop(c, a))
		}
	}
	return errors.Join(errs...)
}

// freeAll frees all arrays, and what is kept for scratch memory.
func (d *device) freeAll(c *cuda.Context) error {
	return errors.Join(d.freeIf(c, func(*array) bool { return true }), d.spares.shrink(c, 0))
}

// alloc takes device memory within the budget; arrays that the run does not use
// make room. Too little of it is ErrShort, also where the device itself has less than the budget.
func (d *device) alloc(c *cuda.Context, job, what string, bytes int64) (b cuda.Buffer, err error) {
	if left := d.room.left() + d.arrays.idle(); bytes > left {
		return b, d.room.tooLittle(d.dev.Info(), job, []need{{what, bytes}}, left)
	}
	err = d.making(c, func() error {
		if bytes > d.room.left() {
			return errNoRoom
		}
		if err = d.spares.shrink(c, d.room.left()-bytes); err != nil {
			return err
		}
		// The device may refuse: others use it, or its memory is in pieces.
		if b, err = c.Alloc(bytes); lacks(err) && len(d.spares.all) > 0 {
			if err = d.spares.shrink(c, 0); err == nil {
				b, err = c.Alloc(bytes)
			}
		}
		return err
	})
	var lacking *cuda.Error
	switch {
	case err == nil:
		d.room.used += b.Size
	case errors.As(err, &lacking) && errors.Is(err, cuda.ErrMemory) && !errors.Is(err, cuda.ErrLost):
		err = &shortage{err: lacking, taken: true}
	}
	return b, err
}

// free gives memory from alloc back.
func (d *device) free(c *cuda.Context, b cuda.Buffer) error {
	d.room.used -= b.Size
	return c.Free(b)
}

// errNoRoom asks for another array to go.
var errNoRoom = &cuda.Error{Op: "budget", Kind: cuda.ErrMemory}

// making calls take, which takes device memory, until it succeeds. Each time that there is too little,
// the array that was not used for the longest time goes.
func (d *device) making(c *cuda.Context, take func() error) error {
	for {
		err := take()
		if !lacks(err) {
			return err
		}
		a := d.arrays.oldest()
		if a == nil {
			return err
		}
		if err := d.drop(c, a); err != nil {
			return err
		}
	}
}

// lacks reports whether an error says that there is too little memory, and all else is well.
func lacks(err error) bool {
	return errors.Is(err, cuda.ErrMemory) && !errors.Is(err, cuda.ErrLost)
}
