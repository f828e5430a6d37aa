package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/host"
	"github.com/weftgraph/weft/internal/vfs"
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

	// Path names the output file. If it is "", changes go to Out.
	Path   string
	Out    io.Writer
	Format string
	// Labels writes a null for the label of an edge that has none. Otherwise it is left out.
	Labels bool
	// Quiet writes no changes, for a summary.
	Quiet bool
	// Present writes the matches of the beginning before all changes.
	Present bool

	Batch int // the most updates of a batch; 0 means DefaultBatch

	Files vfs.FS
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
	Outcomes stream.Outcomes
	Mistakes [stream.Kinds]uint64
	Seconds  float64 // since the first start, without the time between a kill and a restart
	Rate     float64 // updates in a second, lately
	Latency  Quantiles
	Memory   uint64 // bytes of the process
	Resumed  uint64 // the update after which this run began
}

// Run reads updates until the source ends, and writes how matches change. The status says how far it came, also with an error. If ctx ends,
// the error is its cause, and Run returns after the batch under way. Run closes neither the source nor Out.
func Run(ctx context.Context, o Options) (*Status, error) {
	s := &service{o: o, set: o.Set, files: vfs.Or(o.Files)}
	if s.o.Batch == 0 {
		s.o.Batch = DefaultBatch
	}
	err := s.run(ctx)
	return s.status(), err
}

// service is the state of Run.
type service struct {
	o     Options
	set   *Set
	files vfs.FS
	file  *file // nil: the output is Out
	enc   encoder
	src   *tolerant
	ahead *ahead

	seq, resumed uint64
	offset       int64
	digest       digest
	counts       []Counts
	refused      [stream.Kinds]uint64 // updates that could not be made
	graph        string               // the latest file of the graph
	graphSeq     uint64
	outcomes     stream.Outcomes
	present      bool
	before       float64 // seconds of earlier runs
	began        time.Time
	saved        time.Time
	dirty        bool // something happened since the checkpoint
	half         bool // a batch is under way
	latency      Latency
	pace         pace
}

