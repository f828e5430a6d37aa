package serve

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft"
)

// Server runs the queries of all protocols. Safe for concurrent use.
type Server struct {
	Catalog *Catalog
	Limits  Limits
	Metrics *Metrics
	Log     *slog.Logger
	// Programs are the targets of Matcha programs that clients may run; nil: none.
	Programs []string

	users    atomic.Pointer[Users] // nil: every client is Anyone
	queue    queue
	accounts accounts
	texts    texts
	parsing  chan struct{} // has an element for each program that is being read
	ended    ended

	mu    sync.Mutex
	runs  map[uint64]*Run
	last  uint64
	idle  chan struct{} // closed when no run is left, while someone waits
	drain bool
}

// Options say how a server works.
type Options struct {
	Catalog *Catalog
	Users   *Users
	Limits  Limits
	// Programs are the targets of Matcha programs that clients may run, of weft.MatchaTargets. nil: none.
	Programs []string
	Log      *slog.Logger // nil drops messages
}

// New returns a server.
func New(o Options) *Server {
	l := o.Limits
	l.Running = cmp.Or(l.Running, runtime.GOMAXPROCS(0))
	if l.PerUser == 0 {
		if l.PerUser = l.Running; o.Users != nil { // the clients of one user, which may read slowly, leave turns to others
			l.PerUser = max(1, l.Running-1)
		}
	}
	l.Waiting = cmp.Or(l.Waiting, 1000)
	if l.WaitingUser == 0 {
		if l.WaitingUser = l.Waiting; o.Users != nil {
			l.WaitingUser = max(1, l.Waiting/4)
		}
	}
	l.Threads = cmp.Or(l.Threads, runtime.GOMAXPROCS(0))
	l.Text = cmp.Or(l.Text, 64<<10)
	l.ProgramMemory = cmp.Or(l.ProgramMemory, 256<<20)
	l.CompilerMemory = cmp.Or(l.CompilerMemory, 1<<30)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Catalog: o.Catalog, Limits: l, Log: o.Log, Programs: o.Programs, parsing: make(chan struct{}, runtime.GOMAXPROCS(0)), runs: map[uint64]*Run{}, texts: texts{by: map[string]*weft.Query{}}}
	s.users.Store(o.Users)
	s.queue = queue{limits: l, running: map[*Run]bool{}, paused: map[*Run]bool{}}
	s.Metrics = newMetrics(s)
	return s
}

// Users are those who may ask now; nil: every client is Anyone.
func (s *Server) Users() *Users { return s.users.Load() }

// SetUsers gives a server that has users others. Queries that were begun go on.
func (s *Server) SetUsers(u *Users) {
	if old := s.users.Load(); old != nil {
		u.inherit(old)
	}
	s.users.Store(u)
}

// Current returns a user with the rights that it has now. A user whose account was removed, or has another password or secret, is an error.
func (s *Server) Current(who Identity) (Identity, error) {
	u := s.users.Load()
	if u == nil {
		return who, nil
	}
	a, ok := u.account(who.by)
	if !ok {
		return Identity{}, errorf(Credentials, "this user was removed, or has another password or token: sign in again")
	}
	return a.identity(), nil
}

// StatementTime is the longest time of what a protocol answers for a user without a run, as lists of labels: the least of the limits on the time
// of queries and of their planning. 0 means any.
func (s *Server) StatementTime(who Identity) time.Duration {
	return least(s.Limits.Time, s.Limits.Planning, time.Duration(who.Seconds*1e9))
}

// Attend watches memory and the files of graphs until ctx ends.
func (s *Server) Attend(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { s.queue.attend(ctx) })
	both.Go(func() { s.Catalog.Attend(ctx, 2*time.Second) })
	both.Wait()
}

