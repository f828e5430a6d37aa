// Package gpu runs the jobs of GPU engines. It makes a session's job of a run's goal, and an
// engine's result of the job's outcome.
//
// It knows the contract of engines, and sessions. It must not know any single engine.
package gpu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/gpu/reads"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
)

// Options are the switches of all engines of GPUs.
var Options = option.Table{
	option.Choice(Adjacency, "where neighbour lists lie: in host memory, with a cache on the GPU or without; in managed memory, whose pages move to the GPU; auto is cached if the GPU has too little memory for all", "auto", "device", "cached", "host", "managed"),
	option.Choice("gpu.cache", "which lists the cache has: by random walks, the longest, or none", "walks", "degree", "off"),
	option.Switch("gpu.sweeps", true, "count triangles, diamonds and others that add up over lists in sweeps, with one block of lists on the GPU after the other, where no cache serves them"),
	option.Choice(Offsets, "whether relations of few vertices, as those of most edge labels, get an offset for each vertex; auto: in long searches of small graphs", "auto", "on", "off"),
	option.Switch(Census, true, "count all motifs at once, by passes over the vertices"),
}

// Census is the switch of the census of motifs (package gpu/census).
const Census = "gpu.census"

// Offsets is the switch that says how kernels find sparse lists.
const Offsets = "gpu.offsets"

// Adjacency is the switch that says where neighbour lists lie.
const Adjacency = "gpu.adjacency"

// Room is what a search may have: where its arrays lie, and the process's memory.
type Room struct {
	place  session.Place
	host   int64
	cache  string
	sweeps bool
	// offsets is the value of Offsets.
	offsets string
}

// ReadRoom reads what the options say of it. The error wraps engine.ErrOption.
func ReadRoom(o engine.Options) (Room, error) {
	v, err := Options.Read(o.Opt)
	if err != nil {
		return Room{}, err
	}
	place := option.Pick(v, Adjacency, map[string]session.Place{"auto": session.Auto, "device": session.Device, "cached": session.Cached, "host": session.Host, "managed": session.Managed})
	return Room{place, o.Memory, v.Text("gpu.cache"), v.On("gpu.sweeps"), v.Text(Offsets)}, nil
}

// Sparse says how a program of p reads sparse lists: as they are, or by offsets that stay on the device with the relation.
func (r Room) Sparse(p *plan.Plan) lower.SparseLists {
	if r.offsets == "on" || r.offsets != "off" && p.OffsetsPay() {
		return lower.KeptOffsets
	}
	return lower.AsStored
}

// Reads are Job.Reads and its key.
type Reads struct {
	of  func() *session.Reads
	key string
}

// Give tells a job what it reads.
func (r Reads) Give(j *session.Job) *session.Job {
	j.Reads, j.ReadsKey = r.of, r.key
	return j
}

// Reads estimates the reads of a program to which p was lowered, when they are asked for. There are none if there is to be no
// cache.
func (r Room) Reads(p *plan.Plan, prog *kir.Program) Reads {
	return r.estimated(func(how reads.Estimate) *reads.Estimator { return reads.Of(p, prog, how) })
}

// LocalReads is Reads for the local method.
func (r Room) LocalReads(p *plan.Plan, prog *kir.Program, hood Neighbourhoods) Reads {
	return r.estimated(func(how reads.Estimate) *reads.Estimator { return reads.OfNeighbourhoods(p, prog, how, hood) })
}

// Neighbourhoods says what the local method reads.
type Neighbourhoods = reads.Neighbourhoods

func (r Room) estimated(by func(how reads.Estimate) *reads.Estimator) Reads {
	if r.cache == "off" {
		return Reads{}
	}
	how := reads.Walks
	if r.cache == "degree" {
		how = reads.Degree
	}
	e := by(how)
	return Reads{e.Reads, e.Key()}
}

// Auto reports whether the options leave open where neighbour lists lie.
func (r Room) Auto() bool { return r.place == session.Auto }

// Placed returns o with a value of Adjacency.
func Placed(o engine.Options, place string) engine.Options {
	opt := map[string]string{}
	maps.Copy(opt, o.Opt)
	opt[Adjacency] = place
	o.Opt = opt
	return o
}

// Give tells a job what it may have.
func (r Room) Give(j *session.Job) *session.Job {
	j.Place, j.HostMemory, j.OneSweep = r.place, r.host, !r.sweeps
	return j
}

