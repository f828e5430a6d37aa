package serve

import (
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/serve/servetest"
)

// TestLull: a listing whose client takes no rows gives its turn to others, and takes one again, before those that wait, when the client goes on.
func TestLull(t *testing.T) {
	s := server(t, Limits{Running: 1})
	listing := Request{Kind: Match, Graph: "dense", Query: "MATCH (a)--(b)--(c)", Choices: Choices{Limit: 300000, Threads: 1}}
	count := func(within time.Duration) bool {
		r := begin(t, s, Anyone(), Request{Kind: Count, Graph: "karate", Pattern: "triangle"})
		late := time.AfterFunc(within, r.Cancel)
		defer late.Stop()
		defer r.Close()
		x, err := r.Count()
		return err == nil && x.Complete
	}
	first := begin(t, s, Anyone(), listing)
	out := &gate{pass: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- first.Write(out, "csv") }()
	out.pass <- struct{}{} // the head of the columns
	for first.Status().State != "running" {
		time.Sleep(time.Millisecond)
	}
	begun := time.Now()
	if !count(20 * time.Second) {
		t.Fatal("a query waits for a listing whose client takes no rows")
	}
	if took := time.Since(begun); took < lull/2 {
		t.Errorf("it has its turn after %v", took)
	}
	// Its memory counts as that of a query that runs.
	if s.queue.newest() != first || !s.queue.runs(first) {
		t.Error("a listing without its turn is not among those that memory is taken from")
	}
	// One listing alone may be without its turn.
	second := begin(t, s, Anyone(), listing)
	done, reads := make(chan int64, 1), make(chan struct{})
	go func() {
		var rows int64
		for _, err := range second.Rows() {
			if rows++; err != nil {
				t.Error(err)
			}
			<-reads
		}
		done <- rows
	}()
	for second.Status().State != "running" {
		time.Sleep(time.Millisecond)
	}
	if count(3 * lull / 2) {
		t.Error("two listings are without their turns")
	}
	third := begin(t, s, Anyone(), Request{Kind: Count, Graph: "dense", Query: servetest.Long, Choices: Choices{Engine: "host"}})
	waits := make(chan error, 1)
	go func() { _, err := third.Count(); waits <- err }()
	for _, waiting := s.queue.counts(); waiting != 1; _, waiting = s.queue.counts() {
		time.Sleep(time.Millisecond)
	}
	// The first listing goes on before the query that waits, in place of the second one, whose client takes nothing.
	close(out.pass)
	select {
	case err := <-ended:
		if err != nil || first.Summary().Rows != 300000 || first.Summary().Cut != CutLimit {
			t.Errorf("%v, %+v", err, first.Summary())
		}
	case <-time.After(20 * time.Second):
		t.Fatal("a listing whose client reads waits for one whose client does not")
	}
	// The second one lets the query that waits begin, and goes on when that has ended.
	for third.Status().State != "running" {
		time.Sleep(time.Millisecond)
	}
	close(reads)
	third.Cancel()
	<-waits
	if n := <-done; n != 300000 {
		t.Errorf("%d rows", n)
	}
	if running, waiting := s.queue.counts(); running != 0 || waiting != 0 || len(s.queue.paused) != 0 {
		t.Errorf("%d run, %d wait, %d are without their turn", running, waiting, len(s.queue.paused))
	}
}

// client is one of a listing, which takes nothing until its channel pass is closed.
type client struct {
	*Run
	gate
	ended chan error
}

// lists begins a listing of a user that waits for its turn.
func lists(t *testing.T, s *Server, who Identity) *client {
	t.Helper()
	c := &client{begin(t, s, who, Request{Kind: Match, Graph: "dense", Query: "MATCH (a)--(b)--(c)", Choices: Choices{Limit: 100000, Threads: 1}}), gate{pass: make(chan struct{})}, make(chan error, 1)}
	go func() { c.ended <- c.Run.Write(&c.gate, "csv") }()
	return c
}

// computes begins a long count of a user, which the test must cancel.
func computes(t *testing.T, s *Server, who Identity) (r *Run, ended chan error) {
	t.Helper()
	r, ended = begin(t, s, who, Request{Kind: Count, Graph: "dense", Query: servetest.Long, Choices: Choices{Engine: "host", Threads: 1}}), make(chan error, 1)
	go func() { _, err := r.Count(); ended <- err }()
	return r, ended
}

// within waits until something holds.
func within(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not in time: ", what)
		}
	}
}

// has reports whether a run is among some of the queue's.
func (q *queue) has(runs map[*Run]bool, r *Run) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return runs[r]
}

