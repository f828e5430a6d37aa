package regex

import (
	"sync"
	"testing"
)

func TestOnce(t *testing.T) {
	digits := Once(`^[0-9]+$`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !digits().MatchString("12") || digits().MatchString("1a") {
				t.Error("not the expression")
			}
		})
	}
	all.Wait()
	if first, second := digits(), digits(); first != second {
		t.Error("compiled twice")
	}
	wrong := Once(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a mistake is no panic")
		}
	}()
	wrong()
}
