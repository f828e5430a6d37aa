package weft

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime"
)

// EngineOption is a switch that WithEngineOption sets: of planning, or of one
// engine. They are for experiments; answers do not depend on them.
type EngineOption struct {
	Name    string   // as "host.steal": the engine, or plan, and what is switched
	Values  []string // N stands for a number
	Default string   // the value where the option is not set; "": it is chosen for each query
	Meaning string
}

// planSwitches are the switches of planning.
var planSwitches = option.Table{
	{Name: "plan.method", Values: []string{"nest", "local", "large", "formula", "temporal", "walks"}, Meaning: "count this way; without it the cheapest is chosen"},
	option.Switch("plan.tail", true, "count the last levels by arithmetic"),
	option.Switch("plan.motion", true, "make each set as early as can be"),
	option.Switch("plan.restrictions", true, "break the pattern's symmetries"),
}

// allOptions are the switches of planning and of all engines, without those for tests.
var allOptions = slices.DeleteFunc(slices.Concat(planSwitches, route.Options()), func(o option.Option) bool { return o.Hidden })

// EngineOptions lists what WithEngineOption sets.
func EngineOptions() (out []EngineOption) {
	for _, o := range allOptions {
		values := slices.Clone(o.Values)
		if values == nil {
			values = []string{"N"}
		}
		out = append(out, EngineOption{o.Name, values, o.Default, o.Meaning})
	}
	return out
}

// general reports whether the owner of options is not one engine: planning, or what all
// engines of GPUs share.
func general(owner string) bool { return owner == "plan" || owner == "gpu" }

// checkEffect refuses an option of an engine that will not, or may not, run.
func (s *settings) checkEffect(name string) error {
	if of := option.Owner(name); !general(of) {
		if s.engine != "" && s.engine != "auto" && s.engine != of {
			return fmt.Errorf("the engine asked for is %s", s.engine)
		}
		for other := range s.opts {
			if o := option.Owner(other); !general(o) && o != of {
				return fmt.Errorf("%s is of another engine", other)
			}
		}
	}
	switch gpu := runtime.OnGPU(s.device) || s.device != "cpu" && route.GPUEngine(s.engine); {
	case route.GPUEngine(option.Owner(name)) && !gpu:
		return errors.New("its engine runs on GPUs: add --device gpu:0")
	case option.Owner(name) == "gpu" && !gpu:
		return errors.New("it is for searches on GPUs: add --device gpu:0")
	case option.Owner(name) == "host" && gpu:
		return errors.New("its engine does not run on GPUs")
	}
	return nil
}

// engineName is the engine asked for, which an option of it asks for too.
func (s *settings) engineName() string {
	if s.engine != "" && s.engine != "auto" {
		return s.engine
	}
	for name := range s.opts {
		if of := option.Owner(name); !general(of) {
			return of
		}
	}
	return s.engine
}
