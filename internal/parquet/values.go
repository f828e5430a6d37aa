package parquet

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// outValues are the values of a column that is written, of one of four types.
type outValues struct {
	phys   int32
	bools  []bool
	ints   []int64
	floats []float64
	texts  []string
}

func (v *outValues) len() int { return len(v.bools) + len(v.ints) + len(v.floats) + len(v.texts) }

// from returns a function that takes value i of an array, or of its lists.
func (v *outValues) from(a arrow.Array) func(i int) {
	switch a := a.(type) {
	case *array.Boolean:
		return func(i int) { v.bools = append(v.bools, a.Value(i)) }
	case *array.Int64:
		return func(i int) { v.ints = append(v.ints, a.Value(i)) }
	case *array.Timestamp:
		scale := arrow.Timestamp(1)
		if a.DataType().(*arrow.TimestampType).Unit == arrow.Second { // Parquet has no seconds
			scale = 1000
		}
		return func(i int) { v.ints = append(v.ints, int64(a.Value(i)*scale)) }
	case *array.Float64:
		return func(i int) { v.floats = append(v.floats, a.Value(i)) }
	case *array.String:
		return func(i int) { v.texts = append(v.texts, a.Value(i)) }
	case *array.List:
		return v.from(a.ListValues())
	}
	panic("parquet: an array that NewWriter refuses")
}

// size is the number of bytes of value i.
func (v *outValues) size(i int) int {
	switch v.phys {
	case physBool:
		return 1
	case physBytes:
		return 4 + len(v.texts[i])
	}
	return 8
}

// one appends value i.
func (v *outValues) one(b []byte, i int) []byte {
	switch v.phys {
	case physInt64:
		return binary.LittleEndian.AppendUint64(b, uint64(v.ints[i]))
	case physDouble:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.floats[i]))
	}
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(v.texts[i]))), v.texts[i]...)
}

// plain appends values from … to-1.
func (v *outValues) plain(b []byte, from, to int) []byte {
	if v.phys != physBool {
		for i := from; i < to; i++ {
			b = v.one(b, i)
		}
		return b
	}
	for i := from; i < to; i += 8 {
		var x byte
		for k := i; k < min(to, i+8); k++ {
			if v.bools[k] {
				x |= 1 << (k - i)
			}
		}
		b = append(b, x)
	}
	return b
}

// outDict is a dictionary: where each of its values is first, and for each value
// its number.
type outDict struct {
	first []int
	index []uint32
}

// dictionary returns one if it makes the column smaller, else nil.
func (v *outValues) dictionary() *outDict {
	switch v.phys {
	case physInt64:
		return dictOf(len(v.ints), func(i int) int64 { return v.ints[i] }, v.size)
	case physBytes:
		return dictOf(len(v.texts), func(i int) string { return v.texts[i] }, v.size)
	}
	return nil
}

func dictOf[K comparable](n int, key func(int) K, size func(int) int) *outDict {
	const sample = 8 << 10 // values after which it is known whether many repeat
	d := &outDict{index: make([]uint32, 0, n)}
	seen := map[K]uint32{}
	bytes := 0
	for i := range n {
		k := key(i)
		x, ok := seen[k]
		if !ok {
			x = uint32(len(d.first))
			seen[k] = x
			d.first = append(d.first, i)
			if bytes += size(i); bytes > dictBytes || len(d.first) > n/2 {
				return nil
			}
		}
		d.index = append(d.index, x)
		if i == sample && len(d.first) > sample*3/4 {
			return nil
		}
	}
	if n == 0 {
		return nil
	}
	return d
}

// mostBound is the longest text, in bytes, that is written as a bound.
const mostBound = 64

// statistics writes the number of nulls and the least and greatest value.
func (v *outValues) statistics(t *thriftWriter, nulls int64) {
	least, most, ok := v.bounds()
	t.structure(12, func() {
		t.i64(3, nulls)
		if ok && len(least) <= mostBound && len(most) <= mostBound {
			t.binary(5, string(most))
			t.binary(6, string(least))
		}
	})
}

func (v *outValues) bounds() (least, most []byte, ok bool) {
	lo, hi := 0, 0
	var less func(i, k int) bool
	switch v.phys {
	case physInt64:
		less = func(i, k int) bool { return v.ints[i] < v.ints[k] }
	case physBytes:
		less = func(i, k int) bool { return v.texts[i] < v.texts[k] }
	case physDouble:
		for _, x := range v.floats {
			if x != x { // bounds of a column with NaN mean nothing
				return nil, nil, false
			}
		}
		less = func(i, k int) bool { return v.floats[i] < v.floats[k] }
	default:
		return nil, nil, false
	}
	if v.len() == 0 {
		return nil, nil, false
	}
	for i := 1; i < v.len(); i++ {
		if less(i, lo) {
			lo = i
		}
		if less(hi, i) {
			hi = i
		}
	}
	switch v.phys {
	case physBytes:
		return []byte(v.texts[lo]), []byte(v.texts[hi]), true
	case physDouble:
		// Readers take either zero for both.
		a, b := v.floats[lo], v.floats[hi]
		if a == 0 {
			a = math.Copysign(0, -1)
		}
		z := &outValues{phys: physDouble, floats: []float64{a, b + 0}} // -0 + 0 is 0
		return z.one(nil, 0), z.one(nil, 1), true
	}
	return v.one(nil, lo), v.one(nil, hi), true
}
