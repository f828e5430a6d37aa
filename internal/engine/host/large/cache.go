package large

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/memory"
)

// hash128 is a fingerprint of the current sets of some variables: the XOR of one random key for
// each (variable, candidate). Two different contents have equal fingerprints with probability
// 2^-128 (Zobrist hashing). Universes too large for a table of keys use mixed ones. GANAK
// (Sharma et al., IJCAI'19) uses it for the components of a model counter. Every process draws
// new keys.
type hash128 struct{ a, b uint64 }

// keyTable is the process's random keys, which only grow.
var keyTable struct {
	mu   sync.Mutex
	rng  *rand.ChaCha8
	keys atomic.Pointer[[]hash128]
}

// randomKeys returns at least n keys.
func randomKeys(n int) []hash128 {
	if p := keyTable.keys.Load(); p != nil && len(*p) >= n {
		return *p
	}
	keyTable.mu.Lock()
	defer keyTable.mu.Unlock()
	var old []hash128
	if p := keyTable.keys.Load(); p != nil {
		old = *p
	} else {
		var seed [32]byte
		for i := range seed {
			seed[i] = byte(rand.Uint32())
		}
		keyTable.rng = rand.NewChaCha8(seed)
	}
	if len(old) >= n {
		return old
	}
	t := make([]hash128, max(n, 2*len(old), 1<<9))
	for i := copy(t, old); i < len(t); i++ {
		t[i] = hash128{keyTable.rng.Uint64(), keyTable.rng.Uint64()}
	}
	keyTable.keys.Store(&t)
	return t
}

// maxKeys is how many keys are drawn (16 MB); beyond that they are mixed from
// the index and four random words.
const maxKeys = 1 << 20

// drawKeys readies the keys for a search.
func (sp *space) drawKeys() {
	n := sp.total << 6
	if sp.keys = nil; n <= maxKeys {
		sp.keys = randomKeys(n)
		return
	}
	for i, k := range randomKeys(2)[:2] {
		sp.salt[2*i], sp.salt[2*i+1] = k.a, k.b
	}
}

// key returns the key of v's candidate i.
func (sp *space) key(v, i int) hash128 {
	x := sp.off[v]<<6 + i
	if sp.keys != nil {
		return sp.keys[x]
	}
	return hash128{mix(uint64(x)+sp.salt[0]) ^ sp.salt[1], mix(mix(uint64(x)^sp.salt[2]) + sp.salt[3])}
}

// mix is the finaliser of splitmix64, a bijection.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash returns the fingerprint of v's current set.
func (w *worker) hash(v int) hash128 { return w.hashAt(v, int(w.depth[v])) }

// hashAt returns the fingerprint of v's set at depth d. It updates the previous set's
// fingerprint if few candidates were removed.
func (w *worker) hashAt(v, d int) hash128 {
	f := w.frames[d]
	if f.hashed>>v&1 != 0 {
		return f.hash[v]
	}
	o, n := w.sp.off[v], w.sp.words[v]
	set := f.sets[o : o+n]
	var h hash128
	if d > 0 {
		if g := w.frames[f.prev[v]]; g.size[v] < 2*f.size[v] {
			h = w.hashAt(v, int(f.prev[v]))
			w.work += uint64(g.size[v]-f.size[v]) >> 4
			for i, x := range g.sets[o : o+n] {
				for x &^= set[i]; x != 0; x &= x - 1 {
					k := w.sp.key(v, i<<6+bits.TrailingZeros64(x))
					h.a ^= k.a
					h.b ^= k.b
				}
			}
			f.hash[v] = h
			f.hashed |= 1 << v
			return h
		}
	}
	w.work += uint64(f.size[v]) >> 4
	for i, x := range set {
		for ; x != 0; x &= x - 1 {
			k := w.sp.key(v, i<<6+bits.TrailingZeros64(x))
			h.a ^= k.a
			h.b ^= k.b
		}
	}
	f.hash[v] = h
	f.hashed |= 1 << v
	return h
}

// fingerprint identifies a component: its variables and their current sets.
func (w *worker) fingerprint(c uint64) hash128 {
	var h hash128
	for ; c != 0; c &= c - 1 {
		k := w.hash(bits.TrailingZeros64(c))
		h.a ^= k.a
		h.b ^= k.b
	}
	return h
}

// A cache remembers the counts of components in bounded memory: a table of
// buckets of four, which grows with use up to a limit and then forgets at
// random.
type cache struct {
	entries []entry
	used    int
	limit   int // entries
	share   *memory.Share
	seed    uint32
	probes  uint64
	hits    uint64
}

// An entry is a component's count, and if that is zero some of its variables
// that cannot be matched among themselves.
type entry struct {
	key   hash128
	count engine.Uint128
	core  uint64
}

const (
	entryBytes = 40
	firstCache = 1 << 8
)

// begin empties the cache; limit is in entries.
func (c *cache) begin(limit int, share *memory.Share) {
	c.share = share
	if c.used > 0 {
		if len(c.entries) > 1<<15 {
			c.entries = nil
		} else {
			c.entries = c.entries[:firstCache]
			clear(c.entries)
		}
	}
	if c.entries == nil {
		c.entries = make([]entry, firstCache)
	}
	c.used, c.limit, c.seed, c.probes, c.hits = 0, limit, 1, 0, 0
}

// get returns the entry of k, or nil.
func (c *cache) get(k hash128) *entry {
	c.probes++
	b := int(k.a) & (len(c.entries) - 1) &^ 3
	for i := range c.entries[b : b+4] {
		if c.entries[b+i].key == k {
			c.hits++
			return &c.entries[b+i]
		}
	}
	return nil
}

// put remembers e.
func (c *cache) put(e entry) {
	if c.used*2 > len(c.entries) && len(c.entries)*2 <= c.limit {
		c.growWithin(min(4, c.limit/len(c.entries)) &^ 1)
	}
	b := int(e.key.a) & (len(c.entries) - 1) &^ 3
	for i := range 4 {
		if c.entries[b+i].key == (hash128{}) {
			c.entries[b+i] = e
			c.used++
			return
		}
	}
	c.seed = c.seed*1664525 + 1013904223
	c.entries[b+int(c.seed>>30)] = e
}

// growWithin is grow, if the search may have as much memory. Otherwise the table stays as it is, and forgets more.
func (c *cache) growWithin(factor int) {
	if err := c.share.Take("counts that a search keeps", int64(factor-1)*int64(len(c.entries))*int64(entryBytes)); err != nil {
		c.limit = len(c.entries)
		return
	}
	c.grow(factor)
}

// grow makes the table larger by a factor of two or four.
func (c *cache) grow(factor int) {
	old := c.entries
	n := factor * len(old)
	if n <= cap(old) {
		// The larger table was used before: its upper part is stale.
		old = append([]entry(nil), old...)
		c.entries = c.entries[:n]
		clear(c.entries)
	} else {
		c.entries = make([]entry, n)
	}
	c.used = 0
	for i := range old {
		if old[i].key != (hash128{}) {
			b := int(old[i].key.a) & (n - 1) &^ 3
			for k := range 4 {
				if c.entries[b+k].key == (hash128{}) {
					c.entries[b+k] = old[i]
					c.used++
					break
				}
			}
		}
	}
}
