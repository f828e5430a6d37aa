package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/broker"
	"github.com/weftgraph/weft/internal/broker/journal"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/vfs"
	"github.com/weftgraph/weft/internal/watch"
)

// FollowOptions say where Follow reads updates and writes changes. docs/cli.md describes the values, as flags of weft watch.
type FollowOptions struct {
	Source  string    // a file of updates, or the address of a broker such as nats://localhost/updates; "-" is Stdin
	Stdin   io.Reader // nil means the standard input
	Updates string    // format of the updates; "" means by the first one
	// SkipErrors passes over updates with mistakes, and counts them. Otherwise the first one ends Follow.
	SkipErrors bool
	// Lateness is how much earlier than an update before it an update may be, and Window how long edges stay in the graph: a duration such
	// as 24h, or a number in the unit of the graph's times. "" is any lateness, and no window.
	Lateness, Window string

	Sinks  []FollowSink // all get all changes; none means Stdout
	Stdout io.Writer    // nil drops changes
	// Summary counts changes, and writes none.
	Summary bool
	// Present writes the matches of the beginning before all changes.
	Present bool

	// Queries brings other standing queries while Follow runs. Each value takes the place of all queries: those that are not in it are dropped, and
	// others are added, after the updates so far. With Present, the matches of a new one are written first, with the number of the last update.
	// A value that has a mistake is noted, and changes nothing. A nil channel means that the queries stay. Otherwise formats with columns have one
	// column for the matches of all queries, and a call that continues from State may have other queries than the call before it.
	Queries <-chan []*Query

	Batch int // the most updates that are made together; 0 means 4096
	// State is a folder for checkpoints, from which a later call with the same options continues. Source is then a regular file, a broker, or
	// "-": what is read of Stdin is kept in a log in the folder first. A last line without a line end is left to the later call. Checkpoint is
	// the time between checkpoints; 0 means after each batch.
	State      string
	Checkpoint time.Duration
	// Snapshot is the number of updates after which the graph is written to State anew. 0 means as many as the graph has edges, and at least
	// a million.
	Snapshot int
	// LogSize is the most bytes that the log of Stdin has in State. 0 means 1 GiB. Updates before a file of the graph are deleted.
	LogSize int64

	// Copied is called when the graph is not needed any more, and may be closed.
	Copied func()
	// Report is called with the status at most once in Every, and at the end.
	Report func(FollowStatus)
	Every  time.Duration
	// Note is called with remarks: about the queries, the state and the brokers. Calls may overlap with those of Report.
	Note func(string)
	// Mistake is called with mistakes in the updates that are passed over, of which there may be many. If it is nil, Note is.
	Mistake func(string)
}

// FollowSink is a target of changes.
type FollowSink struct {
	Target string // a file, or the address of a broker such as nats://localhost/changes; "-" is Stdout
	Format string // ndjson, which is the default, csv, arrow or table; a broker gets ndjson
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
	// Updates of this call that changed nothing, and mistakes. Updates of edges that no query looks at are looked up late: all of them are counted with a
	// checkpoint, and at the end.
	Duplicates, Absent, SelfLoops uint64
	Mistakes                      map[string]uint64 // by kind: malformed, bad_id, bad_time, bad_text, late
	GPU                           *FollowedGPU      // nil, unless the engine is pipeline
}

// FollowedGPU says how a GPU is used.
type FollowedGPU struct {
	Busy              float64 // the share of the time in which its warps searched, lately
	Lists, Most, Room uint64  // bytes for neighbour lists: in use now, the most so far, and those that there are
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
	defer func() {
		if f.w != nil {
			if closed := search.Classify(f.w.set.Close()); err == nil {
				err = closed
			}
		}
	}()
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
	unlock  func()         // of the folder of state
	from    uint64         // the update after which the graph is
	next    []*watch.Query // queries to come
	wanted  []*watch.Query // to which the queries were about to change at the checkpoint
	initial []engine.Uint128
	labels  bool  // the graph has labels of edges at the beginning
	window  int64 // -1: none
	late    int64
}

