package watch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/metrics"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// DefaultBatch is the largest number of updates of a batch if the caller does not choose one.
const DefaultBatch = 4096

// Options say what a service does.
type Options struct {
	Set    *Set
	Source Source
	// Stop ends a read of Source that waits. Run calls it at the end, and returns when no read is under way. It may be nil for sources that
	// never wait.
	Stop func()
	// Policy says what follows from a mistake in an update.
	Policy stream.Policy
	// Mistake is called with each mistake that is passed over, also by another goroutine. It may be nil.
	Mistake func(*stream.InputError)

	// Sinks get the changes. Without one, changes are counted, for a summary.
	Sinks []Sink
	// Labels writes a null for the label of an edge that has none. Otherwise it is left out.
	Labels bool
	// Present writes the matches of the beginning before all changes.
	Present bool

	// Queries says that standing queries come and go. It returns those that there are to be from now on, or nil if nothing changed. Run calls it
	// now and then between two updates. Formats with columns then have one column for all queries.
	Queries func() []*Query
	// Wanted are the queries that Checkpoint.Standing says are wanted: a change to them was under way. nil means that none was.
	Wanted []*Query

	Batch int // the most updates of a batch; 0 means DefaultBatch

	// State has the checkpoints. nil means none.
	State *State
	Of    Identity
	// From is the number of the update after which the graph of Set is, if that is from State.
	From uint64
	// Initial are the numbers of matches at the beginning, for checkpoints. It may be nil.
	Initial []engine.Uint128
	// Snapshot is the number of updates after which State gets the graph anew. 0 means as many as the graph has edges, and at least 2^20.
	Snapshot uint64
	// Every is the time between checkpoints. 0 means after each batch.
	Every time.Duration
	// Note is called with remarks about a checkpoint. It may be nil.
	Note func(string)

	// Report is called now and then, by the goroutine of Run, at most once in ReportEvery. It may be nil.
	Report      func(*Status)
	ReportEvery time.Duration
}

// Counts are the numbers of matches that updates added and removed.
type Counts struct {
	Added   engine.Uint128 `json:"added"`
	Removed engine.Uint128 `json:"removed"`
}

// Status is how far a service is. It does not change.
type Status struct {
	Seq      uint64 // updates so far, with those before a restart
	Offset   int64  // bytes of the source
	Waiting  uint64 // updates that were read and wait
	Counts   []Counts
	Outcomes stream.Outcomes // of changes that no query looks at, most come with a checkpoint and at the end
	Mistakes [stream.Kinds]uint64
	Seconds  float64 // since the first start, without the time between a kill and a restart
	Rate     float64 // updates in a second, lately
	Latency  Quantiles
	Memory   uint64 // bytes of the process
	Resumed  uint64 // the update after which this run began
}

// Run reads updates until the source ends, and gives its sinks how matches change. The status says how far it came, also with an error. If ctx
// ends, the error is its cause, and Run returns after the batch under way. Run closes the sinks, and not the source.
func Run(ctx context.Context, o Options) (*Status, error) {
	s := &service{o: o, set: o.Set}
	if s.o.Batch == 0 {
		s.o.Batch = DefaultBatch
	}
	err := s.run(ctx)
	s.outcomes.Join(s.set.Late())
	return s.status(), err
}

// service is the state of Run.
type service struct {
	o       Options
	set     *Set
	sinks   []output
	src     *tolerant
	trimmer Trimmer // the source, or nil
	ahead   *ahead

	name     string // its name
	mark     Mark
	resumed  uint64
	counts   []Counts
	graph    string // the latest file of the graph
	graphAt  Mark
	outcomes stream.Outcomes
	present  bool
	before   float64 // seconds of earlier runs
	began    time.Time
	saved    time.Time
	dirty    bool   // something happened since the checkpoint
	half     bool   // a batch or a change of the queries is under way
	wanted   []Text // the queries after the change that is under way; nil: there is none
	at       At     // of the last change
	any      bool   // there was one
	latency  Latency
	pace     pace
}

// output is a sink, and the place of the last change that it has from before a restart.
type output struct {
	Sink
	last At
	kept bool
	// length is where the sink began: the length of the checkpoint.
	length int64
}

// behind reports whether the sink has changes of updates after seq, from before a restart.
func (k *output) behind(seq uint64) bool { return k.kept && k.last.Seq > seq }

