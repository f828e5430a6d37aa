package weft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/vfs"
	"github.com/weftgraph/weft/internal/watch"
)

// FollowOptions say where Follow reads updates and writes changes. docs/cli.md describes the values, as flags of weft watch.
type FollowOptions struct {
	Source  string    // a file of updates; "-" is Stdin
	Stdin   io.Reader // nil means the standard input
	Updates string    // format of the updates; "" means by the first one
	// SkipErrors passes over updates with mistakes, and counts them. Otherwise the first one ends Follow.
	SkipErrors bool
	// Lateness is how much earlier than an update before it an update may be, and Window how long edges stay in the graph: a duration such
	// as 24h, or a number in the unit of the graph's times. "" is any lateness, and no window.
	Lateness, Window string

	Output string    // a file for changes; "" or "-" is Stdout
	Stdout io.Writer // nil drops changes
	To     string    // ndjson, which is the default, csv, arrow or table
	// Summary counts changes, and writes none.
	Summary bool
	// Present writes the matches of the beginning before all changes.
	Present bool

	Batch int // the most updates that are made together; 0 means 4096
	// State is a folder for checkpoints, from which a later call with the same options continues. Source is then a regular file, and a last
	// line without a line end is left to that call. Checkpoint is the time between them; 0 means after each batch.
	State      string
	Checkpoint time.Duration
	// Snapshot is the number of updates after which the graph is written to State anew. 0 means as many as the graph has edges, and at least
	// a million.
	Snapshot int

	// Copied is called when the graph is not needed any more, and may be closed.
	Copied func()
	// Report is called with the status at most once in Every, and at the end.
	Report func(FollowStatus)
	Every  time.Duration
	// Note is called with remarks, and with mistakes that are passed over. Calls may overlap with those of Report.
	Note func(string)
}

// FollowStatus is how far Follow is.
type FollowStatus struct {
	Updates uint64 // so far, with those before a restart
	Resumed uint64 // those before a restart
	Offset  int64  // bytes of the source
	Waiting uint64 // updates that were read and wait
	Queries []FollowedQuery
	// Seconds is the time since the beginning, without that between the end of a call and the one that continues.
	Seconds float64
	Rate    float64 // updates in a second, since the last report
	// Response times of updates of this call, from reading an update to writing its changes.
	P50, P95, P99 time.Duration
	Memory        uint64 // bytes of the process
	// Updates of this call that changed nothing, and mistakes.
	Duplicates, Absent, SelfLoops uint64
	Mistakes                      map[string]uint64 // by kind: malformed, bad_id, bad_time, bad_text, late
}

// FollowedQuery has the numbers of a query's matches: of embeddings if the query lists them, else of subgraphs.
type FollowedQuery struct {
	Name           string
	Initial        *big.Int // in the graph of the beginning; nil without Summary
	Added, Removed *big.Int // nil: the query's EMIT leaves these changes out
}

// Follow reads updates of a copy of the graph to their end, and writes the matches of the queries that each of them adds or removes. It is the
// service of weft watch. The status says how far it came, also with an error. If ctx ends, Follow returns after the updates under way.
//
// Follow accepts the options of Watch.
func (g *Graph) Follow(ctx context.Context, qs []*Query, o FollowOptions, options ...Option) (st FollowStatus, err error) {
	defer ends(ctx, &err)
	f := &following{o: o, unlock: func() {}}
	defer func() { f.unlock() }()
	if err := f.prepare(ctx, g, qs, options); err != nil {
		return st, err
	}
	ctx, stop := memory.Watch(ctx, f.w.s.Memory)
	defer stop()
	if o.Copied != nil {
		o.Copied()
	}
	st, err = f.run(ctx)
	if cause := memory.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return st, err
}

// following is the state of Follow.
type following struct {
	o       FollowOptions
	w       *Watch
	of      watch.Identity
	state   *watch.State
	unlock  func() // of the folder of state
	from    uint64 // the update after which the graph is
	initial []engine.Uint128
	labels  bool  // the graph has labels of edges at the beginning
	window  int64 // -1: none
	late    int64
}

