package serve

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/weftgraph/weft"
)

// Ended is a run that was closed.
type Ended struct {
	Status  Status  // without the text of the query, which may be long
	Summary Summary // without columns and values. Notes has the notes of all results
	At      time.Time
}

// mostEnded is the largest number of ended runs with rows that are remembered, and that of other runs.
const mostEnded = 1000

// ended remembers how runs ended. A client that reads no trailers asks for the run of its CSV, and an administrator for those of others. Runs with
// rows have a ring of their own, which many small counts do not fill. Safe for concurrent use.
type ended struct {
	mu          sync.Mutex
	rows, other ring
}

// ring is the latest ended runs.
type ring struct {
	runs [mostEnded]Ended
	next int
}

// add remembers a run in the place of the oldest one of its kind.
func (e *ended) add(r *Run) {
	x := Ended{Status: r.Status(), Summary: r.Summary(), At: time.Now()}
	x.Status.Query = ""
	x.Summary.Notes = x.Summary.AllNotes()
	if q := new(weft.QueryError); errors.As(x.Summary.Err, &q) { // without the text, which it shows
		x.Summary.Err = &weft.QueryError{Line: q.Line, Column: q.Column, Offset: q.Offset, Length: q.Length, Message: short(q.Message), Expected: short(q.Expected), Suggestion: short(q.Suggestion)}
	}
	x.Summary.Results, x.Summary.Columns, x.Summary.Values = nil, nil, nil
	e.mu.Lock()
	defer e.mu.Unlock()
	to := &e.other
	switch r.Request.Kind {
	case Match, Orbits, Participation, Matcha:
		to = &e.rows
	}
	to.runs[to.next] = x
	to.next = (to.next + 1) % mostEnded
}

// short is a copy of a text of at most 1,000 bytes.
func short(text string) string {
	const most = 1000
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.Clone(text)
}

// Ended describes a run that was closed, if it is remembered and the user may see it.
func (s *Server) Ended(who Identity, id uint64) (Ended, bool) {
	s.ended.mu.Lock()
	defer s.ended.mu.Unlock()
	for _, of := range []*ring{&s.ended.rows, &s.ended.other} {
		for i := range of.runs {
			if x := &of.runs[i]; x.Status.ID == id && id != 0 && (who.Admin || x.Status.User == who.Name) {
				return *x, true
			}
		}
	}
	return Ended{}, false
}
