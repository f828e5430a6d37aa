package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// TestProgressDetail: what a search says of itself stands behind the percentage, and in a field of JSON.
func TestProgressDetail(t *testing.T) {
	for mode, want := range map[string]string{
		"plain": ": segment 2 of 3, 1.0 MiB copied\n", "bar": ": segment 2 of 3, 1.0 MiB copied", "json": `"detail":"segment 2 of 3, 1.0 MiB copied"`,
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		m := newMessages(t.Context(), w)
		p := &progress{w: m, mode: mode, start: time.Now()}
		p.show(weft.Progress{Phase: "search", Done: 1, Total: 2, Detail: "segment 2 of 3, 1.0 MiB copied"}, time.Now())
		if err := m.close(); err != nil {
			t.Error(err)
		}
		_ = w.Close()
		text := make([]byte, 1000)
		n, _ := r.Read(text)
		_ = r.Close()
		if !strings.Contains(string(text[:n]), want) {
			t.Errorf("%s: %q", mode, text[:n])
		}
	}
}