// Counter is USER_RAN of base/ran.cuh: the run's counter by which kernels before the search
// say that they ran.
const Counter = 0

// Run is one run of a job.
type Run struct {
	Session *session.Session
	Graph   *graph.Graph
	Plan    *plan.Plan
	Goal    engine.Goal

	// Launched counts the kernels before the search, on all devices, which count
	// themselves in Counter. Where it is not nil, a device that left one out is an error.
	Launched *atomic.Uint64
	Room     Room
	// IDs gives the graph's id of each vertex, where kernels have other ids; nil: they do not.
	IDs []uint32
	// Keep, if not nil, reports whether a row of vertices, by pattern vertex, is a match: for conditions that kernels
	// do not test. Of a row that is not, the sink hears nothing. Calls are concurrent.
	Keep func(row []uint32) bool
	// Tells says that the engine calls Goal.Details itself.
	Tells bool
	// Notes and Stats are sentences for the result.
	Notes, Stats engine.Notes
}

// Do runs the job for the goal: it fills in the fields of the job that depend on the goal, the
// graph and the plan. Faults of kernels are errors, as in session.Run.
func (r *Run) Do(ctx context.Context, j *session.Job) (engine.Result, session.Result, error) {
	goal := &r.Goal
	rows := engine.NewRows(r.Plan, goal.Sink, goal.Limit)
	r.Room.Give(j)
	j.Vertices, j.Owner = uint32(r.Graph.NumVertices()), r.Graph
	j.PerRoot, j.Progress, j.Limit = goal.PerRoot != nil, goal.Progress, uint64(max(goal.Limit, 0))
	var kept atomic.Uint64
	chooses := goal.Sink != nil && rows.Chooses()
	if goal.Sink != nil {
		hand := rows.Hand
		if r.Keep != nil {
			hand = r.keep(hand, &kept, chooses)
		}
		j.Width, j.Columns, j.Rows = len(r.Plan.Levels), r.Plan.LevelOf, r.original(hand)
	}
	if chooses || r.Keep != nil {
		j.Limit = 0 // of rows, each of which may be many matches or none
	}
	if goal.Details != nil && !r.Tells {
		j.Details = func(done, total uint64, copied int64) {
			goal.Details(done, total, fmt.Sprintf("%s copied", memory.Text(uint64(copied))))
		}
	}
	if goal.Memory != nil {
		p, err := r.Session.Rehearse(ctx, j)
		if err == nil {
			*goal.Memory = *memoryOf(p)
		}
		return engine.Result{Engine: j.Name, Device: r.Session.String()}, session.Result{}, err
	}
	found, err := r.Session.Run(ctx, j)
	if err == nil {
		if err = r.allRan(j.Name, &found); err != nil {
			found = session.Result{}
		}
	}
	r.report(&found)
	res := engine.Result{
		Engine: j.Name, Device: r.Session.String(), Threads: r.Session.Workers(),
		Matches: engine.Uint128(found.Matches), Complete: found.Complete,
		Search: found.Search, Prepare: found.Upload + found.Prepare + found.Compile,
		Notes: r.Notes.All(), Stats: r.Stats.All(), Meters: metersOf(&found),
	}
	switch {
	case chooses:
		res.Matches = engine.U64(rows.Matches())
	case r.Keep != nil:
		res.Matches = engine.U64(kept.Load())
	}
	r.clamp(&res)
	for v, n := range found.PerRoot { // none after a run that never began
		if r.IDs != nil {
			v = int(r.IDs[v])
		}
		goal.PerRoot[v] = engine.Uint128(n)
	}
	switch {
	case errors.Is(err, session.ErrOverflow):
		err = engine.ErrOverflow
	case errors.Is(err, engine.ErrStop):
		err = nil
	}
	return res, found, err
}

func metersOf(found *session.Result) *engine.Meters {
	m := &engine.Meters{LanesBusy: found.LanesBusy, LanesAll: found.LanesAll, StealsBlock: found.StealsBlock, StealsGrid: found.StealsGrid}
	for _, d := range found.Devices {
		m.Scratch = max(m.Scratch, d.Scratch)
	}
	return m
}

// Memory is Traits.Memory of a job.
func Memory(s *session.Session, j *session.Job) *engine.Memory { return memoryOf(s.Plan(j)) }

