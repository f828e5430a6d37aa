package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/servetest"
)

func TestJobs(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	a := s.do("POST", "/v1/jobs", `{"kind":"match","graph":"karate","pattern":"triangle","format":"csv"}`)
	at := a.header.Get("Location")
	if a.status != 202 || at == "" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	events := s.events(at + "/events")
	if last := events[len(events)-1]; !strings.HasPrefix(last, "done ") || !strings.Contains(last, `"complete":true`) {
		t.Errorf("the last event is %s", last)
	}
	if a = s.do("GET", at, ""); a.at("state") != "done" || a.at("run", "rows") != 45.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", at+"/answer", ""); a.status != 200 || strings.Count(a.body, "\n") != 46 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	if a = s.do("DELETE", at, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", at, ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
	at = s.do("POST", "/v1/jobs", `{"kind":"count","graph":"dense","query":"`+servetest.Long+`","engine":"host"}`).header.Get("Location")
	if a = s.do("GET", at+"/answer", ""); a.status != 409 {
		t.Errorf("%d %s", a.status, a.body)
	}
	time.AfterFunc(300*time.Millisecond, func() {
		if a := s.do("GET", "/v1/running", ""); a.at("running", 0, "state") != "running" {
			t.Errorf("%d %s", a.status, a.body)
		}
		s.do("DELETE", at, "")
	})
	start := time.Now()
	events = s.events(at + "/events")
	if last := events[len(events)-1]; !strings.Contains(last, `"cut":"cancel"`) || len(events) < 2 || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %v", events, time.Since(start))
	}
	if a = s.do("GET", at+"/answer", ""); a.status != 200 || a.at("run", "cut") != "cancel" || a.at("result", "complete") != false {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestEnded: after the end of an answer in CSV, its run is told for a while to the user who asked, and to nobody else.
func TestEnded(t *testing.T) {
	account := func(name string) serve.Account {
		return serve.Account{User: name, Hash: serve.HashSecret(name), Rights: serve.Rights{Graphs: []string{"karate"}}}
	}
	s := newSite(t, serve.Limits{}, Options{}, account("ana"), account("bob"))
	as := func(user string) []string {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, user)
		return []string{"Authorization", r.Header.Get("Authorization"), "Accept", "text/csv"}
	}
	a := s.do("POST", "/v1/match", `{"graph":"karate","pattern":"triangle","limit":7}`, as("ana")...)
	at := "/v1/jobs/" + a.header.Get("Weft-Run")
	a = s.do("GET", at, "", as("ana")...)
	if a.at("state") != "done" || a.at("run", "complete") != false || a.at("run", "cut") != "limit" || a.at("run", "rows") != 7.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", at, "", as("bob")...); a.status != 404 {
		t.Errorf("another user: %d %s", a.status, a.body)
	}
	if a = s.do("GET", "/v1/graphs", "", as("bob")...); a.at("user") != "bob" {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.h.Keep = time.Nanosecond
	a = s.do("POST", "/v1/match", `{"graph":"karate","pattern":"triangle"}`, as("ana")...)
	if a = s.do("GET", "/v1/jobs/"+a.header.Get("Weft-Run"), "", as("ana")...); a.status != 404 {
		t.Errorf("after the time: %d %s", a.status, a.body)
	}
}

// TestJobEndsBeforeDelete: a client that cancels a job at the moment of its end finds the answer still there, and another DELETE forgets it.
func TestJobEndsBeforeDelete(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	at := s.do("POST", "/v1/jobs", `{"kind":"count","graph":"karate","pattern":"triangle"}`).header.Get("Location")
	s.h.jobs.running.Wait() // no client knows that it has ended
	a := s.do("DELETE", at, "")
	if a.status != 200 || a.at("state") != "done" || a.at("run", "complete") != true {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", a.at("answer").(string), ""); a.status != 200 || a.at("result", "subgraphs") != 45.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("DELETE", at, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", at, ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestJobsAreForgotten: the oldest answers go when there are too many bytes of them, and an answer that is too long is cut short.
func TestJobsAreForgotten(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	var at []string
	for range 3 {
		at = append(at, s.do("POST", "/v1/jobs", `{"kind":"match","graph":"karate","pattern":"triangle"}`).header.Get("Location"))
		s.events(at[len(at)-1] + "/events")
	}
	size := len(s.do("GET", at[2]+"/answer", "").body)
	s.h.jobs.mu.Lock()
	for _, j := range s.h.jobs.of {
		j.user = "ana"
	}
	s.h.jobs.mu.Unlock()
	s.h.jobs.forget("bob", 0)
	s.h.jobs.forget("ana", 2*size+20)
	for i, want := range []int{404, 200, 200} {
		if a := s.do("GET", at[i], ""); a.status != want {
			t.Errorf("job %d: %d, want %d", i, a.status, want)
		}
	}
	s.h.jobs.forget("", 0)
	s.h.Keep = 50 * time.Millisecond
	brief := s.do("POST", "/v1/jobs", `{"kind":"count","graph":"karate","pattern":"triangle"}`).header.Get("Location")
	for start := time.Now(); s.do("GET", brief, "").status != 404; time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatal("a job does not expire by itself")
		}
	}
	s.h.Keep = time.Minute
	for _, format := range []string{"ndjson", "json"} {
		large := s.do("POST", "/v1/jobs", `{"kind":"match","graph":"dense","query":"MATCH (a)--(b)--(c)","format":"`+format+`"}`).header.Get("Location")
		events := s.events(large + "/events")
		if last := events[len(events)-1]; !strings.Contains(last, `"cut":"size"`) || strings.Contains(last, `"error"`) {
			t.Error(last)
		}
		a := s.do("GET", large+"/answer", "")
		if len(a.body) > mostAnswer || len(a.body) < mostAnswer/2 {
			t.Errorf("%d bytes", len(a.body))
		}
		if format == "json" {
			var whole struct {
				Rows []json.RawMessage
				Run  struct {
					Cut  string
					Rows int
				}
			}
			if err := json.Unmarshal([]byte(a.body), &whole); err != nil || whole.Run.Cut != "size" || whole.Run.Rows != len(whole.Rows) {
				t.Errorf("%v, %+v, %d rows", err, whole.Run, len(whole.Rows))
			}
		}
	}
}