// Begin checks a request and lists it as a run, which the caller must close. The first call of the run that asks for an answer lets it wait
// for its turn. ctx ends when the client goes.
//
// The error is an *Error, or one of the library about the query.
func (s *Server) Begin(ctx context.Context, who Identity, q Request) (*Run, error) {
	if err := s.queue.full(who); err != nil {
		s.Metrics.refused(err)
		return nil, err
	}
	r, err := s.begin(ctx, who, q)
	if err != nil {
		s.Metrics.refused(err)
		return nil, err
	}
	return s.list(r)
}

// Statement lists what a protocol answers by itself, as lists of labels: a run without a turn and without an answer, which the caller must close.
// Its context ends with ctx, or when somebody cancels it.
func (s *Server) Statement(ctx context.Context, who Identity, q Request) (*Run, error) {
	q.Kind = Statement
	r := s.newRun(who, q)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.started.Store(1)
	return s.list(r)
}

// list puts a run into the list, or ends it if the server stops.
func (s *Server) list(r *Run) (*Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drain {
		r.cancel(&cutError{CutDrain})
		r.release()
		return nil, errDraining()
	}
	r.limitMemory()
	s.last++
	r.ID = s.last
	s.runs[r.ID] = r
	return r, nil
}

// remove takes a run off the list.
func (s *Server) remove(r *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, r.ID)
	if len(s.runs) == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// Running describes the runs that a user may see, the oldest first: those of all for an administrator, and the user's own for others.
func (s *Server) Running(who Identity) []Status {
	s.mu.Lock()
	all := make([]*Run, 0, len(s.runs))
	for _, r := range s.runs {
		if who.sees(r) {
			all = append(all, r)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b *Run) int { return cmp.Compare(a.ID, b.ID) })
	out := []Status{}
	for _, r := range all {
		out = append(out, r.Status())
	}
	return out
}

// Find returns a run that is not closed, and that the user may see.
func (s *Server) Find(who Identity, id uint64) (*Run, error) {
	s.mu.Lock()
	r := s.runs[id]
	s.mu.Unlock()
	if r == nil || !who.sees(r) {
		return nil, errorf(UnknownRun, "no query with the number %d runs or waits", id)
	}
	return r, nil
}

func (id Identity) sees(r *Run) bool { return id.Admin || r.Who.Name == id.Name }

// Drain refuses later requests, and blocks until no run is left. After grace, or when hurry ends, it cuts the others short, and waits until
// their protocols have closed them, at most for 5 seconds. It returns the number of those that were cut short.
func (s *Server) Drain(hurry context.Context, grace time.Duration) (cut int) {
	s.queue.close()
	s.mu.Lock()
	s.drain = true
	idle := make(chan struct{})
	if len(s.runs) == 0 {
		close(idle)
	} else {
		s.idle = idle
	}
	n := len(s.runs)
	s.mu.Unlock()
	if n > 0 {
		s.Log.Info("waiting for queries", "queries", n, "grace", grace)
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-idle:
		return 0
	case <-hurry.Done():
	case <-t.C:
	}
	s.mu.Lock()
	left := make([]*Run, 0, len(s.runs))
	for _, r := range s.runs {
		left = append(left, r)
	}
	s.mu.Unlock()
	s.Log.Warn("queries are cut short", "queries", len(left))
	for _, r := range left {
		r.stop(CutDrain)
	}
	select {
	case <-idle:
	case <-time.After(5 * time.Second):
	}
	return len(left)
}

// texts has queries by their texts. The library finds the plan of a query again by its address.
type texts struct {
	mu   sync.Mutex
	by   map[string]*weft.Query
	size int
}

// mostTexts is the number of bytes of texts that are kept.
const mostTexts = 1 << 20

// parse is weft.Parse, or the query of the same text.
func (t *texts) parse(text string) (*weft.Query, error) {
	t.mu.Lock()
	q := t.by[text]
	t.mu.Unlock()
	if q != nil {
		return q, nil
	}
	q, err := weft.Parse(text)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.by[text]; known != nil {
		return known, nil
	}
	if t.size += len(text); t.size > mostTexts {
		clear(t.by)
		t.size = len(text)
	}
	t.by[text] = q
	return q, nil
}

// Draining reports whether Drain was called.
func (s *Server) Draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drain
}
