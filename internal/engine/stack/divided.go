package stack

import (
	"context"
	"fmt"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu/neighbourhood"
)

// divide has hubs counted by the nest where that pays, and the other roots by the local method. err is that of the local method over all roots,
// which it makes nil where the other roots suit the method.
func (x *prepared) divide(w neighbourhood.Switches, err *error) {
	d := neighbourhood.Divide(x.e.s, x.g, x.p, w)
	if d == nil {
		return
	}
	rest, failed := neighbourhood.New(x.e.Name(), x.e.s, x.g, d.Rest, w, x.o)
	if failed != nil || !d.Pays(rest) {
		return
	}
	hubs := &prepared{e: x.e, g: x.g, p: d.Hubs, o: x.o, switches: x.switches}
	if _, failed := hubs.search(0); failed != nil {
		return
	}
	x.local, x.divided, x.hubs, *err = rest, d, hubs, nil
}

// runDivided counts the matches of hubs by the nest, behind those of the other roots by the local method.
func (x *prepared) runDivided(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	first, second := goal, goal
	var more engine.Memory
	if goal.PerRoot != nil {
		second.PerRoot = make([]engine.Uint128, len(goal.PerRoot))
	}
	if goal.Memory != nil {
		second.Memory = &more
	}
	hubs := uint64(x.divided.End)
	var others uint64 // tasks of the other roots
	if p := goal.Progress; p != nil {
		first.Progress = func(done, total uint64) { others = total; p(done, total+hubs) }
		second.Progress = func(done, total uint64) { p(others+done, others+total) }
	}
	if p := goal.Details; p != nil {
		first.Details = func(done, total uint64, detail string) { others = total; p(done, total+hubs, detail) }
		second.Details = func(done, total uint64, detail string) { p(others+done, others+total, detail) }
	}
	res, err := x.local.Run(ctx, first)
	if err != nil || goal.Memory == nil && !res.Complete {
		return res, err
	}
	if goal.Limit > 0 {
		second.Limit = goal.Limit - int64(res.Matches.Lo)
	}
	of, err := x.hubs.runNest(ctx, second)
	if goal.Memory != nil {
		goal.Memory.Least = max(goal.Memory.Least, more.Least)
		return res, err
	}
	if err != nil && ctx.Err() == nil {
		return engine.Result{Engine: res.Engine, Device: res.Device}, err // no number beside an error
	}
	res.Matches, res.Complete = res.Matches.Add(of.Matches), of.Complete
	res.Search, res.Prepare = res.Search+of.Search, res.Prepare+of.Prepare
	for v, n := range second.PerRoot {
		goal.PerRoot[v] = goal.PerRoot[v].Add(n)
	}
	res.Stats = append(res.Stats, fmt.Sprintf("%d roots with more than %d neighbours by the nest, in %v", x.divided.End, x.divided.Most, of.Search))
	for _, line := range of.Stats {
		res.Stats = append(res.Stats, "of these roots: "+line)
	}
	return res, err
}
