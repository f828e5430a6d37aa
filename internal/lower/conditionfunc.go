package lower

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// Condition adds the function of a condition from bind.Condition to the program prog. All names that it adds
// begin with name. The function's parameters are the vertices (u32) and data edges (u64) that the
// condition reads. The results vertices and edges have their numbers in the pattern.
func Condition(p *plan.Plan, prog *kir.Program, name string) (f *kir.Func, vertices, edges []int, err error) {
	x := &lowering{shared: newShared(prog, p), p: p, names: plan.LevelNames(p), longest: map[int]int{}}
	x.prefix = name
	c := &p.Levels[len(p.Levels)-1].Checks[0]
	if err := x.condition(c); err != nil {
		return nil, nil, nil, err
	}
	code := x.codes[c]
	return code.f, code.vertices, code.edges, nil
}