// prepare copies the graph, and adds the queries.
func (f *following) prepare(ctx context.Context, g *Graph, qs []*Query, options []Option) (err error) {
	if err := f.check(vfs.From(ctx)); err != nil {
		return kind.With(kind.Usage, err)
	}
	l, s, err := g.begin(&ctx, setting.Follow, options)
	if err != nil {
		return err
	}
	defer l.Leave(&err)
	ctx, stop := memory.Watch(ctx, s.Memory)
	defer stop()
	defer func() {
		if cause := memory.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
	}()
	// Mistakes in queries are found before the graph is copied.
	var standing []*watch.Query
	names := map[string]bool{}
	w := &Watch{s: s}
	for _, q := range qs {
		x, err := w.standing(q, f.o.Summary)
		if err != nil {
			return err
		}
		if names[x.Name] {
			return kind.With(kind.Query, fmt.Errorf("two queries are called %s: a change says by its name which query it is of", x.Name))
		}
		names[x.Name] = true
		standing = append(standing, x)
		f.of.Queries = append(f.of.Queries, x.Name+": "+pattern.Format(x.Pattern)+" "+fmt.Sprint(x.Emit, x.Embeddings, x.Fields))
	}
	data := g.s.Data
	f.labels = data.Edges != nil && data.Edges.Label != nil
	var changed *dynamic.Graph
	if f.o.State != "" {
		unlock, err := watch.LockState(vfs.From(ctx), f.o.State)
		if err != nil {
			return followError(err)
		}
		f.unlock = unlock
		if f.state, err = watch.OpenState(vfs.From(ctx), f.o.State); err != nil {
			return followError(err)
		}
		note := ""
		if changed, f.from, note = f.state.Graph(); note != "" {
			f.note(note)
		}
	}
	if w, err = newWatch(ctx, data, changed, s); err != nil {
		return err
	}
	f.w = w
	for _, x := range standing {
		if err := w.set.Add(x, f.o.Summary); err != nil {
			return kind.With(kind.Query, err)
		}
		for _, text := range w.set.Unknown(x) {
			f.note(text)
		}
	}
	if f.late, err = f.span("lateness", f.o.Lateness); err != nil {
		return kind.With(kind.Usage, err)
	}
	if f.window, err = f.span("window", f.o.Window); err != nil {
		return kind.With(kind.Usage, err)
	}
	if f.window >= 0 {
		var times []int64
		if data.Edges != nil {
			times = data.Edges.Time
		}
		if err := w.set.Expire(f.window, times); err != nil {
			return kind.With(kind.Usage, fmt.Errorf("window %s: the graph's edges have no times, so they cannot leave by them", f.o.Window))
		}
	}
	if f.state != nil {
		sum, err := data.Checksum(ctx, s.Threads)
		if err != nil {
			return err
		}
		f.of.Graph = fmt.Sprintf("%s with %d vertices, %d edges and the checksum %016x", g.path, data.NumVertices(), data.NumEdges(), sum)
	}
	if !f.o.Summary {
		return nil
	}
	if f.state != nil && f.state.Checkpoint() != nil {
		f.initial = f.state.Checkpoint().Initial
		return nil
	}
	for i := range standing {
		n, err := w.set.Count(ctx, i)
		if err != nil {
			return err
		}
		f.initial = append(f.initial, n)
	}
	return nil
}

func (f *following) note(text string) {
	if f.o.Note != nil {
		f.o.Note(text)
	}
}

// check finds mistakes in the options.
func (f *following) check(files vfs.FS) error {
	if f.o.To == "" {
		f.o.To = "ndjson"
	}
	if f.o.Output == "-" {
		f.o.Output = ""
	}
	switch {
	case f.o.Source == "":
		return errors.New("no source of updates is given")
	case f.o.Batch < 0 || f.o.Snapshot < 0:
		return fmt.Errorf("a batch of %d updates, a snapshot after %d: they cannot be negative", f.o.Batch, f.o.Snapshot)
	case f.o.State == "" && (f.o.Snapshot != 0 || f.o.Checkpoint != 0):
		return errors.New("a snapshot and a time between checkpoints are given, and no state")
	case f.o.State != "" && f.o.Source == "-":
		return errors.New("a state needs a source that can be read again: a file, and not the standard input")
	case f.o.State != "":
		if st, err := files.Stat(f.o.Source); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
			return fmt.Errorf("a state needs a source that can be read again: %s is not a regular file", f.o.Source)
		}
	}
	_, err := stream.ParseFormat(f.o.Updates)
	return err
}

