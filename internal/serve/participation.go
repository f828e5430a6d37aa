package serve

import (
	"context"
	"io"
	"iter"
	"math/big"

	"github.com/weftgraph/weft"
)

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
				s.Cut = r.limited(limit)
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
	return r.writes(w, s, func(w io.Writer) error { return x.Write(w, format) })
}

// writes writes rows of which all have been found, and ends the run.
func (r *Run) writes(w io.Writer, s Summary, write func(io.Writer) error) error {
	out := r.counts(w)
	out.ctx = r.rest()
	err := write(out)
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
