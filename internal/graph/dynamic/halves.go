package dynamic

import "math/bits"

// half is a change of an edge, made later, at one of the edge's ends. It is a number, which from its highest bit on has this end among the vertices
// of its bucket, the label, the other end, and gone if the edge is removed. So halves are sorted by end, then label and other end.
type half uint64

const gone half = 1

const (
	halfTo  = 1  // the first bit of the other end
	halfKey = 33 // the first bit of the label
	// keyBits are those of an end and a label together.
	keyBits = 31
	// maxLabels is the most edge labels of a graph, so that a half has room for each of them.
	maxLabels = 1<<(keyBits-pageBits) - 1
)

// halves is how halves are written. Both numbers are below 32, which the masks of shifts tell the compiler.
type halves struct {
	labels  uint // bits of a label
	buckets uint // bits of the number of a bucket, which are above those of a page of ids
}

// halvesFor returns how the halves of g are written if it has 2^buckets buckets or more.
func (g *Graph) halvesFor(buckets uint) halves {
	x := halves{labels: uint(bits.Len(uint(len(g.edgeLabels)))), buckets: buckets}
	for !x.fit(g.ids.end, 0) {
		x.buckets++
	}
	return x
}

// bucket returns the number of v's bucket.
func (x halves) bucket(v uint32) uint32 { return v >> pageBits & (1<<(x.buckets&31) - 1) }

// fit reports whether a half has room for an end and a label.
func (x halves) fit(v uint32, label Label) bool {
	return label>>(x.labels&31) == 0 && v>>(x.buckets&31)>>((keyBits-x.labels)&31) == 0
}

// half returns the half at v of an edge to w, which is removed if remove is gone.
func (x halves) half(v, w uint32, label Label, remove half) half {
	in := v>>pageBits>>(x.buckets&31)<<pageBits | v&pageMask
	return half(in)<<((halfKey+x.labels)&63) | half(label)<<halfKey | half(w)<<halfTo | remove
}

// of returns the end of a half of a bucket.
func (x halves) of(h half, bucket uint32) uint32 {
	in := uint32(h >> ((halfKey + x.labels) & 63))
	return (in>>pageBits<<(x.buckets&31)|bucket)<<pageBits | in&pageMask
}

func (x halves) label(h half) Label { return uint32(h>>halfKey) & (1<<(x.labels&31) - 1) }

func (h half) to() uint32 { return uint32(h >> halfTo) }

// sortHalves sorts l by the bits of its halves from bit low on. Equal ones keep their order.
func (sh *shard) sortHalves(l []half, low uint) {
	if len(l) <= fewHalves {
		for i := 1; i < len(l); i++ {
			x, k := l[i], i
			for ; k > 0 && l[k-1]>>low > x>>low; k-- {
				l[k] = l[k-1]
			}
			l[k] = x
		}
		return
	}
	var differ half
	for _, x := range l {
		differ |= x ^ l[0]
	}
	differ = differ >> low << low
	if cap(sh.halves) < len(l) {
		sh.halves = make([]half, max(len(l), bucketMost))
	}
	var at [1 << mostDigit]uint32
	digit := min(uint(bits.Len(uint(len(l)))), mostDigit) // a pass clears 1<<digit counters: no more than there are halves, about
	from, to := l, sh.halves[:len(l)]
	for differ != 0 {
		shift := uint(bits.TrailingZeros64(uint64(differ)))
		n := uint(bits.Len64(uint64(differ))) - shift
		n = (n + (n-1)/digit) / ((n-1)/digit + 1) // digits of equal size
		mask := half(1)<<n - 1
		differ &^= mask << shift
		counts := at[:1<<n]
		clear(counts)
		for _, x := range from {
			counts[x>>shift&mask]++
		}
		sum := uint32(0)
		for i, n := range counts {
			counts[i] = sum
			sum += n
		}
		for _, x := range from {
			k := &counts[x>>shift&mask]
			to[*k] = x
			*k++
		}
		from, to = to, from
	}
	if &from[0] != &l[0] {
		copy(l, from)
	}
}

const (
	// fewHalves is the length up to which moving one element after the other sorts faster.
	fewHalves = 24
	// mostDigit is the most bits of a digit of a number that is sorted by: its counters are in a quarter of a processor's first cache.
	mostDigit = 11
)
