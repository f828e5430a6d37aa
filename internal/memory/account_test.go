package memory

import (
	"errors"
	"math"
	"sync"
	"testing"
)

func TestAccount(t *testing.T) {
	a := NewAccount("the user may have", 1000)
	one, two := a.Share(), a.Share()
	if err := one.Take("arrays", 600); err != nil {
		t.Fatal(err)
	}
	var short *Error
	err := two.Take("tables", 500)
	if !errors.As(err, &short) || short.Need != 500 || short.Left != 400 || short.Own != 0 || a.Used() != 600 {
		t.Fatalf("%v, %d used", err, a.Used())
	}
	if want := "tables need at least 500 bytes of memory; of the 1000 bytes that the user may have, 400 bytes are left"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if err := two.Take("tables", 400); err != nil || two.Left() != 0 || two.Taken() != 400 {
		t.Errorf("%v, %d left, %d taken", err, two.Left(), two.Taken())
	}
	if err := one.Take("arrays", 1); !errors.As(err, &short) || short.Own != 600 {
		t.Errorf("%v", err)
	}
	one.Give(100)
	one.Close()
	one.Close()
	if a.Used() != 400 || two.Left() != 600 {
		t.Errorf("%d used, %d left", a.Used(), two.Left())
	}
	a.SetLimit(300)
	if two.Left() != 0 || two.Take("arrays", 1) == nil {
		t.Error("more than the new limit was given")
	}
	a.SetLimit(0)
	if two.Left() != math.MaxInt64 || two.Take("arrays", 1<<40) != nil {
		t.Error("an account without a limit refuses")
	}
	two.Close()
	if a.Used() != 0 {
		t.Errorf("%d used", a.Used())
	}
}

func TestNoAccount(t *testing.T) {
	var none *Account
	s := none.Share()
	if s != nil || s.Take("arrays", 1<<60) != nil || s.Left() != math.MaxInt64 || s.Taken() != 0 {
		t.Error("a share of no account has limits")
	}
	s.Give(1)
	s.Close()
	if ShareOf(t.Context()) != nil {
		t.Error("a context without a share has one")
	}
}

// TestAccountTogether: the searches of many threads never have more than the limit, and nothing is left counted.
func TestAccountTogether(t *testing.T) {
	a := NewAccount("", 100)
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 1000 {
				s := ShareOf(WithShare(t.Context(), a.Share()))
				for s.Take("arrays", 7) == nil {
					if used := a.Used(); used > 100 {
						t.Errorf("%d used", used)
					}
				}
				s.Close()
			}
		})
	}
	running.Wait()
	if a.Used() != 0 {
		t.Errorf("%d are left", a.Used())
	}
}
