// Package choose is the registry of engines, the choice that --engine auto
// makes, and its reason in a sentence.
package choose

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Errors of Pick; test with errors.Is.
var (
	// ErrName: no engine or device is called so.
	ErrName = errors.New("unknown name")
	// ErrDevice: the device was asked for and this build cannot use it.
	ErrDevice = errors.New("device not available")
	// ErrRefused: the engine cannot run the plan.
	ErrRefused = errors.New("engine refused")
)

// engines are all engines by name, the ones that auto may choose first.
var engines = []struct {
	make    func() engine.Engine
	meaning string
}{
	{host.New, "all cores of this machine"},
	{func() engine.Engine { return oracle.New() }, "slow and obvious; to check the others; never chosen by auto"},
	{func() engine.Engine { return codegen.New(nil) }, "GPUs: the whole loop nest of a plan compiled into one kernel; with --device gpu:0,1,…"},
}

// Description is an engine's name and what it is.
type Description struct{ Name, Meaning string }

// Engines lists the engines of this build.
func Engines() []Description {
	var out []Description
	for _, e := range engines {
		out = append(out, Description{e.make().Name(), e.meaning})
	}
	return out
}

// Choice is an engine and why it was chosen.
type Choice struct {
	Engine engine.Engine
	Reason string
}

// CheckNames says whether an engine and a device of these names exist in this
// build; "" is auto.
func CheckNames(name, device string) error {
	if err := checkDevice(device); err != nil {
		return err
	}
	if name == "" || name == "auto" {
		return nil
	}
	_, err := byName(name)
	return err
}

func checkDevice(device string) error {
	list, err := ordinals(device)
	if err != nil || len(list) == 0 {
		return err
	}
	n, err := cuda.Count()
	if err != nil {
		return fmt.Errorf("%w: %s was asked for: %w", ErrDevice, device, err)
	}
	if most := slices.Max(list); most >= n {
		return fmt.Errorf("%w: gpu:%d was asked for, and the GPUs here are 0 … %d", ErrDevice, most, n-1)
	}
	return nil
}

func byName(name string) (engine.Engine, error) {
	var names []string
	for _, e := range engines {
		eng := e.make()
		if eng.Name() == name {
			return eng, nil
		}
		names = append(names, eng.Name())
	}
	msg := fmt.Sprintf("engine %q: want auto, %s", name, strings.Join(names, ", "))
	if s := pattern.Suggest(name, names); s != "" {
		msg += "; did you mean " + s + "?"
	}
	return nil, fmt.Errorf("%w: %s", ErrName, msg)
}

// Pick returns the engine that runs p on g: the one asked for, or with "" and
// auto the best that can.
func Pick(name, device string, g *graph.Graph, p *plan.Plan, o engine.Options) (Choice, error) {
	if err := checkDevice(device); err != nil {
		return Choice{}, err
	}
	if OnGPU(device) {
		return pickGPU(name, device, g, p, o)
	}
	if name != "" && name != "auto" {
		eng, err := byName(name)
		if err != nil {
			return Choice{}, err
		}
		if eng.Name() == (*codegen.Engine)(nil).Name() {
			return Choice{}, fmt.Errorf("%w: engine %s runs on GPUs: add --device gpu:0", ErrName, name)
		}
		if err := eng.Check(g, p, o); err != nil {
			return Choice{}, fmt.Errorf("%w: %s: %w", ErrRefused, name, err)
		}
		return Choice{eng, "asked for by name"}, nil
	}
	eng := engines[0].make()
	if err := eng.Check(g, p, o); err != nil {
		return Choice{}, fmt.Errorf("%w: %s: %w", ErrRefused, eng.Name(), err)
	}
	return Choice{eng, "runs every plan on all cores; GPUs are used when --device names them"}, nil
}

// pickGPU is Pick for GPUs asked for by name. Nothing else is tried in their
// place.
func pickGPU(name, device string, g *graph.Graph, p *plan.Plan, o engine.Options) (Choice, error) {
	if name != "" && name != "auto" && name != (*codegen.Engine)(nil).Name() {
		if _, err := byName(name); err != nil {
			return Choice{}, err
		}
		return Choice{}, fmt.Errorf("%w: engine %s does not run on GPUs; codegen does", ErrName, name)
	}
	s, err := sessionOn(device)
	if err != nil {
		return Choice{}, err
	}
	eng := codegen.New(s)
	if err := eng.Check(g, p, o); err != nil {
		return Choice{}, fmt.Errorf("%w: %s: %w", ErrRefused, eng.Name(), err)
	}
	return Choice{eng, "the device was asked for by name"}, nil
}
