package weft

import (
	"runtime"
	"strings"
	"testing"
)

// searching returns the number of goroutines that run a search.
func searching() int {
	stacks := make([]byte, 16<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "search.(*Job).Run(")
}

// TestMatchLeftAnyhow: no search runs after its loop over matches, even if a panic or the goroutine's end leaves
// the loop.
func TestMatchLeftAnyhow(t *testing.T) {
	g := clique(t, 60)
	defer g.Close()
	q := named(t, "path(6)")
	inside := 0
	list := func(leave func()) {
		n := 0
		for _, err := range g.Match(t.Context(), q) {
			if err != nil {
				t.Error(err)
			}
			if n++; n == 3 {
				inside = searching()
				leave()
				return
			}
		}
	}
	for name, leave := range map[string]func(){
		"return": func() {},
		"panic":  func() { panic("enough") },
		"Goexit": runtime.Goexit,
	} {
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			list(leave)
		}()
		p := <-done
		if (p != nil) != (name == "panic") {
			t.Errorf("%s: recovered %v", name, p)
		}
		if inside == 0 {
			t.Errorf("%s: no search was seen while it went on", name)
		}
		if n := searching(); n > 0 {
			t.Errorf("%s: %d goroutines go on", name, n)
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
