package setting

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime"
)

// planSwitches are the switches of planning.
var planSwitches = option.Table{
	{Name: "plan.method", Values: []string{"nest", "local", "large", "formula", "temporal", "walks"}, Meaning: "count this way; without it the cheapest is chosen"},
	option.Switch("plan.tail", true, "count the last levels by arithmetic"),
	option.Switch("plan.motion", true, "make each set as early as can be"),
	option.Switch("plan.restrictions", true, "break the pattern's symmetries"),
}

// Switches are the switches of planning and of all engines, without those for tests.
var Switches = slices.DeleteFunc(slices.Concat(planSwitches, route.Options(), route.WatchOptions()), func(o option.Option) bool { return o.Hidden })

// general reports whether the owner of switches is not a single engine: planning, or the common
// part of all engines of GPUs.
func general(owner string) bool { return owner == "plan" || owner == "gpu" }

// checkEffect refuses a switch of an engine that will not, or may not, run.
func (s *Settings) checkEffect(name string) error {
	if slices.ContainsFunc(route.WatchOptions(), func(o option.Option) bool { return o.Name == name }) {
		return errors.New("its engine matches the updates of a watch")
	}
	if of := option.Owner(name); !general(of) {
		if s.Engine != "" && s.Engine != "auto" && s.Engine != of {
			return fmt.Errorf("the engine asked for is %s", s.Engine)
		}
		for other := range s.Switches {
			if o := option.Owner(other); !general(o) && o != of {
				return fmt.Errorf("%s is of another engine", other)
			}
		}
	}
	switch gpu := runtime.OnGPU(s.Device) || s.Device != "cpu" && route.NeedsGPU(s.Engine); {
	case route.NeedsGPU(option.Owner(name)) && !gpu:
		return errors.New("its engine runs on GPUs: add --device gpu:0")
	case option.Owner(name) == "gpu" && !gpu:
		return errors.New("it is for searches on GPUs: add --device gpu:0")
	case option.Owner(name) == "host" && gpu:
		return errors.New("its engine does not run on GPUs")
	}
	return nil
}

// EngineName is the engine asked for, which a switch of it asks for too.
func (s *Settings) EngineName() string {
	if s.Engine != "" && s.Engine != "auto" {
		return s.Engine
	}
	for name := range s.Switches {
		if of := option.Owner(name); !general(of) {
			return of
		}
	}
	return s.Engine
}
