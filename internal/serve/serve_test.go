package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve/servetest"
)

// server returns a server with the graphs karate and dense. A search for servetest.Long in dense takes minutes.
func server(t *testing.T, l Limits) *Server {
	t.Helper()
	rt := weft.NewRuntime(weft.RuntimeOptions{CacheDir: "off"})
	t.Cleanup(func() { rt.Close() })
	c := NewCatalog(CatalogOptions{Runtime: rt})
	t.Cleanup(c.Close)
	for _, s := range []Source{{Name: "karate", Path: servetest.Karate()}, {Name: "dense", Path: servetest.Dense(t, rt)}} {
		if err := c.Open(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return New(Options{Catalog: c, Limits: l})
}

func begin(t *testing.T, s *Server, who Identity, q Request) *Run {
	t.Helper()
	r, err := s.Begin(t.Context(), who, q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func code(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Code(fmt.Sprint(err))
}

func TestAnswers(t *testing.T) {
	s := server(t, Limits{})
	r := begin(t, s, Anyone(), Request{Kind: Count, Graph: "karate", Pattern: "triangle"})
	x, err := r.Count()
	if err != nil || x.Subgraphs.Int64() != 45 {
		t.Errorf("%v triangles, %v; want 45", x.Subgraphs, err)
	}
	if sum := r.Summary(); !sum.Complete || sum.Cut != NotCut || len(sum.Results) != 1 {
		t.Errorf("summary %+v", sum)
	}
	r = begin(t, s, Anyone(), Request{Kind: Match, Graph: "karate", Query: "MATCH (a)--(b)--(c)--(a) WHERE id(a) = $x RETURN a, b, c", Params: map[string]any{"x": int64(1)}})
	rows := 0
	for m, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if m.ID("a") != "1" {
			t.Errorf("a is %s", m.ID("a"))
		}
		rows++
	}
	if sum := r.Summary(); rows != 36 || sum.Rows != 36 || !sum.Complete {
		t.Errorf("%d rows, summary %+v", rows, sum)
	}
	r = begin(t, s, Anyone(), Request{Kind: Exists, Graph: "karate", Pattern: "clique(6)"})
	if yes, _, err := r.Exists(); yes || err != nil {
		t.Errorf("clique(6): %v, %v", yes, err)
	}
	r = begin(t, s, Anyone(), Request{Kind: Motifs, Graph: "karate", K: 3})
	if m, err := r.Motifs(); len(m) != 2 || err != nil {
		t.Errorf("motifs: %v, %v", m, err)
	}
	r = begin(t, s, Anyone(), Request{Kind: Info, Graph: "karate"})
	if in, err := r.Info(); err != nil || in.Vertices != 34 {
		t.Errorf("info: %v, %v", in, err)
	}
	if n := len(s.Running(Anyone())); n != 5 {
		t.Errorf("%d runs are listed, and none was closed", n)
	}
}

func TestRowsCutShort(t *testing.T) {
	s := server(t, Limits{Rows: 10})
	for _, test := range []struct {
		limit int64
		rows  int64
		why   Cut
	}{{0, 10, CutRows}, {20, 10, CutRows}, {5, 5, CutLimit}} {
		q := Request{Kind: Match, Graph: "karate", Pattern: "triangle", Choices: Choices{Limit: test.limit}}
		r := begin(t, s, Anyone(), q)
		for _, err := range r.Rows() {
			if err != nil {
				t.Error(err)
			}
		}
		if sum := r.Summary(); sum.Rows != test.rows || sum.Cut != test.why || sum.Complete {
			t.Errorf("limit %d: %+v", test.limit, sum)
		}
		r = begin(t, s, Anyone(), q)
		var out strings.Builder
		if err := r.Write(&out, "ndjson"); err != nil {
			t.Error(err)
		}
		if sum := r.Summary(); sum.Rows != test.rows || sum.Cut != test.why || int64(strings.Count(out.String(), "\n")) != test.rows {
			t.Errorf("limit %d: %+v, %d lines", test.limit, sum, strings.Count(out.String(), "\n"))
		}
	}
}

// writer is a function.
type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// TestParticipationWritten: the limits hold for participation, until its rows are written.
func TestParticipationWritten(t *testing.T) {
	s := server(t, Limits{Rows: 10})
	q := Request{Kind: Participation, Graph: "karate", Pattern: "triangle", Vertex: "v0"}
	r := begin(t, s, Anyone(), q)
	lines := 0
	if err := r.WriteParticipation(writer(func(b []byte) (int, error) {
		lines += strings.Count(string(b), "\n")
		if running, _ := s.queue.counts(); running != 1 || r.Status().State != "running" {
			t.Errorf("%d queries run, and this one is %s", running, r.Status().State)
		}
		return len(b), nil
	}), "ndjson"); err != nil {
		t.Fatal(err)
	}
	if sum := r.Summary(); lines != 10 || sum.Rows != 10 || sum.Cut != CutRows || sum.Complete {
		t.Errorf("%d lines, %+v", lines, sum)
	}
	r = begin(t, s, Anyone(), q)
	rows := 0
	for row, err := range r.ParticipationRows() {
		rows++
		if running, _ := s.queue.counts(); err != nil || running != 1 || len(row.Values) != 1 || row.Count.Sign() < 0 {
			t.Errorf("%+v, %v; %d queries run", row, err, running)
		}
	}
	if running, _ := s.queue.counts(); rows != 10 || r.Summary().Rows != 10 || r.Summary().Cut != CutRows || running != 0 {
		t.Errorf("%d rows, %+v; %d queries run", rows, r.Summary(), running)
	}
	r = begin(t, s, Anyone(), q)
	for range r.ParticipationRows() {
		break
	}
	if r.Summary().Cut != CutClient || r.Summary().Rows != 1 {
		t.Errorf("a client that reads one row: %+v", r.Summary())
	}
	s = server(t, Limits{Time: 400 * time.Millisecond})
	r = begin(t, s, Anyone(), Request{Kind: Participation, Graph: "dense", Query: "MATCH (a)--(b)", Vertex: "a"})
	err := r.WriteParticipation(writer(func(b []byte) (int, error) {
		time.Sleep(500 * time.Millisecond)
		return len(b), nil
	}), "ndjson")
	if sum := r.Summary(); err == nil || sum.Cut != CutTime || sum.Complete {
		t.Errorf("%v, %+v", err, sum)
	}
	r = begin(t, s, Anyone(), Request{Kind: Participation, Graph: "dense", Query: "MATCH (a)--(b)", Vertex: "a"})
	for _, err := range r.ParticipationRows() {
		if err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if sum := r.Summary(); sum.Cut != CutTime || sum.Complete || sum.Rows == 0 || sum.Rows == 3000 {
		t.Errorf("rows that are read slowly: %+v", sum)
	}
}

func TestTimeLimit(t *testing.T) {
	s := server(t, Limits{Time: 200 * time.Millisecond})
	r := begin(t, s, Anyone(), Request{Kind: Count, Graph: "dense", Query: servetest.Long, Choices: Choices{Engine: "host"}})
	start := time.Now()
	x, err := r.Count()
	if err != nil || x.Complete || time.Since(start) > 2*time.Second {
		t.Errorf("after %v: complete %v, error %v", time.Since(start), x.Complete, err)
	}
	if sum := r.Summary(); sum.Cut != CutTime || sum.Complete {
		t.Errorf("summary %+v", sum)
	}
}

// TestTurns: queries beyond the limits wait, in their order, and those of a user who has enough let others pass.
func TestTurns(t *testing.T) {
	s := server(t, Limits{Running: 2, PerUser: 1, Waiting: 2})
	ana, bob := Anyone(), Anyone()
	ana.Name, bob.Name = "ana", "bob"
	q := Request{Kind: Count, Graph: "dense", Query: servetest.Long, Choices: Choices{Engine: "host", Threads: 1}}
	var done sync.WaitGroup
	start := func(who Identity) *Run {
		r := begin(t, s, who, q)
		done.Go(func() { _, _ = r.Count() })
		return r
	}
	state := func(r *Run, want string) {
		t.Helper()
		for range 500 {
			if r.Status().State == want {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("run %d is %s, not %s", r.ID, r.Status().State, want)
	}
	first := start(ana)
	state(first, "running")
	second := start(ana)
	for running, waiting := s.queue.counts(); waiting != 1; running, waiting = s.queue.counts() {
		_ = running
		time.Sleep(time.Millisecond)
	}
	third := start(bob)
	state(third, "running")
	state(second, "waiting")
	fourth := start(bob)
	for _, waiting := s.queue.counts(); waiting != 2; _, waiting = s.queue.counts() {
		time.Sleep(time.Millisecond)
	}
	if _, err := s.Begin(t.Context(), bob, q); code(err) != QueueFull {
		t.Errorf("a fifth query: %v", err)
	}
	bob.Admin = false
	if n := len(s.Running(bob)); n != 2 {
		t.Errorf("bob sees %d runs", n)
	}
	if _, err := s.Find(bob, first.ID); code(err) != UnknownRun {
		t.Errorf("bob finds ana's run: %v", err)
	}
	s.queue.limits.Waiting, s.queue.limits.WaitingUser = 4, 1
	if _, err := s.Begin(t.Context(), bob, q); code(err) != QueueFull || !strings.Contains(err.Error(), "of this user") {
		t.Errorf("a second query of bob that waits: %v", err)
	}
	s.queue.limits.WaitingUser = 2
	begun := []*Run{begin(t, s, bob, q), begin(t, s, bob, q)} // both begin before one waits
	done.Go(func() { _, _ = begun[0].Count() })
	for _, waiting := s.queue.counts(); waiting != 3; _, waiting = s.queue.counts() {
		time.Sleep(time.Millisecond)
	}
	if _, err := begun[1].Count(); code(err) != QueueFull {
		t.Errorf("a query that began before others waited: %v", err)
	}
	begun[0].Cancel()
	first.Cancel()
	state(first, "done")
	first.Close()
	state(second, "running")
	if sum := first.Summary(); sum.Cut != CutCancel {
		t.Errorf("summary %+v", sum)
	}
	for _, r := range []*Run{second, third, fourth} {
		r.Cancel()
	}
	done.Wait()
}

func TestGraphReplaced(t *testing.T) {
	s := server(t, Limits{})
	path := filepath.Join(t.TempDir(), "g.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write("1 2\n")
	if err := s.Catalog.Open(t.Context(), Source{Name: "g", Path: path}); err != nil {
		t.Fatal(err)
	}
	old, err := s.Catalog.Acquire("g")
	if err != nil {
		t.Fatal(err)
	}
	status := func() GraphStatus {
		t.Helper()
		g, err := s.Catalog.Graph("g")
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	if status().Replaced {
		t.Error("the file was not replaced")
	}
	write("1 2\n2 3\n")
	if g := status(); !g.Replaced || g.Edges != 1 {
		t.Errorf("%+v", g)
	}
	if err := s.Catalog.Reload(t.Context(), "g"); err != nil {
		t.Fatal(err)
	}
	if g := status(); g.Replaced || g.Edges != 2 {
		t.Errorf("%+v", g)
	}
	q, _ := weft.PatternByName("path(2)")
	if x, err := old.Graph.Count(t.Context(), q); err != nil || x.Subgraphs.Int64() != 1 {
		t.Errorf("in the old graph: %v, %v", x.Subgraphs, err)
	}
	write("this is not a graph ,,, \x00")
	if err := s.Catalog.Reload(t.Context(), "g"); !errors.Is(err, weft.ErrInput) {
		t.Errorf("a bad file: %v", err)
	}
	if g := status(); g.Edges != 2 {
		t.Errorf("after a bad file: %+v", g)
	}
	old.Release()
	if _, err := old.Graph.Count(t.Context(), q); !errors.Is(err, weft.ErrClosed) {
		t.Errorf("the old graph after its last use: %v", err)
	}
	if err := s.Catalog.Drop("g"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Catalog.Acquire("g"); code(err) != UnknownGraph {
		t.Errorf("after Drop: %v", err)
	}
	if names := s.Catalog.Available(); len(names) != 1 || names[0] != "g" {
		t.Errorf("available: %v", names)
	}
}

func TestDrain(t *testing.T) {
	s := server(t, Limits{Running: 1})
	r := begin(t, s, Anyone(), Request{Kind: Count, Graph: "dense", Query: servetest.Long, Choices: Choices{Engine: "host"}})
	waits := begin(t, s, Anyone(), Request{Kind: Count, Graph: "karate", Pattern: "triangle"})
	var both sync.WaitGroup
	for r.Status().State != "running" {
		if r.started.Load() == 0 && r.Status().State == "waiting" {
			both.Go(func() {
				defer r.Close()
				if _, err := r.Count(); err != nil {
					t.Errorf("the running query: %v", err)
				}
			})
			for r.Status().State == "waiting" {
				time.Sleep(time.Millisecond)
			}
		}
	}
	both.Go(func() {
		defer waits.Close()
		if _, err := waits.Count(); code(err) != Draining {
			t.Errorf("the waiting query: %v", err)
		}
	})
	s.Drain(context.Background(), 100*time.Millisecond)
	both.Wait()
	if r.Summary().Cut != CutDrain {
		t.Errorf("summary %+v", r.Summary())
	}
	if _, err := s.Begin(t.Context(), Anyone(), Request{Kind: Info, Graph: "karate"}); code(err) != Draining {
		t.Errorf("after Drain: %v", err)
	}
}

func TestBadRequests(t *testing.T) {
	s := server(t, Limits{Text: 100, Vertices: 4})
	for _, test := range []struct {
		q    Request
		want Code
	}{
		{Request{Kind: Count, Graph: "none", Pattern: "triangle"}, UnknownGraph},
		{Request{Kind: Count, Graph: "../karate", Pattern: "triangle"}, UnknownGraph},
		{Request{Kind: "shout", Graph: "karate"}, BadRequest},
		{Request{Kind: Count, Graph: "karate"}, BadRequest},
		{Request{Kind: Count, Graph: "karate", Query: strings.Repeat(" ", 101)}, TooLarge},
		{Request{Kind: Count, Graph: "karate", Pattern: "clique(5)"}, TooLarge},
		{Request{Kind: Count, Graph: "karate", Pattern: "triangle", Query: "MATCH (a)--(b)"}, BadRequest},
		{Request{Kind: Count, Graph: "karate", Pattern: "triangle", Params: map[string]any{"x": 1}}, BadRequest},
		{Request{Kind: Motifs, Graph: "karate", K: 6}, BadRequest},
		{Request{Kind: Match, Graph: "karate", Query: "MATCH (a)--(b) RETURN count(*)"}, BadRequest},
		{Request{Kind: Match, Graph: "karate", Query: "MATCH (a)--(b)", Choices: Choices{List: "all"}}, BadRequest},
	} {
		if _, err := s.Begin(t.Context(), Anyone(), test.q); code(err) != test.want {
			t.Errorf("%+v: %v; want %s", test.q, err, test.want)
		}
	}
	who := Identity{Name: "ana", Rights: Rights{Graphs: []string{"dense"}}}
	if _, err := s.Begin(t.Context(), who, Request{Kind: Count, Graph: "karate", Pattern: "triangle"}); code(err) != UnknownGraph {
		t.Errorf("a graph that the user may not read: %v", err)
	}
	var wrong *weft.QueryError
	if _, err := s.Begin(t.Context(), Anyone(), Request{Kind: Count, Graph: "karate", Query: "MATCH (a)--(b"}); !errors.As(err, &wrong) || wrong.Line != 1 {
		t.Errorf("a query with a mistake: %v", err)
	}
}

func TestPlanningLimit(t *testing.T) {
	s := server(t, Limits{Planning: time.Nanosecond})
	r := begin(t, s, Anyone(), Request{Kind: Count, Graph: "karate", Query: "MATCH (a)--(b)--(c)"})
	if _, err := r.Count(); !errors.Is(err, weft.ErrQuery) || !strings.Contains(err.Error(), "planning") {
		t.Errorf("%v", err)
	}
}

// TestMemoryShort: the newest query is refused with a reason while an older one runs, and ends where that is not enough.
func TestMemoryShort(t *testing.T) {
	s := server(t, Limits{Memory: 1, Running: 2})
	old := begin(t, s, Anyone(), Request{Kind: Count, Graph: "dense", Query: servetest.Long, Choices: Choices{Engine: "host"}})
	ended := make(chan error, 1)
	go func() {
		_, err := old.Count()
		ended <- err
	}()
	for old.Status().State != "running" {
		time.Sleep(time.Millisecond)
	}
	r := begin(t, s, Anyone(), Request{Kind: Count, Graph: "karate", Pattern: "triangle"})
	_, err := r.Count()
	var e *Error
	if !errors.As(err, &e) || e.Code != OutOfMemory || e.Retry == 0 {
		t.Errorf("the newest query: %v", err)
	}
	if old.Status().State != "running" {
		t.Error("the oldest query does not go on")
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go s.Attend(ctx)
	if err := <-ended; code(err) != OutOfMemory {
		t.Errorf("the last query: %v", err)
	}
	if sum := old.Summary(); sum.Cut != CutMemory {
		t.Errorf("summary %+v", sum)
	}
}

// TestMemoryStuck: a query that was stopped, and does not end, does not keep the others from being stopped.
func TestMemoryStuck(t *testing.T) {
	s := server(t, Limits{Running: 2})
	old := begin(t, s, Anyone(), Request{Kind: Count, Graph: "dense", Query: servetest.Long, Choices: Choices{Engine: "host"}})
	stuck := begin(t, s, Anyone(), Request{Kind: Match, Graph: "karate", Pattern: "triangle"})
	ended, reading, release := make(chan error, 1), make(chan struct{}), make(chan struct{})
	go func() {
		_, err := old.Count()
		ended <- err
	}()
	var reader sync.WaitGroup
	reader.Go(func() {
		for range stuck.Rows() {
			close(reading)
			<-release
			return
		}
	})
	defer reader.Wait()
	defer close(release)
	<-reading
	for old.Status().State != "running" {
		time.Sleep(time.Millisecond)
	}
	s.queue.limits.Memory = 1
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go s.queue.attend(ctx)
	select {
	case err := <-ended:
		if code(err) != OutOfMemory {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the older query goes on")
		old.Cancel()
	}
	if stuck.Context().Err() == nil {
		t.Error("the newest query was not stopped")
	}
}

func TestFailures(t *testing.T) {
	f := failures{of: map[failureKey]*failed{}}
	now := time.Now()
	for range int(ofBoth.most) {
		if w := f.charge(now, "1.2.3.4", "ana"); w != 0 {
			t.Errorf("an early attempt waits for %v", w)
		}
	}
	if w := f.charge(now, "1.2.3.4", "ana"); w <= 0 || w > ofBoth.every {
		t.Errorf("the same again waits for %v", w)
	}
	for _, who := range [][2]string{{"1.2.3.4", "bob"}, {"5.6.7.8", "ana"}, {"5.6.7.8", "bob"}} {
		if w := f.charge(now, who[0], who[1]); w != 0 {
			t.Errorf("%v waits for %v", who, w)
		}
		f.refund(who[0], who[1])
	}
	if w := f.charge(now.Add(ofBoth.every+time.Second), "1.2.3.4", "ana"); w != 0 {
		t.Errorf("after a while %v", w)
	}
	taken := func(address, account func(i int) string) (n int) {
		for i := range 3000 {
			if f.charge(now, address(i), account(i)) == 0 {
				n++
			}
		}
		return n
	}
	same := func(s string) func(int) string { return func(int) string { return s } }
	each := func(i int) string { return fmt.Sprintf("2001:db8::%x", i) }
	if n := taken(same("9.9.9.9"), each); n != int(ofAddress.most) {
		t.Errorf("%d names from an address", n)
	}
	if n := taken(func(i int) string { return fmt.Sprintf("10.1.%d.%d", i/256, i%256) }, same("eve")); n != int(ofAccount.most) {
		t.Errorf("%d addresses with a name", n)
	}
	if n := taken(each, same("dan")); n != int(ofBoth.most) {
		t.Errorf("%d addresses of a network", n)
	}
}

// TestParallelAttempts: attempts at the same time count as those after each other do.
func TestParallelAttempts(t *testing.T) {
	u, err := NewUsers([]Account{{User: "ana", Hash: HashSecret("secret")}})
	if err != nil {
		t.Fatal(err)
	}
	attempt := func(address, password string) Code {
		_, err := u.Password(t.Context(), address, "ana", password)
		return code(err)
	}
	var all sync.WaitGroup
	var wrong, refused atomic.Int64
	for i := range 40 {
		all.Go(func() {
			switch c := attempt("1.2.3.4", fmt.Sprint(i)); c {
			case Credentials:
				wrong.Add(1)
			case RateLimited:
				refused.Add(1)
			default:
				t.Error(c)
			}
		})
	}
	all.Wait()
	if wrong.Load() != int64(ofBoth.most) || refused.Load() != 40-int64(ofBoth.most) {
		t.Errorf("%d were compared, and %d refused", wrong.Load(), refused.Load())
	}
	for range 40 { // as a program does that opens many connections
		all.Go(func() {
			if c := attempt("5.6.7.8", "secret"); c != "<nil>" {
				t.Error(c)
			}
		})
	}
	all.Wait()
	if c := attempt("1.2.3.4", "secret"); c != "<nil>" {
		t.Errorf("what was right before: %s", c)
	}
	start := time.Now()
	for range 100 {
		if _, err := u.Password(t.Context(), "7.7.7.7", strings.Repeat("x", 201), "secret"); code(err) != Credentials {
			t.Error(err)
		}
	}
	if n := len(u.failures.of); n > 6 || time.Since(start) > time.Second {
		t.Errorf("long names: %d keys are remembered, after %v", n, time.Since(start))
	}
}

// TestSignInQueue: those who wait for a hash are bounded.
func TestSignInQueue(t *testing.T) {
	u, err := NewUsers([]Account{{User: "ana", Hash: HashSecret("secret")}})
	if err != nil {
		t.Fatal(err)
	}
	for range mostHashing {
		u.hashing <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range mostWaiting {
		all.Go(func() { _, _ = u.Password(ctx, fmt.Sprintf("10.0.0.%d", i), "ana", fmt.Sprint(i)) })
	}
	for u.waiting.Load() < mostWaiting {
		time.Sleep(time.Millisecond)
	}
	_, err = u.Password(t.Context(), "1.2.3.4", "ana", "secret")
	var e *Error
	if !errors.As(err, &e) || e.Code != QueueFull || e.Retry == 0 {
		t.Errorf("one more: %v", err)
	}
	cancel()
	all.Wait()
	for range mostHashing {
		<-u.hashing
	}
	if _, err := u.Password(t.Context(), "1.2.3.4", "ana", "secret"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestAccounts(t *testing.T) {
	hash := HashSecret("secret")
	if !secretMatches(hash, "secret") || secretMatches(hash, "Secret") || hash == HashSecret("secret") {
		t.Error("a hash takes another secret, or has no salt")
	}
	good := `{"user":"ana","hash":"` + hash + `","graphs":["*"],"rows":5}`
	if a, err := ParseAccounts([]byte("# comment\n\n" + good + "\n")); err != nil || len(a) != 1 || a[0].Rows != 5 {
		t.Errorf("%v %v", a, err)
	}
	for text, want := range map[string]string{
		good + "\n" + good:                                  "line 2: the account is given twice",
		`{"user":"a b","hash":"` + hash + `"}`:              "line 1",
		`{"user":"ana","hash":"plain"}`:                     "Argon2id",
		`{"user":"ana","hash":"` + hash + `","root":true}`:  "unknown field",
		`{"user":"ana","hash":"` + hash + `","running":-1}`: "negative",
		strings.Replace(good, "m=19456", "m=99999999", 1):   "parameters",
		`{"user":"ana"`:                                     "line 1",
	} {
		if _, err := ParseAccounts([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}

// TestThreads: a request has no more threads than the server gives a query.
func TestThreads(t *testing.T) {
	s := server(t, Limits{Threads: 2})
	for asked, want := range map[int]int{0: 0, 1: 1, 2: 2, 20_000: 2} {
		r, err := s.Begin(t.Context(), Anyone(), Request{Kind: Count, Graph: "karate", Pattern: "triangle", Choices: Choices{Threads: asked}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Request.Threads; got != want {
			t.Errorf("%d threads for %d, want %d", got, asked, want)
		}
		if x, err := r.Count(); err != nil || x.Subgraphs.Int64() != 45 {
			t.Error(x.Subgraphs, err)
		}
		r.Close()
	}
}
