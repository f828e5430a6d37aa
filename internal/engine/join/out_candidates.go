package join

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/plan"
)

// candidates finds which vertices may be candidates of group i.
func (t *outside) candidates(i int) error {
	g := t.groups[i]
	n := t.g.NumVertices()
	var out []uint64
	var err error
	if g.tests() && g.all == nil {
		if out, err = t.passing(g); err != nil {
			return err
		}
	}
	if g.queries != nil {
		signed, err := t.sign(g)
		if err != nil {
			return err
		}
		before, left := 0, 0
		base := out
		if base == nil {
			base = plan.Bitmap(n, []plan.Range{g.one}, nil)
		}
		without := base
		if g.minDegree > 0 {
			c := *g
			c.minDegree = 0
			if without, err = t.passing(&c); err != nil {
				return err
			}
		}
		both := 0
		for w := range signed {
			before += bits.OnesCount64(without[w])
			both += bits.OnesCount64(without[w] & signed[w])
			signed[w] &= base[w]
			left += bits.OnesCount64(signed[w])
		}
		out = signed
		if t.x.Index() == 0 {
			t.mu.Lock()
			if t.pruned == nil && t.o.Levels {
				t.pruned = make([][]plan.Filtered, len(t.p.Levels))
			}
			for _, l := range g.Levels {
				t.Stats.Add("join: signatures leave %d of %d candidates of %s", both, before, t.p.Pattern.Vertices[t.p.Order[l]].Name)
				if t.o.Levels {
					t.pruned[l] = []plan.Filtered{{Filter: "signature", Left: uint64(left)}}
				}
			}
			t.mu.Unlock()
		}
	}
	t.allowed[i] = out
	return nil
}

// passing returns a bitmap of the vertices that pass the tests of a group.
func (t *outside) passing(g *group) ([]uint64, error) {
	out := make([]uint64, (t.g.NumVertices()+63)/64)
	err := parallel(t.ctx(), len(out), func(_, lo, hi int) error {
		for w := lo; w < hi; w++ {
			for b := range uint32(64) {
				v := 64*uint32(w) + b
				if v >= g.one.First && v < g.one.End && g.allows(t.lists, v) {
					out[w] |= 1 << b
				}
			}
		}
		return nil
	})
	return out, err
}

// sign filters all vertices by the signatures of a group, a segment of the signature table at a time: of the
// columns that the group asks something of. The bits are by the ids of the lists.
func (t *outside) sign(g *group) ([]uint64, error) {
	table := t.signed.table
	n := t.g.NumVertices()
	var columns []int
	for c := range table.Columns() {
		if slices.ContainsFunc(g.queries, func(q layout.Query) bool { return q.Words()[c] != 0 }) {
			columns = append(columns, c)
		}
	}
	out := make([]uint64, (n+63)/64)
	if len(columns) == 0 {
		return plan.Bitmap(n, nil, nil), nil
	}
	var want []uint32
	for _, q := range g.queries {
		for _, c := range columns {
			want = append(want, q.Words()[c])
		}
	}
	head := (4*len(want) + 127) &^ 127
	// A run of vertices: its bits fit the memory of a sub-table.
	each := min((int(t.feed.Room())-head)/4/len(columns), 32*t.room.made) &^ 63
	if each <= 0 {
		return nil, &cuda.Error{Op: Name, Kind: cuda.ErrMemory, Text: fmt.Sprintf("%d columns of signatures do not fit a segment of %d bytes", len(columns), t.feed.Room())}
	}
	size := func(i int) int { return min(each, n-i*each) }
	piece := func(i int) session.Piece {
		return session.Piece{Bytes: int64(head + 4*len(columns)*size(i)), Fill: func(to []byte) error {
			copy(to, raw(want))
			for k, c := range columns {
				copy(to[head+4*k*size(i):], raw(table.Table()[c*n+i*each:][:size(i)]))
			}
			return nil
		}}
	}
	err := t.feed.Each((n+each-1)/each, piece, func(i int, at uint64) error {
		s, err := t.line.free()
		if err != nil {
			return err
		}
		a := segmentSigns{Table: at + uint64(head), Want: at, Vertices: uint32(size(i)), Columns: uint32(len(columns)), Queries: uint32(len(g.queries))}
		return t.line.sign(s, a, func(segmentHead) error {
			copy(raw(out[i*each/64:]), raw(s.out[:(size(i)+31)/32]))
			t.line.back += int64(size(i)+7) / 8
			return nil
		})
	})
	if err == nil {
		err = t.line.drain()
	}
	if err != nil {
		return nil, err
	}
	return renumber(out, t.ids), nil
}

// sign runs the kernel that filters by signatures.
func (l *line) sign(s *subTable, a segmentSigns, took func(segmentHead) error) error {
	k, err := l.kernel(segmentSign)
	if err != nil {
		return err
	}
	l.turn++
	s.turn, s.took = l.turn, took
	a.Out, a.Made, a.Done, a.Head, a.Turn = s.outPtr, s.counts, s.counts+16, s.headPtr, s.turn
	err = l.run(k, segmentSign, uint64(a.Vertices), func(g cuda.Launch) error { return session.LaunchFixed(l.x, k, g, &a) })
	if err != nil {
		return err
	}
	return l.launched(s)
}

// allow copies the bitmap of the vertices that may be candidates of group i to the device. nil: all may, and nothing is copied.
func (t *outside) allow(i int) error {
	words := t.allowed[i]
	if words == nil || t.has == i+1 {
		return nil
	}
	t.has = i + 1
	return cuda.Upload(t.x.Context(), t.bits, 0, words)
}
