package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/serve"
)

// jobs are requests whose clients do not wait.
type jobs struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	of map[uint64]*job
}

// job is a run with its answer, which is kept for a while.
type job struct {
	run    *serve.Run
	user   string
	done   chan struct{} // closed when the fields below are set
	answer recorder
	status serve.Status
	ran    ran
	ended  time.Time
	told   atomic.Bool // a client knows that the run has ended, or has asked for its end
}

// Limits of jobs.
const (
	mostJobs   = 1000     // that are kept
	mostAnswer = 16 << 20 // bytes of an answer
	mostOfUser = 4        // answers of this size of one user: that user's oldest are forgotten before there are more bytes
	mostKept   = 16       // answers of this size: the oldest are forgotten before there are more bytes
)

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	most   int    // bytes
	full   func() // tells the search to stop
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

var errFull = errors.New("the answer is longer than a job may keep")

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	// A quarter is for what comes when the search has been told to stop: rows under way, and the end of the format.
	if n := r.body.Len() + len(b); n > r.most-r.most/4 && r.full != nil {
		r.full()
		if n > r.most {
			return 0, errFull
		}
		time.Sleep(time.Millisecond) // so that on busy cores the search learns of it before it finds more
	}
	return r.body.Write(b)
}

// Flush is for http.ResponseController.
func (r *recorder) Flush() {}

// SetWriteDeadline is for http.ResponseController.
func (r *recorder) SetWriteDeadline(time.Time) error { return nil }

func (h *Handler) addJob(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	b, err := h.readBody(r, "")
	if err != nil {
		return err
	}
	format := b.Format
	if format == "" {
		format = "json"
	}
	if mediaOf(format) == "" {
		return b.At(fmt.Sprintf("format %.40q: want json, ndjson, csv or arrow", format), "format")
	}
	if err := h.jobs.room(h.Keep); err != nil {
		return err
	}
	request := h.request(b, who, serve.Kind(b.Kind))
	request.Kept = true
	run, err := h.Server.Begin(h.jobs.ctx, who, request)
	if err != nil {
		return inBody(&b, err)
	}
	j := &job{run: run, user: who.Name, done: make(chan struct{})}
	j.answer.header = http.Header{}
	j.answer.most = mostOf(who, mostAnswer)
	j.answer.full = func() { run.Stop(serve.CutSize) }
	h.jobs.mu.Lock()
	h.jobs.of[run.ID] = j
	h.jobs.mu.Unlock()
	status := run.Status()
	h.jobs.running.Go(func() {
		defer run.Close()
		if err := h.answer(&j.answer, run, format); err != nil {
			writeProblem(&j.answer, problemOf(err), err)
		}
		run.Close()
		j.status, j.ran, j.ended = run.Status(), ranOf(run), time.Now()
		close(j.done)
		if who.Name != "" {
			h.jobs.forget(who.Name, mostOf(who, mostOfUser*mostAnswer))
		}
		h.jobs.forget("", mostKept*mostAnswer)
		time.AfterFunc(h.Keep, func() { h.jobs.expire(run.ID, j) })
	})
	w.Header().Set("Location", fmt.Sprintf("/v1/jobs/%d", run.ID))
	return writeJSON(w, http.StatusAccepted, jobStatus{Status: status})
}

// mostOf is a number of bytes, or the user's memory if that is less.
func mostOf(who serve.Identity, bytes int) int {
	if m := who.Memory; m > 0 && m < int64(bytes) {
		return int(m)
	}
	return bytes
}

// room forgets old jobs, and returns an error if there are still too many.
func (js *jobs) room(keep time.Duration) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	for id, j := range js.of {
		select {
		case <-j.done:
			if time.Since(j.ended) > keep {
				delete(js.of, id)
			}
		default:
		}
	}
	if len(js.of) >= mostJobs {
		return &serve.Error{Code: serve.QueueFull, Message: "too many jobs are kept: delete those that are done", Retry: time.Minute}
	}
	return nil
}

// expire drops a job that was kept long enough.
func (js *jobs) expire(id uint64, j *job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.of[id] == j {
		delete(js.of, id)
	}
}

// forget drops answers of a user, the oldest first, until those that are left have at most a number of bytes. "" means those of all.
func (js *jobs) forget(user string, most int) {
	js.mu.Lock()
	defer js.mu.Unlock()
	var done []*job
	sum := 0
	for _, j := range js.of {
		if user != "" && j.user != user {
			continue
		}
		select {
		case <-j.done:
			done = append(done, j)
			sum += j.answer.body.Len()
		default:
		}
	}
	slices.SortFunc(done, func(a, b *job) int { return a.ended.Compare(b.ended) })
	for _, j := range done {
		if sum <= most {
			return
		}
		sum -= j.answer.body.Len()
		delete(js.of, j.run.ID)
	}
}

// jobStatus is a job as clients see it.
type jobStatus struct {
	serve.Status
	Run    *ran   `json:"run,omitempty"`    // when it is done
	Answer string `json:"answer,omitempty"` // where its answer is
}