// prepare copies the graph, and adds the queries.
func (f *following) prepare(ctx context.Context, g *Graph, qs []*Query, options []Option) (err error) {
	if err := f.check(ctx); err != nil {
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
	w := &Watch{s: s}
	standing, err := w.standings(qs, f.o.Summary)
	if err != nil {
		return err
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
	if f.o.Queries != nil && f.state != nil && f.state.Checkpoint() != nil {
		f.next = standing
		if standing, f.wanted, err = f.state.Checkpoint().Standing(standing); err != nil {
			return followError(err)
		}
	}
	f.of.Queries = watch.Identities(standing)
	if w, err = newWatch(ctx, g, changed, s, cmp.Or(f.o.Batch, watch.DefaultBatch)); err != nil {
		return err
	}
	f.w = w
	if s.Engine != "" {
		text := "engine " + w.engine.Engine
		if w.engine.Reason != "" {
			text += ": " + w.engine.Reason
		}
		f.note(text)
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
	for _, x := range standing {
		if err := w.set.Add(x, f.o.Summary); err != nil {
			return kind.With(kind.Query, search.Classify(err))
		}
		for _, text := range w.set.Unknown(x) {
			f.note(text)
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

func (f *following) mistake(e *stream.InputError) {
	if f.o.Mistake != nil {
		f.o.Mistake(e.Error())
		return
	}
	f.note(e.Error())
}

// check finds mistakes in the options.
func (f *following) check(ctx context.Context) error {
	files := vfs.From(ctx)
	switch {
	case f.o.Source == "":
		return errors.New("no source of updates is given")
	case f.o.Queries != nil && f.o.Summary:
		return errors.New("a summary is about the queries of the beginning, and queries are to come and go")
	case f.o.Batch < 0 || f.o.Snapshot < 0:
		return fmt.Errorf("a batch of %d updates, a snapshot after %d: they cannot be negative", f.o.Batch, f.o.Snapshot)
	case f.o.State == "" && (f.o.Snapshot != 0 || f.o.Checkpoint != 0):
		return errors.New("a snapshot and a time between checkpoints are given, and no state")
	case f.o.LogSize < 0 || f.o.LogSize > 0 && f.o.LogSize < 1<<20:
		return fmt.Errorf("a log of %d bytes: want at least 1 MiB", f.o.LogSize)
	case f.o.LogSize > 0 && (f.o.State == "" || f.o.Source != "-"):
		return errors.New("the size of the log is about updates from the standard input, with a state")
	case broker.Is(f.o.Source):
		if _, err := broker.Log(ctx, f.o.Source, f.note); err != nil {
			return err
		}
	case f.o.State != "" && f.o.Source != "-":
		if st, err := files.Stat(f.o.Source); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
			return fmt.Errorf("a state needs a source that can be read again: %s is not a regular file", f.o.Source)
		}
	}
	if err := f.checkSinks(files); err != nil {
		return err
	}
	form, err := stream.ParseFormat(f.o.Updates)
	switch {
	case err != nil || !form.OfTable():
		return err
	case broker.Is(f.o.Source):
		return fmt.Errorf("%s has messages of lines, and not a table of the format %s", broker.Name(f.o.Source), form)
	case f.o.Source == "-" && f.o.State != "":
		return fmt.Errorf("the log that a state has of the standard input takes lines: write the %s table to a file, and read that", form)
	}
	return nil
}

// checkSinks completes the sinks, and finds mistakes in them.
func (f *following) checkSinks(files vfs.FS) error {
	sinks := slices.Clone(f.o.Sinks)
	if len(sinks) == 0 && !f.o.Summary {
		sinks = []FollowSink{{Target: "-"}}
	}
	if len(sinks) > 0 && f.o.Summary {
		return errors.New("a summary counts changes, and sinks get changes")
	}
	for i := range sinks {
		k := &sinks[i]
		k.Format = cmp.Or(k.Format, "ndjson")
		if !slices.Contains(watch.Formats, k.Format) {
			return fmt.Errorf("changes have no format %q; formats are %s", k.Format, strings.Join(watch.Formats, ", "))
		}
		for _, other := range sinks[:i] {
			if sameTarget(files, k.Target, other.Target) {
				return fmt.Errorf("two outputs are %s: each would overwrite the other", broker.Name(k.Target))
			}
		}
		switch {
		case k.Target == "":
			return errors.New("an output has no name")
		case k.Target == "-":
		case broker.Is(k.Target):
			if k.Format != "ndjson" {
				return fmt.Errorf("%s gets changes as ndjson, and not as %s", broker.Name(k.Target), k.Format)
			}
			if _, err := broker.Publisher(k.Target, f.note); err != nil {
				return err
			}
		case f.o.State != "" && inside(files, k.Target, f.o.State):
			return fmt.Errorf("the output %s is in the folder of state %s, which has files of its own", k.Target, f.o.State)
		}
	}
	f.o.Sinks = sinks
	return nil
}

// sameTarget reports whether two outputs are one.
func sameTarget(files vfs.FS, x, y string) bool {
	if x == y || broker.Is(x) != broker.Is(y) {
		return x == y
	}
	if broker.Is(x) || x == "-" || y == "-" {
		return false
	}
	return sameFile(files, x, y) || filepath.Base(x) == filepath.Base(y) && sameFile(files, filepath.Dir(x), filepath.Dir(y))
}

// sameFile reports whether two paths are one regular file or one folder.
func sameFile(files vfs.FS, x, y string) bool {
	a, err := files.Stat(x)
	if err != nil || !a.Mode().IsRegular() && !a.IsDir() {
		return false
	}
	b, err := files.Stat(y)
	return err == nil && os.SameFile(a, b)
}

// inside reports whether a file is below a folder. A folder that does not exist yet has the path that was given.
func inside(files vfs.FS, name, dir string) bool {
	name, failed := filepath.Abs(name)
	dir, failedToo := filepath.Abs(dir)
	if failed != nil || failedToo != nil {
		return false
	}
	for at := filepath.Dir(name); ; at = filepath.Dir(at) {
		if at == dir || sameFile(files, at, dir) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
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
	src, err := f.source(reading, stream.Options{Format: form, TextIDs: f.w.set.Graph().TextIDs(), Times: f.w.times, Lateness: f.late, Types: f.propertyTypes()})
	if err != nil {
		return st, kind.With(kind.Input, err)
	}
	defer func() {
		cancel() // what reads ends
		_ = src.Close()
	}()
	policy := stream.Fatal
	if o.SkipErrors {
		policy = stream.Skip
	}
	f.of.Source = broker.Name(o.Source)
	f.of.Options = fmt.Sprintf("updates %s, window %s, lateness %s, summary %v, present %v, queries change %v", form, o.Window, o.Lateness, o.Summary, o.Present, o.Queries != nil)
	settings := watch.Options{
		Set: f.w.set, Source: src, Stop: cancel, Policy: policy, Mistake: f.mistake,
		Labels: f.labels, Present: o.Present && !o.Summary, Batch: o.Batch, State: f.state, From: f.from, Initial: f.initial,
		Snapshot: uint64(o.Snapshot), Every: o.Checkpoint, Note: f.note, ReportEvery: o.Every,
	}
	for _, k := range o.Sinks {
		f.of.Sinks = append(f.of.Sinks, broker.Name(k.Target)+" as "+k.Format)
		to, err := f.sink(files, k)
		if err != nil {
			return st, kind.With(kind.Usage, err)
		}
		settings.Sinks = append(settings.Sinks, to)
	}
	settings.Of = f.of
	if o.Queries != nil {
		settings.Queries, settings.Wanted = f.queries, f.wanted
	}
	if o.Report != nil {
		settings.Report = func(s *watch.Status) { o.Report(f.status(s)) }
	}
	s, err := watch.Run(ctx, settings)
	if text := f.w.work(); text != "" {
		f.note(text)
	}
	if file, ok := src.(*stream.File); ok && file.Left() > 0 && err == nil {
		n := file.Left()
		f.note(fmt.Sprintf("%s: its last %d bytes are a line without an end, and are left to the next call", o.Source, n))
	}
	return f.status(s), followError(f.unread(err))
}

// standings makes standing queries.
func (w *Watch) standings(qs []*Query, counts bool) (out []*watch.Query, err error) {
	for _, q := range qs {
		x, err := w.standing(q, counts)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(y *watch.Query) bool { return y.Name == x.Name }) {
			return nil, kind.With(kind.Query, fmt.Errorf("two queries are called %s: a change says by its name which query it is of", x.Name))
		}
		out = append(out, x)
	}
	return out, nil
}

// queries returns the queries that there are to be from now on, or nil if nothing changed.
func (f *following) queries() []*watch.Query {
	next := f.next
	f.next = nil
	select {
	case qs := <-f.o.Queries:
		if qs == nil {
			break
		}
		to, err := f.w.standings(qs, false)
		if err != nil {
			f.note(err.Error() + "; the queries stay as they were")
			break
		}
		next = append([]*watch.Query{}, to...)
	default:
	}
	return next
}

// source opens the source of updates.
func (f *following) source(ctx context.Context, o stream.Options) (watch.Source, error) {
	if broker.Is(f.o.Source) {
		log, err := broker.Log(ctx, f.o.Source, f.note)
		if err != nil {
			return nil, err
		}
		return stream.NewMessages(log, broker.Name(f.o.Source), o), nil
	}
	if f.state != nil && f.o.Source == "-" {
		return f.journal(ctx, o)
	}
	file, err := stream.Open(ctx, vfs.From(ctx), f.o.Source, f.o.Stdin, o, nil)
	if err != nil {
		return nil, err
	}
	for _, text := range file.Notes() {
		f.note(text)
	}
	if f.state != nil {
		file.Whole()
	}
	return file, nil
}

// propertyTypes returns a function that tells the types that properties of the graph have at the beginning.
func (f *following) propertyTypes() func(edge bool, name string) arrow.DataType {
	g := f.w.set.Graph()
	types := map[bool]map[string]arrow.DataType{}
	for edge, columns := range map[bool][]dynamic.Column{false: g.VertexColumns(), true: g.EdgeColumns()} {
		types[edge] = map[string]arrow.DataType{}
		for _, c := range columns {
			types[edge][c.Name] = c.Type
		}
	}
	return func(edge bool, name string) arrow.DataType { return types[edge][name] }
}

// logged is a source of updates that a log has. It deletes those that are not needed.
type logged struct {
	*stream.Messages
	journal *journal.Journal
	done    chan struct{} // closed when nothing is appended any more
}

func (l *logged) Trim(_, number int64) error { return l.journal.Trim(number) }
func (l *logged) Crowded() bool              { return l.journal.Crowded() }
func (l *logged) Worth(from, to int64) bool  { return l.journal.Worth(from, to) }

// journal opens the log of the standard input, and starts to append.
func (f *following) journal(ctx context.Context, o stream.Options) (watch.Source, error) {
	j, err := journal.Open(ctx, vfs.From(ctx), filepath.Join(f.o.State, "log"), cmp.Or(f.o.LogSize, 1<<30))
	if err != nil {
		return nil, err
	}
	if n := j.Lines(); n > 0 {
		f.note(fmt.Sprintf("standard input: the log has %d lines of it, and takes the next one as line %d", n, n+1))
	}
	l := &logged{stream.NewMessages(j, "standard input", o), j, make(chan struct{})}
	go func() {
		defer close(l.done)
		left, err := stream.Record(ctx, vfs.From(ctx), "-", f.o.Stdin, j.Append)
		if left > 0 {
			f.note(fmt.Sprintf("standard input: its last %d bytes are a line without an end, and are not in the log", left))
		}
		j.End(cmp.Or(err, io.EOF))
	}()
	return l, nil
}

// Close ends the log.
func (l *logged) Close() error {
	<-l.done
	return l.Messages.Close()
}

// sink returns the sink of a target. The service opens it.
func (f *following) sink(files vfs.FS, k FollowSink) (watch.Sink, error) {
	switch {
	case k.Target == "-":
		out := f.o.Stdout
		if out == nil {
			out = io.Discard
		}
		return watch.NewWriter(out, k.Format), nil
	case broker.Is(k.Target):
		p, err := broker.Publisher(k.Target, f.note)
		if err != nil {
			return nil, err
		}
		return watch.NewMessages(p, broker.Name(k.Target)), nil
	}
	return watch.NewFile(files, k.Target, k.Format), nil
}

// unread marks an error of reading the file of updates as one of the input. The same error of another file is of the output, or of the state.
func (f *following) unread(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) && file.Op == "read" && file.Path == f.o.Source {
		return kind.With(kind.Input, err)
	}
	return err
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
	case errors.As(err, &file), errors.Is(err, watch.ErrCheckpoint), errors.Is(err, stream.ErrLog):
		return kind.With(kind.Input, err)
	}
	return search.Classify(err)
}

func (f *following) status(s *watch.Status) FollowStatus {
	ns := func(ms float64) time.Duration { return time.Duration(ms * 1e6) }
	st := FollowStatus{
		Updates: s.Seq, Resumed: s.Resumed, Offset: s.Offset, Waiting: s.Waiting, Seconds: s.Seconds, Rate: s.Rate,
		P50: ns(s.Latency.P50), P95: ns(s.Latency.P95), P99: ns(s.Latency.P99), Memory: s.Memory,
		Duplicates: s.Outcomes.Duplicates, Absent: s.Outcomes.Absent, SelfLoops: s.Outcomes.SelfLoops, Mistakes: map[string]uint64{},
	}
	if x, ok := f.w.engine.Matcher.(interface{ Usage() (nest.Usage, bool) }); ok {
		if u, ok := x.Usage(); ok {
			st.GPU = &FollowedGPU{Lists: uint64(u.Lists), Most: uint64(u.Most), Room: uint64(u.Room)}
			if n := len(u.Over); n > 0 {
				st.GPU.Busy = u.Over[n-1].Busy
			}
		}
	}
	for i, q := range f.w.set.Queries() {
		if q == nil || i >= len(s.Counts) {
			continue
		}
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
