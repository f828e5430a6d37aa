package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/native"
)

// Kind is what a request asks for.
type Kind string

// Kinds of requests.
const (
	Count         Kind = "count"
	Match         Kind = "match"
	Exists        Kind = "exists"
	Explain       Kind = "explain"
	Motifs        Kind = "motifs"
	Participation Kind = "participation"
	Info          Kind = "info"
	Matcha        Kind = "matcha"
)

// Statement is the kind of what Server.Statement lists. No request asks for it.
const Statement Kind = "statement"

// Kinds are those of requests.
var Kinds = []Kind{Count, Match, Exists, Explain, Motifs, Participation, Info, Matcha}

// Request is a question about a graph.
type Request struct {
	Kind     Kind
	Graph    string
	Query    string         // a text in the pattern language; not of motifs and info
	Pattern  string         // or a name of the catalogue, as clique(5)
	Params   map[string]any // values of $name: bool, int64, float64, string, nil, or a slice of these
	Program  Program        // of matcha, in place of a query
	Vertex   string         // of participation; "" means the one of RETURN participation(v)
	K        int            // of motifs: the number of vertices, from 3 to 5
	Protocol string         // that the client speaks, for lists and logs
	Tag      string         // of the client's choice, for lists: at most 64 characters that can be shown
	Kept     bool           // the protocol keeps the answer and tells how the run ended, so that Server.Ended does not
	Choices
}

// Choices change how a request is answered. The zero value leaves all to the library and the server's limits.
type Choices struct {
	Limit        int64         // matches
	Time         time.Duration // as Limits.Time
	Semantics    string        // iso, trail or hom
	Induced      *bool
	List         string // subgraphs or embeddings
	AllowProduct bool
	Directions   *bool // of motifs
	Profile      bool  // of explain: also run the query
	Listing      *bool // of explain: plan a listing, or a count
	Engine       string
	Device       string
	Order        string
	Threads      int
	Seed         uint64
	Switches     map[string]string // engine options
}

