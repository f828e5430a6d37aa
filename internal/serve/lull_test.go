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
	done := make(chan int64, 1)
	var most int64
	go func() {
		for _, err := range second.Rows() {
			if most++; err != nil {
				t.Error(err)
			}
			if most == 1 {
				time.Sleep(2 * lull)
			}
		}
		done <- most
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
	// The first listing goes on before the query that waits, when the second one has ended.
	close(out.pass)
	if err := <-ended; err != nil || first.Summary().Rows != 300000 || first.Summary().Cut != CutLimit {
		t.Errorf("%v, %+v", err, first.Summary())
	}
	if n := <-done; n != 300000 {
		t.Errorf("%d rows", n)
	}
	third.Cancel()
	<-waits
	if running, waiting := s.queue.counts(); running != 0 || waiting != 0 || len(s.queue.paused) != 0 {
		t.Errorf("%d run, %d wait, %d are without their turn", running, waiting, len(s.queue.paused))
	}
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
