package join

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// manyFound returns more candidates than one goroutine takes, for a number of rows. About a third has no edge left.
func manyFound(n, rows int) found {
	rng := rand.New(rand.NewPCG(1, 2))
	f := newFound(n)
	for k := range n {
		f.set(k, rng.Uint32N(uint32(rows)), rng.Uint32(), max(rng.Uint32N(12), 4)-4)
	}
	return f
}

// TestFindingTake: candidates are divided by several goroutines as by one: those of which nothing is left are taken or counted, and the others
// wait in their order, with the bits of edges from the way's on moved by one.
func TestFindingTake(t *testing.T) {
	const n, rows = 10 * parallelLeast, 1000
	for _, by := range []int{-1, 0, 1, 2} {
		for _, how := range []int{listed, counted, countedEach} {
			var got found
			s := &finding{outside: &outside{outRun: &outRun{store: &store{ctx: t.Context()}}, known: newFound(n)}}
			s.w = &wanted{how: how, each: make([]uint32, rows), list: func(f found) error {
				at := len(got.rows)
				got.grow(len(f.rows))
				f.copyTo(got, at)
				return nil
			}}
			var known, rest found
			each := make([]uint32, rows)
			for range 2 {
				f := manyFound(n, rows)
				for k, left := range f.left {
					switch {
					case left == 0 && how == countedEach:
						each[f.rows[k]] += f.vertices[k]
					case left == 0:
						known.add(f.rows[k], f.vertices[k], 0)
					default:
						moved := uint32(0)
						for i := range 3 {
							to := i
							if by >= 0 && i >= by {
								to++
							}
							moved |= left >> i & 1 << to
						}
						rest.add(f.rows[k], f.vertices[k], moved)
					}
				}
				if err := s.take(f, by); err != nil {
					t.Fatal(err)
				}
			}
			same := func(a, b found) bool {
				return slices.Equal(a.rows, b.rows) && slices.Equal(a.vertices, b.vertices) && slices.Equal(a.left, b.left)
			}
			if !same(s.rest, rest) {
				t.Errorf("by %d, how %d: %d candidates wait, want %d", by, how, len(s.rest.rows), len(rest.rows))
			}
			if how == listed && !same(got, known) || how == counted && s.w.n != uint64(len(known.rows)) || !slices.Equal(s.w.each, each) {
				t.Errorf("by %d, how %d: %d are listed and %d counted, want %d", by, how, len(got.rows), s.w.n, len(known.rows))
			}
		}
	}
}

// TestSieve: after a check, several goroutines keep the candidates of which something is left, in their order, and hand over those of which nothing
// is. A candidate whose vertex has no list passes a missing edge only.
func TestSieve(t *testing.T) {
	const n, rows = 10*parallelLeast + 7, 50
	for _, neg := range []bool{false, true} {
		x := &outside{outRun: &outRun{store: &store{ctx: t.Context()}}}
		f := manyFound(n, rows)
		for k := 0; k < n; k += 3 {
			f.left[k] = dropped
		}
		each, rest := make([]uint32, rows), found{}
		for k, left := range f.left {
			if left != dropped && left&2 != 0 {
				if left &^= 2; !neg {
					left = dropped
				}
			}
			switch left {
			case 0:
				each[f.rows[k]]++
			case dropped:
			default:
				rest.add(f.rows[k], f.vertices[k], left)
			}
		}
		w := &wanted{how: countedEach, each: make([]uint32, rows)}
		got, err := x.sieve(f, 2, neg, w)
		if err != nil || !slices.Equal(got.left, rest.left) || !slices.Equal(got.rows, rest.rows) || !slices.Equal(got.vertices, rest.vertices) {
			t.Errorf("missing %v: %d remain, want %d; %v", neg, len(got.rows), len(rest.rows), err)
		}
		if !slices.Equal(w.each, each) {
			t.Errorf("missing %v: counts by row differ", neg)
		}
	}
}

// TestLineConsumer: what kernels have made is taken on another goroutine than the one that fills sub-tables, in order. After an error nothing is
// taken, and a panic is an error.
func TestLineConsumer(t *testing.T) {
	fail := errors.New("no")
	for _, c := range []struct {
		name string
		took func(segmentHead) error
	}{{"error", func(segmentHead) error { return fail }}, {"panic", func(segmentHead) error { panic(fail.Error()) }}} {
		l := &line{idle: make(chan *subTable, 4), ready: make(chan *subTable, 4), ended: make(chan struct{})}
		go l.consume()
		hold, took := make(chan struct{}), 0
		hand := func(f func(segmentHead) error) {
			l.pending.Add(1)
			l.ready <- &subTable{head: &segmentHead{}, took: f}
		}
		hand(func(segmentHead) error { <-hold; took++; return nil })
		hand(func(segmentHead) error { took++; return nil })
		select {
		case <-l.idle:
			t.Error("a sub-table was free before it was taken")
		case <-time.After(time.Millisecond):
		}
		close(hold)
		if err := l.settle(); err != nil || took != 2 || len(l.idle) != 2 {
			t.Errorf("%d taken, %d free, %v", took, len(l.idle), err)
		}
		hand(c.took)
		hand(func(segmentHead) error { took++; return nil })
		if err := l.settle(); err == nil || !strings.Contains(err.Error(), "no") || took != 2 || len(l.idle) != 4 {
			t.Errorf("%s: %d taken, %d free, %v", c.name, took, len(l.idle), err)
		}
		close(l.ready)
		<-l.ended
	}
}

// TestRowLengths: rows are sorted by the shortest of their lists only where that pays, and a number of rows is chosen by the lengths.
func TestRowLengths(t *testing.T) {
	x := &outside{outRun: &outRun{gpuRun: &gpuRun{onGPU: &onGPU{}}, store: &store{ctx: context.Background()}}}
	x.shorter = 2
	long := &relation{off: []uint64{0, 5, 10, 11}}
	short := &relation{off: []uint64{0, 1, 4, 9}}
	one, two := &probe{group: &group{}, rel: long, columns: []int{0}}, &probe{group: &group{}, rel: short, columns: []int{1}}
	p := &probe{group: one.group, rel: long, columns: one.columns, ways: []*probe{one, two}}
	b := &rowBlock{rows: 3, cols: [][]uint32{{0, 1, 2}, {0, 1, 2}}}
	l, err := x.lengthsOf(p, b)
	if err != nil || !slices.Equal(l.one, []uint32{5, 5, 1}) || !slices.Equal(l.least, []uint32{1, 3, 1}) || !slices.Equal(l.way, []uint8{1, 1, 0}) {
		t.Fatalf("%+v, %v", l, err)
	}
	rows, starts, err := x.byWays(p, l)
	if err != nil || !slices.Equal(rows, []uint32{2, 0, 1}) || !slices.Equal(starts, []int{0, 1, 3}) {
		t.Error(rows, starts, err)
	}
	x.shorter = 3
	if _, starts, _ := x.byWays(p, l); starts != nil {
		t.Error("11 elements are not 3 times 5", starts)
	}
	s := rowSet{n: 2, numbered: rows[1:]}
	if n, sum := s.fewer(l.least, 3); n != 1 || sum != 1 {
		t.Error(n, sum)
	}
	if n, sum := s.part(1, 1).fewer(l.least, 2); n != 1 || sum != 3 {
		t.Error(n, sum, "a row goes alone where it is too long")
	}
	if n, sum := (rowSet{n: 3}).fewer(l.one, 10); n != 2 || sum != 10 {
		t.Error(n, sum)
	}
}
