package memory

import (
	"errors"
	"math"
	"sync"
	"testing"
)

func TestAccount(t *testing.T) {
	a := NewAccount("the user may have")
	one, two := a.Share(1000), a.Share(1000)
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
	if less := a.Share(300); less.Left() != 0 || less.Take("arrays", 1) == nil {
		t.Error("a share with a lower limit got more")
	}
	any := a.Share(0)
	if any.Left() != math.MaxInt64 || any.Take("arrays", 1<<40) != nil {
		t.Error("a share without a limit is refused")
	}
	any.Close()
	two.Close()
	if a.Used() != 0 {
		t.Errorf("%d used", a.Used())
	}
}

func TestNoAccount(t *testing.T) {
	var s *Share
	if s.Take("arrays", 1<<60) != nil || s.Left() != math.MaxInt64 || s.Taken() != 0 {
		t.Error("no share has limits")
	}
	s.Give(1)
	s.Close()
	if ShareOf(t.Context()) != nil {
		t.Error("a context without a share has one")
	}
}

// TestAccountTogether: the searches of many threads never have more than the limit, and nothing is left counted.
func TestAccountTogether(t *testing.T) {
	a := NewAccount("")
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 1000 {
				s := ShareOf(WithShare(t.Context(), a.Share(100)))
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