func memoryOf(p session.Plan) *engine.Memory {
	m := &engine.Memory{Budget: p.Budget, Least: p.Least, Search: p.Scratch}
	for _, a := range p.Arrays {
		place := "device"
		switch {
		case a.Host && p.Managed:
			place = "managed"
		case a.Host:
			place = "host"
		}
		m.Arrays = append(m.Arrays, engine.MemoryArray{Name: a.Name, Bytes: a.Bytes, Place: place})
	}
	if c := p.Cache; c.Lists > 0 {
		m.Cache = &engine.MemoryCache{Bytes: c.Bytes, Lists: c.Lists, Reads: c.Share}
	}
	return m
}

// original is hand of rows with the graph's ids.
func (r *Run) original(hand func(worker int, rows []uint32) error) func(worker int, rows []uint32) error {
	if r.IDs == nil {
		return hand
	}
	return func(worker int, rows []uint32) error {
		for i, v := range rows {
			rows[i] = r.IDs[v]
		}
		return hand(worker, rows)
	}
}

// keep is hand without the rows that are not matches. It counts the others in kept. It ends the run at the
// limit, unless the rows' choices of edges are what counts.
func (r *Run) keep(hand func(worker int, rows []uint32) error, kept *atomic.Uint64, chooses bool) func(worker int, rows []uint32) error {
	width, limit := len(r.Plan.Levels), uint64(max(r.Goal.Limit, 0))
	if chooses {
		limit = 0
	}
	return func(worker int, rows []uint32) error {
		left := rows[:0]
		for ; len(rows) > 0; rows = rows[width:] {
			if r.Keep(rows[:width]) {
				left = append(left, rows[:width]...)
			}
		}
		n := uint64(len(left) / width)
		end := kept.Add(n)
		if limit > 0 && end > limit {
			n -= min(n, end-limit)
		}
		if n > 0 {
			if err := hand(worker, left[:n*uint64(width)]); err != nil {
				return err
			}
		}
		if limit > 0 && end >= limit {
			return engine.ErrStop
		}
		return nil
	}
}

// report says which arrays were read in host memory.
func (r *Run) report(found *session.Result) {
	for _, d := range found.Devices {
		f := Figures{d.Resident, d.Cache.Bytes, d.Cache.Lists, d.Cache.Share, d.Scratch, d.Host, d.Uploaded}
		r.Stats.Add("%s", f.Line(d.Upload))
	}
	for _, d := range found.Devices {
		if d.Host == 0 {
			continue
		}
		how := "were read in host memory"
		if r.Room.place == session.Managed {
			how = "lay in managed memory, whose pages kernels move to the device"
		}
		where := fmt.Sprintf("%s of the graph's arrays %s, and %s on the device", memory.Text(uint64(d.Host)), how, memory.Text(uint64(d.Resident)))
		if c := d.Cache; c.Lists > 0 {
			where += fmt.Sprintf("; a cache of %s had %d lists, with %.0f %% of the expected reads", memory.Text(uint64(c.Bytes)), c.Lists, 100*c.Share)
			if c.Blocks > 1 {
				of := ""
				if c.Columns {
					of = " of columns"
				}
				where += fmt.Sprintf(", in %d blocks%s one after the other", c.Blocks, of)
			}
		}
		r.Stats.Add("%s", where)
		if r.Room.Auto() {
			r.Notes.Add("the graph does not fit the memory of the GPU, so the search is slower: %s", where)
		}
		return
	}
}

// clamp takes off the matches that were found beyond the limit.
func (r *Run) clamp(res *engine.Result) {
	if limit := engine.U64(uint64(max(r.Goal.Limit, 0))); r.Goal.Limit > 0 && res.Matches.Cmp(limit) >= 0 {
		res.Matches, res.Complete = limit, false
	}
}

// allRan is the error of a device that left out a kernel before the search.
func (r *Run) allRan(name string, found *session.Result) error {
	if r.Launched == nil || !found.Complete {
		return nil
	}
	want, ran := r.Launched.Load(), found.User[Counter]
	if ran == want {
		return nil
	}
	return &cuda.Error{Op: name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("%d of %d kernels before the search ran", ran, want)}
}

// Times is a sentence about the times that a run took before its search.
func Times(found *session.Result) string {
	return fmt.Sprintf("upload %s, preparation %s, compilation %s", Round(found.Upload), Round(found.Prepare), Round(found.Compile))
}

// Round is a duration with the digits that matter to people.
func Round(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
