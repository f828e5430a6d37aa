package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/memory"
)

// Run is a request that waits or is being answered. One of the methods that ask for an answer may be called, once. Close must be called.
type Run struct {
	ID      uint64
	Who     Identity
	Request Request

	s       *Server
	share   *memory.Share // of the user's memory; nil: it is not limited
	leases  []*Lease      // several, or none, of a program; otherwise one
	query   *weft.Query   // nil for motifs, orbits, info and matcha
	program *weft.Matcha
	inputs  map[string]any // of the program
	options []weft.Option
	most    int   // of the user's queries that run at the same time
	rows    int64 // the most; 0: any number
	time    time.Duration

	ctx    context.Context
	cancel context.CancelCauseFunc
	turn   chan struct{} // closed when it may run
	closed sync.Once
	// outside is when the run began to hand rows to its client, in nanoseconds after begun. 0: it does not. paused: others have its turn.
	outside atomic.Int64

	begun         time.Time
	started       atomic.Int64 // nanoseconds after begun; 0: it waits
	phase         atomic.Pointer[string]
	done, total   atomic.Uint64
	written, sent atomic.Int64 // rows, bytes

	mu      sync.Mutex
	summary Summary
	over    bool
}

// begin makes a run of a request.
func (s *Server) begin(ctx context.Context, who Identity, q Request) (*Run, error) {
	if !slices.Contains(Kinds, q.Kind) {
		return nil, errorf(BadRequest, "kind %q: want one of %v", q.Kind, Kinds).at("kind")
	}
	if err := checkTag(q.Tag); err != nil {
		return nil, err
	}
	if q.Kind == Matcha {
		return s.beginProgram(ctx, who, q)
	}
	r := s.newRun(who, q)
	if err := r.lend(q.Graph, "graph"); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		r.release()
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r, nil
}

// newRun is a run without a graph and a query.
func (s *Server) newRun(who Identity, q Request) *Run {
	return &Run{
		Who: who, Request: q, s: s, turn: make(chan struct{}), begun: time.Now(),
		most: least(s.Limits.PerUser, who.Running), rows: least(s.Limits.Rows, who.Rows), time: least(s.Limits.Time, time.Duration(who.Seconds*1e9), q.Time),
	}
}

// lend gives the run the use of a graph, which a field of the request names.
func (r *Run) lend(graph string, field ...string) error {
	if !r.Who.May(graph) { // the same error as for a graph that does not exist
		return unknownGraph(graph).at(field...)
	}
	lease, err := r.s.Catalog.Acquire(graph)
	if err != nil {
		if own := (*Error)(nil); errors.As(err, &own) {
			return own.at(field...)
		}
		return err
	}
	r.leases = append(r.leases, lease)
	return nil
}

// graph is the graph of a query.
func (r *Run) graph() *weft.Graph { return r.leases[0].Graph }

// ReadableBy reports whether a user may read all graphs that the run reads.
func (r *Run) ReadableBy(who Identity) bool {
	for _, l := range r.leases {
		if !who.May(l.Name) {
			return false
		}
	}
	return true
}

// least is the least of the limits that are not 0.
func least[T int | int64 | time.Duration](limits ...T) (m T) {
	for _, l := range limits {
		if l > 0 && (m == 0 || l < m) {
			m = l
		}
	}
	return m
}

// Query is the parsed query; nil for motifs, orbits and info.
func (r *Run) Query() *weft.Query { return r.query }

// Graph is the graph that a query reads. It stays open until Close.
func (r *Run) Graph() *weft.Graph { return r.graph() }

// Context ends when the run is cut short, by the client or by the server.
func (r *Run) Context() context.Context { return r.ctx }

// Cancel cuts the run short. It does not block.
func (r *Run) Cancel() { r.stop(CutCancel) }

// Stop cuts the run short for a reason of its protocol. It does not block.
func (r *Run) Stop(why Cut) { r.stop(why) }

func (r *Run) stop(why Cut) { r.cancel(&cutError{why}) }

// Close ends the run, and takes it off the list. Closing twice does nothing.
func (r *Run) Close() {
	r.closed.Do(func() {
		r.stop(CutClient)
		r.release()
		r.share.Close()
		r.finish(Summary{Cut: CutClient}) // unless an answer was asked for
		if !r.Request.Kept {
			r.s.ended.add(r)
		}
		r.s.remove(r)
		if r.Request.Kind != Statement {
			r.s.Metrics.ended(r)
		}
	})
}

// Answered says what came of a statement, which a protocol has answered by itself: a number of rows, or an error. Close must still be called.
func (r *Run) Answered(rows int64, err error) {
	r.written.Store(rows)
	s, _ := r.judged(Summary{Rows: rows}, err)
	r.finish(s)
}

func (r *Run) release() {
	for _, l := range r.leases {
		l.Release()
	}
}

// begins waits for the run's turn, and starts its clock.
func (r *Run) begins() (stop func(), err error) {
	if err := r.s.queue.enter(r); err != nil {
		return nil, r.ended(Summary{}, err)
	}
	r.started.Store(max(1, int64(time.Since(r.begun))))
	if r.time <= 0 {
		return func() {}, nil
	}
	t := time.AfterFunc(r.time, func() { r.stop(CutTime) })
	return func() { t.Stop() }, nil
}

// ClientGone reports whether the run was cut short because its client has gone, so that nobody reads an answer.
func (r *Run) ClientGone() bool {
	cause := context.Cause(r.ctx)
	return cause != nil && cutOf(cause) == CutClient
}
