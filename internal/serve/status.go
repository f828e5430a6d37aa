package serve

import "time"

// Status describes a run, as lists have it.
type Status struct {
	ID       uint64    `json:"id"`
	User     string    `json:"user,omitempty"`
	Kind     Kind      `json:"kind"`
	Graph    string    `json:"graph"`
	Query    string    `json:"query,omitempty"`
	Tag      string    `json:"tag,omitempty"` // of the request
	Protocol string    `json:"protocol"`
	State    string    `json:"state"` // waiting, running or done
	Begun    time.Time `json:"begun"`
	Seconds  float64   `json:"seconds"` // since then
	Waited   float64   `json:"waited_seconds"`
	Rows     int64     `json:"rows"`
	// Done of Total parts of the search are over. Total is 0 if it is not known.
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"`
}

// Status describes the run now.
func (r *Run) Status() Status {
	out := Status{
		ID: r.ID, User: r.Who.Name, Kind: r.Request.Kind, Graph: r.Request.Graph, Query: r.Request.Query, Tag: r.Request.Tag, Protocol: r.Request.Protocol,
		State: "waiting", Begun: r.begun, Seconds: time.Since(r.begun).Seconds(), Rows: r.written.Load(), Done: r.done.Load(), Total: r.total.Load(),
	}
	if out.Query == "" {
		out.Query = r.Request.Pattern + r.Request.Program.Name + r.Request.Program.Text // one of them
	}
	if at := r.started.Load(); at > 0 {
		out.State, out.Waited = "running", time.Duration(at).Seconds()
	} else {
		out.Waited = out.Seconds
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		out.State, out.Seconds = "done", (r.summary.Waited + r.summary.Total).Seconds()
	}
	return out
}
