package rest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/serve"
)

func TestUsers(t *testing.T) {
	account := func(name string, r serve.Rights) serve.Account {
		return serve.Account{User: name, Hash: serve.HashSecret("password of " + name), Rights: r}
	}
	token, ci := serve.NewToken("ci", serve.Rights{Graphs: []string{"dense"}, Metrics: true}, serve.Quota{})
	s := newSite(t, serve.Limits{}, Options{}, account("ana", serve.Rights{Graphs: []string{"karate"}}), account("root", serve.Rights{Graphs: []string{"*"}, Admin: true}), ci)
	basic := func(user, password string) []string {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		return []string{"Authorization", r.Header.Get("Authorization")}
	}
	ana, root, bearer := basic("ana", "password of ana"), basic("root", "password of root"), []string{"Authorization", "Bearer " + token}
	for _, test := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"GET", "/v1/graphs", nil, 401},
		{"GET", "/healthz", nil, 200},
		{"GET", "/v1/graphs/karate", ana, 200},
		{"GET", "/v1/graphs/dense", ana, 404},
		{"GET", "/v1/graphs/dense", bearer, 200},
		{"GET", "/metrics", ana, 403},
		{"GET", "/metrics", bearer, 200},
		{"POST", "/v1/graphs/karate/reload", ana, 403},
		{"DELETE", "/v1/graphs/karate", bearer, 403},
		{"POST", "/v1/graphs/karate/reload", root, 200},
		{"GET", "/v1/graphs", basic("ana", "guess"), 401},
		{"GET", "/v1/graphs", basic("nobody", "guess"), 401},
		{"GET", "/v1/graphs", []string{"Authorization", "Bearer " + token[:len(token)-1] + "x"}, 401},
		{"GET", "/v1/graphs", []string{"Authorization", "Bearer nonsense"}, 401},
	} {
		a := s.do(test.method, test.path, "", test.headers...)
		if a.status != test.status || a.status == 401 && a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s as %v: %d %s; want %d", test.method, test.path, test.headers, a.status, a.body, test.status)
		}
	}
	// After too many wrong attempts none is checked. Those who were right before still are.
	limited := false
	for range 10 {
		a := s.do("GET", "/v1/graphs", "", basic("ana", "guess")...)
		limited = limited || a.status == 429 && a.header.Get("Retry-After") != ""
	}
	if !limited {
		t.Error("attempts are not limited")
	}
	if a := s.do("GET", "/v1/graphs", "", ana...); a.status != 200 {
		t.Errorf("a user who was right before: %d", a.status)
	}
}

// TestAnswersOfOthers: an administrator reads answers about the graphs that it may read.
func TestAnswersOfOthers(t *testing.T) {
	account := func(name string, r serve.Rights) serve.Account {
		return serve.Account{User: name, Hash: serve.HashSecret("password"), Rights: r}
	}
	token, few := serve.NewToken("ana", serve.Rights{Graphs: []string{"dense"}}, serve.Quota{})
	s := newSite(t, serve.Limits{}, Options{}, account("ana", serve.Rights{Graphs: []string{"karate"}}), few,
		account("keeper", serve.Rights{Admin: true}), account("root", serve.Rights{Graphs: []string{"*"}, Admin: true}))
	as := func(user string) []string {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, "password")
		return []string{"Authorization", r.Header.Get("Authorization")}
	}
	path := fmt.Sprintf("/v1/jobs/%v", s.do("POST", "/v1/jobs", `{"kind":"count","graph":"karate","pattern":"triangle"}`, as("ana")...).at("id"))
	for s.do("GET", path, "", as("keeper")...).at("state") != "done" {
		time.Sleep(time.Millisecond)
	}
	for _, test := range []struct {
		headers []string
		want    int
	}{{as("ana"), 200}, {as("root"), 200}, {as("keeper"), 403}, {[]string{"Authorization", "Bearer " + token}, 403}} {
		if a := s.do("GET", path+"/answer", "", test.headers...); a.status != test.want {
			t.Errorf("%v: %d %s; want %d", test.headers, a.status, a.body, test.want)
		}
	}
}

// TestMemoryOfUser: the answers of a user's jobs take as many bytes as the user may have, each and together. Other users have more.
func TestMemoryOfUser(t *testing.T) {
	const most = 1 << 20
	account := func(name string, q serve.Quota) serve.Account {
		return serve.Account{User: name, Hash: serve.HashSecret("password"), Rights: serve.Rights{Graphs: []string{"dense"}}, Quota: q}
	}
	s := newSite(t, serve.Limits{}, Options{}, account("few", serve.Quota{Memory: most}), account("much", serve.Quota{}))
	for _, test := range []struct {
		user        string
		least, most int // bytes of an answer
		kept        int // of three
	}{{"few", most / 2, most, 1}, {"much", 2 * most, mostAnswer, 3}} {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(test.user, "password")
		as := []string{"Authorization", r.Header.Get("Authorization")}
		kept := 0
		var paths []string
		for range 3 {
			path := fmt.Sprintf("/v1/jobs/%v", s.do("POST", "/v1/jobs", `{"kind":"match","graph":"dense","query":"MATCH (a)--(b)--(c)","limit":400000,"format":"csv"}`, as...).at("id"))
			for s.do("GET", path, "", as...).at("state") != "done" {
				time.Sleep(time.Millisecond)
			}
			a := s.do("GET", path+"/answer", "", as...)
			if n := len(a.body); n < test.least || n > test.most {
				t.Errorf("%s: %d bytes", test.user, n)
			}
			paths = append(paths, path)
		}
		for _, path := range paths {
			if s.do("GET", path, "", as...).status == 200 {
				kept++
			}
		}
		if kept != test.kept {
			t.Errorf("%s: %d answers are kept", test.user, kept)
		}
	}
}