// TestLullOfUser: a user has as many listings without their turn as may run, and leaves the places of others.
func TestLullOfUser(t *testing.T) {
	s := server(t, Limits{Running: 3, PerUser: 2})
	ana, bob := Anyone(), Anyone()
	ana.Name, bob.Name = "ana", "bob"
	ana.Quota.Running = 1
	all := []*client{lists(t, s, ana)}
	for range 2 {
		within(t, 20*time.Second, "a listing begins", func() bool { return all[len(all)-1].Status().State == "running" })
		all = append(all, lists(t, s, ana))
	}
	time.Sleep(3 * lull / 2)
	if state := all[2].Status().State; state != "waiting" {
		t.Errorf("a third listing of a user with one turn is %s", state)
	}
	for range 2 {
		all = append(all, lists(t, s, bob))
	}
	within(t, 20*time.Second, "listings of another user lose their turns", func() bool { return s.queue.has(s.queue.paused, all[3].Run) && s.queue.has(s.queue.paused, all[4].Run) })
	for _, c := range all {
		close(c.pass)
	}
	for _, c := range all {
		if err := <-c.ended; err != nil || c.Summary().Rows != 100000 {
			t.Errorf("%v, %+v", err, c.Summary())
		}
	}
	if running, waiting := s.queue.counts(); running != 0 || waiting != 0 || len(s.queue.paused) != 0 {
		t.Errorf("%d run, %d wait, %d are without their turn", running, waiting, len(s.queue.paused))
	}
}

// TestLullOrder: listings whose clients go on have turns in the order in which these went on, and are none of those that --max-waiting bounds.
func TestLullOrder(t *testing.T) {
	s := server(t, Limits{Running: 2, Waiting: 1})
	a, b := lists(t, s, Anyone()), lists(t, s, Anyone())
	within(t, 20*time.Second, "two listings lose their turns", func() bool { return s.queue.has(s.queue.paused, a.Run) && s.queue.has(s.queue.paused, b.Run) })
	c, cEnds := computes(t, s, Anyone())
	d, dEnds := computes(t, s, Anyone())
	within(t, 20*time.Second, "two counts begin", func() bool { return c.Status().State == "running" && d.Status().State == "running" })
	a.pass <- struct{}{}
	within(t, 20*time.Second, "a listing wants its turn", func() bool { _, n := s.queue.counts(); return n == 1 })
	b.pass <- struct{}{}
	within(t, 20*time.Second, "two listings want their turns", func() bool { _, n := s.queue.counts(); return n == 2 })
	e, eEnds := computes(t, s, Anyone()) // fails if they count
	within(t, 20*time.Second, "a count waits", func() bool { _, n := s.queue.counts(); return n == 3 })
	if _, err := s.Begin(t.Context(), Anyone(), e.Request); code(err) != QueueFull {
		t.Errorf("a second query that waits: %v", err)
	}
	next := func() (r *Run) { // the next that has a turn, besides d
		within(t, 20*time.Second, "one has a turn", func() bool {
			for _, x := range []*Run{a.Run, b.Run, e} {
				if s.queue.has(s.queue.running, x) {
					r = x
				}
			}
			return r != nil
		})
		return r
	}
	c.Cancel()
	<-cEnds
	for _, x := range []*client{a, b} {
		if next() != x.Run {
			t.Error("another query has the turn of the listing that wanted it first")
		}
		close(x.pass)
		if err := <-x.ended; err != nil || x.Summary().Rows != 100000 {
			t.Errorf("%v, %+v", err, x.Summary())
		}
	}
	if next() != e {
		t.Error("the count has no turn")
	}
	d.Cancel()
	e.Cancel()
	<-dEnds
	<-eEnds
}

// TestLullEnds: a listing that is cut short while it has no turn ends without one.
func TestLullEnds(t *testing.T) {
	s := server(t, Limits{Running: 1})
	r := begin(t, s, Anyone(), Request{Kind: Match, Graph: "dense", Query: "MATCH (a)--(b)--(c)", Choices: Choices{Threads: 1}})
	out := &gate{pass: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- r.Write(out, "csv") }()
	out.pass <- struct{}{} // the head of the columns
	for r.Status().State != "running" {
		time.Sleep(time.Millisecond)
	}
	long := begin(t, s, Anyone(), Request{Kind: Count, Graph: "dense", Query: servetest.Long, Choices: Choices{Engine: "host"}})
	waits := make(chan error, 1)
	go func() { _, err := long.Count(); waits <- err }()
	for long.Status().State != "running" {
		time.Sleep(time.Millisecond)
	}
	go func() {
		time.Sleep(100 * time.Millisecond) // it waits for its turn
		r.Cancel()
	}()
	close(out.pass)
	select {
	case err := <-ended:
		if sum := r.Summary(); err != nil || sum.Cut != CutCancel || sum.Rows == 0 {
			t.Errorf("%v, %+v", err, sum)
		}
	case <-time.After(20 * time.Second):
		t.Error("it goes on")
	}
	long.Cancel()
	<-waits
	if len(s.queue.paused) != 0 {
		t.Error("it is still without its turn")
	}
}
