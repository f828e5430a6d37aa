package plan_test

import (
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/plan"
)

// TestMember: a vertex of an earlier level is tested for what its own level, and the levels
// between, have not tested of it.
func TestMember(t *testing.T) {
	bits := []uint64{1}
	p := &plan.Plan{
		Adjs: []plan.Adjacency{{Rev: 1}, {Rev: 0}},
		Levels: []plan.Level{
			{},
			{Back: []plan.Back{{Level: 0, Adj: 0}}, Bits: bits, Ranges: []plan.Range{{First: 0, End: 4}}},
			{Back: []plan.Back{{Level: 0, Adj: 0}, {Level: 1, Adj: 1}}},
			{Back: []plan.Back{{Level: 0, Adj: 0}, {Level: 2, Adj: 0}}, Bits: bits, Ranges: []plan.Range{{First: 0, End: 4}}},
		},
	}
	for _, c := range []struct {
		l, d int
		want plan.Member
	}{
		// Level 2 looked at level 1 from the other end, so that 1 is in N(2) of level 3.
		{3, 1, plan.Member{Level: 1}},
		{3, 0, plan.Member{Level: 0, Back: []plan.Back{{Level: 0, Adj: 0}, {Level: 2, Adj: 0}}, Ranges: true, Bits: true}},
		{3, 2, plan.Member{Level: 2, Back: []plan.Back{{Level: 2, Adj: 0}}, Ranges: true, Bits: true}},
		{2, 1, plan.Member{Level: 1, Back: []plan.Back{{Level: 1, Adj: 1}}}},
	} {
		got := p.Member(c.l, c.d)
		if got.Level != c.want.Level || got.Ranges != c.want.Ranges || got.Bits != c.want.Bits || !slices.Equal(got.Back, c.want.Back) {
			t.Errorf("level %d's set and level %d's vertex: %+v, want %+v", c.l, c.d, got, c.want)
		}
	}
}

// TestUnread: a node is unread where a tail wants its size alone and nothing is made of it.
func TestUnread(t *testing.T) {
	p := &plan.Plan{
		Sets: []plan.Set{
			{Op: plan.SetList, Base: -1}, {Op: plan.SetAnd, Base: 0}, {Op: plan.SetAnd, Base: 1}, {Op: plan.SetMinus, Base: 0},
		},
		Levels: []plan.Level{{Set: -1}, {Set: 0}, {Set: 1}, {Set: 2}, {Set: 3}},
	}
	groups := []plan.TailGroup{{Levels: []int{3}}, {Levels: []int{4}}}
	for _, c := range []struct {
		walked int
		groups []plan.TailGroup
		reads  int // the group whose elements are read
		want   []bool
	}{
		{5, nil, -1, []bool{false, false, false, false}},
		{3, groups, -1, []bool{false, false, true, true}},
		{3, groups, 1, []bool{false, false, true, false}},
		{2, []plan.TailGroup{{Levels: []int{2, 3, 4}}}, -1, []bool{false, true, true, true}},
		{1, []plan.TailGroup{{Levels: []int{1}}}, -1, []bool{false, true, true, true}},
	} {
		if got := p.Unread(c.walked, c.groups, func(g int) bool { return g == c.reads }); !slices.Equal(got, c.want) {
			t.Errorf("%d levels walked, %v closed, group %d read: %v, want %v", c.walked, c.groups, c.reads, got, c.want)
		}
	}
}
