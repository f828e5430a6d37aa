package bolt

import (
	"context"
	"strings"
	"testing"
)

// TestClient reads rows in several batches, and gets the server's errors.
func TestClient(t *testing.T) {
	_, _, address := start(t, Options{})
	c, err := Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	for _, fetch := range []int64{-1, 1, 10, 25, 100} {
		var rows []any
		end, err := c.Rows("one", "rows 25", nil, fetch, func(values []any) { rows = append(rows, values...) })
		if err != nil || len(rows) != 25 || end["db"] != "one" {
			t.Errorf("fetch %d: %d rows, %v, %v", fetch, len(rows), end, err)
		}
	}
	if _, err := c.Rows("one", "fail", nil, 1, nil); err == nil || !strings.Contains(err.Error(), CodeSyntax+": no") {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if c, err = Dial(ctx, address); err != nil {
		t.Fatal(err)
	}
	rows := 0
	if _, err := c.Rows("one", "forever", nil, 10, func([]any) {
		if rows++; rows == 100 {
			cancel()
		}
	}); err == nil {
		t.Error("the end of the context ends nothing")
	}
	c.Close()
	if _, err := Dial(ctx, address); err == nil {
		t.Error("the context has ended")
	}
}
