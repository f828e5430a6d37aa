package rest

import (
	"strconv"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/serve"
)

// mostEnded is the largest number of ended queries that are remembered.
const mostEnded = 1000

// ended remembers how queries with rows ended whose clients waited. A client that reads no trailers asks for the run of a CSV or Arrow answer. Other
// answers have their run in the body.
// Safe for concurrent use.
type ended struct {
	mu   sync.Mutex
	runs [mostEnded]endedRun // a ring
	next int
}

type endedRun struct {
	status jobStatus
	until  time.Time
}

// add remembers a run for a while, in the place of the oldest one. Texts of queries are left out, because they may be long.
func (e *ended) add(run *serve.Run, keep time.Duration) {
	switch run.Request.Kind {
	case serve.Match, serve.Participation, serve.Matcha:
	default:
		return
	}
	s, r := run.Status(), ranOf(run)
	s.Query, s.State = "", "done"
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs[e.next] = endedRun{jobStatus{Status: s, Run: &r}, time.Now().Add(keep)}
	e.next = (e.next + 1) % mostEnded
}

// find returns the status of an ended run that a user may see.
func (e *ended) find(id string, who serve.Identity) (jobStatus, bool) {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return jobStatus{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.runs {
		if s := x.status; s.ID == n && s.Run != nil && (who.Admin || s.User == who.Name) && time.Now().Before(x.until) {
			return s, true
		}
	}
	return jobStatus{}, false
}