func (s *service) run(ctx context.Context) (err error) {
	s.began = time.Now()
	s.counts = make([]Counts, len(s.set.queries))
	s.src = newTolerant(s.o.Source, s.o.Policy)
	if s.o.State != nil {
		s.trimmer, _ = s.o.Source.(Trimmer)
	}
	c, err := s.checkpointOf()
	if err != nil {
		return err
	}
	defer func() {
		for _, k := range s.o.Sinks {
			if closed := k.Close(); err == nil {
				err = closed
			}
		}
	}()
	if err := s.open(ctx, c); err != nil {
		return err
	}
	if c != nil {
		if err := s.replay(ctx, c); err != nil {
			return err
		}
	}
	s.src.each = s.o.Mistake // those before a checkpoint were told of
	s.saved, s.pace.at, s.pace.seq = time.Now(), time.Now(), s.mark.Seq
	if s.o.State != nil && c == nil { // the name of the run is known before a sink has it
		if err := s.checkpoint(ctx); err != nil {
			return err
		}
	}
	if s.o.Present && !s.present {
		if err := s.writePresent(ctx); err != nil {
			return err
		}
	}
	if c != nil && s.o.Wanted != nil {
		if err := s.change(ctx, s.o.Wanted); err != nil {
			return err
		}
	}
	if err := s.ask(ctx); err != nil {
		return err
	}
	s.ahead = newAhead(s.src, 2*s.o.Batch)
	defer func() {
		s.ahead.close()
		if s.o.Stop != nil {
			s.o.Stop()
		}
		<-s.ahead.done
	}()
	err = s.loop(ctx)
	if closed := s.finish(ctx, err); err == nil || err == io.EOF { // the error of a connection that ended may wrap io.EOF
		err = closed
	}
	return err
}

// checkpointOf returns the checkpoint to continue from, or nil.
func (s *service) checkpointOf() (*Checkpoint, error) {
	st := s.o.State
	if st == nil || st.latest == nil {
		return nil, nil
	}
	if what := st.latest.Of.differs(&s.o.Of); what != "" {
		return nil, fmt.Errorf("%w in %s: it is of %s, which is another now; remove the folder to begin anew", ErrCheckpoint, st.dir, what)
	}
	if st.note != "" && s.o.Note != nil {
		s.o.Note(st.note)
	}
	return st.latest, nil
}

// open opens the sinks, at the end of what the checkpoint has.
func (s *service) open(ctx context.Context, c *Checkpoint) error {
	s.name = rand.Text()
	if c != nil {
		s.name = c.Run
	}
	b := Beginning{Queries: s.set.queries, Text: s.set.g.TextIDs(), Labels: s.o.Labels, Run: s.name, Open: s.o.Queries != nil}
	for i, k := range s.o.Sinks {
		b := b
		if c != nil {
			b.Length = c.Lengths[i]
		}
		last, kept, err := k.Begin(ctx, &b)
		if err != nil {
			return err
		}
		s.sinks = append(s.sinks, output{k, last, kept, b.Length})
	}
	return nil
}

// emit gives a change to the sinks that do not have it.
func (s *service) emit(c *Change) error {
	if s.any && s.at.Seq == c.Seq {
		s.at.Index++
	} else {
		s.at, s.any = At{c.Seq, 0}, true
	}
	for i := range s.sinks {
		k := &s.sinks[i]
		if k.kept && !s.at.after(k.last) {
			continue
		}
		if err := k.Change(s.at, c); err != nil {
			return err
		}
	}
	return nil
}

// flush makes the sinks hand over all changes.
func (s *service) flush() error {
	for i := range s.sinks {
		if err := s.sinks[i].Flush(); err != nil {
			return err
		}
	}
	return nil
}

