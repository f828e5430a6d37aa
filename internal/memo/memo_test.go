package memo

import (
	"context"
	"errors"
	"testing"
)

// TestMap: a value is made once; callers of other keys do not wait for it, those of its own wait
// until their contexts end, and one of them makes it if the first failed or panicked.
func TestMap(t *testing.T) {
	var m Map[int, any]
	began, go1 := make(chan bool), make(chan bool)
	failed := make(chan error)
	no := errors.New("no")
	go func() {
		_, err := m.Get(t.Context(), 1, func() (any, error) { close(began); <-go1; return nil, no })
		failed <- err
	}()
	<-began
	if v, err := m.Get(t.Context(), 2, func() (any, error) { return "two", nil }); v != "two" || err != nil {
		t.Errorf("another key: %v, %v", v, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := m.Get(ctx, 1, func() (any, error) { t.Error("made twice at once"); return nil, nil }); !errors.Is(err, why) {
		t.Errorf("after the end of its context: %v", err)
	}
	next := make(chan any)
	go func() {
		v, _ := m.Get(t.Context(), 1, func() (any, error) { return "one", nil })
		next <- v
	}()
	close(go1)
	if err := <-failed; !errors.Is(err, no) {
		t.Errorf("the first: %v", err)
	}
	if v := <-next; v != "one" {
		t.Errorf("after a failure: %v", v)
	}
	if v, err := m.Get(t.Context(), 1, func() (any, error) { return "again", nil }); v != "one" || err != nil {
		t.Errorf("kept: %v, %v", v, err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = m.Get(t.Context(), 3, func() (any, error) { panic("a damaged file") })
	}()
	if v, err := m.Get(t.Context(), 3, func() (any, error) { return "three", nil }); v != "three" || err != nil {
		t.Errorf("after a panic: %v, %v", v, err)
	}
}
