package stack

import (
	"context"
	"fmt"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu/neighbourhood"
)

// divided is a plan of which the nest counts hubs, and the local method the other roots.
type divided struct {
	*neighbourhood.Divided
	rest *neighbourhood.Search
	hubs *prepared
}

// divide has hubs counted by the nest where that pays; nil: one method counts all roots.
func (x *prepared) divide(w neighbourhood.Switches) *divided {
	if x.switches.hubs == "off" {
		return nil
	}
	d := &divided{Divided: neighbourhood.Divide(x.e.s, x.g, x.p, w)}
	if d.Divided == nil {
		return nil
	}
	var err error
	if d.rest, err = neighbourhood.New(x.e.Name(), x.e.s, x.g, d.Rest, w, x.o); err != nil || x.switches.hubs == "auto" && !d.rest.Outside() {
		return nil
	}
	d.hubs = &prepared{e: x.e, g: x.g, p: d.Hubs, o: x.o, switches: x.switches}
	if _, err := d.hubs.search(0); err != nil {
		return nil
	}
	return d
}

// run counts the matches of hubs behind those of the other roots.
func (d *divided) run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	first, second := goal, goal
	var more engine.Memory
	if goal.PerRoot != nil {
		second.PerRoot = make([]engine.Uint128, len(goal.PerRoot))
	}
	if goal.Memory != nil {
		second.Memory = &more
	}
	hubs := uint64(d.End)
	var others uint64 // tasks of the other roots
	if p := goal.Progress; p != nil {
		first.Progress = func(done, total uint64) { others = total; p(done, total+hubs) }
		second.Progress = func(done, total uint64) { p(others+done, others+total) }
	}
	if p := goal.Details; p != nil {
		first.Details = func(done, total uint64, detail string) { others = total; p(done, total+hubs, detail) }
		second.Details = func(done, total uint64, detail string) { p(others+done, others+total, detail) }
	}
	res, err := d.rest.Run(ctx, first)
	if err != nil || goal.Memory == nil && !res.Complete {
		return res, err
	}
	if goal.Limit > 0 {
		second.Limit = goal.Limit - int64(res.Matches.Lo)
	}
	of, err := d.hubs.runNest(ctx, second)
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
	res.Stats = append(res.Stats, fmt.Sprintf("%d roots with more than %d neighbours by the nest, in %v", d.End, d.Most, of.Search))
	for _, line := range of.Stats {
		res.Stats = append(res.Stats, "of these roots: "+line)
	}
	return res, err
}