// replay reads the updates up to a checkpoint again. It makes those that the graph does not have, without looking for matches. A source that
// can begins at the file of the graph.
func (s *service) replay(ctx context.Context, c *Checkpoint) error {
	if src := s.src.resumer; src != nil {
		from := &Mark{}
		if s.o.From > 0 {
			from = c.GraphAt
		}
		if err := src.Resume(from.Lines, from.Offset, c.Offset, from.Reader); err != nil {
			return fmt.Errorf("%w in %s: %w", ErrCheckpoint, s.o.State.dir, err)
		}
		s.mark = *from
		s.src.seen(from.Mistakes)
		if from.Now != nil && s.set.window != nil {
			s.set.window.now = *from.Now
		}
	}
	// What was passed over before the checkpoint is passed over again, also if mistakes are fatal from now on.
	s.src.policy = stream.Skip
	defer func() { s.src.policy = s.o.Policy }()
	var u stream.Update
	for s.mark.Seq < c.Seq {
		if s.mark.Seq%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := s.src.Next(&u)
		if err == io.EOF {
			return s.shorter(c)
		}
		if err != nil {
			return err
		}
		s.mark.Seq++
		s.mark.Digest.add(&u)
		s.mark.Reader.See(&u)
		if _, at := s.src.Position(); at > c.Offset { // those that come may never be as many
			return s.shorter(c)
		}
		if s.mark.Seq <= s.o.From {
			s.set.pass(&u)
		} else if err := s.set.skip(&u); err != nil {
			if err := s.wrong(s.mark.Seq, s.src.Place(), &nest.UpdateError{Err: err}); err != nil {
				return err
			}
		}
	}
	if lines, at := s.src.Position(); c.Seq > 0 && (lines != c.Lines || at != c.Offset || s.mark.Digest != c.Digest) {
		return s.shorter(c)
	}
	s.mark, s.counts, s.outcomes = c.Mark, c.Counts, c.Outcomes
	if c.At != nil {
		s.at, s.any = *c.At, true
	}
	s.present, s.before, s.resumed, s.graph = c.Present, c.Seconds, c.Seq, c.Graph
	if c.GraphAt != nil {
		s.graphAt = *c.GraphAt
	}
	return nil
}

// shorter is the error of a source that is not the one that a checkpoint is of.
func (s *service) shorter(c *Checkpoint) error {
	unit := "byte"
	if s.src.resumer != nil {
		unit = "message"
	}
	return fmt.Errorf("%w in %s: the source has changed: it does not begin with the %d updates of the checkpoint, which end at %s %d", ErrCheckpoint, s.o.State.dir, c.Seq, unit, c.Offset)
}

// writePresent writes the matches of the beginning.
func (s *service) writePresent(ctx context.Context) error {
	for i, q := range s.set.queries {
		if q == nil || q.Emit == gql.EmitRemoved {
			continue
		}
		if err := s.set.Present(ctx, i, 0, s.emit); err != nil {
			return err
		}
	}
	s.present, s.dirty = true, true
	return s.flush()
}

// loop makes batches until the source or ctx ends.
func (s *service) loop(ctx context.Context) error {
	for {
		us, first, err := s.ahead.take(ctx, s.o.Batch, s.next())
		if err != nil {
			return err
		}
		if len(us) > 0 {
			s.half = true
			if err := s.batch(ctx, us, first); err != nil {
				return err
			}
			s.half = false
		}
		if err := s.ask(ctx); err != nil {
			return err
		}
		now := time.Now()
		if s.o.State != nil && (s.dirty || s.crowded()) && now.Sub(s.saved) >= s.o.Every {
			if err := s.checkpoint(ctx); err != nil {
				return err
			}
		}
		s.report(now)
	}
}

// crowded reports whether a file of the graph is needed for the room of updates.
func (s *service) crowded() bool {
	return s.trimmer != nil && s.mark.Seq > s.graphAt.Seq && s.trimmer.Worth(s.graphAt.Offset, s.mark.Offset)
}

// askEvery is the time between questions for queries and room while no update comes.
const askEvery = 50 * time.Millisecond

// next is when loop has something to do even if no update comes.
func (s *service) next() time.Time {
	var at time.Time
	if s.o.State != nil && s.dirty {
		at = s.saved.Add(s.o.Every)
	}
	if s.o.Queries != nil || s.trimmer != nil { // a producer may wait for room
		if q := time.Now().Add(askEvery); at.IsZero() || q.Before(at) {
			at = q
		}
	}
	if s.o.Report != nil {
		if r := s.pace.at.Add(s.o.ReportEvery); at.IsZero() || r.Before(at) {
			at = r
		}
	}
	return at
}