// span reads a length of time in the unit of the graph's times; -1 for "".
func (f *following) span(what, text string) (int64, error) {
	if text == "" {
		return -1, nil
	}
	digits := strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	n, err := strconv.ParseInt(digits, 10, 64)
	wrong := fmt.Errorf("%s %q: want a duration such as 24h or 7d, or a number in the unit of the times", what, text)
	if err != nil || n < 0 {
		return 0, wrong
	}
	if digits == text {
		return n, nil
	}
	for _, u := range pattern.DurationUnits {
		if !strings.EqualFold(u.Name, text[len(digits):]) {
			continue
		}
		unit := f.w.unit()
		switch {
		case unit == 0:
			return 0, fmt.Errorf("%s %s: the unit of the graph's times is not known; give a number in their unit", what, text)
		case n > math.MaxInt64/u.Size:
			return 0, fmt.Errorf("%s %s is more than 292 years", what, text)
		}
		return n * u.Size / unit, nil
	}
	return 0, wrong
}

// run opens the source and follows it.
func (f *following) run(ctx context.Context) (st FollowStatus, err error) {
	o := &f.o
	files := vfs.From(ctx)
	form, _ := stream.ParseFormat(o.Updates)
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	src, err := stream.Open(reading, files, o.Source, o.Stdin, stream.Options{
		Format: form, TextIDs: f.w.set.Graph().TextIDs(), Times: f.w.times, Lateness: f.late,
	}, nil)
	if err != nil {
		return st, kind.With(kind.Input, err)
	}
	defer src.Close()
	if f.state != nil {
		src.Whole()
	}
	policy := stream.Fatal
	if o.SkipErrors {
		policy = stream.Skip
	}
	f.of.Source, f.of.Output, f.of.Format = o.Source, o.Output, o.To
	f.of.Options = fmt.Sprintf("updates %s, window %s, lateness %s, skip errors %v, summary %v, present %v", form, o.Window, o.Lateness, o.SkipErrors, o.Summary, o.Present)
	out := o.Stdout
	if out == nil {
		out = io.Discard
	}
	settings := watch.Options{
		Set: f.w.set, Source: src, Stop: cancel, Policy: policy, Mistake: func(e *stream.InputError) { f.note(e.Error()) },
		Path: o.Output, Out: out, Format: o.To, Labels: f.labels, Quiet: o.Summary, Present: o.Present && !o.Summary,
		Batch: o.Batch, Files: files, State: f.state, Of: f.of, From: f.from, Initial: f.initial, Snapshot: uint64(o.Snapshot), Every: o.Checkpoint,
		Note: f.note, ReportEvery: o.Every,
	}
	if o.Report != nil {
		settings.Report = func(s *watch.Status) { o.Report(f.status(s)) }
	}
	s, err := watch.Run(ctx, settings)
	if n := src.Left(); n > 0 && err == nil {
		f.note(fmt.Sprintf("%s: its last %d bytes are a line without an end, and are left to the next call", o.Source, n))
	}
	return f.status(s), followError(err)
}

// followError gives an error its kind.
func followError(err error) error {
	var bad *stream.InputError
	var file *format.Error
	var query *gql.Error
	switch {
	case errors.As(err, &query):
		return kind.With(kind.Query, err)
	case errors.As(err, &bad):
		return kind.With(kind.Input, bad.Err)
	case errors.As(err, &file), errors.Is(err, watch.ErrCheckpoint):
		return kind.With(kind.Input, err)
	}
	return err
}

func (f *following) status(s *watch.Status) FollowStatus {
	ns := func(ms float64) time.Duration { return time.Duration(ms * 1e6) }
	st := FollowStatus{
		Updates: s.Seq, Resumed: s.Resumed, Offset: s.Offset, Waiting: s.Waiting, Seconds: s.Seconds, Rate: s.Rate,
		P50: ns(s.Latency.P50), P95: ns(s.Latency.P95), P99: ns(s.Latency.P99), Memory: s.Memory,
		Duplicates: s.Outcomes.Duplicates, Absent: s.Outcomes.Absent, SelfLoops: s.Outcomes.SelfLoops, Mistakes: map[string]uint64{},
	}
	for i, q := range f.w.set.Queries() {
		x := FollowedQuery{Name: q.Name}
		if q.Emit != gql.EmitRemoved {
			x.Added = q.Total(s.Counts[i].Added)
		}
		if q.Emit != gql.EmitAdded {
			x.Removed = q.Total(s.Counts[i].Removed)
		}
		if i < len(f.initial) {
			x.Initial = q.Total(f.initial[i])
		}
		st.Queries = append(st.Queries, x)
	}
	for k, n := range s.Mistakes {
		if n > 0 {
			st.Mistakes[stream.Kind(k).String()] = n
		}
	}
	return st
}
