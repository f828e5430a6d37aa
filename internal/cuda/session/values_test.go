package session

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
)

// TestValues: a value is worked out once, until its owner is gone, a later version of its relation is there, or others need the memory. That
// of a relation without an identity, a too large one and an error are not kept.
func TestValues(t *testing.T) {
	s := &Session{use: newLock()}
	made := 0
	get := func(owner any, of kir.Identity, what any, bytes int64) any {
		t.Helper()
		v, err := s.Value(owner, of, what, func() (any, int64, error) { made++; return made, bytes, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// again gets a value twice, and reports whether it was worked out first or then.
	again := func(owner any, of kir.Identity, what any, bytes int64) (first, then bool) {
		before := made
		get(owner, of, what, bytes)
		middle := made
		get(owner, of, what, bytes)
		return middle > before, made > middle
	}
	of := kir.Identity{ID: 7}
	for _, c := range []struct {
		name        string
		do          func()
		owner       string
		of          kir.Identity
		what        any
		bytes       int64
		first, then bool
	}{
		{"a first time", nil, "g", of, 1, 10, true, false},
		{"another name", nil, "g", of, 2, 10, true, false},
		{"both are there", nil, "g", of, 1, 10, false, false},
		{"without an identity", nil, "g", kir.Identity{}, 1, 10, true, true},
		{"too large", nil, "g", of, 3, mostValues + 1, true, true},
		{"of another owner", nil, "h", kir.Identity{ID: 8}, 1, 10, true, false},
		{"its owner is gone", func() { _ = s.ForgetOwner("h") }, "h", kir.Identity{ID: 8}, 1, 10, true, false},
		{"the other's is there", nil, "g", of, 2, 10, false, false},
		{"a later version", nil, "g", kir.Identity{ID: 7, Version: 1}, 1, 10, true, false},
		{"the earlier one is gone", nil, "g", of, 2, 10, true, false},
		{"a large one", nil, "g", kir.Identity{ID: 9}, 1, mostValues - 25, true, false},
		{"the oldest went", nil, "h", kir.Identity{ID: 8}, 1, 10, true, false},
		{"not the newest", nil, "g", kir.Identity{ID: 9}, 1, 10, false, false},
	} {
		if c.do != nil {
			c.do()
		}
		if first, then := again(c.owner, c.of, c.what, c.bytes); first != c.first || then != c.then {
			t.Errorf("%s: worked out %v, and %v the second time", c.name, first, then)
		}
	}
	broken := errors.New("broken")
	for range 2 {
		if _, err := s.Value("g", of, "err", func() (any, int64, error) { return nil, 0, broken }); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	sum := int64(0)
	for _, v := range s.values.all {
		sum += v.bytes
	}
	if s.values.bytes != sum || sum > mostValues {
		t.Errorf("%d bytes, counted as %d", sum, s.values.bytes)
	}
	if err := s.Forget(); err != nil || len(s.values.all) > 0 || s.values.bytes != 0 {
		t.Errorf("%d values are left, %v", len(s.values.all), err)
	}
}
