package graph

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
)

// internShards spreads strings so that many goroutines can intern at once.
const internShards = 64

// idInterner numbers string ids: number*internShards + shard.
type idInterner struct {
	seed  maphash.Seed
	shard [internShards]struct {
		mu sync.Mutex
		interner
		_ [64]byte
	}
}

func (t *idInterner) put(s []byte) uint64 {
	h := maphash.Bytes(t.seed, s) % internShards
	sh := &t.shard[h]
	sh.mu.Lock()
	i := sh.interner.put(s)
	sh.mu.Unlock()
	return uint64(i)*internShards + h
}

func (t *idInterner) column(c *StringColumn) []uint64 {
	r := make([]uint64, c.rows())
	for i := range r {
		r[i] = t.put(c.at(i))
	}
	return r
}

// rank sorts the strings by their bytes. ids are the raw numbers in that order.
func (t *idInterner) rank() (*ranker, error) {
	r := &ranker{text: make([][]uint32, internShards)}
	for s := range t.shard {
		r.text[s] = make([]uint32, len(t.shard[s].text))
		for i := range t.shard[s].text {
			r.ids = append(r.ids, uint64(i)*internShards+uint64(s))
		}
	}
	slices.SortFunc(r.ids, func(a, b uint64) int { return cmp.Compare(t.textOf(a), t.textOf(b)) })
	for i, x := range r.ids {
		r.text[x%internShards][x/internShards] = uint32(i)
	}
	r.n = uint64(len(r.ids))
	if r.n > maxVertices {
		return r, fmt.Errorf("%w: %d vertices", ErrTooLarge, r.n)
	}
	return r, nil
}

func (t *idInterner) textOf(raw uint64) string {
	return t.shard[raw%internShards].text[raw/internShards]
}
