package weft

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime"
)

// EngineOption is a switch that WithEngineOption sets: of planning, or of one
// engine. They are for experiments; answers do not depend on them.
type EngineOption struct {
	Name    string   // as "host.steal": the engine, or plan, and what is switched
	Values  []string // N stands for a number; the first is the default where it is on or auto
	Meaning string
}

var onOff = []string{"on", "off"}

var engineOptions = []EngineOption{
	{"plan.method", []string{"nest", "local", "large", "formula", "temporal", "walks"}, "count this way; without it the cheapest is chosen"},
	{"plan.tail", onOff, "count the last levels by arithmetic"},
	{"plan.motion", onOff, "make each set as early as can be"},
	{"plan.restrictions", onOff, "break the pattern's symmetries"},
	{"host.tail", onOff, "count the last levels by arithmetic"},
	{"host.steal", onOff, "idle cores take parts of others' work"},
	{"host.windows", onOff, "edges in a window of time as slices of sorted lists"},
	{"host.bitmap", onOff, "long lists also as bitmaps"},
	{"stack.local", onOff, "neighbourhoods as bit matrices where the plan suits it"},
	{"stack.local.share", onOff, "blocks without roots help with those of others"},
	{"stack.local.whole", onOff, "one kernel over all vertices where neighbourhoods are small and only sizes are asked for"},
	{"stack.program", []string{"code", "table"}, "code compiled for the plan, or a table that one kernel reads"},
	{"stack.code-motion", onOff, "make each set as early as can be"},
	{"stack.unroll", []string{"1", "2", "4", "8"}, "siblings whose set operations are one"},
	{"stack.steal", []string{"grid", "block", "off"}, "whose work an idle warp takes"},
	{"stack.stop-level", []string{"N"}, "the deepest level whose siblings are taken"},
	{"stack.detect-level", []string{"N"}, "the deepest level that is shared with idle blocks"},
	{"stack.slot", []string{"N"}, "elements that a set has room for; 0: any number"},
	{"stack.tail", onOff, "count the last levels by arithmetic"},
	{"stack.flat", onOff, "the last level as one list a warp"},
	{"stack.roots", []string{"auto", "vertex", "edge"}, "what a task is"},
	{"stack.blocks", []string{"N"}, "blocks of the grid; 0: as many as fit"},
	{"stack.threads", []string{"N"}, "threads of a block"},
	{"stack.chunk", []string{"N"}, "tasks taken at a time; 0: by their number"},
	{"stack.sieve", []string{"N"}, "binary logarithm of the bits of a warp's table; 0: none"},
	{"stack.stats", []string{"off", "on"}, "count techniques and lanes"},
	{"fine.batch", onOff, "partial matches share a pool"},
	{"fine.tail", onOff, "count the last levels by arithmetic"},
	{"fine.steal", []string{"grid", "block", "off"}, "whose work an idle warp takes"},
	{"fine.index", []string{"auto", "none", "bitmap", "hash"}, "a candidate graph, and how its rows are asked"},
	{"fine.lookup", []string{"auto", "bits", "hash", "search"}, "how to find out who is in a neighbour list"},
	{"fine.siblings", []string{"auto", "on", "off"}, "test the last level's candidates for siblings together"},
	{"fine.prune", []string{"off", "on"}, "remove vertices of too few neighbours first"},
	{"fine.pool", []string{"N"}, "partial matches that the breadth-first start makes; 0: none"},
	{"codegen.lookup", []string{"auto", "bits", "hash", "search"}, "how a loop nest finds out who is in a neighbour list"},
	{"codegen.local", onOff, "neighbourhoods as bit matrices where the plan suits it"},
	{"codegen.local.share", onOff, "blocks without roots help with those of others"},
	{"codegen.local.whole", onOff, "one kernel over all vertices where neighbourhoods are small and only sizes are asked for"},
}

// EngineOptions lists what WithEngineOption sets.
func EngineOptions() []EngineOption { return slices.Clone(engineOptions) }

// ofGPU reports whether an option belongs to an engine of GPUs, which knows its
// own names and values.
func ofGPU(option string) bool {
	engine, _, _ := strings.Cut(option, ".")
	return route.GPUEngine(engine)
}

// checkOption says what is wrong with an engine option, or whether it is off.
func checkOption(name, value string) (off bool, err error) {
	i := slices.IndexFunc(engineOptions, func(o EngineOption) bool { return o.Name == name })
	if i < 0 {
		of, _, _ := strings.Cut(name, ".")
		var all, names []string
		for _, o := range engineOptions {
			all = append(all, o.Name)
			if strings.HasPrefix(o.Name, of+".") {
				names = append(names, o.Name)
			}
		}
		if names == nil {
			names = all
		}
		meant := ""
		if s := pattern.Nearest(name, all, 2); s != "" {
			meant = "; did you mean " + s + "?"
		}
		return false, fmt.Errorf("unknown; there are %s%s", strings.Join(names, ", "), meant)
	}
	values := engineOptions[i].Values
	switch {
	case !ofGPU(name) && slices.Contains(values, "on"):
		return isOff(value)
	case slices.Contains(values, "N"):
		if _, err := strconv.ParseUint(value, 10, 63); err != nil {
			return false, fmt.Errorf("%q is not a number", value)
		}
	case !slices.Contains(values, value):
		return false, fmt.Errorf("%q: want %s", value, strings.Join(values, ", "))
	}
	return false, nil
}

// checkEffect refuses an option of an engine that will not, or may not, run.
func (s *settings) checkEffect(option string) error {
	if of, _, _ := strings.Cut(option, "."); of != "plan" {
		if s.engine != "" && s.engine != "auto" && s.engine != of {
			return fmt.Errorf("the engine asked for is %s", s.engine)
		}
		for other := range s.opts {
			if o, _, _ := strings.Cut(other, "."); o != "plan" && o != of {
				return fmt.Errorf("%s is of another engine", other)
			}
		}
	}
	switch gpu := runtime.OnGPU(s.device) || s.device != "cpu" && route.GPUEngine(s.engine); {
	case ofGPU(option) && !gpu:
		return errors.New("its engine runs on GPUs: add --device gpu:0")
	case strings.HasPrefix(option, "host.") && gpu:
		return errors.New("its engine does not run on GPUs")
	}
	return nil
}

// engineName is the engine asked for, which an option of it asks for too.
func (s *settings) engineName() string {
	if s.engine != "" && s.engine != "auto" {
		return s.engine
	}
	for option := range s.opts {
		if of, _, _ := strings.Cut(option, "."); of != "plan" {
			return of
		}
	}
	return s.engine
}

func isOff(v string) (bool, error) {
	switch v {
	case "on":
		return false, nil
	case "off":
		return true, nil
	}
	on, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("%q is neither on nor off", v)
	}
	return !on, nil
}