// Run is a request that waits or is being answered. One of the methods that ask for an answer may be called, once. Close must be called.
type Run struct {
	ID      uint64
	Who     Identity
	Request Request

	s       *Server
	leases  []*Lease    // several, or none, of a program; otherwise one
	query   *weft.Query // nil for motifs, info and matcha
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

// Status describes a run, as lists have it.
type Status struct {
	ID       uint64    `json:"id"`
	User     string    `json:"user,omitempty"`
	Kind     Kind      `json:"kind"`
	Graph    string    `json:"graph"`
	Query    string    `json:"query,omitempty"`
	Tag      string    `json:"tag,omitempty"` // of the request
	Protocol string    `json:"protocol"`
	State    string    `json:"state"` // waiting, running or done
	Begun    time.Time `json:"begun"`
	Seconds  float64   `json:"seconds"` // since then
	Waited   float64   `json:"waited_seconds"`
	Rows     int64     `json:"rows"`
	// Done of Total parts of the search are over. Total is 0 if it is not known.
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"`
}

// Summary is what is known of a run when its answer ends.
type Summary struct {
	Complete bool
	Cut      Cut // why it is not complete
	Rows     int64
	// Results have the counts, times and notes of the library. There are several of motifs, and none of an answer that failed.
	Results []weft.Result
	Columns []string // of rows
	Values  []any    // the result of a program
	Notes   []string // of a program
	Waited  time.Duration
	Total   time.Duration // without waiting
	Err     error         // that ended the run
}

// AllNotes are the notes of the results and of the program.
func (s Summary) AllNotes() (out []string) {
	for _, r := range s.Results {
		out = append(out, r.Notes...)
	}
	return append(out, s.Notes...)
}

// begin makes a run of a request.
func (s *Server) begin(ctx context.Context, who Identity, q Request) (*Run, error) {
	if !slices.Contains(Kinds, q.Kind) {
		return nil, errorf(BadRequest, "kind %q: want one of %v", q.Kind, Kinds)
	}
	if err := checkTag(q.Tag); err != nil {
		return nil, err
	}
	if q.Kind == Matcha {
		return s.beginProgram(ctx, who, q)
	}
	r := s.newRun(who, q)
	if err := r.lend(q.Graph); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		r.release()
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r, nil
}

// mostTag is the number of characters of a tag.
const mostTag = 64

// checkTag refuses a tag that could not be shown in a line.
func checkTag(tag string) error {
	switch {
	case utf8.RuneCountInString(tag) > mostTag:
		return errorf(BadRequest, "the tag has more than %d characters", mostTag)
	case strings.ContainsFunc(tag, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return errorf(BadRequest, "the tag has a control character, or another that cannot be shown")
	}
	return nil
}

// newRun is a run without a graph and a query.
func (s *Server) newRun(who Identity, q Request) *Run {
	return &Run{
		Who: who, Request: q, s: s, turn: make(chan struct{}), begun: time.Now(),
		most: least(s.Limits.PerUser, who.Running), rows: least(s.Limits.Rows, who.Rows), time: least(s.Limits.Time, time.Duration(who.Seconds*1e9), q.Time),
	}
}

// lend gives the run the use of a graph.
func (r *Run) lend(graph string) error {
	if !r.Who.May(graph) { // the same error as for a graph that does not exist
		return unknownGraph(graph)
	}
	lease, err := r.s.Catalog.Acquire(graph)
	if err != nil {
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

// read parses the query and makes the options.
func (r *Run) read() (err error) {
	q := &r.Request
	if q.Limit < 0 || q.Time < 0 || q.Threads < 0 {
		return errorf(BadRequest, "limits and threads cannot be negative")
	}
	switch asks := q.Kind != Motifs && q.Kind != Info; {
	case !asks && (q.Query != "" || q.Pattern != ""):
		return errorf(BadRequest, "%s takes no query", q.Kind)
	case !asks:
	case q.Query != "" && q.Pattern != "":
		return errorf(BadRequest, "give a query or the name of a pattern, and not both")
	case q.Pattern != "":
		if len(q.Pattern) > 200 {
			return errorf(TooLarge, "the name of the pattern has %d bytes, and at most 200 are taken", len(q.Pattern))
		}
		r.query, err = weft.PatternByName(q.Pattern)
	default:
		if err := r.s.fits(q.Query); err != nil {
			return err
		}
		r.query, err = r.s.texts.parse(q.Query)
	}
	if err != nil {
		return err
	}
	if r.query != nil {
		if err := r.s.small(r.query); err != nil {
			return err
		}
		for name := range q.Params {
			if !slices.Contains(r.query.Params(), name) {
				return errorf(BadRequest, "the query has no parameter $%s", name)
			}
		}
		if err := r.suits(); err != nil {
			return err
		}
	} else if len(q.Params) > 0 {
		return errorf(BadRequest, "%s takes no parameters", q.Kind)
	}
	if q.Kind == Motifs && (q.K < 3 || q.K > 5) {
		return errorf(BadRequest, "motifs have 3, 4 or 5 vertices, and not %d", q.K)
	}
	return r.setOptions()
}

// suits returns an error if the query's RETURN asks for another kind of answer.
func (r *Run) suits() error {
	q, kind := r.query, r.Request.Kind
	explain, profile := q.AsksExplain()
	_, total := q.AsksCount()
	vertex, participates := q.AsksParticipation()
	asks := Kind("")
	switch {
	case explain || profile:
		asks = Explain
	case q.AsksExists():
		asks = Exists
	case participates:
		asks = Participation
	case total:
		asks = Count
	}
	switch {
	case kind == Explain:
		r.Request.Profile = r.Request.Profile || profile
		return nil
	case asks == "" && kind == Participation && r.Request.Vertex == "":
		return errorf(BadRequest, "participation is of a vertex: name it, or say RETURN participation(v)")
	case kind == Participation && participates && r.Request.Vertex == "":
		r.Request.Vertex = vertex
		return nil
	case asks == "" || asks == kind, kind == Exists && asks == Count:
		return nil
	}
	return errorf(BadRequest, "the query asks for %s, and the request for %s", asks, kind)
}

func (r *Run) setOptions() error {
	q := &r.Request
	var o []weft.Option
	add := func(given bool, option func() weft.Option) {
		if given {
			o = append(o, option())
		}
	}
	o = append(o, weft.WithCompilerMemory(least(r.s.Limits.CompilerMemory, r.Who.Memory)))
	add(r.s.Limits.Planning > 0, func() weft.Option { return weft.WithPlanning(r.s.Limits.Planning) })
	for _, name := range slices.Sorted(maps.Keys(q.Params)) {
		o = append(o, weft.WithParam(name, q.Params[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(q.Switches)) {
		o = append(o, weft.WithEngineOption(name, q.Switches[name]))
	}
	if limit := least(q.Limit, r.rows); limit > 0 && (q.Kind == Match || q.Limit > 0) {
		o = append(o, weft.WithLimit(limit))
	}
	switch q.List {
	case "":
	case "subgraphs":
		o = append(o, weft.WithList(weft.Subgraphs))
	case "embeddings":
		o = append(o, weft.WithList(weft.Embeddings))
	default:
		return errorf(BadRequest, "list %q: want subgraphs or embeddings", q.List)
	}
	add(q.Semantics != "", func() weft.Option { return weft.WithSemantics(q.Semantics) })
	add(q.Induced != nil, func() weft.Option { return weft.WithInduced(*q.Induced) })
	add(q.AllowProduct, weft.WithProduct)
	add(q.Directions != nil, func() weft.Option { return weft.WithDirections(*q.Directions) })
	add(q.Profile, weft.WithLevels)
	add(q.Listing != nil, func() weft.Option { return weft.WithListing(*q.Listing) })
	add(q.Engine != "" && q.Engine != "auto", func() weft.Option { return weft.WithEngine(q.Engine) })
	add(q.Device != "" && q.Device != "auto", func() weft.Option { return weft.WithDevice(q.Device) })
	add(q.Order != "" && q.Order != "auto", func() weft.Option { return weft.WithOrder(q.Order) })
	q.Threads = min(q.Threads, r.s.Limits.Threads)
	add(q.Threads > 0, func() weft.Option { return weft.WithThreads(q.Threads) })
	add(q.Seed != 0, func() weft.Option { return weft.WithSeed(q.Seed) })
	o = append(o, weft.WithProgress(func(p weft.Progress) {
		r.phase.Store(&p.Phase)
		r.done.Store(p.Done)
		r.total.Store(p.Total)
	}))
	r.options = o
	return nil
}

// Query is the parsed query; nil for motifs and info.
func (r *Run) Query() *weft.Query { return r.query }

// Graph is the graph that a query reads. It stays open until Close.
func (r *Run) Graph() *weft.Graph { return r.graph() }

// Context ends when the run is cut short, by the client or by the server.
func (r *Run) Context() context.Context { return r.ctx }

// Status describes the run now.
func (r *Run) Status() Status {
	out := Status{
		ID: r.ID, User: r.Who.Name, Kind: r.Request.Kind, Graph: r.Request.Graph, Query: r.Request.Query, Tag: r.Request.Tag, Protocol: r.Request.Protocol,
		State: "waiting", Begun: r.begun, Seconds: time.Since(r.begun).Seconds(), Rows: r.written.Load(), Done: r.done.Load(), Total: r.total.Load(),
	}
	if out.Query == "" {
		out.Query = r.Request.Pattern + r.Request.Program.Name + r.Request.Program.Text // one of them
	}
	if at := r.started.Load(); at > 0 {
		out.State, out.Waited = "running", time.Duration(at).Seconds()
	} else {
		out.Waited = out.Seconds
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		out.State, out.Seconds = "done", (r.summary.Waited + r.summary.Total).Seconds()
	}
	return out
}

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

// Summary describes the answer, after it has ended.
func (r *Run) Summary() Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.summary
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

// ended keeps the summary of an answer and returns the error that the caller of the answer gets. An answer that was cut short is not an
// error if it has results so far.
func (r *Run) ended(s Summary, err error) error {
	s, err = r.judged(s, err)
	r.finish(s)
	return err
}

// judged completes a summary, as ended does.
func (r *Run) judged(s Summary, err error) (Summary, error) {
	cause := context.Cause(r.ctx)
	if room := new(native.MemoryError); errors.As(err, &room) && cause == nil { // to try again does not help
		err = &Error{Code: TooLarge, Message: room.Error(), err: err}
	}
	switch {
	case err == nil && s.Cut == NotCut:
		s.Complete = true
	case err == nil: // by a limit
	case cause != nil:
		s.Cut = cutOf(cause)
		if s.Cut == CutClient {
			break
		}
		if s.Cut == CutMemory && s.Rows == 0 {
			err = outOfMemory()
			break
		}
		if len(s.Results) > 0 || s.Rows > 0 || s.Columns != nil {
			err = nil
			break
		}
		err = r.nothing(s.Cut)
	case s.Rows > 0:
		s.Cut = CutError
	}
	s.Err = err
	return s, err
}

// nothing is the error of a run that was cut short before it had results.
func (r *Run) nothing(why Cut) error {
	switch why {
	case CutDrain:
		return errDraining()
	case CutCancel:
		return errorf(Cancelled, "the query was cancelled")
	case CutTime:
		if r.program != nil {
			return errorf(TimeLimit, "the program had no result within %v", r.time)
		}
		e := errorf(TooSlow, "the query was not planned within %v", r.time)
		return e
	}
	return &cutError{why}
}

// finish keeps a summary, once, and gives the run's turn to another.
func (r *Run) finish(s Summary) {
	r.s.queue.leave(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.over = true
	if _, whole := Message(s.Err); !whole {
		switch s.Cut {
		case CutClient:
		case NotCut, CutError:
			r.s.Log.Error("a query failed", "run", r.ID, "graph", r.Request.Graph, "error", s.Err)
		default: // a limit, or somebody's wish
			r.s.Log.Info("a query was cut short", "run", r.ID, "graph", r.Request.Graph, "cut", s.Cut, "error", s.Err)
		}
	}
	all := time.Since(r.begun)
	if at := r.started.Load(); at > 0 {
		s.Waited, s.Total = time.Duration(at), all-time.Duration(at)
	} else {
		s.Waited = all
	}
	r.summary = s
}

// of are the options that concern a call of the library.
func (r *Run) of(call string) []weft.Option { return weft.Concerning(call, r.options...) }

// result makes a summary of the result of a count.
func (r *Run) result(x weft.Result, err error) Summary {
	s := Summary{}
	if x.Embeddings != nil {
		s.Results = []weft.Result{x}
		if err == nil && !x.Complete {
			s.Cut = CutLimit
		}
	}
	return s
}

// Count counts the matches. A count that was cut short is not an error if it has a result: the summary says why.
func (r *Run) Count() (weft.Result, error) {
	stop, err := r.begins()
	if err != nil {
		return weft.Result{}, err
	}
	defer stop()
	x, err := r.graph().Count(r.ctx, r.query, r.of("Graph.Count")...)
	return x, r.ended(r.result(x, err), err)
}

// Exists reports whether there is a match. If the search was cut short before it found one, the answer is not known, and the summary says so.
func (r *Run) Exists() (bool, weft.Result, error) {
	stop, err := r.begins()
	if err != nil {
		return false, weft.Result{}, err
	}
	defer stop()
	yes, x, err := r.graph().Exists(r.ctx, r.query, r.of("Graph.Exists")...)
	return yes, x, r.ended(r.result(x, err), err)
}

// Explain plans the query, and with Profile runs it.
func (r *Run) Explain() (*weft.Explanation, error) {
	stop, err := r.begins()
	if err != nil {
		return nil, err
	}
	defer stop()
	x, err := r.graph().Explain(r.ctx, r.query, r.of("Graph.Explain")...)
	var s Summary
	if x != nil && x.Result != nil {
		s = r.result(*x.Result, err)
	}
	return x, r.ended(s, err)
}

// Motifs counts the connected patterns of K vertices.
func (r *Run) Motifs() ([]weft.Result, error) {
	stop, err := r.begins()
	if err != nil {
		return nil, err
	}
	defer stop()
	x, err := r.graph().Motifs(r.ctx, r.Request.K, r.of("Graph.Motifs")...)
	return x, r.ended(Summary{Results: x}, err)
}

// ParticipationRow is a vertex, or a group, with the number of its matches.
type ParticipationRow struct {
	Values []any
	Count  *big.Int
}

// ParticipationRows counts the matches of each vertex, and yields its rows. It has at most as many as the server and the user allow. The run keeps
// its turn, and its time goes on, until the loop ends. A result that was cut short after the first row has no error: the summary says so.
func (r *Run) ParticipationRows() iter.Seq2[ParticipationRow, error] {
	return func(yield func(ParticipationRow, error) bool) {
		stop, err := r.begins()
		if err != nil {
			yield(ParticipationRow{}, err)
			return
		}
		defer stop()
		x, s, err := r.participation()
		if err != nil || x == nil {
			r.finish(s)
			yield(ParticipationRow{}, err)
			return
		}
		wait := r.rest()
		for values, n := range x.Rows() {
			if wait.Err() != nil {
				s.Complete, s.Cut = false, cutOf(context.Cause(wait))
				break
			}
			s.Rows++
			r.written.Store(s.Rows)
			if !yield(ParticipationRow{values, n}, nil) {
				s.Complete, s.Cut = false, CutClient
				break
			}
		}
		r.finish(s)
	}
}

// rest is the context of writing what a search has found: of a search that was cut short, all that it has found is written.
func (r *Run) rest() context.Context {
	if r.ctx.Err() != nil {
		return context.Background()
	}
	return r.ctx
}

// participation counts, and shortens the rows.
func (r *Run) participation() (*weft.Participation, Summary, error) {
	x, err := r.graph().Participation(r.ctx, r.query, r.Request.Vertex, r.of("Graph.Participation")...)
	var s Summary
	if x != nil {
		s = r.result(x.Result, err)
		if limit := r.MostRows(); limit > 0 && int64(x.Len()) > limit {
			x.Shorten(int(limit))
			if s.Cut == NotCut {
				s.Cut = r.limited()
			}
		}
	}
	s, err = r.judged(s, err)
	return x, s, err
}

// WriteParticipation counts the matches of each vertex, and writes a row for each in a format of Participation.Write. The run keeps its turn,
// and its time goes on, until all is written. An error after the first byte leaves an answer that is not complete in its form.
func (r *Run) WriteParticipation(w io.Writer, format string) error {
	stop, err := r.begins()
	if err != nil {
		return err
	}
	defer stop()
	x, s, err := r.participation()
	if err != nil || x == nil {
		r.finish(s)
		return err
	}
	out := r.counts(w)
	out.ctx = r.rest()
	err = x.Write(out, format)
	s.Rows = r.written.Load()
	switch {
	case err == nil:
	case out.err != nil:
		s.Complete, s.Cut, s.Err = false, CutClient, err
		if cause := context.Cause(r.ctx); cause != nil {
			s.Cut = cutOf(cause)
		}
	default:
		s.Complete, s.Cut, s.Err = false, CutError, err
	}
	r.finish(s)
	return err
}

// MostRows is the number of rows that the answer may have at most; 0: there is no limit.
func (r *Run) MostRows() int64 { return least(r.Request.Limit, r.rows) }

// Info describes the graph.
func (r *Run) Info() (*weft.Info, error) {
	stop, err := r.begins()
	if err != nil {
		return nil, err
	}
	defer stop()
	x, err := r.graph().Info(r.ctx, r.of("Graph.Info")...)
	return x, r.ended(Summary{}, err)
}

// Rows yields the matches, in no order. The search waits while the loop's body works. An error ends the loop. A result that was cut short
// after the first row, by a limit, has no error: the summary says so, which is complete when the loop has ended.
func (r *Run) Rows() iter.Seq2[weft.Match, error] {
	return func(yield func(weft.Match, error) bool) {
		stop, err := r.begins()
		if err != nil {
			yield(weft.Match{}, err)
			return
		}
		defer stop()
		var s Summary
		var failed error
		left := false
		limit := least(r.Request.Limit, r.rows)
		defer r.lulls()()
		for m, err := range r.graph().Match(r.ctx, r.query, r.of("Graph.Match")...) {
			if err != nil {
				failed = err
				break
			}
			if s.Rows == 0 {
				s.Columns = m.Columns()
			}
			s.Rows++
			r.written.Store(s.Rows)
			taken := r.hands()
			if !yield(m, nil) {
				left = true
				break
			}
			taken()
		}
		switch {
		case left:
			s.Cut = CutClient
		case failed == nil && limit > 0 && s.Rows >= limit:
			s.Cut = r.limited()
		}
		if err := r.ended(s, failed); err != nil && !left {
			yield(weft.Match{}, err)
		}
	}
}

// limited is the reason of a result that has as many rows as it may.
func (r *Run) limited() Cut {
	if l := r.Request.Limit; l > 0 && (r.rows == 0 || l <= r.rows) {
		return CutLimit
	}
	return CutRows
}

// Write writes the matches in a format of Graph.List. It blocks while w does. A result that was cut short by a limit has no error: the
// summary says so.
func (r *Run) Write(w io.Writer, format string) error {
	stop, err := r.begins()
	if err != nil {
		return err
	}
	defer stop()
	out := r.counts(w)
	out.hands = r.hands
	defer r.lulls()()
	x, err := r.graph().List(r.ctx, r.query, out, format, r.of("Graph.List")...)
	s := r.result(x, err)
	s.Rows = r.written.Load()
	if s.Cut == CutLimit {
		s.Cut = r.limited()
	}
	if out.err != nil { // the client's end, or its patience
		s.Cut, s.Err = CutClient, out.err
		if cause := context.Cause(r.ctx); cause != nil {
			s.Cut = cutOf(cause)
		}
		r.finish(s)
		return out.err
	}
	return r.ended(s, err)
}

// counted is a writer that counts bytes and rows and keeps its first error.
//
// If it has a context, it writes nothing after the context's end.
type counted struct {
	ctx         context.Context
	w           io.Writer
	bytes, rows *atomic.Int64
	hands       func() (taken func()) // is called before each write, and taken after it; nil: nothing is
	err         error
}

// counts is a writer that counts for the run.
func (r *Run) counts(w io.Writer) *counted {
	return &counted{w: w, bytes: &r.sent, rows: &r.written}
}

// Wrote is for package sink, which knows the number of rows in the bytes.
func (c *counted) Wrote(rows int) { c.rows.Add(int64(rows)) }

func (c *counted) Write(b []byte) (int, error) {
	if c.ctx != nil && c.ctx.Err() != nil {
		if c.err == nil {
			c.err = context.Cause(c.ctx)
		}
		return 0, c.err
	}
	if c.hands != nil {
		defer c.hands()()
	}
	n, err := c.w.Write(b)
	c.bytes.Add(int64(n))
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("writing to the client: %w", err)
	}
	return n, err
}

// ClientGone reports whether the run was cut short because its client has gone, so that nobody reads an answer.
func (r *Run) ClientGone() bool {
	cause := context.Cause(r.ctx)
	return cause != nil && cutOf(cause) == CutClient
}