func (j *job) now() jobStatus {
	select {
	case <-j.done:
		j.told.Store(true)
		return jobStatus{j.status, &j.ran, fmt.Sprintf("/v1/jobs/%d/answer", j.run.ID)}
	default:
		return jobStatus{Status: j.run.Status()}
	}
}

// runNow is a run of a client that waits, or waited.
func runNow(run *serve.Run) jobStatus {
	out := jobStatus{Status: run.Status()}
	if out.State == "done" {
		r := ranOf(run)
		out.Run = &r
	}
	return out
}

// endedAs is a run that was closed.
func endedAs(x serve.Ended) jobStatus {
	r := ranAs(x.Status.ID, x.Summary)
	return jobStatus{Status: x.Status, Run: &r}
}

// follow returns how far the job or the run is that a path names, and a channel that is closed at the end of a job. Of runs of clients that waited it knows
// the end for a while.
func (h *Handler) follow(r *http.Request, who serve.Identity) (now func() jobStatus, done <-chan struct{}, err error) {
	j, run, err := h.find(r, who)
	switch {
	case j != nil:
		return j.now, j.done, nil
	case run != nil:
		return func() jobStatus { return runNow(run) }, nil, nil
	}
	if id, wrong := strconv.ParseUint(r.PathValue("id"), 10, 64); wrong == nil {
		if x, ok := h.Server.Ended(who, id); ok && time.Since(x.At) < h.Keep {
			return func() jobStatus { return endedAs(x) }, nil, nil
		}
	}
	return nil, nil, err
}

// find returns the job, or the run of a client that waits, that a path names. One of them is nil.
func (h *Handler) find(r *http.Request, who serve.Identity) (*job, *serve.Run, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, nil, &serve.Error{Code: serve.UnknownRun, Message: "a job has a number"}
	}
	h.jobs.mu.Lock()
	j := h.jobs.of[id]
	h.jobs.mu.Unlock()
	if j != nil && (who.Admin || j.user == who.Name) {
		return j, nil, nil
	}
	run, err := h.Server.Find(who, id)
	return nil, run, err
}

func (h *Handler) job(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	now, _, err := h.follow(r, who)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, now())
}

func (h *Handler) jobAnswer(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	j, _, err := h.find(r, who)
	if err != nil {
		return err
	}
	if j == nil {
		return &serve.Error{Code: serve.UnknownRun, Message: "the answer goes to the client that waits for it"}
	}
	if !j.run.ReadableBy(who) { // an administrator, or another token of the user
		return &serve.Error{Code: serve.NotAllowed, Message: "this user may not read the graph of this job"}
	}
	select {
	case <-j.done:
	default:
		return &serve.Error{Code: serve.Conflict, Message: "the job is not done yet", Retry: time.Second}
	}
	j.told.Store(true)
	header := w.Header()
	for k, v := range j.answer.header {
		if k != "Trailer" {
			header[k] = v
		}
	}
	header.Set("Content-Length", strconv.Itoa(j.answer.body.Len()))
	w.WriteHeader(j.answer.status)
	_, err = w.Write(j.answer.body.Bytes())
	return ignore(err)
}

// dropJob cancels a run, or forgets a job that is done. A client that wants to cancel may come too late: the answer of a job of whose end nobody was
// told stays, and the client is told now.
func (h *Handler) dropJob(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	j, run, err := h.find(r, who)
	if err != nil {
		return err
	}
	if run == nil {
		select {
		case <-j.done:
			if !j.told.Load() {
				return writeJSON(w, http.StatusOK, j.now())
			}
			h.jobs.mu.Lock()
			delete(h.jobs.of, j.run.ID)
			h.jobs.mu.Unlock()
		default:
			run = j.run
			j.told.Store(true)
		}
	}
	if run != nil {
		run.Cancel()
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// jobEvents sends the status each time that it changes, and once when the run is over, with what ended it.
func (h *Handler) jobEvents(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	now, done, err := h.follow(r, who)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return bad("the body cannot be read: %v", err)
	}
	waits(w)
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	last, quiet := "", time.Now()
	for {
		s := now()
		over, event := s.Run != nil, "progress"
		if over {
			event = "done"
		}
		key := fmt.Sprint(s.State, s.Rows, s.Done, s.Total)
		switch {
		case over || key != last:
			fmt.Fprintf(w, "event: %s\ndata: %s\n", event, encode(s))
			last, quiet = key, time.Now()
		case time.Since(quiet) > 15*time.Second: // so that nothing between takes the connection for dead
			fmt.Fprint(w, ":\n\n")
			quiet = time.Now()
		}
		if control.Flush() != nil || over {
			return nil
		}
		_ = control.SetWriteDeadline(time.Time{}) // the next change may take long
		select {
		case <-t.C:
		case <-done:
		case <-r.Context().Done():
			return nil
		}
	}
}