func (s *service) run(ctx context.Context) (err error) {
	s.began = time.Now()
	s.counts = make([]Counts, len(s.set.queries))
	s.src = newTolerant(s.o.Source, s.o.Policy)
	c, err := s.checkpointOf()
	if err != nil {
		return err
	}
	if err := s.open(ctx, c); err != nil {
		return err
	}
	if s.file != nil {
		defer func() {
			if closed := s.file.close(); err == nil {
				err = closed
			}
		}()
	}
	if c != nil {
		if err := s.replay(ctx, c); err != nil {
			return err
		}
	}
	s.src.each = s.o.Mistake // those before a checkpoint were told of
	s.saved, s.pace.at, s.pace.seq = time.Now(), time.Now(), s.seq
	if s.o.Present && !s.present {
		if err := s.writePresent(ctx); err != nil {
			return err
		}
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
	if closed := s.finish(ctx, err); err == nil || errors.Is(err, io.EOF) {
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

// open opens the output, at the end of what the checkpoint has.
func (s *service) open(ctx context.Context, c *Checkpoint) (err error) {
	length := int64(0)
	if c != nil {
		length = c.Length
	}
	w := s.o.Out
	if s.o.Path != "" {
		if s.file, err = openFile(ctx, s.files, s.o.Path, length); err != nil {
			return err
		}
		w = s.file
	}
	if s.o.Quiet {
		return nil
	}
	s.enc, err = newEncoder(w, s.o.Format, s.set.queries, s.set.g.TextIDs(), s.o.Labels, length > 0)
	return err
}

// replay reads the updates up to a checkpoint again. It makes those that the graph does not have, without looking for matches.
func (s *service) replay(ctx context.Context, c *Checkpoint) error {
	var u stream.Update
	for s.seq < c.Seq {
		if s.seq%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := s.src.Next(&u)
		if err == io.EOF {
			return s.shorter(c)
		}
		if err != nil {
			return err
		}
		s.seq++
		s.digest.add(&u)
		if s.seq <= s.o.From {
			s.set.pass(&u)
		} else if err := s.set.skip(&u); err != nil {
			if err := s.wrong(s.seq, s.src.Place(), &host.UpdateError{Err: err}); err != nil {
				return err
			}
		}
	}
	if _, at := s.src.Position(); c.Seq > 0 && (at != c.Offset || uint64(s.digest) != c.Digest) {
		return s.shorter(c)
	}
	s.offset, s.counts, s.outcomes, s.refused = c.Offset, c.Counts, c.Outcomes, c.Refused
	s.present, s.before, s.resumed, s.graph, s.graphSeq = c.Present, c.Seconds, c.Seq, c.Graph, c.GraphSeq
	return nil
}

// shorter is the error of a source that is not the one that a checkpoint is of.
func (s *service) shorter(c *Checkpoint) error {
	return fmt.Errorf("%w in %s: the source has changed: it does not begin with the %d updates of the checkpoint, which end at byte %d", ErrCheckpoint, s.o.State.dir, c.Seq, c.Offset)
}

// writePresent writes the matches of the beginning.
func (s *service) writePresent(ctx context.Context) error {
	for i, q := range s.set.queries {
		if q.Emit == gql.EmitRemoved {
			continue
		}
		if err := s.set.Present(ctx, i, 0, s.enc.change); err != nil {
			return err
		}
	}
	s.present, s.dirty = true, true
	return s.enc.flush()
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
		now := time.Now()
		if s.o.State != nil && s.dirty && now.Sub(s.saved) >= s.o.Every {
			if err := s.checkpoint(ctx); err != nil {
				return err
			}
		}
		s.report(now)
	}
}

// next is when loop has something to do even if no update comes.
func (s *service) next() time.Time {
	var at time.Time
	if s.o.State != nil && s.dirty {
		at = s.saved.Add(s.o.Every)
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
	for i := 0; s.o.State != nil && i < n; i++ {
		s.digest.add(&us[i])
	}
	done := 0
	var wrong error
	for done < n && wrong == nil {
		made, err := s.make(ctx, s.seq+uint64(done), us[done:])
		done += made
		if err != nil {
			if !errors.As(err, new(*host.UpdateError)) {
				return err
			}
			if wrong = s.wrong(s.seq+uint64(done)+1, s.ahead.place(first+uint64(done)), err); wrong == nil {
				done++
			}
		}
	}
	if !s.o.Quiet {
		if err := s.enc.flush(); err != nil {
			return err
		}
	}
	s.seq += uint64(done)
	if wrong != nil { // the checkpoint stays that before the batch: edges may have left the window because of the wrong update
		return wrong
	}
	s.offset = s.ahead.offset(first + uint64(n) - 1)
	s.dirty = true
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

// make makes the updates after seq, and returns how many of them were made.
func (s *service) make(ctx context.Context, seq uint64, us []stream.Update) (int, error) {
	var emit func(*Change) error
	if !s.o.Quiet {
		emit = s.enc.change
	}
	// A batch that has begun is finished: its updates are in the graph.
	r, err := s.set.Apply(context.WithoutCancel(ctx), seq, us, emit)
	for i, c := range r.Counts {
		s.counts[i].Added = s.counts[i].Added.Add(c.Added)
		s.counts[i].Removed = s.counts[i].Removed.Add(c.Removed)
	}
	s.outcomes.Applied += r.Outcomes.Applied
	s.outcomes.Duplicates += r.Outcomes.Duplicates
	s.outcomes.Absent += r.Outcomes.Absent
	s.outcomes.SelfLoops += r.Outcomes.SelfLoops
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
	case errors.As(err, new(*host.UpdateError)):
		k = stream.Malformed
	default:
		return err
	}
	bad := &stream.InputError{Kind: k, Err: at.Wrong(fmt.Errorf("update %d: %w", seq, err))}
	s.refused[k]++
	if s.o.Policy == stream.Fatal {
		return bad
	}
	if s.src.each != nil {
		s.src.each(bad)
	}
	return nil
}

// checkpoint brings the output and the position to the disk.
func (s *service) checkpoint(ctx context.Context) error {
	if s.file != nil {
		if err := s.file.sync(); err != nil {
			return err
		}
	}
	failed := func(err error) error { return fmt.Errorf("the checkpoint in %s: %w", s.o.State.dir, err) }
	if every := cmp.Or(s.o.Snapshot, max(1<<20, s.set.g.NumEdges())); s.seq-s.graphSeq >= every {
		name, err := s.o.State.saveGraph(context.WithoutCancel(ctx), s.set.g, s.seq)
		if err != nil {
			return failed(err)
		}
		s.graph, s.graphSeq = name, s.seq
	}
	c := &Checkpoint{
		Of: s.o.Of, Seq: s.seq, Offset: s.offset, Digest: uint64(s.digest), Counts: slices.Clone(s.counts), Initial: s.o.Initial,
		Outcomes: s.outcomes, Refused: s.refused, Graph: s.graph, GraphSeq: s.graphSeq, Present: s.present, Seconds: s.seconds(),
	}
	if s.file != nil {
		c.Length = s.file.length
	}
	if err := s.o.State.Save(context.WithoutCancel(ctx), c); err != nil {
		return failed(err)
	}
	s.saved, s.dirty = time.Now(), false
	return nil
}

// finish makes the last checkpoint, if the output has all up to here, and ends the output's format.
func (s *service) finish(ctx context.Context, err error) error {
	whole := !s.half // the output has all changes up to seq
	if s.enc != nil && whole {
		if err := s.enc.flush(); err != nil {
			return err
		}
	}
	if s.o.State != nil && whole {
		if err := s.checkpoint(ctx); err != nil {
			return err
		}
	}
	if s.enc != nil {
		if err := s.enc.close(); err != nil {
			return err
		}
	}
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
		s.pace.measure(now, s.seq)
	}
	s.o.Report(s.status())
}

func (s *service) status() *Status {
	st := &Status{
		Seq: s.seq, Offset: s.offset, Counts: append([]Counts{}, s.counts...), Outcomes: s.outcomes, Seconds: s.seconds(),
		Rate: s.pace.rate, Latency: s.latency.Quantiles(), Memory: memoryUse(), Resumed: s.resumed,
	}
	if s.ahead != nil {
		st.Waiting = s.ahead.waiting()
	}
	if s.src != nil {
		for i := range st.Mistakes {
			st.Mistakes[i] = s.src.reader.Mistakes[i].Load() + s.refused[i]
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
	reader stream.Tolerant
	each   func(*stream.InputError) // of those that are passed over
}

func newTolerant(src Source, policy stream.Policy) *tolerant {
	t := &tolerant{Source: src}
	t.reader = stream.Tolerant{Reader: src, Each: func(bad *stream.InputError) error {
		if policy == stream.Fatal {
			return bad
		}
		if t.each != nil {
			t.each(bad)
		}
		return nil
	}}
	return t
}

// Next reads the next update without a mistake.
func (t *tolerant) Next(u *stream.Update) error { return t.reader.Next(u) }
