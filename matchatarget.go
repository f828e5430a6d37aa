package weft

import (
	"context"
	"fmt"

	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/cpu"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// WithTarget chooses what runs a Matcha program: interp, the interpreter, on one
// core; or c, C that the machine's compiler compiles, on all cores. Answers are the
// same, but for what C does not check: whole numbers that pass 64 bits wrap there.
// Rows that a program emits come in any order from c.
func WithTarget(name string) Option { return func(s *settings) { s.target = name } }

// WithSchedule says how the target of a Matcha program spreads its work, as in
// "threads=4,loop=static": knobs with commas between them.
func WithSchedule(text string) Option { return func(s *settings) { s.schedule = text } }

// MatchaTargets are the targets of WithTarget, the default first, and what they
// are.
func MatchaTargets() [][2]string {
	return [][2]string{
		{string(schedule.Interp), "the interpreter, on one core"},
		{string(schedule.C), "C, compiled by the machine's compiler, on all cores"},
	}
}

// matchaSchedule is how a Matcha program is to be run.
func (s *settings) matchaSchedule() (schedule.Schedule, error) {
	target := schedule.Interp
	if s.target != "" {
		target = schedule.Target(s.target)
	}
	switch target {
	case schedule.Interp, schedule.C:
	default:
		return schedule.Schedule{}, withKind(ErrUsage, fmt.Errorf("the target %q: want interp or c", s.target))
	}
	sched, err := schedule.Parse(target, s.schedule)
	if err != nil {
		return sched, withKind(ErrUsage, err)
	}
	if sched.Threads == 0 && target == schedule.C {
		sched.Threads = s.threads
	}
	return sched, nil
}

// execute runs a program that has its inputs on the target of the options.
func (m *Matcha) execute(ctx context.Context, s *settings, p *asg.Program, set *data.Set, in map[string]any, emit func([]types.Word) bool) (interp.Result, error) {
	sched, err := s.matchaSchedule()
	if err != nil {
		return interp.Result{}, err
	}
	if sched.Target == schedule.Interp {
		return interp.Run(ctx, p, set, interp.Options{Memory: s.memory, Emit: emit})
	}
	code, err := irgen.Lower(ctx, p, set)
	if err != nil {
		return interp.Result{}, err
	}
	off, err := s.passesOff()
	if err != nil {
		return interp.Result{}, err
	}
	passes.OptimizeIR(code.Program, off...)
	o := cpu.Options{Schedule: sched, Memory: s.memory, Emit: emit}
	for _, v := range in {
		g, ok := v.(*Graph)
		if !ok {
			continue
		}
		if err := g.g.Sound(ctx, sched.Threads); err != nil {
			return interp.Result{}, err
		}
		if o.Classes == nil {
			for _, k := range g.g.Classes {
				o.Classes = append(o.Classes, c.Range{First: k.First, End: k.End})
			}
		}
	}
	return cpu.Run(ctx, p.Name, code, o)
}
