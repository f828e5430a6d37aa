package serve

import (
	"context"
	"io"
	"iter"

	"github.com/weftgraph/weft"
)

// MostRows is the number of rows that the answer may have at most; 0 means any number.
func (r *Run) MostRows() int64 { return least(r.Request.Limit, r.rows) }

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
			s.Cut = r.limited(s.Rows)
		}
		if err := r.ended(s, failed); err != nil && !left {
			yield(weft.Match{}, err)
		}
	}
}

// limited is the reason of a result that has as many rows as it may: by the request, its query's LIMIT included, or by the server and the user.
func (r *Run) limited(rows int64) Cut {
	if r.rows > 0 && rows >= r.rows && !(r.Request.Limit > 0 && r.Request.Limit <= r.rows) {
		return CutRows
	}
	return CutLimit
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
		s.Cut = r.limited(s.Rows)
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
