package phases_test

import (
	"reflect"
	"testing"

	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
)

// TestMerged: what merges compare, by hand. A path a–b–c–d–e whose last vertex must be above the first one, and must differ from the second.
func TestMerged(t *testing.T) {
	back := func(l int) []plan.Back { return []plan.Back{{Level: l}} }
	every := func(*phases.Merging) bool { return true }
	merges := func(p *plan.Plan, wanted func(*phases.Merging) bool) (out []phases.Merging, weighs []int) {
		all := make([]phases.Phase, len(p.Levels))
		for l := range all {
			all[l] = phases.Phase{Groups: []phases.Group{{Levels: []int{l}}}}
		}
		for i, x := range phases.Merged(p, all, wanted) {
			if x.Merging != nil {
				out = append(out, *x.Merging)
			}
			if x.Weigh {
				weighs = append(weighs, i)
			}
		}
		return out, weighs
	}
	for _, c := range []struct {
		why    string
		levels []plan.Level
		want   []phases.Merging
		weighs []int
	}{
		{
			"a restriction keeps its end", []plan.Level{{}, {Back: back(0)}, {Back: back(1)}, {Back: back(2)}, {Back: back(3), Above: []int{0}, Distinct: []int{1}}},
			[]phases.Merging{{End: 3, Live: []int{0, 2}, Bars: []phases.Bar{{Level: 1, Of: []int{4}}}}, {End: 4, Live: []int{0, 3}, Bars: []phases.Bar{{Level: 1, Of: []int{4}}}}}, nil,
		},
		{
			"the other way", []plan.Level{{}, {Back: back(0)}, {Back: back(1)}, {Back: back(2), Below: []int{0}}, {Back: back(3)}},
			[]phases.Merging{{End: 3, Live: []int{0, 2}}, {End: 4, Live: []int{3}}}, nil,
		},
		{
			"a leaf that nothing asks for", []plan.Level{{}, {Back: back(0)}, {Back: back(0)}, {Back: back(2)}},
			[]phases.Merging{{End: 3, Live: []int{2}}}, []int{1},
		},
		{
			"a condition is evaluated first", []plan.Level{{}, {Back: back(0)}, {Back: back(1)}, {Back: back(2), Checks: []plan.Check{{}}}, {Back: back(3)}},
			[]phases.Merging{{End: 4, Live: []int{3}}}, nil,
		},
	} {
		p := &plan.Plan{Levels: c.levels}
		if got, weighs := merges(p, every); !reflect.DeepEqual(got, c.want) || !reflect.DeepEqual(weighs, c.weighs) {
			t.Errorf("%s: %+v and %v, want %+v and %v", c.why, got, weighs, c.want, c.weighs)
		}
		if got, weighs := merges(p, func(*phases.Merging) bool { return false }); got != nil || weighs != nil {
			t.Errorf("%s: %+v and %v, which nobody wants", c.why, got, weighs)
		}
	}
	rooted := &plan.Plan{Rooted: true, Levels: []plan.Level{{}, {Back: back(0)}, {Back: back(1)}, {Back: back(2)}}}
	if got, _ := merges(rooted, every); len(got) != 1 || !reflect.DeepEqual(got[0].Live, []int{0, 2}) {
		t.Errorf("a count by vertex: %+v", got)
	}
}
