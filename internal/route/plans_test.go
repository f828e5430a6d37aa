package route

import (
	"errors"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime"
)

// TestPlansOnce: a query is planned before devices are waited for, and once for each way
// to run it.
func TestPlansOnce(t *testing.T) {
	r := request(t, 1e10) // too little to look for a second plan
	r.Device = "gpu:0"
	var events []string
	compile := r.Compile
	r.Compile = func(method, order string) (*plan.Plan, error) {
		events = append(events, method+order)
		return compile(method, order)
	}
	r.waits = new(runtime.Waits)
	_, err := pickGPU(t.Context(), r)
	if devices := r.waits.Devices; len(events) < 1 || events[0] != plan.Local.String() || devices <= 0 {
		t.Errorf("%v, and then %v for devices, %v", events, devices, err)
	}
	if slices.Sort(events); len(slices.Compact(events)) != len(events) {
		t.Errorf("planned more than once: %v", events)
	}
	// Errors are remembered as plans are.
	asked := 0
	again := remembering(func(string, string) (*plan.Plan, error) {
		asked++
		return nil, ErrRefused
	})
	for _, method := range []string{"nest", "local", "nest"} {
		if _, err := again(method, ""); !errors.Is(err, ErrRefused) {
			t.Error(err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times for two plans", asked)
	}
}
