package serve

import (
	"context"
	"errors"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/native"
)

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

// Summary describes the answer, after it has ended.
func (r *Run) Summary() Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.summary
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
	err = shortOfUser(err)
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
		switch {
		case r.program != nil:
			return errorf(TimeLimit, "the program had no result within %v", r.time)
		case r.Request.Kind == Orbits:
			return errorf(TimeLimit, "the orbits were not counted within %v", r.time)
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
