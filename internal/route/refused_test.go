package route

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/plan"
)

// TestRefused: an error of Pick is ErrRefused if an engine refused the plan, and not if an engine failed.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		engine, method string
		opt            map[string]string
		refused        bool
	}{
		{Codegen, plan.Local.String(), nil, true},
		{Codegen, "", map[string]string{"codegen.lookup": "maybe"}, false},
		{"host", "", map[string]string{"host.tail": "maybe"}, false},
	} {
		r := request(t, 1)
		r.Engine, r.Method, r.Options.Opt = c.engine, c.method, c.opt
		_, err := Pick(t.Context(), r)
		if err == nil || errors.Is(err, ErrRefused) != c.refused || errors.Is(err, engine.ErrOption) == c.refused {
			t.Errorf("%+v: %v", c, err)
		}
	}
	no, other := plan.Refusef("no"), errors.New("other")
	for _, c := range []struct {
		errs    []error
		refused bool
	}{
		{[]error{no, no}, true},
		{[]error{no, other}, false},
		{[]error{other, no}, false},
	} {
		err := failed(c.errs...)
		if errors.Is(err, ErrRefused) != c.refused || !errors.Is(err, c.errs[0]) || !errors.Is(err, c.errs[1]) {
			t.Errorf("%v: %v", c.errs, err)
		}
	}
}