// batch makes some updates, and writes what they change, also before an update that ends the service.
func (s *service) batch(ctx context.Context, us []stream.Update, first uint64) error {
	n := len(us)
	done := 0
	var wrong error
	for done < n && wrong == nil {
		made, err := s.make(ctx, s.mark.Seq+uint64(done), us[done:])
		done += made
		if err != nil {
			if !errors.As(err, new(*nest.UpdateError)) {
				return err
			}
			if wrong = s.wrong(s.mark.Seq+uint64(done)+1, s.ahead.place(first+uint64(done)), err); wrong == nil {
				done++
			}
		}
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.mark.Seq += uint64(done)
	if wrong != nil { // the checkpoint stays that before the batch: edges may have left the window because of the wrong update
		return wrong
	}
	s.note(us, first)
	now := time.Now()
	for i := 0; i < n; {
		came := s.ahead.stamp(first + uint64(i))
		k := i + 1
		for k < n && s.ahead.stamp(first+uint64(k)) == came {
			k++
		}
		s.latency.Add(now.Sub(came), uint64(k-i))
		i = k
	}
	s.ahead.release(n)
	return nil
}

// note makes the mark that after a batch, for the next checkpoint.
func (s *service) note(us []stream.Update, first uint64) {
	m := &s.mark
	for i := 0; s.o.State != nil && i < len(us); i++ {
		m.Digest.add(&us[i])
		m.Reader.See(&us[i])
	}
	var p *progress
	m.Lines, m.Offset, p = s.ahead.position(first + uint64(len(us)) - 1)
	m.Mistakes, m.Reader.Format, m.Reader.Form = p.mistakes, p.state.Format, p.state.Form
	s.dirty = true
}

// make makes the updates after seq, and returns how many of them were made.
func (s *service) make(ctx context.Context, seq uint64, us []stream.Update) (int, error) {
	var emit func(*Change) error
	if len(s.sinks) > 0 {
		emit = s.emit
	}
	// A batch that has begun is finished: its updates are in the graph.
	r, err := s.set.Apply(context.WithoutCancel(ctx), seq, us, emit)
	for i, c := range r.Counts {
		s.counts[i].Added = s.counts[i].Added.Add(c.Added)
		s.counts[i].Removed = s.counts[i].Removed.Add(c.Removed)
	}
	s.outcomes.Join(r.Outcomes)
	return r.Updates, err
}

// wrong returns nil if err is a mistake in an update that is passed over, and counts it.
func (s *service) wrong(seq uint64, at stream.Place, err error) error {
	var k stream.Kind
	switch {
	case errors.Is(err, dynamic.ErrID):
		k = stream.BadID
	case errors.Is(err, dynamic.ErrTooLarge):
		return err
	case errors.As(err, new(*nest.UpdateError)):
		k = stream.Malformed
	default:
		return err
	}
	bad := &stream.InputError{Kind: k, Err: at.Wrong(fmt.Errorf("update %d: %w", seq, err))}
	s.mark.Refused[k]++
	if s.src.policy == stream.Fatal {
		return bad
	}
	if s.src.each != nil {
		s.src.each(bad)
	}
	return nil
}

// checkpoint brings the output and the position to the disk.
func (s *service) checkpoint(ctx context.Context) error {
	for i := range s.sinks {
		if err := s.sinks[i].Sync(); err != nil {
			return err
		}
	}
	failed := func(err error) error { return fmt.Errorf("the checkpoint in %s: %w", s.o.State.dir, err) }
	if w := s.set.window; w != nil {
		now := w.now
		s.mark.Now = &now
	}
	trimmer := s.trimmer
	s.outcomes.Join(s.set.Late()) // by all workers, before anything reads the graph
	every := cmp.Or(s.o.Snapshot, max(1<<20, s.set.g.NumEdges()))
	if s.mark.Seq-s.graphAt.Seq >= every || s.crowded() {
		name, err := s.o.State.saveGraph(context.WithoutCancel(ctx), s.set.g, s.mark.Seq)
		if err != nil {
			return failed(err)
		}
		s.graph, s.graphAt = name, s.mark
	}
	c := &Checkpoint{
		Of: s.o.Of, Run: s.name, Mark: s.mark, Lengths: make([]int64, len(s.sinks)), Counts: s.standing(), Initial: s.o.Initial,
		Outcomes: s.outcomes, Graph: s.graph, Present: s.present, Seconds: s.seconds(),
	}
	if s.o.Queries != nil {
		c.Texts, c.Wanted = textsOf(s.set.queries), s.wanted
	}
	if s.any {
		at := s.at
		c.At = &at
	}
	if s.graph != "" {
		at := s.graphAt
		c.GraphAt = &at
	}
	for i := range s.sinks {
		if k := &s.sinks[i]; k.behind(s.mark.Seq) {
			// Its end is that of changes of later updates. A service that continued from there would not find them, and would bring them again.
			c.Lengths[i] = k.length
		} else {
			c.Lengths[i] = k.Length()
		}
	}
	before := s.o.State.latest
	if err := s.o.State.Save(context.WithoutCancel(ctx), c); err != nil {
		return failed(err)
	}
	if trimmer != nil && before != nil && before.GraphAt != nil { // either of the two checkpoints may be needed
		if err := trimmer.Trim(before.GraphAt.Lines, before.GraphAt.Offset); err != nil {
			return failed(err)
		}
	}
	s.saved = time.Now()
	// With another checkpoint both are of the same file of the graph, and more updates are not needed.
	s.dirty = trimmer != nil && trimmer.Crowded() && s.graph != "" && (before == nil || before.GraphAt == nil || before.GraphAt.Seq < s.graphAt.Seq)
	return nil
}

// finish makes the last checkpoint, if the output has all up to here, and ends the output's format.
func (s *service) finish(ctx context.Context, err error) error {
	whole := !s.half // the output has all changes up to seq
	if whole {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.o.State != nil && whole {
		if err := s.checkpoint(ctx); err != nil {
			return err
		}
	}
	for i := range s.sinks {
		if err := s.sinks[i].End(); err != nil {
			return err
		}
	}
	s.outcomes.Join(s.set.Late())
	s.report(time.Time{})
	return nil
}

func (s *service) seconds() float64 { return s.before + time.Since(s.began).Seconds() }

// report gives a status now and then.
func (s *service) report(now time.Time) {
	if s.o.Report == nil || !now.IsZero() && now.Sub(s.pace.at) < s.o.ReportEvery {
		return
	}
	if !now.IsZero() {
		s.pace.measure(now, s.mark.Seq)
	}
	s.o.Report(s.status())
}

func (s *service) status() *Status {
	st := &Status{
		Seq: s.mark.Seq, Offset: s.mark.Offset, Counts: append([]Counts{}, s.counts...), Outcomes: s.outcomes, Seconds: s.seconds(),
		Rate: s.pace.rate, Latency: s.latency.Quantiles(), Memory: memoryUse(), Resumed: s.resumed,
	}
	if s.ahead != nil {
		st.Waiting = s.ahead.waiting()
	}
	if s.src != nil {
		for i := range st.Mistakes {
			st.Mistakes[i] = s.src.reader.Mistakes[i].Load() + s.mark.Refused[i]
		}
	}
	return st
}

// pace is the number of updates in a second, lately: an update counts the less, the longer ago it was.
type pace struct {
	at    time.Time
	seq   uint64
	rate  float64
	known bool
}

func (p *pace) measure(now time.Time, seq uint64) {
	d := now.Sub(p.at).Seconds()
	if d <= 0 {
		return
	}
	rate, weight := float64(seq-p.seq)/d, 1.0
	if p.known {
		weight = 1 - math.Exp(-d) // half of it is of the last 0.7 seconds
	}
	p.rate += (rate - p.rate) * weight
	p.at, p.seq, p.known = now, seq, true
}

// memoryUse returns the bytes that the Go runtime has of the system.
func memoryUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// tolerant is a source whose mistakes are passed over, as a policy says, and counted.
type tolerant struct {
	Source
	resumer Resumer // Source, or nil
	reader  stream.Tolerant
	policy  stream.Policy
	each    func(*stream.InputError) // of those that are passed over
}

func newTolerant(src Source, policy stream.Policy) *tolerant {
	t := &tolerant{Source: src, policy: policy}
	t.resumer, _ = src.(Resumer)
	t.reader = stream.Tolerant{Reader: src, Each: func(bad *stream.InputError) error {
		if t.policy == stream.Fatal {
			return bad
		}
		if t.each != nil {
			t.each(bad)
		}
		return nil
	}}
	return t
}

// seen adds mistakes that the source had before its position.
func (t *tolerant) seen(mistakes [stream.Kinds]uint64) {
	for i, n := range mistakes {
		t.reader.Mistakes[i].Store(n)
	}
}

// progress returns how far the source was read, as a new value if p is not that.
func (t *tolerant) progress(p *progress) *progress {
	now := progress{}
	if t.resumer != nil {
		now.state = t.resumer.State()
		now.state.Latest, now.state.Timed = 0, false
	}
	for i := range now.mistakes {
		now.mistakes[i] = t.reader.Mistakes[i].Load()
	}
	if p != nil && *p == now {
		return p
	}
	return &now
}

// Next reads the next update without a mistake.
func (t *tolerant) Next(u *stream.Update) error { return t.reader.Next(u) }
