package rest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/serve"
)

// TestReload: administrators have files read again. What is wrong with a file is for the log.
func TestReload(t *testing.T) {
	hash := serve.HashSecret("secret")
	s := newSite(t, serve.Limits{}, Options{Hosts: []string{"old.example.org"}}, serve.Account{User: "ana", Hash: hash}, serve.Account{User: "bob", Hash: hash, Rights: serve.Rights{Admin: true}})
	ana, bob := []string{"Authorization", "Basic YW5hOnNlY3JldA=="}, []string{"Authorization", "Basic Ym9iOnNlY3JldA=="}
	if a := s.do("POST", "/v1/reload", "", bob...); a.status != 409 || a.at("kind") != "conflict" {
		t.Errorf("%d %s", a.status, a.body)
	}
	var fails error
	calls := 0
	s.h.Reload = func(context.Context) error {
		if calls++; fails != nil {
			return fails
		}
		u, err := serve.NewUsers([]serve.Account{{User: "bob", Hash: hash, Rights: serve.Rights{Admin: true}}})
		if err != nil {
			return err
		}
		s.server.SetUsers(u)
		s.h.SetHosts([]string{"new.example.org"})
		return nil
	}
	if a := s.do("POST", "/v1/reload", "", ana...); a.status != 403 || calls != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	fails = errors.New("/secret/users.jsonl: line 3")
	if a := s.do("POST", "/v1/reload", "", bob...); a.status != 500 || strings.Contains(a.body, "secret") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("GET", "/v1/graphs", "", ana...); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	fails = nil
	if a := s.do("POST", "/v1/reload", "", bob...); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("GET", "/v1/graphs", "", ana...); a.status != 401 {
		t.Errorf("a user that was removed: %d %s", a.status, a.body)
	}
	if a := s.do("GET", "/v1/graphs", "", append(bob, "Host", "old.example.org")...); a.status != 421 {
		t.Errorf("an old name of the server: %d %s", a.status, a.body)
	}
	if a := s.do("GET", "/v1/graphs", "", append(bob, "Host", "new.example.org")...); a.status != 200 {
		t.Errorf("a new name of the server: %d %s", a.status, a.body)
	}
}
