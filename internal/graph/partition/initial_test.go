package partition

import "testing"

// TestGrow: a vertex that does not fit is taken if the part comes nearer to the wanted weight by it.
func TestGrow(t *testing.T) {
	g := &weighted{off: []uint64{0, 0}, vertex: []int64{10}, total: 10}
	for want, part := range map[int64]uint32{4: 1, 5: 0, 6: 0, 10: 0} {
		if of, err := grow(g, want, &random{}); err != nil || of[0] != part {
			t.Errorf("a vertex of weight 10, where %d are wanted: part %v, %v", want, of, err)
		}
	}
}
