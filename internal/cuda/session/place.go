package session

import (
	"cmp"
	"slices"
	"unsafe"

	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// Place says where the arrays of a job lie while it runs.
type Place int

const (
	// Auto has all arrays in device memory where they fit. Where they do not, as many as
	// necessary lie in page-locked host memory, which kernels read in place: neighbour lists
	// first, and larger arrays before smaller ones.
	Auto Place = iota
	// Device has all arrays in device memory, or refuses the run.
	Device
	// Host has all neighbour lists in host memory, and the other arrays as with Auto.
	Host
	// Cached has all neighbour lists in host memory, and copies of those that are read most in device
	// memory. Auto is Cached if the arrays do not fit and the job says what it reads.
	Cached
	// Managed is Host in managed memory instead of page-locked memory: pages of lists move to the device where kernels touch
	// them. It is for comparison, as the baseline that published systems have. Lists go at the end of the run.
	Managed
)

// arranged returns the arrays of a job, and decides which of them lie in host memory, on a device where the
// session has limit bytes for all.
//
// A job with a cache leaves it three quarters of the memory. One that takes as little as it can has all arrays in host memory.
func arranged(j *Job, limit int64) []want {
	wants := lay(j, arraysOf(j), limit)
	need := j.Beside()
	for i := range wants {
		need += wants[i].bytes
	}
	if j.Place == Device || j.Place == Auto && need <= limit && !j.least {
		return wants
	}
	all := j.Place != Auto || j.cached || j.least // lists
	rest := limit
	switch {
	case j.least:
		rest = 0
	case j.cached:
		rest = limit / 4
	}
	order := make([]*want, len(wants))
	for i := range wants {
		order[i] = &wants[i]
	}
	slices.SortStableFunc(order, func(a, b *want) int { return cmp.Compare(b.bytes, a.bytes) })
	move := func(w *want) { w.host, need = true, need-w.bytes }
	for _, w := range order {
		if w.list() && (all && !w.resident(j) || need > limit) {
			move(w)
		}
	}
	// The host makes the arrays that a device makes of lists, if the lists are there.
	for i := range wants {
		if w := &wants[i]; w.from != nil && wants[w.from[1]].host && w.g.Adj != nil {
			w.from = nil
		}
	}
	for _, w := range order {
		if !w.host && (!w.list() || w.resident(j)) && w.from == nil && need > rest {
			move(w)
		}
	}
	return wants
}

// resident reports whether a job with a cache has an array of neighbours in device memory, with what is not neighbours, as far as that has
// room: sparse lists, which the cache has no copies of.
func (w *want) resident(j *Job) bool { return j.cached && !j.least && w.list() && w.g.Sparse != nil }

// list reports whether the array has neighbours, which are most of a graph.
func (w *want) list() bool {
	return (w.key.what == copied || w.key.what == laidOut) && w.key.part == emit.Neighbours
}

// Beside is the bytes of device memory that a run takes besides its arrays, before Start.
func (j *Job) Beside() int64 {
	n := int64(unsafe.Sizeof(counters{}))
	if j.PerRoot {
		n += 16 * int64(j.Vertices)
	}
	return n
}

// HostBytes returns how many bytes of host memory the job's arrays take in a run, as far as that
// is known before it. All devices read the same copy.
func (s *Session) HostBytes(j *Job) (n int64) {
	j = s.settled(j)
	counted := map[arrayKey]bool{}
	for _, d := range s.devs {
		wants := arranged(j, d.room.limit)
		for i := range wants {
			if w := &wants[i]; w.host && !counted[w.key] {
				counted[w.key] = true
				n += w.bytes
			}
		}
	}
	return n
}
