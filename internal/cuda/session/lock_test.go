package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
)

// of is the identity of an owner's lists.
func of(owner any) kir.Identity {
	name, _ := owner.(string)
	return kir.Identity{ID: 1 << 32, Part: strings.Index("abc", name)}
}

// occupy runs w's job and returns when it has the devices; end lets it go on and
// gives its error.
func occupy(s *session.Session, w *world, owner any) (end func() error) {
	has, may, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	j := w.job()
	j.Owner, j.Program.Globals[0].Of = owner, of(owner)
	start := j.Start
	j.Start = func(x *session.Exec) (func() error, error) {
		close(has)
		<-may
		return start(x)
	}
	go func() {
		_, err := s.Run(context.Background(), j)
		ended <- err
	}()
	<-has
	return func() error {
		close(may)
		return <-ended
	}
}

// TestWaitEnds: a run that waits for another gives up when its context says so,
// and when the session is closed.
func TestWaitEnds(t *testing.T) {
	w := newWorld(50, 4)
	on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
		end := occupy(s, w, nil)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if _, err := s.Run(ctx, w.job()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v beside another run", err)
		}
		waits, closed := make(chan error), make(chan error)
		go func() {
			_, err := s.Run(context.Background(), w.job())
			waits <- err
		}()
		go func() { closed <- s.Close() }()
		if err := <-waits; !errors.Is(err, cuda.ErrClosed) {
			t.Errorf("error %v of a run in a session that is being closed", err)
		}
		select {
		case err := <-closed:
			t.Errorf("closed before the run's end: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
		if err := end(); err != nil {
			t.Error(err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// TestForgetOwner: an owner's arrays go, at once or at the end of the run of
// another, whose arrays stay.
func TestForgetOwner(t *testing.T) {
	w := newWorld(500, 8)
	on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
		uploads := func(owner string) bool {
			t.Helper()
			j := w.job()
			j.Owner = owner
			j.Program.Globals[0].Of = of(owner)
			res, err := s.Run(context.Background(), j)
			if err != nil {
				t.Fatal(err)
			}
			return res.Devices[0].Uploaded > 0
		}
		forget := func(owner string) {
			t.Helper()
			if err := s.ForgetOwner(owner); err != nil {
				t.Error(err)
			}
		}
		if !uploads("a") || !uploads("b") {
			t.Error("not uploaded")
		}
		forget("a")
		if uploads("b") || !uploads("a") {
			t.Error("another owner's arrays were freed")
		}
		end := occupy(s, w, "b")
		forget("a")
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if uploads("b") || !uploads("a") {
			t.Error("not just the arrays of a were freed at the end of the run of b")
		}
	})
}
