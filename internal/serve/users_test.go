package serve

import (
	"slices"
	"testing"
	"time"
)

// TestSetUsers: users that are read again have the rights of the new file at once, and those who were removed, or have other secrets, are refused.
func TestSetUsers(t *testing.T) {
	hash, other := HashSecret("secret"), HashSecret("other")
	token, account := NewToken("ana", Rights{Graphs: []string{"karate"}}, Quota{})
	users := func(a ...Account) *Users {
		u, err := NewUsers(a)
		if err != nil {
			t.Fatal(err)
		}
		u.clock = func() time.Time { return time.Time{} } // hashing takes seconds on a busy machine, and time forgives
		return u
	}
	s := New(Options{Catalog: NewCatalog(CatalogOptions{}), Users: users(
		Account{User: "ana", Hash: hash, Rights: Rights{Graphs: []string{"karate"}}}, Account{User: "bob", Hash: hash}, Account{User: "cyd", Hash: hash}, account)})
	signIn := func(name, secret string) (Identity, error) {
		return s.Users().Password(t.Context(), "1.2.3.4", name, secret)
	}
	var before []Identity
	for _, name := range []string{"ana", "bob", "cyd"} {
		who, err := signIn(name, "secret")
		if err != nil {
			t.Fatal(err)
		}
		before = append(before, who)
	}
	byToken, err := s.Users().Token(t.Context(), "1.2.3.4", token)
	if err != nil {
		t.Fatal(err)
	}
	for range int(ofBoth.most) {
		if _, err := signIn("bob", "wrong"); code(err) != Credentials {
			t.Fatal(err)
		}
	}
	s.SetUsers(users(Account{User: "ana", Hash: hash, Rights: Rights{Graphs: []string{"dense"}}, Quota: Quota{Rows: 5}}, Account{User: "bob", Hash: other}))
	if s.Users().Len() != 2 {
		t.Errorf("%d accounts", s.Users().Len())
	}
	who, err := s.Current(before[0])
	if err != nil || who.May("karate") || !who.May("dense") || who.Rows != 5 {
		t.Errorf("%+v, %v", who, err)
	}
	for _, gone := range append(before[1:], byToken) {
		if who, err := s.Current(gone); code(err) != Credentials {
			t.Errorf("%+v, %v", who, err)
		}
	}
	if _, err := s.Users().Token(t.Context(), "1.2.3.4", token); code(err) != Credentials {
		t.Errorf("a token that was removed: %v", err)
	}
	if _, err := signIn("cyd", "secret"); code(err) != Credentials {
		t.Errorf("a user that was removed: %v", err)
	}
	if _, err := signIn("bob", "other"); code(err) != RateLimited {
		t.Errorf("attempts with wrong credentials are forgotten: %v", err)
	}
	hashing := s.Users().hashing // what is known from before is not hashed again
	for range cap(hashing) {
		hashing <- struct{}{}
	}
	if who, err := signIn("ana", "secret"); err != nil || !slices.Equal(who.Graphs, []string{"dense"}) {
		t.Errorf("%+v, %v", who, err)
	}
}
