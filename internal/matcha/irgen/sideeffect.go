package irgen

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// done is an apply that does something: it runs here and once. Of its list the sum
// and the size are kept, or the list where something else reads it.
func (l *lowerer) done(n *asg.Node) *value {
	sum, items := false, false
	asg.Walk(l.p, func(m *asg.Node) {
		for _, a := range m.Args {
			sum = sum || a == n && m.Op == asg.Sum
			items = items || a == n && m.Op != asg.Sum && m.Op != asg.Size
		}
	})
	if v := l.laneAdds(n); v != nil {
		return v
	}
	run := func() []kir.Expr { return l.again(n.Func) }
	switch {
	case n.Type.Kind == types.Void:
		l.applied(n, func() { run() })
		return &value{}
	case items:
		return l.store(n, &value{each: func(body func([]kir.Expr)) {
			l.applied(n, func() { body(run()) })
		}})
	}
	count := l.total("n", kir.I64)
	counted := func() []kir.Expr {
		l.do(&kir.Accumulate{To: kir.R(count), X: i64(1)})
		return run()
	}
	if !sum {
		l.applied(n, func() { counted() })
		return &value{count: kir.R(count)}
	}
	sums := l.sum(n, n.Type.Elem, func(add func([]kir.Expr)) {
		l.applied(n, func() { add(counted()) })
	})
	return &value{count: kir.R(count), sums: sums.xs}
}
