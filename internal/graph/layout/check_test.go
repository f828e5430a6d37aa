package layout

import (
	"slices"
	"strings"
	"testing"
)

// lists returns a partition in which the vertices have a list of one each, of the vertex 0.
func lists(vertices ...uint32) *Lists {
	l := &Lists{Vertices: vertices, Off: []uint32{0}}
	for range vertices {
		l.Adj = append(l.Adj, 0)
		l.Off = append(l.Off, uint32(len(l.Adj)))
	}
	return l
}

// to returns the numbers from 0 to n-1.
func to(n uint32) (list []uint32) {
	for v := range n {
		list = append(list, v)
	}
	return list
}

// TestHashedCheck: arrays as NewHashed makes them pass, and each kind of damage is found and named.
// Files with such arrays have a right checksum.
func TestHashedCheck(t *testing.T) {
	const n = 100
	made := func(vertices []uint32, load int) *Hashed {
		h, err := NewHashed(t.Context(), lists(vertices...), load, 1)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	for _, load := range []int{1, 2, 15, 40, n} {
		for _, size := range []uint32{0, 1, 2, 40, n} {
			if err := made(to(size), load).check(n); err != nil {
				t.Errorf("%d vertices, %d a group: %v", size, load, err)
			}
		}
	}

	// One bucket whose chain has seven groups.
	const group = 2 * GroupPairs
	const next = group - 2
	for _, c := range []struct {
		name, err string
		damage    func(h *Hashed)
	}{
		{"a number less", "its groups are not whole", func(h *Hashed) { h.Groups = h.Groups[:len(h.Groups)-1] }},
		{"a number more", "its groups are not whole", func(h *Hashed) { h.Groups = append(h.Groups, 0) }},
		{"half a group more", "its groups are not whole", func(h *Hashed) { h.Groups = append(h.Groups, h.Groups[:GroupPairs]...) }},
		{"more buckets than groups", "its groups are not whole", func(h *Hashed) { h.Buckets = 8 }},
		{"no bucket", "its groups are not whole", func(h *Hashed) { h.Buckets = 0 }},
		{"no group", "its groups are not whole", func(h *Hashed) { h.Groups = nil }},
		{"lists alone", "it has lists and no group", func(h *Hashed) { h.Groups, h.Buckets = nil, 0 }},
		{"a group behind the last", "group 6 continues wrongly", func(h *Hashed) { h.Groups[6*group+next] = 7 }},
		{"two groups before one", "group 2 continues wrongly", func(h *Hashed) { h.Groups[2*group+next] = 2 }},
		{"a ring of one group", "groups continue in a ring", func(h *Hashed) { h.Groups[5*group+next], h.Groups[6*group+next] = None, 6 }},
		{"a ring of all groups", "groups continue in a ring", func(h *Hashed) { h.Groups[6*group+next] = 0 }},
		{"a first list behind 0", "offsets do not cover the lists", func(h *Hashed) { h.Groups[1] = 1 }},
		{"a list that begins early", "offsets do not ascend", func(h *Hashed) { h.Groups[5] = 0 }},
		{"an early end of a group", "offsets do not ascend", func(h *Hashed) { h.Groups[3*group-1] = 0 }},
		{"a list less", "offsets do not cover the lists", func(h *Hashed) { h.Adj = h.Adj[1:] }},
		{"a list more", "offsets do not cover the lists", func(h *Hashed) { h.Adj = append(h.Adj, 0) }},
		{"vertex", "vertex 100 does not exist", func(h *Hashed) { h.Adj[3] = n }},
	} {
		h := made(to(n), n)
		if h.Buckets != 1 || len(h.Groups) != 7*group {
			t.Fatalf("%d numbers in groups of %d buckets", len(h.Groups), h.Buckets)
		}
		c.damage(h)
		expect(t, c.name, h.check(n), c.err)
	}
}

// interval returns the interval-PCSR of lists of some of n vertices.
func interval(t *testing.T, n int, vertices ...uint32) *Interval {
	t.Helper()
	x, err := NewInterval(t.Context(), lists(vertices...), n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestIntervalCheck: arrays as NewInterval makes them pass, and each kind of damage is found and
// named.
func TestIntervalCheck(t *testing.T) {
	const n = 20
	for _, vertices := range [][]uint32{nil, {0}, {n - 1}, {3, 4, 9}, {0, 2, 4, n - 2, n - 1}, to(n)} {
		if err := interval(t, n, vertices...).check(n); err != nil {
			t.Errorf("vertices %v: %v", vertices, err)
		}
	}

	// Runs 3…5, 8 and 12…13, which have the rows 0, 3 and 4.
	for _, c := range []struct {
		name, err string
		damage    func(x *Interval)
	}{
		{"a run less", "its runs and its rows differ", func(x *Interval) { x.First = x.First[:2] }},
		{"no rows", "its runs and its rows differ", func(x *Interval) { x.First, x.Row, x.Off, x.Adj = nil, []uint32{0}, nil, nil }},
		{"no end of the rows", "its runs and its rows differ", func(x *Interval) { x.First, x.Row = nil, nil }},
		{"a first row behind 0", "its runs and its rows differ", func(x *Interval) { x.Row[0] = 1 }},
		{"a row less", "its runs and its rows differ", func(x *Interval) { x.Row[3]-- }},
		{"a list less", "its runs and its rows differ", func(x *Interval) { x.Off = x.Off[:6] }},
		{"rows without a run", "its runs and its rows differ", func(x *Interval) { x.First, x.Row = nil, []uint32{6} }},
		{"a run without rows", "run 1 is not behind the one before", func(x *Interval) { x.Row[2] = 3 }},
		{"a run of fewer rows than none", "run 1 is not behind the one before", func(x *Interval) { x.Row[2] = 2 }},
		{"a run into the next", "run 1 is not behind the one before", func(x *Interval) { x.First[1] = 5 }},
		{"a run that joins the next", "run 1 is not behind the one before", func(x *Interval) { x.First[1] = 6 }},
		{"a run before the one before", "run 2 is not behind the one before", func(x *Interval) { x.First[2] = 2 }},
		{"a run past the last vertex", "run 2 is not behind the one before", func(x *Interval) { x.First[2] = n - 1 }},
		{"a list that begins early", "offsets do not ascend", func(x *Interval) { x.Off[3] = 0 }},
		{"a first list behind 0", "offsets do not cover the lists", func(x *Interval) { x.Off[0] = 1 }},
		{"an entry less", "offsets do not cover the lists", func(x *Interval) { x.Adj = x.Adj[1:] }},
		{"an entry more", "offsets do not cover the lists", func(x *Interval) { x.Adj = append(x.Adj, 0) }},
		{"vertex", "vertex 20 does not exist", func(x *Interval) { x.Adj[5] = n }},
	} {
		x := interval(t, n, 3, 4, 5, 8, 12, 13)
		if !slices.Equal(x.First, []uint32{3, 8, 12}) || !slices.Equal(x.Row, []uint32{0, 3, 4, 6}) {
			t.Fatalf("runs from %v, of the rows %v", x.First, x.Row)
		}
		c.damage(x)
		expect(t, c.name, x.check(n), c.err)
	}
}

// TestIntervalBytes: each number of the arrays has four bytes.
func TestIntervalBytes(t *testing.T) {
	x := interval(t, 20, 3, 4, 5, 8, 12, 13)
	for i, array := range []func(x *Interval) *[]uint32{
		func(x *Interval) *[]uint32 { return &x.First }, func(x *Interval) *[]uint32 { return &x.Row },
		func(x *Interval) *[]uint32 { return &x.Off }, func(x *Interval) *[]uint32 { return &x.Adj },
	} {
		longer := *x
		*array(&longer) = append(slices.Clone(*array(x)), 1, 2, 3)
		if more := longer.Bytes() - x.Bytes(); more != 12 {
			t.Errorf("array %d: three numbers more have %d bytes", i, more)
		}
	}
}

// expect compares an error with its text.
func expect(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, not %q", name, err, want)
	}
}
