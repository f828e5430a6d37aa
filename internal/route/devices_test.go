package route

import (
	"errors"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/plan"
)

// TestBegin: devices that begin to open early are those that are wanted later, or
// the error that says why there are none.
func TestBegin(t *testing.T) {
	if err := closeOpen(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "auto", "cpu", "gpu:x"} {
		Begin(name, 0)
		if open.current(nil) != nil {
			t.Errorf("%q opens GPUs", name)
		}
	}
	Begin("gpu:0", 0)
	s, err := sessionOn(t.Context(), "gpu:0", 0)
	if err != nil {
		if !errors.Is(err, ErrDevice) || !errors.Is(err, cuda.ErrNoDriver) && !errors.Is(err, cuda.ErrNoDevice) {
			t.Error(err)
		}
		return
	}
	defer closeOpen()
	if again, err := sessionOn(t.Context(), "gpu:0", 0); err != nil || again != s {
		t.Errorf("another session: %v", err)
	}
}

// TestWaited: a wait is told once.
func TestWaited(t *testing.T) {
	Waited()
	_ = CheckNames(t.Context(), "", "gpu:0")
	if driver, devices := Waited(); driver <= 0 || devices != 0 {
		t.Errorf("waited %v for the driver and %v for devices", driver, devices)
	}
	_, _ = sessionOn(t.Context(), "gpu:0", 0)
	if driver, devices := Waited(); driver != 0 || devices <= 0 {
		t.Errorf("waited %v for the driver and %v for devices", driver, devices)
	}
	if driver, devices := Waited(); driver != 0 || devices != 0 {
		t.Errorf("waited %v and %v again", driver, devices)
	}
}

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
	Waited()
	_, err := pickGPU(t.Context(), r)
	if _, devices := Waited(); len(events) < 1 || events[0] != plan.Local.String() || devices <= 0 {
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
