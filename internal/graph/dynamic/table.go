package dynamic

import (
	"math/bits"
	"unsafe"
)

// table is an array of pages that grows by one page, without moving others. The zero value is empty.
type table[P any] struct {
	top  []*[tablePart]*P
	made int // pages that are not nil
}

const tablePart = 32

// page returns a page, or nil if there is none.
func (t *table[P]) page(p uint32) *P {
	if i := int(p / tablePart); i < len(t.top) && t.top[i] != nil {
		return t.top[i][p%tablePart]
	}
	return nil
}

// need returns a page, which is new if there was none.
func (t *table[P]) need(p uint32) *P {
	i := int(p / tablePart)
	if i >= len(t.top) {
		t.top = append(t.top, make([]*[tablePart]*P, i+1-len(t.top))...)
	}
	if t.top[i] == nil {
		t.top[i] = new([tablePart]*P)
	}
	at := &t.top[i][p%tablePart]
	if *at == nil {
		*at = new(P)
		t.made++
	}
	return *at
}

// drop removes a page.
func (t *table[P]) drop(p uint32) {
	t.top[p/tablePart][p%tablePart] = nil
	t.made--
}

// end is the end of the numbers of pages.
func (t *table[P]) end() uint32 { return uint32(len(t.top)) * tablePart }

func (t *table[P]) bytes() uint64 {
	b := 8*uint64(cap(t.top)) + uint64(t.made)*uint64(unsafe.Sizeof(*new(P)))
	for _, part := range t.top {
		if part != nil {
			b += 8 * tablePart
		}
	}
	return b
}

// buckets are the beginnings of the chains of a hash table with linear hashing: each new element splits one chain at most, so that
// growth takes no pause. A chain is of references that are not 0.
type buckets struct {
	heads table[[bucketPage]uint32]
	n     uint32 // buckets
	mask  uint32 // the least 2^k-1 that is n-1 or more
	count uint32 // elements
}

const bucketPage = 64

// head returns the beginning of the chain of a hash. There must be buckets.
func (b *buckets) head(hash uint32) *uint32 {
	i := b.of(hash)
	return &b.heads.page(i / bucketPage)[i%bucketPage]
}

func (b *buckets) of(hash uint32) uint32 {
	i := hash & b.mask
	if i >= b.n {
		i &= b.mask >> 1
	}
	return i
}

// grow makes room for one more element, which it counts. next returns the place of the reference behind an element, and the
// element's hash.
func (b *buckets) grow(next func(ref uint32) (*uint32, uint32)) {
	if b.count++; b.count <= b.n {
		return
	}
	i := b.n
	b.n++
	b.mask = ^uint32(0) >> bits.LeadingZeros32(i)
	to := &b.heads.need(i / bucketPage)[i%bucketPage]
	if i == 0 {
		return
	}
	at := i & (b.mask >> 1)
	for l := &b.heads.page(at / bucketPage)[at%bucketPage]; *l != 0; {
		after, hash := next(*l)
		if b.of(hash) != i {
			l = after
			continue
		}
		ref := *l
		*l = *after
		*after = *to
		*to = ref
	}
}
